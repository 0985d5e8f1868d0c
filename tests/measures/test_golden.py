"""Figures worked out by hand from the formulas."""

from __future__ import annotations

import pytest

from rankgauge import evaluate


def scores(grades: dict[str, float], ranking: list[str], *measures: str) -> list[float]:
    result = evaluate({"q": grades}, {"q": ranking}, measures)
    return list(result.mean.values())


def near(value: float) -> object:
    return pytest.approx(value, abs=5e-8)


def test_ndcg_with_exponential_gain() -> None:
    grades = {"A": 8, "B": 7, "C": 6, "D": 5}
    dcg, ndcg = scores(grades, list("CEAFBGHIJD"), "DCG(gain='exp')@10", "nDCG(gain='exp')@10")
    assert dcg == pytest.approx(248.5913, abs=5e-5)
    assert dcg / ndcg == pytest.approx(379.9791, abs=5e-5)
    assert ndcg == near(0.6542237)


def test_average_precision() -> None:
    assert scores(dict.fromkeys("ABC", 1), list("AXBYCZ"), "AP") == [near(0.7555556)]


def test_reciprocal_rank_of_3_1_and_none() -> None:
    qrels = {"a": {"x": 1}, "b": {"x": 1}, "c": {"x": 1}}
    run = {"a": ["n", "m", "x"], "b": ["x"], "c": ["n"]}
    result = evaluate(qrels, run, "RR")
    assert result.mean["RR"] == near(0.4444444)
    assert result.sentences()["RR"].endswith("harmonic-mean rank of 2.2 (misses count as never found)") or (
        "harmonic-mean rank of 2.2" in result.sentences()["RR"]
    )


def test_recall() -> None:
    found = scores(dict.fromkeys(("doc1", "doc3", "doc7"), 1), ["doc1", "doc5", "doc3", "doc8", "doc2"], "R@3,5")
    assert found == [near(0.6666667), near(0.6666667)]


def test_graded_average_precision() -> None:
    graded = "AP(grades='linear', max_grade=2)"
    assert scores({"x": 2, "y": 1, "z": 1}, ["y", "n", "x"], graded) == [near(0.3888889)]
    # It does not always reward a better order of grades, and a perfect list of grade 1 scores only one half.
    assert scores({"a": 1, "b": 2}, ["n", "a", "b"], graded) == [pytest.approx(0.458, abs=5e-4)]
    assert scores({"a": 1, "b": 2}, ["n", "b", "a"], graded) == [pytest.approx(0.417, abs=5e-4)]
    assert scores({"a": 1}, ["a"], graded) == [0.5]


@pytest.mark.parametrize(("gain", "at3", "at5"), [("linear", 0.8099531, 0.9602472), ("exp", 0.8556692, 0.9686384)])
def test_ideal_from_the_retrieved(gain: str, at3: float, at5: float) -> None:
    measure = f"nDCG(gain='{gain}', ideal='retrieved')@3,5"
    assert scores(dict(zip("abcde", (3, 2, 0, 1, 2), strict=True)), list("abcde"), measure) == [near(at3), near(at5)]


def test_four_queries_of_a_mock_retriever() -> None:
    qrels = {
        "python": {"doc_0": 3, "doc_1": 2, "doc_5": 1},
        "ml": {"doc_2": 3, "doc_3": 2},
        "container": {"doc_6": 3, "doc_7": 2},
        "database": {"doc_8": 3, "doc_9": 2},
    }
    listed = [f"doc_{i}" for i in range(10)]
    run = {
        "python": ["doc_0", "doc_1", "doc_5", "doc_2", "doc_3"],
        "ml": ["doc_2", "doc_3", "doc_0", "doc_1", "doc_4"],
        "container": listed,
        "database": listed,
    }
    result = evaluate(qrels, run, ["R@3,5,10", "P@3,5,10", "RR", "nDCG(ideal='retrieved')@3,5,10"])
    wanted = [0.5, 0.5, 1.0, 0.4166667, 0.25, 0.225, 0.5634921, 0.5, 0.5, 0.6825582]
    assert list(result.mean.values()) == [near(value) for value in wanted]


def test_precision_down_a_list() -> None:
    values = scores(dict(zip("abcde", (1, 0, 1, 0, 1), strict=True)), list("abcde"), "P@1,2,3,4,5")
    assert values == [near(value) for value in (1, 0.5, 2 / 3, 0.5, 0.6)]


def test_budget() -> None:
    """Recall of the longest prefix whose texts fit."""
    from rankgauge import Corpus

    corpus = Corpus({"a": "x" * 5, "b": "x" * 5, "c": "x" * 5})
    qrels, run = {"q": {"a": 1, "c": 1}}, {"q": ["a", "b", "c"]}
    result = evaluate(qrels, run, ["R(budget=10)", "R(budget=15)", "R(budget=4)"], corpus=corpus)
    assert list(result.mean.values()) == [0.5, 1.0, 0.0]
    words = evaluate(qrels, run, "R(budget=2)", corpus=corpus, tokenizer=lambda text: 1)
    assert words.mean["R(budget=2)"] == 0.5
