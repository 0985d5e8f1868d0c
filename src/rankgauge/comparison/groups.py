"""Groups of systems: their order by mean, and what the verdicts on all pairs say of it, all on the same queries."""

from __future__ import annotations

from collections.abc import Sequence

from rankgauge.comparison.systems import ComparedSystems
from rankgauge.engine.averaging import byte_order
from rankgauge.record import Row, Standing
from rankgauge.stats.letters import letter_display, rank_ranges

__all__ = ["groups_of", "out_of_order"]


def groups_of(compared: ComparedSystems) -> dict[str, list[Standing]]:
    """The systems by measure, best first; nothing for a measure that has no query in common."""
    found = {}
    rows = byte_order(compared.queries)
    for j, measure in enumerate(compared.measures):
        systems = compared.compared
        common = next(iter(systems.values())).counted[:, j]
        if not common.any():
            continue
        means = {name: system.mean(j, rows, common) for name, system in systems.items()}
        by_mean = sorted(means, key=lambda name: means[name], reverse=not measure.lower_is_better)
        beats = _beats(compared.rows, measure.name)
        order = _best_first(by_mean, beats)
        place = {name: i for i, name in enumerate(order)}
        pairs = sorted((place[winner], place[loser]) for winner, loser in beats)
        ranks = rank_ranges(len(order), pairs)
        letters = letter_display(len(order), pairs) or [""] * len(order)
        found[measure.name] = [Standing(name, means[name], letters[i], ranks[i]) for i, name in enumerate(order)]
    return found


def out_of_order(
    shown: Sequence[Standing], rows: Sequence[Row], measure: str, *, lower_is_better: bool
) -> tuple[bool, bool]:
    """Whether some verdict contradicts the order of the means, and whether one contradicts the order shown.

    The second needs systems that beat each other in a circle. Tests of medians and ranks can find both.
    """
    place, means = {own.system: i for i, own in enumerate(shown)}, {own.system: own.mean for own in shown}
    beats = _beats(rows, measure) if shown else set()
    against = any(means[w] > means[v] if lower_is_better else means[w] < means[v] for w, v in beats)
    return against, any(place[winner] > place[loser] for winner, loser in beats)


def _beats(rows: Sequence[Row], measure: str) -> set[tuple[str, str]]:
    """Pairs of which the first is significantly better."""
    own = [row for row in rows if row.measure == measure]
    won = {(row.b, row.a) for row in own if row.verdict == "better"}
    return won | {(row.a, row.b) for row in own if row.verdict == "worse"}


def _best_first(by_mean: Sequence[str], beats: set[tuple[str, str]]) -> list[str]:
    """The order of the means, but nobody stands before one who beats it, as far as that is possible."""
    left, order = list(by_mean), []
    while left:
        unbeaten = (name for name in left if not any((other, name) in beats for other in left))
        order.append(next(unbeaten, left[0]))
        left.remove(order[-1])
    return order
