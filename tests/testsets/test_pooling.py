"""Pools against a naive oracle and real runs; and what to judge before there is any label."""

from __future__ import annotations

import math
from itertools import combinations
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankgauge import (
    Label,
    Labels,
    Pool,
    Qrels,
    Query,
    Run,
    TestSet,
    evaluate,
    evaluate_retriever,
    judge_next,
    load_qrels,
    load_run,
    pool,
)
from rankgauge.errors import DataError
from rankgauge.reports import report
from rankgauge.reports.judging import judging_report
from rankgauge.testsets.pooling import pooled
from tests.oracles.cases import fast

DOCS = st.permutations([f"d{i}" for i in range(6)])
RUNS = st.dictionaries(
    st.sampled_from(["a", "b", "c"]), st.dictionaries(st.sampled_from(["q1", "q2", "q3"]), DOCS), min_size=1
)


def first(docs: list[str], k: int) -> list[str]:
    return docs[:k]


@fast(60)
@given(RUNS, st.integers(1, 7), st.sets(st.tuples(st.sampled_from(["q1", "q2"]), st.sampled_from(["d0", "d1"]))))
def test_a_pool_is_the_union_of_the_first(
    lists: dict[str, dict[str, list[str]]], k: int, judged: set[tuple[str, str]]
) -> None:
    runs = {
        name: {query: {doc: -float(i) for i, doc in enumerate(docs)} for query, docs in own.items()}
        for name, own in lists.items()
    }
    known = Labels([Label(query, doc, 1, "ana") for query, doc in sorted(judged)])
    expected: dict[tuple[str, str], dict[str, int]] = {}
    for name, own in lists.items():
        for query, docs in own.items():
            for rank, doc in enumerate(first(docs, k), start=1):
                expected.setdefault((query, doc), {})[name] = rank
    found = pool(runs, k, judged=known)
    assert {one.pair: (set(one.systems), one.rank) for one in found} == {
        pair: (set(ranks), min(ranks.values())) for pair, ranks in expected.items() if pair not in judged
    }
    for query in found.queries:
        ranks = [one.rank for one in found if one.query == query]
        assert ranks == sorted(ranks)  # type: ignore[type-var]
    shuffled = pool(runs, k, judged=known, shuffle=1)
    assert {one.pair for one in shuffled} == {one.pair for one in found}
    assert shuffled == pool(runs, k, judged=known, shuffle=1)


A, B = {"q1": {"d1": 2.0, "d2": 1.0}, "q2": {"d3": 1.0}}, {"q1": {"d2": 2.0, "d4": 1.0}}


def test_what_is_judged_and_which_queries() -> None:
    test_set = TestSet([Query("one", {"d1": 0}, "q1"), Query("two", {}, "q2"), Query("three", {}, "q3")])
    found = pooled({"a": A, "b": B}, 2, judged=test_set)
    assert [one.pair for one in found.pool] == [("q1", "d2"), ("q1", "d4"), ("q2", "d3")]
    assert (found.judged, found.missing) == (1, ["q3"])
    assert found.shares == {"a": (2, 1), "b": (2, 1)}
    assert pool({"a": A, "b": B}, 2, queries=["q1"]).queries == ["q1"]
    assert len(pool({"a": A}, 2, judged=[Qrels({"q1": {"d1": 1}}), Labels([Label("q1", "d2", 0, "m")])])) == 1
    taken_back = Labels([Label("q1", "d2", 0, "m"), Label("q1", "d2", None, "m")])
    assert len(pool({"a": A}, 2, judged=taken_back)) == 3
    empty = pooled({"a": A}, 2, judged=A)
    assert [note.key for note in empty.notes] == ["testsets.pool_empty"]


def test_of_live_evaluations() -> None:
    test_set = TestSet([Query("one", {"x": 1}, "q1")])
    live = evaluate_retriever(lambda text: ["d1", "d2"], test_set, measures="RR")
    assert [one.doc for one in pool({"live": live}, 1)] == ["d1"]
    with pytest.raises(DataError, match="have no lists"):
        pool({"a": evaluate(test_set, {"q1": {"d1": 1.0}}, "RR")})


@pytest.mark.parametrize("runs", [{}, [A], None])
def test_runs_need_names(runs: object) -> None:
    with pytest.raises(DataError, match="by name"):
        pool(runs)  # type: ignore[arg-type]


@pytest.mark.parametrize("k", [0, -1, 1.5, True, "a"])
def test_depths_are_checked(k: object) -> None:
    with pytest.raises(DataError, match="k"):
        pool({"a": A}, k)  # type: ignore[arg-type]


@pytest.mark.needs("data")
def test_real_runs(data: Path) -> None:
    """NIST judged far deeper than five runs' first ten: next to all of these are judged."""
    runs = {path.name: load_run(path) for path in sorted((data / "dl19").glob("*.run"))[:3]}
    qrels = load_qrels(data / "dl19" / "qrels.txt")
    judged = list(qrels.to_dict())
    every = pool(runs, 10, queries=judged)
    left = pool(runs, 10, queries=judged, judged=qrels)
    assert len(every.queries) == 43
    assert 10 * 43 < len(every) <= 30 * 43
    assert len(left) < len(every)
    assert {one.pair for one in left}.isdisjoint((q, doc) for q, docs in qrels.to_dict().items() for doc in docs)


# --- before there is any label ----------------------------------------------------------------------------------------


@fast(60)
@given(RUNS.filter(lambda runs: all(runs.values())))
def test_without_labels_documents_come_by_their_worth(lists: dict[str, dict[str, list[str]]]) -> None:
    runs = {
        name: {query: {doc: -float(i) for i, doc in enumerate(docs)} for query, docs in own.items()}
        for name, own in lists.items()
    }
    test_set = TestSet([Query(query, {}) for query in ("q1", "q2", "q3")])
    found = judge_next(test_set, runs, "nDCG@4", number=100)
    assert found.ranges == []
    assert found.documents == len(pool(runs, 4))
    for one in found.candidates:
        d = [0.0 if rank is None else 1 / math.log2(1 + rank) for rank in one.ranks.values()]
        pairs = [abs(x - y) for x, y in combinations(d, 2)]
        assert one.influence == pytest.approx(sum(d) / len(d) + (sum(pairs) / len(pairs) if pairs else 0))
    influences = [one.influence for one in found.candidates]
    assert influences == sorted(influences, reverse=True)


def test_it_says_that_nothing_is_judged() -> None:
    test_set = TestSet([Query("one", {}, "q1"), Query("two", {}, "q2")])
    found = judge_next(test_set, {"a": A, "b": B}, number=2)
    text = report(judging_report(found, ["a", "b"]), format="terminal")
    assert "nothing is judged yet" in text
    assert "2 of 4 documents" in text
    assert found.to_dict()["share"] is None
    assert found.texts == {"q1": "one", "q2": "two"}
    with pytest.raises(DataError, match="no run"):
        judge_next(test_set, {})
    ordinary = judge_next(TestSet([Query("one", {"d1": 1, "d2": 0}, "q1")]), {"a": A, "b": B}, "RR")
    assert ordinary.depth is None
    assert ordinary.ranges


def test_pools_survive_their_files(tmp_path: Path) -> None:
    from rankgauge import load_pool, save_pool

    found = pool({"a": Run(A), "b": B}, 2)
    save_pool(found, path := tmp_path / "pool.jsonl")
    assert load_pool(path) == found
    assert isinstance(found, Pool)
