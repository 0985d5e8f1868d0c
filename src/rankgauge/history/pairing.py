"""Two records of one system, made ready to be compared."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from rankgauge.errors import DataError
from rankgauge.record import Record

__all__ = ["paired"]


def paired(records: Sequence[Record], names: Sequence[str], system: str | None = None) -> list[Record]:
    """The records with one system each, which then carries its record's name.

    The system is the one asked for, else the only one of each record, else the only one they share.
    """
    if names[0] == names[1]:
        raise DataError(f"{names[0]} is compared with itself; name two records")
    if system is None and any(len(record.systems) > 1 for record in records):
        system = _shared(records)
    chosen = [record.system(system, f"record {name}") for record, name in zip(records, names, strict=True)]
    return [
        replace(record, systems=[replace(one, name=f"{one.name} {name}")])
        for record, one, name in zip(records, chosen, names, strict=True)
    ]


def _shared(records: Sequence[Record]) -> str:
    known = [{one.name for one in record.systems} for record in records]
    shared = [one.name for one in records[0].systems if all(one.name in names for names in known)]
    if len(shared) == 1:
        return shared[0]
    listed = ", ".join(shared) if shared else "no system in common; name two records of one system"
    raise DataError(f"the records hold several systems; choose one with `system=`: {listed}")
