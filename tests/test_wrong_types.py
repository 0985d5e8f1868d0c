"""Whatever is given for any argument of the public functions: it is taken, or refused in words, never a traceback."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rankgauge as rg
from rankgauge.errors import RankgaugeError
from rankgauge.model.labels import Label, Labels

QRELS = {f"query {i}": {"d1": 1, "d2": 0} for i in range(4)}
RUNS = {"a": {q: {"d2": 2.0, "d1": 1.0} for q in QRELS}, "b": {q: {"d1": 2.0, "d2": 1.0} for q in QRELS}}
JUDGED = {q: {"d1": 1, "d2": i % 2} for i, q in enumerate(QRELS)}
MANY = {f"query {i}": {"d1": 1, "d2": i % 2} for i in range(16)}
MANY_RUNS = {
    "a": {q: {"d2": 2.0, "d1": 1.0} for q in MANY},
    "b": {q: {"d1": 2.0 * (i % 3), "d2": 1.0} for i, q in enumerate(MANY)},
}
TEST_SET = rg.TestSet([rg.Query(text, grades) for text, grades in QRELS.items()])
READABLE = rg.TestSet([rg.Query("a b", {"d": 1}, texts={"d": "text"})])
JUDGE = rg.Judge("http://127.0.0.1:9/v1", "m", retries=0)  # nobody answers there


def search(query: str, k: int) -> list[str]:
    return ["d1", "d2"][:k]


class Thing:
    """An object of somebody's class."""


WRONG: list[Any] = [
    *(None, 3, -1, 0, 0.5, math.nan, True, 10**400, complex(1, 2), "x", "", "\ud800", b"x", Path("nowhere")),
    *([], {}, (), {"x"}, [1, 2], ["a"], [None], [["a"]], [{"a": 1}], [{"query": "x"}], [rg.Query("a b", {"d": 1})]),
    *({"a": 1}, {1: 2}, {"a": None}, {None: {"d": 1}}, {"a": {"b": {"c": 1}}}, {"a": search}, {"a": [("d", 1)]}),
    *({"query 0": {"d1": "high"}}, {"query 0": {"d1": None}}, {"q w": {3.5: 1}}, {"q w": [1.5]}),
    *(object(), Thing(), len, int, rg.Qrels, TEST_SET),
]
GIVEN: dict[str, dict[str, Any]] = {
    "evaluate": {"qrels": QRELS, "run": RUNS["a"]},
    "evaluate_embeddings": {"queries": np.ones((4, 2)), "documents": np.ones((3, 2)), "qrels": ([0], [1], [1])},
    "evaluate_tensors": {"scores": np.ones((4, 2)), "relevance": np.ones((4, 2))},
    "trainer_metrics": {},
    "compare": {"qrels": QRELS, "runs": RUNS, "samples": 100},
    "compare_scores": {"scores": {"a": [0.1, 0.2, 0.3], "b": [0.2, 0.3, 0.4]}, "samples": 100},
    "evaluate_retriever": {"retriever": search, "test_set": QRELS},
    "evaluate_retrievers": {"retrievers": {"a": search, "b": search}, "test_set": QRELS, "samples": 100},
    "sweep": {"factory": lambda shift: search, "grid": {"shift": [0, 1]}, "test_set": TEST_SET},
    "TestSet": {"queries": [rg.Query("a b", {"d": 1})]},
    "click_labels": {"log": [{"list": "l", "query": "q", "doc": "d", "clicked": 1}]},
    "Query": {"text": "a b", "grades": {"d": 1}},
    "Qrels": {"source": QRELS},
    "Run": {"source": RUNS["a"]},
    "Corpus": {"texts": {"d": "x"}},
    "Contract": {},
    "GateRules": {},
    "agreement": {"sets": {"a": QRELS, "b": JUDGED}, "runs": RUNS},
    "corrected": {"judge": MANY, "people": MANY, "runs": MANY_RUNS},
    "draw_sample": {"labels": MANY, "n": 12, "runs": MANY_RUNS},
    "load_sample": {"first": "nowhere"},
    "plan_size": {"judgments": MANY, "runs": MANY_RUNS, "difference": 0.5},
    "explain": {"first": "AP"},
    "fuse": {"runs": RUNS},
    "gate": {"record": rg.evaluate(QRELS, RUNS["a"])},
    "judge_next": {"qrels": QRELS, "runs": RUNS},
    "Judge": {"endpoint": "http://127.0.0.1:9/v1", "model": "m"},
    "judge": {"pairs": None, "test_set": READABLE, "judge": JUDGE, "budget": {"calls": 0}},
    "estimate_judging": {"pairs": None, "test_set": READABLE, "judge": JUDGE},
    "probe_judge": {"pairs": None, "test_set": READABLE, "judge": JUDGE, "budget": {"calls": 0}},
    "aspect_qrels": {"labels": Labels([Label("q", "d", 1, "j", aspect="a")])},
    "model_family": {"name": "gpt-4"},
    "review_queue": {"test_set": TEST_SET, "runs": RUNS},
    "import_reviews": {"sheet": "nowhere", "labels": "labels"},
    "save_sheet": {"queue": rg.review_queue(TEST_SET), "path": "sheet.csv", "test_set": TEST_SET},
    "ReviewSession": {"queue": [("query 0", "d1")], "test_set": TEST_SET, "labels": "labels", "judge": "ana"},
    "load_qrels": {"first": "nowhere"},
    "load_run": {"first": "nowhere"},
    "load_testset": {"first": "nowhere"},
    "load_corpus": {"first": "nowhere"},
    "load_chunks": {"first": "nowhere"},
    "parse_measure": {"first": "AP"},
    "parse_measures": {"first": "AP"},
    "power": {"sd": 0.2, "queries": 10},
    "report": {"first": rg.evaluate(QRELS, RUNS["a"])},
    "run_plan": {"plan": "nowhere"},
    "verify": {"first": "nowhere"},
}
THEN: dict[str, Callable[[Any], Any]] = {
    # What is not looked at when it is made is looked at when it is used.
    "Qrels": lambda made: rg.evaluate(made, RUNS["a"]),
    "Run": lambda made: rg.evaluate(QRELS, made),
    "TestSet": lambda made: rg.evaluate_retriever(search, made),
    "Query": lambda made: rg.evaluate_retriever(search, rg.TestSet([made])),
}
SKIPPED = {"progress", "told"}  # called by us, and its errors are the caller's
SLOW = {"review_queue", "agreement", "corrected", "plan_size", "compare", "evaluate_retrievers", "sweep", "judge_next"}
CASES = [
    (name, argument)
    for name in GIVEN
    for argument in inspect.signature(getattr(rg, name)).parameters
    if argument not in SKIPPED
]


