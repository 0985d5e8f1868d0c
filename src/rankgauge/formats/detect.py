"""Which format a file has, told by its content first and its name second."""

from __future__ import annotations

import codecs
import os
from pathlib import Path
from typing import Literal, get_args

from rankgauge.arguments import as_path
from rankgauge.errors import FormatError
from rankgauge.formats.sources import Source, fields_of, unpacked_name
from rankgauge.model.frames import ID_COLUMNS

__all__ = [
    "ARROW",
    "COLUMNAR",
    "FORMATS",
    "TABLES",
    "Format",
    "check_format",
    "detect",
    "format_of_name",
    "is_beir_folder",
    "separator_of",
]

Format = Literal["trec", "json", "jsonl", "csv", "tsv", "parquet", "arrow", "beir"]
FORMATS: tuple[Format, ...] = get_args(Format)
COLUMNAR: tuple[Format, ...] = ("parquet", "arrow")
TABLES: tuple[Format, ...] = ("csv", "tsv", "parquet", "arrow")
_ENDINGS: dict[Format, tuple[str, ...]] = {
    "trec": (".run", ".qrels", ".qrel", ".trec", ".txt"),
    "json": (".json",),
    "jsonl": (".jsonl", ".ndjson"),
    "csv": (".csv",),
    "tsv": (".tsv",),
    "parquet": (".parquet", ".pq"),
    "arrow": (".arrow", ".arrows", ".feather", ".ipc"),
}
ARROW, _ARROW_STREAM = b"ARROW1", b"\xff\xff\xff\xff"
"""What files of Arrow begin with; the stream format has only what its messages begin with."""


def check_format(name: str) -> Format:
    """A format by its name."""
    for known in FORMATS:
        if name == known:
            return known
    raise FormatError(name, [f"no such format; known are: {', '.join(FORMATS)}"])


def format_of_name(path: str | os.PathLike[str]) -> Format | None:
    """The format that a file's ending stands for, whatever compression follows it."""
    ending = Path(unpacked_name(path)).suffix.lower()
    return next((form for form, endings in _ENDINGS.items() if ending in endings), None)


def separator_of(kind: Format, head: bytes) -> str:
    """What separates the columns of a text table, of CSV by its first line: Excel writes semicolons where commas are
    for decimals."""
    if kind == "tsv":
        return "\t"
    first = head.split(b"\n", 1)[0]
    return ";" if b";" in first and b"," not in first else ","


def has_named_columns(head: bytes) -> Format | None:
    """Whether the first line is a header with a query and a document column, and how it is separated."""
    line = head.removeprefix(codecs.BOM_UTF8).split(b"\n", 1)[0].decode("utf-8", errors="replace").strip()
    for kind, separator in (("csv", separator_of("csv", head)), ("tsv", "\t")):
        names = {part.strip().strip('"').casefold() for part in line.split(separator)}
        if len(names) > 1 and names & set(ID_COLUMNS["query"]) and names & set(ID_COLUMNS["doc"]):
            return "csv" if kind == "csv" else "tsv"
    return None


def is_beir_folder(path: str | os.PathLike[str]) -> bool:
    """Whether a folder holds a collection as BEIR or MTEB keep it."""
    folder = Path(as_path("path", path))
    return folder.is_dir() and ((folder / "qrels").is_dir() or _has_parquet(folder))


def _has_parquet(folder: Path) -> bool:
    """MTEB's judgments stand in data/ or default/ too, beside the queries."""
    places = [*folder.glob("*.parquet"), *folder.glob("*/*.parquet")]
    return any(path.name.startswith("qrels") or path.parent.name in ("qrels", "default", "data") for path in places)


def detect(source: Source) -> Format:
    """The format of a file, by its content; the name decides where content leaves it open."""
    head = source.head()
    named = format_of_name(source.path)
    if head[:4] == b"PAR1":
        return "parquet"
    if head.startswith((ARROW, _ARROW_STREAM)):
        return "arrow"
    start = head.lstrip()[:1]
    if start in (b"{", b"[") and not (named in (None, "trec") and _has_numbers_of_trec(head)):
        lines = [line for line in head.splitlines() if line.strip()]
        one_each = (
            start == b"{" and len(lines) > 1 and lines[0].rstrip().endswith(b"}") and lines[1].lstrip()[:1] == b"{"
        )
        return "jsonl" if one_each or named == "jsonl" else "json"
    table = has_named_columns(head)
    if table is not None:
        return table
    if named in ("json", "jsonl", "csv", "tsv", "parquet", "arrow") and head.strip():
        if named in ("csv", "tsv") and _is_plain_trec(head):
            return "trec"
        return named
    return "trec"


def _has_numbers_of_trec(head: bytes) -> bool:
    """Whether the first lines have a number where runs and judgments have one. An id may begin like JSON."""
    lines = [fields for _, fields in fields_of(head.splitlines()[:2])]
    return bool(lines) and all(len(fields) >= 4 and _is_number(fields[4 if len(fields) > 5 else 3]) for fields in lines)


def _is_number(field: bytes) -> bool:
    try:
        float(field)
    except ValueError:
        return False
    return True


def _is_plain_trec(head: bytes) -> bool:
    """TREC columns under a .tsv name, as often seen."""
    lines = [fields for _, fields in fields_of(head.splitlines()[:20])]
    return bool(lines) and all(len(fields) in (4, 6) and b"," not in fields[0] for fields in lines)
