"""One family of comparisons: tested together, corrected together, each with the interval that agrees with its p-value.

Decision table, read from above:

    corrected p < alpha                                  better or worse
    corrected p of equivalence < alpha                   equivalent: the difference lies within the margin
    otherwise                                            inconclusive with this test set
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rankgauge.stats.corrections import corrected
from rankgauge.stats.differences import Column, Outcome, agreeing, kth_largest
from rankgauge.stats.intervals import Interval
from rankgauge.stats.onesided import equivalence_p
from rankgauge.stats.power import detectable_difference
from rankgauge.stats.randomization import few, max_t_tests, order_of
from rankgauge.stats.settings import Settings, Verdict
from rankgauge.stats.significance import TESTS

__all__ = ["Compared", "compare_columns"]


@dataclass(frozen=True)
class Compared:
    """What a family's test says of one column."""

    p_value: float | None
    p_corrected: float | None
    interval: Interval | None
    p_equivalent: float | None
    """Corrected p-value of the two one-sided tests against the margin."""
    detectable: float | None
    """The least true difference that these queries would have found with a power of 80 %."""
    verdict: Verdict
    """About the second system, if larger is better."""


def compare_columns(
    columns: Sequence[Column], settings: Settings, bounds: Sequence[tuple[float, float] | None] | None = None
) -> list[Compared]:
    """Test all columns as one family. `bounds` are the least and greatest difference a column can have."""
    if not columns:
        return []
    settings = settings.for_family(len(columns[0].values), len(columns))
    samples = settings.samples or 0
    if settings.correction == "max-t":
        tests, adjusted, maxima = max_t_tests(columns, alpha=settings.alpha, seed=settings.seed, samples=samples)
        critical = kth_largest(maxima, order_of(settings.alpha, maxima, columns, samples))
        most = max(column.n for column in columns)
        levels = [_tail(critical, most if few(column, most) else column.n) for column in columns]
        spans = [
            (column.mean - critical * column.error, column.mean + critical * column.error)
            if column.error and not few(column, most)
            else _span(test, min(level, settings.alpha))
            for column, test, level in zip(columns, tests, levels, strict=True)
        ]
    else:
        run = TESTS[settings.test].run
        tests = run(columns, alpha=settings.alpha, seed=settings.seed, samples=samples)
        adjusted, factors = corrected([test.p_value for test in tests], settings.correction)
        levels = [settings.alpha / factor for factor in factors]
        spans = [_span(test, level) for test, level in zip(tests, levels, strict=True)]
    one_sided = [equivalence_p(column, settings.equivalence_margin) for column in columns]
    equivalences, _ = corrected(one_sided, "holm" if settings.correction == "max-t" else settings.correction)
    results = []
    for j, (column, test, p) in enumerate(zip(columns, tests, adjusted, strict=True)):
        if test.p_value is None or p is None:
            results.append(Compared(None, None, None, None, None, "inconclusive"))
            continue
        low, high = (0.0 if abs(end) <= column.rounding else end for end in spans[j])
        # Where a test of medians rejects, its interval tells the side; the mean may lie on the other.
        side = column.mean if TESTS[settings.test].of_mean else low + high
        low, high = agreeing(low, high, p < settings.alpha, side)
        if bounds is not None and (limit := bounds[j]) is not None:
            low, high = max(low, limit[0]), min(high, limit[1])
        method = "max-t" if settings.correction == "max-t" else test.method
        results.append(
            Compared(
                test.p_value,
                p,
                Interval(low, high, 1 - settings.alpha, method),
                equivalences[j],
                _detectable(column, levels[j], settings, None if bounds is None else bounds[j]),
                _verdict(p, low, equivalences[j], settings.alpha),
            )
        )
    return results


def _span(test: Outcome, level: float) -> tuple[float, float]:
    return test.bounds(level) if test.p_value is not None else (0.0, 0.0)


def _detectable(column: Column, level: float, settings: Settings, limit: tuple[float, float] | None) -> float | None:
    """The least difference found with a chance of 80 %; None where the test can find none with so few queries, and
    where no spread was seen to tell it from."""
    if column.constant:
        return None
    least = TESTS[settings.test].least_p(column)
    if settings.samples and 2 ** min(column.n, 64) > settings.samples:
        least = max(least, 1 / (settings.samples + 1))
    if least >= level:
        return None
    found = detectable_difference(column.deviation, column.n, min(level, 0.5))
    return None if found is None or (limit is not None and found > limit[1]) else found


def _verdict(p: float, low: float, p_equivalent: float | None, alpha: float) -> Verdict:
    if p < alpha:
        return "better" if low > 0 else "worse"
    return "equivalent" if p_equivalent is not None and p_equivalent < alpha else "inconclusive"


def _tail(critical: float, n: int) -> float:
    """The two-sided level that a critical t value stands for."""
    from scipy.special import stdtr

    return max(float(2 * stdtr(n - 1, -critical)), 1e-300) if n > 1 else 0.05
