"""Run a plan: every system asked and scored, compared, one of them swept, and all of it in one record."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

from rankgauge.arguments import named_arguments
from rankgauge.errors import DataError, RankgaugeError, RetrieverError
from rankgauge.evaluation import hashed, signatures
from rankgauge.formats import load_corpus, load_testset
from rankgauge.formats.git import commit_of
from rankgauge.live.live import LiveEvaluation, RetrievalError, evaluate_retriever, live_record
from rankgauge.live.sweep import Sweep, sweep
from rankgauge.model.testset import Corpus, TestSet
from rankgauge.plans.plan import RunPlan, load_plan, modules_of
from rankgauge.plans.systems import Version, make_system, version_of
from rankgauge.record import InputFile, Record
from rankgauge.retrievers.configuration import corpus_version
from rankgauge.retrievers.journal import folder_held, journals_in
from rankgauge.retrievers.own_code import told
from rankgauge.words import Note, tell
from rankgauge.words.visible import shortened

__all__ = ["Inputs", "Outcome", "evaluate_systems", "plan_record", "read_inputs", "run_plan"]

Progress = Callable[[str, int, int], None]
"""Called with a system's name, the queries done, and all of them."""


@dataclass(frozen=True)
class Outcome:
    """What a plan gave: the record, the evaluations, and the systems that could not be evaluated, with the reason."""

    record: Record
    evaluations: list[LiveEvaluation]
    sweep: Sweep | None = None
    invalid: dict[str, Note] = field(default_factory=dict)


@named_arguments
def run_plan(
    plan: RunPlan | str | os.PathLike[str],
    *,
    fresh: bool = False,
    progress: Progress | None = None,
    write: Callable[[Outcome], object] | None = None,
) -> Outcome:
    """Carry out a plan: its file, or what `load_plan` gives. A system that fails is left out and named; the others go
    on.

    A start that was interrupted goes on where it was, unless `fresh` forgets what earlier starts have answered. Once
    there is an outcome, and `write` has written it, the next start asks everything anew, unless the plan says `cache`;
    of a system that was left out the answers stay. Another start that keeps its answers in the same folder is an
    error before anything is asked.
    """
    if isinstance(plan, str | os.PathLike):
        plan = load_plan(plan)
    if not isinstance(plan, RunPlan):
        raise DataError(f"`plan` must be a path or what load_plan gives, not a {type(plan).__name__}")
    cache = plan.cache
    with nullcontext() if cache is None else folder_held(cache):
        for journal in journals_in(cache) if fresh and cache is not None else []:
            journal.unlink()
        outcome = _carried_out(plan, progress)
        if write is not None:
            write(outcome)
        if cache is not None and plan.only_resumes:
            for journal in (path for live in outcome.evaluations for path in journals_in(cache, live.name)):
                journal.unlink()
        return outcome


def _carried_out(plan: RunPlan, progress: Progress | None) -> Outcome:
    inputs = read_inputs(plan)
    test_set, corpus = inputs.test_set, inputs.corpus
    found, invalid = evaluate_systems(plan, test_set, corpus, progress=progress)
    if not found:
        reasons = [shortened(f"{name}: {tell(note, 'en')}") for name, note in invalid.items()]
        raise RetrieverError("no system could be evaluated: " + "; ".join(reasons))
    tried = None
    if plan.sweep is not None:
        try:
            tried = _sweep(plan, test_set, corpus, progress)
        except RankgaugeError as error:
            reason = Note("live.error", {"error": str(error)})
            invalid["sweep"] = Note("live.sweep", {"system": plan.sweep.system, "reason": reason}, "warning")
    record = plan_record(plan, inputs, found, invalid)
    if tried is not None:
        record = replace(record, sweeps=[tried.result])
    return Outcome(record, found, tried, invalid)


