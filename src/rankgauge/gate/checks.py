"""The single rules of a gate, each checked on its own: a status, the figures, and a sentence in two languages."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal

import numpy as np

from rankgauge.engine.averaging import aggregate
from rankgauge.errors import DataError
from rankgauge.evaluation.old_record import tags_of
from rankgauge.gate.baseline import Baseline
from rankgauge.gate.targets import LatencyLimit, Target, holds, listed_tags, measure_in, target_measure
from rankgauge.model.ranked import Floats
from rankgauge.stats.intervals import mean_interval
from rankgauge.stats.noninferiority import NonInferiority, non_inferiority

__all__ = [
    "Rule",
    "RuleStatus",
    "Sides",
    "check_errors",
    "check_judged",
    "check_latency",
    "check_measure",
    "check_target",
    "check_threshold",
]

RuleStatus = Literal["pass", "regression", "broken", "inconclusive"]
Kind = Literal["measure", "threshold", "target", "floor", "latency", "errors", "judged", "missing"]


@dataclass(frozen=True)
class Rule:
    """One rule and what came of it. `broken` is said of rules that no statistics can excuse."""

    kind: Kind
    name: str
    status: RuleStatus
    values: Mapping[str, Any]
    message: Mapping[str, str]

    def to_dict(self) -> dict[str, Any]:
        return {**asdict(self), "values": dict(self.values), "message": dict(self.message)}


class Sides:
    """One system of a record, and beside it the baseline's, query by query."""

    def __init__(self, record: Mapping[str, Any], entry: Mapping[str, Any], baseline: Baseline | None) -> None:
        self.record, self.entry = record, entry
        self.baseline = baseline
        self.other = None if baseline is None else baseline.record
        self.other_entry = None if self.other is None else baseline.entry(entry["name"])  # type: ignore[union-attr]

    def about(self, measure: str) -> Mapping[str, Any]:
        return next(entry for entry in self.record["measures"] if entry["name"] == measure)

    def check_direction(self, measure: str) -> None:
        """Two records that do not agree whether more or less is better have no winner."""
        assert self.other is not None
        name = measure_in(self.other, measure, "the baseline")
        theirs = next(entry for entry in self.other["measures"] if entry["name"] == name)
        said = [bool(about.get("lower_is_better")) for about in (self.about(measure), theirs)]
        if said[0] != said[1]:
            better = ["less" if lower else "more" for lower in said]
            raise DataError(f"of {measure} {better[0]} is better in the record, but {better[1]} in the baseline")

    def own(self, measure: str, queries: Collection[str] | None = None) -> Floats:
        """The record's counted scores, of some queries or all."""
        found = _scores(self.record, self.entry, measure)
        return np.array([found[query] for query in sorted(found) if queries is None or query in queries])

    def paired(self, measure: str, queries: Collection[str] | None = None) -> tuple[Floats, Floats]:
        """New and old scores of the queries that count in both."""
        new, old = self.scores(measure)
        common = sorted(query for query in new if query in old and (queries is None or query in queries))
        return np.array([new[query] for query in common]), np.array([old[query] for query in common])

    def scores(self, measure: str) -> tuple[dict[str, float], dict[str, float]]:
        """New and old scores of the queries that count, each side's own."""
        assert self.other is not None
        assert self.other_entry is not None
        new = _scores(self.record, self.entry, measure)
        return new, _scores(self.other, self.other_entry, measure_in(self.other, measure, "the baseline"))


def _scores(record: Mapping[str, Any], entry: Mapping[str, Any], measure: str) -> dict[str, float]:
    values = entry["per_query"].get(measure)
    if values is None:
        raise DataError(f"{entry['name']} has no scores of single queries for {measure}")
    counted = entry["counted"].get(measure) or [True] * len(values)
    return {query: value for query, value, counts in zip(record["queries"], values, counted, strict=True) if counts}


def percent(share: float) -> str:
    return f"{100 * share:+.1f} %"


def check_measure(sides: Sides, measure: str, margin: float, alpha: float, family: int) -> Rule:
    """No loss beyond the margin, by the paired test."""
    lower_is_better = bool(sides.about(measure).get("lower_is_better"))
    new, old = sides.paired(measure)
    try:
        found = non_inferiority(new, old, margin, alpha=alpha, family=family, lower_is_better=lower_is_better)
    except DataError as error:
        raise DataError(f"{measure}: {error}") from None
    values = asdict(found) | {"lower_is_better": lower_is_better, "margin": margin}
    if found.base:
        size, sign = abs(found.base), -1 if lower_is_better else 1
        values |= {
            "change": (found.new - found.base) / size,
            "worst": sign * (found.lower / size - margin),
            "best": sign * (found.upper / size - margin),
        }
    return Rule("measure", measure, found.status, values, _measure_message(found, values, margin))


