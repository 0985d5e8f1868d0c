"""The rules of a gate: given one by one, or as a `[gate]` table in TOML."""

from __future__ import annotations

import datetime
import difflib
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, make_dataclass, replace
from typing import Any, get_type_hints

from rankgauge.arguments import named_arguments
from rankgauge.errors import DataError, FormatError, RankgaugeError
from rankgauge.formats.settings import read_table, read_toml
from rankgauge.gating.targets import (
    SCENARIOS,
    LatencyLimit,
    Target,
    check_tag,
    parse_age,
    parse_latency,
    parse_share,
    parse_target,
    scenario_targets,
    target_measure,
)
from rankgauge.measures import of_passages
from rankgauge.record import Provenance, Record, ScoredMeasure
from rankgauge.stats.levels import check_alpha, check_whole

__all__ = [
    "ALLOWED",
    "DEFAULT_MAX_LOSS",
    "ON_INCONCLUSIVE",
    "GateRules",
    "Measured",
    "check_gate_table",
    "load_rules",
]

DEFAULT_MAX_LOSS = 0.05
ON_INCONCLUSIVE = ("auto", "pass", "fail", "report")
ALLOWED = ("corpus", "testset", "missing", "cached")

Texts = str | Sequence[str]


_NUMBERS = ("max_loss", "min_judged")
_AGES = ("max_age", "max_record_age")
_LISTS = {"measures": str, "targets": Target, "floors": Target, "latency": LatencyLimit, "allow": str}


@named_arguments
@dataclass(frozen=True)
class GateRules:
    """What a record must hold to pass. `GateRules.of` makes them from texts."""

    baseline: str | None = None
    """A name in the history, or a file."""
    system: str | None = None
    """Default: the only system of the record."""
    measures: tuple[str, ...] = ()
    """Measures compared with the baseline. Default: all means that it has."""
    max_loss: float | None = None
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
    max_record_age: datetime.timedelta | None = None
    """Oldest record that is still taken."""
    on_inconclusive: str = "auto"
    """pass, fail, report, or auto: pass if the loss observed is within the max relative loss, else fail."""
    allow: tuple[str, ...] = ()
    """`corpus`, `testset`: compare although these differ from the baseline's; `missing`: without the queries that the
    baseline scored and the record does not; `cached`: answers that were not measured for the record, and may be those
    of an older system."""

    def __post_init__(self) -> None:
        for name in (*_NUMBERS, *_AGES, *_LISTS):
            value, kind = getattr(self, name), float | int if name in _NUMBERS else datetime.timedelta
            if name in _LISTS:
                kept = isinstance(value, tuple) and all(isinstance(one, _LISTS[name]) for one in value)
            else:
                kept = value is None or isinstance(value, kind)
            if not kept:
                raise DataError(f"GateRules() takes what is read already; write GateRules.of({name}={value!r})")
        for name in _NUMBERS:
            parse_share(getattr(self, name) or 0, name)
        if self.max_loss == 1:
            raise DataError("max_loss must lie below 100%, or everything may be lost; write 5% or 0.05")
        check_alpha(self.alpha)
        if self.max_errors is not None:
            check_whole("max_errors", self.max_errors, 0)
        _check_choices("scenario", [] if self.scenario is None else [self.scenario], SCENARIOS)
        _check_choices("on_inconclusive", [self.on_inconclusive], ON_INCONCLUSIVE)
        _check_choices("allow", self.allow, ALLOWED)

    @staticmethod
    @named_arguments
    def of(
        *,
        baseline: str | None = None,
        system: str | None = None,
        measures: Texts | None = None,
        max_loss: str | float | None = None,
        alpha: float | None = None,
        targets: Texts | None = None,
        scenario: str | None = None,
        floors: Texts | None = None,
        latency: Texts | None = None,
        max_errors: int | None = None,
        min_judged: str | float | None = None,
        max_age: str | datetime.timedelta | None = None,
        max_record_age: str | datetime.timedelta | None = None,
        on_inconclusive: str | None = None,
        allow: Texts | None = None,
    ) -> GateRules:
        """Rules from texts and numbers as people write them; None stands for the default."""
        return GateRules(
            baseline,
            system,
            tuple(map(str, _listed(measures))),
            None if max_loss is None else parse_share(max_loss),
            GateRules.alpha if alpha is None else alpha,
            tuple(map(parse_target, map(str, _listed(targets)))),
            scenario,
            tuple(parse_target(str(one), sliced=True) for one in _listed(floors)),
            tuple(map(parse_latency, map(str, _listed(latency)))),
            max_errors,
            None if min_judged is None else parse_share(min_judged, "min_judged"),
            _age(max_age),
            _age(max_record_age),
            on_inconclusive or GateRules.on_inconclusive,
            tuple(_listed(allow)),
        )

    @staticmethod
    def given(rules: GateRules | Mapping[str, Any] | None) -> GateRules:
        """Rules that a caller gives together: these, or the arguments of `of`."""
        if rules is None or isinstance(rules, Mapping):
            if not all(isinstance(name, str) for name in rules or ()):
                raise DataError(f"`rules` must be a mapping such as {{'max_loss': '5%'}}, not {rules!r}")
            return GateRules.of(**(rules or {}))
        if not isinstance(rules, GateRules):
            raise DataError(f"`rules` must be GateRules or a mapping such as {{'max_loss': '5%'}}, not {rules!r}")
        return rules

    @property
    def alone(self) -> bool:
        """Whether they are rules without any baseline."""
        limits = (self.scenario, self.min_judged, self.max_errors)
        return bool(self.targets or self.floors or self.latency) or any(limit is not None for limit in limits)

    def with_baseline_settings(self, max_loss: float | None, targets: Sequence[str]) -> GateRules:
        """The rules where the baseline's own max loss and targets stand in for what is not given."""
        have = {target.text for target in self.targets}
        added = tuple(target for target in map(parse_target, targets) if target.text not in have)
        own = self.max_loss if self.max_loss is not None else max_loss
        return replace(self, max_loss=DEFAULT_MAX_LOSS if own is None else own, targets=(*self.targets, *added))

    def to_dict(self) -> dict[str, Any]:
        """As the `[gate]` table has them, without what is not set."""
        written = {
            **vars(self),
            "targets": [target.text for target in self.targets],
            "floors": [floor.text for floor in self.floors],
            "latency": [limit.text for limit in self.latency],
            "measures": list(self.measures),
            "allow": list(self.allow),
            "max_age": _hours(self.max_age),
            "max_record_age": _hours(self.max_record_age),
        }
        return {key: value for key, value in written.items() if value not in (None, [])}


