"""Were the answers behind a record's scores measured for it? Cached ones may be those of an older system."""

from __future__ import annotations

from rankgauge.errors import DataError
from rankgauge.gating.baseline import Baseline
from rankgauge.record import Record
from rankgauge.words import Note

__all__ = ["check_baseline_measured", "check_measured"]


def check_measured(record: Record, system: str, *, allowed: bool, baseline: str | None = None) -> list[Note]:
    """Raise `DataError` where answers may be out of date, with the remedy; if that is allowed, what to warn of."""
    calls = record.system(system).calls
    kept = 0 if calls is None or calls.proven else calls.kept
    if not kept:
        return []
    if allowed:
        key, named = ("gate.cached", {}) if baseline is None else ("gate.cached_baseline", {"baseline": baseline})
        return [Note(key, {**named, "system": system, "n": kept}, "warning")]
    what = "the record" if baseline is None else f"the baseline {baseline}"
    raise DataError(
        f"{what}: {kept} cached {'answer' if kept == 1 else 'answers'} of {system} were not measured for it, and it is "
        "not proven that the system would still answer so; measure it again with rankgauge run PLAN.toml --fresh, or "
        "take the cached answers knowingly with `allow='cached'`"
    )


def check_baseline_measured(baseline: Baseline, system: str, *, allowed: bool) -> list[Note]:
    """The same for what a system is held against. A baseline with a version was looked at when it was set."""
    if baseline.record is None:
        return []
    other, accepted = baseline.system_for(system).name, allowed or baseline.version is not None
    return check_measured(baseline.record, other, allowed=accepted, baseline=baseline.name)
