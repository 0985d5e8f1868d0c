"""Targets as people write them: `R@10 >= 0.8`, `nDCG@10 >= baseline + 20%`, `tag:billing RR > 0.6`, `p95 <= 200ms`."""

from __future__ import annotations

import datetime
import math
import operator
import re
from collections.abc import Callable, Collection
from dataclasses import dataclass
from functools import cache
from typing import Literal

from rankgauge.errors import DataError
from rankgauge.formats.durations import parse_duration
from rankgauge.measures.explanations import TARGETS, targets_for
from rankgauge.measures.notation import find_measure, parse_measure
from rankgauge.record import Record
from rankgauge.record.contradictions import LARGEST
from rankgauge.words import LANGUAGES, say

__all__ = [
    "SCENARIOS",
    "STATISTICS",
    "LatencyLimit",
    "Target",
    "check_tag",
    "holds",
    "parse_age",
    "parse_latency",
    "parse_share",
    "parse_target",
    "scenario_targets",
    "target_measure",
]

SCENARIOS = {"precise": "qa", "general": "general", "exploratory": "exploratory"}
"""Scenarios by the name used here, and their key in the table of reference values."""
STATISTICS = ("p50", "p95", "p99", "mean")

_COMPARE: dict[str, Callable[[float, float], bool]] = {
    ">=": operator.ge,
    ">": operator.gt,
    "<=": operator.le,
    "<": operator.lt,
}
_SIGNS = {"≥": ">=", "≤": "<=", "=>": ">=", "=<": "<="}
_OPERATOR = r"(>=|<=|=>|=<|≥|≤|>|<)"
_VALUE = r"\s*(?P<number>\d+(?:\.\d*)?(?:[eE][+-]?\d+)?|\.\d+)\s*(?P<percent>%?)"
_FLOOR = 'tag:billing R@10 >= 0.6, or with blanks in the tag: tag:"odd tag" R@10 >= 0.6'
_TAG = re.compile(r'^tag:\s*(?:"([^"]+)"|(\S+))\s+(.+)$', re.DOTALL)
_WHOLE = re.compile(rf"^(.+?)\s*{_OPERATOR}\s*(.+)$", re.DOTALL)
_SHORT = re.compile(rf"^(.+?)\s+(?P<sign>[+-]){_VALUE}$", re.DOTALL)
_ABSOLUTE = re.compile(rf"^(?P<sign>[+-]?){_VALUE}$")
_LATENCY = re.compile(rf"^(\w+)\s*{_OPERATOR}\s*(.+)$")


@dataclass(frozen=True)
class Target:
    """What a mean must reach. The measure's name is as it was written, until `target_measure` finds it in a record."""

    text: str
    measure: str
    operator: str | None
    """None in the short form `nDCG@10 +20%`, where the measure's direction tells it."""
    relation: Literal["absolute", "share", "difference"]
    value: float
    """The goal itself, or what is added to the baseline: a share of it, or a difference."""
    tag: str | None = None

    def goal(self, base: float | None) -> float:
        """The number to reach, given the baseline's mean."""
        if self.relation == "absolute":
            return self.value
        if base is None:
            raise DataError(f"the target {self.text!r} is relative to a baseline: give one with `baseline=`")
        return base + self.value * abs(base) if self.relation == "share" else base + self.value

    def compare(self, lower_is_better: bool) -> str:
        """The operator, told by the direction of the measure where the short form leaves it out."""
        return self.operator or ("<=" if lower_is_better else ">=")


@dataclass(frozen=True)
class LatencyLimit:
    """A limit on a statistic of the latency, in seconds."""

    text: str
    statistic: str
    operator: str
    duration: str
    """The limit as it was written."""
    seconds: float


def holds(value: float, sign: str, goal: float) -> bool:
    """Whether a comparison holds; what differs only by rounding counts as equal."""
    if math.isclose(value, goal, rel_tol=1e-12, abs_tol=1e-15):
        return sign in (">=", "<=")
    return _COMPARE[sign](value, goal)


