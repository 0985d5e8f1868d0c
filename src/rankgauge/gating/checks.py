"""The single rules of a gate, each checked on its own: a status, the figures, and a note."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import asdict, replace
from typing import Any

import numpy as np

from rankgauge.engine.averaging import aggregate
from rankgauge.errors import DataError, counted
from rankgauge.evaluation.conversations import effect_note
from rankgauge.gating.baseline import Baseline
from rankgauge.gating.comparability import remark
from rankgauge.gating.outcome import Kind, Rule
from rankgauge.gating.sides import Sides
from rankgauge.gating.targets import LatencyLimit, Target, check_tag, holds, target_measure
from rankgauge.measures.notation import find_measure
from rankgauge.model.ranked import Floats
from rankgauge.record import Mean, Record
from rankgauge.stats.clusters import clustered
from rankgauge.stats.differences import Column
from rankgauge.stats.intervals import mean_interval
from rankgauge.stats.noninferiority import NonInferiority, chance_to_pass, least_queries, non_inferiority
from rankgauge.words import Note

__all__ = [
    "check_errors",
    "check_evaluated",
    "check_judged",
    "check_latency",
    "check_measure",
    "check_missing",
    "check_target",
    "check_threshold",
    "few_queries",
    "in_conversations",
    "left_out",
]

_NAMED = 5
_TOLD = {"missed_percent": ("goal",), "unreachable": ("ceiling",)}
"""What is told with an outcome of a target."""
_KEPT = 20
_TOLERATED = 1.4
"""How many times alpha the chance of a false pass may be before it is warned of."""
_SLACK = 0.01
"""Two standard errors of the simulated chance: no warning for chance alone."""


def _met(kind: Kind, name: str, met: bool, values: dict[str, Any], key: str, **parameters: Any) -> Rule:
    """A rule that holds or is broken."""
    return Rule(kind, name, "pass" if met else "broken", {**values, "met": met}, Note(f"gate.{key}", parameters))


def check_measure(sides: Sides, measure: str, max_loss: float, alpha: float, family: int) -> Rule:
    """No loss beyond the max relative loss, by the paired test."""
    lower_is_better = sides.record.measure(measure).lower_is_better
    new, old = sides.paired(measure)
    try:
        found = non_inferiority(
            new,
            old,
            max_loss,
            alpha=alpha,
            family=family,
            lower_is_better=lower_is_better,
            clusters=sides.clusters(measure),
        )
    except DataError as error:
        raise DataError(f"{measure}: {error}") from None
    values = asdict(found) | {"lower_is_better": lower_is_better, "max_loss": max_loss}
    if found.base:
        size, sign = abs(found.base), -1 if lower_is_better else 1
        values |= {
            "change": (found.new - found.base) / size,
            "worst": sign * (found.lower / size - max_loss),
            "best": sign * (found.upper / size - max_loss),
        }
    return Rule("measure", measure, found.status, values, _measure_note(found, values))


def _measure_note(found: NonInferiority, values: dict[str, Any]) -> Note:
    relative = "change" in values  # not to a mean of 0
    means = Note("gate.means_change" if relative else "gate.means", _of(values, "base", "new", "change"))
    if found.reason != "bounds":
        return Note(f"gate.{found.reason.replace(' ', '_')}", {"means": means, "better": found.better})
    key = f"gate.{found.status}" + ("" if relative else "_from_zero")
    if found.status == "inconclusive" and found.needed is None:
        key += "_open"
    return Note(key, {"means": means, **_of(values, "max_loss", "worst", "best", "n", "needed")})


def _of(values: dict[str, Any], *names: str) -> dict[str, Any]:
    return {name: values[name] for name in names if values.get(name) is not None}


def check_threshold(sides: Sides, measure: str, value: float) -> Rule:
    """A mean of a plain baseline, taken as the least (or greatest) value."""
    sign = "<=" if sides.record.measure(measure).lower_is_better else ">="
    target = Target(f"{measure} {sign} {value:g}", measure, sign, "absolute", value)
    return replace(check_target(sides, target), kind="threshold")


def check_target(sides: Sides, target: Target) -> Rule:
    """A target or a floor: met by the mean that was observed, and surely if its whole interval meets it."""
    measure = target_measure(sides.record, target)
    sign = target.compare(sides.record.measure(measure).lower_is_better)
    tags = sides.record.queries_by_tag
    check_tag(target, tags)
    queries = None if target.tag is None else set(tags[target.tag])
    mean, base = _own_mean(sides, measure, queries), None
    if target.relation != "absolute" and sides.baseline is not None:
        if sides.other is None:
            base = _threshold(sides.baseline, measure)
        else:
            mean, base = _relative_mean(sides, target, measure, queries)
    goal, bounds = target.goal(base), mean.interval
    met = holds(mean.value, sign, goal)
    sure = None if bounds is None else holds(bounds.low, sign, goal) == holds(bounds.high, sign, goal) == met
    values = {"value": mean.value, "operator": sign, "goal": goal, "sure": sure, "queries": mean.queries}
    values |= {"low": bounds and bounds.low, "high": bounds and bounds.high}
    values |= {"base": base, "tag": target.tag, "measure": measure}
    outcome = f"{'met' if met else 'missed'}{'_unsure' if sure is False else ''}"
    if not met and target.relation == "absolute" and 1 < goal <= 100 and 0 <= mean.value <= 1:
        outcome = "missed_percent"
    elif (ceiling := _ceiling(sides, target, measure)) is not None and not holds(ceiling, sign, goal):
        outcome, values["ceiling"] = "unreachable", ceiling
    return _met(
        "target" if target.tag is None else "floor",
        target.text,
        met,
        values,
        "target",
        mean=Note("gate.mean" if target.tag is None else "gate.slice_mean", _of(values, "value", "queries")),
        wanted=Note("gate.wanted" if base is None else "gate.wanted_base", _of(values, "operator", "goal", "base")),
        outcome=Note(f"gate.{outcome}", _of({"goal": goal, **values}, *_TOLD.get(outcome, ()))),
    )


def _ceiling(sides: Sides, target: Target, measure: str) -> float | None:
    """The greatest mean that any lists could have, where it is known and the target is about all queries."""
    coverage = sides.system.coverage
    return None if coverage is None or target.tag is not None else coverage.ceilings.get(measure)


def _own_mean(sides: Sides, measure: str, queries: Collection[str] | None) -> Mean:
    if queries is None:
        return sides.system.means[measure]
    if sides.record.measure(measure).aggregate != "mean":
        raise DataError(f"{measure} is no mean over queries, so a slice has no value of it")
    scores = sides.own(measure, queries)
    if not len(scores):
        raise DataError(f"no query of this slice counts for {measure}")
    interval = mean_interval(scores, clusters=sides.clusters(measure, queries, paired=False))
    return Mean(aggregate("mean", scores), interval, len(scores))


def _relative_mean(sides: Sides, target: Target, measure: str, queries: Collection[str] | None) -> tuple[Mean, float]:
    """The mean over the common queries, with the interval of its distance to the goal, and the baseline's mean."""
    if sides.record.measure(measure).aggregate != "mean":
        raise DataError(f"{measure} is no mean over queries, so the target {target.text!r} cannot be relative")
    new, old = sides.paired(measure, queries)
    if len(new) < 2:
        count = counted(len(new), "query", "queries")
        raise DataError(f"{target.text!r}: {count} in common with the baseline: that is too few")
    value, base = aggregate("mean", new), aggregate("mean", old)
    share = target.value * float(np.sign(base)) if target.relation == "share" else 0.0
    shift = target.value if target.relation == "difference" else 0.0
    gaps = new - (1 + share) * old - shift
    gaps[np.abs(gaps) < 1e-12] = 0.0  # rounding
    interval = mean_interval(gaps, shares=False, clusters=sides.clusters(measure, queries))
    goal = target.goal(base)
    if interval is not None:
        interval = replace(interval, low=goal + interval.low, high=goal + interval.high)
    return Mean(value, interval, len(new)), base


