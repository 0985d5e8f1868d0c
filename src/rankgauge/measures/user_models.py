"""User models of the C/W/L framework (Moffat, Bailey, Scholer and Thomas 2017) and compatibility.

A user at rank i goes on with chance C_i. The weight of rank i is proportional to the product of C_1..C_{i-1}, and the
score is the expected gain per document looked at. Like cwl_eval, lists are padded with no gain to 1,000 documents.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from rankgauge.errors import MeasureError
from rankgauge.measures.measure import Definition, Form, Law, Measure, Parameter
from rankgauge.measures.parameters import DEPTH, MAX_REL, MIN_REL, check_scale
from rankgauge.measures.registry import register
from rankgauge.model.ranked import Floats, RankedGrades

__all__: list[str] = []

_DEEPEST = 1000
_BLOCK = 256
Continuation = Callable[[Floats, Floats, Measure], Floats]


def _expected_gain(continuation: Continuation) -> Callable[[RankedGrades, Measure], Floats]:
    """A kernel from a continuation function (gains, ranks, measure) -> C, for matrices of queries by ranks."""

    def kernel(ranked: RankedGrades, measure: Measure) -> Floats:
        top, bottom = check_scale(measure, ranked, "max_rel"), float(measure.get("min_rel"))
        scaled = (np.clip(ranked.grades, bottom, top) - bottom) / (top - bottom)
        rank = np.arange(1.0, _DEEPEST + 1)
        result = np.zeros(len(ranked))
        for start in range(0, len(ranked), _BLOCK):
            stop = min(start + _BLOCK, len(ranked))
            rows = slice(ranked.starts[start], ranked.starts[stop])
            inside = ranked.above[rows] < _DEEPEST
            gains = np.zeros((stop - start, _DEEPEST))
            gains[ranked.owner[rows][inside] - start, ranked.above[rows][inside]] = scaled[rows][inside]
            onward = continuation(gains, rank, measure)
            reach = np.concatenate((np.ones((stop - start, 1)), np.cumprod(onward[:, :-1], axis=1)), axis=1)
            result[start:stop] = (reach * gains).sum(axis=1) / reach.sum(axis=1)
        return result

    return kernel


def _bejeweled(gains: Floats, rank: Floats, measure: Measure) -> Floats:
    wanted = np.cumsum(gains, axis=1) < float(measure.get("T"))
    return (np.logical_and.accumulate(wanted, axis=1) & (rank < float(measure.at or 0))).astype(np.float64)


def _inst(gains: Floats, rank: Floats, measure: Measure) -> Floats:
    wanted = float(measure.get("T"))
    base = rank + 2 * wanted - np.cumsum(gains, axis=1)
    return ((base - 1.0) / base) ** 2


def _insq(gains: Floats, rank: Floats, measure: Measure) -> Floats:
    base = rank + 2 * float(measure.get("T"))
    return np.broadcast_to(((base - 1.0) / base) ** 2, gains.shape)


def _scaled_dcg(gains: Floats, rank: Floats, measure: Measure) -> Floats:
    onward = np.where(rank < float(measure.at or 0), np.log2(rank + 1) / np.log2(rank + 2), 0.0)
    return np.broadcast_to(onward, gains.shape)


def _nerr8(gains: Floats, rank: Floats, measure: Measure) -> Floats:
    return np.where(rank < float(measure.at or 0), 1.0 - gains, 0.0)


def _nerr9(gains: Floats, rank: Floats, measure: Measure) -> Floats:
    return np.where(rank < float(measure.at or 0), rank / (rank + 1.0) * (1.0 - gains), 0.0)


def _nerr10(gains: Floats, rank: Floats, measure: Measure) -> Floats:
    return float(measure.get("p")) * (1.0 - gains)


def _nerr11(gains: Floats, rank: Floats, measure: Measure) -> Floats:
    return _insq(gains, rank, measure) * (1.0 - gains)


def compatibility(ranked: RankedGrades, measure: Measure) -> Floats:
    """Rank-biased overlap of the list with the ideal list that is nearest to it.

    A document of ideal rank a and rank b is shared by the two prefixes of every depth from max(a, b) on, so each
    adds sum over d = max(a, b)..D of p^(d-1) / d, where D is the longer of the two lists.
    """
    p = float(measure.get("p"))
    result = np.zeros(len(ranked))
    n_relevant = np.bincount(ranked.judged_owner[ranked.judged_grades > 0], minlength=len(ranked))
    longest = int(max(ranked.retrieved.max(initial=0), n_relevant.max(initial=0)))
    depth = np.arange(1, longest + 1)
    weight = p ** (depth - 1.0)
    shared_from = np.concatenate(([0.0], np.cumsum(weight / depth)))
    all_weight = np.concatenate(([0.0], np.cumsum(weight)))
    for i in range(len(ranked)):
        if not n_relevant[i]:
            continue
        rows = slice(ranked.starts[i], ranked.starts[i + 1])
        grades = ranked.grades[rows]
        found = grades > 0
        ranks, grades = ranked.ranks[rows][found], grades[found]
        best = ranked.judged_grades[ranked.judged_starts[i] : ranked.judged_starts[i + 1]]
        best = best[best > 0]
        end = int(max(ranked.retrieved[i], len(best)))
        # Among equal grades the ideal list keeps the list's own order, and puts what was not retrieved last.
        ideal_rank = np.zeros(len(ranks), dtype=np.int64)
        for grade in np.unique(grades):
            same = grades == grade
            ideal_rank[same] = int((best > grade).sum()) + np.arange(1, int(same.sum()) + 1)
        both = np.maximum(ranks, ideal_rank)
        score = (shared_from[end] - shared_from[both - 1]).sum() / all_weight[end]
        if measure.get("normalize"):
            own = np.arange(1, len(best) + 1)
            score /= (shared_from[end] - shared_from[own - 1]).sum() / all_weight[end]
        result[i] = score
    return result


T = Parameter("T", float, 1.0, "gain the user is after, in documents of full gain", least=0)


def _check_range(measure: Measure) -> None:
    if measure.name == "INST" and measure.get("T") == 0:
        raise MeasureError(f"{measure.name}: T must be above 0: a user who is after nothing looks at nothing")
    if not measure.get("min_rel") < measure.get("max_rel"):
        raise MeasureError(f"{measure.name}: min_rel must be below max_rel")


def _cwl(
    name: str,
    continuation: Continuation,
    formula: str,
    source: str,
    *,
    at: bool,
    extra: tuple[Parameter, ...],
    form: Form = "",
) -> Definition:
    return Definition(
        name,
        _expected_gain(continuation),
        formula,
        (*extra, MIN_REL, MAX_REL),
        DEPTH if at else None,
        at_required=at,
        family="user model",
        laws=frozenset({Law.BOUNDED, Law.UNJUDGED, Law.EMPTY_ZERO, Law.BLIND}),
        relevance=False,
        source=source,
        check=_check_range,
        form=lambda measure: form,
    )


register(
    _cwl(
        "BPM",
        _bejeweled,
        "C_i = 1 while the gain so far is below T and i < k, else 0",
        "Zhang et al. 2017",
        at=True,
        extra=(T,),
    ),
    _cwl(
        "INST",
        _inst,
        "C_i = ((i + T + T_i - 1) / (i + T + T_i))^2, T_i = T - gain so far",
        "Moffat et al. 2015",
        at=False,
        extra=(T,),
    ),
    _cwl(
        "INSQ",
        _insq,
        "C_i = ((i + 2T - 1) / (i + 2T))^2",
        "Moffat, Scholer and Thomas 2012",
        at=False,
        extra=(T,),
        form="additive",
    ),
    _cwl(
        "SDCG",
        _scaled_dcg,
        "C_i = log2(i + 1) / log2(i + 2) for i < k, else 0: DCG with weights that sum to 1",
        "Järvelin and Kekäläinen 2002; Azzopardi et al. 2019",
        at=True,
        extra=(),
        form="additive",
    ),
    _cwl(
        "NERR8", _nerr8, "C_i = 1 - gain_i for i < k, else 0", "Azzopardi, Mackenzie and Moffat 2021", at=True, extra=()
    ),
    _cwl(
        "NERR9",
        _nerr9,
        "C_i = i / (i + 1) (1 - gain_i) for i < k, else 0",
        "Azzopardi, Mackenzie and Moffat 2021",
        at=True,
        extra=(),
    ),
    _cwl(
        "NERR10",
        _nerr10,
        "C_i = p (1 - gain_i)",
        "Azzopardi, Mackenzie and Moffat 2021",
        at=False,
        extra=(Parameter("p", float, 0.9, "persistence", least=0, most=1),),
    ),
    _cwl(
        "NERR11",
        _nerr11,
        "C_i = ((i + 2T - 1) / (i + 2T))^2 (1 - gain_i)",
        "Azzopardi, Mackenzie and Moffat 2021",
        at=False,
        extra=(T,),
    ),
    Definition(
        "Compat",
        compatibility,
        "rank-biased overlap with the nearest ideal list, over that of the ideal with itself",
        (
            Parameter("p", float, 0.95, "persistence", least=0, most=1),
            Parameter("normalize", bool, True, "divide by the ideal list's overlap with itself"),
        ),
        spellings=("compatibility",),
        family="overall",
        relevance=False,
        laws=frozenset({Law.BOUNDED, Law.UNJUDGED, Law.EMPTY_ZERO, Law.PERFECT}),
        source="Clarke, Vtyurina and Smucker 2021",
    ),
)
