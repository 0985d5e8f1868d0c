"""pytrec_eval (trec_eval 9 as a library): every measure it has, under the presets `trec_eval9` and `beir`."""

from __future__ import annotations

import math
import random
from collections.abc import Mapping
from typing import Any

import pytest
import pytrec_eval
from hypothesis import given
from hypothesis import strategies as st

from rankgauge import evaluate
from rankgauge.measures import Measure, parse_measure
from tests.oracles.cases import DOCS, GRADES, NEAR_SCORES, QUERIES, TIED_SCORES, fast, judged, scored

Lists = dict[str, dict[str, Any]]
CLOSE = {"rel": 1e-12, "abs": 1e-12}
LOGARITHMS = ("ndcg", "Rndcg", "G", "binG")  # NumPy's log2 may round otherwise than the C library's; all else is equal

# Left out: `runid` and `relstring` are texts; the per-query `gm_map` and `gm_bpref` are logarithms (means below).
SAME_NAME = (
    "num_q",
    "num_ret",
    "num_rel",
    "num_rel_ret",
    "num_nonrel_judged_ret",
    "map",
    "map_cut_1",
    "map_cut_3",
    "Rprec",
    "bpref",
    "recip_rank",
    "iprec_at_recall_0.00",
    "iprec_at_recall_0.10",
    "iprec_at_recall_0.33",
    "iprec_at_recall_0.50",
    "iprec_at_recall_1.00",
    "11pt_avg",
    "P_1",
    "P_3",
    "P_10",
    "recall_1",
    "recall_3",
    "recall_10",
    "infAP",
    "utility",
    "binG",
    "G",
    "ndcg",
    "ndcg_cut_1",
    "ndcg_cut_3",
    "ndcg_cut_10",
    "ndcg_rel",
    "Rndcg",
    "relative_P_1",
    "relative_P_3",
    "success_1",
    "success_3",
    "set_P",
    "set_relative_P",
    "set_recall",
    "set_map",
    "set_F",
)
OTHER_NAME = {f"Rprec_mult_{mult:.2f}": f"Rprec(mult={mult})" for mult in (0.4, 1.4, 2)}
PAIRS = {**{name: parse_measure(name) for name in SAME_NAME}, **{k: parse_measure(v) for k, v in OTHER_NAME.items()}}


def test_every_measure_of_pytrec_eval_is_compared() -> None:
    bases = {name for name in pytrec_eval.supported_measures if any(pair.startswith(name) for pair in PAIRS)}
    assert set(pytrec_eval.supported_measures) - bases == {"runid", "relstring", "gm_map", "gm_bpref"}


@st.composite
def data_sets(draw: st.DrawFn, scores: tuple[float, ...] = TIED_SCORES) -> tuple[Lists, Lists]:
    """Judgments and a run in which queries may be missing on either side.

    pytrec_eval crashes on an empty list and on a query whose grades are all negative, and takes whole numbers only.
    """
    some_judged = judged(GRADES).filter(lambda grades: max(grades.values()) >= 0)
    qrels = {query: draw(some_judged) for query in QUERIES[: draw(st.integers(1, len(QUERIES)))]}
    run = {query: draw(scored(scores, least=1)) for query in (*qrels, "not judged")}
    for query in draw(st.sets(st.sampled_from(list(run)))) - {"q1"}:
        del run[query]
    return qrels, run


def mean_of(measure: Measure, scores: Mapping[str, float]) -> float:
    """As trec_eval adds them."""
    total = 0.0
    for query in sorted(scores, key=str.encode):
        total += scores[query]
    return total if measure.definition.aggregate == "sum" else total / len(scores)


def compare(qrels: Lists, run: Lists, pairs: Mapping[str, Measure], level: int = 1, judged_only: bool = False) -> None:
    peer = pytrec_eval.RelevanceEvaluator(
        qrels, set(pairs), relevance_level=level, judged_docs_only_flag=judged_only
    ).evaluate(run)
    result = evaluate(qrels, run, list(dict.fromkeys(pairs.values())), contract="trec_eval9", rel=level)
    ours = {row["query"]: row for row in result.per_query.iter_rows(named=True)}
    assert set(ours) == set(peer)
    for asked, measure in zip(pairs, result.measures, strict=True):
        # Interpolated precision of a list that dropping its unjudged documents emptied is 0/0 there, and 0 here.
        theirs = {query: 0.0 if math.isnan(values[asked]) else values[asked] for query, values in peer.items()}
        same = pytest.approx(theirs, rel=1e-15, abs=1e-15) if asked.startswith(LOGARITHMS) else theirs
        own = {query: row[str(measure)] for query, row in ours.items()}
        assert own == same, asked
        assert result.mean[str(measure)] == mean_of(measure, own), asked


