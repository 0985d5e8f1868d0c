"""Texts of queries by id, from the files that collections keep them in: TSV, CSV, JSON, JSON Lines, a BEIR folder."""

from __future__ import annotations

import csv
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final

from rankgauge.errors import DataError, Fault, FormatError
from rankgauge.formats.json_values import read_json, read_json_lines
from rankgauge.formats.sources import Source, unpacked_name
from rankgauge.model.frames import ID_COLUMNS
from rankgauge.model.testset import TestSet

__all__ = ["read_queries", "with_query_texts"]

_IDS: Final = ID_COLUMNS["query_id"]
_TEXTS: Final = ID_COLUMNS["query_text"]
_HINT: Final = 'a line of a queries file has an id and a text: "q1<tab>opening hours" or {"_id": "q1", "text": "..."}'


def read_queries(path: str | os.PathLike[str]) -> dict[str, str]:
    """{id: text}; of a BEIR folder those of its queries.jsonl."""
    place = Path(path) / "queries.jsonl" if Path(path).is_dir() else Path(path)
    source = Source(place)
    begin = source.head(1024).lstrip(b"\xef\xbb\xbf \t\r\n")[:1]
    if begin == b"{":
        return _of_object(source)
    if begin == b"[":
        return _collected(source.name, enumerate(read_json(source), start=1))
    return _of_lines(source)


def with_query_texts(test_set: TestSet, texts: Any) -> TestSet:
    """The test set with texts by id, or those of a file. Ids of which none fits are of another test set."""
    known = read_queries(texts) if isinstance(texts, str | os.PathLike) else texts
    if not isinstance(known, Mapping):
        raise DataError(f"`queries` must be texts by id, or the path of a file, not a {type(known).__name__}")
    if not any(query.id in known for query in test_set):
        raise DataError(
            f"`queries` names none of the queries of {test_set.name}: {next(iter(known), '')!r} is not such an id as "
            f"{test_set[0].id if len(test_set) else ''!r}"
        )
    return test_set.with_texts(known)


def _of_object(source: Source) -> dict[str, str]:
    """One JSON object {id: text}, or an object in each line."""
    lines = [line for line in source.text().split("\n") if line.strip()]
    one = len(lines) == 1 or not lines[0].rstrip().endswith("}")
    value = read_json(source) if one else None
    if isinstance(value, Mapping) and not any(key in value for key in _IDS):
        return _collected(source.name, enumerate(({"id": key, "text": text} for key, text in value.items()), start=1))
    return _collected(source.name, read_json_lines(source))


def _of_lines(source: Source) -> dict[str, str]:
    """Id and text separated by a tab, or the columns of a CSV file; a first line that names them is left out."""
    lines = source.text().splitlines()
    comma = unpacked_name(source.path).lower().endswith(".csv")
    rows = list(csv.reader(lines)) if comma else [line.split("\t") for line in lines]
    head = [cell.strip().strip('"').casefold() for cell in rows[0]] if rows else []
    id_place = next((head.index(name) for name in _IDS if name in head), None)
    text_place = next((head.index(name) for name in _TEXTS if name in head), None)
    named = id_place is not None and text_place is not None
    first, second = (id_place or 0, text_place or 0) if named else (0, 1)
    items = (
        (number, {"id": row[first].strip(), "text": row[second].strip()} if len(row) > max(first, second) else None)
        for number, row in enumerate(rows, start=1)
        if any(cell.strip() for cell in row) and not (named and number == 1)
    )
    return _collected(source.name, items)


def _collected(name: str, items: Iterable[tuple[int, Any]]) -> dict[str, str]:
    texts: dict[str, str] = {}
    faults = []
    for number, item in items:
        entry = item if isinstance(item, Mapping) else {}
        key = next((entry[one] for one in _IDS if entry.get(one) not in (None, "")), None)
        text = next((entry[one] for one in _TEXTS if isinstance(entry.get(one), str)), None)
        if not isinstance(key, str | int) or isinstance(key, bool) or not text:
            faults.append(Fault("no query with an id and a text", number))
        elif str(key) in texts:
            faults.append(Fault(f"the id {str(key)!r} stands twice", number))
        else:
            texts[str(key)] = text
    if faults or not texts:
        raise FormatError(name, faults or ["it holds no query"], hint=_HINT)
    return texts
