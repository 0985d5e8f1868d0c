"""Figures that are right by their definition, and still not what a reader takes them for: measures that look further
down than the lists go, and grades on another scale than the threshold of relevance."""

from __future__ import annotations

import math
from collections.abc import Sequence

from rankgauge.evaluation.scores import Scores
from rankgauge.measures import Measure
from rankgauge.words import Note

__all__ = ["caveats_of"]

_FEWEST = 3  # lists of one length that are no coincidence
# Lists of this length serve measures without a depth; of other families nothing is known.
_ENOUGH = dict.fromkeys(("overall", "order", "recall", "incomplete judgments", "diversity"), 100) | {"first result": 10}
_WIDE = 5  # scales up to 4 are common, and their 1 is relevant
_MOST_NAMES = 4


def caveats_of(scores: Scores) -> list[Note]:
    """A warning for each cause."""
    return [*_lists(scores), *_grades(scores)]


def _names(measures: Sequence[Measure]) -> list[str] | Note:
    """The measures, or the first of them and how many more."""
    names = list(map(str, measures))
    if len(names) <= _MOST_NAMES:
        return names
    counts = {"names": names[:_MOST_NAMES], "more": len(names) - _MOST_NAMES, "all": len(names)}
    return Note("evaluation.names_and_more", counts)


def _lists(scores: Scores) -> list[Note]:
    """Lists that look cut off: most of them end after the same few documents, and there was more to be found."""
    found, coverage = scores.coverage.lengths, scores.coverage
    if scores.whole_lists or found is None or not found.incomplete or found.at_longest < max(_FEWEST, found.lists / 2):
        return []
    length = found.longest
    limits = [scores.contract.depth, coverage.collection]  # cut on purpose, or all the documents there are
    if any(limit is not None and limit <= length for limit in limits):
        return []
    deep = [m for m in scores.measures if isinstance(m.at, int) and m.at > length and _ranks(m)]
    if scores.asked is not None and scores.asked <= length:
        deep = []  # it was asked for no more, which is said already
    whole = [m for m in scores.measures if m.at is None and _reads_on(m, length)]
    if found.at_longest == found.lists:
        lists = Note("evaluation.all_lists", {"n": found.lists, "length": length})
    else:
        lists = Note("evaluation.most_lists", {"n": found.lists, "full": found.at_longest, "length": length})
    if deep:
        depth = max(int(m.at or 0) for m in deep)
        remedy = scores.remedy(depth)
        key = "evaluation.short_lists" if remedy is None else "asking.short_lists"
        about = {"lists": lists, "names": _names(deep), "depth": depth}
        return [Note(key, about if remedy is None else {**about, "remedy": remedy}, "warning")]
    if whole:
        example = next((str(m.with_at(length)) for m in whole if m.definition.at is not None), f"AP@{length}")
        key = "evaluation.whole_lists_live" if scores.live else "evaluation.whole_lists"
        return [Note(key, {"lists": lists, "names": _names(whole), "example": example}, "warning")]
    return []


def _ranks(measure: Measure) -> bool:
    """Whether it is about the documents found, not about how many were returned or judged."""
    return measure.definition.family not in ("coverage", "counts", "set") and measure.get("budget") is None


def _reads_on(measure: Measure, length: int) -> bool:
    """Whether a measure of the whole list could well change with the documents after this many."""
    return _ranks(measure) and length < _ENOUGH.get(measure.definition.family, 0)


def _grades(scores: Scores) -> list[Note]:
    """Grades that the threshold of relevance was not made for."""
    grades = scores.coverage.grades
    if grades is None:
        return []
    binary = [m for m in scores.measures if m.definition.relevance and m.get("rel") and m.get("grades") != "scaled"]
    above = [m for m in binary if m.get("rel") > grades.highest]
    plain = [m for m in binary if m.get("rel") == 1]  # the threshold that nobody had to choose
    many = grades.distinct >= _WIDE or grades.highest in (10, 100)
    if above:
        key, concerned = "grades_below", above
    elif grades.lowest < 1 <= grades.highest <= 1:
        key, concerned = "grades_unit", plain
    elif grades.highest >= _WIDE and many and 2 * grades.lowest < grades.highest:
        key, concerned = "grades_wide", plain
    else:
        return []
    if not concerned:
        return []
    half = grades.highest / 2
    example = math.ceil(half) if half > 0.5 else 0.5 if half > 0.25 else half
    values = {
        "names": _names(concerned),
        "highest": grades.highest,
        "rel": min(m.get("rel") for m in concerned),
        "example": example,
    }
    return [Note(f"evaluation.{key}", values, "warning")]
