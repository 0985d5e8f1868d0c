"""The gate: may this record take the place of the baseline? Pass, regression, broken rule, or inconclusive.

result = gate(record, baseline, max_loss="5%", targets=["R@10 >= 0.8"])
result.status, result.accepted, result.rules
"""

from __future__ import annotations

import datetime
from collections.abc import Mapping, Sequence
from typing import Any

from rankgauge.arguments import named_arguments
from rankgauge.errors import DataError
from rankgauge.formats.durations import in_utc
from rankgauge.gating.baseline import Baseline, as_baseline
from rankgauge.gating.checks import (
    check_errors,
    check_evaluated,
    check_judged,
    check_latency,
    check_measure,
    check_missing,
    check_target,
    check_threshold,
    few_queries,
    in_conversations,
    left_out,
)
from rankgauge.gating.comparability import check_comparable, check_directions, remark
from rankgauge.gating.evidence import check_age, synthetic_remarks
from rankgauge.gating.freshness import check_baseline_measured, check_measured
from rankgauge.gating.outcome import GateResult, Rule
from rankgauge.gating.rules import GateRules
from rankgauge.gating.sides import Sides
from rankgauge.gating.targets import scenario_targets, target_measure
from rankgauge.record import Record, as_record
from rankgauge.words import Note

__all__ = ["gate"]

Found = tuple[list[Rule], list[Note]]


@named_arguments
def gate(
    record: Record | Any,
    baseline: Baseline | Record | Mapping[str, float] | Any = None,
    *,
    rules: GateRules | Mapping[str, Any] | None = None,
    system: str | None = None,
    measures: str | Sequence[str] | None = None,
    max_loss: str | float | None = None,
    alpha: float | None = None,
    targets: str | Sequence[str] | None = None,
    scenario: str | None = None,
    floors: str | Sequence[str] | None = None,
    latency: str | Sequence[str] | None = None,
    max_errors: int | None = None,
    min_judged: str | float | None = None,
    max_age: str | datetime.timedelta | None = None,
    max_record_age: str | datetime.timedelta | None = None,
    on_inconclusive: str | None = None,
    allow: str | Sequence[str] | None = None,
    now: datetime.datetime | None = None,
) -> GateResult:
    """Hold a record against a baseline and against rules.

    The record is one, a result that has one, or its file. The baseline is a record likewise, a `Baseline`
    (`load_baseline`, `find_baseline`), or means by measure; without one, only the other rules are checked. The rules
    are `GateRules`, or its fields by name: `max_loss="5%"`, `targets=["R@10 >= 0.8"]`,
    `floors=["tag:billing R@10 >= 0.6"]`, `latency=["p95 <= 200ms"]`, `on_inconclusive="fail"` ...
    """
    wanted = _rules(
        rules,
        system=system,
        measures=measures,
        max_loss=max_loss,
        alpha=alpha,
        targets=targets,
        scenario=scenario,
        floors=floors,
        latency=latency,
        max_errors=max_errors,
        min_judged=min_judged,
        max_age=max_age,
        max_record_age=max_record_age,
        on_inconclusive=on_inconclusive,
        allow=allow,
    )
    record, baseline = as_record(record), as_baseline(baseline)
    if now is not None and not isinstance(now, datetime.datetime):
        raise DataError(f"`now` must be a datetime, not {now!r}")
    moment = in_utc(now or datetime.datetime.now(datetime.UTC))
    settings = wanted.with_baseline_settings(
        None if baseline is None else baseline.max_loss, () if baseline is None else baseline.targets
    )
    created = moment.isoformat(timespec="seconds")
    failed = check_evaluated(record, settings.system)
    if failed is not None and all(one.name != settings.system for one in record.systems):
        return GateResult(settings.system or failed.name, baseline, settings, [failed], (), created)
    chosen = record.system(settings.system)
    sides = Sides(record, chosen, baseline)
    found: list[Rule] = [] if failed is None else [failed]
    remarks = check_age(None, record.created_at, settings.max_record_age, moment)
    remarks += check_measured(record, chosen.name, allowed="cached" in settings.allow)
    if baseline is not None:
        remarks += check_comparable(record, chosen.name, baseline, settings, moment)
        remarks += check_baseline_measured(baseline, chosen.name, allowed="cached" in settings.allow)
        compared, more = _thresholds(sides, settings) if baseline.record is None else _against(sides, settings)
        found += compared
        remarks += more
    others, more = _others(sides, settings)
    found += others
    more += synthetic_remarks(record, chosen.name, [rule.name for rule in found if rule.kind == "measure"])
    if not found and settings.max_errors is not None:
        raise DataError(
            f"errors <= {settings.max_errors} cannot be checked: no calls were made, for the lists of "
            f"{chosen.name} came from a file; give another rule, or measure it live: rankgauge run PLAN.toml"
        )
    if not found:
        raise DataError("there is nothing to check: give a baseline, a target or another rule")
    return GateResult(chosen.name, baseline, settings, found, [*remarks, *more], created)


