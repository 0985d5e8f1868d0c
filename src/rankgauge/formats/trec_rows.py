"""TREC text of the plainest kind straight into columns of numbers, without a data frame.

Plain is what nearly every file is: single spaces, the same number of fields on every line, numbers of up to 15 digits
without an exponent. Anything else is an `IrregularTextError`, and the readers of `rankgauge.formats.trec` take over; so
this module names no faults. It exists because it needs nothing but numpy, whose import takes half of the time that
scoring a small file takes.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

import numpy as np

from rankgauge.ahead import begun_judgments
from rankgauge.formats.sources import Source
from rankgauge.model.ranked import Floats, Ints
from rankgauge.model.text_rows import PADDING, IrregularTextError, Keys, TextRows, joined, keys_of
from rankgauge.native import JUDGMENTS_PART, native, threads
from rankgauge.native import PADDING as NATIVE_PADDING

__all__ = ["read_judgment_rows", "read_run_rows"]

Buffer = bytes | memoryview
_BLOCK = 2 << 20  # small enough for the columns of a block to stay in the processor's cache
_AHEAD = 5  # blocks
_SPACE, _NEWLINE, _HASH, _MINUS, _POINT = 32, 10, 35, 45, 46
_LONGEST = 16  # characters of a number: 15 digits and a point
_MARGIN = _LONGEST + 1  # bytes before the text, so that two words and a point can be read back from any place in it
_FILL = b"0"  # what margin and padding are made of: anything but a blank


def _bytes(value: int) -> np.uint64:
    """A word of eight equal bytes."""
    return np.uint64(value * 0x0101010101010101)


_ZEROS, _SIX, _HIGH = _bytes(0x30), _bytes(0x06), _bytes(0xF0)
_LAST = np.array([((1 << 64) - 1) ^ ((1 << (8 * (8 - n))) - 1) for n in range(9)], dtype=np.uint64)
"""Masks of the last n bytes of a word."""


def _table(text: bytes, least: int) -> Ints:
    """Ends of all fields, lines by fields."""
    data = np.frombuffer(text, dtype=np.uint8)
    width = len(text[_MARGIN : text.index(b"\n")].split())
    blank = data <= _SPACE
    comments = text.find(b"#", _MARGIN) >= 0 and (data[_MARGIN] == _HASH or text.find(b"\n#") >= 0)
    if width < least or blank[_MARGIN] or comments or (blank[1:] & blank[:-1]).any():
        raise IrregularTextError
    blanks = np.flatnonzero(blank)
    if len(blanks) % width:
        raise IrregularTextError
    ends = blanks.reshape(-1, width)
    lines = len(ends)
    if (
        not (data[ends[:, -1]] == _NEWLINE).all()
        or int(np.count_nonzero(data == _NEWLINE)) != lines
        or int(np.count_nonzero(data == _SPACE)) != len(blanks) - lines
    ):
        raise IrregularTextError
    return ends


def _numbers(text: bytes, start: Ints, end: Ints) -> Floats:
    """Decimal numbers without an exponent, correctly rounded, eight characters at a time."""
    characters = np.frombuffer(text, dtype=np.uint8)
    negative = characters[start] == _MINUS
    length = end - start - negative
    if int(length.min()) < 1 or int(length.max()) > _LONGEST:
        raise IrregularTextError
    values = _unsigned(text, end, length)
    return np.negative(values, out=values, where=negative) if negative.any() else values


def _unsigned(text: bytes, end: Ints, length: Ints) -> Floats:
    """Numbers of the form of the first one, and then the others, until none is left.

    Numbers are of one form if they have the same count of decimals; in most files all are. The point is then at one
    place counted from the end, and the digits around it are put together with two masks.
    """
    first = text[int(end[0] - length[0]) : int(end[0])]
    decimals = len(first) - first.index(b".") - 1 if b"." in first else -1
    digits = length - (decimals >= 0)
    low = _digits(text, end, digits, decimals, 0)
    high = _digits(text, end, digits, decimals, 8) if int(digits.max()) > 8 else None
    odd = (low | (low + _SIX)) if high is None else (low | (low + _SIX) | high | (high + _SIX))
    same = ((odd & _HIGH) == 0) & (digits < _LONGEST)
    if decimals >= 0:
        same &= np.frombuffer(text, dtype=np.uint8)[end - 1 - decimals] == _POINT
        if int(length.min()) <= decimals + 1:
            same &= (length > decimals) & (digits > 0)
    # Whole numbers below 2^53 and powers of ten up to 10^22 are exact, and so is their quotient once rounded.
    whole = _folded(low) if high is None else _folded(low) + _folded(high) * np.uint64(100_000_000)
    values = whole.astype(np.float64)
    if decimals > 0:
        values /= 10.0**decimals
    if not same.all():
        if not same[0]:
            raise IrregularTextError
        others = np.flatnonzero(~same)
        values[others] = _unsigned(text, end[others], length[others])
    return values


def _digits(text: bytes, end: Ints, digits: Ints, decimals: int, skip: int) -> Keys:
    """Eight digits of each number as values 0 to 9, those before the last `skip`; missing ones are 0.

    What lies behind the point is where it is to be; what lies before it moves up by one character.
    """
    characters = np.frombuffer(text, dtype=np.uint8)
    words = np.ndarray((len(text) - 7,), dtype="<u8", buffer=text, strides=(1,))
    behind = min(max(decimals - skip, 0), 8) if decimals >= 0 else 8
    word = words[end - (8 + skip if behind else 9 + skip)]
    if 0 < behind < 8:
        moved = word << np.uint64(8)
        if int(digits.max()) - skip >= 8:
            moved |= characters[end - (9 + skip)]
        word = (word & _LAST[behind]) | (moved & ~_LAST[behind])
    word ^= _ZEROS
    word &= _LAST[np.clip(digits - skip, 0, 8)]
    return word


def _folded(digits: Keys) -> Keys:
    """The number that eight digits spell, folded by three multiplications (pairs, fours, eights)."""
    pairs = digits * np.uint64(2561) >> np.uint64(8)
    fours = (pairs & np.uint64(0x00FF00FF00FF00FF)) * np.uint64(6553601) >> np.uint64(16)
    eights: Keys = (fours & np.uint64(0x0000FFFF0000FFFF)) * np.uint64(42949672960001) >> np.uint64(32)
    return eights


def _rows(pieces: Sequence[Buffer], least: int, number: int) -> tuple[TextRows, Ints]:
    """Rows with query in column 0, document in column 2 and a number in the given one; and the ends of all fields."""
    end = b"" if bytes(pieces[-1][-1:]) == b"\n" else b"\n"
    text = b"".join((_FILL * _MARGIN, *pieces, end, _FILL * PADDING))
    if not text.isascii():
        try:
            text.decode("utf-8")
        except UnicodeDecodeError:
            raise IrregularTextError from None
    ends = _table(text, least)
    query_start = np.empty(len(ends), dtype=np.int64)
    query_start[0] = _MARGIN
    np.add(ends[:-1, -1], 1, out=query_start[1:])
    query_length, doc_start = ends[:, 0] - query_start, ends[:, 1] + 1
    doc_length = ends[:, 2] - doc_start
    rows = TextRows(
        text,
        query_start,
        query_length,
        keys_of(text, query_start, query_length),
        doc_start,
        doc_length,
        keys_of(text, doc_start, doc_length),
        _numbers(text, ends[:, number - 1] + 1, ends[:, number]),
    )
    return rows, ends


def read_judgment_rows(source: Source, *, part: int = JUDGMENTS_PART) -> TextRows:
    """Judgments of one subtopic."""
    return _compiled(source, part) or _judgment_rows(source)


def _compiled(source: Source, part: int) -> TextRows | None:
    """The same by the compiled module, where there is one and the text is plain."""
    module = native()
    if module is None:
        return None
    file = source.plain_file()
    begun = None if file is None else begun_judgments(file.path)
    if begun is None:
        text = None if file is None else module.read_text(os.fsencode(file.path), file.start, file.size)
        if text is None:
            text = source.read() + _FILL * NATIVE_PADDING
        found = module.read_judgments(text, 0, len(text) - NATIVE_PADDING, threads(), part)
        if found is None:
            return None
    else:
        text, found = begun
    kinds = (np.int64, np.int64, np.uint64, np.int64, np.int64, np.uint64, np.float64)
    columns: list[Any] = [np.frombuffer(column, dtype=kind) for column, kind in zip(found, kinds, strict=True)]
    return TextRows(text, *columns)


def _judgment_rows(source: Source) -> TextRows:
    parts: list[TextRows] = []
    subtopics: set[int] = set()
    for rows, ends in _in_threads(([block] for block in source.blocks(_BLOCK)), 4, 3):
        start = ends[:, 0] + 1
        keys = keys_of(rows.text, start, ends[:, 1] - start)
        subtopics |= {int(keys.min()), int(keys.max())}
        # Six columns could be a run given as judgments; who it is, the careful reader decides.
        if ends.shape[1] >= 6 or len(subtopics) > 1:
            raise IrregularTextError
        parts.append(rows)
    if not parts:
        raise IrregularTextError
    return joined(parts)


def read_run_rows(source: Source) -> Iterator[TextRows]:
    """A run in parts of whole queries."""
    parts = _in_threads(_whole_queries(source.blocks(_BLOCK)), 6, 4)
    return (rows for rows, _ in parts)


def _in_threads(blocks: Iterator[Sequence[Buffer]], least: int, number: int) -> Iterator[tuple[TextRows, Ints]]:
    """The rows of each block; threads work ahead, and begin at once."""
    from concurrent.futures import ThreadPoolExecutor

    readers = ThreadPoolExecutor(max_workers=2)
    coming = deque(readers.submit(_rows, block, least, number) for block in islice(blocks, _AHEAD))

    def in_order() -> Iterator[tuple[TextRows, Ints]]:
        with readers:
            while coming:
                yield coming.popleft().result()
                coming.extend(readers.submit(_rows, block, least, number) for block in islice(blocks, 1))

    return in_order()


def _whole_queries(blocks: Iterator[bytes]) -> Iterator[list[Buffer]]:
    """The same lines, cut only where another query begins, in pieces that are yet to be joined."""
    pieces: list[Buffer] = []
    for block in blocks:
        cut = _last_query(block)
        view = memoryview(block)
        if cut:
            yield [*pieces, view[:cut]]
            pieces = []
        pieces.append(view[cut:])
    if pieces:
        yield pieces


def _last_query(block: bytes) -> int:
    """Where the lines of the block's last query begin; 0 if that may be before the block."""
    cut = block.rfind(b"\n", 0, len(block) - 1) + 1
    query = block[cut : block.find(b" ", cut) + 1]
    while cut and query:
        before = block.rfind(b"\n", 0, cut - 1) + 1
        if not block.startswith(query, before):
            break
        cut = before
    return cut
