"""The rules of a gate: given one by one, or as a `[gate]` table in TOML."""

from __future__ import annotations

import datetime
import tomllib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

from rankgauge.errors import DataError, FormatError, RankgaugeError
from rankgauge.formats.plan_reader import Reader
from rankgauge.gate.targets import (
    SCENARIOS,
    LatencyLimit,
    Target,
    listed_tags,
    measure_in,
    parse_age,
    parse_latency,
    parse_share,
    parse_target,
    scenario_targets,
    target_measure,
)
from rankgauge.stats.noninferiority import check_levels

__all__ = ["ALLOWED", "DEFAULT_MARGIN", "ON_UNSURE", "GateRules", "check_gate_plan", "check_gate_table", "load_rules"]

DEFAULT_MARGIN = 0.05
ON_UNSURE = ("auto", "pass", "fail", "report")
ALLOWED = ("corpus", "testset", "missing")

_NUMBER = (int, float)
_SHARE = (str, int, float)
_LISTED = (str, list)
_KEYS: dict[str, type | tuple[type, ...]] = {
    "baseline": str,
    "system": str,
    "measures": _LISTED,
    "margin": _SHARE,
    "alpha": _NUMBER,
    "targets": _LISTED,
    "scenario": str,
    "floors": _LISTED,
    "latency": _LISTED,
    "max_errors": int,
    "min_judged": _SHARE,
    "max_age": str,
    "on_inconclusive": str,
    "allow": _LISTED,
}


@dataclass(frozen=True)
class GateRules:
    """What a record must hold to pass. `GateRules.of` makes them from texts."""

    baseline: str | None = None
    """A name in the history, or a file."""
    system: str | None = None
    """Default: the only system of the record."""
    measures: tuple[str, ...] = ()
    """Measures compared with the baseline. Default: all means that it has."""
    margin: float | None = None
    """The relative loss that is allowed. Default: the baseline's own, else 5 %."""
    alpha: float = 0.05
    targets: tuple[Target, ...] = ()
    scenario: str | None = None
    floors: tuple[Target, ...] = ()
    latency: tuple[LatencyLimit, ...] = ()
    max_errors: int | None = None
    """Failed queries that are allowed, where the record tells of calls. Default: none."""
    min_judged: float | None = None
    """Least share of judged documents among the first ten."""
    max_age: datetime.timedelta | None = None
    """Oldest baseline that is still taken."""
    on_inconclusive: str = "auto"
    """pass, fail, report, or auto: pass if the loss observed is within the margin, else fail."""
    allow: tuple[str, ...] = ()
    """`corpus`, `testset`: compare although these differ from the baseline's; `missing`: without the queries that the
    baseline scored and the record does not."""

    @classmethod
    def of(cls, **choices: Any) -> GateRules:
        """Rules from texts and numbers as people write them; None stands for the default."""
        known = {field.name for field in fields(cls)}
        for key in choices:
            if key not in known:
                raise DataError(f"a gate has no rule {key!r}; there are: {', '.join(sorted(known))}")
        made: dict[str, Any] = {key: value for key, value in choices.items() if value is not None}
        for key in ("measures", "targets", "floors", "latency", "allow"):
            if key in made:
                made[key] = (made[key],) if isinstance(made[key], str) else tuple(made[key])
        if "measures" in made:
            made["measures"] = tuple(map(str, made["measures"]))
        made["targets"] = tuple(_target(text, False) for text in made.get("targets", ()))
        made["floors"] = tuple(_target(text, True) for text in made.get("floors", ()))
        made["latency"] = tuple(
            limit if isinstance(limit, LatencyLimit) else parse_latency(limit) for limit in made.get("latency", ())
        )
        for key in ("margin", "min_judged"):
            if key in made:
                made[key] = parse_share(made[key], key)
        if isinstance(made.get("max_age"), str):
            made["max_age"] = parse_age(made["max_age"])
        rules = cls(**made)
        check_levels(DEFAULT_MARGIN if rules.margin is None else rules.margin, rules.alpha)
        if rules.max_errors is not None and rules.max_errors < 0:
            raise DataError(f"max_errors must be at least 0, not {rules.max_errors}")
        if rules.scenario is not None and rules.scenario not in SCENARIOS:
            raise DataError(f"unknown scenario {rules.scenario!r}; known are: {', '.join(SCENARIOS)}")
        if rules.on_inconclusive not in ON_UNSURE:
            raise DataError(f"on_inconclusive is one of {', '.join(ON_UNSURE)}, not {rules.on_inconclusive!r}")
        for name in rules.allow:
            if name not in ALLOWED:
                raise DataError(f"only {', '.join(ALLOWED)} can be allowed, not {name!r}")
        return rules

    @property
    def alone(self) -> bool:
        """Whether they are rules without any baseline."""
        return bool(
            self.targets
            or self.scenario
            or self.floors
            or self.latency
            or self.min_judged is not None
            or self.max_errors is not None
        )

    def with_baseline_settings(self, margin: float | None, targets: Sequence[str]) -> GateRules:
        """The rules where the baseline's own margin and targets stand in for what is not given."""
        have = {target.text for target in self.targets}
        added = tuple(target for target in map(parse_target, targets) if target.text not in have)
        own = self.margin if self.margin is not None else margin
        return replace(self, margin=DEFAULT_MARGIN if own is None else own, targets=(*self.targets, *added))


