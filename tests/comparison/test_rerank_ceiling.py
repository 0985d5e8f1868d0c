"""The ceiling of a reranker and the perfect score, against every list there is."""

from __future__ import annotations

import random
from itertools import permutations

import pytest

from rankgauge import compare, evaluate
from rankgauge.comparison.rerank import rerank_of
from rankgauge.errors import DataError, MeasureError
from rankgauge.measures import Law
from rankgauge.measures.registry import all_definitions
from tests.laws.settings import SETTINGS

MEASURES = [
    *(
        name
        for definition in all_definitions()
        if Law.MONOTONE in definition.laws and definition.aggregate == "mean"
        for name in SETTINGS[definition.name]
    ),
    "P(over='returned')@2",
    "P(over='returned', rel=2)@10",
    "DCG(gains={0: -1, 1: 1, 2: 3})@3",
    "DCG(gains={-1: -5, 0: -1})",
    "DCG(gains={1: 5, 2: 1, 3: 0})@2",
    "nDCG(gains={0: -1, 1: 1, 2: 3})@3",
    "nDCG(gains={-1: -5, 0: -1})",
    "nDCG(gains={1: 5, 2: -1})@2",
    "nDCG(gains={0: -1, 3: 2}, ideal='returned')@4",
    "nDCG(gains={0: -2}, judged_only=True)@3",
    "nDCG(ideal='returned')",
]


def lists_of(docs: list[str]) -> list[tuple[str, ...]]:
    """Every order of every selection."""
    return [order for size in range(1, len(docs) + 1) for order in permutations(docs, size)]


def best_of(judged: dict[str, int], docs: list[str], measure: str, depth: int | None) -> float:
    """The greatest score of any list of these documents."""
    lists = lists_of(docs)
    qrels = {f"q{i}": judged for i in range(len(lists))}
    run = {f"q{i}": {doc: -float(rank) for rank, doc in enumerate(order)} for i, order in enumerate(lists)}
    return max(evaluate(qrels, run, measure, depth=depth).per_query[:, 1])


@pytest.mark.parametrize("measure", MEASURES)
def test_ceiling_and_perfect_are_the_best_of_all_lists(measure: str) -> None:
    rng = random.Random(measure)
    for _ in range(8):
        top = 1 if "max_grade=1)" in measure else 3
        judged = {f"d{i}": rng.choice([-1, 0, *range(top + 1)]) for i in range(4)} | {"d9": 1}
        found = rng.sample(sorted({*judged, "u1", "u2"} - {"d9"}), rng.randint(1, 4))
        after = rng.sample(found, rng.randint(1, len(found)))
        depth = rng.choice([None, None, 2])
        before = {"q": {doc: -float(rank) for rank, doc in enumerate(found)}}
        reranked = {"q": {doc: -float(rank) for rank, doc in enumerate(after)}}
        compared = compare({"q": judged}, {"before": before, "after": reranked}, measure, depth=depth)
        (row,) = rerank_of(compared).rows
        assert row.ceiling == pytest.approx(best_of(judged, found, measure, depth), abs=1e-12)
        everything = [*judged, "u1"]
        assert row.perfect == pytest.approx(best_of(judged, everything, measure, depth), abs=1e-12)
        assert max(row.before, row.after) <= row.ceiling + 1e-12 <= row.perfect + 2e-12
        assert row.share is None or row.share <= 1 + 1e-9


@pytest.mark.parametrize("measure", [str(d()) for d in all_definitions() if d.lower_is_better and not d.at_required])
def test_measures_without_a_ceiling_are_refused(measure: str) -> None:
    runs = {"before": {"q": {"a": 1.0}}, "after": {"q": {"a": 2.0}}}
    with pytest.raises((DataError, MeasureError), match=r"no ceiling|no mean"):
        rerank_of(compare({"q": {"a": 1}}, runs, measure))


def test_no_query_in_common_is_an_error() -> None:
    runs = {"before": {"q1": {"a": 1.0}}, "after": {"q2": {"a": 2.0}}}
    with pytest.raises(DataError, match="no query counts for both"):
        compare({"q1": {"a": 1}, "q2": {"a": 1}}, runs, "RR", missing="skip")


def test_a_reranker_that_spoils_the_best_order_is_said_to_do_harm() -> None:
    qrels = {f"q{i}": {"a": 1, "b": 0, "c": 0} for i in range(4)}
    before, after = (dict.fromkeys(qrels, order) for order in (["a", "b", "c"], ["c", "b", "a"]))
    (_, said, *_) = rerank_of(compare(qrels, {"before": before, "after": after}, ["RR"])).sentences()
    assert "harm" in said
