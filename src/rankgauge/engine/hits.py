"""Hits gathered from parts of a run, put together into what the kernels see."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from rankgauge.model.ranked import Bools, Floats, Ints, RankedGrades, SubtopicHits

__all__ = ["Hits", "assemble"]


class Hits(NamedTuple):
    """Judged documents found in a part of a run. `judgment` is the row of the judgment, for the subtopics."""

    owner: Ints
    above: Ints
    tied: Ints
    grade: Floats
    judgment: Ints
    tie_met: Bools

    @staticmethod
    def none() -> Hits:
        nothing: Ints = np.zeros(0, dtype=np.int64)
        return Hits(nothing, nothing, nothing, np.zeros(0), nothing, np.zeros(0, dtype=bool))


@dataclass(frozen=True, eq=False, repr=False)
class Judged:
    """The judgments' side: queries and grades, best grade first in each query."""

    queries: Sequence[str]
    starts: Ints
    grades: Floats


def _joined(parts: Sequence[Hits]) -> Hits:
    if len(parts) == 1:
        return parts[0]
    return Hits(*map(np.concatenate, zip(*parts, strict=True))) if parts else Hits.none()


def _in_order(hits: Hits) -> Hits:
    """By query, each list in rank order. Of several at one place the best grade comes first, so that sums round alike
    from any input."""
    place = hits.owner * (int(hits.above.max(initial=0)) + 1) + hits.above
    if (hits.tied > 1).any():
        order = np.lexsort((-hits.grade, place))
    elif (place[1:] >= place[:-1]).all():
        return hits
    else:
        order = np.argsort(place, kind="stable")
    owner, above, tied, grade, judgment, tie_met = hits
    return Hits(owner[order], above[order], tied[order], grade[order], judgment[order], tie_met[order])


def assemble(
    judged: Judged,
    parts: Sequence[Hits],
    in_run: Bools,
    retrieved: Ints,
    subtopics: SubtopicHits | None = None,
    prefix: dict[str, Ints] | None = None,
    top: Floats | None = None,
) -> RankedGrades:
    """All parts as one `RankedGrades`, hits in rank order. `hit` of the subtopics is the row of the judgment here."""
    n = len(judged.queries)
    hits = _in_order(_joined(parts))
    owner = hits.owner
    if subtopics is not None:
        hit_of = np.full(int(subtopics.hit.max(initial=-1)) + 1, -1, dtype=np.int64)
        hit_of[hits.judgment] = np.arange(len(hits.judgment))
        subtopics = subtopics.renumbered(hit_of)
    return RankedGrades(
        queries=judged.queries,
        in_run=in_run,
        retrieved=retrieved,
        starts=np.concatenate(([0], np.cumsum(np.bincount(owner, minlength=n)))),
        above=hits.above,
        tied=hits.tied,
        grades=hits.grade,
        judged_starts=judged.starts,
        judged_grades=judged.grades,
        ties_met=np.bincount(owner[hits.tie_met], minlength=n),
        subtopics=subtopics,
        prefix=prefix or {},
        top=top,
    )
