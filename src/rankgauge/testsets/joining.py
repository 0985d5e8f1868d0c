"""What happened when test sets were put together."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import PurePath

from rankgauge.model.near_duplicates import near_duplicates
from rankgauge.model.summary import beyond
from rankgauge.model.testset import TestSet
from rankgauge.words import Note
from rankgauge.words.visible import clipped

__all__ = ["joined_notes"]

_MOST_TEXT = 60


def joined_notes(given: Sequence[TestSet], made: TestSet) -> list[Note]:
    """How many queries joined the first test set, which ask the same under two ids, and whether their scales differ."""
    new = len(made) - len(given[0])
    notes = [Note("testsets.merged", {"n": new, "known": sum(map(len, given)) - len(made)})]
    texts = [query.text for query in made]
    pairs = list(near_duplicates(texts))
    if pairs:
        a, b = (clipped(texts[i], _MOST_TEXT) for i in pairs[0])
        notes.append(Note("testsets.same_texts", {"n": len({b for _, b in pairs}), "a": a, "b": b}, "warning"))
    return [*notes, *_other_scale(given)]


def _other_scale(given: Sequence[TestSet]) -> Iterator[Note]:
    """The test sets whose grades go the highest and the least high, where these seem to be two scales."""
    reaches = []
    for one in given:
        grades = [float(grade) for query in one for grade in query.grades.values()]
        if any(grade > 0 for grade in grades):  # candidates that nobody judged yet have no scale
            reaches.append((max(grades), len(grades), clipped(PurePath(one.name).name, _MOST_TEXT)))
    if not reaches:
        return
    (low, n, coarse), (high, _, fine) = min(reaches), max(reaches)
    if beyond(high, low, n):
        about = {"fine": fine, "high": high, "coarse": coarse, "low": low}
        yield Note("testsets.other_scale", about, "warning")
