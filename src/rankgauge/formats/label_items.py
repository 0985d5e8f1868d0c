"""One label as an object of JSON."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any, Final

from rankgauge.errors import DataError
from rankgauge.formats.json_values import id_of
from rankgauge.model.labels import Label

__all__ = ["item_of", "label_of"]

_NAMES: Final = tuple(field.name for field in fields(Label))
_DEFAULTS: Final = {field.name: field.default for field in fields(Label)}
_NEEDED: Final = ("query", "doc", "grade", "judge")


def item_of(label: Label) -> dict[str, Any]:
    """What is at its default is left out."""
    values = {name: getattr(label, name) for name in _NAMES}
    return {name: value for name, value in values.items() if name in _NEEDED or value != _DEFAULTS[name]}


def label_of(item: Any) -> Label:
    """A label from the object of its line."""
    if not isinstance(item, Mapping):
        raise DataError('a label is an object such as {"query": "q1", "doc": "d1", "grade": 2, "judge": "ana"}')
    if missing := [name for name in _NEEDED if name not in item]:
        raise DataError(f'it has no "{missing[0]}"')
    if unknown := sorted(set(item) - set(_NAMES)):
        raise DataError(f'"{unknown[0]}" is no part of a label; known are {", ".join(_NAMES)}')
    ids = {"query": id_of(item["query"], "query"), "doc": id_of(item["doc"], "document")}
    return Label(**{**item, **ids})
