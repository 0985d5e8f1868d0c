"""What is reviewed first: against the influence of `judge_next` and all labellings; and what must not be shown."""

from __future__ import annotations

import json
from collections import Counter
from itertools import pairwise, product
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankgauge import Pool, PooledPair, Query, ReviewQueue, TestSet, evaluate, judge_next, load_pool, review_queue
from rankgauge.errors import DataError, RankgaugeError
from rankgauge.formats.pool import save_pool
from rankgauge.model.labels import Label, LabelPolicy, Labels
from rankgauge.testsets.review.agreement import reviewer_agreement
from rankgauge.testsets.review.doubt import doubts, model_error
from rankgauge.testsets.review.judged import usual_scale
from rankgauge.testsets.review.queued import QueuedPair, load_queue
from rankgauge.testsets.review.sharing import shared_out
from rankgauge.testsets.review.standing import VerdictWatch
from rankgauge.testsets.sampling import draw_sample

SET = TestSet([Query(f"text {q}", {"r0": 0, "r1": 1, "r3": 3}, q) for q in ("q1", "q2", "q3")])
RUNS = {
    "a": {q: ["r1", "x1", "x2", "r3"] for q in ("q1", "q2", "q3")},
    "b": {"q1": ["x3", "r3"], "q2": ["r1", "x1", "x2", "r3"], "q3": ["r3", "x3", "x4", "x2"]},
}


def test_the_order_is_that_of_the_influence() -> None:
    """Without doubts it is judge_next's, and queries come by the sum of it."""
    found = review_queue(SET, None, RUNS, number=None, measures="nDCG@3", scale=(0, 1, 3))
    worth = {(one.query, one.doc): one.influence for one in judge_next(SET, RUNS, "nDCG@3", number=100).candidates}
    assert {one.pair: one.effect for one in found if one.effect} == pytest.approx(
        {pair: value for pair, value in worth.items() if value}
    )
    sums = {query: sum(one.effect or 0 for one in found if one.query == query) for query in found.queries}
    assert list(sums.values()) == sorted(sums.values(), reverse=True)
    first = review_queue(SET, None, RUNS, number=2, measures="nDCG@3", scale=(0, 1, 3))
    assert {one.pair for one in first} == set(sorted(worth, key=lambda pair: -worth[pair])[:2])
    assert first.documents == len(found) == len(found.of("anybody"))
    assert found.counts == {"unjudged": len(found)}


def test_a_doubt_weighs_by_its_size() -> None:
    """A document in doubt is worth what it were without its labels, times the doubt."""
    open_ = review_queue(SET, None, RUNS, number=None, measures="nDCG@3")
    worth = {one.pair: one.effect for one in open_}
    for grades, share in (((0, 3), 1.0), ((1, 2), 1 / 3)):
        labels = Labels([Label("q1", "x3", grade, judge) for grade, judge in zip(grades, "ab", strict=True)])
        found = {one.pair: one for one in review_queue(SET, labels, RUNS, number=None, measures="nDCG@3")}
        assert found["q1", "x3"].why == "conflict"
        assert found["q1", "x3"].effect == pytest.approx(share * (worth["q1", "x3"] or 0))
    certain = Labels([Label("q1", "x3", 2, "ana")])
    assert ("q1", "x3") not in {one.pair for one in review_queue(SET, certain, RUNS, number=None)}


@pytest.mark.parametrize(("highest", "expected"), [(1, 3), (3, 3), (3.5, 4), (4, 4), (10, 10), (57, 3)])
def test_the_usual_scale(highest: float, expected: int) -> None:
    """Scores that are no grades do not make one."""
    graded = TestSet([Query("text", {"d": highest}, "q")])
    labels = Labels([Label("q", "e", highest, "ana"), Label("q", "e", 9, "ana", aspect="length")])
    bare = TestSet([Query("text", {}, "q")])
    scale = tuple(float(grade) for grade in range(expected + 1))
    assert usual_scale(graded, ()) == usual_scale(bare, labels) == scale


def test_doubts_are_shares_of_a_scale_that_holds_all_grades() -> None:
    labels = Labels([Label("q1", "x3", grade, judge) for judge, grade in (("a", 0), ("b", 5))])
    runs = {"a": {"q1": ["x3", "r3"]}, "b": {"q1": ["r3", "x3"]}}

    def effect(**choices: Any) -> float | None:
        return next(one.effect for one in review_queue(SET, labels, runs, number=None, **choices))

    assert effect() == effect(scale=range(6)) != effect(scale=range(4))


