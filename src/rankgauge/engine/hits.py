"""Hits gathered from parts of a run, put together into what the kernels see."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from rankgauge.model.ranked import Bools, Floats, Ints, RankedGrades, SubtopicHits

__all__ = ["Hits", "assemble"]


@dataclass
class Hits:
    """Judged documents found so far. `judgment` is the row of the judgment, for the subtopics."""

    owner: list[Ints] = field(default_factory=list)
    above: list[Ints] = field(default_factory=list)
    tied: list[Ints] = field(default_factory=list)
    grade: list[Floats] = field(default_factory=list)
    judgment: list[Ints] = field(default_factory=list)
    tie_met: list[Bools] = field(default_factory=list)

    def add(self, owner: Ints, above: Ints, tied: Ints, grade: Floats, judgment: Ints, tie_met: Bools) -> None:
        self.owner.append(owner)
        self.above.append(above)
        self.tied.append(tied)
        self.grade.append(grade)
        self.judgment.append(judgment)
        self.tie_met.append(tie_met)


@dataclass(frozen=True)
class Judged:
    """The judgments' side: queries and grades, best grade first in each query."""

    queries: Sequence[str]
    starts: Ints
    grades: Floats


@dataclass(frozen=True)
class SubtopicRows:
    """Judgments by subtopic; `judgment` is the row of the (query, document) judgment each belongs to."""

    starts: Ints
    document: Ints
    subtopic: Ints
    grade: Floats
    judgment: Ints


def best_first(grades: Floats, owner: Ints) -> Floats:
    """Grades of each query, largest first; queries stay in order."""
    low, high = float(grades.min(initial=0.0)), float(grades.max(initial=0.0))
    width = int(high - low) + 1
    if width < 1 << 20 and (grades == np.floor(grades)).all():  # whole grades: one sort of whole numbers
        key = np.sort(owner * width + (high - grades).astype(np.int64))
        return high - (key % width).astype(np.float64)
    return grades[np.lexsort((-grades, owner))]


def assemble(
    judged: Judged,
    hits: Hits,
    in_run: Bools,
    retrieved: Ints,
    subtopics: SubtopicRows | None = None,
    prefix: dict[str, Ints] | None = None,
) -> RankedGrades:
    """All parts as one `RankedGrades`, hits in rank order."""
    n = len(judged.queries)
    owner, above = _joined(hits.owner, np.int64), _joined(hits.above, np.int64)
    order = np.argsort(owner * (int(above.max(initial=0)) + 1) + above, kind="stable")
    owner = owner[order]
    tie_met = _joined(hits.tie_met, np.bool_)[order]
    judgment = _joined(hits.judgment, np.int64)[order]
    rows = None
    if subtopics is not None:
        hit_of = np.full(int(subtopics.judgment.max(initial=-1)) + 1, -1, dtype=np.int64)
        hit_of[judgment] = np.arange(len(judgment))
        rows = SubtopicHits(
            subtopics.starts, subtopics.document, subtopics.subtopic, subtopics.grade, hit_of[subtopics.judgment]
        )
    return RankedGrades(
        queries=judged.queries,
        in_run=in_run,
        retrieved=retrieved,
        starts=np.concatenate(([0], np.cumsum(np.bincount(owner, minlength=n)))),
        above=above[order],
        tied=_joined(hits.tied, np.int64)[order],
        grades=_joined(hits.grade, np.float64)[order],
        judged_starts=judged.starts,
        judged_grades=judged.grades,
        ties_met=np.bincount(owner[tie_met], minlength=n),
        subtopics=rows,
        prefix=prefix or {},
    )


def _joined(parts: list[Any], kind: type) -> Any:
    return np.concatenate(parts) if parts else np.zeros(0, dtype=kind)