def _age(given: str | datetime.timedelta | None) -> datetime.timedelta | None:
    return given if given is None or isinstance(given, datetime.timedelta) else parse_age(str(given))


def _hours(age: datetime.timedelta | None) -> str | None:
    return None if age is None else f"{age.total_seconds() / 3600:g}h"


def _listed(given: Any) -> Sequence[Any]:
    if given is None:
        return ()
    return tuple(given) if isinstance(given, Iterable) and not isinstance(given, str) else (given,)


def _check_choices(name: str, given: Iterable[str], known: Collection[str]) -> None:
    for one in given:
        if not isinstance(one, str) or one not in known:
            close = difflib.get_close_matches(str(one), known, n=1)
            meant = f"; did you mean {close[0]!r}?" if close else ""
            raise DataError(f"{name} is one of {', '.join(known)}, not {one!r}{meant}")


def _table_kind() -> type[Any]:
    """The kinds of the values in a `[gate]` table: the arguments of `GateRules.of`, which checks what they say."""
    kinds = get_type_hints(GateRules.of) | dict.fromkeys(_AGES, str | None)
    return make_dataclass("Table", [(name, kind, None) for name, kind in kinds.items() if name != "return"])


def check_gate_table(table: Any, measured: Measured | None = None) -> list[str]:
    """All faults of a `[gate]` table, each with its place; also beside what its plan measures, where that is known."""
    read, faults = read_table(table, "gate", _table_kind())
    for key, value in vars(read).items() if read is not None else ():
        if value is None:
            continue
        written = table[key]
        for entry in written if isinstance(written, list) else [written]:
            try:
                rules = GateRules.of(**{key: entry})
                if measured is not None:
                    measured.check(rules)
            except RankgaugeError as error:
                faults.append(f"gate.{key}: {error}")
    return faults


class Measured:
    """What a plan measures: rules must not be about other measures, or tags that no query has."""

    def __init__(
        self, measures: Sequence[str], contract: Any, tags: Collection[str], *, passages: bool = False
    ) -> None:
        """`passages` says that labels may be brought onto chunks, whose recall is that of passages."""
        from rankgauge.evaluation import make_plan

        self._tags, self._record = tags, None
        with suppress(RankgaugeError):  # which the plan names as its own fault
            plan = make_plan(measures, contract)
            counted = map(of_passages, plan.measures) if passages else plan.measures
            scored = [ScoredMeasure(str(measure), "mean", False, None) for measure in counted]
            contract = plan.contract.with_changes(overlap=1.0) if passages else plan.contract
            self._record = Record("evaluation", "", "", plan.preset, contract, scored, [], [], Provenance())

    def check(self, rules: GateRules) -> None:
        if self._record is None:
            return
        for name in rules.measures:
            self._record.measure_name(name, "the plan")
        for target in (*rules.targets, *rules.floors):
            target_measure(self._record, target, "the plan")
            check_tag(target, self._tags)
        if rules.scenario is not None:
            scenario_targets(self._record, rules.scenario, "the plan")


def load_rules(path: str) -> dict[str, Any]:
    """The `[gate]` table of a TOML file, checked: arguments of `GateRules.of`."""
    content = read_toml(path)
    if "gate" not in content:
        raise FormatError(path, ['there is no table [gate]; begin it with a line [gate], and below it max_loss = "5%"'])
    faults = check_gate_table(content["gate"])
    if faults:
        raise FormatError(path, faults)
    return dict(content["gate"])
