"""Evaluations as a record."""

from __future__ import annotations

import datetime
import sys
from collections.abc import Mapping, Sequence

from rankgauge.evaluation.notes import notes_of
from rankgauge.evaluation.scores import Scores
from rankgauge.formats.git import commit_of, working_folder
from rankgauge.model.contract import Contract
from rankgauge.model.judgments import Qrels
from rankgauge.model.testset import TestSet
from rankgauge.record import InputFile, Mean, Provenance, Record, ScoredMeasure, SystemResult
from rankgauge.version import __version__

__all__ = ["now", "provenance_of", "record_of"]


def record_of(
    evaluations: Sequence[Scores],
    *,
    inputs: Mapping[str, InputFile] | None = None,
    per_query: bool = True,
    provenance: bool = True,
    test_set: TestSet | Qrels | None = None,
) -> Record:
    """The record of one or several systems scored with the same judgments and measures.

    `inputs` are the files by role (`hashed`). A record that is only shown, not kept, can do without the scores of each
    query, and without the commit, which takes a process to find. A `test_set` gives the tags of its queries.
    """
    first = evaluations[0]
    return Record(
        kind="evaluation",
        created=now(),
        rankgauge=__version__,
        preset=first.preset,
        contract=_contract(evaluations),
        measures=[ScoredMeasure.of(measure) for measure in first.measures],
        queries=list(first.table.queries) if per_query else [],
        systems=[_system(evaluation, per_query) for evaluation in evaluations],
        provenance=provenance_of(inputs, commit=provenance, test_set=test_set or first.test_set),
        tags={q.id: list(q.tags) for q in test_set if q.tags} if isinstance(test_set, TestSet) else {},
        conversations=first.conversations if per_query else {},
        synthetic=first.synthetic if per_query else {},
    )


def _contract(evaluations: Sequence[Scores]) -> Contract:
    """The contract of all; where some systems return chunks and others documents, each rule with its system."""
    first = evaluations[0].contract
    rules = {scores.name: scores.contract.collapse for scores in evaluations}
    if len(set(rules.values())) == 1:
        return first
    return first.with_changes(collapse="; ".join(f"{name}: {rule}" for name, rule in rules.items() if rule))


def _system(scores: Scores, per_query: bool) -> SystemResult:
    table, counted = scores.table, scores.table.counted
    return SystemResult(
        name=scores.name,
        means={
            str(measure): Mean(scores.mean[measure], scores.interval[measure], int(counted[:, j].sum()))
            for j, measure in enumerate(scores.measures)
        },
        per_query={name: table.values[:, j].tolist() for j, name in enumerate(table.measures) if per_query},
        counted={
            name: counted[:, j].tolist()
            for j, name in enumerate(table.measures)
            if per_query and not counted[:, j].all()
        },
        coverage=scores.coverage,
        notes=notes_of(scores),
        calls=scores.calls,
        no_answer=scores.no_answer,
    )


def now() -> str:
    """The time as records write it."""
    return datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")


def provenance_of(
    inputs: Mapping[str, InputFile] | None, *, commit: bool, test_set: TestSet | Qrels | None = None
) -> Provenance:
    """What made a record; the commit takes a process to find."""
    labelled = None
    if isinstance(test_set, TestSet) and test_set.policy is not None:
        from rankgauge.record.labels import labelled_testset  # few test sets bring labels

        labelled = labelled_testset(test_set)
    return Provenance(
        inputs=dict(inputs or {}),
        python=".".join(map(str, sys.version_info[:3])),
        platform=sys.platform,
        git=commit_of(working_folder()) if commit else None,
        test_set=labelled,
    )
