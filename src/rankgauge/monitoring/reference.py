"""The baseline a plan names: what its looks are held against from the first one on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from rankgauge.errors import DataError, RankgaugeError
from rankgauge.evaluation.old_identity import identity_of
from rankgauge.formats import Source
from rankgauge.gate.baseline import is_file_name
from rankgauge.history.baselines import baseline_record
from rankgauge.history.store import History
from rankgauge.monitoring.plan import MonitorPlan
from rankgauge.monitoring.watching import figures_of

__all__ = ["Reference", "in_file", "load_reference"]

_REMEDY = "keep one of this test set: rankgauge baseline set NAME RECORD.json"


@dataclass(frozen=True)
class Reference:
    """A baseline's scores, by system, measure and query, and what they are scores of."""

    scores: Mapping[str, Mapping[str, Mapping[str, float]]]
    test_set: str | None
    contract: str | None

    def holds_for(self, record: Mapping[str, Any]) -> bool:
        """Whether a record measures the same quantity; what is not known does not stand against it."""
        found = identity_of(record)
        pairs = ((self.test_set, found.test_set), (self.contract, found.contract))
        return all(ours is None or theirs is None or ours == theirs for ours, theirs in pairs)


def in_file(plan: MonitorPlan) -> bool:
    """Whether the plan's baseline is a file beside it, and not a name in the history."""
    return plan.baseline is not None and (is_file_name(plan.baseline) or (plan.run.folder / plan.baseline).is_file())


def load_reference(history: History, plan: MonitorPlan) -> Reference | None:
    """The plan's baseline with scores for each of its systems, checked; None where it names none."""
    if plan.baseline is None or plan.watching.stream:
        return None
    try:
        record, named = baseline_record(history, plan.baseline, plan.run.folder)
        scores = {system.name: _scores(record, named or _of(record, system.name), plan) for system in plan.run.systems}
        identity = identity_of(record)
        if identity.test_set not in (None, Source(plan.run.test_set).sha256()):
            raise DataError(f"{plan.baseline} was measured on another test set; {_REMEDY}")
    except RankgaugeError as error:
        raise DataError(f"monitor.baseline: {error}") from None
    return Reference(scores, identity.test_set, identity.contract)


def _of(record: Mapping[str, Any], system: str) -> str:
    names = [entry["name"] for entry in record["systems"]]
    if system not in names and len(names) > 1:
        raise DataError(f"it has the systems {', '.join(names)}, and none is named {system!r}")
    return system if system in names else str(names[0])


def _scores(record: Mapping[str, Any], system: str, plan: MonitorPlan) -> Mapping[str, Mapping[str, float]]:
    from rankgauge.evaluation import make_plan

    wanted = [str(measure) for measure in make_plan(plan.run.measures, plan.run.contract).measures]
    scores = {measure: found for measure, found in figures_of(record, system).scores.items() if measure in wanted}
    if not scores:
        raise DataError(f"{plan.baseline} has none of the plan's measures ({', '.join(wanted)}); {_REMEDY}")
    return scores
