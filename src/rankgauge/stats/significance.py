"""The significance tests by name. This module is light: the command line takes its choices from it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from rankgauge.registry import Registry

if TYPE_CHECKING:
    from rankgauge.stats.differences import Column, Outcome

__all__ = ["CORRECTIONS", "TESTS", "Draws", "SignificanceTest"]

CORRECTIONS = ("holm", "max-t", "bh", "none")


class _Run(Protocol):
    def __call__(self, columns: Sequence[Column], *, alpha: float, seed: int, samples: int) -> list[Outcome]: ...


@dataclass(frozen=True)
class Draws:
    """How many random draws a test takes where the caller names no number."""

    usual: int
    least: int
    most_cells: int
    """Draws times queries beyond which fewer are drawn, for the time each takes grows with the queries."""


@dataclass(frozen=True)
class SignificanceTest:
    """A paired test of the columns of a family, each for itself; `samples` is 0 for a test that draws nothing."""

    run: _Run
    draws: Draws | None = None
    of_mean: bool = True
    """Whether it is about the mean difference; one about medians may find the other side of 0."""
    least_p: Callable[[Column], float] = lambda column: 0.0
    """The smallest p-value that a column can get, however large its differences, were every draw made."""


TESTS: Registry[SignificanceTest] = Registry(
    "significance test",
    "rankgauge.tests",
    {
        "randomization": "rankgauge.stats.randomization:RANDOMIZATION",
        "t": "rankgauge.stats.classical:T",
        "wilcoxon": "rankgauge.stats.classical:WILCOXON",
        "sign": "rankgauge.stats.classical:SIGN",
        "bootstrap": "rankgauge.stats.bootstrap:BOOTSTRAP",
    },
)