def _threshold(baseline: Baseline, measure: str) -> float:
    for name, value in baseline.thresholds.items():
        if name == measure or str(find_measure(name)) == measure:
            return value
    raise DataError(f"{baseline.name} has no mean of {measure}; it has: {', '.join(baseline.thresholds)}")


def check_latency(sides: Sides, limit: LatencyLimit) -> Rule:
    calls = sides.system.calls
    if calls is None or calls.latency is None:
        reason = "all its answers came from the cache" if calls is not None else "its lists came from a file"
        raise DataError(
            f"{limit.text!r}: {sides.system.name} has no latency in the record ({reason}); "
            "measure it live: rankgauge run PLAN.toml --fresh"
        )
    latency = calls.latency
    value: float = getattr(latency, limit.statistic)
    values = {"value": value, "operator": limit.operator, "goal": limit.seconds, "calls": latency.count}
    return _met(
        "latency",
        limit.text,
        holds(value, limit.operator, limit.seconds),
        values,
        "latency",
        statistic=limit.statistic,
        value=value,
        calls=latency.count,
        concurrency=latency.concurrency,
        wanted=f"{limit.operator} {limit.duration}",
    )


def check_errors(sides: Sides, most: int) -> Rule | None:
    """Failed queries; None where the lists came from a file, and no call could fail."""
    calls = sides.system.calls
    if calls is None:
        return None
    failed = calls.failed
    values = {"value": len(failed), "operator": "<=", "goal": most, "failed": failed[:_KEPT]}
    example = {"example": failed[0]} if failed else {}
    key = "errors" if failed else "no_errors"
    return _met("errors", f"errors <= {most}", len(failed) <= most, values, key, n=len(failed), most=most, **example)


