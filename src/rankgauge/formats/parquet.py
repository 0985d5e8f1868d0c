"""What a Parquet file unpacks to, told by the headers of its pages before anything is unpacked.

Ids that repeat stand once in a dictionary, or as "as long as the one before" (delta encoding), so that a file of 2 kB
can hold 100 GB. polars keeps the values of a dictionary once; what follows would write them out. The headers are in
Thrift's compact protocol, of which only the little that they use is read here: polars does not tell them.
"""

from __future__ import annotations

import io
import math
import mmap
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, cast

import polars as pl

from rankgauge.formats.limits import PARTS, TEXTS

Buffer = bytes | mmap.mmap

__all__ = ["Buffer", "DamagedError", "headers_of", "read_bounded", "rows_at_once", "text_length"]

_CELL = 8  # bytes in memory, at least
_MAGIC = b"PAR1"
_DELTA = 7  # the encoding of values by what they share with the one before
_SLICE = 128 * 10**6  # bytes that such a column can take at a time
_ROWS = 4096  # at a time, at most
_DEPTH = 32  # of structures in structures: headers have six


class DamagedError(ValueError):
    """The headers cannot be read."""


@dataclass
class _Told:
    """What the headers tell of a file, or of a column."""

    values: int = 0
    size: int = 0
    """Bytes of the pages, unpacked."""
    page: int = 0
    """Those of the largest page."""
    expected: float = 0.0
    """Bytes of all values, if those of a dictionary were used equally often."""
    by_the_last: bool = False
    """Whether values are encoded by what they share with the one before."""


def read_bounded(data: bytes) -> tuple[pl.DataFrame | None, str]:
    """The table, or what to say of one that is larger than allowed."""
    packed = len(data)
    columns = headers_of(data)
    if _unpacks_to(columns) > PARTS.of(packed):
        return None, PARTS.exceeded(packed)
    most = TEXTS.of(packed)
    if any(_too_long(data, name, column, most) for name, column in columns.items()):
        return None, TEXTS.exceeded(packed)
    frame = pl.read_parquet(io.BytesIO(data))
    return (None, TEXTS.exceeded(packed)) if text_length(frame) > most else (frame, "")


