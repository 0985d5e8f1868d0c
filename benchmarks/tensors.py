"""Scores in arrays beside torchmetrics, and searches by embeddings beside the whole matrix of scores:
`python -m benchmarks.tensors [--device cpu|cuda] [--own] [--check] [--only tensors|embeddings] [--json FILE]`.

Five measures, best of several rounds, with the transfer of the means to the host. `--own` leaves the others out,
of which torchmetrics takes most of the time; `--check` compares all measures of PyTorch, CuPy and JAX on the device
with NumPy's, and the lists of searches with those of a sorted matrix.

On a machine that has only NumPy and the libraries of arrays, a folder with `src/rankgauge` as `rankgauge`, with
`benchmarks` and `array_api_compat` is enough: PYTHONPATH=. python -m benchmarks.tensors --device cuda --check
"""

from __future__ import annotations

import argparse
import json
import os
import time
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.bars import Bars
from benchmarks.costs import machine
from benchmarks.embeddings import check_embeddings, embedding_speed
from benchmarks.run import keep
from rankgauge.errors import RankgaugeError
from rankgauge.measures import Measure, all_definitions
from rankgauge.model.contract import Contract
from rankgauge.tensors import evaluate_tensors
from rankgauge.tensors.kernels import kernel_of

MEASURES = ["nDCG@10", "AP", "RR", "R@100", "P@10"]
SHAPES = ((10_000, 100), (8_000, 40), (100_000, 10))
PEER_SHAPES = SHAPES[:2]
"""It takes a minute and a half for the third on the fastest device."""
LARGE = (1_000_000, 100)
ROUNDS = 9
BARS = {"cpu": 100, "cuda": 5000}
"""How many times faster than torchmetrics is aimed at."""
LARGE_BARS = {"cuda": (50, 4)}
"""Milliseconds and GB for a million queries."""
CLOSE = 1e-6

Found = dict[str, Any]


def world(queries: int, documents: int, *, tied: bool = False) -> tuple[Any, Any]:
    """Scores of float32, and grades from 0 to 3, most of them 0."""
    rng = np.random.default_rng(20_240_607)
    scores = rng.random((queries, documents), dtype=np.float32)
    if tied:
        scores = np.round(scores * 8)
    return scores, rng.choice(np.array((0,) * 9 + (1, 2, 3)), (queries, documents))


def best_of(work: Callable[[], object], rounds: int) -> float:
    """The least time of several rounds, after one that is not counted."""
    work()
    times = []
    for _ in range(rounds):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return min(times)


def libraries(device: str) -> Iterator[tuple[str, Callable[[Any], Any]]]:
    """Libraries that are installed, and how each takes an array of NumPy to the device."""
    if device == "cpu":
        yield "numpy", np.asarray
    makers: Mapping[str, Callable[[Any], Callable[[Any], Any]]] = {
        "torch": lambda torch: lambda array: torch.asarray(array).to(device),
        "cupy": lambda cupy: cupy.asarray,
        "jax": lambda jax: lambda array: jax.device_put(array, jax.devices("gpu" if device == "cuda" else "cpu")[0]),
    }
    for name, maker in makers.items():
        if name == "cupy" and device == "cpu":
            continue
        try:
            yield name, maker(import_module(name))
        except ImportError:
            print(f"    {name}: not installed")


def own_times(device: str, shape: tuple[int, int], bars: Bars) -> Found:
    """Milliseconds of each library, and the peak memory on the device, as PyTorch counts it."""
    scores, grades = world(*shape)
    found: Found = {}
    for name, convert in libraries(device):
        given = convert(scores), convert(grades)
        seconds = best_of(lambda given=given: dict(evaluate_tensors(*given, MEASURES).mean), ROUNDS)  # type: ignore[misc]
        found[name] = {"milliseconds": seconds * 1000}
        told = f"{seconds * 1000:8.2f} ms"
        if shape == LARGE and name == "torch" and device in LARGE_BARS:
            torch = import_module("torch")
            torch.cuda.reset_peak_memory_stats()
            before = torch.cuda.memory_allocated()
            dict(evaluate_tensors(*given, MEASURES).mean)
            found[name]["gigabytes"] = (torch.cuda.max_memory_allocated() - before) / 1e9
            least, most = LARGE_BARS[device]
            told = str(bars.most("a million queries, torch", seconds * 1000, least, " ms"))
            gigabytes = found[name]["gigabytes"]
            told += f"  {bars.most('a million queries, memory beside the arrays', gigabytes, most, ' GB')}"
        print(f"    {name:<12} {told}")
    return found


def torchmetrics_seconds(device: str, shape: tuple[int, int]) -> float:
    """Seconds for the same five measures, of which those of binary relevance take it so."""
    torch = import_module("torch")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        retrieval = import_module("torchmetrics.retrieval")
    scores, grades = (torch.asarray(array).to(device) for array in world(*shape))
    query = torch.arange(shape[0], device=device).repeat_interleave(shape[1])
    peers = [
        (retrieval.RetrievalNormalizedDCG(top_k=10), grades),
        (retrieval.RetrievalMAP(), grades > 0),
        (retrieval.RetrievalMRR(), grades > 0),
        (retrieval.RetrievalRecall(top_k=100), grades > 0),
        (retrieval.RetrievalPrecision(top_k=10), grades > 0),
    ]
    start = time.perf_counter()
    for metric, target in peers:
        metric = metric.to(device)
        metric.update(scores.ravel(), target.ravel(), indexes=query)
        float(metric.compute())
    return time.perf_counter() - start