def _target(text: str | Target, sliced: bool) -> Target:
    return text if isinstance(text, Target) else parse_target(text, sliced=sliced)


def check_gate_table(table: Any) -> list[str]:
    """All faults of a `[gate]` table, each with its place."""
    read = Reader()
    found = read.table({"gate": table}, "gate", _KEYS)
    for key, value in found.items():
        entries = value if isinstance(value, list) else [value]
        if isinstance(value, list) and not all(isinstance(entry, str) for entry in value):
            read.fault(f"gate.{key}", f"must be a list of texts, not {value!r}")
            continue
        for entry in entries:
            try:
                GateRules.of(**{key: [entry] if isinstance(value, list) else entry})
            except RankgaugeError as error:
                read.fault(f"gate.{key}", str(error))
    return read.faults


def check_gate_plan(table: Any, measures: Sequence[str], contract: Any, tags: Collection[str]) -> list[str]:
    """Faults of a `[gate]` table beside what its plan measures: measures it does not, and tags that no query has.

    What is wrong with a rule by itself is left to `check_gate_table`, and with the measures to the plan.
    """
    from rankgauge.evaluation import make_plan

    try:
        plan = make_plan(measures, contract)
    except RankgaugeError:
        return []
    known = {"measures": [{"name": str(measure)} for measure in plan.measures], "contract": {"preset": plan.preset}}
    faults: list[str] = []
    for key in ("measures", "targets", "floors", "scenario"):
        given = table.get(key, []) if isinstance(table, dict) else []
        for text in [given] if isinstance(given, str) else given if isinstance(given, list) else []:
            try:
                rules = GateRules.of(**{key: text if key == "scenario" else [text]})
            except (RankgaugeError, AttributeError, TypeError):
                continue
            try:
                _check_measured(rules, known, tags)
            except RankgaugeError as error:
                faults.append(f"gate.{key}: {error}")
    return faults


def _check_measured(rules: GateRules, known: Mapping[str, Any], tags: Collection[str]) -> None:
    for name in rules.measures:
        measure_in(known, name, "the plan")
    for target in (*rules.targets, *rules.floors):
        target_measure(known, target, "the plan")
    for floor in rules.floors:
        if floor.tag not in tags:
            there = f"its tags are: {listed_tags(tags)}" if tags else "it has no tags"
            raise DataError(f"{floor.text!r}: no query of the test set is tagged {floor.tag!r}; {there}")
    if rules.scenario is not None:
        scenario_targets(known, rules.scenario, "the plan")


def load_rules(path: str) -> dict[str, Any]:
    """The `[gate]` table of a TOML file, checked: choices for `GateRules.of`."""
    try:
        content = tomllib.loads(Path(path).read_text("utf-8"))
    except FileNotFoundError:
        raise FormatError(path, ["there is no such file"]) from None
    except (OSError, UnicodeDecodeError) as error:
        raise FormatError(path, [str(error)]) from None
    except tomllib.TOMLDecodeError as error:
        raise FormatError(path, [f"this is no TOML: {error}"]) from None
    except RecursionError:
        raise FormatError(path, ["it is nested too deeply"]) from None
    if "gate" not in content:
        raise FormatError(path, ['there is no table [gate]; begin it with a line [gate], and below it margin = "5%"'])
    faults = check_gate_table(content["gate"])
    if faults:
        raise FormatError(path, faults)
    return dict(content["gate"])
