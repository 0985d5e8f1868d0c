"""The gate: may this record take the place of the baseline? Pass, regression, broken rule, or inconclusive.

result = gate(record, baseline, margin="5%", targets=["R@10 >= 0.8"])
result.status, result.accepted, result.rules
"""

from __future__ import annotations

import datetime
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from rankgauge.errors import DataError
from rankgauge.gate.baseline import Baseline, baseline_of, choose_system
from rankgauge.gate.checks import (
    Rule,
    Sides,
    check_errors,
    check_judged,
    check_latency,
    check_measure,
    check_target,
    check_threshold,
)
from rankgauge.gate.comparability import Remark, check_comparable, check_names
from rankgauge.gate.missing import check_missing
from rankgauge.gate.parts import check_parts
from rankgauge.gate.remarks import few_queries, left_out, untested
from rankgauge.gate.rules import GateRules
from rankgauge.gate.targets import measure_in, scenario_targets, target_measure
from rankgauge.words import LANGUAGES

__all__ = ["FORMAT", "GateResult", "gate"]

FORMAT = "rankgauge.gate"
VERSION = 1
Status = Literal["pass", "regression", "broken", "inconclusive"]


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
        rule does not hold, else `inconclusive` if for some measure the queries do not suffice, else `pass`."""
        found = {rule.status for rule in self.rules}
        order: tuple[Status, ...] = ("regression", "broken", "inconclusive")
        return next((status for status in order if status in found), "pass")

    @property
    def accepted(self) -> bool | None:
        """What follows from it: True to go on, False to stop, None if it is left to the caller (`on_inconclusive=report`)."""
        if self.status != "inconclusive":
            return self.status == "pass"
        if self.settings.on_inconclusive == "auto":
            return not self.losses
        return {"pass": True, "fail": False, "report": None}[self.settings.on_inconclusive]

    @property
    def inconclusive(self) -> list[Rule]:
        return [rule for rule in self.rules if rule.status == "inconclusive"]

    @property
    def losses(self) -> list[Rule]:
        """Inconclusive rules whose observed loss is itself beyond the margin."""
        return [rule for rule in self.inconclusive if rule.values["mean"] < 0]

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
                "on_inconclusive": rules.on_inconclusive,
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
    `floors=["tag:billing R@10 >= 0.6"]`, `latency=["p95 <= 200ms"]`, `on_inconclusive="fail"` ...
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
    remarks: list[Remark] = []
    if baseline is not None:
        remarks = check_comparable(record, baseline, settings, moment) + check_names(entry["name"], baseline)
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
    errors = check_errors(sides, settings.max_errors or 0)
    found += [] if errors is None else [errors]
    if settings.min_judged is not None:
        found.append(check_judged(sides, settings.min_judged))
    if errors is None and settings.max_errors is not None:
        if not found:
            raise DataError(
                f"errors <= {settings.max_errors} cannot be checked: no calls were made, for the lists of "
                f"{entry['name']} came from a file; give another rule, or measure it live: rankgauge run PLAN.toml"
            )
        remarks.append(
            (
                f"errors <= {settings.max_errors} was not checked: no calls were made, for the lists came from a file",
                f"errors <= {settings.max_errors} 未检查：结果列表来自文件，没有发生调用",
            )
        )
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
    for name in chosen:
        sides.check_direction(name)
    relative = [target for target in (*settings.targets, *settings.floors) if target.relation != "absolute"]
    looked_at = dict.fromkeys([*chosen, *(target_measure(sides.record, target) for target in relative)])
    found, loud = check_missing(sides, looked_at, allowed="missing" in settings.allow)
    tested = [check_measure(sides, name, margin, settings.alpha, len(chosen)) for name in chosen]
    remarks += [*left_out(tested, sides), *few_queries(tested, sides, margin, settings.alpha)]
    if not settings.measures:
        remarks += untested(baseline.record)
    return found + tested, loud + remarks


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
