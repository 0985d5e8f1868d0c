"""TREC text of the plainest kind straight into columns of numbers, without a data frame.

Plain is what nearly every file is: single spaces, the same number of fields on every line, numbers of up to 15 digits
without an exponent. Anything else is an `IrregularTextError`, and the readers of `rankgauge.formats.trec` take over; so
this module names no faults. It exists because it needs nothing but numpy, whose import takes half of the time that
scoring a small file takes.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator

import numpy as np

from rankgauge.formats.sources import Source
from rankgauge.model.ranked import Bools, Floats, Ints
from rankgauge.model.text_rows import PADDING, IrregularTextError, Keys, TextRows, keys_of

__all__ = ["read_judgment_rows", "read_run_rows"]

_BLOCK = 2 << 20  # small enough for the columns of a block to stay in the processor's cache
_SPACE, _NEWLINE, _HASH, _MINUS = 32, 10, 35, 45
_LONGEST = 16  # two words: at most 15 digits and a point
_POWERS = 10.0 ** np.arange(_LONGEST)  # up to 10^22 they are exact, and so is a quotient of exact numbers once rounded


def _bytes(value: int) -> np.uint64:
    """A word of eight equal bytes."""
    return np.uint64(value * 0x0101010101010101)


_ZEROS, _DOTS, _ONES, _TOPS = _bytes(0x30), _bytes(0x2E), _bytes(0x01), _bytes(0x80)
_HIGH, _LOW, _SIX = _bytes(0xF0), _bytes(0x0F), _bytes(0x06)
_LAST = np.array([((1 << 64) - 1) ^ ((1 << (8 * (8 - n))) - 1) for n in range(9)], dtype=np.uint64)
"""Masks of the last n bytes of a word."""
_FIRST = np.array([(1 << (8 * n)) - 1 for n in range(9)], dtype=np.uint64)
"""Masks of the first n bytes of a word."""


def _table(block: bytes, least: int) -> Ints:
    """Ends of all fields, lines by fields."""
    data = np.frombuffer(block, dtype=np.uint8)
    width = len(block[: block.index(b"\n")].split())
    blank = data <= _SPACE
    if width < least or blank[0] or data[0] == _HASH or (blank[1:] & blank[:-1]).any():
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
        or (data[ends[:-1, -1] + 1] == _HASH).any()
    ):
        raise IrregularTextError
    return ends


def _numbers(text: bytes, start: Ints, end: Ints) -> Floats:
    """Decimal numbers without an exponent, correctly rounded, eight characters at a time.

    The last 16 characters of each are two words. The point is found and closed up, and each word of eight digits is
    folded into a number by three multiplications (pairs, fours, eights).
    """
    negative = np.frombuffer(text, dtype=np.uint8)[start] == _MINUS
    length = end - start - negative
    if int(length.min()) < 1 or int(length.max()) > _LONGEST:
        raise IrregularTextError
    words = np.ndarray((len(text) - 7,), dtype="<u8", buffer=text, strides=(1,))
    own = np.minimum(length, 8)
    low = (words[end - 8] & _LAST[own]) | (_ZEROS & ~_LAST[own])
    own = np.clip(length - 8, 0, 8)
    high = (words[end - 16] & _LAST[own]) | (_ZEROS & ~_LAST[own])
    in_low, low_point = _point(low)
    in_high, high_point = _point(high)
    if (in_low & in_high).any():
        raise IrregularTextError
    behind = np.where(in_low, 7 - low_point, np.where(in_high, 15 - high_point, 0))
    low_closed = (low & ~_FIRST[low_point + 1]) | ((low & _FIRST[low_point]) << np.uint64(8)) | (high >> np.uint64(56))
    high_point = np.where(in_low, 7, high_point)  # what moved into the other word leaves a gap here
    high_closed = (high & ~_FIRST[high_point + 1]) | ((high & _FIRST[high_point]) << np.uint64(8)) | np.uint64(0x30)
    low = np.where(in_low, low_closed, low)
    high = np.where(in_low | in_high, high_closed, high)
    digits = length - (in_low | in_high)
    if not (_are_digits(low) & _are_digits(high)).all() or int(digits.min()) < 1 or int(digits.max()) >= _LONGEST:
        raise IrregularTextError
    values = (_folded(high) * np.uint64(100_000_000) + _folded(low)).astype(np.float64) / _POWERS[behind]
    return np.where(negative, -values, values)


def _point(words: Keys) -> tuple[Bools, Ints]:
    """Whether each word has a point, and at which byte the first one is (0 without one)."""
    difference = words ^ _DOTS
    with np.errstate(over="ignore"):
        marks = (difference - _ONES) & ~difference & _TOPS
        lowest = marks & (~marks + np.uint64(1))
        below = (((lowest - np.uint64(1)) & _TOPS) >> np.uint64(7)) * _ONES >> np.uint64(56)
    found = marks != 0
    return found, np.where(found, below, 0).astype(np.int64)


def _are_digits(words: Keys) -> Bools:
    with np.errstate(over="ignore"):
        digits: Bools = ((words & _HIGH) == _ZEROS) & (((words + _SIX) & _HIGH) == _ZEROS)
    return digits


def _folded(words: Keys) -> Keys:
    """The number that eight digits spell."""
    with np.errstate(over="ignore"):
        pairs = (words & _LOW) * np.uint64(2561) >> np.uint64(8)
        fours = (pairs & np.uint64(0x00FF00FF00FF00FF)) * np.uint64(6553601) >> np.uint64(16)
        return (fours & np.uint64(0x0000FFFF0000FFFF)) * np.uint64(42949672960001) >> np.uint64(32)


def _rows(block: bytes, least: int, number: int) -> tuple[TextRows, Ints]:
    """Rows with query in column 0, document in column 2 and a number in the given one; and the ends of all fields."""
    if not block.isascii():
        try:
            block.decode("utf-8")
        except UnicodeDecodeError:
            raise IrregularTextError from None
    text = b"".join((b"\n" * _LONGEST, block, b"" if block.endswith(b"\n") else b"\n", b"\0" * PADDING))
    ends = _table(text[_LONGEST:-PADDING], least) + _LONGEST
    query_start = np.concatenate(([_LONGEST], ends[:-1, -1] + 1))
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


def read_judgment_rows(source: Source) -> TextRows:
    """Judgments of one subtopic."""
    block = source.read()
    if not block.strip():
        raise IrregularTextError
    rows, ends = _rows(block, 4, 3)
    start = ends[:, 0] + 1
    subtopics = keys_of(rows.text, start, ends[:, 1] - start)
    # Six columns could be a run given as judgments; who it is, the careful reader decides.
    if ends.shape[1] >= 6 or (subtopics != subtopics[0]).any():
        raise IrregularTextError
    return rows


def read_run_rows(source: Source) -> Iterator[TextRows]:
    """A run in parts of whole queries, some of them read ahead in threads."""
    from concurrent.futures import Future, ThreadPoolExecutor

    with ThreadPoolExecutor(max_workers=2) as readers:
        coming: deque[Future[tuple[TextRows, Ints]]] = deque()
        for block in _whole_queries(source.blocks(_BLOCK)):
            coming.append(readers.submit(_rows, block, 6, 4))
            if len(coming) > 4:
                yield coming.popleft().result()[0]
        while coming:
            yield coming.popleft().result()[0]


def _whole_queries(blocks: Iterator[bytes]) -> Iterator[bytes]:
    """The same lines, cut only where another query begins."""
    rest = b""
    for block in blocks:
        block = rest + block
        cut = _last_query(block)
        if cut:
            yield block[:cut]
        rest = block[cut:]
    if rest:
        yield rest


def _last_query(block: bytes) -> int:
    """Where the lines of the block's last query begin."""
    cut = block.rfind(b"\n", 0, len(block) - 1) + 1
    query = block[cut : block.find(b" ", cut) + 1]
    while cut and query:
        before = block.rfind(b"\n", 0, cut - 1) + 1
        if not block.startswith(query, before):
            break
        cut = before
    return cut
