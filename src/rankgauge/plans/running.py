"""Run a plan: every system asked and scored, compared, some of them swept, and all of it in one record."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from rankgauge.arguments import named_arguments
from rankgauge.errors import DataError, RankgaugeError, RetrieverError
from rankgauge.evaluation import hashed, signatures
from rankgauge.formats import load_corpus, load_testset
from rankgauge.formats.git import commit_of
from rankgauge.live.evaluation import LiveEvaluation, RetrievalError, live_record
from rankgauge.live.live import evaluate_retriever
from rankgauge.live.sweep import Sweep
from rankgauge.model.chunks import Chunks
from rankgauge.model.corpus import Corpus
from rankgauge.model.testset import TestSet
from rankgauge.plans.chunks import given_chunks, rule_of
from rankgauge.plans.losses import losses_of_systems
from rankgauge.plans.plan import RunPlan, load_plan, modules_of
from rankgauge.plans.sweeping import Progress, result_of, sweep_of
from rankgauge.plans.systems import Version, make_system, version_of
from rankgauge.record import InputFile, Record
from rankgauge.retrievers.journal import folder_held, journals_in
from rankgauge.retrievers.own_code import told
from rankgauge.words import Note, tell
from rankgauge.words.visible import shortened

__all__ = ["Inputs", "Outcome", "Progress", "evaluate_systems", "plan_record", "read_inputs", "run_plan"]


@dataclass(frozen=True)
class Outcome:
    """What a plan gave: the record, the evaluations, and the systems that could not be evaluated, with the reason."""

    record: Record
    evaluations: list[LiveEvaluation]
    sweeps: list[Sweep] = field(default_factory=list)
    invalid: dict[str, Note] = field(default_factory=dict)

    @property
    def sweep(self) -> Sweep | None:
        """The first of its sweeps."""
        return next(iter(self.sweeps), None)


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
    tried: list[Sweep] = []
    for number, wanted in enumerate(plan.sweeps, start=1):
        try:
            tried.append(sweep_of(plan, wanted, test_set, corpus, progress))
        except RankgaugeError as error:
            reason = Note("live.error", {"error": str(error)})
            called = "sweep" if len(plan.sweeps) == 1 else f"sweep {number}"
            invalid[called] = Note("live.sweep", {"system": wanted.system, "reason": reason}, "warning")
    record = plan_record(plan, inputs, found, invalid)
    record = replace(record, losses=losses_of_systems(plan, inputs.test_set, corpus, found))
    if tried:
        record = replace(record, sweeps=[result_of(one) for one in tried])
    return Outcome(record, found, tried, invalid)


def evaluate_systems(
    plan: RunPlan, test_set: TestSet, corpus: Corpus | None, *, progress: Progress | None = None
) -> tuple[list[LiveEvaluation], dict[str, Note]]:
    """Every system asked and scored; those that could not be, with the reason."""
    found: list[LiveEvaluation] = []
    invalid: dict[str, Note] = {}
    known: dict[Path, Chunks] = {}
    modules = modules_of(plan.path)
    for system in plan.systems:
        try:
            chunks = given_chunks(system.chunks, system.chunk_ids, plan.folder, known)
            made = make_system(system, plan.folder, corpus, chunks)
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
                cost=system.cost,
                cost_unit=system.cost_unit,
                parent_field=system.parent_field,
                collapse_chunks=rule_of(system.collapse_chunks, plan.folder),
                chunks=chunks,
                overlap=None if chunks is None else plan.overlap,
                progress=None if progress is None else partial(progress, system.name),
                contract=plan.contract,
                **plan.calls.arguments,
            )
            live.resuming, live.proven = plan.only_resumes, kept.closed
            _check_alike(live, found)
            found.append(live)
        except RetrievalError as error:
            invalid[system.name] = error.reason
        except (Exception, SystemExit) as error:  # whatever the user's factory does
            said = told(error).removeprefix(f"{system.name}: ")
            invalid[system.name] = Note("live.error", {"error": said}, "warning")
    return found, invalid


def _check_alike(live: LiveEvaluation, found: list[LiveEvaluation]) -> None:
    """Raise an error where chunks of one system were judged and documents of another: there is nothing to compare."""
    other = next((one for one in found if (one.labels is None) is not (live.labels is None)), None)
    if other is not None:
        chunked, plain = (live, other) if other.labels is None else (other, live)
        raise DataError(
            f"labels were brought onto the chunks of {chunked.name!r}, and those of {plain.name!r} are not known: give "
            "it chunks or chunk_ids too, or score both by their documents with collapse_chunks"
        )


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
        lists=compared,
    )
    return replace(record, invalid=dict(invalid), provenance=replace(record.provenance, git=inputs.commit))
