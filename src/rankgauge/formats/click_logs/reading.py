"""`load_clicks`: click logs of any of the usual forms, read block by block."""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal, get_args

import msgspec
import polars as pl

from rankgauge.errors import DataError, FormatError
from rankgauge.formats.click_logs.assembling import assemble
from rankgauge.formats.click_logs.columns import Reading, Roles, roles_of
from rankgauge.formats.click_logs.gathering import Gathered
from rankgauge.formats.click_logs.ubi import is_ubi, take_ubi
from rankgauge.formats.detect import format_of_name, separator_of
from rankgauge.formats.sources import Source, not_utf8
from rankgauge.model.clicks import ClickTable
from rankgauge.model.frames import is_frame, to_polars

__all__ = ["FORMS", "ClickForm", "load_clicks"]

ClickForm = Literal["csv", "tsv", "jsonl", "parquet", "ubi"]
FORMS: tuple[ClickForm, ...] = get_args(ClickForm)
_BLOCK = 8 << 20  # bytes
_ROWS = 250_000  # at a time
_LOOKED_AT = 50  # objects, to tell what a file holds
_WIDEST = 64 << 20  # bytes within quotation marks
_PARQUET = b"PAR1"

Progress = Callable[[int], None]


def load_clicks(
    logs: Any, reading: Reading, *, form: ClickForm | None = None, progress: Progress | None = None
) -> ClickTable:
    """The clicks of one log, or of several that belong together: paths, data frames, lists of rows."""
    if form is not None and form not in FORMS:
        raise DataError(f"`format={form!r}` is none of {', '.join(FORMS)}")
    gathered = Gathered(reading)
    where = ""
    for log in logs if _is_several(logs) else [logs]:
        if isinstance(log, str | os.PathLike):
            source = Source(log)
            where = where or source.name
            for _ in _read(source, form, gathered):
                if progress is not None:
                    progress(gathered.read)
        elif is_frame(log):
            where = where or "the data frame"
            frame = to_polars(log)
            roles = roles_of(frame.columns, reading.columns, where)
            for start in range(0, len(frame), _ROWS):
                _take_frame(frame.slice(start, _ROWS), roles, gathered)
        elif isinstance(log, Iterable) and not isinstance(log, bytes | Mapping):
            where = where or "the rows"
            _take_objects(list(log), None, gathered, where)
        else:
            raise DataError(
                f"`log` is a {type(log).__name__}; give the path of a file, several of them, a data frame or rows as "
                'mappings such as {"query": "shoes", "doc": "d1", "position": 1, "clicked": 0, "session": "s1"}'
            )
    return assemble(gathered, where or "`log`")


def _is_several(logs: Any) -> bool:
    """Whether several logs were given, not the rows of one."""
    return isinstance(logs, list | tuple) and bool(logs) and all(
        isinstance(log, str | os.PathLike) or is_frame(log) for log in logs
    )  # fmt: skip


def _read(source: Source, form: ClickForm | None, gathered: Gathered) -> Iterator[None]:
    head = source.head()
    if not head.strip():
        raise FormatError(source.name, ["the file is empty"])
    kind = form or _form_of(source, head)
    try:
        if kind == "parquet":
            yield from _read_parquet(source, gathered)
        elif kind in ("csv", "tsv"):
            yield from _read_table(source, head, "\t" if kind == "tsv" else None, gathered)
        else:
            yield from _read_lines(source, kind == "ubi", form is None, gathered)
    except DataError as error:
        if source.name in str(error):
            raise
        raise DataError(f"{source.name}: {error}") from None


def _form_of(source: Source, head: bytes) -> ClickForm:
    """The form of a file, by what it begins with and then by its name."""
    if head[:4] == _PARQUET:
        return "parquet"
    if head.lstrip()[:1] == b"{":
        return "jsonl"
    if head.lstrip()[:1] == b"[":
        raise FormatError(
            source.name, ["this is one JSON list; write an object a line, for example with: jq -c '.[]'"]
        )
    named = format_of_name(source.path)
    return "tsv" if named == "tsv" or b"\t" in head.split(b"\n", 1)[0] else "csv"


# JSON Lines


def _read_lines(source: Source, ubi: bool, guess: bool, gathered: Gathered) -> Iterator[None]:
    roles: Roles | None = None
    first = True
    for block in source.blocks(_BLOCK, line="an object a line"):
        lines = [line for line in block.split(b"\n") if line.strip()]
        if first and guess:
            ubi = is_ubi([found for line in lines[:_LOOKED_AT] if (found := _object(line)) is not None])
        first = False
        if ubi:
            take_ubi(lines, gathered)
        else:
            roles = _take_objects([_object(line) for line in lines], roles, gathered, source.name)
        yield


def _object(line: bytes) -> Any:
    """What a line holds; None for what is no JSON."""
    try:
        return msgspec.json.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None


