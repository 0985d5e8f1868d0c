"""Whether a system is broken when its watch begins: what is learned from it would be taken as normal."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress

from rankgauge.errors import DataError
from rankgauge.gating.checks import check_target
from rankgauge.gating.rules import GateRules
from rankgauge.gating.sides import Sides
from rankgauge.gating.targets import Target, scenario_targets
from rankgauge.monitoring.detection.figures import Figures
from rankgauge.record import Record
from rankgauge.words import Note

__all__ = ["missed_targets", "nothing_found"]


def nothing_found(record: Record, found: Figures) -> dict[str, Note]:
    """The first measure of which more is better, where every query that counts scored 0."""
    measure = next((about for about in record.measures if not about.lower_is_better), None)
    if measure is None or (measure.bounds is not None and measure.bounds[0] != 0):
        return {}
    scores = found.scores.get(measure.name, {})
    counted = [value for query, value in scores.items() if query not in found.drifted]
    if not counted or any(counted):
        return {}
    return {measure.name: Note("monitor.nothing_found", {"measure": measure.name, "queries": len(counted)})}


def missed_targets(record: Record, system: str, rules: GateRules) -> dict[str, Note]:
    """The plan's own targets and floors that a system misses, by measure. Those beside a baseline are a gate's."""
    if rules.system not in (None, system):
        return {}
    sides = Sides(record, record.system(system), None)
    found: dict[str, Note] = {}
    for target in _absolute(record, rules):
        with suppress(DataError):  # no query counts for it this time
            rule = check_target(sides, target)
            if rule.status == "broken":
                told = {"target": target.text, "value": rule.values["value"]}
                found.setdefault(str(rule.values["measure"]), Note("monitor.missed_target", told))
    return found


def _absolute(record: Record, rules: GateRules) -> Iterator[Target]:
    yield from (target for target in (*rules.targets, *rules.floors) if target.relation == "absolute")
    if rules.scenario is not None:
        with suppress(DataError):  # the record has none of its measures, which the plan's check tells
            yield from scenario_targets(record, rules.scenario)[0]
