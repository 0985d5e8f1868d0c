"""Rows of a text file as columns of numbers: where ids lie in the text, 64-bit keys for them, and the scores.

No row becomes an object. Equal ids have equal keys; unequal ones of up to 8 bytes have unequal keys, and longer ones
have equal keys once in about 10^19, or where somebody made them so: what a key found is compared by its bytes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rankgauge.model.ranked import Bools, Floats, Ints

__all__ = [
    "Ids",
    "IrregularTextError",
    "Keys",
    "TextQueries",
    "TextRows",
    "has_repeats",
    "joined",
    "keys_of",
    "mixed",
    "require_equal",
]

Keys = NDArray[np.uint64]
_MIX = np.uint64(0x9E3779B97F4A7C15)
_SHIFT = np.uint64(29)
_KEEP = np.array([(1 << (8 * n)) - 1 for n in range(8)] + [(1 << 64) - 1], dtype=np.uint64)
PADDING = 8
"""Bytes that must follow the text, so that a word can be read at its last byte."""


class IrregularTextError(Exception):
    """The text is not of the plain kind that can be read this way; another reader has to look at it."""


class Ids(NamedTuple):
    """Ids as pieces of a text, which must be followed by padding."""

    text: bytes
    start: Ints
    length: Ints

    @property
    def are_long(self) -> bool:
        """Whether there may be two under one key."""
        return int(self.length.max(initial=0)) > 8

    def take(self, rows: Ints) -> Ids:
        return Ids(self.text, self.start[rows], self.length[rows])


def require_equal(found: Ids, wanted: Ids) -> None:
    """Refuse ids that differ though they have one key, or were found by a key of two ids."""
    if not np.array_equal(found.length, wanted.length):
        raise IrregularTextError
    words, others = _words(found.text), _words(wanted.text)
    for offset in range(0, int(found.length.max(initial=0)), 8):
        more = np.flatnonzero(found.length > offset)
        differences = words[found.start[more] + offset] ^ others[wanted.start[more] + offset]
        if (differences & _KEEP[np.minimum(found.length[more] - offset, 8)]).any():
            raise IrregularTextError


def _words(text: bytes) -> Keys:
    """The eight bytes from each place of the text on."""
    return np.ndarray((len(text) - PADDING + 1,), dtype="<u8", buffer=text, strides=(1,))


@dataclass(frozen=True, eq=False, repr=False)
class TextRows:
    """Rows of one text. Query and document of row i are `text[start[i]:start[i] + length[i]]`."""

    text: bytes
    query_start: Ints
    query_length: Ints
    query_key: Keys
    doc_start: Ints
    doc_length: Ints
    doc_key: Keys
    number: Floats
    """Scores of a run, grades of judgments."""

    def __len__(self) -> int:
        return len(self.number)

    def doc_bytes(self, row: int) -> bytes:
        start = int(self.doc_start[row])
        return self.text[start : start + int(self.doc_length[row])]

    def queries(self, rows: Ints) -> Sequence[str]:
        """The queries of some rows."""
        return TextQueries(self, rows)

    @property
    def query(self) -> Ids:
        return Ids(self.text, self.query_start, self.query_length)

    @property
    def doc(self) -> Ids:
        return Ids(self.text, self.doc_start, self.doc_length)

    def first_of_lists(self) -> Ints:
        """The rows at which another query begins."""
        changes: Bools = np.ones(len(self), dtype=bool)
        changes[1:] = self.query_key[1:] != self.query_key[:-1]
        if self.query.are_long:
            again = np.flatnonzero(~changes)
            require_equal(self.query.take(again - 1), self.query.take(again))
        return np.flatnonzero(changes)


class TextQueries(Sequence[str]):
    """Queries that become strings when they are looked at: a table of means never does."""

    def __init__(self, source: TextRows, rows: Ints) -> None:
        self._source, self._rows = source, rows

    @cached_property
    def _names(self) -> list[str]:
        text, starts = self._source.text, self._source.query_start[self._rows]
        bounds = zip(starts.tolist(), (starts + self._source.query_length[self._rows]).tolist(), strict=True)
        if text.isascii():
            plain = text.decode()
            return [plain[start:end] for start, end in bounds]
        return [text[start:end].decode() for start, end in bounds]

    def __getitem__(self, index: Any) -> Any:
        return self._names[index]

    def __len__(self) -> int:
        return len(self._rows)

    def byte_order(self) -> Ints | None:
        """Their positions in byte order, found without a string; None where an id is longer than 8 bytes."""
        start, length = self._source.query_start[self._rows], self._source.query_length[self._rows]
        if length.max(initial=0) > 8:
            return None
        return np.argsort((_words(self._source.text)[start] & _KEEP[length]).byteswap())


def joined(parts: Sequence[TextRows]) -> TextRows:
    """The rows of all parts, one after the other."""
    if len(parts) == 1:
        return parts[0]
    offsets = np.cumsum([0, *(len(part.text) for part in parts[:-1])])
    moved = [
        replace(part, query_start=part.query_start + offset, doc_start=part.doc_start + offset)
        for part, offset in zip(parts, offsets, strict=True)
    ]
    columns = [field.name for field in fields(TextRows) if field.name != "text"]
    text = b"".join(part.text for part in parts)
    return TextRows(text, *(np.concatenate([getattr(part, name) for part in moved]) for name in columns))


def keys_of(text: bytes, start: Ints, length: Ints) -> Keys:
    """A key for each piece of the text, which must be followed by padding."""
    words = _words(text)
    with np.errstate(over="ignore"):
        keys: Keys = (words[start] & _KEEP[np.minimum(length, 8)]) * _MIX
        for offset in range(8, int(length.max(initial=0)), 8):
            more = np.flatnonzero(length > offset)
            word = words[start[more] + offset] & _KEEP[np.minimum(length[more] - offset, 8)]
            keys[more] = ((keys[more] ^ (keys[more] >> _SHIFT)) + word + np.uint64(offset)) * _MIX
    return keys


def has_repeats(ordered: Keys) -> bool:
    """Whether a sorted array holds a value twice."""
    return bool((ordered[1:] == ordered[:-1]).any())


def mixed(queries: Keys, documents: Keys) -> Keys:
    """One key for each (query, document)."""
    with np.errstate(over="ignore"):
        return (queries ^ (queries >> _SHIFT)) * _MIX + documents
