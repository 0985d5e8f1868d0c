"""Two records of one system, made ready to be compared."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rankgauge.errors import DataError

__all__ = ["paired", "without_advice"]

Record = Mapping[str, Any]


def paired(documents: Sequence[Record], names: Sequence[str], system: str | None = None) -> list[dict[str, Any]]:
    """The records with one system each, which then carries its record's name.

    The system is the one asked for, else the only one of each record, else the only one they share.
    """
    if names[0] == names[1]:
        raise DataError(f"{names[0]} is compared with itself; name two records")
    known = [[entry["name"] for entry in document["systems"]] for document in documents]
    chosen = [_chosen(own, known, system, name) for own, name in zip(known, names, strict=True)]
    found = []
    for document, wanted, name in zip(documents, chosen, names, strict=True):
        entry = next(entry for entry in document["systems"] if entry["name"] == wanted)
        found.append({**document, "systems": [{**entry, "name": f"{wanted} {name}"}]})
    return found


def _chosen(own: Sequence[str], known: Sequence[Sequence[str]], system: str | None, name: str) -> str:
    if system is not None:
        if system not in own:
            raise DataError(f"record {name} has no system {system!r}; it has: {', '.join(own)}")
        return system
    if all(len(names) == 1 for names in known):
        return own[0]
    shared = [entry for entry in known[0] if all(entry in names for names in known)]
    if len(shared) == 1:
        return shared[0]
    listed = ", ".join(shared) if shared else "no system in common; name two records of one system"
    raise DataError(f"the records hold several systems; choose one with --system: {listed}")


def without_advice(record: dict[str, Any], remarks: Sequence[tuple[str, str]]) -> dict[str, Any]:
    """A comparison record whose first word is the warning, where records that were not made alike were compared."""
    forced = next((remark for remark in remarks if "was forced" in remark[0]), None)
    if forced is None:
        return record
    summary = {
        "en": [
            f"WARNING: {forced[0]}. A difference may come from what was measured and not from the system, so that no "
            "advice follows from it."
        ],
        "zh": [f"警告：{forced[1]}。差值可能来自测量方式的不同，而不是系统本身，因此不能据此给出建议。"],
    }
    return {**record, "comparison": {**record["comparison"], "summary": summary}}
