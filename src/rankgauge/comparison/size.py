"""How large a test set must be, and what a published figure with only n and a mean can mean."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

from rankgauge.errors import DataError
from rankgauge.stats.differences import Column
from rankgauge.stats.intervals import share_interval
from rankgauge.stats.levels import check_alpha, check_power, check_whole
from rankgauge.stats.power import detectable_difference, power_of, queries_needed, significant_spread
from rankgauge.words import LANGUAGES, Language

if TYPE_CHECKING:
    from rankgauge.comparison.comparison import Comparison

__all__ = ["Audit", "Question", "Size", "audit", "size_for", "sizes_of"]


@dataclass(frozen=True)
class Size:
    """Queries, difference and power of a paired t test; two of them were given, the third follows."""

    measure: str
    deviation: float
    """Standard deviation of the per-query differences."""
    queries: int
    difference: float
    power: float
    alpha: float
    asked: str
    """What was asked for: queries, difference or power; `nothing` where the difference is more than there can be."""
    observed: int | None = None
    """How many queries the standard deviation was taken from."""

    def sentence(self, language: Language = "en") -> str:
        at = 0 if language == "en" else 1
        spread = f"{self.deviation:.4f}" if 0.001 <= self.deviation < 1e6 else f"{self.deviation:.4g}"
        values = {
            "measure": self.measure,
            "n": self.queries,
            "d": f"{self.difference:.4f}" if 0.001 <= self.difference < 1e6 else f"{self.difference:.4g}",
            "power": _percent(self.power),
            "alpha": f"{self.alpha:g}",
        }
        texts = {
            "queries": (
                "{measure}: {n} queries find a true difference of {d} with a chance of {power} (alpha {alpha})",
                "{measure}：要以 {power} 的把握检出 {d} 的真实差值，需要 {n} 个查询（alpha {alpha}）",
            ),
            "difference": (
                "{measure}: with {n} queries a true difference of {d} or more is found with a chance of {power} "
                "(alpha {alpha})",
                "{measure}：{n} 个查询能以 {power} 的把握检出 {d} 以上的真实差值（alpha {alpha}）",
            ),
            "nothing": (
                "{measure}: with {n} queries no difference that the measure allows is found with a chance of {power} "
                "(alpha {alpha})",
                "{measure}：{n} 个查询无法以 {power} 的把握检出该指标可能有的任何差值（alpha {alpha}）",
            ),
            "power": (
                "{measure}: the chance that {n} queries find a true difference of {d} is {power} (alpha {alpha})",
                "{measure}：{n} 个查询检出 {d} 的真实差值的把握为 {power}（alpha {alpha}）",
            ),
        }
        source = (
            (f"; spread of the differences {spread}", f"；差值的标准差 {spread}")
            if self.observed is None
            else (
                f"; spread of the differences {spread}, seen in {self.observed} queries",
                f"；差值的标准差 {spread}，取自 {self.observed} 个查询",
            )
        )
        return texts[self.asked][at].format(**values) + source[at]

    def to_dict(self) -> dict[str, Any]:
        return {**asdict(self), "sentence": {language: self.sentence(language) for language in LANGUAGES}}


def _percent(chance: float) -> str:
    """Whole percents, but never rounded to certainty."""
    if 0.005 <= chance <= 0.995:
        return f"{100 * chance:.0f} %"
    return "< 0.1 %" if chance < 0.001 else "> 99.9 %" if chance > 0.999 else f"{100 * chance:.1f} %"


@dataclass(frozen=True)
class Question:
    """What is given: queries, a difference, or both; what is not given follows, with the power or for it."""

    queries: int | None = None
    difference: float | None = None
    alpha: float = 0.05
    power: float = 0.8


def sizes_of(comparison: Comparison, asked: Question) -> list[Size]:
    """The answer for each measure of a comparison of two systems, from the spread of their differences."""
    first, second = comparison.systems.values()
    sizes = []
    for j, measure in enumerate(comparison.measures):
        column = Column(second.values[:, j] - first.values[:, j], first.counted[:, j] & second.counted[:, j])
        most = measure.widest[1] if measure.widest else math.inf
        if asked.difference is not None and abs(asked.difference) > most:
            raise DataError(f"a difference of {asked.difference:g} is more than {measure.name} can have: {most:g}")
        found = size_for(column.deviation, asked, measure=measure.name, observed=column.n)
        sizes.append(found if found.difference <= most else replace(found, asked="nothing"))
    return sizes


def size_for(deviation: float, asked: Question, *, measure: str = "score", observed: int | None = None) -> Size:
    """What follows from two of queries, difference and power: queries needed, difference found, or the power."""
    queries, difference, alpha, power = asked.queries, asked.difference, asked.alpha, asked.power
    if not math.isfinite(deviation) or deviation <= 0:
        raise DataError(
            f"{measure}: the differences have a spread of {deviation:g}; it must be above 0, for systems that score "
            "alike on every query say nothing about the size of a test set"
        )
    if difference is not None and not (math.isfinite(difference) and difference != 0):
        raise DataError(f"difference {difference!r} must be a number other than 0")
    check_power(power, alpha)
    if queries is not None:
        queries = check_whole("queries", queries, 2)
    if queries is not None and difference is not None:
        reached = power_of(difference, deviation, queries, alpha)
        return Size(measure, deviation, queries, abs(difference), reached, alpha, "power", observed)
    if difference is not None:
        n = queries_needed(difference, deviation, alpha, power)
        return Size(measure, deviation, n, abs(difference), power, alpha, "queries", observed)
    if queries is None:
        raise DataError(
            "say which difference is to be found (--difference 0.02), or with how many queries (--queries 150)"
        )
    found = detectable_difference(deviation, queries, alpha, power)
    assert found is not None  # only fewer than two queries find nothing
    return Size(measure, deviation, queries, found, power, alpha, "difference", observed)


@dataclass(frozen=True)
class Audit:
    """What a mean over n queries can mean, if nothing else was published. Scores lie between 0 and 1."""

    n: int
    value: float
    baseline: float | None
    alpha: float
    low: float
    high: float
    """Wilson's interval where scores are 0 or 1, the largest spread that scores with this mean can have."""
    largest_spread: float | None
    """The largest standard deviation of the per-query differences at which the gap would be significant."""
    needed_correlation: float | None
    """The least correlation of the two systems' scores that gives so small a spread, if every score is 0 or 1."""
    possible: tuple[float, float] | None = None
    """The least and greatest correlation that scores of 0 and 1 with these means can have."""

    def sentences(self, language: Language = "en") -> list[str]:
        at, level = (0 if language == "en" else 1), f"{100 * (1 - self.alpha):g}"
        said = [
            (
                f"a mean of {self.value:g} over {self.n} queries: {level} % interval [{self.low:.3f}, {self.high:.3f}] "
                "if every query scores 0 or 1, the largest spread that scores with this mean can have",
                f"{self.n} 个查询的均值 {self.value:g}：若每个查询得分只有 0 或 1（同一均值下离散程度最大的情形），"
                f"{level} % 区间为 [{self.low:.3f}, {self.high:.3f}]",
            )[at]
        ]
        if self.baseline is None or self.largest_spread is None:
            return said
        gap = self.value - self.baseline
        said.append(
            (
                f"the gap of {gap:+g} to {self.baseline:g} is significant only if the per-query differences have a "
                f"standard deviation below {self.largest_spread:.4f}",
                f"与 {self.baseline:g} 相差 {gap:+g}：只有逐查询差值的标准差小于 {self.largest_spread:.4f} 时才显著",
            )[at]
        )
        if self.needed_correlation is not None and self.possible is not None:
            least, greatest = self.possible
            if self.needed_correlation > greatest:
                said.append(
                    (
                        "were every score 0 or 1, no correlation of the two systems would make the gap significant",
                        "若每个得分只有 0 或 1，则无论两个系统多么相关，差距都不显著",
                    )[at]
                )
            elif self.needed_correlation <= least:
                said.append(
                    (
                        "were every score 0 or 1, the gap would be significant however the two systems correlate",
                        "若每个得分只有 0 或 1，则无论两个系统是否相关，差距都显著",
                    )[at]
                )
            else:
                said.append(
                    (
                        f"were every score 0 or 1, the two systems would have to correlate above "
                        f"{self.needed_correlation:.2f}; {greatest:.2f} is the most such scores can",
                        f"若每个得分只有 0 或 1，则两个系统的相关系数须高于 {self.needed_correlation:.2f}；"
                        f"这样的得分最多相关 {greatest:.2f}",
                    )[at]
                )
        said.append(
            (
                "ask for the per-query scores: with them the question is settled by 'rankgauge compare-scores'",
                "请索取逐查询得分：有了它们，用 rankgauge compare-scores 即可判定",
            )[at]
        )
        return said

    def to_dict(self) -> dict[str, Any]:
        return {**asdict(self), "sentences": {language: self.sentences(language) for language in LANGUAGES}}