@pytest.mark.parametrize("level", [1, 2])
@fast(100)
@given(data=data_sets())
def test_all_measures(level: int, data: tuple[Lists, Lists]) -> None:
    compare(*data, PAIRS, level)


@fast(60)
@given(data=data_sets(NEAR_SCORES))
def test_scores_that_only_float64_tells_apart(data: tuple[Lists, Lists]) -> None:
    compare(*data, PAIRS)


@pytest.mark.parametrize("level", [1, 2])
@fast(60)
@given(data=data_sets())
def test_judged_documents_only(level: int, data: tuple[Lists, Lists]) -> None:
    pairs = {
        name: measure.with_values(judged_only=True)
        for name, measure in PAIRS.items()
        if measure.definition.parameter("judged_only")
    }
    compare(*data, pairs, level, judged_only=True)


@pytest.mark.parametrize("beta", [0.5, 2])
@fast(30)
@given(data=data_sets())
def test_set_f(beta: float, data: tuple[Lists, Lists]) -> None:
    """trec_eval reports set_F under one name whatever its parameter."""
    qrels, run = data
    peer = pytrec_eval.RelevanceEvaluator(qrels, {f"set_F_{beta}"}).evaluate(run)
    result = evaluate(qrels, run, [f"SetF(beta={beta})"], contract="trec_eval9")
    ours = dict(result.per_query.iter_rows())
    assert ours == pytest.approx({query: values["set_F"] for query, values in peer.items()}, **CLOSE)


@pytest.mark.parametrize("level", [1, 2])
@fast(60)
@given(data=data_sets())
def test_geometric_means(level: int, data: tuple[Lists, Lists]) -> None:
    qrels, run = data
    peer = pytrec_eval.RelevanceEvaluator(qrels, {"gm_map", "gm_bpref"}, relevance_level=level).evaluate(run)
    result = evaluate(qrels, run, ["gm_map", "gm_bpref"], contract="trec_eval9", rel=level)
    for asked, mean in zip(("gm_map", "gm_bpref"), result.mean.values(), strict=True):
        logs = [values[asked] for values in peer.values()]
        assert mean == pytest.approx(pytrec_eval.compute_aggregated_measure(asked, logs), rel=1e-9), asked


@pytest.mark.parametrize("seed", range(3))
def test_long_lists(seed: int) -> None:
    """Hundreds of documents, many ties, the depths that trec_eval prints."""
    rng = random.Random(seed)
    docs = [f"doc{i}" for i in range(400)]
    qrels = {f"q{i}": {doc: rng.choice((-1, 0, 0, 0, 1, 2, 3)) for doc in rng.sample(docs, 120)} for i in range(20)}
    run = {query: {doc: round(rng.gauss(0, 1), 1) for doc in rng.sample(docs, rng.randint(1, 300))} for query in qrels}
    deep = [f"{name}_{k}" for name in ("P", "recall", "ndcg_cut", "map_cut", "success") for k in (5, 10, 20, 100, 1000)]
    compare(qrels, run, {**PAIRS, **{name: parse_measure(name) for name in deep}})


@fast(60)
@given(data=data_sets(), more=st.sampled_from(DOCS))
def test_beir(data: tuple[Lists, Lists], more: str) -> None:
    """BEIR drops the document whose id is the query's from the results, then calls pytrec_eval."""
    qrels, run = data
    run["q1"] = {"q1": 1.0, more: 0.25, **run["q1"], "d9": -5.0}
    names = [f"{name}_{k}" for name in ("ndcg_cut", "map_cut", "recall", "P") for k in (1, 3, 5, 10)]
    kept = {query: {doc: score for doc, score in docs.items() if doc != query} for query, docs in run.items()}
    peer = pytrec_eval.RelevanceEvaluator(qrels, set(names)).evaluate(kept)
    result = evaluate(qrels, run, names, contract="beir")
    for name in names:
        assert result.mean[name] == pytest.approx(sum(v[name] for v in peer.values()) / len(peer), **CLOSE), name
    assert "q1" in run["q1"]  # the caller's results stay as they were
