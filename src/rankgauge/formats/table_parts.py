"""Tables read part by part: CSV and TSV in blocks of whole records, Parquet and Arrow some rows at a time, and of these
only the columns that count."""

from __future__ import annotations

import mmap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import polars as pl

from rankgauge.errors import DataError, Fault, FormatError
from rankgauge.extras import optional
from rankgauge.formats.copies import local_path
from rankgauge.formats.detect import Format, separator_of
from rankgauge.formats.limits import TEXTS
from rankgauge.formats.parquet import rows_at_once, text_length
from rankgauge.formats.run_parts import Pair, Place, RunParts
from rankgauge.formats.sources import FITS_MODULE, LARGE_PACKED, Source
from rankgauge.formats.tables import readable, row_faults
from rankgauge.model.columns import as_ids, as_numbers
from rankgauge.model.frames import ID_COLUMNS, column_roles
from rankgauge.model.run import Run

__all__ = ["Rows", "TableRun", "is_large_table", "read_judgments", "read_rows"]

_BLOCK = 16 << 20
_LONGEST = 64 << 20  # bytes of a record
_ROWS = 262_144
_SHOWN = 20
_QUOTE, _NEWLINE = ord('"'), ord("\n")
_IDS = ("query", "doc", "subtopic")


@dataclass(frozen=True)
class Rows:
    """Which columns are read of a table: by their roles, and constant ones that stand in the path of the file."""

    roles: Sequence[str]
    optional: Sequence[str] = ()
    fixed: Mapping[str, str] = field(default_factory=dict)

    def chosen(self, names: Sequence[str], where: str) -> tuple[dict[str, str], dict[str, str]]:
        """Names of columns by role, and the values of those that are constant. A file's own columns go first."""
        roles = ["rank" if role == "score" and not _has(names, "score") else role for role in self.roles]
        missing = {role for role in (*roles, *self.optional) if not _has(names, role)}
        fixed = {
            role: value
            for role in (*roles, *self.optional)
            if role in missing
            for key, value in self.fixed.items()
            if key.strip().casefold() in ID_COLUMNS[role]
        }
        own = [role for role in roles if role not in fixed]
        optional_roles = [role for role in self.optional if role not in fixed]
        return column_roles(names, own, where, optional_roles), fixed


def _has(names: Sequence[str], role: str) -> bool:
    return bool({str(name).strip().casefold() for name in names} & set(ID_COLUMNS[role]))


def is_large_table(source: Source, kind: Format) -> bool:
    """Whether a table had better not be held in memory."""
    return source.size > LARGE_PACKED if kind in ("parquet", "arrow") else source.is_large


def read_rows(source: Source, kind: Format, rows: Rows) -> Iterator[tuple[int, pl.DataFrame]]:
    """The number of the first row (from 0) and the columns by their roles, part by part, checked.

    Where rows have faults, no more come, and those of all parts are raised together at the end.
    """
    faults: list[Fault] = []
    total = at = 0
    with readable(source, kind):
        for frame in _slices(source, kind, rows) if kind in ("parquet", "arrow") else _blocks(source, kind, rows):
            found, count = row_faults(frame, kind, at)
            faults += found[: _SHOWN - len(faults)]
            total += count
            if not total:
                yield at, frame
            at += len(frame)
    if total:
        raise FormatError(source.name, faults, total=total)


def read_judgments(source: Source, kind: Format, fixed: Mapping[str, str]) -> pl.DataFrame:
    """The columns query, doc, grade (and subtopic) of judgments."""
    rows = Rows(("query", "doc", "grade"), ("subtopic",), fixed)
    frames = []
    for _, frame in read_rows(source, kind, rows):
        ids = [as_ids(column, source.name) for column in frame.get_columns() if column.name != "grade"]
        frames.append(pl.DataFrame([*ids, as_numbers(frame["grade"], source.name)]))
    return pl.concat(frames)


def _named(frame: pl.DataFrame, own: Mapping[str, str], fixed: Mapping[str, str]) -> pl.DataFrame:
    constant = [pl.Series(role, [value]).new_from_index(0, len(frame)) for role, value in fixed.items()]
    return pl.DataFrame([*(frame[name].alias(role) for role, name in own.items()), *constant])


def _blocks(source: Source, kind: Format, rows: Rows) -> Iterator[pl.DataFrame]:
    """A text table, in blocks."""
    header = b""
    chosen = None
    for block in _records(source):
        if not header:
            if not block.strip():
                continue
            end = _end_of_record(block) or len(block)
            header, block = block[:end].removesuffix(b"\n") + b"\n", block[end:]
        separator = separator_of(kind, header)
        frame = pl.read_csv(header + block, separator=separator, infer_schema=False, raise_if_empty=False)
        chosen = chosen or rows.chosen(frame.columns, source.name)
        yield _named(frame, *chosen)
    if not header:
        raise FormatError(source.name, ["the file is empty"])


def _records(source: Source) -> Iterator[bytes]:
    """Blocks of whole records: a line end within quotes ends none."""
    rest, lines = b"", 0
    for block in source.blocks(_BLOCK, line="a table has a line for each document", longest=_LONGEST):
        block = rest + block if rest else block
        cut = len(block)
        if b'"' in block:
            data = np.frombuffer(block, dtype=np.uint8)
            inside = np.bitwise_xor.accumulate(data == _QUOTE)
            ends = np.flatnonzero((data == _NEWLINE) & ~inside)
            cut = int(ends[-1]) + 1 if len(ends) else 0
            if not inside[-1]:
                cut = len(block)
        rest = block[cut:]
        if len(rest) > _LONGEST:
            said = f"a quote that is opened here is not closed within {_LONGEST >> 20} MB"
            raise FormatError(source.name, [Fault(said, lines + block.count(b"\n", 0, cut) + 1)])
        if cut:
            lines += block.count(b"\n", 0, cut)
            yield block[:cut]
    if rest:
        yield rest


