"""Tables with named columns: CSV, TSV, Parquet and Arrow."""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Final, TypeVar

import polars as pl

from rankgauge.errors import DataError, Fault, FormatError
from rankgauge.formats.detect import ARROW, Format, separator_of
from rankgauge.formats.parquet import DamagedError, read_bounded
from rankgauge.formats.sources import Source, not_utf8
from rankgauge.model.frames import ID_COLUMNS, named_columns
from rankgauge.model.judgments import Qrels
from rankgauge.model.run import Run

__all__ = [
    "qrels_of_table",
    "read_qrels_table",
    "read_run_table",
    "read_table",
    "readable",
    "render_table",
    "row_faults",
]

T = TypeVar("T", Run, Qrels)
_QUEPID: Final = ("query", "docid", "rating")


def read_table(source: Source, kind: Format) -> pl.DataFrame:
    """The table, text columns as text."""
    if kind not in ("csv", "tsv", "parquet", "arrow"):
        raise FormatError(source.name, [f"{kind} is no table format here"])
    data = source.read()
    if not data.strip():
        raise FormatError(source.name, ["the file is empty"])
    with readable(source, kind, data):
        if kind == "parquet":
            frame, too_large = read_bounded(data)
            if frame is None:
                raise FormatError(source.name, [too_large])
            return frame
        if kind == "arrow":
            read = pl.read_ipc if data.startswith(ARROW) else pl.read_ipc_stream
            return read(io.BytesIO(data))
        return pl.read_csv(data, separator=separator_of(kind, data), infer_schema=False, raise_if_empty=False)


@contextmanager
def readable(source: Source, kind: Format, data: bytes = b"") -> Iterator[None]:
    """Say of a file that a library cannot read what is wrong with it."""
    try:
        yield
    except (pl.exceptions.PolarsError, DamagedError, OSError) as error:
        reason = str(error).strip().split("\n")[0]
        if "utf" in reason.lower():
            reason = not_utf8(data)
        raise FormatError(source.name, [f"this is no readable {kind.upper()} table: {reason}"]) from None


def read_run_table(source: Source, kind: Format) -> Run:
    frame = read_table(source, kind)
    scored = any(str(name).strip().casefold() in ID_COLUMNS["score"] for name in frame.columns)
    return _made(Run, frame, source, kind, ("query", "doc", "score" if scored else "rank"))


def read_qrels_table(source: Source, kind: Format) -> Qrels:
    return qrels_of_table(read_table(source, kind), source, kind)


def qrels_of_table(table: pl.DataFrame, source: Source, kind: Format) -> Qrels:
    if tuple(map(str, table.columns)) == _QUEPID:  # which writes a query without ratings as its text alone
        rated = table.filter(~(pl.col("docid").is_null() & pl.col("rating").is_null()))
        if rated.height and not row_faults(rated.rename({"docid": "doc", "rating": "grade"}), kind)[1]:
            table = rated
    return _made(Qrels, table, source, kind, ("query", "doc", "grade"), ("subtopic",))


def _made(
    noun: type[T],
    frame: pl.DataFrame,
    source: Source,
    kind: Format,
    wanted: Sequence[str],
    optional: Sequence[str] = (),
) -> T:
    try:
        chosen = named_columns(frame, wanted, source.name, optional)
        _check(chosen, source, kind)
        return noun(chosen, name=source.name)
    except DataError as error:
        raise FormatError(source.name, [str(error).removeprefix(f"{source.name}: ")]) from None


def _check(frame: pl.DataFrame, source: Source, kind: Format) -> None:
    """All faults of the rows together."""
    faults, total = row_faults(frame, kind)
    if faults:
        raise FormatError(source.name, faults, total=total)


def row_faults(frame: pl.DataFrame, kind: Format, first: int = 0) -> tuple[list[Fault], int]:
    """Some faults of the rows, with their lines (rows in Parquet and Arrow), and how many there are. So many rows come
    before the `first` one of these."""
    faults = []
    total = 0
    for column in frame.get_columns():
        number = column.name in ("score", "grade", "rank")
        if number:
            values = column.cast(pl.Float64, strict=False) if column.dtype != pl.Float64 else column
            bad = values.is_null() | ~values.is_finite().fill_null(False)
        else:
            text = column.cast(pl.String, strict=False)
            bad = text.is_null() | (text.str.strip_chars() == "").fill_null(False)
        total += int(bad.sum())
        for row in bad.arg_true().head(20).to_list():
            value = column[row]
            message = (
                f"the {column.name} {value!r} is no finite number" if number else f"the {column.name} id is missing"
            )
            place = first + row
            binary = kind in ("parquet", "arrow")
            faults.append(Fault(f"row {place + 1}: {message}") if binary else Fault(message, place + 2))
    faults.sort(key=lambda fault: fault.line or 0)
    return faults, total


def render_table(frame: pl.DataFrame, kind: Format) -> bytes:
    if kind == "parquet":
        buffer = io.BytesIO()
        frame.write_parquet(buffer)
        return buffer.getvalue()
    if kind == "arrow":
        frame.write_ipc(buffer := io.BytesIO())
        return buffer.getvalue()
    return frame.write_csv(separator="\t" if kind == "tsv" else ",").encode()