@pytest.mark.parametrize(("name", "argument"), CASES, ids=[f"{name}-{argument}" for name, argument in CASES])
def test_wrong_types_are_refused_in_words(
    name: str, argument: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    called = getattr(rg, name)
    first = next(iter(inspect.signature(called).parameters))
    given = {first if key == "first" else key: value for key, value in GIVEN[name].items()}
    for value in WRONG[:: 2 if name in SLOW else 1] if argument != first else WRONG:
        try:
            made = called(**{**given, argument: value})
            THEN.get(name, lambda made: made)(made)
        except RankgaugeError:
            continue
        except Exception as error:
            pytest.fail(f"{name}({argument}={value!r}): {type(error).__name__}: {error}")


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: rg.evaluate({"q": {"d": "high"}}, RUNS["a"]), "high"),
        (lambda: rg.evaluate(QRELS, RUNS["a"], measures=10), "10"),
        (lambda: rg.TestSet({"q": {"d": 1}}), r"query 1 is a str; give Query\("),
        (lambda: rg.Query("x", {"d": "high"}), "the grade of document 'd' is 'high'; give a number"),
        (lambda: rg.Query("x", {"d": 1}, id=[1]), r"`id` must be a text, not \[1\]"),
        (lambda: rg.Query("x", {"d": 1}, groups={"a": 3}), "`groups` must be lists of documents by name"),
        (lambda: rg.compare(QRELS, RUNS, baseline=3), "the baseline 3 is not among the systems: a, b"),
        (lambda: rg.evaluate(QRELS, RUNS["a"], rel=10**400), "must be a number"),
        (lambda: rg.sweep(lambda a: search, 3, TEST_SET), "a sweep needs a list of values for each parameter"),
    ],
)
def test_slips_that_people_make(call: Callable[[], Any], said: str) -> None:
    with pytest.raises(RankgaugeError, match=said):
        call()


def test_ids_may_be_numbers() -> None:
    assert rg.Query("x y", {"d": 1}, id=7).id == "7"
