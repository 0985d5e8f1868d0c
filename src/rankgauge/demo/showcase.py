"""The demo: real retrievers over a bundled corpus, evaluated, compared and tuned, in one record."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from importlib.resources import as_file, files
from typing import Any

from rankgauge.demo import chinese_corpus, chinese_testset, stdlib_corpus, stdlib_testset
from rankgauge.errors import MissingExtraError
from rankgauge.extras import check_all_installed, optional
from rankgauge.live.evaluation import LiveEvaluation, live_record
from rankgauge.live.live import evaluate_retriever
from rankgauge.live.sweep import Sweep, sweep
from rankgauge.model.testset import TestSet
from rankgauge.record import Record
from rankgauge.stats.settings import Settings

__all__ = ["Showcase", "check_showcase", "chinese_showcase", "stdlib_showcase"]

_MEASURES = ("nDCG@10", "R@10", "RR")
_PACKAGES = {
    "retrievers": {
        "Stemmer": "PyStemmer",
        "bm25s": "bm25s",
        "faiss": "faiss-cpu",
        "jieba": "jieba",
        "sklearn": "scikit-learn",
    },
    "report": {"jinja2": "jinja2", "vl_convert": "vl-convert-python"},
}
Progress = Callable[[str], None]


@dataclass(frozen=True)
class Showcase:
    """Evaluations of a corpus's systems, and sweeps over two parameters."""

    test_set: TestSet
    documents: int
    evaluations: list[LiveEvaluation]
    record: Record
    sweeps: list[Sweep]


def check_showcase(*, report: bool) -> None:
    """Raise an error that names all the packages that the demo lacks, and what can be tried without them."""
    extras = ("retrievers", "report") if report else ("retrievers",)
    try:
        check_all_installed(
            "the demo",
            [(module, package, extra) for extra in extras for module, package in _PACKAGES[extra].items()],
        )
    except MissingExtraError as error:
        with as_file(files("rankgauge") / "example") as folder:
            example = [shlex.quote(str(folder / name)) for name in ("testset.json", "bm25.run", "hybrid.run")]
        raise MissingExtraError(f"{error}; without them, try: rankgauge compare {' '.join(example)}") from None


def stdlib_showcase(progress: Progress | None = None) -> Showcase:
    """Python's standard library, searched by BM25, by latent semantic analysis, by both, and reranked."""
    say = progress or (lambda text: None)
    say("stdlib")
    return _showcase(stdlib_corpus(), stdlib_testset(), say, ef_search=[4, 8, 16, 32, 64, 256])


def chinese_showcase(progress: Progress | None = None) -> Showcase:
    """Questions to a city's service desk, where words have to be found in the text first. So few documents need no
    approximate index."""
    say = progress or (lambda text: None)
    say("reading")
    return _showcase(chinese_corpus(), chinese_testset(), say, ef_search=[])


def _showcase(corpus: Mapping[str, str], test_set: TestSet, say: Progress, *, ef_search: list[int]) -> Showcase:
    with _one_thread():
        systems, factories = _systems(corpus, say)
        evaluations = []
        for name, system in systems.items():
            say(name)
            evaluations.append(evaluate_retriever(system, test_set, k=10, measures=_MEASURES, name=name, corpus=corpus))
        say("weight")
        sweeps = [sweep(factories["weight"], {"weight": [0.0, 0.25, 0.5, 0.75, 1.0]}, test_set, name="hybrid")]
        if ef_search:
            say("ef_search")
            tried, exact = {"ef_search": ef_search}, {"ef_search": len(corpus)}
            sweeps.append(sweep(factories["ef_search"], tried, test_set, name="hnsw", exact=exact))
    record = live_record(evaluations, test_set, Settings.of(), baseline="bm25", corpus=corpus)
    return Showcase(
        test_set, len(corpus), evaluations, replace(record, sweeps=[tried.result for tried in sweeps]), sweeps
    )


def _one_thread() -> AbstractContextManager[Any]:
    """Vectors are searched by one thread for each call. With a pool of their own for each, the libraries' threads wait
    for one another in busy loops, which takes more than twice the processor time and makes the calls slower."""
    for module, package in (("sklearn", "scikit-learn"), ("faiss", "faiss-cpu")):
        optional(module, "the demo", package)  # only pools that are there can be limited
    limits: AbstractContextManager[Any] = optional("threadpoolctl", "the demo", "threadpoolctl").threadpool_limits(1)
    return limits


def _systems(corpus: Mapping[str, str], say: Progress) -> tuple[dict[str, Any], dict[str, Callable[..., Any]]]:
    """The systems, sharing one index of each kind, and the factories that are swept."""
    from rankgauge.retrievers import BM25, Dense, Hybrid, Rerank, TermProximity

    say("index")
    lexical, dense = BM25(corpus), Dense(corpus)

    def mixed(weight: float) -> Hybrid:
        return Hybrid([lexical, dense], weights=[1 - weight, weight])

    graphs: list[Dense] = []

    def approximate(ef_search: int) -> Dense:
        if not graphs:
            graphs.append(Dense(corpus, model=dense.encode, index="hnsw", M=8, ef_construction=40))
        return graphs[0].with_ef_search(ef_search)

    hybrid = mixed(0.5)
    systems = {
        "bm25": lexical,
        "dense": dense,
        "hybrid": hybrid,
        "reranked": Rerank(hybrid, TermProximity(corpus), corpus=corpus, depth=30),
    }
    return systems, {"weight": mixed, "ef_search": approximate}
