"""`evaluate_retrievers`: several live retrievers asked the same queries, one after another, and compared."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from rankgauge.arguments import named_arguments
from rankgauge.comparison import Comparison
from rankgauge.comparison.systems import check_systems
from rankgauge.errors import DataError
from rankgauge.evaluation import DEFAULT_MEASURES, GivenChunks, Scoring, make_plan
from rankgauge.live.asking import Asking
from rankgauge.live.evaluation import judgments_of
from rankgauge.measures import Measure
from rankgauge.model.chunks import Chunks
from rankgauge.model.contract import Contract
from rankgauge.retrievers.checks import check_progress
from rankgauge.retrievers.configuration import configuration_of, is_closed
from rankgauge.retrievers.costs import check_cost
from rankgauge.retrievers.searcher import as_searcher
from rankgauge.retrievers.work import CallSettings
from rankgauge.stats.settings import Settings

__all__ = ["evaluate_retrievers"]


@named_arguments
def evaluate_retrievers(
    retrievers: Mapping[str, Any],
    test_set: Any,
    k: int | None = 10,
    measures: str | Measure | Sequence[str | Measure] = DEFAULT_MEASURES,
    *,
    baseline: str | None = None,
    test: str = "randomization",
    correction: str = "holm",
    alpha: float = 0.05,
    equivalence_margin: float = 0.01,
    seed: int = 0,
    samples: int | None = None,
    queries: Mapping[str, str] | str | os.PathLike[str] | None = None,
    corpus: Mapping[str, str] | str | os.PathLike[str] | None = None,
    concurrency: int = 1,
    timeout: float = 30.0,
    retries: int = 2,
    backoff: float = 0.5,
    max_failed: float = 0.05,
    cache: str | os.PathLike[str] | None = None,
    configuration: Mapping[str, Mapping[str, Any]] | None = None,
    id_field: str | None = None,
    score_field: str | None = None,
    parent_field: str | None = None,
    cost: str | Callable[[str, Any], float | None] | None = None,
    cost_unit: str | None = None,
    progress: Callable[[str, int, int], None] | None = None,
    contract: str | Contract | None = None,
    ties: str | None = None,
    missing: str | None = None,
    no_relevant: str | None = None,
    duplicates: str | None = None,
    depth: int | None = None,
    rel: float | None = None,
    threshold: float | None = None,
    collapse_chunks: str | re.Pattern[str] | os.PathLike[str] | Mapping[str, str] | Chunks | None = None,
    tokenizer: Callable[[str], int] | None = None,
    chunks: GivenChunks | None = None,
    overlap: float | None = None,
) -> Comparison:
    """Ask several retrievers, by name, every query of the test set, one retriever after another, and compare them.

    The arguments are those of `evaluate_retriever`, but for `configuration`, which holds one for each name, and
    `progress`, which gets the name first; those from `baseline` to `samples` are those of `compare`. All retrievers are
    looked at before the first call. One that fails is an error; with `cache` the answers so far are kept. The live
    evaluations are the comparison's `.evaluations`; ids and scores in different places are found with
    `rankgauge.retrievers.as_searcher(retriever, id_field=...)`.
    """
    if not isinstance(retrievers, Mapping) or not all(isinstance(name, str) for name in retrievers):
        raise DataError('`retrievers` are given by name: {"bm25": retriever, "dense": retriever}')
    if not isinstance(configuration, Mapping | None):
        raise DataError('`configuration` holds one for each name: {"bm25": {"index": "2024-05-01"}, ...}')
    check_systems(retrievers, baseline)
    settings = Settings.of(test, correction, alpha, equivalence_margin, seed, samples)
    calls = CallSettings(k, concurrency, timeout, retries, backoff, max_failed)
    plan = make_plan(measures, contract, ties, missing, no_relevant, duplicates, depth, rel, threshold)
    scoring = Scoring(plan, collapse_chunks, corpus, tokenizer, chunks=chunks, overlap=overlap, own_chunks=True)
    check_cost(cost, cost_unit)
    check_progress(progress)
    fields = (id_field, score_field, queries, parent_field)
    asking = Asking.of(test_set, corpus, calls, scoring, *fields, own_texts=corpus is None)
    if unknown := [name for name in configuration or () if name not in retrievers]:
        raise DataError(f"`configuration` has {unknown[0]!r}, which is no retriever: {', '.join(retrievers)}")
    for name, retriever in retrievers.items():
        as_searcher(retriever, name=name, id_field=id_field, score_field=score_field)
        if cache is not None and (configuration or {}).get(name) is None:
            configuration_of(retriever, name)
    found = []
    for name, retriever in retrievers.items():
        own = None if configuration is None else configuration.get(name)
        told = None if progress is None else partial(progress, name)
        live = asking.ask(retriever, name, asking.keeping(cache, own, retriever, cost), told, cost, cost_unit)
        live.proven = own is None and is_closed(retriever)
        found.append(live)
    return Comparison.of(
        found,
        settings,
        baseline=baseline,
        qrels=judgments_of(found, asking.test_set),
        runs={live.name: live.run for live in found},
        test_set=asking.test_set,
        corpus=asking.corpus if found[0].labels is None else found[0].corpus,
        sources=asking.sources,
    )