def _end_of_record(block: bytes) -> int:
    """Where the first record ends."""
    at = 0
    while at := block.find(b"\n", at) + 1:
        if not block.count(b'"', 0, at) % 2:
            return at
    return 0


def _slices(source: Source, kind: Format, rows: Rows) -> Iterator[pl.DataFrame]:
    """Parquet or Arrow, some rows at a time."""
    with local_path(source) as path:
        if kind == "arrow" and _is_stream(path):
            yield from _batches(source, path, rows)
            return
        at_once, packed = _ROWS, source.size
        if not packed:
            raise FormatError(source.name, ["the file is empty"])
        if kind == "parquet":
            with open(path, "rb") as file:
                data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)  # not closed: an error may hold views of it
            at_once, too_large = rows_at_once(data, _ROWS)
            del data
            if too_large:
                raise FormatError(source.name, [too_large])
            lazy = pl.scan_parquet(path, glob=False, hive_partitioning=False)
        else:
            lazy = pl.scan_ipc(path, glob=False, hive_partitioning=False)
        own, fixed = rows.chosen(lazy.collect_schema().names(), source.name)
        lazy = lazy.select(pl.col(name).alias(role) for role, name in own.items())
        number = int(lazy.select(pl.len()).collect().item())
        lazy = _ids_as_text(lazy, number, at_once)
        length, source.done = 0, 0
        for start in range(0, max(number, 1), at_once):
            frame = lazy.slice(start, at_once).collect()
            length += text_length(frame)
            if length > TEXTS.of(packed):
                raise FormatError(source.name, [TEXTS.exceeded(packed)])
            source.done = packed * min(start + at_once, number) // number if number else packed
            yield _named(frame, {role: role for role in own}, fixed)


def _ids_as_text(lazy: pl.LazyFrame, number: int, at_once: int) -> pl.LazyFrame:
    """Ids that are numbers with a fraction somewhere are written as such everywhere; 7.0 is 7 if all are whole."""
    for name, dtype in lazy.collect_schema().items():
        if name in _IDS and dtype.is_float():
            column = lazy.select(pl.col(name))
            parts = (column.slice(at, at_once).collect()[name] for at in range(0, number, at_once))
            if not all(bool((part == part.floor()).all()) for part in parts):
                lazy = lazy.with_columns(pl.col(name).cast(pl.String))
    return lazy


def _is_stream(path: str) -> bool:
    """Whether Arrow's stream format is in the file, which tells no places of its parts."""
    with open(path, "rb") as file:
        return file.read(6) != b"ARROW1"


def _batches(source: Source, path: str, rows: Rows) -> Iterator[pl.DataFrame]:
    """Arrow's stream format, one batch after the other."""
    arrow: Any = optional("pyarrow", f"{source.name}: a stream of Arrow", "pyarrow", "datasets")
    ipc: Any = optional("pyarrow.ipc", f"{source.name}: a stream of Arrow", "pyarrow", "datasets")
    try:
        with arrow.memory_map(path) as file, ipc.open_stream(file) as reader:
            own, fixed = rows.chosen(reader.schema.names, source.name)
            read = 0
            for batch in reader:
                read += batch.nbytes
                source.done = min(source.size, read)
                table = arrow.table({role: batch.column(name) for role, name in own.items()})
                yield _named(pl.DataFrame(pl.from_arrow(table)), {role: role for role in own}, fixed)
            if not read:
                table = reader.schema.empty_table().select(list(own.values())).rename_columns(list(own))
                yield _named(pl.DataFrame(pl.from_arrow(table)), {role: role for role in own}, fixed)
    except arrow.ArrowInvalid as error:
        raise FormatError(source.name, [f"this is no readable ARROW table: {error}"]) from None


class TableRun(RunParts):
    """A run as a table in a file; `fixed` are columns that its path tells."""

    def __init__(self, source: Source, kind: Format, fixed: Mapping[str, str] | None = None) -> None:
        super().__init__(source.name, source.size)
        self._source, self._kind, self._rows = source, kind, Rows(("query", "doc", "score"), fixed=fixed or {})
        self.ranked = False
        """Whether the last reading found ranks in the place of scores."""

    def parts(self) -> Iterator[pl.DataFrame]:
        for _, frame in self._numbered():
            yield frame

    def _numbered(self) -> Iterator[tuple[int, pl.DataFrame]]:
        for first, frame in read_rows(self._source, self._kind, self._rows):
            self.ranked = "rank" in frame.columns
            try:
                yield first, Run(frame, name=self.name).frame
            except DataError as error:
                raise FormatError(self.name, [str(error).removeprefix(f"{self.name}: ")]) from None

    def places(self, wanted: set[Pair]) -> Iterator[tuple[Pair, Place]]:
        asked = pl.DataFrame(list(wanted), schema={"query": pl.String, "doc": pl.String}, orient="row")
        binary = self._kind in ("parquet", "arrow")
        for first, frame in self._numbered():
            rows = frame.with_row_index("row").join(asked, on=["query", "doc"], how="semi", maintain_order="left")
            for row, query, doc in rows.select("row", "query", "doc").iter_rows():
                yield (query, doc), Place(first + row + (1 if binary else 2), row=binary)

    @property
    def done(self) -> int:
        return self._source.done

    @property
    def is_large(self) -> bool:
        return is_large_table(self._source, self._kind)

    @property
    def fits_module(self) -> bool:
        return self._source.size <= FITS_MODULE if self._kind in ("parquet", "arrow") else not self.is_large
