"""How far the order of tied documents could move the scores, and the difference between two systems.

Of all orders that equal scores leave open, the best one puts higher grades first within each tied group and documents
that nobody judged last; the worst one puts those first, then lower grades. That holds for every measure whose score
never falls when two documents are exchanged so that the higher grade comes first (`Definition.form`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from rankgauge.engine.averaging import aggregate, byte_order
from rankgauge.engine.matching import match
from rankgauge.engine.scoring import counted_queries, score_queries
from rankgauge.evaluation import read_run
from rankgauge.measures import Measure
from rankgauge.model.contract import Contract
from rankgauge.model.judgments import Qrels
from rankgauge.model.ranked import Bools, Floats, Ints, RankedGrades
from rankgauge.record import Tied, TiedRange, TiedScore

__all__ = ["extreme_order", "has_extremes", "tied_ranges"]


def has_extremes(measure: Measure, contract: Contract) -> bool:
    """Whether sorting by grade gives the best and the worst order of tied documents.

    Lists that are cut within a tie and then lose their unjudged documents may be best with fewer judged ones inside.
    """
    if measure.get("gains") is not None or measure.get("budget") is not None:
        return False
    return measure.definition.form(measure) != "" and not (measure.get("judged_only") and contract.depth is not None)


def extreme_order(ranked: RankedGrades, *, best: bool) -> RankedGrades:
    """A plain ranking in the best (or worst) order that the ties allow."""
    owner, above, tied = ranked.owner, ranked.above, ranked.tied
    order = np.lexsort((-ranked.grades if best else ranked.grades, above, owner))
    group = np.r_[True, (np.diff(owner) != 0) | (np.diff(above) != 0)][: len(owner)]
    number = np.cumsum(group) - 1
    place = np.arange(len(owner)) - np.flatnonzero(group)[number]
    members = np.bincount(number, minlength=1)[number]
    shift = place if best else tied - members + place
    hits = ranked.subtopics and ranked.subtopics.renumbered(np.argsort(order))
    fixed = replace(
        ranked,
        above=above + shift,
        tied=np.ones_like(tied),
        grades=ranked.grades[order],
        subtopics=hits,
        _cache={},
    )
    return fixed if ranked.limit is None else fixed.limited(ranked.limit)


@dataclass(frozen=True)
class _Scores:
    low: Floats
    expected: Floats
    high: Floats
    observed: Floats
    counted: Bools
    """All queries by measures."""
    sampled: Mapping[str, int]
    tied: bool
    order: Ints
    """The queries' `byte_order`."""


def _scores(qrels: Qrels, run: Any, measures: Sequence[Measure], contract: Contract) -> _Scores:
    def ranked_by(rule: Contract) -> RankedGrades:
        ranked = match(qrels, run, rule).ranked
        return ranked if rule.depth is None else ranked.limited(rule.depth)

    open_ = ranked_by(contract.with_changes(ties="expected"))
    expected, sampled = score_queries(open_, measures)
    observed = expected if contract.ties == "expected" else score_queries(ranked_by(contract), measures)[0]
    low, high = (score_queries(extreme_order(open_, best=best), measures)[0] for best in (False, True))
    counted = counted_queries(open_, measures, contract)
    return _Scores(low, expected, high, observed, counted, sampled, open_.has_ties, byte_order(open_.queries))


def tied_ranges(
    qrels: Qrels,
    runs: Mapping[str, Any],
    measures: Sequence[Measure],
    contract: Contract,
    pairs: Sequence[tuple[str, str]] = (),
    among: Mapping[str, Bools] | None = None,
) -> Tied:
    """Ranges of every system and pair that has ties. Where the order given counts (`ties='given'`), nothing is tied.

    A pair is compared over the queries that count for both, as long as the measure is averaged over queries; `among`
    leaves out more of them, by measure.
    """
    usable = [measure for measure in measures if has_extremes(measure, contract)]
    skipped = [str(measure) for measure in measures if not has_extremes(measure, contract)]
    if not usable or contract.ties == "given":
        return Tied([], [], skipped)
    scores = {name: _scores(qrels, read_run(run, name), usable, contract) for name, run in runs.items()}
    systems, rows = [], []
    for j, measure in enumerate(usable):
        how = measure.definition.aggregate
        for name, own in scores.items():
            if own.tied:
                kinds = (own.low, own.expected, own.high, own.observed)
                low, expected, high, observed = (
                    aggregate(how, kind[:, j], own.counted[:, j], own.order) for kind in kinds
                )
                sampled = str(measure) in own.sampled
                systems.append(TiedScore(str(measure), name, low, expected, high, observed, sampled))
        for a, b in pairs:
            one, two = scores[a], scores[b]
            if how != "mean" or not (one.tied or two.tied):
                continue
            both = one.counted[:, j] & two.counted[:, j] & (among or {}).get(str(measure), True)
            low, high, observed = (
                aggregate(how, (right - left)[:, j], both, one.order)
                for right, left in ((two.low, one.high), (two.high, one.low), (two.observed, one.observed))
            )
            rows.append(TiedRange(str(measure), a, b, low, high, observed))
    return Tied(systems, rows, skipped)
