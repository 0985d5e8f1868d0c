"""ir_measures and the tools behind it, each called through its own provider, under the preset `ir_measures`."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import ir_measures
import pyndeval
import pytest
from hypothesis import given
from hypothesis import strategies as st
from ir_measures import AP, IPrec, P, R, SetP, nDCG

from rankgauge import evaluate
from rankgauge.measures import parse_measure
from tests.oracles.cases import (
    DOCS,
    GRADES,
    NEAR_SCORES,
    QUERIES,
    SUBTOPICS,
    TIED_SCORES,
    fast,
    judged,
    scored,
    subtopic_frame,
)

# Left out: gdeval (ERR@k and nDCG with exponential gain) needs perl and prints five digits; trectools is not among the
# packages the tests install; ranx has a file of its own.

Lists = dict[str, dict[str, Any]]
CLOSE = {"rel": 1e-12, "abs": 1e-12}


def compare(provider: Any, pairs: Sequence[tuple[Any, str]], qrels: Lists, run: Lists) -> None:
    """(their measure, our name) for every judged query, and the means."""
    theirs = [measure for measure, _ in pairs]
    found: dict[Any, dict[str, float]] = {measure: {} for measure in theirs}
    for metric in provider.iter_calc(theirs, qrels, run):
        found[metric.measure][metric.query_id] = metric.value
    result = evaluate(qrels, run, [name for _, name in pairs], contract="ir_measures")
    rows = {row["query"]: row for row in result.per_query.iter_rows(named=True)}
    means = provider.calc_aggregate(theirs, qrels, run)
    for (measure, name), ours in zip(pairs, result.measures, strict=True):
        assert {query: row[str(ours)] for query, row in rows.items()} == pytest.approx(found[measure], **CLOSE), name
        assert result.mean[name] == pytest.approx(means[measure], **CLOSE), name


@st.composite
def data_sets(draw: st.DrawFn, scores: tuple[float, ...] | None) -> tuple[Lists, Lists]:
    """Judgments and a run that may lack queries; `scores` are for lists with ties, None for lists without."""
    some_judged = judged(GRADES).filter(lambda grades: max(grades.values()) >= 0)  # pytrec_eval crashes on the rest
    qrels = {query: draw(some_judged) for query in QUERIES[: draw(st.integers(1, len(QUERIES)))]}
    run: Lists = {}
    for query in (*qrels, "not judged"):
        if query == "q1" or draw(st.booleans()):
            if scores is not None:
                run[query] = draw(scored(scores, least=1))
            else:
                docs = draw(st.permutations(DOCS))[: draw(st.integers(1, len(DOCS)))]
                run[query] = {doc: 1.0 + i for i, doc in enumerate(docs)}
    return qrels, run


TREC = [
    (ir_measures.parse_measure(name), name)
    for name in (
        "P@1",
        "P(rel=2)@3",
        "P(judged_only=True)@3",
        "RR",
        "RR(rel=2)",
        "RR(judged_only=True)",
        "Rprec",
        "Rprec(rel=2)",
        "AP",
        "AP(rel=2)",
        "AP@3",
        "AP(rel=2)@2",
        "AP(judged_only=True)",
        "nDCG",
        "nDCG@3",
        "nDCG(judged_only=True)@3",
        "R@1",
        "R@3",
        "R(judged_only=True)@3",
        "Bpref",
        "Bpref(rel=2)",
        "infAP",
        "infAP(rel=2)",
        "SetAP",
        "SetAP(rel=2)",
        "SetF",
        "SetF(beta=2)",
        "SetF(rel=2,beta=0.5)",
        "SetP",
        "SetP(rel=2)",
        "SetR",
        "SetR(rel=2)",
        "Success@1",
        "Success(rel=2)@3",
        "IPrec@0.0",
        "IPrec@0.1",
        "IPrec@0.5",
        "IPrec@1.0",
    )
] + [
    (SetP(relative=True), "SetRelP"),
    (nDCG(gains={1: 3, 2: 9}) @ 3, "nDCG(gains={1: 3, 2: 9})@3"),
    (R(rel=2) @ 3, "R(rel=2)@3"),
]


@pytest.mark.parametrize("scores", [TIED_SCORES, NEAR_SCORES])
@fast(50)
@given(data=st.data())
def test_pytrec_eval_provider(scores: tuple[float, ...], data: st.DataObject) -> None:
    qrels, run = data.draw(data_sets(scores))
    compare(ir_measures.pytrec_eval, TREC, qrels, run)


@fast(50)
@given(data=data_sets(TIED_SCORES))
def test_counts(data: tuple[Lists, Lists]) -> None:
    """Sums, over the queries that are in both: ir_measures fills in 0 for a missing one, also where R is not 0."""
    qrels, run = data
    both = {query: grades for query, grades in qrels.items() if query in run}
    names = ["NumRet", "NumRet(rel=2)", "NumRel", "NumQ"]
    means = ir_measures.pytrec_eval.calc_aggregate([ir_measures.parse_measure(name) for name in names], both, run)
    ours = evaluate(both, run, names, contract="ir_measures").mean
    assert {name: ours[name] for name in names} == {str(measure): value for measure, value in means.items()}


# From here on lists have no ties: these providers break them by id ascending, and compare scores as float64.


@fast(60)
@given(data=data_sets(None))
def test_judged_and_msmarco_and_compat_providers(data: tuple[Lists, Lists]) -> None:
    pairs = [(ir_measures.parse_measure(name), name) for name in ("Judged", "Judged@1", "Judged@3", "Judged@20")]
    compare(ir_measures.judged, pairs, *data)
    pairs = [(ir_measures.parse_measure(name), name) for name in ("RR", "RR@1", "RR@3", "RR(rel=2)@3")]
    compare(ir_measures.msmarco, pairs, *data)
    # Scores are above 0, for the provider takes documents that were not retrieved as retrieved with score 0.
    pairs = [
        (ir_measures.parse_measure(name), name) for name in ("Compat", "Compat(p=0.8)", "Compat(p=0.5,normalize=False)")
    ]
    compare(ir_measures.compat, pairs, *data)


@fast(60)
@given(data=data_sets(None))
def test_accuracy_provider(data: tuple[Lists, Lists]) -> None:
    """A last, non-relevant document in every list, for the provider divides by the number of those.

    It says nothing of a query for which no relevant document was retrieved; the value is 0 here.
    """
    qrels, run = data
    run = {query: {**docs, "nobody's": 0.5} for query, docs in run.items()}
    for name in ("Accuracy", "Accuracy(rel=2)", "Accuracy@20"):
        asked = [ir_measures.parse_measure(name)]
        theirs = {metric.query_id: metric.value for metric in ir_measures.accuracy.iter_calc(asked, qrels, run)}
        ours = dict(evaluate(qrels, run, [name], contract="ir_measures").per_query.iter_rows())
        assert ours == pytest.approx({**dict.fromkeys(qrels, 0.0), **theirs}, **CLOSE)


CWL = [
    (ir_measures.parse_measure(name), name)
    for name in (
        "BPM(max_rel=4)@3",
        "BPM(T=0.5,max_rel=4)@5",
        "BPM(T=2,min_rel=1,max_rel=5)@10",
        "INST(max_rel=4)",
        "INST(T=2.5,max_rel=4)",
        "INSQ(max_rel=4)",
        "INSQ(T=2.5,max_rel=5)",
        "SDCG(max_rel=4)@1",
        "SDCG(max_rel=4)@5",
        "SDCG(min_rel=1,max_rel=4)@20",
        "NERR8(max_rel=4)@3",
        "NERR9(max_rel=4)@3",
        "NERR9(max_rel=5)@20",
        "NERR10(max_rel=4)",
        "NERR10(p=0.5,max_rel=4)",
        "NERR11(max_rel=4)",
        "NERR11(T=2.5,max_rel=4)",
        "RBP(rel=1)",
        "RBP(rel=2,p=0.5)",
        "P@3",
        "P(rel=2)@10",
        "RR",
        "RR(rel=2)",
    )
]
# AP of cwl_eval divides by the relevant documents retrieved, not by all, so it is another measure.


@fast(25)
@given(data=data_sets(None))
def test_cwl_eval_provider(data: tuple[Lists, Lists]) -> None:
    compare(ir_measures.cwl_eval, CWL, *data)


def test_default_choice_of_providers() -> None:
    """Names that both know, as a user would ask for them; no ties, since the chosen provider's rule would decide."""
    qrels = {"1": {"a": 2, "b": 0, "c": 1}, "2": {"a": 1}, "3": {"z": 1}}
    run = {"1": {"b": 3.0, "a": 2.0, "x": 1.0, "c": 0.5}, "2": {"x": 2.0, "a": 1.0}}
    names = ["P@2", "AP", "RR@3", "nDCG@2", "R@2", "Judged@2", "Compat", "RBP(rel=1)", "SetP", "Bpref", "Success@1"]
    theirs = ir_measures.calc_aggregate([ir_measures.parse_measure(name) for name in names], qrels, run)
    ours = evaluate(qrels, run, names, contract="ir_measures").mean
    assert {name: ours[name] for name in names} == pytest.approx({str(m): v for m, v in theirs.items()}, **CLOSE)