def evaluate_systems(
    plan: RunPlan, test_set: TestSet, corpus: Corpus | None, *, progress: Progress | None = None
) -> tuple[list[LiveEvaluation], dict[str, Note]]:
    """Every system asked and scored; those that could not be, with the reason."""
    found: list[LiveEvaluation] = []
    invalid: dict[str, Note] = {}
    modules = modules_of(plan.path)
    for system in plan.systems:
        try:
            made = make_system(system, plan.folder, corpus)
            kept = Version({}, False) if plan.cache is None else version_of(system, plan.folder, made, modules)
            live = evaluate_retriever(
                made,
                test_set,
                measures=plan.measures,
                name=system.name,
                corpus=corpus,
                cache=plan.cache,
                configuration={**system.configuration, "version": kept.key},
                id_field=system.id_field,
                score_field=system.score_field,
                progress=None if progress is None else partial(progress, system.name),
                contract=plan.contract,
                **plan.calls.arguments,
            )
            live.resuming, live.proven = plan.only_resumes, kept.closed
            found.append(live)
        except RetrievalError as error:
            invalid[system.name] = error.reason
        except (Exception, SystemExit) as error:  # whatever the user's factory does
            said = told(error).removeprefix(f"{system.name}: ")
            invalid[system.name] = Note("live.error", {"error": said}, "warning")
    return found, invalid


@dataclass(frozen=True)
class Inputs:
    """What a plan's systems are asked and judged by, and what its files and the code were when asking began: hours
    later they may be others."""

    test_set: TestSet
    corpus: Corpus | None
    files: dict[str, InputFile]
    commit: str | None


def read_inputs(plan: RunPlan) -> Inputs:
    """The plan's test set, and its documents if it names any."""
    paths = {"judgments": plan.test_set, "corpus": plan.corpus}
    before = signatures(paths)
    test_set = load_testset(plan.test_set)
    corpus = None if plan.corpus is None else load_corpus(plan.corpus)
    files = {} if plan.sha256 is None else {"plan": InputFile(str(plan.path), plan.sha256)}
    files |= hashed(paths, before)
    shown = {role: replace(file, path=str(plan.shown(Path(file.path)))) for role, file in files.items()}
    return Inputs(test_set, corpus, shown, commit_of(plan.started))


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
        made = make_system(replace(base, parameters=changed), plan.folder, corpus)
        if hasattr(made, "with_ef_search"):
            built[rest] = made
        return made

    def told_of(number: int, total: int, setting: str) -> None:
        if progress is not None:
            progress(f"{base.name} {setting}", number - 1, total)

    return sweep(
        factory,
        wanted.grid,
        test_set,
        measure=wanted.measure,
        name=base.name,
        tries=wanted.tries,
        folds=wanted.folds,
        seed=wanted.seed,
        exact=wanted.exact or None,
        progress=told_of,
        cache=plan.cache,
        configuration={
            **base.configuration,
            "version": None if plan.cache is None else version_of(base, plan.folder, None, modules_of(plan.path)).key,
            "corpus": None if plan.cache is None else corpus_version(corpus),
        },
        id_field=base.id_field,
        score_field=base.score_field,
        **plan.calls.arguments,
    )


def plan_record(
    plan: RunPlan,
    inputs: Inputs,
    found: list[LiveEvaluation],
    invalid: Mapping[str, Note],
    *,
    compared: bool = True,
    asked: TestSet | None = None,
) -> Record:
    """The record of a plan's systems; several of them are compared, unless only their scores are wanted. `asked` are
    the queries, where they are not all of the test set's."""
    baseline = plan.baseline if plan.baseline in [live.name for live in found] else None
    settings = plan.comparison if len(found) > 1 and compared else None
    record = live_record(
        found,
        asked or inputs.test_set,
        settings,
        baseline=baseline,
        inputs=inputs.files,
        slices=plan.by_tag,
        corpus=inputs.corpus,
    )
    return replace(record, invalid=dict(invalid), provenance=replace(record.provenance, git=inputs.commit))