def test_it_works_from_nothing() -> None:
    """No labels: by runs alone, by a pool alone, or what the test set holds."""
    bare = TestSet([Query(query.text, {}, query.id) for query in SET])
    by_runs = review_queue(bare, runs=RUNS, number=None)
    assert by_runs.items[0].effect
    assert {one.pair for one in by_runs} == {(q, d) for run in RUNS.values() for q, docs in run.items() for d in docs}
    assert [one.changes_winner for one in by_runs.ranges] == [True]
    pool = Pool([PooledPair("q1", "b", ("x",), 9), PooledPair("q2", "c", ("x", "y"), 2), PooledPair("q2", "a", (), 1)])
    by_pool = review_queue(bare, pool=pool, number=2)
    assert {one.pair for one in by_pool} == {("q2", "c"), ("q2", "a")}
    assert review_queue(bare, pool=pool).queries == ["q2", "q1"]
    assert all(one.effect is None for one in by_pool)
    assert {one.why for one in review_queue(SET, number=None)} == {"unreviewed"}
    assert len(review_queue(SET, number=None)) == 9
    assert len(review_queue(bare)) == 0


def test_a_drawn_pool_keeps_its_order(tmp_path: Path) -> None:
    """What was drawn at random is labelled in that order, or who stops early has no random sample."""
    grades = {f"q{i:02}": {f"d{j}": (i + j) % 3 for j in range(6)} for i in range(30)}
    sample = draw_sample(grades, 20, seed=3)
    save_pool(sample.pool, tmp_path / "pool.jsonl")
    assert sample.queries != sorted(sample.queries)
    tested = TestSet([Query("text", {}, query) for query in grades])
    doubtful = Labels([Label(sample.queries[7], "d1", grade, judge) for judge, grade in (("a", 0), ("b", 3))])
    for labels in (None, doubtful):
        found = review_queue(tested, labels, pool=tmp_path / "pool.jsonl", number=None)
        assert found.queries == sample.queries
        batches = review_queue(tested, labels, pool=sample.pool, number=None, batch=7)
        assert batches.queries == sample.queries
        some = review_queue(tested, labels, pool=sample.pool, number=13)
        assert some.queries == sample.queries[:3]
    shared = review_queue(tested, pool=sample.pool, number=None, reviewers=("ana", "bo"))
    assert shared.queries == sample.queries
    deep = Pool([PooledPair(one.query, one.doc, (), 9 - i % 6) for i, one in enumerate(sample.pool)])  # of draw --depth
    assert review_queue(tested, pool=deep, number=None).queries == sample.queries
    gathered = Pool([PooledPair("q02", "d0", ("bm25",), 2), PooledPair("q01", "d0", ("bm25",), 1)])
    assert review_queue(tested, pool=gathered).queries == ["q01", "q02"], "by rank"


def test_a_pool_bounds_what_is_reviewed() -> None:
    labels = Labels(
        [Label("q1", "a", 1, "ana"), Label("q1", "b", 1, "gpt", "model"), Label("q2", "x", 1, "gpt", "model")]
    )
    pool = [("q1", "a"), ("q1", "b"), ("q1", "c"), ("q1", "r1"), ("q9", "z")]
    found = review_queue(SET, labels, pool=pool)  # type: ignore[arg-type]
    assert {one.doc: one.why for one in found} == {"b": "unreviewed", "c": "unjudged", "r1": "unreviewed"}
    assert [(note.key, note.parameters["n"]) for note in found.notes] == [("review.unknown_pool", 1)]


def test_reasons() -> None:
    labels = Labels(
        [
            *(Label("q1", "split", grade, judge) for grade, judge in ((0, "ana"), (2, "bo"))),
            *(Label("q1", "settled", grade, judge) for grade, judge in ((0, "ana"), (2, "bo"))),
            Label("q1", "settled", 1, "cho", adjudicates=True),
            Label("q1", "wide", 1, "gpt", "model", low=0, high=3),
            Label("q1", "model", 1, "gpt", "model"),
            Label("q1", "person", 1, "ana"),
            Label("q1", "both", 1, "ana"),
            Label("q1", "both", 3, "gpt", "model"),
            Label("q1", "import", 1, "old", "import"),
        ]
    )
    found = doubts(labels, LabelPolicy(), 3.0)
    assert {doc: (one.why, one.size) for (_, doc), one in found.items()} == {
        "split": ("conflict", pytest.approx(2 / 3)),
        "wide": ("uncertain", 1.0),
        "model": ("unreviewed", 0.25),
    }
    assert [one.pair for one in review_queue(SET, labels, conflicts=True)] == [("q1", "split")]


