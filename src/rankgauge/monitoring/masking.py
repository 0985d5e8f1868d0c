"""Texts from elsewhere made fit for a log: what looks like a secret is masked, and each entry stays on its line.

The secrets of a plan are known and masked exactly (`scrubbing`). What a retriever's exception tells is not known: there
everything that is written like a secret is taken for one.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rankgauge.formats.secrets import masked
from rankgauge.words.visible import visible as one_line

__all__ = ["masked", "masked_record", "one_line"]


def masked_record(record: Mapping[str, Any]) -> dict[str, Any]:
    """The record, in which everything that retrievers said is masked; ids, scores and texts of queries stay."""
    systems = [
        {**entry, "calls": _masked(entry["calls"])} if entry.get("calls") else entry for entry in record["systems"]
    ]
    told = {"invalid": _masked(record["invalid"])} if record.get("invalid") else {}
    return {**record, "systems": systems, **told}


def _masked(value: Any) -> Any:
    if isinstance(value, str):
        return masked(value)
    if isinstance(value, list):
        return [_masked(entry) for entry in value]
    if not isinstance(value, dict):
        return value
    found: dict[str, Any] = {}
    for key, entry in value.items():
        name = masked(key)
        both = name in found and isinstance(entry, int)  # errors are counted by text; two may be one by now
        found[name] = found[name] + entry if both else _masked(entry)
    return found
