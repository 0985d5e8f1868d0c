"""Is what a gate is given evidence at all? Age and date, a record held against itself, a baseline that moved along."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from pathlib import Path

from rankgauge.errors import DataError
from rankgauge.formats.git import UnknownChangeError, changed_files
from rankgauge.gating.baseline import Baseline
from rankgauge.record import Record
from rankgauge.words import Note

__all__ = ["check_age", "dubious", "synthetic_remarks"]

_CLOCKS = datetime.timedelta(hours=1)
"""How far the clocks of two machines may be apart."""


def check_age(
    baseline: str | None,
    created: datetime.datetime | None,
    limit: datetime.timedelta | None,
    now: datetime.datetime,
    remedy: str = "measure again",
) -> list[Note]:
    """Of a baseline by its name, or of the record.

    Raise `DataError` where scores are older than allowed; a date in the future, which no limit holds, is told.
    """
    what = "the record" if baseline is None else f"the baseline {baseline}"
    if limit is not None and created is None:
        raise DataError(f"{what} does not tell when its means were measured, so its age cannot be limited")
    if created is None:
        return []
    day = f"{created:%Y-%m-%d}"
    if created > now + _CLOCKS:
        if limit is not None:
            raise DataError(f"{what} is dated {day}, which lies in the future, so its age cannot be limited: {remedy}")
        about = {"time": f"{created:%Y-%m-%d %H:%M}"}
        if baseline is None:
            return [Note("gate.record_from_future", about, "warning")]
        return [Note("gate.from_future", {"baseline": baseline, **about}, "warning")]
    if limit is not None and now - created > limit:
        ago = now - created
        told = f"{ago.days} days" if ago.days > 2 else f"{ago.total_seconds() / 3600:.0f} hours"
        raise DataError(
            f"{what} was measured {told} ago, on {day}; the oldest allowed is {limit.total_seconds() / 86400:g} days: "
            f"{remedy}"
        )
    return []


def dubious(record: Record, system: str, baseline: Baseline) -> list[Note]:
    """Why a pass might say nothing."""
    if _same(record, system, baseline):
        return [Note("gate.same_record", {"baseline": baseline.name}, "warning")]
    return [] if baseline.path is None else _moved_along(Path(baseline.path))


def synthetic_remarks(record: Record, system: str, measures: Sequence[str]) -> list[Note]:
    """A warning where the verdict is, wholly or in part, about queries that no person asked."""
    if not record.synthetic:
        return []
    from rankgauge.evaluation.synthetic import notes_in  # most queries are real

    return notes_in(record, system, list(measures) or [about.name for about in record.measures])


def _same(record: Record, system: str, baseline: Baseline) -> bool:
    """Whether both are one measurement; an exported baseline has lost its texts and lists."""
    other = baseline.record
    if other is None or (record.created, record.provenance) != (other.created, other.provenance):
        return False
    return record.system(system) == baseline.system_for(system)


def _moved_along(path: Path) -> list[Note]:
    """A baseline under version control, changed together with other files."""
    path = path.parent.resolve() / path.name
    try:
        found = changed_files(path)
    except UnknownChangeError:
        return [Note("gate.change_unknown", {"baseline": path.name}, "warning")]
    same = {path, path.resolve()}  # of a link, itself or what it leads to
    if found is None or not same & set(found[1]):
        return []
    start, files = found
    others = [file for file in files if file not in same]
    if not others:
        return []
    about = {"baseline": path.name, "n": len(others), "example": others[0].name, "start": start[:10]}
    return [Note("gate.moved_along", about, "warning")]