def _measure_message(found: NonInferiority, values: Mapping[str, Any], margin: float) -> dict[str, str]:
    share = f"{100 * margin:g} %"
    figures = f"{found.base:.4f} → {found.new:.4f}" + (f" ({percent(values['change'])})" if "change" in values else "")
    worst, best = ("worst", "best") if "change" in values else ("", "")
    worst_en = f"; at worst {percent(values[worst])}" if worst else ""
    worst_zh = f"；最坏 {percent(values[worst])}" if worst else ""
    best_en = f", at best {percent(values[best])}" if best else ""
    best_zh = f"，最好 {percent(values[best])}" if best else ""
    if found.reason == "identical":
        return {"en": f"{figures}: the same on every query", "zh": f"{figures}：每个查询都相同"}
    if found.reason == "nowhere worse":
        return {
            "en": f"{figures}: no query is worse, {found.better} are better",
            "zh": f"{figures}：没有查询变差，{found.better} 个变好",
        }
    if found.status == "pass":
        return {
            "en": f"{figures}: not worse by more than {share}{worst_en}",
            "zh": f"{figures}：变差不超过 {share}{worst_zh}",
        }
    if found.status == "regression":
        return {
            "en": f"{figures}: worse by more than {share}{best_en}",
            "zh": f"{figures}：变差超过 {share}{best_zh}",
        }
    about = f"{float(f'{found.needed:.2g}'):.0f}" if found.needed else ""
    settle_en = f", about {about} would settle it" if about else ""
    settle_zh = f"，约需 {about} 个才能判定" if about else ""
    return {
        "en": f"{figures}: {found.n} queries cannot tell whether more than {share} was lost"
        f"{worst_en}{best_en}{settle_en}",
        "zh": f"{figures}：{found.n} 个查询不足以判断变差是否超过 {share}{worst_zh}{best_zh}{settle_zh}",
    }


def check_threshold(sides: Sides, measure: str, value: float) -> Rule:
    """A mean of a plain baseline, taken as the least (or greatest) value."""
    lower = bool(sides.about(measure).get("lower_is_better"))
    target = Target(f"{measure} {'<=' if lower else '>='} {value:g}", measure, None, "absolute", value)
    made = check_target(sides, target)
    return Rule("threshold", made.name, made.status, made.values, made.message)


def check_target(sides: Sides, target: Target) -> Rule:
    """A target or a floor: met by the mean that was observed, and surely if its whole interval meets it."""
    measure = target_measure(sides.record, target)
    about = sides.about(measure)
    sign = target.compare(bool(about.get("lower_is_better")))
    queries = _slice(sides, target)
    value, low, high, n = _own_mean(sides, measure, queries)
    base = None
    if target.relation != "absolute":
        if sides.baseline is not None and sides.other is None:
            base = _threshold(sides.baseline, measure)
        elif sides.other is not None:
            if about["aggregate"] != "mean":
                raise DataError(f"{measure} is no mean over queries, so the target {target.text!r} cannot be relative")
            new, old = sides.paired(measure, queries)
            if len(new) < 2:
                count = "1 query" if len(new) == 1 else f"{len(new)} queries"
                raise DataError(f"{target.text!r}: {count} in common with the baseline: that is too few")
            value, base, n = aggregate("mean", new), aggregate("mean", old), len(new)
            share = target.value * float(np.sign(base)) if target.relation == "share" else 0.0
            shift = target.value if target.relation == "difference" else 0.0
            gaps = new - (1 + share) * old - shift
            gaps[np.abs(gaps) < 1e-12] = 0.0  # rounding
            interval = mean_interval(gaps, shares=False)
            goal = target.goal(base)
            low, high = (None, None) if interval is None else (goal + interval.low, goal + interval.high)
    goal = target.goal(base)
    met = holds(value, sign, goal)
    sure = None if low is None or high is None else holds(low, sign, goal) == holds(high, sign, goal) == met
    values = {"value": value, "operator": sign, "goal": goal, "met": met, "sure": sure, "queries": n}
    values |= {"low": low, "high": high, "base": base, "tag": target.tag, "measure": measure}
    text = {
        (True, True): ("met", "达到"),
        (True, False): ("met, but not surely: the interval reaches beyond it", "达到，但并不确定：区间跨过了目标"),
        (False, True): ("missed", "未达到"),
        (False, False): (
            "missed, but not surely: the interval reaches beyond it",
            "未达到，但并不确定：区间跨过了目标",
        ),
    }[met, sure is not False]
    known = ("", "") if base is None else (f" (the baseline has {base:.4f})", f"（基线为 {base:.4f}）")
    extent = ("", "")
    if target.tag is not None:
        extent = (f" over {n} {'query' if n == 1 else 'queries'}", f"（{n} 个查询）")
    if not met and target.relation == "absolute" and 1 < goal <= 100 and 0 <= value <= 1:
        text = (f"{text[0]}; did you mean {goal:g}%?", f"{text[1]}；是否想写 {goal:g}%？")
    message = {
        "en": f"{value:.4f}{extent[0]}, wanted {sign} {goal:.4g}{known[0]}: {text[0]}",
        "zh": f"{value:.4f}{extent[1]}，要求 {sign} {goal:.4g}{known[1]}：{text[1]}",
    }
    kind: Kind = "target" if target.tag is None else "floor"
    return Rule(kind, target.text, "pass" if met else "broken", values, message)


