"""Groups of systems: their order by mean, and what the verdicts on all pairs say of it, all on the same queries."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from rankgauge.engine.averaging import byte_order
from rankgauge.stats.letters import letter_display, rank_ranges

if TYPE_CHECKING:
    from rankgauge.comparison.comparison import Comparison

__all__ = ["Standing", "groups_of", "out_of_order"]


class Standing(NamedTuple):
    """Where one system stands by one measure."""

    system: str
    mean: float
    """Over the queries that count for every system, which are those of the verdicts."""
    letters: str
    """Systems that share a letter are not significantly different; empty where a to z do not suffice."""
    ranks: tuple[int, int]
    """The first and last rank it can hold, given which systems are significantly better and worse."""

    @property
    def label(self) -> str:
        """Its letters, or its ranks where there are no letters."""
        first, last = self.ranks
        return self.letters or (f"{first}-{last}" if first < last else str(first))


def groups_of(comparison: Comparison) -> dict[str, list[Standing]]:
    """The systems by measure, best first; nothing for a measure that has no query in common."""
    found = {}
    rows = byte_order(comparison.queries)
    for j, measure in enumerate(comparison.measures):
        systems = comparison.compared
        common = next(iter(systems.values())).counted[:, j]
        if not common.any():
            continue
        means = {name: system.mean(j, rows, common) for name, system in systems.items()}
        by_mean = sorted(means, key=lambda name: means[name], reverse=not measure.lower_is_better)
        beats = _beats(comparison, measure.name)
        order = _best_first(by_mean, beats)
        place = {name: i for i, name in enumerate(order)}
        pairs = sorted((place[winner], place[loser]) for winner, loser in beats)
        ranks = rank_ranges(len(order), pairs)
        letters = letter_display(len(order), pairs) or [""] * len(order)
        found[measure.name] = [Standing(name, means[name], letters[i], ranks[i]) for i, name in enumerate(order)]
    return found


def out_of_order(comparison: Comparison, measure: str) -> tuple[bool, bool]:
    """Whether some verdict contradicts the order of the means, and whether one contradicts the order shown.

    The second needs systems that beat each other in a circle. Tests of medians and ranks can find both.
    """
    shown = comparison.groups.get(measure, [])
    place, means = {own.system: i for i, own in enumerate(shown)}, {own.system: own.mean for own in shown}
    lower = next(known.lower_is_better for known in comparison.measures if known.name == measure)
    beats = _beats(comparison, measure) if shown else set()
    against = any(means[w] > means[v] if lower else means[w] < means[v] for w, v in beats)
    return against, any(place[winner] > place[loser] for winner, loser in beats)


def _beats(comparison: Comparison, measure: str) -> set[tuple[str, str]]:
    """Pairs of which the first is significantly better."""
    rows = [row for row in comparison.rows if row.measure == measure]
    won = {(row.b, row.a) for row in rows if row.verdict == "better"}
    return won | {(row.a, row.b) for row in rows if row.verdict == "worse"}


def _best_first(by_mean: Sequence[str], beats: set[tuple[str, str]]) -> list[str]:
    """The order of the means, but nobody stands before one who beats it, as far as that is possible."""
    left, order = list(by_mean), []
    while left:
        unbeaten = (name for name in left if not any((other, name) in beats for other in left))
        order.append(next(unbeaten, left[0]))
        left.remove(order[-1])
    return order
