"""What happened when test sets were put together."""

from __future__ import annotations

from collections.abc import Sequence

from rankgauge.model.near_duplicates import near_duplicates
from rankgauge.model.testset import TestSet
from rankgauge.words import Note
from rankgauge.words.visible import clipped

__all__ = ["joined_notes"]

_MOST_TEXT = 60


def joined_notes(given: Sequence[TestSet], made: TestSet) -> list[Note]:
    """How many queries joined the first test set, and which ask the same under two ids."""
    new = len(made) - len(given[0])
    notes = [Note("testsets.merged", {"n": new, "known": sum(map(len, given)) - len(made)})]
    texts = [query.text for query in made]
    pairs = list(near_duplicates(texts))
    if pairs:
        a, b = (clipped(texts[i], _MOST_TEXT) for i in pairs[0])
        notes.append(Note("testsets.same_texts", {"n": len({b for _, b in pairs}), "a": a, "b": b}, "warning"))
    return notes
