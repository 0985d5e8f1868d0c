"""Logs of searches: CSV, TSV, Parquet and JSON Lines with a column for the query's text and, where they are there, for
its number of searches, results and clicks, the first score, errors, feedback and time."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Mapping, Sequence
from importlib.resources import files
from typing import Any, Final

from rankgauge.errors import DataError, Fault, FormatError
from rankgauge.formats.detect import detect
from rankgauge.formats.json_values import read_json, read_json_lines
from rankgauge.formats.sources import Source
from rankgauge.formats.spans import has_spans
from rankgauge.model.query_log import LoggedQuery
from rankgauge.model.traces import Traces

__all__ = ["load_query_log", "log_of_traces", "logged_queries"]

COLUMNS: Final[Mapping[str, Sequence[str]]] = json.loads(
    (files("rankgauge.formats") / "query_log_columns.json").read_text("utf-8")
)
"""The names that people give each column."""
_NOTHING = frozenset(("", "0", "false", "none", "null", "nan", "no", "ok", "success", "succeeded", "200", "-"))
_BAD = frozenset(("-1", "down", "thumbs_down", "thumbs-down", "thumbsdown", "negative", "bad", "dislike", "\U0001f44e"))
_FAILED = ("error", "fail", "timeout", "timed out", "exception")
_EXAMPLE = '{"query": "opening hours", "result_count": 0, "clicks": 0}'


def load_query_log(
    path: str | os.PathLike[str], columns: Mapping[str, str] | None = None, *, query_id: str | None = None
) -> list[LoggedQuery]:
    """The searches of a file: a log, or traces in any layout that `load_traces` reads, each of whose calls is a search.
    `columns` names columns that have a name of their own, such as {"text": "phrase"}."""
    source = Source(path)
    form = detect(source)
    if form == "trec":
        raise FormatError(source.name, [f"a log is a table with named columns, or lines of JSON such as {_EXAMPLE}"])
    if form in ("json", "jsonl"):
        items = _json_items(source, form)
        first = next((item for _, item in items), None)
    else:
        from rankgauge.formats.tables import read_table

        items = list(enumerate(read_table(source, form).to_dicts(), start=1 if form == "parquet" else 2))
        first = items[0][1] if items else None
    if columns is None and isinstance(first, Mapping) and ("calls" in first or has_spans([first])):
        from rankgauge.formats.traces import traces_of

        return log_of_traces(traces_of(items, source.name, query_id=query_id))
    return logged_queries(items, source.name, columns)


def _json_items(source: Source, form: str) -> list[tuple[int, Any]]:
    if form == "jsonl":
        return list(read_json_lines(source))
    value = read_json(source)
    held = value.get("traces") if isinstance(value, Mapping) else None
    listed = held if isinstance(held, list) else value if isinstance(value, list) else [value]
    return list(enumerate(listed, start=1))


def log_of_traces(traces: Traces) -> list[LoggedQuery]:
    """Every retrieval call of the traces as a search."""
    return [LoggedQuery(call.query, results=len(call.documents)) for trace in traces for call in trace.calls]


def logged_queries(
    items: Sequence[tuple[int, Any]], name: str, columns: Mapping[str, str] | None = None
) -> list[LoggedQuery]:
    """The searches of some rows, each with the number of its line; faults of all are raised together."""
    rows = [(number, item) for number, item in items if isinstance(item, Mapping)]
    if len(rows) < len(items):
        number = next(number for number, item in items if not isinstance(item, Mapping))
        raise FormatError(name, [Fault(f"a search is an object such as {_EXAMPLE}", number)])
    places = _places(list(dict.fromkeys(key for _, row in rows for key in row)), columns, name)
    found, faults = [], list[str | Fault]()
    for number, row in rows:
        try:
            found.append(_entry({role: row.get(place) for role, place in places.items()}))
        except DataError as error:
            faults.append(Fault(str(error), number))
    if faults:
        raise FormatError(name, faults)
    return found


def _places(known: Sequence[Any], columns: Mapping[str, str] | None, name: str) -> dict[str, Any]:
    """The column of each role that is there."""
    given = dict(columns or {})
    if unknown := sorted(set(given) - set(COLUMNS)):
        raise DataError(f"`columns`: {unknown[0]!r} is none of {', '.join(COLUMNS)}")
    if missing := [column for column in given.values() if column not in known]:
        listed = ", ".join(map(repr, known[:20]))
        raise FormatError(name, [f"it has no column {missing[0]!r}; it has {listed or 'none'}"])
    lower = {str(key).strip().casefold(): key for key in reversed(known)}
    found: dict[str, Any] = dict(given)
    for role, aliases in COLUMNS.items():
        free = [lower[alias] for alias in aliases if alias in lower and lower[alias] not in found.values()]
        if role not in found and free:
            found[role] = free[0]
    if "text" not in found:
        listed = ", ".join(map(repr, known[:20]))
        raise FormatError(
            name,
            [f"no column holds the queries among {listed or 'none'}; name it with `columns={{'text': 'its name'}}`"],
        )
    return found


def _entry(cells: Mapping[str, Any]) -> LoggedQuery:
    text = cells["text"]
    if text is not None and not isinstance(text, str | int | float):
        raise DataError(f"the query {text!r} is no text"[:200])
    count = _whole(cells.get("count"), "count")
    listed = cells.get("results")
    results = len(listed) if isinstance(listed, list | tuple) else _whole(listed, "number of results")
    return LoggedQuery(
        "" if text is None else " ".join(str(text).split()),
        1 if count is None else count,
        results,
        _score(cells.get("score"), listed),
        _clicks(cells.get("clicks")),
        _has_failed(cells),
        str(cells.get("time") or ""),
    )


def _number(value: Any, what: str, comma: str = "") -> float | None:
    """A number, or None for an empty cell. A comma separates thousands, or stands for the decimal point."""
    if value is None or (isinstance(value, str) and value.strip().casefold() in ("", "null", "none", "nan", "-")):
        return None
    try:
        number = float(value.replace(",", comma) if isinstance(value, str) else value)
    except (TypeError, ValueError, OverflowError):
        raise DataError(f"the {what} {value!r} is no number"[:200]) from None
    return number if math.isfinite(number) else None


def _whole(value: Any, what: str) -> int | None:
    number = _number(value, what)
    if number is None:
        return None
    if number < 0 or number != int(number):
        raise DataError(f"the {what} {value!r} is no whole number from 0 on"[:200])
    return int(number)


def _score(value: Any, listed: Any) -> float | None:
    """The score that is logged, or that of the first result."""
    if value is None and isinstance(listed, list | tuple) and listed and isinstance(listed[0], Mapping):
        value = listed[0].get("score")
    decimal = isinstance(value, str) and value.count(",") == 1 and "." not in value
    return _number(value, "score", "." if decimal else "")


def _clicks(value: Any) -> int | None:
    """A number, a list of what was clicked, yes or no, or the one document that was."""
    if value is None or (isinstance(value, str) and not value.strip()):
        return None if value is None else 0
    if isinstance(value, list | tuple):
        return len(value)
    if isinstance(value, bool):
        return int(value)
    try:
        return _whole(value, "number of clicks")
    except DataError:
        text = str(value).strip().casefold()
        return 0 if text in _NOTHING else 1


def _has_failed(cells: Mapping[str, Any]) -> bool:
    told = [str(cells.get(name) or "").strip().casefold() for name in ("error", "status", "feedback")]
    error, status, feedback = told
    if error not in _NOTHING or feedback in _BAD:
        return True
    return any(word in status for word in _FAILED) or (status.isdecimal() and 400 <= int(status) < 600)
