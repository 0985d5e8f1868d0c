"""Run a plan: every system asked and scored, compared, one of them swept, and all of it in one record."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Any

from rankgauge.comparison import Comparison
from rankgauge.comparison.comparison_record import comparison_record
from rankgauge.errors import RankgaugeError, RetrieverError
from rankgauge.evaluation.old_record import record_of
from rankgauge.formats import Source, load_corpus, load_testset
from rankgauge.live.answer_cache import folder_held, journals_in, version_of
from rankgauge.live.live import LiveEvaluation, RetrievalError, evaluate_retriever
from rankgauge.live.sweep import Sweep, sweep
from rankgauge.model.testset import Corpus, TestSet
from rankgauge.plans.plan import RunPlan
from rankgauge.plans.systems import SystemPlan, code_of, make_system
from rankgauge.retrievers.answers import shortened
from rankgauge.retrievers.own_code import told
from rankgauge.stats.family import Settings

__all__ = ["Outcome", "corpus_of", "evaluate_systems", "live_comparison", "live_record", "plan_record", "run_plan"]

Progress = Callable[[str, int, int], None]
"""Called with a system's name, the queries done, and all of them."""


@dataclass(frozen=True)
class Outcome:
    """What a plan gave: the record, the evaluations, and the systems that could not be evaluated, with the reason."""

    record: dict[str, Any]
    evaluations: list[LiveEvaluation]
    sweep: Sweep | None = None
    invalid: dict[str, str] = field(default_factory=dict)


def run_plan(plan: RunPlan, *, fresh: bool = False, progress: Progress | None = None) -> Outcome:
    """Carry out a plan that has been checked. A system that fails is left out and named; the others go on.

    With `fresh`, what earlier starts have answered is forgotten. Another start that keeps its answers in the same
    folder is an error before anything is asked.
    """
    with ExitStack() as held:
        if (cache := plan.cache) is not None:
            held.enter_context(folder_held(cache))
            for journal in journals_in(cache) if fresh else []:
                journal.unlink()
        return _carried_out(plan, progress)


def _carried_out(plan: RunPlan, progress: Progress | None) -> Outcome:
    test_set = load_testset(plan.test_set)
    corpus = corpus_of(plan)
    found, invalid = evaluate_systems(plan, test_set, corpus, progress=progress)
    if not found:
        raise RetrieverError("no system could be evaluated: " + "; ".join(map(shortened, invalid.values())))
    tried = None
    if plan.sweep is not None:
        try:
            tried = _sweep(plan, test_set, corpus, progress)
        except RankgaugeError as error:
            invalid["sweep"] = f"sweep of {plan.sweep.system}: {error}"
    record = plan_record(plan, test_set, found, invalid)
    if tried is not None:
        assert plan.sweep is not None
        record["sweeps"] = [{"system": plan.sweep.system, **tried.to_dict()}]
    return Outcome(record, found, tried, invalid)


def evaluate_systems(
    plan: RunPlan, test_set: TestSet, corpus: Corpus | None, *, progress: Progress | None = None
) -> tuple[list[LiveEvaluation], dict[str, str]]:
    """Every system asked and scored; those that could not be, with the reason."""
    found: list[LiveEvaluation] = []
    invalid: dict[str, str] = {}
    for system in plan.systems:
        try:
            found.append(_evaluate(plan, system, test_set, corpus, progress))
        except RankgaugeError as error:
            said = error.retrieval.reason if isinstance(error, RetrievalError) else str(error)
            invalid[system.name] = said if said.startswith(f"{system.name}:") else f"{system.name}: {said}"
        except Exception as error:  # whatever the user's factory does
            invalid[system.name] = f"{system.name}: {told(error)}"
    return found, invalid


def corpus_of(plan: RunPlan) -> Corpus | None:
    """The plan's documents, if it names any."""
    if plan.corpus is None:
        return None
    return load_corpus(plan.corpus)


def _evaluate(
    plan: RunPlan, system: SystemPlan, test_set: TestSet, corpus: Corpus | None, progress: Progress | None
) -> LiveEvaluation:
    def tell(done: int, total: int) -> None:
        if progress is not None:
            progress(system.name, done, total)

    retriever = make_system(system, plan.folder, corpus)
    return evaluate_retriever(
        retriever,
        test_set,
        measures=plan.measures,
        name=system.name,
        corpus=corpus,
        contract=plan.contract,
        configuration={**system.configuration, "code": code_of(system, plan.folder)},
        id_field=system.id_field,
        score_field=system.score_field,
        progress=tell,
        **_called(plan),
    )


