"""Lists of document ids: what an index holds."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import Any

from rankgauge.errors import DataError, Fault, FormatError
from rankgauge.formats.json_values import id_of, read_json, read_json_lines
from rankgauge.formats.sources import Source

__all__ = ["load_ids"]


def load_ids(path: str | os.PathLike[str]) -> frozenset[str]:
    """Ids from a text with one on each line, from a JSON list, or from JSON Lines with `_id` or `id`."""
    source = Source(path)
    begin = source.head().lstrip()[:1]
    if begin == b"{":
        return _ids(read_json_lines(source), source.name)
    if begin == b"[":
        listed = read_json(source)
        return _ids(enumerate(listed, start=1) if isinstance(listed, list) else (), source.name, "entry {}: ")
    found = frozenset(filter(None, map(str.strip, source.text().splitlines())))
    if not found:
        raise FormatError(source.name, ["it holds no ids; write one on each line"])
    return found


def _ids(items: Iterable[tuple[int, Any]], name: str, place: str = "") -> frozenset[str]:
    found, faults = set(), []
    for number, item in items:
        own = item.get("_id", item.get("id")) if isinstance(item, Mapping) else item
        try:
            found.add(id_of(own, "document"))
        except DataError as error:
            faults.append(Fault(f"{place.format(number)}{error}", None if place else number))
    if faults:
        raise FormatError(name, faults)
    return frozenset(found)
