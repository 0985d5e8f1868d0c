"""Paths into results, such as `metadata['id']`: through dictionaries, lists and attributes."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from rankgauge.errors import RetrieverError
from rankgauge.formats.secrets import masked

__all__ = [
    "ABSENT",
    "HOLDERS",
    "Field",
    "Path",
    "empty",
    "fields_of",
    "follow",
    "parse_path",
    "row_of",
    "shown",
    "signed_path",
    "step_text",
]

Path = tuple[str | int | None, ...]
"""Steps into a value: a name, a number, or None for every element."""
ABSENT: Final = object()
HOLDERS: Final = ("metadata", "meta", "payload")
"""Where libraries keep what the user stored beside a text."""
_READ: Final = 1 << 12  # characters of a value that are looked at for what to show of it
_PLAIN = re.compile(r"[^.\[\]'\"\s]+")
_STEP = re.compile(
    r"""(?P<dot>\.?)(?P<name>[^.\[\]'"\s]+) | \[\s*(?P<number>-?\d+)\s*\]
      | \[\s*(?:'(?P<single>[^']*)'|"(?P<double>[^"]*)")\s*\] | (?P<each>\[\s*\*\s*\])""",
    re.VERBOSE,
)


def parse_path(text: str, *, each: bool = False) -> Path:
    """Steps of a path such as `metadata['id']`, `metadata.id`, `[0].id`; with `each`, `$.hits[*].id` too."""
    example = "$.hits[*].id" if each else "metadata['id'] or metadata.id"
    rest = text.strip().removeprefix("$") if isinstance(text, str) else ""
    if not rest and not (each and text == "$"):
        raise RetrieverError(f"{text!r} is no path; write one such as {example}")
    steps: list[str | int | None] = []
    place = 0
    while place < len(rest):
        step = _STEP.match(rest, place)
        if step is None or (step["name"] and steps and not step["dot"]) or (step["each"] and not each):
            raise RetrieverError(f"the path {text!r} cannot be read from {rest[place:]!r} on; write it as {example}")
        if step["number"]:
            steps.append(int(step["number"]))
        else:
            steps.append(next((step[kind] for kind in ("name", "single", "double") if step[kind] is not None), None))
        place = step.end()
    return tuple(steps)


def step_text(name: str) -> str:
    """A name as a step of a path: as it is, or in brackets where it holds what would end it."""
    return name if _PLAIN.fullmatch(name) else f"[{name!r}]"


def signed_path(text: str) -> tuple[Path, bool]:
    """A path, and whether a `-` before it says that smaller is better."""
    return parse_path(text.removeprefix("-")), text.startswith("-")


def follow(value: Any, path: Path, absent: Any = None) -> Any:
    """What lies at the end of a path: keys of dictionaries, elements of lists, attributes of objects, parts of rows."""
    for step in path:
        kind = type(value)
        if kind is dict or isinstance(value, Mapping):
            value = value.get(step, ABSENT)
            if value is ABSENT:
                return absent
            continue
        if _is_row(kind):
            value = tuple(value) if isinstance(step, int) else row_of(value)
        if isinstance(step, int):
            inside = isinstance(value, Sequence) and not isinstance(value, str) and -len(value) <= step < len(value)
            value = value[step] if inside else ABSENT
        elif isinstance(value, dict):  # of a row
            value = value.get(str(step), ABSENT)
        else:
            value = getattr(value, str(step), ABSENT)
        if value is ABSENT:
            return absent
    return value


_ROWS: dict[type, bool] = {}  # by class: every result of every list is looked at


def _is_row(kind: type) -> bool:
    """Whether objects of a class are rows of a database that have names: `sqlite3.Row`, which is neither a mapping nor
    a sequence, and others of its looks."""
    known = _ROWS.get(kind)
    if known is None:
        looks = callable(getattr(kind, "keys", None)) and hasattr(kind, "__getitem__") and hasattr(kind, "__len__")
        known = _ROWS[kind] = looks and not issubclass(kind, Mapping)
    return known


def row_of(value: Any) -> dict[str, Any] | None:
    """The columns of a row of a database by name; None for all else. Of two columns of one name the first counts."""
    if not _is_row(type(value)):
        return None
    found: dict[str, Any] = {}
    for name, cell in zip(value.keys(), tuple(value), strict=False):
        found.setdefault(str(name), cell)
    return found


def empty(value: Any) -> bool:
    return value is None or (isinstance(value, str | bytes) and not value)


class Field:
    """A field to look for: under the path given, or under the first of several that holds something."""

    def __init__(self, given: str | None, defaults: Sequence[tuple[Path, bool]]) -> None:
        self.given = given
        self._paths = defaults if given is None else [signed_path(given)]

    def place(self, entry: Any) -> str:
        """The path under which `find` finds the value, without its sign; empty where there is none."""
        for path, _ in self._paths:
            value = follow(entry, path, ABSENT)
            if value is not ABSENT and not empty(value) and not callable(value):
                return ".".join(step_text(str(step)) for step in path)
        return ""

    def find(self, entry: Any) -> tuple[Any, bool]:
        """The value and whether smaller is better; None when a field is there but empty, ABSENT when there is none."""
        found: Any = ABSENT
        for path, negative in self._paths:
            value = follow(entry, path, ABSENT)
            if empty(value):
                found = None
            elif value is not ABSENT and not callable(value):  # a method is no value
                return value, negative
        return found, False


def shown(value: Any) -> str:
    """A value for a message: its beginning and its type. Masked before it is cut: half a key would not be found."""
    text = masked(repr(value)[:_READ])
    return f"{text if len(text) <= 80 else text[:77] + '...'} ({type(value).__name__})"


def fields_of(entry: Any) -> str:
    """The fields of a result, for people to choose from."""
    row = row_of(entry)
    if row is not None or isinstance(entry, Mapping):
        names = [str(name) for name in (entry if row is None else row)]
    else:
        own: Any = getattr(type(entry), "model_fields", None) or getattr(entry, "__dict__", ())
        names = [name for name in own or getattr(entry, "_fields", ()) if not name.startswith("_")]
    held = [(name, follow(entry, (name,))) for name in dict.fromkeys([*HOLDERS, *names])]
    inner = [f"{holder}.{name}" for holder, value in held if isinstance(value, Mapping) for name in value]
    listed = ", ".join([*names, *inner][:15])
    return f"seen: a {type(entry).__name__}" + (f" with {listed}" if listed else "")