def parse_target(text: str, *, sliced: bool = False) -> Target:
    """A target from its text; a `sliced` one begins with tag:NAME."""
    written = " ".join(text.split())
    tag, rest = None, written
    if found := _TAG.match(written):
        tag, rest = found[1] or found[2], found[3]
    if sliced and tag is None:
        raise DataError(f"{text!r} names no slice; write a floor as: {_FLOOR}")
    if not sliced and tag is not None:
        raise DataError(f"{text!r} is about a slice; give it as a floor: `floors=[{written!r}]`")
    if found := _WHOLE.match(rest):
        sign = _SIGNS.get(found[2], found[2])
        goal = found[3].strip()
        if plain := _ABSOLUTE.match(goal):
            return Target(written, found[1], sign, "absolute", _signed(plain), tag)
        if relative := _relative().match(goal):
            value = 0.0 if relative["sign"] is None else _signed(relative)
            return Target(written, found[1], sign, "share" if relative["percent"] else "difference", value, tag)
    elif short := _SHORT.match(rest):
        return Target(written, short[1], None, "share" if short["percent"] else "difference", _signed(short), tag)
    if sliced:
        raise DataError(f"{text!r} is no floor; write one as: {_FLOOR}")
    raise DataError(
        f"{text!r} is no target; write one as: R@10 >= 0.8, or relative to the baseline: nDCG@10 >= baseline + 20%"
    )


@cache
def _relative() -> re.Pattern[str]:
    """A goal beside the baseline, which may be called so in any language: baseline + 20%."""
    words = "|".join(re.escape(say("gate.baseline", language)) for language in LANGUAGES)
    return re.compile(rf"^(?:{words})(?:\s*(?P<sign>[+-]){_VALUE})?$", re.IGNORECASE)


def check_tag(target: Target, tags: Collection[str]) -> None:
    """A floor is of a tag that some query has. Those with blanks are told as a floor names them, in quotes."""
    if target.tag is not None and target.tag not in tags:
        known = ", ".join(f'"{tag}"' if " " in tag else tag for tag in tags)
        there = f"its tags are: {known}" if tags else "it has no tags"
        raise DataError(f"{target.text!r}: no query of the test set is tagged {target.tag!r}; {there}")


def _signed(found: re.Match[str]) -> float:
    """The value, which can still be squared."""
    value = float(found["number"])
    if value > LARGEST:
        raise DataError(f"{found['number']} is too large a number for a rule")
    return (-value if found["sign"] == "-" else value) / (100 if found["percent"] else 1)


def parse_latency(text: str) -> LatencyLimit:
    written = " ".join(text.split())
    found = _LATENCY.match(written)
    try:
        if found is None or found[1] not in STATISTICS:
            raise ValueError
        limit = parse_duration(found[3], ("us", "ms", "s"))
    except (ValueError, OverflowError):
        raise DataError(
            f"{text!r} is no limit on latency; write one as: p95 <= 200ms "
            f"({', '.join(STATISTICS)}; with the unit ms or s)"
        ) from None
    return LatencyLimit(written, found[1], _SIGNS.get(found[2], found[2]), found[3], limit.total_seconds())


def parse_share(value: str | float, what: str = "max_loss") -> float:
    """A share between 0 and 1: 0.05, "0.05" or "5%"."""
    try:
        text = str(value).strip()
        share = float(text[:-1]) / 100 if text.endswith("%") else float(text)
    except ValueError:
        raise DataError(f"{what} {value!r} is no share; write 5% or 0.05") from None
    if not 0 <= share <= 1:
        meant = f"did you mean {text}%?" if 1 < share <= 100 and "%" not in text else "write 5% or 0.05"
        raise DataError(f"{what} {value!r} must lie between 0 and 1: {meant}")
    return share


def parse_age(text: str) -> datetime.timedelta:
    try:
        return parse_duration(text, ("h", "d", "w"))
    except ValueError:
        raise DataError(f"{text!r} is no age; write 90d, 12h or 2w") from None
    except OverflowError:
        raise DataError(f"{text!r} is longer than any age; write 90d, 12h or 2w, or leave it out") from None


def target_measure(record: Record, target: Target, what: str = "the record") -> str:
    """The name under which a record holds a target's measure."""
    try:
        return record.measure_name(target.measure, what)
    except DataError as error:
        if target.tag is None or " " not in target.measure:
            raise
        raise DataError(f'{error}; a tag with blanks stands in quotes: tag:"odd tag" R@10 >= 0.6') from None


def scenario_targets(record: Record, scenario: str, what: str = "the record") -> tuple[list[Target], list[str]]:
    """The reference values of a scenario for the measures of a record, and those of its measures that are missing."""
    key = SCENARIOS[scenario]
    found: list[Target] = []
    left = {parse_measure(name) for name in TARGETS[key]}
    for name in (about.name for about in record.measures):
        measure = find_measure(name)
        goal = None if measure is None else targets_for(measure).get(key)
        if measure is not None and goal is not None:
            found.append(Target(f"{name} > {goal:g} ({scenario})", name, ">", "absolute", goal))
            left = {other for other in left if (other.name, other.at) != (measure.name, measure.at)}
    if not found:
        wanted = ", ".join(TARGETS[key])
        raise DataError(f"the scenario {scenario} has targets for {wanted}; {what} has none of these measures")
    return found, sorted(map(str, left))
