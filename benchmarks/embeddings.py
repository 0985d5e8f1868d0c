"""Search and scoring by `evaluate_embeddings` beside the whole matrix of scores, faiss and sentence-transformers."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
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
ROUNDS = {"cpu": 3, "cuda": 5}
SLOWEST = {"cpu": 1.5, "cuda": 1.0}
"""How many times the whole matrix' time it may take."""
GIGABYTES = {"cpu": 0.2, "cuda": 2}

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


def _best_of(work: Callable[[], object], rounds: int, settled: Callable[[], object]) -> float:
    work()
    times = []
    for _ in range(rounds):
        settled()
        start = time.perf_counter()
        work()
        settled()
        times.append(time.perf_counter() - start)
    return min(times)


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
    print(f"\n  {shape[0]:,} queries x {shape[1]:,} documents x {shape[2]} dimensions, k={K}, {', '.join(MEASURES)}")
    found: Found = {}
    for name, convert in libraries(device):
        given = convert(queries), convert(documents)

        def work(given: tuple[Any, Any] = given) -> object:
            return dict(evaluate_embeddings(*given, triples, MEASURES, k=K, similarity="dot").mean)

        seconds = _best_of(work, ROUNDS[device], lambda: None)  # the means are on the host
        found[name] = {"seconds": seconds}
        told = f"{seconds:8.3f} s"
        if name == ("torch" if device == "cuda" else "numpy"):
            gigabytes = found[name]["gigabytes"] = _peak(device, work)
            told += f"  {bars.most('embeddings, memory beside the arrays', gigabytes, GIGABYTES[device], ' GB')}"
        print(f"    {name:<24} {told}")
        if name == "torch" and device == "cuda":
            half = tuple(array.half() for array in given)
            seconds = _best_of(lambda half=half: work(half), ROUNDS[device], lambda: None)  # type: ignore[misc]
            found["torch, float16"] = {"seconds": seconds}
            print(f"    {'torch, float16':<24} {seconds:8.3f} s")
    if peer:
        for name, seconds in _peers(device, queries, documents):
            found[name] = {"seconds": seconds}
            told = ""
            if name.startswith("torch") and "torch" in found:
                ratio = found["torch"]["seconds"] / seconds
                told = f"  {bars.most('embeddings, torch beside the whole matrix', ratio, SLOWEST[device], 'x')}"
            print(f"    {name:<24} {seconds:8.3f} s  (search alone){told}")
    return found


def _peers(device: str, queries: Any, documents: Any) -> Iterator[tuple[str, float]]:
    """What finds the same lists, without scoring them."""
    rounds = ROUNDS[device]
    try:
        torch = import_module("torch")
    except ImportError:
        print("    torch: not installed")
    else:
        settled = torch.cuda.synchronize if device == "cuda" else lambda: None
        asked, docs = (torch.asarray(array).to(device) for array in (queries, documents))
        try:
            yield "torch, whole matrix", _best_of(lambda: torch.topk(asked @ docs.T, K), rounds, settled)
        except torch.cuda.OutOfMemoryError:
            print("    torch, whole matrix: out of memory")
        try:
            search = import_module("sentence_transformers.util").semantic_search
        except ImportError:
            print("    sentence_transformers: not installed")
        else:
            product = import_module("sentence_transformers.util").dot_score
            yield (
                "semantic_search",
                _best_of(lambda: search(asked, docs, top_k=K, score_function=product), 1, settled),
            )
    try:
        faiss = import_module("faiss")
    except ImportError:
        print("    faiss: not installed")
    else:
        if device == "cpu":
            index = faiss.IndexFlatIP(documents.shape[1])
            index.add(documents)
            yield "faiss IndexFlatIP", _best_of(lambda: index.search(queries, K), rounds, lambda: None)


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