def test_models_are_doubted_as_they_erred() -> None:
    both = [
        label
        for i in range(20)
        for label in (Label("q", f"d{i}", i % 2, "ana"), Label("q", f"d{i}", 1, "gpt", "model"))
    ]
    assert model_error(Labels(both[:10]), 2.0) == 0.25  # too few to tell
    assert model_error(Labels(both), 2.0) == pytest.approx(0.25)
    assert model_error(Labels([one for one in both if one.grade == 1]), 2.0) == 0.0  # they agree in all ten
    alone = Labels(
        [
            *(one for one in both if one.pair not in {(o.query, o.doc) for o in both if o.grade == 0}),
            Label("q", "n", 1, "gpt", "model"),
        ]
    )
    assert not doubts(alone, LabelPolicy(), 2.0)


def test_nothing_that_biases_is_handed_on(tmp_path: Path) -> None:
    labels = Labels([Label("q1", "x3", 2, "gpt", "model", low=1, high=3, reason="SECRET")])
    found = review_queue(SET, labels, RUNS, reviewers=["ana", "bo"], overlap=0.5)
    found.save(tmp_path / "queue.jsonl")
    for line in (tmp_path / "queue.jsonl").read_text().splitlines():
        assert set(json.loads(line)) == {"query", "doc", "reviewers"}
    again = load_queue(tmp_path / "queue.jsonl")
    assert [(one.pair, one.reviewers) for one in again] == [(one.pair, one.reviewers) for one in found]
    assert again.doubled == found.doubled
    assert [one.pair for one in load_pool(tmp_path / "queue.jsonl")] == [one.pair for one in found]


def test_the_order_within_a_query_tells_no_rank() -> None:
    """Random and reproducible: over seeds, each document is as often first as any other."""
    docs = [f"d{i}" for i in range(5)]
    tested, pool = TestSet([Query("t", {}, "q")]), Pool([PooledPair("q", doc, (), i + 1) for i, doc in enumerate(docs)])
    orders = [[one.doc for one in review_queue(tested, pool=pool, seed=seed)] for seed in range(60)]
    assert orders[0] == [one.doc for one in review_queue(tested, pool=pool, seed=0)]
    firsts = Counter(order[0] for order in orders)
    assert len(firsts) == 5
    assert max(firsts.values()) < 25  # of 60; 12 on average
    blocks = [one.query for one in review_queue(SET, runs=RUNS, number=None)]
    assert len([1 for a, b in pairwise(blocks) if a != b]) == len(set(blocks)) - 1


@given(
    st.lists(st.tuples(st.sampled_from("abcdef"), st.integers(0, 30)), unique=True, min_size=1, max_size=60),
    st.integers(2, 4),
    st.sampled_from([0.0, 0.1, 0.5, 1.0]),
)
def test_sharing(pairs: list[tuple[str, int]], n: int, overlap: float) -> None:
    items = [QueuedPair(query, f"d{i}") for query, i in sorted(pairs)]
    names = ["ana", "bo", "cho", "dee"][:n]
    shared, doubled = shared_out(items, names, overlap, 7)
    assert shared == shared_out(items, names, overlap, 7)[0]
    assert [one.pair for one in shared] == [one.pair for one in items]
    assert (
        doubled
        == sum(len(one.reviewers) == 2 for one in shared)
        == (max(1, round(overlap * len(items))) if overlap else 0)
    )
    assert all(len(set(one.reviewers)) == len(one.reviewers) >= 1 for one in shared)
    firsts = {(one.query, one.reviewers[0]) for one in shared}
    assert len(firsts) == len({one.query for one in items}), "a query is read by one person, but for what is doubled"


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"reviewers": ["ana"], "overlap": 0.1}, "needs two reviewers"),
        ({"reviewers": ["ana", "ana"]}, "names somebody twice"),
        ({"reviewers": "ana"}, "must be a list of names"),
        ({"reviewers": ["a", "b"], "overlap": 2}, "a number from 0 to 1"),
        ({"scale": [1]}, "two different grades"),
        ({"scale": "high"}, "must be a list of grades"),
        ({"number": 0}, "number"),
        ({"policy": "latest"}, "must be a LabelPolicy"),
        ({"runs": ["a"]}, "runs are given by name"),
        ({"measures": "what"}, "what"),
        ({"labels": 3}, "labels are a list of Label"),
    ],
)
def test_bad_choices(given: dict[str, object], words: str) -> None:
    with pytest.raises(RankgaugeError, match=words):
        review_queue(SET, **given)  # type: ignore[arg-type]


