"""The paired randomization (sign-flip) test.

If two systems are exchangeable, each query's difference is as likely to have the other sign. The statistic is the
absolute mean difference; with n queries there are 2^n assignments of signs. All are tried where they are few, else
`samples` are drawn, and the data themselves count as one of them, so that a p-value is never 0:

    p = (1 + number of draws with a statistic at least as large) / (1 + samples)

Where queries belong to conversations, the systems are swapped in whole conversations: there is one sign for each, and
what is said of a query here holds for a conversation. Statistics equal up to rounding count as equal. Signs are shared
by all columns, so that the largest of their t values (max-t) has its joint distribution, and a draw costs one row of a
matrix product.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from rankgauge.model.ranked import Floats
from rankgauge.stats.constant import constant_bounds
from rankgauge.stats.differences import Column, Outcome, beyond, kth_largest, t_values
from rankgauge.stats.significance import Draws, SignificanceTest

__all__ = ["RANDOMIZATION", "Randomized", "few", "max_t_tests", "order_of", "randomization_tests"]

_TOLERANCE = 1e-9
_CELLS = 4_000_000  # signs held at a time
_HELD = 6_400_000  # drawn sums held at a time
_FEW = 16
"""Up to so many queries, t is infinite in a share of the draws that matters: 2 / 2^n of them."""


@dataclass(frozen=True)
class Randomized(Outcome):
    """A sign-flip test, with what its inversion needs.

    Shifting the differences by d changes a drawn sum A = sum s_i d_i by d N with N = sum s_i. With T = sum d_i,
    e = A - T N / n and r = N / n, a shift to T - u keeps the draw at least as large as the data up to
    u = max(e / (1 - r), -e / (1 + r)), so that the bounds are order statistics of these. A shift moves the sum of a
    conversation as often as it has queries, so that there N = sum w_i s_i.
    """

    below: Floats
    """The largest u of all draws, for shifts below the mean; those above it are `above`."""
    above: Floats
    column: Column
    draws: int
    exact: bool

    def bounds(self, alpha: float) -> tuple[float, float]:
        k, mean, n = _order(alpha, self.draws, self.exact), self.column.mean, self.column.n
        low, high = mean - kth_largest(self.below, k) / n, mean + kth_largest(self.above, k) / n
        if self.column.constant:  # no draw differs from the data: only what was not seen makes it uncertain
            wide = constant_bounds(self.column, alpha)
            return min(low, wide[0]), max(high, wide[1])
        return low, high


def _order(alpha: float, draws: int, exact: bool) -> int:
    return math.ceil(alpha * draws - 1e-9) if exact else beyond(alpha, draws)


def randomization_tests(
    columns: Sequence[Column], *, alpha: float = 0.05, seed: int = 0, samples: int = 100_000
) -> list[Outcome]:
    """Each column tested with the same random signs. `alpha` is the largest level at which bounds will be asked for."""
    tests: list[Outcome | None] = [_all_signs(column, alpha, samples) for column in columns]
    others = [j for j, test in enumerate(tests) if test is None]
    step = max(1, _HELD // samples)
    for first in range(0, len(others), step):
        block = [columns[j] for j in others[first : first + step]]
        for j, test in zip(others[first:], _block(block, _sums(block, seed, samples), alpha, samples), strict=False):
            tests[j] = test
    return [test for test in tests if test is not None]


def _all_signs(column: Column, alpha: float, samples: int) -> Outcome | None:
    """The test over all assignments of signs, where few queries count; None where they are too many."""
    if column.n < 2 or not _is_exact(column.n, samples):
        return None
    weights = None if column.weights is None else column.weights[column.counted]
    own = replace(column, values=column.own, counted=np.ones(column.n, dtype=bool), weights=weights)
    return _block([own], _sums([own], 0, samples), alpha, samples)[0]


def _sums(columns: Sequence[Column], seed: int, samples: int) -> tuple[Floats, Floats]:
    """Drawn sums of all columns around their means, then of the signs over the queries that count for each.

    Around the mean, the sums are as exact as the spread itself; `_whole` puts the mean back.
    """
    masks = np.stack([c.counted if c.weights is None else c.weights for c in columns], axis=1)
    kinds, kind_of = np.unique(masks, axis=1, return_inverse=True)
    centred = [np.where(c.counted, c.values - c.mean, 0.0) if c.deviation else np.zeros(len(c.values)) for c in columns]
    numbers = np.concatenate([np.stack(centred, axis=1), kinds.astype(np.float64)], axis=1)
    sums = np.concatenate(list(_drawn(numbers, seed, samples)))
    return sums[:, : len(columns)], sums[:, len(columns) :][:, kind_of.reshape(-1)]


def _whole(column: Column, rest: Floats, signs: Floats) -> Floats:
    """sum s_i d_i from sum s_i (d_i - mean) and sum s_i."""
    return rest + column.mean * signs


def _block(columns: Sequence[Column], sums: tuple[Floats, Floats], alpha: float, samples: int) -> list[Outcome]:
    exact = _is_exact(len(columns[0].values), samples)
    tests: list[Outcome] = []
    for j, column in enumerate(columns):
        if column.n < 2:
            tests.append(Outcome(None, "randomization"))
            continue
        rest, signs = sums[0][:, j], sums[1][:, j]
        drawn = _whole(column, rest, signs)
        total, scale = float(column.own.sum()), float(np.abs(column.own).sum())
        count = int(np.count_nonzero(np.abs(drawn) >= abs(total) - _TOLERANCE * scale))
        p = count / len(drawn) if exact else (1 + count) / (1 + len(drawn))
        share = signs / column.n
        with np.errstate(divide="ignore", invalid="ignore"):
            lower = np.fmax(rest / (1 - share), -rest / (1 + share))
            upper = np.fmax(rest / (1 + share), -rest / (1 - share))
        # All signs kept or all turned, up to the rounding of weights: as large as the data whatever the shift.
        whole = np.abs(share) > 1 - 1e-12
        lower[whole] = upper[whole] = math.inf
        keep = max(1, _order(alpha, len(drawn), exact))
        # A copy, for a view would hold all draws of every column in memory.
        lower, upper = (np.partition(side, len(side) - keep)[-keep:].copy() for side in (lower, upper))
        tests.append(Randomized(p, "randomization", lower, upper, column, len(drawn), exact))
    return tests


def max_t_tests(
    columns: Sequence[Column], *, alpha: float = 0.05, seed: int = 0, samples: int = 100_000
) -> tuple[list[Outcome], list[float | None], Floats]:
    """Single-step max-t: each column's own test, p-values corrected for all together, and the drawn maxima of |t|.

    p = P(max over columns of |t*| >= |t|) under random signs (Westfall and Young 1993).
    """
    tests: list[Outcome] = []
    largest: Floats | None = None
    most = max(column.n for column in columns)
    seen = []  # |t| of the data, on the scale of the drawn ones
    step = max(1, _HELD // samples)
    for first in range(0, len(columns), step):
        block = columns[first : first + step]
        sums = _sums(block, seed, samples)
        tests += _block(block, sums, alpha, samples)
        for j, column in enumerate(block):
            if column.n < 2 or column.identical:
                seen.append(0.0)
                continue
            drawn = _whole(column, sums[0][:, j], sums[1][:, j])
            squares: Floats | float = float((column.own**2).sum())  # which the signs do not change
            if column.weights is not None:
                squares = _squares(column, drawn, seed, samples)
            drawn, own = t_values(drawn, squares, column.n), abs(column.t)
            if few(column, most):
                drawn, own = _comparable(drawn, own, most)
            seen.append(own)
            largest = drawn if largest is None else np.maximum(largest, drawn)
    if largest is None:
        return tests, [None if column.n < 2 else 1.0 for column in columns], np.zeros(0)
    exact = _is_exact(len(columns[0].values), samples)
    corrected: list[float | None] = []
    for column, own in zip(columns, seen, strict=True):
        if column.n < 2:
            corrected.append(None)
            continue
        count = int(np.count_nonzero(largest >= own * (1 - _TOLERANCE)))
        corrected.append(count / len(largest) if exact else (1 + count) / (1 + len(largest)))
    return tests, corrected, largest


def _squares(column: Column, drawn: Floats, seed: int, samples: int) -> Floats:
    """What takes the place of the sum of squares for conversations of unequal length, so that the drawn t are
    cluster-robust as that of the data is: with z the sums, M their drawn mean and C = sum s z w,
    sum (s z - w M)^2 = sum z^2 - 2 M C + M^2 sum w^2."""
    assert column.weights is not None
    z = np.where(column.counted, column.values - column.mean + column.weights * column.mean, 0.0)
    crossed = np.concatenate(list(_drawn((z * column.weights)[:, None], seed, samples)))[:, 0]
    means = drawn / column.n
    rest = (z**2).sum() - 2 * means * crossed + means**2 * (column.weights**2).sum()
    return np.asarray(rest + column.n * means**2)


def few(column: Column, most: int) -> bool:
    """Whether a column has so few queries beside others that its t needs to be made comparable."""
    return column.n <= _FEW and column.n < most


def _comparable(drawn: Floats, own: float, most: int) -> tuple[Floats, float]:
    """|t| of a few queries, drawn and seen, as the |t| of `most` queries that is as rare.

    With 5 queries one draw in 16 makes all signs equal and t infinite; as the largest of all columns it would leave no
    other column a chance.
    """
    from scipy.special import stdtrit

    ordered = np.sort(drawn)
    shares = 1 - np.searchsorted(ordered, np.append(drawn, own) * (1 - _TOLERANCE)) / len(drawn)
    found = -stdtrit(most - 1, np.maximum(shares, 1 / (1 + len(drawn))) / 2)
    return found[:-1], float(found[-1])


def order_of(alpha: float, drawn: Floats, columns: Sequence[Column], samples: int) -> int:
    """Which of the drawn values, from the largest on, bounds the ones that are rejected at level alpha."""
    return _order(alpha, len(drawn), _is_exact(len(columns[0].values), samples)) if len(drawn) else 0


def _is_exact(n: int, samples: int) -> bool:
    return n < 60 and 2**n <= samples


def _drawn(numbers: Floats, seed: int, samples: int) -> Iterator[Floats]:
    """Sums of the columns under random signs, or under all of them, some at a time."""
    n = len(numbers)
    total = numbers.sum(axis=0)
    if _is_exact(n, samples):
        all_kept = (np.arange(2**n)[:, None] >> np.arange(n)) & 1
        yield 2.0 * (all_kept.astype(np.float64) @ numbers) - total
        return
    random = np.random.default_rng(seed)
    step = max(1, _CELLS // n)
    for first in range(0, samples, step):
        rows = min(step, samples - first)
        bits = np.frombuffer(random.bytes((rows * n + 7) // 8), dtype=np.uint8)
        kept = np.unpackbits(bits, count=rows * n).reshape(rows, n)
        yield 2.0 * (kept.astype(np.float64) @ numbers) - total


def _least_p(column: Column) -> float:
    return float(2.0 ** (1 - column.n))


RANDOMIZATION = SignificanceTest(randomization_tests, Draws(100_000, 10_000, 700_000_000), least_p=_least_p)
