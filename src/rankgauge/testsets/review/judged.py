"""What is judged when people review: a test set's grades, and above them what the labels make of a document."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from rankgauge.errors import DataError
from rankgauge.evaluation import read_judgments, read_run
from rankgauge.formats import load_corpus
from rankgauge.formats.labels import load_labels
from rankgauge.formats.pool import load_pool
from rankgauge.measures import Measure
from rankgauge.model.judgments import Qrels
from rankgauge.model.labels import Label, LabelPolicy, Labels
from rankgauge.model.pool import Pool
from rankgauge.model.ranked import Bools
from rankgauge.model.testset import Corpus, TestSet, as_testset

__all__ = [
    "DEFAULT_SCALE",
    "Grades",
    "PathLike",
    "all_labels",
    "check_policy",
    "check_scale",
    "current_grades",
    "judgments_with_scale",
    "opened_runs",
    "read_corpus",
    "read_labels",
    "read_pool",
    "read_tested",
    "usual_scale",
]

Grades = dict[str, dict[str, float]]
PathLike = str | os.PathLike[str]
DEFAULT_SCALE = (0.0, 1.0, 2.0, 3.0)
_HIGHEST_USUAL = 10
"""What is graded higher is not taken for a scale of single steps."""
_SCALE_QUERY = "\0scale"


def read_tested(source: Any) -> TestSet:
    """A test set from one, from judgments, or from a file of either."""
    judgments, tested = read_judgments(source)
    return as_testset(judgments) if tested is None else tested


def read_labels(source: Any) -> Labels:
    if source is None:
        return Labels()
    if isinstance(source, str | os.PathLike):
        return load_labels(source) if os.path.exists(source) else Labels(name=os.fspath(source))
    return source if isinstance(source, Labels) else Labels(source)


def read_pool(source: Any) -> Pool | None:
    if source is None or isinstance(source, Pool):
        return source
    if isinstance(source, str | os.PathLike):
        return load_pool(source)
    if not isinstance(source, Iterable):
        raise DataError(f"`pool` must be a Pool or the path of one, not {source!r}"[:200])
    return Pool(source)


def read_corpus(source: Any) -> Mapping[str, str]:
    """Texts of documents by id; nothing where none are given."""
    if source is None:
        return {}
    return load_corpus(source) if isinstance(source, str | os.PathLike) else Corpus(source)


def opened_runs(runs: Any) -> dict[str, Any]:
    """Runs by name, opened."""
    if runs is None:
        return {}
    if not isinstance(runs, Mapping):
        raise DataError('runs are given by name: {"a": run, "b": run}')
    return {str(name): read_run(run, str(name)) for name, run in runs.items()}


def check_scale(scale: Any) -> tuple[float, ...]:
    """The grades that there are, the least first."""
    try:
        found = tuple(sorted({float(grade) for grade in scale}))
    except (TypeError, ValueError, OverflowError):
        raise DataError(f"`scale` must be a list of grades such as (0, 1, 2, 3), not {scale!r}"[:200]) from None
    if len(found) < 2 or not np.isfinite(found).all():
        raise DataError(f"`scale={scale!r}` needs two different grades or more"[:200])
    return found


def usual_scale(tested: TestSet, labels: Iterable[Label]) -> tuple[float, ...]:
    """0 to 3, or as far as the grades go that there are: who reviews has to be able to say what was said before."""
    given = [label.grade for label in (*tested.labels, *labels) if label.grade is not None and not label.aspect]
    highest = max((*given, *(grade for query in tested for grade in query.grades.values())), default=0.0)
    if not DEFAULT_SCALE[-1] < highest <= _HIGHEST_USUAL:
        return DEFAULT_SCALE
    return tuple(float(grade) for grade in range(math.ceil(highest) + 1))


def all_labels(tested: TestSet, labels: Labels) -> Labels:
    """The labels that a test set carries, and others after them."""
    return tested.labels.added(labels) if len(tested.labels) else labels


def current_grades(tested: TestSet, known: Labels, policy: LabelPolicy) -> Grades:
    """The grade of each document: what all labels make of it, else what the test set says where it has no labels."""
    said = known.grades(policy)
    own = tested.policy is None
    return {query.id: {**(query.grades if own else {}), **said.get(query.id, {})} for query in tested}


def check_policy(policy: Any, tested: TestSet) -> LabelPolicy:
    """The policy that was given, else the test set's own, else the usual one."""
    if policy is not None and not isinstance(policy, LabelPolicy):
        raise DataError(f"`policy` must be a LabelPolicy, not {policy!r}"[:200])
    return policy or tested.policy or LabelPolicy()


def judgments_with_scale(
    grades: Grades, scale: Sequence[float], measures: Sequence[Measure]
) -> tuple[Qrels, dict[str, Bools]]:
    """Judgments for ranges over unjudged documents, and which of their queries count, by measure: not the last one.

    It holds each grade of the scale once, so that a label may be any of them, also where nothing is judged yet.
    """
    whole = {**grades, _SCALE_QUERY: {str(i): grade for i, grade in enumerate(scale)}}
    qrels = Qrels(whole, name="judgments")
    counts = np.asarray([query != _SCALE_QUERY for query in qrels.queries])
    return qrels, {str(measure): counts for measure in measures}
