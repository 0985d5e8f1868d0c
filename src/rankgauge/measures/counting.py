"""Measures that count: precision, recall, success, set measures and plain counts.

Notation: h_k relevant documents among the first k, R relevant documents in all, n documents retrieved.
"""

from __future__ import annotations

import numpy as np

from rankgauge.errors import MeasureError
from rankgauge.measures.measure import Definition, Law, Measure, Parameter
from rankgauge.measures.parameters import DEPTH, JUDGED_ONLY, REL, depth_of
from rankgauge.measures.registry import register
from rankgauge.measures.ties import probability_of_none
from rankgauge.model.ranked import Floats, RankedGrades

__all__: list[str] = []

_COMMON = frozenset({Law.BOUNDED, Law.MONOTONE, Law.BLIND, Law.UNJUDGED, Law.EMPTY_ZERO})


def ratio(numerator: Floats, denominator: Floats) -> Floats:
    """Numerator over denominator, 0 where the denominator is 0."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(denominator > 0, numerator / denominator, 0.0)


def hits(ranked: RankedGrades, measure: Measure) -> Floats:
    """h_k: relevant documents among the first k (all of them without a depth)."""
    depth = depth_of(measure, ranked)
    rel = measure.get("rel")
    key = ("hits", depth, rel)
    return ranked.cached(key, lambda: ranked.total(ranked.weights(np.ones(depth)), ranked.relevant(rel)))


def returned(ranked: RankedGrades, measure: Measure) -> Floats:
    """min(k, n)."""
    n = ranked.retrieved
    return (n if measure.at is None else np.minimum(n, int(measure.at))).astype(np.float64)


def relevant_in_all(ranked: RankedGrades, measure: Measure) -> Floats:
    return ranked.n_relevant(measure.get("rel")).astype(np.float64)


def precision(ranked: RankedGrades, measure: Measure) -> Floats:
    if measure.get("over") == "returned":
        return ratio(hits(ranked, measure), returned(ranked, measure))
    return hits(ranked, measure) / float(measure.at or 1)


def recall(ranked: RankedGrades, measure: Measure) -> Floats:
    total = relevant_in_all(ranked, measure)
    budget = measure.get("budget")
    if budget is not None:
        fits = ranked.prefix[f"budget={budget}"]
        inside = np.clip(fits[ranked.owner] - ranked.above, 0, ranked.tied) / ranked.tied
        return ratio(ranked.total(inside, ranked.relevant(measure.get("rel"))), total)
    if measure.get("capped") and measure.at is not None:
        total = np.minimum(total, float(measure.at))
    return ratio(hits(ranked, measure), total)


def _check_recall(measure: Measure) -> None:
    others = measure.at is not None or measure.get("capped") or measure.get("judged_only")
    if measure.get("budget") is not None and others:
        raise MeasureError("R(budget=...) takes no depth, capped or judged_only: the budget is what cuts the list")
    if measure.get("capped") and measure.at is None:
        raise MeasureError("R(capped=True) needs a depth: write R(capped=True)@10")


def f_measure(ranked: RankedGrades, measure: Measure) -> Floats:
    square = float(measure.get("beta")) ** 2
    total = relevant_in_all(ranked, measure)
    return np.where(total > 0, (1 + square) * hits(ranked, measure) / (square * total + float(measure.at or 1)), 0.0)


def success(ranked: RankedGrades, measure: Measure) -> Floats:
    if ranked.has_ties:
        return 1.0 - probability_of_none(ranked, measure.get("rel"), depth_of(measure, ranked))
    return (hits(ranked, measure) > 0).astype(np.float64)


def judged(ranked: RankedGrades, measure: Measure) -> Floats:
    depth = depth_of(measure, ranked)
    return ratio(ranked.total(ranked.weights(np.ones(depth))), returned(ranked, measure))


def unjudged(ranked: RankedGrades, measure: Measure) -> Floats:
    depth = depth_of(measure, ranked)
    known = ranked.total(ranked.weights(np.ones(depth)), ranked.grades >= 0)
    return (returned(ranked, measure) - known) / float(measure.at or 1)


def r_precision(ranked: RankedGrades, measure: Measure) -> Floats:
    total = ranked.n_relevant(measure.get("rel"))
    cut = np.floor(float(measure.get("mult")) * total + 0.9).astype(np.int64)
    reach = np.minimum(cut, ranked.deepest)[ranked.owner]
    inside = np.clip(reach - ranked.above, 0, ranked.tied) / ranked.tied
    return ratio(ranked.total(inside, ranked.relevant(measure.get("rel"))), cut.astype(np.float64))


def set_precision(ranked: RankedGrades, measure: Measure) -> Floats:
    return ratio(hits(ranked, measure), returned(ranked, measure))


def set_relative_precision(ranked: RankedGrades, measure: Measure) -> Floats:
    best = np.minimum(ranked.retrieved, ranked.n_relevant(measure.get("rel"))).astype(np.float64)
    return ratio(hits(ranked, measure), best)


def set_recall(ranked: RankedGrades, measure: Measure) -> Floats:
    return ratio(hits(ranked, measure), relevant_in_all(ranked, measure))


def set_f(ranked: RankedGrades, measure: Measure) -> Floats:
    weight = float(measure.get("beta"))
    p, r = set_precision(ranked, measure), set_recall(ranked, measure)
    return ratio((weight + 1) * p * r, r + weight * p)


def set_ap(ranked: RankedGrades, measure: Measure) -> Floats:
    found = hits(ranked, measure)
    return ratio(found * found, returned(ranked, measure) * relevant_in_all(ranked, measure))


def accuracy(ranked: RankedGrades, measure: Measure) -> Floats:
    rel = measure.get("rel")
    relevant = ranked.relevant(rel) & (ranked.ranks <= (measure.at or np.iinfo(np.int64).max))
    found = ranked.total(np.ones(len(ranked.grades)), relevant)
    wrong = returned(ranked, measure) - found
    before = ranked.total(
        (ranked.ranks - ranked.so_far(relevant, ("accuracy", rel, measure.at))).astype(float), relevant
    )
    pairs = found * wrong
    return np.where(found == 0, 0.0, np.where(pairs == 0, 1.0, 1.0 - ratio(before, pairs)))


def number_retrieved(ranked: RankedGrades, measure: Measure) -> Floats:
    rel = measure.get("rel")
    if rel is None:
        return ranked.retrieved.astype(np.float64)
    return ranked.count(ranked.relevant(rel))


def number_relevant(ranked: RankedGrades, measure: Measure) -> Floats:
    return relevant_in_all(ranked, measure)


def number_relevant_retrieved(ranked: RankedGrades, measure: Measure) -> Floats:
    return ranked.count(ranked.relevant(measure.get("rel")))


def number_nonrelevant_judged_retrieved(ranked: RankedGrades, measure: Measure) -> Floats:
    return ranked.count(~ranked.relevant(measure.get("rel")) & (ranked.grades >= 0))


def number_of_queries(ranked: RankedGrades, measure: Measure) -> Floats:
    return np.ones(len(ranked))


def utility(ranked: RankedGrades, measure: Measure) -> Floats:
    found = number_relevant_retrieved(ranked, measure)
    kept: Floats = measure.get("hit") * found + measure.get("noise") * (ranked.retrieved - found)
    missed: Floats = measure.get("miss") * (relevant_in_all(ranked, measure) - found)
    return kept + missed


OVER = Parameter("over", str, "k", "divisor: 'k', or 'returned' for min(k, n)", choices=("k", "returned"))
CAPPED = Parameter("capped", bool, False, "divide by min(R, k), so that 1 can be reached when R > k")
BUDGET = Parameter("budget", int, None, "recall of the longest prefix whose texts fit into this many units", least=1)
BETA = Parameter("beta", float, 1.0, "how much recall weighs against precision", least=0)
COUNT = frozenset({Law.UNJUDGED})

register(
    Definition(
        "P",
        precision,
        "h_k / k",
        (REL, JUDGED_ONLY, OVER),
        DEPTH,
        at_required=True,
        spellings=("precision",),
        trec_at="P_{at}",
        family="precision",
        laws=_COMMON,
        ties="exact",
        source="van Rijsbergen 1979",
        caution=lambda m: "over_returned" if m.get("over") == "returned" else None,
        form=lambda measure: "additive",
    ),
    Definition(
        "R",
        recall,
        "h_k / R",
        (REL, JUDGED_ONLY, CAPPED, BUDGET),
        DEPTH,
        spellings=("recall",),
        variants={"capped recall": {"capped": True}, "R_cap": {"capped": True}, "relative_P": {"capped": True}},
        trec_at="recall_{at}",
        family="recall",
        laws=_COMMON,
        ties="exact",
        check=_check_recall,
        needs=frozenset({"budget"}),
        form=lambda measure: "additive",
    ),
    Definition(
        "F1",
        f_measure,
        "(1 + beta^2) P@k R@k / (beta^2 P@k + R@k)",
        (REL, JUDGED_ONLY, BETA),
        DEPTH,
        at_required=True,
        spellings=("F", "f-measure"),
        renamed=("beta", "F"),
        family="balance",
        laws=_COMMON,
        ties="exact",
        source="van Rijsbergen 1979",
        form=lambda measure: "additive",
    ),
    Definition(
        "Success",
        success,
        "1 if h_k > 0, else 0",
        (REL, JUDGED_ONLY),
        DEPTH,
        at_required=True,
        spellings=("Coverage", "hit rate", "hit", "hits", "hitrate"),
        trec_at="success_{at}",
        family="first result",
        laws=_COMMON | {Law.PERFECT},
        ties="exact",
        form=lambda measure: "first",
    ),
    Definition(
        "Judged",
        judged,
        "judged documents among the first k / min(k, n)",
        (),
        DEPTH,
        family="coverage",
        laws=frozenset({Law.BOUNDED, Law.EMPTY_ZERO}),
        ties="exact",
        relevance=False,
    ),
    Definition(
        "Unjudged",
        unjudged,
        "documents among the first k that have no judgment or a negative one / k",
        (),
        DEPTH,
        at_required=True,
        spellings=("unj",),
        trec_at="unj_{at}",
        lower_is_better=True,
        family="coverage",
        laws=frozenset({Law.BOUNDED, Law.EMPTY_ZERO}),
        ties="exact",
        relevance=False,
        source="trec_eval 10",
    ),
    Definition(
        "Rprec",
        r_precision,
        "h_c / c with c = floor(mult R + 0.9), which is R for mult = 1",
        (REL, JUDGED_ONLY, Parameter("mult", float, 1.0, "cut at this multiple of R", least=0)),
        spellings=("R-precision", "r_prec"),
        trec="Rprec",
        family="overall",
        laws=_COMMON | {Law.PERFECT},
        ties="exact",
        form=lambda measure: "sorted",
    ),
    Definition(
        "SetP",
        set_precision,
        "relevant retrieved / n",
        (REL, JUDGED_ONLY),
        DEPTH,
        trec="set_P",
        family="set",
        laws=frozenset({Law.BOUNDED, Law.UNJUDGED, Law.EMPTY_ZERO}),
        ties="exact",
        form=lambda measure: "additive",
    ),
    Definition(
        "SetRelP",
        set_relative_precision,
        "relevant retrieved / min(n, R)",
        (REL, JUDGED_ONLY),
        trec="set_relative_P",
        family="set",
        laws=frozenset({Law.BOUNDED, Law.UNJUDGED, Law.EMPTY_ZERO, Law.PERFECT}),
        ties="exact",
        form=lambda measure: "additive",
    ),
    Definition(
        "SetR",
        set_recall,
        "relevant retrieved / R",
        (REL, JUDGED_ONLY),
        DEPTH,
        trec="set_recall",
        family="set",
        laws=_COMMON,
        ties="exact",
        form=lambda measure: "additive",
    ),
    Definition(
        "SetF",
        set_f,
        "(beta + 1) P R / (R + beta P) of the retrieved set; beta is not squared here, as in trec_eval",
        (REL, JUDGED_ONLY, BETA),
        trec="set_F",
        family="set",
        laws=frozenset({Law.BOUNDED, Law.UNJUDGED, Law.EMPTY_ZERO}),
        ties="exact",
        form=lambda measure: "additive",
    ),
    Definition(
        "SetAP",
        set_ap,
        "SetP * SetR",
        (REL, JUDGED_ONLY),
        trec="set_map",
        family="set",
        laws=frozenset({Law.BOUNDED, Law.UNJUDGED, Law.EMPTY_ZERO}),
        ties="exact",
        cut_through_ties=lambda measure: True,
        form=lambda measure: "sorted",
    ),
    Definition(
        "Accuracy",
        accuracy,
        "share of (relevant, non-relevant) pairs among the first k that are in the right order",
        (REL,),
        DEPTH,
        family="overall",
        laws=frozenset({Law.BOUNDED, Law.UNJUDGED, Law.EMPTY_ZERO, Law.BLIND}),
    ),
    Definition(
        "NumQ",
        number_of_queries,
        "1",
        trec="num_q",
        aggregate="sum",
        family="counts",
        ties="exact",
        relevance=False,
    ),
    Definition(
        "NumRet",
        number_retrieved,
        "n, or relevant documents retrieved if rel is set",
        (Parameter("rel", float, None, "count only documents with at least this grade"),),
        trec="num_ret",
        aggregate="sum",
        family="counts",
        ties="exact",
        relevance=False,
        laws=COUNT,
    ),
    Definition(
        "NumRel",
        number_relevant,
        "R",
        (REL,),
        trec="num_rel",
        aggregate="sum",
        family="counts",
        ties="exact",
        laws=COUNT,
    ),
    Definition(
        "NumRelRet",
        number_relevant_retrieved,
        "relevant documents retrieved",
        (REL,),
        trec="num_rel_ret",
        aggregate="sum",
        family="counts",
        ties="exact",
        laws=COUNT,
    ),
    Definition(
        "NumNonrelJudgedRet",
        number_nonrelevant_judged_retrieved,
        "judged non-relevant documents retrieved (negative grades count as not judged, as in trec_eval)",
        (REL,),
        trec="num_nonrel_judged_ret",
        aggregate="sum",
        lower_is_better=True,
        family="counts",
        ties="exact",
    ),
    Definition(
        "Utility",
        utility,
        "hit a + noise b + miss c: a relevant and b other documents retrieved, c relevant missed",
        (
            REL,
            Parameter("hit", float, 1.0, "worth of a relevant document retrieved"),
            Parameter("noise", float, -1.0, "worth of another document retrieved"),
            Parameter("miss", float, 0.0, "worth of a relevant document missed"),
        ),
        trec="utility",
        family="set",
        ties="exact",
        laws=COUNT,
    ),
)