def _own_mean(
    sides: Sides, measure: str, queries: Collection[str] | None
) -> tuple[float, float | None, float | None, int]:
    if queries is None:
        told = sides.entry["means"][measure]
        bounds = told.get("interval") or {}
        return told["value"], bounds.get("low"), bounds.get("high"), told["queries"]
    if sides.about(measure)["aggregate"] != "mean":
        raise DataError(f"{measure} is no mean over queries, so a slice has no value of it")
    scores = sides.own(measure, queries)
    if not len(scores):
        raise DataError(f"no query of this slice counts for {measure}")
    interval = mean_interval(scores)
    low, high = (None, None) if interval is None else (interval.low, interval.high)
    return aggregate("mean", scores), low, high, len(scores)


def _threshold(baseline: Baseline, measure: str) -> float:
    for name, value in baseline.thresholds.items():
        if name == measure or _spelled(name) == measure:
            return value
    raise DataError(f"{baseline.name} has no mean of {measure}; it has: {', '.join(baseline.thresholds)}")


def _spelled(name: str) -> str | None:
    from rankgauge.errors import RankgaugeError
    from rankgauge.measures.notation import parse_measure

    try:
        return str(parse_measure(name))
    except RankgaugeError:
        return None


def _slice(sides: Sides, target: Target) -> Collection[str] | None:
    if target.tag is None:
        return None
    tags = tags_of(sides.record)
    if target.tag not in tags:
        known = f"its tags are: {listed_tags(tags)}" if tags else "its test set has no tags"
        raise DataError(f"{target.text!r}: the record has no queries tagged {target.tag!r}; {known}")
    return set(tags[target.tag])


def check_latency(sides: Sides, limit: LatencyLimit) -> Rule:
    calls = sides.entry.get("calls") or {}
    latency = calls.get("latency")
    if not latency:
        reason = "all its answers came from the cache" if calls.get("cached") else "its lists came from a file"
        raise DataError(
            f"{limit.text!r}: {sides.entry['name']} has no latency in the record ({reason}); "
            "measure it live: rankgauge run PLAN.toml --fresh"
        )
    value = latency[limit.statistic]
    met = holds(value, limit.operator, limit.seconds)
    shown, wanted = f"{1000 * value:.3g} ms", f"{limit.operator} {1000 * limit.seconds:.4g} ms"
    count = latency["count"]
    message = {
        "en": f"{limit.statistic} {shown} over {count} calls, {latency['concurrency']} at a time, wanted {wanted}",
        "zh": f"{limit.statistic} 为 {shown}（{count} 次调用，并发 {latency['concurrency']}），要求 {wanted}",
    }
    values = {"value": value, "operator": limit.operator, "goal": limit.seconds, "met": met, "calls": count}
    return Rule("latency", limit.text, "pass" if met else "broken", values, message)


def check_errors(sides: Sides, most: int) -> Rule | None:
    """Failed queries; None where the lists came from a file, and no call could fail."""
    calls = sides.entry.get("calls")
    if calls is None:
        return None
    failed = list(calls["failed"])
    met = len(failed) <= most
    queries = "query" if len(failed) == 1 else "queries"
    such = f", such as {failed[0]!r}" if failed else ""
    such_zh = f"，例如 {failed[0]!r}" if failed else ""
    message = {
        "en": f"{len(failed)} {queries} failed{such}; at most {most} may",
        "zh": f"{len(failed)} 个查询失败{such_zh}；最多允许 {most} 个",
    }
    values = {"value": len(failed), "operator": "<=", "goal": most, "met": met, "failed": failed[:20]}
    return Rule("errors", f"errors <= {most}", "pass" if met else "broken", values, message)


def check_judged(sides: Sides, least: float) -> Rule:
    coverage = sides.entry.get("coverage") or {}
    share = (coverage.get("judged_at") or {}).get("10")
    if share is None:
        reason = "the test set lists only relevant documents" if coverage.get("only_relevant") else "it is not known"
        raise DataError(f"the share of judged documents cannot be checked: {reason}; leave out --min-judged")
    met = share >= least
    message = {
        "en": f"{100 * share:.1f} % of the first ten documents are judged, wanted at least {100 * least:g} %",
        "zh": f"前十个文档中有 {100 * share:.1f} % 已标注，要求至少 {100 * least:g} %",
    }
    values = {"value": share, "operator": ">=", "goal": least, "met": met}
    return Rule("judged", f"Judged@10 >= {least:g}", "pass" if met else "broken", values, message)
