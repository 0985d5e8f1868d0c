"""The gate: may this record take the place of the baseline? Pass, regression, broken rule, or honestly unsure.

result = gate(record, baseline, margin="5%", targets=["R@10 >= 0.8"])
result.status, result.accepted, result.rules
"""

from __future__ import annotations

import datetime
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from rankgauge.errors import DataError
from rankgauge.experiments.baseline import Baseline, baseline_of, choose_system
from rankgauge.experiments.gate_checks import (
    Rule,
    Sides,
    check_errors,
    check_judged,
    check_latency,
    check_measure,
    check_target,
    check_threshold,
)
from rankgauge.experiments.gate_identity import Remark, check_comparable
from rankgauge.experiments.gate_parts import check_parts
from rankgauge.experiments.gate_rules import GateRules
from rankgauge.experiments.targets import measure_in, scenario_targets
from rankgauge.measures.explanations import LANGUAGES
from rankgauge.stats.noninferiority import least_queries

__all__ = ["FORMAT", "GateResult", "gate"]

FORMAT = "rankgauge.gate"
VERSION = 1
Status = Literal["pass", "regression", "broken", "unsure"]


@dataclass(frozen=True)
class GateResult:
    """What the gate found."""

    system: str
    baseline: Baseline | None
    settings: GateRules
    rules: Sequence[Rule]
    remarks: Sequence[Remark] = ()
    """Warnings in English and Chinese."""
    created: str = field(default="")

    @property
    def status(self) -> Status:
        """What the figures say: `regression` if a measure surely lost more than the margin, else `broken` if another
        rule does not hold, else `unsure` if for some measure the queries do not suffice, else `pass`."""
        found = {rule.status for rule in self.rules}
        order: tuple[Status, ...] = ("regression", "broken", "unsure")
        return next((status for status in order if status in found), "pass")

    @property
    def accepted(self) -> bool | None:
        """What follows from it: True to go on, False to stop, None if it is left to the caller (`on_unsure=report`)."""
        if self.status != "unsure":
            return self.status == "pass"
        if self.settings.on_unsure == "auto":
            return not self.losses
        return {"pass": True, "fail": False, "report": None}[self.settings.on_unsure]

    @property
    def unsure(self) -> list[Rule]:
        return [rule for rule in self.rules if rule.status == "unsure"]

    @property
    def losses(self) -> list[Rule]:
        """Unsure rules whose observed loss is itself beyond the margin."""
        return [rule for rule in self.unsure if rule.values["mean"] < 0]

    def to_dict(self) -> dict[str, Any]:
        baseline, rules = self.baseline, self.settings
        created = None if baseline is None or baseline.created is None else baseline.created.isoformat()
        return {
            "format": FORMAT,
            "version": VERSION,
            "created": self.created,
            "status": self.status,
            "accepted": self.accepted,
            "system": self.system,
            "baseline": None
            if baseline is None
            else {"name": baseline.name, "number": baseline.version, "system": baseline.system, "created": created},
            "settings": {
                "margin": rules.margin,
                "alpha": rules.alpha,
                "on_unsure": rules.on_unsure,
                "allow": list(rules.allow),
            },
            "rules": [rule.to_dict() for rule in self.rules],
            "warnings": {language: [remark[i] for remark in self.remarks] for i, language in enumerate(LANGUAGES)},
        }


def gate(
    record: Mapping[str, Any],
    baseline: Baseline | Mapping[str, Any] | None = None,
    *,
    rules: GateRules | None = None,
    now: datetime.datetime | None = None,
    **choices: Any,
) -> GateResult:
    """Hold a record against a baseline and against rules.

    The baseline is a `Baseline` (`load_baseline`, `history.baselines`) or a record; without one, only the other rules
    are checked. The rules are `GateRules`, or its fields by name: `margin="5%"`, `targets=["R@10 >= 0.8"]`,
    `floors=["tag:billing R@10 >= 0.6"]`, `latency=["p95 <= 200ms"]`, `on_unsure="fail"` ...
    """
    wanted = rules or GateRules.of(**choices)
    if baseline is not None and not isinstance(baseline, Baseline):
        baseline = baseline_of(baseline, "the baseline")
    check_parts(record, "the record")
    if baseline is not None and baseline.record is not None:
        check_parts(baseline.record, f"the baseline {baseline.name}")
    moment = now or datetime.datetime.now(datetime.UTC)
    settings = wanted.with_baseline_settings(
        None if baseline is None else baseline.margin, () if baseline is None else baseline.targets
    )
    created = moment.isoformat(timespec="seconds")
    invalid = _invalid(record, settings.system)
    if invalid is not None and not any(entry["name"] == settings.system for entry in record["systems"]):
        return GateResult(settings.system or "?", baseline, settings, [invalid], (), created)
    entry = choose_system(record, settings.system)
    remarks = [] if baseline is None else check_comparable(record, baseline, settings, moment)
    sides = Sides(record, entry, baseline)
    found: list[Rule] = [] if invalid is None else [invalid]
    if baseline is not None:
        compared, more = _against(sides, baseline, settings)
        found += compared
        remarks += more
    targets = list(settings.targets)
    if settings.scenario is not None:
        goals, missing = scenario_targets(record, settings.scenario)
        targets += goals
        if missing:
            names = ", ".join(missing)
            remarks.append(
                (
                    f"the scenario {settings.scenario} has targets for {names} too, which the record does not have",
                    f"场景 {settings.scenario} 还有 {names} 的目标，但记录中没有这些指标",
                )
            )
    found += [check_target(sides, target) for target in (*targets, *settings.floors)]
    found += [check_latency(sides, limit) for limit in settings.latency]
    errors = check_errors(sides, settings.max_errors)
    found += [] if errors is None else [errors]
    if settings.min_judged is not None:
        found.append(check_judged(sides, settings.min_judged))
    if not found:
        raise DataError("there is nothing to check: give a baseline, a target or another rule")
    return GateResult(entry["name"], baseline, settings, found, remarks, created)