@pytest.mark.parametrize(
    ("theirs", "ours"),
    [
        (P @ 5, "P@5"),
        (AP(rel=2), "AP(rel=2)"),
        (AP @ 3, "AP@3"),
        (IPrec @ 0.5, "IPrec@0.5"),
        (SetP(relative=True), "SetRelP"),
        (nDCG(dcg="exp-log2") @ 10, "nDCG(gain='exp')@10"),
        (nDCG(gains={1: 3}, judged_only=True) @ 3, "nDCG(gains={1: 3}, judged_only=True)@3"),
    ],
)
def test_their_names_are_understood(theirs: Any, ours: str) -> None:
    assert str(parse_measure(str(theirs))) == ours


# --- ndeval -----------------------------------------------------------------------------------------------------------

# ERR-IA@1 and alpha-DCG@1 are left out: ndeval does not normalise them. Depths end at 20 there.
NDEVAL = {
    "ERR-IA@3": "ERR_IA(rel={rel})@3",
    "ERR-IA@20": "ERR_IA(rel={rel})@20",
    "nERR-IA@1": "nERR_IA(rel={rel})@1",
    "nERR-IA@5": "nERR_IA(rel={rel})@5",
    "alpha-DCG@3": "alpha_DCG(rel={rel}, alpha={alpha})@3",
    "alpha-DCG@20": "alpha_DCG(rel={rel}, alpha={alpha})@20",
    "alpha-nDCG@1": "alpha_nDCG(rel={rel}, alpha={alpha})@1",
    "alpha-nDCG@5": "alpha_nDCG(rel={rel}, alpha={alpha})@5",
    "NRBP": "NRBP(rel={rel}, alpha={alpha}, beta={beta})",
    "nNRBP": "nNRBP(rel={rel}, alpha={alpha}, beta={beta})",
    "MAP-IA": "AP_IA(rel={rel})",
    "P-IA@1": "P_IA(rel={rel})@1",
    "P-IA@5": "P_IA(rel={rel})@5",
    "strec@1": "StRecall(rel={rel})@1",
    "strec@3": "StRecall(rel={rel})@3",
}


