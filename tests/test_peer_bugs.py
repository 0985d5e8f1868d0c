"""Bugs that other tools have or had, each shown not to happen here."""

from __future__ import annotations

import copy
import random
import subprocess
import sys
import time

import pytest

from rankgauge import RankgaugeError, Run, evaluate
from rankgauge.measures import Law, all_definitions

ALL_BOUNDED = [
    "nDCG@10",
    "nDCG(gain='exp')@10",
    "nDCG(ideal='retrieved')@10",
    "nDCG(ideal='returned')@10",
    "AP",
    "AP@10",
    "RR",
    "P@10",
    "R@10",
    "R(capped=True)@10",
    "F1@10",
    "Success@10",
    "Rprec",
    "Bpref",
    "ERR@10",
    "nERR@10",
    "RBP",
]


def test_ideal_list_is_made_of_all_judgments() -> None:
    """Phoenix, AutoRAG, mlflow#24541: 1 of 2 found scores 1.0."""
    qrels = {"q": {f"d{i}": 1 for i in range(20)}}
    one = {"q": {"d0": 1.0}}
    assert evaluate(qrels, one, "nDCG@10").mean["nDCG@10"] < 0.25
    inflated = evaluate(qrels, one, "nDCG(ideal='retrieved')@10")
    assert inflated.mean["nDCG(ideal='retrieved')@10"] == 1.0
    assert any("ideal='judged'" in warning for warning in inflated.warnings)


def test_fewer_hits_do_not_score_higher() -> None:
    """elasticsearch#154362: five documents rated 3; one returned at rank 1 against all five at ranks 6 to 10."""
    qrels = {"q": {f"d{i}": 3 for i in range(5)}}
    one = {"q": ["d0"]}
    five = {"q": ["n1", "n2", "n3", "n4", "n5", "d0", "d1", "d2", "d3", "d4"]}
    measure = "nDCG(gain='exp')@10"
    assert evaluate(qrels, one, measure).mean[measure] == pytest.approx(0.34, abs=0.005)
    assert evaluate(qrels, five, measure).mean[measure] == pytest.approx(0.54, abs=0.005)
    # The preset reproduces the other figure, with a warning.
    theirs = evaluate(qrels, one, "nDCG@10", contract="elasticsearch")
    assert theirs.mean["nDCG@10"] == pytest.approx(1.0)
    assert any("number" in warning or "returned" in warning for warning in theirs.warnings)


def test_no_score_above_one() -> None:
    """search-relevance#191, AutoRAG's nDCG of 1.63: with duplicates kept apart and any grades, nothing exceeds 1."""
    rng = random.Random(3)
    for _ in range(30):
        qrels = {"q": {f"d{i}": rng.randint(0, 4) for i in range(rng.randint(1, 12))}}
        run = {"q": {f"d{i}": rng.choice([0.1, 0.2, rng.random()]) for i in rng.sample(range(20), rng.randint(1, 15))}}
        for value in evaluate(qrels, run, ALL_BOUNDED).mean.values():
            assert 0 <= value <= 1 + 1e-12
    assert all(Law.BOUNDED in d.laws for d in all_definitions() if d.name in ("nDCG", "AP", "R", "P"))


def test_duplicates_never_score_twice(tmp_path) -> None:
    """llama_index#22683, haystack#11959, trulens#2746, mlflow#25965: an error, or counted once."""
    run = tmp_path / "run"
    run.write_text("".join(f"q Q0 a {i} {9 - i} t\n" for i in range(5)))
    with pytest.raises(RankgaugeError, match="stands already on line 1"):
        evaluate({"q": {"a": 1, "b": 1}}, run, "R@10")
    once = evaluate({"q": {"a": 1, "b": 1}}, run, ["R@10", "nDCG@10", "P@5", "NumRet"], duplicates="first")
    assert (once.mean["R@10"], once.mean["P@5"], once.mean["NumRet"]) == (0.5, 0.2, 1)
    with pytest.raises(RankgaugeError, match="twice"):
        Run({"q": ["a", "b", "a"]})


def test_map_is_divided_by_all_relevant_documents() -> None:
    """haystack#12255 divides by the retrieved relevant ones."""
    assert evaluate({"q": dict.fromkeys("abcd", 1)}, {"q": ["a"]}, "AP").mean["AP"] == 0.25


