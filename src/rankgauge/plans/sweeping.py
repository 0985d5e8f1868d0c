"""The sweeps of a plan: settings of a system tried one by one, or the documents cut in several ways."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from rankgauge.live.chunk_sweep import sweep_chunks
from rankgauge.live.chunked import has_passages
from rankgauge.live.sweep import Sweep, sweep
from rankgauge.measures import parse_measure, parse_measures
from rankgauge.model.chunks import Chunks
from rankgauge.model.corpus import Corpus
from rankgauge.model.testset import TestSet
from rankgauge.plans.chunks import given_chunks, rule_of
from rankgauge.plans.entries import ChunkPlan, SweepPlan
from rankgauge.plans.plan import RunPlan, modules_of
from rankgauge.plans.systems import SystemPlan, make_system, takes, version_of
from rankgauge.record import ComparisonResult, SweepResult
from rankgauge.retrievers.configuration import corpus_version

__all__ = ["Progress", "result_of", "sweep_of"]

Progress = Callable[[str, int, int], None]
"""Called with a system's name, the queries done, and all of them."""


def sweep_of(
    plan: RunPlan, wanted: SweepPlan, test_set: TestSet, corpus: Corpus | None, progress: Progress | None
) -> Sweep:
    """The sweep of one system. Answers are kept for each setting, apart from those of the system itself."""
    base = next(system for system in plan.systems if system.name == wanted.system)

    built: dict[str, Any] = {}
    chunks = None if wanted.chunk is not None else given_chunks(base.chunks, base.chunk_ids, plan.folder, {})

    def factory(**parameters: Any) -> Any:
        """The system with other parameters; one that can search its index with another ef_search is built once."""
        changed = {**base.parameters, **parameters}
        rest = repr(sorted((key, repr(value)) for key, value in changed.items() if key != "ef_search"))
        if rest in built and "ef_search" in changed:
            return built[rest].with_ef_search(changed["ef_search"])
        made = make_system(replace(base, parameters=changed), plan.folder, corpus, chunks)
        if hasattr(made, "with_ef_search"):
            built[rest] = made
        return made

    name, versions = f"{base.name}: {' × '.join(wanted.grid) or 'chunks'}", 0

    def told_of(number: int, total: int, _setting: str) -> None:
        nonlocal versions
        versions = total
        if progress is not None:
            progress(name, number - 1, total)

    common: dict[str, Any] = {
        "name": base.name,
        "tries": wanted.tries,
        "folds": wanted.folds,
        "seed": wanted.seed,
        "progress": told_of,
        "cache": plan.cache,
        "configuration": {
            **base.configuration,
            "version": None if plan.cache is None else version_of(base, plan.folder, None, modules_of(plan.path)).key,
            "corpus": None if plan.cache is None else corpus_version(corpus),
        },
        "id_field": base.id_field,
        "score_field": base.score_field,
        "contract": plan.contract,
        **plan.calls.arguments,
    }
    if wanted.chunk is not None:
        assert corpus is not None  # as the plan was checked for
        found = _chunk_sweep(plan, wanted, wanted.chunk, base, test_set, corpus, common)
    else:
        found = _plain_sweep(plan, wanted, base, test_set, corpus, factory, chunks, common)
    if progress is not None:
        progress(name, versions, versions)
    return found


def _plain_sweep(
    plan: RunPlan,
    wanted: SweepPlan,
    base: SystemPlan,
    test_set: TestSet,
    corpus: Corpus | None,
    factory: Callable[..., Any],
    chunks: Any,
    common: dict[str, Any],
) -> Sweep:
    """The system with every setting of its parameters."""
    if takes(base, plan.folder, "k"):  # then it is a parameter of its own, and not how many results are asked for
        named = inspect.Parameter("k", inspect.Parameter.KEYWORD_ONLY, default=None)
        rest = inspect.Parameter("parameters", inspect.Parameter.VAR_KEYWORD)
        vars(factory)["__signature__"] = inspect.Signature([named, rest])
    return sweep(
        factory,
        wanted.grid,
        test_set,
        measure=wanted.measure,
        exact=wanted.exact or None,
        parent_field=base.parent_field,
        collapse_chunks=rule_of(base.collapse_chunks, plan.folder),
        corpus=corpus if parse_measure(wanted.measure).get("budget") is not None else None,
        chunks=chunks,
        overlap=None if chunks is None else plan.overlap,
        **common,
    )


def _chunk_sweep(
    plan: RunPlan,
    wanted: SweepPlan,
    chunk: ChunkPlan,
    base: SystemPlan,
    test_set: TestSet,
    corpus: Corpus,
    common: dict[str, Any],
) -> Sweep:
    """The system over the documents cut in every way, compared as the plan's systems are."""
    tested = plan.comparison
    compared = {name: getattr(tested, name) for name in ("test", "correction", "alpha", "equivalence_margin")}
    measures = dict.fromkeys(map(str, parse_measures([wanted.measure, *plan.measures])))

    def searching(chunks: Chunks, **parameters: Any) -> Any:
        changed = replace(base, parameters={**base.parameters, **parameters})
        return make_system(changed, plan.folder, Corpus(chunks.texts, name=chunks.name))

    return sweep_chunks(
        corpus,
        test_set,
        retriever=searching,
        grid={key: values for key, values in wanted.grid.items() if key != "k"},
        ks=wanted.grid.get("k"),
        measures=list(measures),
        passage_overlap=plan.overlap if has_passages(test_set) else None,
        **chunk.arguments,
        **compared,
        **common,
    )


def result_of(tried: Sweep) -> SweepResult:
    """What a sweep found; of one whose versions are compared, the differences too."""
    if tried.compared is None or len(tried.evaluations) < 2:
        return tried.result
    compared = tried.comparison
    found = ComparisonResult(compared.settings, compared.baseline, compared.rows, compared.groups)
    return replace(tried.result, comparison=found)
