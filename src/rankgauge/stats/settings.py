"""How differences are tested, and what can come of it; without what tests them, so that a record can be read alone."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Literal

from rankgauge.errors import DataError
from rankgauge.stats.levels import check_alpha, check_whole
from rankgauge.stats.significance import CORRECTIONS, TESTS

__all__ = ["Settings", "Verdict"]

Verdict = Literal["better", "worse", "equivalent", "inconclusive"]
_MOST_SAMPLES = 10_000_000


@dataclass(frozen=True)
class Settings:
    """How differences are tested. `samples` are the random draws: 0 where the test draws none, None for a number that
    goes with the number of queries."""

    test: str = "randomization"
    correction: str = "holm"
    alpha: float = 0.05
    equivalence_margin: float = 0.01
    seed: int = 0
    samples: int | None = 100_000

    def for_family(self, queries: int, rows: int) -> Settings:
        """The same with the number of draws settled: 100,000 (bootstrap 10,000) up to some thousand queries, and more
        where so many rows are corrected for that fewer could not make any of them significant."""
        draws = TESTS[self.test].draws
        if self.samples is not None or draws is None:
            return self
        usual = max(draws.least, min(draws.usual, draws.most_cells // max(1, queries)))
        return replace(self, samples=min(_MOST_SAMPLES, max(usual, 2 * self.least_samples(rows))))

    def least_samples(self, rows: int) -> int:
        """The draws with which the smallest p-value, 1 / (1 + samples), times the rows can be below alpha; 0 where the
        test or the correction needs none."""
        if TESTS[self.test].draws is None or self.correction not in ("holm", "bh"):
            return 0
        return math.floor(rows / self.alpha)

    @staticmethod
    def of(
        test: str = "randomization",
        correction: str = "holm",
        alpha: float = 0.05,
        equivalence_margin: float = 0.01,
        seed: int = 0,
        samples: int | None = None,
    ) -> Settings:
        """Settings that have been checked."""
        check_alpha(alpha)
        margin = equivalence_margin
        if isinstance(margin, bool) or not isinstance(margin, int | float) or not 0 <= margin <= 1e300:
            raise DataError(f"equivalence_margin {repr(margin)[:40]} must be a number from 0 on, such as 0.01")
        seed = check_whole("seed", seed, 0)
        if correction not in CORRECTIONS:
            raise DataError(f"correction {correction!r} is not one of {', '.join(CORRECTIONS)}")
        if correction == "max-t" and test != "randomization":
            raise DataError(
                f"max-t is found by randomization, so it goes with `test='randomization'` only, not with {test!r}; "
                "holm goes with every test"
            )
        drawn: int | None = 0 if TESTS[test].draws is None else None
        if samples is not None and drawn is None:
            drawn = check_whole("samples", samples, 100, _MOST_SAMPLES)
        return Settings(test, correction, alpha, margin, seed, drawn)
