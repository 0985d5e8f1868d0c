"""How much of a quoted passage a text holds, where neither says at which characters it stands.

The share is that of the passage's words found one behind the other, in the longest such run. Runs are found by the
words' n-grams: those of all passages are looked up in each text once, so a large collection is read a single time.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from rankgauge.model.normal_text import words_of

__all__ = ["Quoted", "quoted_in"]

_SIZES = (4, 2, 1)
_WHOLE = 4  # words that a chunk inside a passage has at least: shorter ones stand in passages by chance

Gram = tuple[str, ...]


class Quoted(NamedTuple):
    """A text that holds a passage, or part of it."""

    text: str
    share: float
    """Of the passage's words."""
    inside: bool
    """Whether the whole text is part of the passage."""


def quoted_in(
    passages: Sequence[str],
    texts: Mapping[str, str],
    within: Sequence[Sequence[str] | None],
    least: float,
) -> list[list[Quoted]]:
    """For each passage the texts that hold at least this share of its words in one run, or lie inside it.

    `within` names the texts that may hold a passage; None is all.
    """
    words = [words_of(passage) for passage in passages]
    grams: dict[int, dict[Gram, list[tuple[int, int]]]] = {size: {} for size in _SIZES}
    for number, own in enumerate(words):
        size = _size(len(own), least)
        for at in range(len(own) - size + 1) if size else ():
            grams[size].setdefault(tuple(own[at : at + size]), []).append((number, at))
    allowed = [None if names is None else frozenset(names) for names in within]
    everywhere = any(names is None for names in allowed)
    asked = texts if everywhere else {name for names in allowed for name in names or ()}
    found: list[list[Quoted]] = [[] for _ in passages]
    for name, text in texts.items():
        if name not in asked:
            continue
        own = words_of(text)
        for number, run in _longest_runs(own, grams).items():
            names = allowed[number]
            if names is not None and name not in names:
                continue
            share, inside = run / len(words[number]), run == len(own) >= _WHOLE
            if share >= least or inside:
                found[number].append(Quoted(name, share, inside))
    return found


def _size(words: int, least: float) -> int:
    """The n-grams that a run of the share wanted surely has; 0 for a passage without words."""
    return next((size for size in _SIZES if size <= least * words), 1 if words else 0)


def _longest_runs(text: Sequence[str], grams: Mapping[int, Mapping[Gram, list[tuple[int, int]]]]) -> dict[int, int]:
    """Words of the longest run of each passage in a text."""
    longest: dict[int, int] = {}
    for size, known in grams.items():
        if not known:
            continue
        going: dict[tuple[int, int], int] = {}
        for at in range(len(text) - size + 1):
            # The same passage further on by as many words as the text is one run.
            places = known.get(tuple(text[at : at + size]), ())
            going = {(number, place): going.get((number, place - 1), size - 1) + 1 for number, place in places}
            for (number, _), run in going.items():
                longest[number] = max(run, longest.get(number, 0))
    return longest
