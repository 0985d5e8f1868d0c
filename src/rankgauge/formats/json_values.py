"""JSON and JSON Lines with faults that name their place."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import date
from datetime import time as clock
from typing import Any

from rankgauge.errors import DataError, Fault, FormatError
from rankgauge.formats.limits import FILES, RECORDS, Limits, allowed
from rankgauge.formats.sources import Source

__all__ = [
    "dump_lines",
    "dumps",
    "id_of",
    "no_repeats",
    "number_of",
    "parse_line",
    "parse_record",
    "plain_value",
    "read_first",
    "read_json",
    "read_json_lines",
    "read_record",
    "read_values",
]

_PARTS = 4_000_000  # lists and objects of a record: each takes up to 200 bytes, and only 2 in the text


def _no_constant(text: str) -> float:
    raise ValueError(f"{text} is no finite number")


def no_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object of JSON, in which no key stands twice."""
    found = dict(pairs)
    if len(found) != len(pairs):
        seen: set[str] = set()
        twice = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
        raise ValueError(f"the key {twice!r} stands twice in one object")
    return found


def parse_line(text: str) -> Any:
    """The value, or the fault of a text that is no JSON of ours."""
    try:
        return json.loads(text, parse_constant=_no_constant, object_pairs_hook=no_repeats)
    except json.JSONDecodeError as error:
        return Fault(f"this is no JSON: {error.msg} (column {error.colno})", error.lineno)
    except RecursionError:
        return Fault("it is nested too deeply to be read")
    except ValueError as error:
        return Fault(str(error))


def read_json(source: Source) -> Any:
    """The one JSON value of a file."""
    return _value(source.text(), source.name)


def read_record(source: Source) -> Any:
    """The one JSON value of a file that holds a record: such files come from elsewhere, and are bounded."""
    return parse_record(source.text(RECORDS), source.name)


def parse_record(text: str, name: str) -> Any:
    """The JSON value of a record's text, if it holds no more parts than a record can have."""
    if text.count("[") + text.count("{") > _PARTS and allowed() is None:
        raise FormatError(name, [f"it holds more than {_PARTS} lists and objects, as no record does"])
    return _value(text, name)


def _value(text: str, name: str) -> Any:
    value = parse_line(text) if text.strip() else Fault("the file is empty")
    if isinstance(value, Fault):
        raise FormatError(name, [value])
    return value


def read_json_lines(source: Source, limits: Limits = FILES) -> Iterator[tuple[int, Any]]:
    """(line number, value) of every line that is not blank; faults of all lines are raised together."""
    lines = enumerate(source.text(limits).split("\n"), start=1)
    values = [(number, parse_line(line)) for number, line in lines if line.strip()]
    faults = [replace(value, line=number) for number, value in values if isinstance(value, Fault)]
    if faults:
        raise FormatError(source.name, faults)
    if not values:
        raise FormatError(source.name, ["the file is empty"])
    yield from values


def read_first(source: Source) -> list[Any]:
    """The value of the first line that is not blank, if it is within the first bytes and has no fault."""
    lines = (line for line in source.head().decode("utf-8", errors="replace").split("\n") if line.strip())
    value = parse_line(next(lines, ""))
    return [] if isinstance(value, Fault) else [value]


def read_values(source: Source, form: str) -> Any:
    """What a file of the format json or jsonl holds; the lines of the latter are a list."""
    return read_json(source) if form == "json" else [value for _, value in read_json_lines(source)]


def dumps(value: Any) -> bytes:
    """JSON for people to read, Chinese as it is."""
    text = json.dumps(value, ensure_ascii=False, indent=2, allow_nan=False) + "\n"
    try:
        return text.encode()
    except UnicodeEncodeError:  # half of a surrogate pair has no UTF-8, only an escape
        return (json.dumps(value, indent=2, allow_nan=False) + "\n").encode()


def dump_lines(values: Iterable[Any]) -> bytes:
    """JSON Lines."""
    listed = list(values)
    try:
        return "".join(json.dumps(value, ensure_ascii=False) + "\n" for value in listed).encode()
    except UnicodeEncodeError:  # half of a surrogate pair has no UTF-8, only an escape
        return "".join(json.dumps(value) + "\n" for value in listed).encode()


def id_of(value: Any, what: str) -> str:
    """An id of JSON as text: a text that is not empty, or a whole number."""
    if isinstance(value, bool) or not isinstance(value, str | int) or value == "":
        raise DataError(f"the {what} id {value!r} is neither a text nor a whole number"[:200])
    return str(value)


def number_of(value: Any, what: str) -> float:
    """A number of JSON that is finite."""
    if isinstance(value, str):
        raise DataError(f"the {what} {value!r} is a text; write a number, without quotation marks"[:200])
    try:
        if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
            raise DataError(f"the {what} {value!r} is no finite number"[:200])
    except OverflowError:
        raise DataError(f"the {what} is too large a number") from None
    return float(value)


def plain_value(value: Any) -> Any:
    """A value of TOML as JSON can hold it: dates, inf and nan as texts. Other objects stay as they are."""
    if isinstance(value, Mapping):
        return {key: plain_value(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [plain_value(inner) for inner in value]
    odd = isinstance(value, date | clock) or (isinstance(value, float) and not math.isfinite(value))
    return str(value) if odd else value
