"""Systems put side by side on the same queries: which pairs are compared, on which queries, and the tested rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from itertools import combinations
from typing import Any

from rankgauge.comparison.rows import System, check_averaged, on_common_queries, rows_of
from rankgauge.errors import DataError
from rankgauge.record import ScoredMeasure
from rankgauge.stats.clusters import cluster_numbers
from rankgauge.stats.settings import Settings

__all__ = ["ComparedSystems", "check_systems"]


def check_systems(systems: Mapping[str, Any], baseline: str | None) -> None:
    """There must be two, and the baseline among them."""
    names = list(map(str, systems))
    if baseline is not None and baseline not in names:
        close = get_close_matches(str(baseline), names, n=1)
        meant = f"; did you mean {close[0]!r}?" if close else ""
        raise DataError(f"the baseline {baseline!r} is not among the systems: {', '.join(names)}{meant}")
    if len(systems) < 2:
        raise DataError("a comparison needs at least two systems; evaluate scores one")


class ComparedSystems:
    """Systems compared by pairs, with the rows of their family of tests."""

    def __init__(
        self,
        queries: Sequence[str],
        measures: Sequence[ScoredMeasure],
        systems: Mapping[str, System],
        settings: Settings,
        *,
        baseline: str | None = None,
        slices: int = 1,
        conversations: Mapping[str, str] | None = None,
    ) -> None:
        names = list(systems)
        check_systems(systems, baseline)
        check_averaged(measures)
        self.queries, self.measures, self.systems, self.baseline = queries, measures, systems, baseline
        against = [(baseline, name) for name in names if name != baseline] if baseline is not None else []
        self.pairs = against or list(combinations(names, 2))
        # Slices by tag are one family too, with as many rows for each tag.
        self.settings = settings.for_family(len(queries), len(measures) * len(self.pairs) * max(1, slices))
        self.all_pairs = baseline is None or len(names) == 2
        self.compared = on_common_queries(systems) if self.all_pairs else systems
        """The systems with the queries they are compared on: where all pairs are, those that count for every system,
        since verdicts on different queries need not agree with any order of the systems."""
        self.conversations = dict(conversations or {})
        self.clusters = cluster_numbers(queries, self.conversations)
        """The number of each query's conversation; None where every query stands alone."""
        self.rows = rows_of(measures, self.compared, self.pairs, self.settings, queries, clusters=self.clusters)
        if not any(row.queries for row in self.rows):
            raise DataError(
                f"no query counts for {'both' if len(names) == 2 else 'all'} of {', '.join(map(str, names))}, so there "
                "is nothing to compare; score the same queries, or count those without an answer: missing='zero'"
            )
