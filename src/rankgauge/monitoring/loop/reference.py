"""The baseline a plan names: what its checks are held against from the first one on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from rankgauge.errors import DataError, RankgaugeError
from rankgauge.evaluation import make_plan
from rankgauge.formats import Source
from rankgauge.gating.freshness import check_baseline_measured
from rankgauge.history.baselines import scored_baseline
from rankgauge.history.store import History
from rankgauge.monitoring.detection.figures import figures_of
from rankgauge.monitoring.loop.plan import MonitorPlan
from rankgauge.record import Record
from rankgauge.record.comparability import differences
from rankgauge.record.identity import identity_of

__all__ = ["Reference", "load_reference"]

_REMEDY = "keep one of this test set: rankgauge baseline set NAME RECORD.json"


@dataclass(frozen=True)
class Reference:
    """A baseline, and its scores by system of the plan, measure and query."""

    record: Record
    scores: Mapping[str, Mapping[str, Mapping[str, float]]]

    def holds_for(self, record: Record) -> bool:
        """Whether a record measures the same quantity; what is not known does not stand against it."""
        known = [found.kind for found in differences(record, self.record) if found.told == 2]
        return "judgments" not in known and "contract" not in known


def load_reference(history: History, plan: MonitorPlan) -> Reference | None:
    """The plan's baseline with scores for each of its systems, checked; None where it names none."""
    if plan.baseline is None or plan.watching.stream:
        return None
    try:
        found = scored_baseline(history, plan.baseline, plan.run.folder)
        record = found.record
        assert record is not None
        held = {system.name: found.system or _of(record, system.name) for system in plan.run.systems}
        scores = {name: _scores(record, system, plan) for name, system in held.items()}
        for system in held.values():
            check_baseline_measured(replace(found, system=system), system, allowed=plan.allow == "cached")
        if identity_of(record).test_set not in (None, Source(plan.run.test_set).sha256()):
            raise DataError(f"{plan.baseline} was measured on another test set; {_REMEDY}")
    except RankgaugeError as error:
        raise DataError(f"monitor.baseline: {error}") from None
    return Reference(record, scores)


def _of(record: Record, system: str) -> str:
    """The system of a baseline with several that has the plan's name, or its only one."""
    names = [entry.name for entry in record.systems]
    return system if system in names or len(names) > 1 else names[0]


def _scores(record: Record, system: str, plan: MonitorPlan) -> Mapping[str, Mapping[str, float]]:
    wanted = [str(measure) for measure in make_plan(plan.run.measures, plan.run.contract).measures]
    scores = {measure: found for measure, found in figures_of(record, system).scores.items() if measure in wanted}
    if not scores:
        raise DataError(f"{plan.baseline} has none of the plan's measures ({', '.join(wanted)}); {_REMEDY}")
    return scores