def _invalid(record: Mapping[str, Any], system: str | None) -> Rule | None:
    """Systems that could not be evaluated at all: the one asked for, or any where none is named."""
    failed = {
        name: reason
        for name, reason in (record.get("invalid") or {}).items()
        if not reason.startswith("sweep of ") and (system is None or name == system)
    }
    if not failed:
        return None
    reasons = "; ".join(failed.values())
    message = {"en": f"could not be evaluated: {reasons}", "zh": f"无法评测：{reasons}"}
    return Rule("errors", ", ".join(failed), "broken", {"value": len(failed), "goal": 0, "met": False}, message)


def _against(sides: Sides, baseline: Baseline, settings: GateRules) -> tuple[list[Rule], list[Remark]]:
    """The measures held against the baseline."""
    margin = settings.margin
    assert margin is not None
    if baseline.record is None:
        return _thresholds(sides, baseline, settings)
    means = [measure["name"] for measure in sides.record["measures"] if measure["aggregate"] == "mean"]
    remarks: list[Remark] = []
    if settings.measures:
        chosen = [measure_in(sides.record, name) for name in settings.measures]
        for name in chosen:
            measure_in(baseline.record, name, f"the baseline {baseline.name}")
            if name not in means:
                raise DataError(f"{name} is no mean over queries, so it cannot be tested; give it a target instead")
    else:
        wanted = [measure["name"] for measure in baseline.record["measures"] if measure["aggregate"] == "mean"]
        lost = [name for name in wanted if name not in means]
        if lost:
            left = " ".join(f"-m {name!r}" for name in wanted if name in means)
            raise DataError(
                f"the record lacks {', '.join(lost)}, which the baseline {baseline.name} has; measure it again with "
                f"them" + (f", or choose the measures to compare: {left}" if left else "")
            )
        chosen = wanted
        added = [name for name in means if name not in wanted]
        if added:
            names = ", ".join(added)
            remarks.append((f"not in the baseline, so not compared: {names}", f"基线中没有，因此未比较：{names}"))
    chosen = list(dict.fromkeys(chosen))
    found = [check_measure(sides, name, margin, settings.alpha, len(chosen)) for name in chosen]
    return found, remarks + _few(found, sides, margin, settings.alpha)


def _few(found: Sequence[Rule], sides: Sides, margin: float, alpha: float) -> list[Remark]:
    """Too few queries to see a loss that is as large as the margin, or queries that count on one side only."""
    remarks: list[Remark] = []
    least = least_queries(margin, alpha)
    n = min((rule.values["n"] for rule in found), default=0)
    passed = any(rule.status == "pass" and rule.values["reason"] != "identical" for rule in found)
    if least is not None and n < least and passed:
        share = f"{100 * margin:g} %"
        remarks.append(
            (
                f"{n} queries are few for a margin of {share}: were one query in {1 / margin:.0f} broken, "
                f"{100 * (1 - margin) ** n:.0f} % of such samples would not show it; {least} queries make that rare",
                f"对 {share} 的容许幅度来说，{n} 个查询偏少：即使每 {1 / margin:.0f} 个查询中有一个完全失效，"
                f"也有 {100 * (1 - margin) ** n:.0f} % 的可能一个都看不到；{least} 个查询可使这种情况少见",
            )
        )
    counts = {rule.name: len(sides.own(rule.name)) for rule in found}
    left = {rule.name: counts[rule.name] - rule.values["n"] for rule in found if counts[rule.name] > rule.values["n"]}
    if left:
        name, number = next(iter(left.items()))
        remarks.append(
            (
                f"{number} queries count in the record, but not in the baseline ({name}); they are left out",
                f"有 {number} 个查询在记录中计入、在基线中未计入（{name}）；比较时未包括",
            )
        )
    return remarks


def _thresholds(sides: Sides, baseline: Baseline, settings: GateRules) -> tuple[list[Rule], list[Remark]]:
    wanted = {measure_in(sides.record, name): value for name, value in baseline.thresholds.items()}
    if settings.measures:
        chosen = [measure_in(sides.record, name) for name in settings.measures]
        lacking = [name for name in chosen if name not in wanted]
        if lacking:
            raise DataError(f"{baseline.name} has no mean of {', '.join(lacking)}; it has: {', '.join(wanted)}")
        wanted = {name: wanted[name] for name in chosen}
    remark = (
        f"{baseline.name} has only means: they are taken as thresholds without a margin, and nothing can be said about "
        "chance; a record as the baseline allows a paired test",
        f"{baseline.name} 只有均值：按阈值使用，没有容许幅度，也无法说明差异是否出于偶然；以记录为基线才能做配对检验",
    )
    return [check_threshold(sides, name, value) for name, value in wanted.items()], [remark]
