"""`read_table`: a table of a TOML file as a dataclass, all its faults found together and said in our words.

msgspec checks every value against its field's type; it stops at the first fault and speaks of types of Python, so
each value is converted by itself, and what it must be is said from the type.
"""

from __future__ import annotations

import dataclasses
import difflib
import math
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, TypeVar, get_args, get_origin, get_type_hints

from rankgauge.errors import FormatError
from rankgauge.formats.limits import RECORDS
from rankgauge.formats.sources import Source

__all__ = ["placed", "read_table", "read_toml", "unknown_key"]

T = TypeVar("T")

_LONGEST = 200
_PLAIN = {
    "StrType": ("a text", "texts"),
    "IntType": ("a whole number", "whole numbers"),
    "FloatType": ("a number", "numbers"),
    "BoolType": ("true or false", "true or false"),
    "DictType": ("a table", "tables"),
}


def read_toml(path: str | Path, hint: str = "") -> dict[str, Any]:
    """The content of a TOML file, or a `FormatError`; where there is no such file, with the hint."""
    import tomllib

    if not Path(path).exists():
        raise FormatError(str(path), ["there is no such file"], hint=hint)
    try:
        return tomllib.loads(Source(path, limits=RECORDS).text(RECORDS))
    except tomllib.TOMLDecodeError as error:
        raise FormatError(str(path), [f"this is no TOML: {error}"]) from None
    except ValueError as error:  # a number of thousands of digits
        raise FormatError(str(path), [f"this TOML cannot be read: {error}"]) from None
    except RecursionError:
        raise FormatError(str(path), ["it is nested too deeply"]) from None


def read_table(table: Any, place: str, kind: type[T]) -> tuple[T | None, list[str]]:
    """The table as a `kind`, a dataclass, and its faults, each as `place.key: what it must be`.

    Ranges stand in the types, `Annotated[int, msgspec.Meta(ge=1)]`. A `description` there says what the value must be
    where the range alone would not, an example what to write where a needed key is missing, and
    `extra={"secret": True}` keeps a value out of messages. A field that is a dataclass, or a list of them, is a table
    of its own. Where a value is faulty its default stands, so that checks that look at several values can go on and
    name their faults too; None where there is no such default.
    """
    if not isinstance(table, Mapping):
        return None, [f"{place}: must be a table, [{place}], not {_shown(table)}"]
    types = get_type_hints(kind, include_extras=True)
    fields = {field.name: field for field in dataclasses.fields(kind)}  # type: ignore[arg-type]
    faults, values, lacking = [], {}, False
    for key, value in table.items():
        if key not in fields:
            faults.append(unknown_key(place, key, fields))
            continue
        found, wrong = _read(value, placed(place, key), types[key])
        faults += wrong
        if found is not None:
            values[key] = found
    for key, field in fields.items():
        needed = field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING
        lacking |= needed and key not in values
        if needed and key not in table:
            faults.append(f"{placed(place, key)}: missing; {_wanted(key, types[key])}")
    return None if lacking else kind(**values), faults


def placed(place: str, key: str) -> str:
    """Where a key stands: `calls.k`, or `k` at the top of the file."""
    return f"{place}.{key}" if place else key


def unknown_key(place: str, key: str, known: Iterable[str]) -> str:
    """The fault of a key that nobody knows."""
    close = difflib.get_close_matches(key, list(known), n=1)
    nearby = f"did you mean {close[0]}?" if close else f"known are: {', '.join(known)}"
    return f"{placed(place, key)}: unknown; {nearby}"


def _read(value: Any, place: str, kind: Any) -> tuple[Any, list[str]]:
    import msgspec

    inner: Any = next((part for part in (kind, *get_args(kind)) if dataclasses.is_dataclass(part)), None)
    if inner is not None and get_origin(kind) is list:
        return _read_list(value, place, inner)
    if inner is not None:
        return read_table(value, place, inner)
    if isinstance(value, float) and not math.isfinite(value) and kind is not Any:
        return None, [f"{place}: must be a finite number, not {value}"]
    try:
        return msgspec.convert(value, kind), []
    except msgspec.ValidationError:
        return None, [f"{place}: must be {_said(kind)}, not {_shown(value, kind)}"]


def _read_list(value: Any, place: str, kind: type[T]) -> tuple[list[T] | None, list[str]]:
    """Tables in two brackets, each by its number."""
    if not isinstance(value, list):
        return None, [f"{place}: must be a list of tables, [[{place}]], not {_shown(value)}"]
    read = [read_table(table, f"{place} {number}", kind) for number, table in enumerate(value, start=1)]
    return [found for found, _ in read if found is not None], [fault for _, faults in read for fault in faults]


def _said(kind: Any) -> str:
    import msgspec.inspect

    about = msgspec.inspect.type_info(kind)
    return " or ".join(_described(about))


def _described(about: Any) -> Iterator[str]:
    """What a value must be, from msgspec's view of its type."""
    name = type(about).__name__
    if name == "Metadata":
        said = (about.extra_json_schema or {}).get("description")
        yield from [said] if said else _described(about.type)
    elif name == "UnionType":
        for part in about.types:
            yield from _described(part) if type(part).__name__ != "NoneType" else []
    elif name == "LiteralType":
        words = ", ".join(map(str, about.values))
        yield f"one of {words}" if len(about.values) > 1 else f'"{words}"'
    elif name in ("ListType", "VarTupleType"):
        item = type(about.item_type).__name__
        yield f"a list of {_PLAIN[item][1]}" if item in _PLAIN else "a list"
    else:
        yield _PLAIN.get(name, ("a value of another kind", ""))[0] + _range(about)


def _range(about: Any) -> str:
    least, most = getattr(about, "ge", None), getattr(about, "le", None)
    above, below = getattr(about, "gt", None), getattr(about, "lt", None)
    if least is not None and most is not None:
        return f" between {least:g} and {most:g}"
    parts = (("of at least", least), ("above", above), ("of at most", most), ("below", below))
    return "".join(f" {word} {end:g}" for word, end in parts if end is not None)


def _wanted(key: str, kind: Any) -> str:
    """How to write a key that is missing."""
    import json

    for meta in _metas(kind):
        if meta.examples:
            return f"write {key} = {json.dumps(meta.examples[0], ensure_ascii=False)}"
    return f"it must be {_said(kind)}"


def _shown(value: Any, kind: Any = None) -> str:
    if any((meta.extra or {}).get("secret") for meta in _metas(kind)):
        return "***"
    text = repr(value)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."


def _metas(kind: Any) -> Iterator[Any]:
    """What is annotated to a type and its parts."""
    yield from getattr(kind, "__metadata__", ())
    for part in get_args(kind):
        if get_args(part):
            yield from _metas(part)