def _rules(rules: GateRules | Mapping[str, Any] | None, **named: Any) -> GateRules:
    """The rules given together, or those given by name."""
    if rules is None:
        return GateRules.of(**named)
    also = [name for name, value in named.items() if value is not None]
    if also:
        raise DataError(f"give `{also[0]}` among the rules: with `rules`, no other rule is given beside them")
    return GateRules.given(rules)


def _against(sides: Sides, settings: GateRules) -> Found:
    """The measures held against the baseline's, query by query."""
    baseline, other, max_loss = sides.baseline, sides.other, settings.max_loss
    assert baseline is not None
    assert other is not None
    assert max_loss is not None
    chosen, remarks = _chosen(sides.record, other, f"the baseline {baseline.name}", settings.measures)
    check_directions(sides.record, baseline, chosen)
    relative = [target for target in (*settings.targets, *settings.floors) if target.relation != "absolute"]
    looked_at = dict.fromkeys([*chosen, *(target_measure(sides.record, target) for target in relative)])
    missing, loud = check_missing(sides, looked_at, allowed="missing" in settings.allow)
    tested = [check_measure(sides, name, max_loss, settings.alpha, len(chosen)) for name in chosen]
    remarks += [*left_out(tested, sides), *few_queries(tested, sides, max_loss, settings.alpha)]
    remarks += in_conversations(tested)
    untested = [about.name for about in other.measures if about.aggregate != "mean"]
    if untested and not settings.measures:
        remarks.append(remark("not_tested", measures=untested))
    return missing + tested, loud + remarks


def _chosen(record: Record, other: Record, what: str, measures: Sequence[str]) -> tuple[list[str], list[Note]]:
    """The measures to compare: those asked for, or all means that the baseline has."""
    means = [about.name for about in record.measures if about.aggregate == "mean"]
    if measures:
        chosen = list(dict.fromkeys(record.measure_name(name) for name in measures))
        for name in chosen:
            other.measure_name(name, what)
            if name not in means:
                raise DataError(f"{name} is no mean over queries, so it cannot be tested; give it a target instead")
        return chosen, []
    wanted = [about.name for about in other.measures if about.aggregate == "mean"]
    lost = [name for name in wanted if name not in means]
    if lost:
        left = [name for name in wanted if name in means]
        raise DataError(
            f"the record lacks {', '.join(lost)}, which {what} has; measure it again with them"
            + (f", or choose the measures to compare: `measures={left}`" if left else "")
        )
    added = [name for name in means if name not in wanted]
    return wanted, [remark("not_in_baseline", measures=added)] if added else []


def _thresholds(sides: Sides, settings: GateRules) -> Found:
    """The means of a plain baseline, each a threshold."""
    baseline = sides.baseline
    assert baseline is not None
    wanted = {sides.record.measure_name(name): value for name, value in baseline.thresholds.items()}
    for name, value in wanted.items():
        bounds = sides.record.measure(name).bounds
        if bounds is not None and not bounds[0] <= value <= bounds[1]:
            raise DataError(
                f"{baseline.name}: {name} = {value:g} lies outside its range, {bounds[0]:g} to {bounds[1]:g}; "
                "write the mean as rankgauge shows it"
            )
    if settings.measures:
        chosen = [sides.record.measure_name(name) for name in settings.measures]
        lacking = [name for name in chosen if name not in wanted]
        if lacking:
            raise DataError(f"{baseline.name} has no mean of {', '.join(lacking)}; it has: {', '.join(wanted)}")
        wanted = {name: wanted[name] for name in chosen}
    found = [check_threshold(sides, name, value) for name, value in wanted.items()]
    return found, [remark("only_means", baseline=baseline.name)]


def _others(sides: Sides, settings: GateRules) -> Found:
    """Targets, floors, latency, errors and judged documents."""
    targets, remarks = [*settings.targets], []
    if settings.scenario is not None:
        goals, lacking = scenario_targets(sides.record, settings.scenario)
        targets += goals
        if lacking:
            remarks.append(remark("scenario_lacks", scenario=settings.scenario, measures=lacking))
    found = [check_target(sides, target) for target in (*targets, *settings.floors)]
    found += [check_latency(sides, limit) for limit in settings.latency]
    errors = check_errors(sides, settings.max_errors or 0)
    if errors is not None:
        found.append(errors)
    elif settings.max_errors is not None:
        remarks.append(remark("errors_not_checked", most=settings.max_errors))
    if settings.min_judged is not None:
        found.append(check_judged(sides, settings.min_judged))
    return found, remarks