def rows_at_once(data: Buffer, most: int) -> tuple[int, str]:
    """How many rows to read at a time, so that none of their columns takes much; or what to say of a file that is
    larger than allowed."""
    columns, packed = headers_of(data), len(data)
    if _unpacks_to(columns) > PARTS.of(packed):
        return 0, PARTS.exceeded(packed)
    for column in columns.values():
        if column.by_the_last:
            most = min(most, _ROWS, _SLICE // 4 // max(1, column.page))  # several are in memory at once
    return max(1, most), ""


def _unpacks_to(columns: dict[str, _Told]) -> int:
    """Bytes in memory, at least."""
    cells = sum(column.values for column in columns.values()) * _CELL
    return max(cells, sum(column.size for column in columns.values()))


def _too_long(data: bytes, name: str, column: _Told, most: int) -> bool:
    """Whether the texts of a column are too long, as far as that can be seen without reading all of it."""
    if column.by_the_last:  # the one kind that is written out when it is read: a few rows at a time
        rows, end = max(1, min(_ROWS, _SLICE // max(1, column.page))), column.values
    elif column.expected > most:  # so that no categories are made of them, which takes long
        rows = end = math.ceil(2 * most / column.expected * column.values)
    else:
        return False
    lazy, total = pl.scan_parquet(io.BytesIO(data)), 0
    if name not in lazy.collect_schema():
        return False
    for start in range(0, end, rows):
        total += text_length(lazy.select(name).slice(start, rows).collect())
        if total > most:
            return True
    return False


def text_length(frame: pl.DataFrame) -> int:
    """Bytes of all texts, each as often as it stands there."""
    sizes = []
    for column in frame.get_columns():
        if isinstance(column.dtype, pl.Categorical | pl.Enum):
            sizes.append(column.cat.len_bytes())
        elif column.dtype == pl.String:
            sizes.append(column.str.len_bytes())
        elif column.dtype == pl.Binary:
            sizes.append(column.bin.size())
    # By the mean, since a sum of 32-bit numbers stays in 32 bits.
    return sum(math.ceil(cast(float, size.mean() or 0.0) * len(size)) for size in sizes)


def headers_of(data: Buffer) -> dict[str, _Told]:
    """What the headers tell of each column, by the name of its outermost part."""
    try:
        return _from_headers(memoryview(data))
    except (IndexError, KeyError, TypeError, AttributeError, ValueError, struct.error) as error:
        raise DamagedError("its headers are damaged") from error


def _from_headers(data: memoryview) -> dict[str, _Told]:
    if len(data) < 12 or data[-4:] != _MAGIC:
        raise DamagedError
    (length,) = struct.unpack("<I", data[-8:-4])
    footer, _ = _structure(data[-8 - length : -8], 0)
    found: dict[str, _Told] = {}
    for group in footer[4]:
        for chunk in group[1]:
            about = chunk[3]
            told = found.setdefault(bytes(about[3][0]).decode(), _Told())
            start = about.get(11) or about[9]
            _add(told, _pages(data[start : start + about[7]]))
    return found


def _add(told: _Told, pages: Iterator[dict[int, Any]]) -> None:
    """Count the pages of one part of a column."""
    mean = 0.0
    for page in pages:
        told.size += page[2]
        told.page = max(told.page, page[2])
        if dictionary := page.get(7):
            mean = page[2] / max(1, dictionary[1])
        elif about := page.get(5) or page.get(8):
            told.values += about[1]
            told.expected += about[1] * mean
            told.by_the_last |= about[2 if 5 in page else 4] == _DELTA


def _pages(data: memoryview) -> Iterator[dict[int, Any]]:
    """The headers of the pages of one part of a column, which follow one another."""
    at = 0
    while at < len(data):
        header, at = _structure(data, at)
        if header[2] < 0 or header[3] < 0:
            raise DamagedError
        yield header
        at += header[3]


def _structure(data: memoryview, at: int, depth: int = 0) -> tuple[dict[int, Any], int]:
    """A structure of Thrift: values by the numbers of their fields, and where it ends."""
    found: dict[int, Any] = {}
    number = 0
    while head := data[at]:
        at += 1
        if head >> 4:
            number += head >> 4
        else:
            number, at = _whole(data, at)
        found[number], at = _value(data, at, head & 15, depth)
    return found, at + 1


def _value(data: memoryview, at: int, kind: int, depth: int) -> tuple[Any, int]:
    if depth > _DEPTH:
        raise DamagedError
    if kind in (1, 2):
        return kind == 1, at
    if kind == 3:
        return data[at], at + 1
    if kind in (4, 5, 6):
        return _whole(data, at)
    if kind == 7:
        return None, at + 8
    if kind == 8:
        length, at = _varint(data, at)
        if at + length > len(data):
            raise DamagedError
        return data[at : at + length], at + length
    if kind in (9, 10):
        return _list(data, at, depth)
    if kind == 12:
        return _structure(data, at, depth + 1)
    raise DamagedError  # maps are in no header


def _list(data: memoryview, at: int, depth: int) -> tuple[list[Any], int]:
    head = data[at]
    count, at = (head >> 4, at + 1) if head < 0xF0 else _varint(data, at + 1)
    kind, found = head & 15, []
    for _ in range(count):
        if kind in (1, 2):  # in a list a truth value takes a byte
            value, at = data[at] == 1, at + 1
        else:
            value, at = _value(data, at, kind, depth + 1)
        found.append(value)
    return found, at


def _varint(data: memoryview, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        if byte < 128:
            return value, at
        shift += 7
        if shift > 63:
            raise DamagedError


def _whole(data: memoryview, at: int) -> tuple[int, int]:
    value, at = _varint(data, at)
    return (value >> 1) ^ -(value & 1), at