def _take_objects(found: Sequence[Any], roles: Roles | None, gathered: Gathered, where: str) -> Roles | None:
    """Rows as mappings; what is none counts as broken."""
    rows = [row for row in found if isinstance(row, Mapping)]
    gathered.left_out["broken"] += len(found) - len(rows)
    gathered.read += len(found) - len(rows)
    if not rows:
        return roles
    if roles is None:
        names = dict.fromkeys(str(name) for row in rows[:_LOOKED_AT] for name in row)
        roles = roles_of(names, gathered.reading.columns, where)
    values = {role: [row.get(name) for row in rows] for role, name in roles.names.items()}
    if roles.shape == "list":
        _take_lists(values, roles, gathered)
    else:
        columns = {role: pl.Series(role, [_plain(one) for one in own], dtype=pl.String, strict=False)
                   for role, own in values.items()}  # fmt: skip
        gathered.take(columns, roles)
    return roles


def _plain(value: Any) -> Any:
    """A value that a cell can hold."""
    return None if isinstance(value, Mapping | list | tuple) else value if value is None else str(value)


def _take_lists(values: Mapping[str, Sequence[Any]], roles: Roles, gathered: Gathered) -> None:
    by_id = "query_id" in roles
    size = len(values["docs"])
    nothing: list[Any] = [None] * size
    clicks = values.get("clicks") or values.get("clicked") or nothing
    rows = zip(
        values.get("list", nothing),
        values["query_id" if by_id else "query"],
        values["docs"],
        clicks,
        values.get("dwell", nothing),
        values.get("session", nothing),
        strict=True,
    )
    gathered.take_lists(rows, by_id=by_id, sessions="session" in roles)


# Tables


def _take_frame(frame: pl.DataFrame, roles: Roles, gathered: Gathered) -> None:
    if roles.shape == "list":
        _take_lists({role: frame[name].to_list() for role, name in roles.names.items()}, roles, gathered)
    elif len(frame):
        gathered.take({role: frame[name] for role, name in roles.names.items()}, roles)


def _read_parquet(source: Source, gathered: Gathered) -> Iterator[None]:
    try:
        lazy = pl.scan_parquet(io.BytesIO(source.read()))
        names = lazy.collect_schema().names()
        roles = roles_of(names, gathered.reading.columns, source.name)
        wanted = list(dict.fromkeys(roles.names.values()))
        total = int(lazy.select(pl.len()).collect().item())
        for start in range(0, total, _ROWS):
            _take_frame(lazy.select(wanted).slice(start, _ROWS).collect(), roles, gathered)
            yield
    except (pl.exceptions.PolarsError, OSError) as error:
        reason = str(error).strip().split("\n")[0]
        raise FormatError(source.name, [f"this is no readable PARQUET table: {reason}"]) from None


def _read_table(source: Source, head: bytes, separator: str | None, gathered: Gathered) -> Iterator[None]:
    sign = separator or separator_of("csv", head)
    roles: Roles | None = None
    header: list[str] = []
    for block in _whole_rows(source):
        if roles is None:
            line, _, block = block.partition(b"\n")
            try:
                header = next(csv.reader([line.decode("utf-8").strip("\r")], delimiter=sign))
            except (UnicodeDecodeError, csv.Error, StopIteration):
                raise FormatError(source.name, [not_utf8(line, "line 1: ")]) from None
            if len(set(header)) < len(header):
                raise FormatError(source.name, ["line 1: two columns have one name; rename one"])
            roles = roles_of(header, gathered.reading.columns, source.name)
            if roles.shape == "list":
                raise FormatError(source.name, ["lists of documents need JSON Lines or Parquet; give a row for each"])
        _take_frame(_table_of(block, header, sign, gathered), roles, gathered)
        yield


def _whole_rows(source: Source) -> Iterator[bytes]:
    """Blocks of whole rows: one whose quotation marks do not close goes on in the next."""
    held = b""
    for block in source.blocks(_BLOCK, line="a row a line"):
        held += block
        if held.count(b'"') % 2 == 0 or len(held) > _WIDEST:
            yield held
            held = b""
    if held:
        yield held


def _table_of(block: bytes, header: Sequence[str], sign: str, gathered: Gathered) -> pl.DataFrame:
    """The rows of a block, all as text; those that have not the columns of the header count as broken."""
    schema = dict.fromkeys(header, pl.String)
    if not block.strip():
        return pl.DataFrame(schema=schema)
    try:
        frame = pl.read_csv(block, separator=sign, has_header=False, schema=schema)
    except pl.exceptions.PolarsError:
        return _careful(block, header, sign, gathered)
    return frame.filter(~pl.all_horizontal(pl.all().is_null()))


def _careful(block: bytes, header: Sequence[str], sign: str, gathered: Gathered) -> pl.DataFrame:
    """The same, row by row."""
    good, broken = [], 0
    lines = block.decode("utf-8", "surrogateescape").replace("\x00", "\udc00").split("\n")
    for line in lines:
        if not line.strip():
            continue
        try:
            row = next(csv.reader([line.rstrip("\r")], delimiter=sign))
            line.encode()
        except (csv.Error, StopIteration, UnicodeEncodeError):
            row = []
        if len(row) == len(header):
            good.append(row)
        else:
            broken += 1
    gathered.left_out["broken"] += broken
    gathered.read += broken
    columns = zip(*good, strict=True) if good else [()] * len(header)
    return pl.DataFrame({name: pl.Series(own, dtype=pl.String) for name, own in zip(header, columns, strict=True)})
