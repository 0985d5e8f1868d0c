"""scikit-learn's ranking metrics, with and without ties, under the preset `sklearn`."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from sklearn.metrics import average_precision_score, dcg_score, label_ranking_average_precision_score, ndcg_score

from rankgauge import evaluate
from tests.oracles.cases import fast

CLOSE = {"rel": 1e-12, "abs": 1e-12}
DOCS = [f"d{i}" for i in range(7)]
GRADES = st.sampled_from((0, 0, 1, 2, 2.5, 3))
Lists = dict[str, dict[str, float]]


@st.composite
def matrices(draw: st.DrawFn, grades: st.SearchStrategy[float] = GRADES, *, ties: bool = True) -> tuple[Lists, Lists]:
    """scikit-learn wants a grade and a score for every document of every query; grades are not negative."""
    docs = DOCS[: draw(st.integers(2, len(DOCS)))]
    queries = [f"q{i}" for i in range(draw(st.integers(1, 3)))]
    values = st.sampled_from((0.0, 0.5, 1.0)) if ties else st.nothing()
    qrels = {query: {doc: draw(grades) for doc in docs} for query in queries}
    run = {}
    for query in queries:
        order = draw(st.permutations(range(len(docs))))
        run[query] = {doc: draw(values) if ties else float(place) for doc, place in zip(docs, order, strict=True)}
    return qrels, run


def as_arrays(qrels: Lists, run: Lists) -> tuple[np.ndarray, np.ndarray]:
    grades = np.array([list(docs.values()) for docs in qrels.values()], dtype=float)
    return grades, np.array([[run[query][doc] for doc in docs] for query, docs in qrels.items()])


@pytest.mark.parametrize("k", [None, 1, 2, 4, 20])
@fast(60)
@given(data=matrices())
def test_ties_are_averaged(k: int | None, data: tuple[Lists, Lists]) -> None:
    grades, scores = as_arrays(*data)
    at = "" if k is None else f"@{k}"
    ours = evaluate(*data, [f"nDCG{at}", f"DCG{at}"], contract="sklearn")
    assert ours.contract.ties == "expected"
    assert ours.mean[f"nDCG{at}"] == pytest.approx(ndcg_score(grades, scores, k=k), **CLOSE)
    assert ours.mean[f"DCG{at}"] == pytest.approx(dcg_score(grades, scores, k=k), **CLOSE)


@pytest.mark.parametrize("k", [None, 2])
@pytest.mark.parametrize("contract", ["sklearn", "default", "trec_eval"])
@fast(40)
@given(data=matrices(ties=False))
def test_without_ties_every_contract_agrees(k: int | None, contract: str, data: tuple[Lists, Lists]) -> None:
    grades, scores = as_arrays(*data)
    at = "" if k is None else f"@{k}"
    ours = evaluate(*data, [f"nDCG{at}", f"DCG{at}"], contract=contract).mean
    assert ours[f"nDCG{at}"] == pytest.approx(ndcg_score(grades, scores, k=k, ignore_ties=True), **CLOSE)
    assert ours[f"DCG{at}"] == pytest.approx(dcg_score(grades, scores, k=k, ignore_ties=True), **CLOSE)


@fast(60)
@given(data=matrices(st.sampled_from((0, 1)), ties=False))
def test_average_precision(data: tuple[Lists, Lists]) -> None:
    """Without ties only: with them, scikit-learn gives every document of a tied group the precision at its end.

    A query needs a relevant document; without one average_precision_score warns, and the label ranking scores 1.
    """
    qrels, run = data
    assume(all(any(docs.values()) for docs in qrels.values()))
    grades, scores = as_arrays(qrels, run)
    result = evaluate(qrels, run, ["AP"], contract="sklearn")
    single = [average_precision_score(row, given) for row, given in zip(grades, scores, strict=True)]
    assert result.per_query["AP"].to_list() == pytest.approx(single, **CLOSE)
    assert result.mean["AP"] == pytest.approx(label_ranking_average_precision_score(grades, scores), **CLOSE)