def test_ndcg_depends_on_rank() -> None:
    """VectorDBBench's nDCG ignores rank."""
    qrels = {"q": {"a": 1}}
    first, last = (
        evaluate(qrels, {"q": ranking}, "nDCG@3").mean["nDCG@3"] for ranking in (["a", "x", "y"], ["x", "y", "a"])
    )
    assert first == 1.0
    assert last == 0.5


def test_a_constant_scorer_is_not_perfect() -> None:
    """mteb#5092: a constant scorer got MRR@10 = 1.0."""
    qrels = {f"q{i}": {f"d{i}": 1} for i in range(100)}
    run = {query: {f"d{j}": 1.0 for j in range(100)} for query in qrels}
    result = evaluate(qrels, run, "RR@10")
    assert result.mean["RR@10"] < 0.2
    assert result.coverage.tied_queries == 100
    expected = evaluate(qrels, run, "RR@10", ties="expected")
    assert expected.mean["RR@10"] == pytest.approx(sum(1 / r for r in range(1, 11)) / 100)


def test_insertion_order_does_not_matter() -> None:
    """ranx: 8 different MRRs over 10 orders of one run."""
    rng = random.Random(5)
    docs = {f"d{i}": rng.choice([0.1, 0.2, 0.3]) for i in range(30)}
    values = set()
    for _ in range(10):
        items = list(docs.items())
        rng.shuffle(items)
        values.add(evaluate({"q": {"d3": 1, "d8": 1}}, {"q": dict(items)}, "RR").mean["RR"])
    assert len(values) == 1


def test_scores_are_compared_in_full() -> None:
    """trec_eval#34: float32 merges scores that differ by 5e-14 and lets the id decide."""
    run = {"q": {"a": 0.5 + 5e-14, "b": 0.5}}
    assert evaluate({"q": {"a": 1}}, run, "RR").mean["RR"] == 1.0
    assert evaluate({"q": {"a": 1}}, run, "RR", contract="trec_eval9").mean["RR"] == 0.5


def test_a_missing_query_counts_alike_in_every_measure() -> None:
    """BEIR reports nDCG = MAP = Recall = 1.0 and MRR = 0.5 on the same data."""
    qrels, run = {"a": {"d": 1}, "b": {"d": 1}}, {"a": {"d": 1.0}}
    measures = ["nDCG@10", "AP", "R@10", "RR"]
    assert set(evaluate(qrels, run, measures).mean.values()) == {0.5}
    assert set(evaluate(qrels, run, measures, missing="skip").mean.values()) == {1.0}
    with pytest.raises(RankgaugeError):
        evaluate(qrels, run, measures, missing="error")


def test_documents_named_like_the_query_stay(tmp_path) -> None:
    """BEIR drops documents whose id equals the query id, and changes the caller's results."""
    qrels, run = {"q": {"q": 1}}, {"q": {"q": 2.0, "d": 1.0}}
    before = copy.deepcopy(run)
    assert evaluate(qrels, run, "RR").mean["RR"] == 1.0
    assert evaluate(qrels, run, "RR", contract="beir").mean["RR"] == 0.0
    assert run == before


def test_queries_are_not_flattened_together() -> None:
    """torchmetrics#3216: two queries in one batch became one list."""
    qrels, run = {"a": {"x": 1}, "b": {"y": 1}}, {"a": {"n": 9.0, "x": 8.0}, "b": {"y": 1.0}}
    assert evaluate(qrels, run, "RR").mean["RR"] == 0.75


def test_no_cold_start() -> None:
    """ranx: 70 s for two queries. Whole process here, with a wide margin for a busy machine."""
    start = time.perf_counter()
    code = "import rankgauge; rankgauge.evaluate({'a': {'d': 1}, 'b': {'d': 1}}, {'a': {'d': 1.0}, 'b': {'d': 1.0}})"
    subprocess.run([sys.executable, "-c", code], check=True)
    assert time.perf_counter() - start < 20


def test_many_queries_take_linear_time() -> None:
    """trec_eval's query look-up is quadratic: 100,000 queries x 10 documents take two minutes."""

    def seconds(n: int) -> float:
        qrels = {f"q{i}": {"d1": 1} for i in range(n)}
        run = {f"q{i}": {"d0": 1.0, "d1": 0.5} for i in range(n)}
        start = time.perf_counter()
        assert evaluate(qrels, run, "RR").mean["RR"] == 0.5
        return time.perf_counter() - start

    small, large = seconds(5_000), seconds(100_000)
    assert large < 20 * 10 * max(small, 0.005)
