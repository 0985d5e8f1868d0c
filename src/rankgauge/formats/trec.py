"""TREC runs (query Q0 document rank score tag) and judgments (query subtopic document grade).

Two readers give the same rows. The fast one hands blocks of regular lines to polars. A block it cannot vouch for goes
to the careful one, line by line, which reads all that trec_eval reads and names every fault with its line.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from itertools import chain, groupby
from typing import TYPE_CHECKING, Literal

import numpy as np

from rankgauge.errors import Fault, FormatError
from rankgauge.formats.run_parts import Pair, Place, RunParts
from rankgauge.formats.sources import Source, fields_of, not_utf8
from rankgauge.formats.trec_rows import read_judgment_rows, read_run_rows
from rankgauge.model.judgments import Qrels
from rankgauge.model.text_rows import IrregularTextError, TextRows

if TYPE_CHECKING:
    import polars as pl

__all__ = ["TrecRun", "first_tag", "read_qrels", "render_qrels", "render_run"]

Kind = Literal["run", "qrels"]
_MARK = b"\xef\xbb\xbf"
_BLOCK = 16 << 20
_COLUMNS: dict[Kind, int] = {"run": 6, "qrels": 4}
_TAKEN: dict[Kind, dict[str, int]] = {
    "run": {"query": 0, "doc": 2, "score": 4},
    "qrels": {"query": 0, "subtopic": 1, "doc": 2, "grade": 3},
}
_NUMBER: dict[Kind, str] = {"run": "score", "qrels": "grade"}
_TO_SPACE = bytes.maketrans(b"\t\x0b\x0c\r", b"   \n")
_COMMENT = re.compile(rb"^#[^\n]*\n?", re.MULTILINE)
_FLOAT = re.compile(rb"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?")
_SPACE, _NEWLINE, _HASH = 32, 10, 35
_PIECE = 1 << 19
_SAMPLES, _SAMPLE = 16, 1 << 17  # bytes


class TrecRun(RunParts):
    """A TREC run file."""

    def __init__(self, source: Source) -> None:
        super().__init__(source.name, source.size)
        self.text: Source = source

    def parts(self) -> Iterator[pl.DataFrame]:
        """Columns query, doc, score, block by block."""
        yield from _parts(self.text, "run")

    def rows(self) -> Iterator[TextRows]:
        return read_run_rows(self.text)

    @property
    def done(self) -> int:
        return self.text.done

    @property
    def is_large(self) -> bool:
        return self.text.is_large

    @property
    def seems_grouped(self) -> bool:
        """Whether no query comes back after others in a few samples: not sure, but known at once."""
        for lines in self.text.samples(_SAMPLES, _SAMPLE):
            queries = [query for query, _ in groupby(line.partition(b" ")[0] for line in lines)]
            if len(set(queries)) < len(queries):
                return False
        return True

    def places(self, wanted: set[Pair]) -> Iterator[tuple[Pair, Place]]:
        known = {(query.encode(), doc.encode()): (query, doc) for query, doc in wanted}
        for number, fields in _lines(self.text):
            pair = known.get((fields[0], fields[2])) if len(fields) > 2 else None
            if pair is not None:
                yield pair, Place(number)


def read_qrels(source: Source) -> Qrels:
    """Judgments, with identical repeats merged; contradicting ones are faults with their lines."""
    try:
        return Qrels.of_text(read_judgment_rows(source), source.name, lambda: _judgment_frame(source))
    except IrregularTextError:
        return Qrels.of_frame(_judgment_frame(source), source.name)


def _judgment_frame(source: Source) -> pl.DataFrame:
    import polars as pl

    from rankgauge.model.keys import list_bounds, pair_keys, repeated_pairs

    parts = list(_parts(source, "qrels"))
    frame = pl.concat(parts) if len(parts) > 1 else parts[0]
    if frame["subtopic"].n_unique() <= 1:
        frame = frame.drop("subtopic")
    starts, heads = list_bounds(frame["query"])
    if len(repeated_pairs(frame, pair_keys(starts, heads, frame["doc"]))):
        key = [name for name in ("query", "subtopic", "doc") if name in frame.columns]
        frame = frame.unique(maintain_order=True)
        if not frame.select(key).is_unique().all():
            raise FormatError(source.name, _contradictions(source), hint="keep one grade for each document")
    return frame


def _contradictions(source: Source) -> list[Fault]:
    first: dict[tuple[bytes, ...], tuple[int, bytes]] = {}
    faults = []
    for number, fields in _lines(source):
        seen = first.setdefault(tuple(fields[:3]), (number, fields[3]))
        if float(seen[1]) != float(fields[3]):
            doc, query = fields[2].decode(), fields[0].decode()
            faults.append(
                Fault(
                    f"document {doc!r} of query {query!r} has grade {fields[3].decode()}, "
                    f"but grade {seen[1].decode()} on line {seen[0]}",
                    number,
                )
            )
    return faults


def _parts(source: Source, kind: Kind) -> Iterator[pl.DataFrame]:
    empty = True
    for block in source.blocks(_BLOCK):
        frame = _fast(block, kind)
        if frame is None:
            frame = _careful(source, block, kind)
        if empty and kind == "qrels" and len(frame):
            _refuse_run(source, block)
        if len(frame):
            empty = False
            yield frame
    if empty:
        raise FormatError(
            source.name, [f"the file holds no {'results' if kind == 'run' else 'judgments'}: it is empty"]
        )


def _fast(block: bytes, kind: Kind) -> pl.DataFrame | None:
    """The rows of a block, or None where not every line is plainly right."""
    import polars as pl

    if block.startswith(_MARK):  # part of an id, which polars would take away
        return None
    needed = _COLUMNS[kind]
    width = _uniform_width(block, needed)
    if width is None:
        block = _tidy(block)
        if not block:
            return pl.DataFrame(schema={name: _dtype(name) for name in _TAKEN[kind]})
        width = needed if _wide_enough(block, needed) else None
    if width is None:
        return None
    names = {position: name for name, position in _TAKEN[kind].items()}
    names.setdefault(width - 1, "_last")
    schema = {names.get(i, f"_{i}"): _dtype(names.get(i, "")) for i in range(width)}
    try:
        frame = pl.read_csv(
            block,
            has_header=False,
            separator=" ",
            quote_char=None,
            schema=schema,
            columns=list(names),
            truncate_ragged_lines=True,
            raise_if_empty=False,
        )
    except pl.exceptions.PolarsError:
        return None
    # As many separators as lines of this width have, and no line without its last field: every line is of this width.
    if frame[names[width - 1]].null_count():
        return None
    numbers = frame[_NUMBER[kind]]
    if numbers.null_count() or not numbers.is_finite().all():
        return None
    return frame.select(list(_TAKEN[kind]))


def _dtype(name: str) -> type[pl.DataType]:
    import polars as pl

    return pl.Float64 if name in ("score", "grade") else pl.String


def _uniform_width(block: bytes, needed: int) -> int | None:
    """The number of fields of every line, if the block can be all of one width with single spaces and no comments.

    It can be: a short line and a long one may still make up for each other, which the caller rules out.
    """
    data = np.frombuffer(block, dtype=np.uint8)
    if not len(data) or data[0] <= _SPACE or data[0] == _HASH or (data[-1] <= _SPACE and data[-1] != _NEWLINE):
        return None
    width = len(block[: block.find(b"\n") % (len(block) + 1)].split())
    spaces = lines = 0
    for start in range(0, len(data), _PIECE):  # pieces that stay in the processor's cache
        piece = data[start : start + _PIECE + 1]
        blank, ends = piece <= _SPACE, piece == _NEWLINE
        after_blank, after_end = blank[:-1], ends[:-1]
        if (blank[1:] & after_blank).any() or ((piece[1:] == _HASH) & after_end).any():
            return None
        own = slice(0, _PIECE)
        ended = int(np.count_nonzero(ends[own]))
        lines += ended
        spaces += int(np.count_nonzero(piece[own] == _SPACE))
        if int(np.count_nonzero(blank[own])) != ended + int(np.count_nonzero(piece[own] == _SPACE)):
            return None
    lines += int(data[-1] != _NEWLINE)
    return width if width >= needed and spaces == lines * (width - 1) else None


def _wide_enough(block: bytes, needed: int) -> bool:
    """Whether every line of a tidy block has at least the needed fields."""
    data = np.frombuffer(block, dtype=np.uint8)
    marks = data[data <= _SPACE]
    if not ((marks == _SPACE) | (marks == _NEWLINE)).all():
        return False
    ends = np.flatnonzero(marks == _NEWLINE)
    if data[-1] != _NEWLINE:
        ends = np.append(ends, len(marks))
    return not (np.diff(ends, prepend=-1) < needed).any()


def _tidy(block: bytes) -> bytes:
    """The same rows with single spaces, plain line ends, and without blank lines and comments."""
    block = block.translate(_TO_SPACE)
    if b"#" in block:
        block = _COMMENT.sub(b"", block)
    data = np.frombuffer(block, dtype=np.uint8)
    for _ in range(2):  # spaces after white space; then spaces before a line end, and empty lines
        if not len(data):
            return b""
        space, newline = data == _SPACE, data == _NEWLINE
        blank_before = np.concatenate(([True], (space | newline)[:-1]))
        newline_before = np.concatenate(([True], newline[:-1]))
        newline_after = np.concatenate((newline[1:], [True]))
        drop = (space & (blank_before | newline_after)) | (newline & newline_before)
        data = data[~drop]
    return data.tobytes()


def _lines(source: Source) -> Iterator[tuple[int, list[bytes]]]:
    """(line number, fields) of every line that holds a row."""
    return fields_of(chain.from_iterable(block.splitlines() for block in source.blocks(_BLOCK)))


def _careful(source: Source, block: bytes, kind: Kind) -> pl.DataFrame:
    """The rows of one block, line by line; if a line has a fault, all faults of the file are raised together."""
    import polars as pl

    rows = []
    for _, fields in fields_of(block.splitlines()):
        row = _row(fields, kind)
        if isinstance(row, str):
            raise _all_faults(source, kind)
        rows.append(row)
    return pl.DataFrame(rows, schema={name: _dtype(name) for name in _TAKEN[kind]}, orient="row")


def _row(fields: list[bytes], kind: Kind) -> tuple[str | float, ...] | str:
    """The wanted fields of one line, or what is wrong with it."""
    if len(fields) < _COLUMNS[kind]:
        layout = "query Q0 document rank score tag" if kind == "run" else "query subtopic document grade"
        return f"{len(fields)} columns; {_COLUMNS[kind]} are needed: {layout}"
    row: list[str | float] = []
    for name, position in _TAKEN[kind].items():
        field = fields[position]
        if name in ("score", "grade"):
            value = float(field) if _FLOAT.fullmatch(field) else math.nan
            if not math.isfinite(value):
                return f"the {name} {field.decode(errors='replace')!r} is no finite number"
            row.append(value)
            continue
        try:
            row.append(field.decode("utf-8"))
        except UnicodeDecodeError:
            return not_utf8(field)
    return tuple(row)


def _all_faults(source: Source, kind: Kind) -> FormatError:
    faults: list[Fault] = []
    total, widths = 0, set()
    for number, fields in _lines(source):
        widths.add(len(fields))
        row = _row(fields, kind)
        if isinstance(row, str):
            total += 1
            if len(faults) < 20:
                faults.append(Fault(row, number))
    hint = ""
    if kind == "run" and widths == {4}:
        hint = "this looks like judgments, not a run: give the judgments first, then the runs"
    return FormatError(source.name, faults, total=total, hint=hint)


def _refuse_run(source: Source, block: bytes) -> None:
    """A run given as judgments would be read, its ranks as grades; tell it by its Q0, rank and score."""
    sample = [fields for _, fields in fields_of(block[:20000].splitlines()[:50])]
    if sample and all(len(fields) >= 6 and _FLOAT.fullmatch(fields[4]) for fields in sample):
        ranks_rise = all(fields[3].isdigit() for fields in sample)
        if ranks_rise and all(fields[1].upper() == b"Q0" or len(fields) == 6 for fields in sample):
            raise FormatError(
                source.name,
                [
                    "this looks like a run (query Q0 document rank score tag), not like judgments: "
                    "give the judgments first, then the runs"
                ],
            )


def render_run(frame: pl.DataFrame, tag: str) -> bytes:
    """A run as TREC text, in the order given; ranks count from 1 in each query."""
    import polars as pl

    tag = "_".join(tag.split()) or "run"
    numbered = frame.with_columns(
        pl.lit("Q0").alias("Q0"), pl.int_range(1, pl.len() + 1).over("query").alias("rank"), pl.lit(tag).alias("tag")
    )
    return _text(numbered.select("query", "Q0", "doc", "rank", "score", "tag"))


def render_qrels(frame: pl.DataFrame) -> bytes:
    """Judgments as TREC text; whole grades are written without a decimal point."""
    import polars as pl

    subtopic = pl.col("subtopic") if "subtopic" in frame.columns else pl.lit("0").alias("subtopic")
    whole = bool((frame["grade"] == frame["grade"].floor()).all())
    grade = pl.col("grade").cast(pl.Int64) if whole else pl.col("grade")
    return _text(frame.select("query", subtopic, "doc", grade))


def _text(frame: pl.DataFrame) -> bytes:
    return frame.write_csv(separator=" ", include_header=False, quote_style="never").encode()


def first_tag(source: Source) -> str:
    """The run's tag on its first line; the file's name where it has none."""
    _, fields = next(fields_of(source.head().splitlines()), (0, []))
    return fields[5].decode(errors="replace") if len(fields) > 5 else source.bare_name
