"""Entries of foreign files: their faults are told together, each with its place."""

from __future__ import annotations

import ast
import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from rankgauge.errors import DataError

__all__ = ["FaultsError", "each", "entries_of", "list_of", "text_of"]

T = TypeVar("T")


class FaultsError(DataError):
    """All that is wrong with the entries of a file."""

    def __init__(self, faults: Sequence[str]) -> None:
        super().__init__("; ".join(faults))
        self.faults = list(faults)


def each(items: Sequence[Any], read: Callable[[Any], T], place: str = "") -> list[T]:
    """Every entry read, or all their faults."""
    made, faults = [], []
    for number, item in enumerate(items, start=1):
        try:
            made.append(read(item))
        except FaultsError as error:
            faults += error.faults
        except DataError as error:
            faults.append(f"{f'{place}, ' if place else ''}entry {number}: {error}")
    if faults:
        raise FaultsError(faults)
    return made


def entries_of(value: Any, what: str) -> list[Mapping[str, Any]]:
    """A list of objects."""
    if not isinstance(value, list) or not all(isinstance(item, Mapping) for item in value):
        raise DataError(f'"{what}" must be a list of objects')
    return value


def text_of(item: Mapping[str, Any], *keys: str) -> str:
    """The text under the first of the keys that is there."""
    found = next((item[key] for key in keys if item.get(key) not in (None, "")), None)
    if not isinstance(found, str):
        raise DataError(f"it has no text under {' or '.join(map(repr, keys))}")
    return found


def list_of(value: Any) -> list[Any]:
    """A list; in a table it is written as JSON or as Python shows it, and any other text is one item."""
    if isinstance(value, str) and value.strip()[:1] == "[":
        for parse in (json.loads, ast.literal_eval):
            try:
                value = parse(value)
                break
            except (ValueError, SyntaxError, MemoryError, RecursionError):
                continue
    if value is None or value == "":
        return []
    return list(value) if isinstance(value, list | tuple) else [value]