def _called(plan: RunPlan) -> dict[str, Any]:
    calls = plan.calls
    return {
        "k": calls.k,
        "concurrency": calls.concurrency,
        "timeout": calls.timeout,
        "retries": calls.retries,
        "backoff": calls.backoff,
        "max_failed": calls.max_failed,
        "cache": plan.cache,
    }


def _sweep(plan: RunPlan, test_set: TestSet, corpus: Corpus | None, progress: Progress | None) -> Sweep:
    """The sweep of one system. Answers are kept for each setting, apart from those of the system itself."""
    wanted = plan.sweep
    assert wanted is not None
    base = next(system for system in plan.systems if system.name == wanted.system)

    built: dict[str, Any] = {}

    def factory(**parameters: Any) -> Any:
        """The system with other parameters; one that can search its index with another ef_search is built once."""
        changed = {**base.parameters, **parameters}
        rest = repr(sorted((key, repr(value)) for key, value in changed.items() if key != "ef_search"))
        if rest in built and "ef_search" in changed:
            return built[rest].with_ef_search(changed["ef_search"])
        made = make_system(SystemPlan(**{**vars(base), "parameters": changed}), plan.folder, corpus)
        if hasattr(made, "with_ef_search"):
            built[rest] = made
        return made

    def tell(number: int, total: int, setting: str) -> None:
        if progress is not None:
            progress(f"{base.name} {setting}", number - 1, total)

    return sweep(
        factory,
        wanted.grid,
        test_set,
        measure=wanted.measure,
        tries=wanted.tries,
        folds=wanted.folds,
        seed=wanted.seed,
        exact=wanted.exact or None,
        progress=tell,
        id_field=base.id_field,
        score_field=base.score_field,
        configuration={
            **base.configuration,
            "system": base.name,
            "code": code_of(base, plan.folder),
            "corpus": None if plan.cache is None else version_of(corpus),
        },
        **_called(plan),
    )


def plan_record(
    plan: RunPlan,
    test_set: TestSet,
    found: list[LiveEvaluation],
    invalid: Mapping[str, str],
    *,
    compared: bool = True,
) -> dict[str, Any]:
    """The record of a plan's systems; several of them are compared, unless only their scores are wanted."""
    inputs = {
        key: {"path": str(path), "sha256": Source(path).sha256()}
        for key, path in (("plan", plan.path), ("judgments", plan.test_set), ("corpus", plan.corpus))
        if path is not None and path.is_file()
    }
    baseline = plan.baseline if plan.baseline in [live.name for live in found] else None
    comparison = None
    if len(found) > 1 and compared:
        comparison = live_comparison(found, test_set, plan.comparison, baseline=baseline)
    record = live_record(found, comparison, inputs=inputs, slices=plan.by_tag, test_set=test_set)
    record["invalid"] = dict(invalid)
    return record


def live_comparison(
    found: Sequence[LiveEvaluation], test_set: TestSet, settings: Settings, *, baseline: str | None = None
) -> Comparison:
    """Live evaluations on one test set, compared."""
    return Comparison.of(
        found,
        settings,
        baseline=baseline,
        qrels=test_set.qrels,
        runs={live.name: live.retrieval.run for live in found},
        test_set=test_set,
    )


def live_record(
    found: Sequence[LiveEvaluation],
    comparison: Comparison | None,
    *,
    inputs: Mapping[str, Mapping[str, Any]] | None = None,
    slices: bool = False,
    test_set: TestSet | None = None,
) -> dict[str, Any]:
    """The record of live evaluations, with latency and errors beside the scores."""
    if comparison is None:
        record = record_of(found, inputs=inputs, test_set=test_set)
    else:
        record = comparison_record(comparison, inputs=inputs, slices=slices)
    for entry, live in zip(record["systems"], found, strict=True):
        entry["calls"] = _calls(live)
    return record


def _calls(live: LiveEvaluation) -> dict[str, Any]:
    """Latency and errors beside the scores."""
    retrieval = live.retrieval
    latency: Mapping[str, Any] | None = live.latency.to_dict() if live.latency.count else None
    return {
        "k": retrieval.k,
        "concurrency": retrieval.concurrency,
        "latency": latency,
        "throughput": live.throughput,
        "cached": retrieval.cached,
        "repeated": retrieval.repeated,
        "failed": retrieval.failed,
        "errors": retrieval.errors,
        "notes": {"en": [english for english, _ in live.live_notes], "zh": [chinese for _, chinese in live.live_notes]},
    }