def speed(device: str, bars: Bars, *, peer: bool) -> Found:
    found: Found = {}
    for shape in (*SHAPES, *([LARGE] if device in LARGE_BARS else [])):
        name = f"{shape[0]:,} x {shape[1]}"
        print(f"\n  {name}, {', '.join(MEASURES)}")
        found[name] = own_times(device, shape, bars)
        if peer and shape in PEER_SHAPES and "torch" in found[name]:
            seconds = torchmetrics_seconds(device, shape)
            ratio = 1000 * seconds / found[name]["torch"]["milliseconds"]
            print(f"    torchmetrics {seconds:8.2f} s   {bars.times(f'{name}, torchmetrics', ratio, BARS[device])}")
            found[name]["torchmetrics"] = {"milliseconds": seconds * 1000}
    return found


def all_measures(ties: str) -> list[Measure]:
    """Every measure that arrays can give under a rule for ties, with a depth and without."""
    found = []
    for definition in all_definitions():
        for at in (None, 5 if definition.at is None or definition.at.kind is int else 0.5):
            try:
                measure = definition(at)
                for scale in ("max_rel", "max_grade"):
                    if definition.parameter(scale) is not None and measure.get(scale) is not None:
                        measure = measure.with_values(**{scale: 4})
                kernel_of(measure, Contract(ties=ties))  # type: ignore[arg-type]
            except RankgaugeError:
                continue
            found.append(measure)
    return list(dict.fromkeys(found))


def check(device: str, bars: Bars) -> Found:
    """The greatest difference from NumPy in float64, over all measures and queries."""
    scores, grades = world(200, 50, tied=True)
    rng = np.random.default_rng(1)
    listed = rng.random(scores.shape) < 0.8
    query, column = np.nonzero(listed)
    layouts: Mapping[str, Mapping[str, Any]] = {
        "padded": {"scores": scores, "relevance": grades, "mask": listed},
        "ragged": {"scores": scores[query, column], "relevance": grades[query, column], "groups": query},
    }
    found: Found = {}
    for ties in ("trec", "stable", "expected"):
        measures = all_measures(ties)
        wanted = evaluate_tensors(scores.astype(np.float64), grades, measures, mask=listed, ties=ties).values
        for name, convert in libraries(device):
            for layout, arrays in layouts.items():
                given = {key: convert(array) for key, array in arrays.items()}
                values = evaluate_tensors(**given, measures=measures, ties=ties).values
                host = np.array([[float(value) for value in row] for row in values.tolist()])
                apart = np.abs(host - wanted) / np.maximum(1.0, np.abs(wanted))
                what = f"{name}, {layout}, {ties}"
                told = bars.most(f"difference from NumPy, {what}", float(apart.max()), CLOSE, "")
                at = measures[int(apart.max(axis=0).argmax())]
                print(f"    {what:<26} {len(measures)} measures: {told} ({at})")
                found[what] = float(apart.max())
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", choices=sorted(BARS), default="cpu")
    parser.add_argument("--own", action="store_true", help="without torchmetrics and other searches")
    parser.add_argument("--check", action="store_true", help="compare all measures and lists with NumPy's")
    parser.add_argument("--only", choices=("tensors", "embeddings"), help="leave the other part out")
    parser.add_argument("--json", type=Path, help="a file for the figures, in place of one in benchmarks/results")
    asked = parser.parse_args()
    os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")  # or JAX takes most of the memory from the others
    bars, facts = Bars(), machine()
    for name in ("torch", "cupy", "jax", "torchmetrics", "sentence_transformers", "faiss"):
        facts[name] = None
        with suppress(ImportError), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            facts[name] = import_module(name).__version__
    if asked.device == "cuda":
        facts["device"] = import_module("torch").cuda.get_device_name()
    print(f"arrays on {facts.get('device', facts['processor'])}, {facts['cores']} cores")
    figures: Found = {}
    if asked.only != "embeddings":
        figures |= {"check": check(asked.device, bars)} if asked.check else {}
        figures["speed"] = speed(asked.device, bars, peer=not asked.own)
    if asked.only != "tensors":
        figures |= {"check lists": check_embeddings(asked.device, bars, libraries)} if asked.check else {}
        figures["embeddings"] = embedding_speed(asked.device, bars, libraries, peer=not asked.own)
    print(f"\n{bars.told()}")
    results: Found = {"machine": facts, "figures": figures, "bars": bars.to_list()}
    if asked.json is None:
        print(f"written: {keep(results)}")
    else:
        asked.json.write_text(json.dumps(results, indent=2) + "\n")


if __name__ == "__main__":
    main()
