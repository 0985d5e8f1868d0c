"""Lines of tables and of JSON, one after another, so that a corpus need not fit into memory."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from rankgauge.errors import DataError, Fault, FormatError
from rankgauge.formats.json_values import id_of
from rankgauge.formats.sources import Source, not_utf8

__all__ = ["Grades", "json_rows", "parquet_rows", "read_grades", "table_rows", "text_of"]

Grades = dict[str, dict[str, float]]

_LONGEST = 64 << 20  # bytes: the longest documents of MS MARCO have some millions
_HEADS = {"_id", "id", "qid", "pid", "query-id", "query_id", "corpus-id", "corpus_id", "docid", "doc_id"}
_NAMES = _HEADS | {"text", "query", "passage", "title", "score", "rel", "label", "-", "0", "q0"}


def _lines(path: Path) -> Iterator[tuple[int, str]]:
    """(line number, text) of every line that is not empty."""
    source = Source(path)
    with source.open() as file:
        number = 0
        while line := file.readline(_LONGEST):
            number += 1
            if len(line) == _LONGEST:
                raise FormatError(source.name, [Fault("the line has no end", number)])
            try:
                text = line.decode("utf-8-sig" if number == 1 else "utf-8").rstrip("\r\n")
            except UnicodeDecodeError:
                raise FormatError(source.name, [Fault(not_utf8(line), number)]) from None
            if text:
                yield number, text
    if number == 0:
        raise FormatError(source.name, ["the file is empty"])


def table_rows(path: Path, columns: int = 2) -> Iterator[tuple[int, list[str]]]:
    """(line number, fields) of a table whose fields end at tabs, the last one at the end of the line. A first line of
    names is passed over."""
    for number, line in _lines(path):
        fields = line.split("\t", columns - 1)
        if number == 1 and _is_head(line.split("\t")):
            continue
        if len(fields) < columns:
            said = f"{len(fields)} columns, where {columns} are expected (is the download complete?)"
            raise FormatError(str(path), [Fault(said, number)])
        yield number, fields


def _is_head(fields: Sequence[str]) -> bool:
    names = [field.strip().strip('"').lower() for field in fields]
    return names[0] in _HEADS and all(name in _NAMES for name in names)


def json_rows(path: Path) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """(line number, object) of a file with one object of JSON on each line."""
    for number, line in _lines(path):
        try:
            value = json.loads(line)
        except (ValueError, RecursionError) as error:
            said = f"this is no JSON: {error} (is the download complete?)"
            raise FormatError(str(path), [Fault(said, number)]) from None
        if not isinstance(value, Mapping):
            raise FormatError(str(path), [Fault("this is no object of JSON", number)])
        yield number, value


def parquet_rows(paths: Iterable[Path], columns: Sequence[str]) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """(row, object) of Parquet files, the columns that are needed alone."""
    from rankgauge.formats.tables import read_table

    for path in paths:
        table = read_table(Source(path), "parquet")
        missing = [name for name in columns if name not in table.columns]
        if missing:
            raise FormatError(
                str(path), [f"there is no column {missing[0]!r}; it has {', '.join(table.columns) or 'none'}"]
            )
        yield from enumerate(table.select(columns).iter_rows(named=True), start=1)


def text_of(value: Any, path: Path, number: int, what: str) -> str:
    """An id of JSON or Parquet as a text, or the fault of its line."""
    try:
        return id_of(value, what)
    except DataError as error:
        raise FormatError(str(path), [Fault(str(error), number)]) from None


def read_grades(path: Path) -> Grades:
    """Judgments in columns: TREC's four (query, 0, document, grade), BEIR's three (query, document, grade), or pairs of
    query and document, all of them relevant. A first line of names is passed over."""
    found: Grades = {}
    width = 0
    for number, line in _lines(path):
        fields = line.split()
        if not fields or (number == 1 and _is_head(fields)):
            continue
        width = width or len(fields)
        if width not in (2, 3, 4) or len(fields) != width:
            said = f"{len(fields)} columns, where judgments have 4 (TREC), 3 (BEIR) or 2 (pairs), the same in all lines"
            raise FormatError(str(path), [Fault(said, number)])
        query, doc = fields[0], fields[2] if width == 4 else fields[1]
        try:
            grade = 1.0 if width == 2 else float(fields[-1])
        except ValueError:
            raise FormatError(str(path), [Fault(f"the grade {fields[-1]!r} is no number", number)]) from None
        docs = found.setdefault(query, {})
        if docs.get(doc, grade) != grade:
            said = f"document {doc!r} of query {query!r} has two grades, {docs[doc]:g} and {grade:g}"
            raise FormatError(str(path), [Fault(said, number)])
        docs[doc] = grade
    if not found:
        raise FormatError(str(path), ["it holds no judgments"])
    return found
