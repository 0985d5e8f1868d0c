"""Search and scoring by `evaluate_embeddings` beside the whole matrix of scores, faiss and sentence-transformers."""

from __future__ import annotations

import threading
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.bars import Bars
from rankgauge.tensors import evaluate_embeddings
from rankgauge.tensors.search import SIMILARITIES

__all__ = ["check_embeddings", "embedding_speed"]

MEASURES = ["nDCG@10", "R@100", "RR"]
SHAPES = {"cpu": (1_000, 100_000, 128), "cuda": (10_000, 1_000_000, 128)}
K = 100
ROUNDS = {"cpu": 7, "cuda": 5}
SLOWEST = {"cpu": 1.5, "cuda": 2.0}
"""How many times the whole matrix' time it may take: on an H200 it was 1.6 times, in 0.9 GB instead of 40."""
GIGABYTES = {"cpu": 0.2, "cuda": 2}
WHOLE = "torch, whole matrix"

Found = dict[str, Any]
Libraries = Callable[[str], Iterator[tuple[str, Callable[[Any], Any]]]]


def _world(queries: int, documents: int, dimensions: int) -> tuple[Any, Any, Any]:
    """Embeddings of length 1, each query near one document, which is relevant."""
    rng = np.random.default_rng(20_240_607)
    docs = rng.standard_normal((documents, dimensions), dtype=np.float32)
    docs /= np.linalg.norm(docs, axis=1, keepdims=True)
    own = rng.integers(0, documents, queries)
    asked = docs[own] + rng.standard_normal((queries, dimensions), dtype=np.float32) * np.float32(0.15)
    asked /= np.linalg.norm(asked, axis=1, keepdims=True)
    return asked, docs, (np.arange(queries), own, np.ones(queries, dtype=np.int64))


def _least(works: dict[str, Callable[[], object]], device: str) -> dict[str, float]:
    """The least seconds of each, in turns, so that all have the same share of a busy machine: by the clock on a device,
    else of all processors together."""
    clock = time.perf_counter if device == "cuda" else time.process_time
    settled = import_module("torch").cuda.synchronize if device == "cuda" else lambda: None
    times: dict[str, list[float]] = {name: [] for name in works}
    for _ in range(1 + ROUNDS[device]):
        for name, work in works.items():
            settled()
            start = clock()
            work()
            settled()
            times[name].append(clock() - start)
    return {name: min(those[1:]) for name, those in times.items()}


def _resident() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096


def _peak_on_host(work: Callable[[], object]) -> float:
    """GB of resident memory beyond what there was, looked at every millisecond."""
    before, most, done = _resident(), 0, threading.Event()

    def watch() -> None:
        nonlocal most
        while not done.wait(0.001):
            most = max(most, _resident() - before)

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        work()
    finally:
        done.set()
        watcher.join()
    return most / 1e9


def _peak(device: str, work: Callable[[], object]) -> float:
    if device == "cpu":
        return _peak_on_host(work)
    cuda = import_module("torch").cuda
    cuda.empty_cache()
    cuda.reset_peak_memory_stats()
    before = cuda.memory_allocated()
    work()
    return float(cuda.max_memory_allocated() - before) / 1e9


def embedding_speed(device: str, bars: Bars, libraries: Libraries, *, peer: bool) -> Found:
    shape = SHAPES[device]
    queries, documents, triples = _world(*shape)
    clock = "by the clock" if device == "cuda" else "of all processors"
    print(f"\n  {shape[0]:,} queries x {shape[1]:,} documents x {shape[2]}, k={K}, {', '.join(MEASURES)}, {clock}")
    works: dict[str, Callable[[], object]] = {}

    def scored(given: tuple[Any, ...]) -> Callable[[], object]:
        return lambda: dict(evaluate_embeddings(given[0], given[1], triples, MEASURES, k=K, similarity="dot").mean)

    for name, convert in libraries(device):
        given = convert(queries), convert(documents)
        works[name] = scored(given)
        if name == "torch" and device == "cuda":
            works["torch, float16"] = scored(tuple(array.half() for array in given))
    own = "torch" if device == "cuda" else "numpy"
    gigabytes = _peak(device, works[own])
    if peer:
        works |= _peers(device, queries, documents)
    found: Found = {name: {"seconds": seconds} for name, seconds in _least(works, device).items()}
    found[own]["gigabytes"] = gigabytes
    for name, figures in found.items():
        told = ""
        if name == own:
            told = f"  {bars.most('embeddings, memory beside the arrays', gigabytes, GIGABYTES[device], ' GB')}"
        if name == WHOLE and "torch" in found:
            ratio = found["torch"]["seconds"] / figures["seconds"]
            told = f"  {bars.most('embeddings, torch beside the whole matrix', ratio, SLOWEST[device], 'x')}"
        print(f"    {name:<24} {figures['seconds']:8.3f} s{told}")
    return found


def _peers(device: str, queries: Any, documents: Any) -> dict[str, Callable[[], object]]:
    """What finds the same lists, without scoring them."""
    found: dict[str, Callable[[], object]] = {}
    with suppress(ImportError):
        torch = import_module("torch")
        asked, docs = (torch.asarray(array).to(device) for array in (queries, documents))
        found[WHOLE] = lambda: torch.topk(asked @ docs.T, K)
        with suppress(ImportError), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            util = import_module("sentence_transformers.util")
            found["semantic_search"] = lambda: util.semantic_search(asked, docs, top_k=K, score_function=util.dot_score)
    if device == "cpu":
        with suppress(ImportError):
            index = import_module("faiss").IndexFlatIP(documents.shape[1])
            index.add(documents)
            found["faiss IndexFlatIP"] = lambda: index.search(queries, K)
    return found


def check_embeddings(device: str, bars: Bars, libraries: Libraries) -> Found:
    """Lists that are not those of the whole matrix, sorted on the host: whole numbers, so that many documents tie."""
    rng = np.random.default_rng(3)
    queries = rng.integers(-3, 4, (100, 6)).astype(np.float32)
    documents = rng.integers(-3, 4, (100_000, 6)).astype(np.float32)
    found: Found = {}
    for similarity in SIMILARITIES[1:]:
        scores = queries @ documents.T
        if similarity == "l2":
            scores = 2 * scores - (documents**2).sum(axis=1)
        for ties in ("trec", "stable"):
            if ties == "trec":
                order = scores.shape[1] - 1 - np.argsort(-scores[:, ::-1], axis=1, kind="stable")[:, :K]
            else:
                order = np.argsort(-scores, axis=1, kind="stable")[:, :K]
            for name, convert in libraries(device):
                for kind in ("float32", "float16"):
                    given = [convert(array.astype(kind)) for array in (queries, documents)]
                    result = evaluate_embeddings(
                        given[0],
                        given[1],
                        ([0], [0], [1]),
                        "RR",
                        k=K,
                        similarity=similarity,
                        ties=ties,
                        keep_ranking=True,
                    )
                    rows = np.array(result.ranking.tolist() if result.ranking is not None else [])
                    wrong = int((rows != order).any(axis=1).sum())
                    what = f"{name}, {kind}, {similarity}, {ties}"
                    told = bars.most(f"lists that differ from the whole matrix', {what}", wrong, 0, " lists")
                    print(f"    {what:<32} {told}")
                    found[what] = wrong
    return found