def check_evaluated(record: Record, system: str | None) -> Rule | None:
    """Systems that could not be evaluated at all: the one asked for, or any where none is named."""
    failed = {
        name: reason
        for name, reason in record.invalid.items()
        if (system is None or name == system) and reason.key != "live.sweep"  # a sweep is no system
    }
    if not failed:
        return None
    values = {"value": len(failed), "goal": 0}
    reasons = [Note("gate.reason", {"system": name, "reason": reason}) for name, reason in failed.items()]
    return _met("errors", ", ".join(failed), False, values, "not_evaluated", reasons=reasons)


def check_judged(sides: Sides, least: float) -> Rule:
    coverage = sides.system.coverage
    share = None if coverage is None else coverage.judged_at.get(10)
    if share is None:
        only = coverage is not None and coverage.only_relevant
        reason = "the test set lists only relevant documents" if only else "it is not known"
        raise DataError(f"the share of judged documents cannot be checked: {reason}; leave out `min_judged=`")
    values = {"value": share, "operator": ">=", "goal": least}
    return _met("judged", f"Judged@10 >= {least:g}", share >= least, values, "judged", share=share, least=least)


def check_missing(sides: Sides, measures: Iterable[str], *, allowed: bool) -> tuple[list[Rule], list[Note]]:
    """A broken rule if queries are missing, or the remark that says so where that was allowed; else nothing."""
    lost = sides.missing(measures)
    if not lost:
        return [], []
    shown = lost[:_NAMED] + (["..."] if len(lost) > _NAMED else [])
    if allowed:
        return [], [remark("missing_allowed", n=len(lost), names=shown)]
    values = {"value": len(lost), "operator": "<=", "goal": 0, "queries": lost[:_KEPT]}
    return [_met("missing", "missing <= 0", False, values, "missing", n=len(lost), names=shown)], []


def few_queries(found: Sequence[Rule], sides: Sides, max_loss: float, alpha: float) -> list[Note]:
    """So few queries that can lose anything, that a loss as large as the allowed one often passes as sure. A pass with
    room to spare, that surely lost less than half of what is allowed, is left in peace."""
    passed = [
        rule
        for rule in found
        if rule.status == "pass"
        and rule.values["reason"] != "identical"
        and (rule.values.get("worst") is None or rule.values["worst"] < -max_loss / 2)
    ]
    if not max_loss or not passed:
        return []
    bases = {rule.name: _independent(sides, rule.name) for rule in passed}
    chances = {name: chance_to_pass(base, max_loss, alpha) for name, base in bases.items()}
    name, chance = max(chances.items(), key=lambda item: item[1])
    if chance <= _TOLERATED * alpha + _SLACK:
        return []
    least = least_queries(bases[name], max_loss, _TOLERATED * alpha, alpha)
    told = {"measure": name, "n": len(bases[name]), "max_loss": max_loss, "one_in": round(1 / max_loss)}
    enough = {"least": least} if least else {}
    key = "few_queries" if least else "far_too_few_queries"
    chances_told = {"chance": chance, "rare": _TOLERATED * alpha, **enough}
    if sides.clusters(name) is not None:  # n and the least number are those of conversations
        return [Note(f"conversations.{key}", {**told, **chances_told}, "warning")]
    return [remark(key, **told, **chances_told)]


def _independent(sides: Sides, measure: str) -> Floats:
    """The baseline's scores; of turns of conversations, one value for each conversation, which fails as a whole."""
    scores, clusters = sides.paired(measure)[1], sides.clusters(measure)
    if clusters is None:
        return scores
    units = clustered(Column(scores, np.ones(len(scores), dtype=bool)), clusters)
    assert units.weights is not None
    return units.values - units.mean + units.weights * units.mean


def in_conversations(found: Sequence[Rule]) -> list[Note]:
    """That conversations are what is independent, and what that costs."""
    told = [rule.values for rule in found if rule.values.get("conversations") is not None]
    if not told:
        return []
    effect = effect_note([values["design_effect"] for values in told])
    conversations = max(values["conversations"] for values in told)
    return [Note("conversations.gated", {"conversations": conversations, "effect": effect})]


def left_out(found: Sequence[Rule], sides: Sides) -> list[Note]:
    """Queries that count in the record, but not in the baseline."""
    for rule in found:
        new, old = sides.scores(rule.name)
        number = sum(query not in old for query in new)
        if number:
            return [remark("left_out", n=number, measure=rule.name)]
    return []