@st.composite
def diverse_sets(draw: st.DrawFn) -> tuple[dict[str, Lists], Lists]:
    topics = {
        query: {name: draw(judged((-1, 0, 1, 1, 2))) for name in SUBTOPICS[: draw(st.integers(2, len(SUBTOPICS)))]}
        for query in QUERIES[: draw(st.integers(1, len(QUERIES)))]
    }
    run = {}
    for query in topics:
        docs = draw(st.permutations(DOCS))[: draw(st.integers(1, len(DOCS)))]
        run[query] = {doc: float(len(docs) - i) for i, doc in enumerate(docs)}
    return topics, run


@fast(80)
@given(
    data=diverse_sets(),
    rel=st.sampled_from((1, 2)),
    alpha=st.sampled_from((0.25, 0.5)),
    beta=st.sampled_from((0.5, 0.8)),
)
def test_ndeval(data: tuple[dict[str, Lists], Lists], rel: int, alpha: float, beta: float) -> None:
    """pyndeval by itself; its ERR-IA takes alpha from the outside, where ours is 0.5 by definition."""
    topics, run = data
    names = {
        theirs: ours.format(rel=rel, alpha=alpha, beta=beta)
        for theirs, ours in NDEVAL.items()
        if alpha == 0.5 or "ERR" not in theirs
    }
    rows = [(q, s, d, g) for q, subtopics in topics.items() for s, docs in subtopics.items() for d, g in docs.items()]
    evaluator = pyndeval.RelevanceEvaluator(rows, list(names), relevance_level=rel, alpha=alpha, beta=beta)
    peer = evaluator.evaluate([(query, doc, score) for query, docs in run.items() for doc, score in docs.items()])
    result = evaluate(subtopic_frame(topics), run, list(names.values()), contract="ir_measures")
    ours = {row["query"]: row for row in result.per_query.iter_rows(named=True)}
    for theirs, measure in zip(names, result.measures, strict=True):
        # Without any relevant document, nNRBP is 0/0 there, and 0 here.
        wanted = {query: 0.0 if math.isnan(values[theirs]) else values[theirs] for query, values in peer.items()}
        assert {query: row[str(measure)] for query, row in ours.items()} == pytest.approx(wanted, rel=1e-9), theirs


@pytest.mark.parametrize(
    "name", ["alpha_nDCG@5", "alpha_DCG@5", "ERR_IA@5", "nERR_IA@5", "NRBP", "nNRBP", "AP_IA", "P_IA@5", "StRecall@5"]
)
def test_pyndeval_provider(name: str) -> None:
    """One measure at a time: with several settings the provider gives the run to the first of them only."""
    topics = {"q1": {"1": {"a": 1, "b": 1}, "2": {"b": 1, "c": 2}}, "q2": {"1": {"a": 1}, "2": {"b": 0}}}
    run = {"q1": {"x": 4.0, "b": 3.0, "a": 2.0, "c": 1.0}, "q2": {"b": 2.0, "a": 1.0}}
    frame = subtopic_frame(topics)
    theirs = frame.rename({"query": "query_id", "doc": "doc_id", "grade": "relevance", "subtopic": "iteration"})
    theirs = theirs.cast({"relevance": int}).to_pandas()
    wanted = ir_measures.pyndeval.calc_aggregate([ir_measures.parse_measure(name)], theirs, run)
    assert evaluate(frame, run, [name], contract="ir_measures").mean[name] == pytest.approx(*wanted.values(), rel=1e-9)