def test_nobody_of_that_name() -> None:
    found = review_queue(SET, runs=RUNS, reviewers=["ana", "bo"])
    assert isinstance(found, ReviewQueue)
    assert len(found.of("ana")) + len(found.of("bo")) == len(found)
    with pytest.raises(DataError, match="nothing here is for 'cho'; the reviewers are: ana, bo"):
        found.of("cho")


def test_the_winner_that_no_label_can_turn() -> None:
    """Against every labelling of the unjudged documents, with each label given in turn."""
    tested = TestSet([Query("t", {"r0": 0, "r1": 1}, "q1"), Query("u", {"r1": 1, "r0": 0}, "q2")])
    runs = {"a": {"q1": ["r1", "x"], "q2": ["r0", "y"]}, "b": {"q1": ["x", "r0"], "q2": ["y", "r1"]}}
    scale, open_ = (0.0, 1.0), [("q1", "x"), ("q2", "y")]
    watch = VerdictWatch(tested, runs, "nDCG@2", scale=scale)
    seen = set()
    for known in product((None, *scale), repeat=2):
        given = Labels(
            [Label(*pair, grade, "ana") for pair, grade in zip(open_, known, strict=True) if grade is not None]
        )
        differences = []
        for filled in product(*[scale if grade is None else (grade,) for grade in known]):
            grades = {query.id: dict(query.grades) for query in tested}
            for (query, doc), grade in zip(open_, filled, strict=True):
                grades[query][doc] = grade
            a, b = (evaluate(grades, run, "nDCG@2").mean["nDCG@2"] for run in runs.values())
            differences.append(b - a)
        signs = {0 if abs(value) < 1e-12 else 1 if value > 0 else -1 for value in differences}
        standing = watch.standing(given)
        (found,) = standing.ranges
        assert (found.low, found.high) == pytest.approx((min(differences), max(differences)))
        if None not in known:
            assert standing.settled
        seen.add(standing.settled)
        assert standing.settled or len(signs) > 1
    assert seen == {True, False}


def test_agreement_of_reviewers() -> None:
    labels = [
        Label(f"q{i // 4}", f"d{i}", (i + (judge == "bo" and i % 5 == 0)) % 3, judge)
        for i in range(20)
        for judge in ("ana", "bo")
    ]
    labels += [
        Label("q0", "alone", 1, "ana"),
        Label("q0", "d0", 2, "cho", adjudicates=True),
        Label("q0", "d1", 0, "gpt", "model"),
    ]
    found = reviewer_agreement(Labels(labels))
    assert found is not None
    assert (found.items, found.same) == (20, 16)
    import krippendorff

    table = [[label.grade for label in labels[:40] if label.judge == judge] for judge in ("ana", "bo")]
    assert found.alpha.value == pytest.approx(krippendorff.alpha(table, level_of_measurement="ordinal"))
    assert reviewer_agreement(Labels(labels[40:])) is None
    assert json.dumps(found.to_dict())


def test_labels_that_a_test_set_carries_count() -> None:
    """Before those of a file, which may settle what they disagreed about."""
    two = [Label("q1", "x3", 0, "ana"), Label("q1", "x3", 2, "bo"), Label("q2", "new", 1, "ana")]
    carried = SET.with_labels(two)
    assert [one.pair for one in review_queue(carried, conflicts=True)] == [("q1", "x3")]
    assert not review_queue(carried, [Label("q1", "x3", 0, "bo")], conflicts=True)  # type: ignore[arg-type]
    pool = Pool([("q2", "new"), ("q2", "other")])
    assert {one.doc for one in review_queue(carried, pool=pool)} == {"other"}


def test_batches_are_each_query_by_query() -> None:
    """The most important batch comes first, and its documents are those that a queue of its size would hold."""
    whole = review_queue(SET, None, RUNS, number=None, batch=3, measures="nDCG@3")
    for n in (3, 6):
        assert {one.pair for one in whole[:n]} == {
            one.pair for one in review_queue(SET, None, RUNS, number=n, measures="nDCG@3")
        }
    for i in range(0, len(whole), 3):
        queries = [one.query for one in whole[i : i + 3]]
        assert len([1 for a, b in pairwise(queries) if a != b]) == len(set(queries)) - 1