def audit(n: int, value: float, baseline: float | None = None, *, alpha: float = 0.05) -> Audit:
    """What a published mean over n queries allows one to say."""
    for name, number in (("value", value), ("baseline", baseline)):
        if number is not None and not 0 <= number <= 1:
            raise DataError(f"{name} {number!r} must lie between 0 and 1: it is a mean of scores from 0 to 1")
    n = check_whole("n", n, 2)
    check_alpha(alpha)
    low, high = share_interval(value, n, 1 - alpha)
    spread = correlation = possible = None
    if baseline is not None:
        if baseline == value:
            raise DataError("value and baseline are the same: there is no gap to judge")
        spread = significant_spread(value - baseline, n, alpha)
        first, second = (math.sqrt(x * (1 - x) * n / (n - 1)) for x in (value, baseline))
        if first and second:
            # var(a - b) = var a + var b - 2 r sd a sd b
            correlation = (first**2 + second**2 - spread**2) / (2 * first * second)
            more, less = max(value, baseline), min(value, baseline)
            both = more * less / ((1 - more) * (1 - less))
            greatest = math.sqrt(less * (1 - more) / (more * (1 - less)))
            possible = (-math.sqrt(min(both, 1 / both)), greatest)
    return Audit(n, value, baseline, alpha, low, high, spread, correlation, possible)
