"""Splitting, sampling, merging and comparing test sets."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace
from itertools import combinations, product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankgauge import Label, LabelPolicy, Query, TestSet
from rankgauge.errors import DataError
from rankgauge.model.near_duplicates import _words, groups_of, near_duplicates, one_slip


def tagged(n: int = 120) -> TestSet:
    """Tags of very different frequency, some queries with two."""
    chooser = random.Random(3)
    names = ["common"] * 12 + ["some"] * 5 + ["rare"]
    queries = []
    for i in range(n):
        tags = tuple(sorted({chooser.choice(names), *(["extra"] if i % 7 == 0 else [])}))
        queries.append(Query(f"{chooser.getrandbits(80):x}", {f"d{i}": 1}, f"q{i:03}", tags))
    return TestSet(queries, name="tagged")


def test_a_plain_split_stays_what_it_was() -> None:
    """Seeds that were chosen before there were groups give the same parts."""
    test_set = tagged(50)
    for seed in range(5):
        chosen = set(random.Random(seed).sample(range(50), 15))
        first, second = test_set.split(0.3, seed=seed)
        assert [query.id for query in first] == [test_set[i].id for i in sorted(chosen)]
        assert len(first) + len(second) == 50


@pytest.mark.parametrize("share", [0.1, 0.3, 0.5, 0.8])
@pytest.mark.parametrize("seed", [0, 1])
def test_tags_are_shared_out(share: float, seed: int) -> None:
    test_set = tagged()
    first, second = test_set.split(share, seed=seed, by="tag")
    assert abs(len(first) - share * len(test_set)) <= 3
    for tag, queries in test_set.tags.items():
        assert abs(len(first.tags.get(tag, [])) - share * len(queries)) <= 1.5, tag
    assert {query.id for query in first}.isdisjoint(query.id for query in second)
    assert test_set.split(share, seed=seed, by="tag") == (first, second)


def test_difficulty_is_shared_out() -> None:
    test_set = tagged(90)
    scores = {query.id: i / 90 for i, query in enumerate(test_set)}
    first, _ = test_set.split(0.5, by=["tag", "difficulty"], scores=scores)
    thirds = Counter(int(scores[query.id] * 3) for query in first)
    assert all(13 <= n <= 17 for n in thirds.values()), thirds
    with pytest.raises(DataError, match="scores="):
        test_set.split(0.5, by="difficulty")
    with pytest.raises(DataError, match="none of query"):
        test_set.split(0.5, by="difficulty", scores={"q001": 1.0})
    with pytest.raises(DataError, match="no finite number"):
        test_set.split(0.5, by="difficulty", scores=scores | {"q001": float("nan")})
    with pytest.raises(DataError, match="`by='hardness'`"):
        test_set.split(0.5, by="hardness")


@pytest.mark.parametrize("by", [None, "tag"])
def test_what_belongs_together_stays_together(by: str | None) -> None:
    queries = [
        Query(f"{word} number {i}", {"d": 1}, f"{word}{i}", ("t",), conversation=f"c{i // 4}" if word == "turn" else "")
        for word in ("turn", "alone")
        for i in range(40)
    ]
    queries += [Query("how to reset my password", {"d": 1}, "a"), Query("How to reset my pasword?", {"d": 1}, "b")]
    for seed in range(4):
        first, second = TestSet(queries).split(0.5, seed=seed, by=by)
        for part in (first, second):
            assert all(n == 4 for n in Counter(part.conversations.values()).values())
        assert {"a", "b"} <= {q.id for q in first} or {"a", "b"} <= {q.id for q in second}
        assert 36 <= len(first) <= 46


WORDS = st.sampled_from(
    ["reset", "rest", "reste", "password", "pasword", "paswrod", "python", "2", "3", "清单", "c++", "c"]
)


def distance(a: str, b: str) -> int:
    """Of Damerau and Levenshtein, with neighbours that changed places, by the book."""
    table = {(i, j): i + j for i in range(len(a) + 1) for j in range(len(b) + 1) if not i or not j}
    for i, j in product(range(1, len(a) + 1), range(1, len(b) + 1)):
        same = a[i - 1] == b[j - 1]
        table[i, j] = min(table[i - 1, j] + 1, table[i, j - 1] + 1, table[i - 1, j - 1] + (not same))
        if i > 1 and j > 1 and a[i - 1] == b[j - 2] and a[i - 2] == b[j - 1]:
            table[i, j] = min(table[i, j], table[i - 2, j - 2] + 1)
    return table[len(a), len(b)]


@given(st.lists(st.lists(WORDS, max_size=4).map(" ".join), max_size=12))
def test_near_duplicates_are_those_of_all_pairs(texts: list[str]) -> None:
    """Against the definition, over all pairs: the same groups."""
    words = [_words(text) for text in texts]

    def same(i: int, j: int) -> bool:
        a, b = words[i], words[j]
        if not a or not b:
            return False
        if sorted(a) == sorted(b) or "".join(a) == "".join(b):
            return True
        odd = [(x, y) for x, y in zip(a, b, strict=False) if x != y]
        if len(a) != len(b) or len(odd) != 1:
            return False
        ((x, y),) = odd
        return x.isalpha() and y.isalpha() and max(len(x), len(y)) >= 5 and distance(x, y) == 1

    groups = [{i} for i in range(len(texts))]
    for i, j in combinations(range(len(texts)), 2):
        if same(i, j):
            one, other = (next(group for group in groups if k in group) for k in (i, j))
            if one is not other:
                groups = [group for group in groups if group not in (one, other)] + [one | other]
    assert sorted(map(sorted, groups)) == sorted(map(sorted, groups_of(texts)))


@given(st.text("abcde", max_size=8), st.text("abcde", max_size=8))
def test_slips_are_of_distance_one(a: str, b: str) -> None:
    assert one_slip(a, b) == (distance(a, b) == 1 and max(len(a), len(b)) >= 5 and bool(a) and bool(b))


@pytest.mark.parametrize(
    ("a", "b", "alike"),
    [
        ("Reset password?", "reset  PASSWORD", True),
        ("how to reset my password", "how to reset my pasword", True),
        ("install python 2", "install python 3", False),
        ("convert pdf to word", "convert word to pdf", False),
        ("c++ list", "c# list", False),
        ("login with sso", "login without sso", False),
        ("how do i enable dark mode in the settings", "how do i disable dark mode in the settings", False),
        ("cancel my order", "cancel my ordr", True),
        ("log in page", "login page", True),
        ("from here", "form here", False),
        ("如何重置密码", "如何重置密码？", True),
        ("", "?", False),
    ],
)
def test_which_queries_are_nearly_the_same(a: str, b: str, alike: bool) -> None:
    assert bool(list(near_duplicates([a, b]))) is alike


def test_samples() -> None:
    test_set = tagged()
    assert len(test_set.sample(20)) == 20
    assert test_set.sample(20, seed=1) != test_set.sample(20, seed=2)
    by_tag = test_set.sample(20, by="tag").tags
    assert len(by_tag["rare"]) >= 4
    assert [query.id for query in test_set.sample(120)] == [query.id for query in test_set]
    for n in (0, 121, 1.5, True):
        with pytest.raises(DataError, match="whole number"):
            test_set.sample(n)  # type: ignore[arg-type]
    with pytest.raises(DataError, match="above 0"):
        test_set.sample(2, weights={"nobody": 1})
    with pytest.raises(DataError, match="from 0 on"):
        test_set.sample(2, weights={"q000": -1})


def test_weights_are_chances() -> None:
    """The first of the draws has the chances of the weights: 1000 draws of one of three."""
    test_set = TestSet([Query(name, {}) for name in ("a", "b", "c")])
    drawn = Counter(test_set.sample(1, seed=seed, weights={"a": 6, "b": 3, "c": 1})[0].id for seed in range(1000))
    expected = {"a": 600, "b": 300, "c": 100}
    assert all(abs(drawn[name] - n) < 4 * (n * (1 - n / 1000)) ** 0.5 for name, n in expected.items()), drawn
    assert {query.id for query in test_set.sample(2, weights={"a": 1, "b": 1})} == {"a", "b"}


A = TestSet([Query("text a", {"d1": 1, "d2": 0}, "a", ("x",)), Query("text b", {"d3": 1}, "b")], name="one.json")
B = TestSet([Query("text b", {"d3": 2, "d4": 1}, "b", ("y",)), Query("text c", {"d5": 1}, "c")], name="one.json")


def test_merging() -> None:
    with pytest.raises(DataError, match="document 'd3' has the grades 1 and 2"):
        A.merge(B)
    first = A.merge(B, conflicts="first")
    assert [(q.id, dict(q.grades), q.tags) for q in first] == [
        ("a", {"d1": 1, "d2": 0}, ("x",)),
        ("b", {"d3": 1, "d4": 1}, ("y",)),
        ("c", {"d5": 1}, ()),
    ]
    assert first.policy is None
    low, high = (A.merge(B, conflicts="labels", policy=LabelPolicy(combine=how)) for how in ("lowest", "highest"))
    assert (low[1].grades["d3"], high[1].grades["d3"]) == (1, 2)
    assert low.labels.sources == {("import", "one.json"): 3, ("import", "one.json (2)"): 3}
    assert A.merge(A).version == A.version
    other = TestSet([replace(A[0], text="other")])
    with pytest.raises(DataError, match="the texts differ"):
        A.merge(other, conflicts="labels")
    assert A.merge(other, conflicts="first") == A
    with pytest.raises(DataError, match="`conflicts='x'`"):
        A.merge(B, conflicts="x")
    with pytest.raises(DataError, match="must be a TestSet"):
        A.merge("b.json")  # type: ignore[arg-type]


def test_labels_survive_a_merge() -> None:
    person = Label("b", "d3", 2, "ana")
    labelled = B.with_labels([person])
    made = A.merge(labelled, conflicts="labels")
    assert made[1].grades["d3"] == 2
    assert person in made.labels
    first = A.merge(labelled, conflicts="first")
    assert first[1].grades["d3"] == 1
    assert first.policy == labelled.policy
    assert first.labels.grades(first.policy) == {query.id: dict(query.grades) for query in first}


def test_other_grades() -> None:
    turned = A.regraded({1: 3, 0: 1, 7: 8})
    assert [dict(query.grades) for query in turned] == [{"d1": 3, "d2": 1}, {"d3": 3}]
    assert A[0].grades["d1"] == 1  # as it was
    labels = [Label("a", "d1", 2, "ana", low=1, high=2), Label("a", "d2", 2, "m", "model", low=1, high=3)]
    turned = A.with_labels(labels).regraded({1: 4, 2: 3})
    assert [dict(query.grades) for query in turned] == [{"d1": 3, "d2": 3}, {"d3": 4}]
    assert turned.labels.grades(turned.policy) == {query.id: dict(query.grades) for query in turned}
    assert [(one.grade, one.low, one.high) for one in turned.labels[-2:]] == [(3, 3, 4), (3, None, None)]
    grouped = TestSet([Query("q", {"a": 1, "b": 2}, groups={"x": ["a"], "y": ["a", "b"]})])
    assert grouped.regraded({1: 0})[0].groups == {"y": ["b"]}
    for wrong in ({}, {1: "x"}, {1: float("nan")}, [(1, 2)], {True: 1}):
        with pytest.raises(DataError, match="`grades`"):
            A.regraded(wrong)  # type: ignore[arg-type]


def test_candidates_join_after_review() -> None:
    new = TestSet([Query("new", {}), Query("empty", {}, no_answer=True)], name="new.json")
    with pytest.raises(DataError, match=r"new.json: 1 query has no label yet, such as 'new'"):
        A.merge(new)
    assert len(A.merge(new, unreviewed=True)) == 4
    assert len(A.merge(new.with_labels([Label("new", "d1", 0, "ana")]))) == 4


@pytest.mark.parametrize("conflicts", ["first", "labels"])
def test_an_answer_against_none(conflicts: str) -> None:
    silent = TestSet([Query("text b", {"d9": 0}, "b", no_answer=True)])
    if conflicts == "labels":
        with pytest.raises(DataError, match="an answer in the one"):
            A.merge(silent, conflicts=conflicts)
        return
    assert not A.merge(silent, conflicts=conflicts)[1].no_answer
    kept = silent.merge(A, conflicts=conflicts)
    assert kept[0].no_answer
    assert kept[0].grades == {"d9": 0}


def test_groups_and_synthetic_survive() -> None:
    one = TestSet([Query("q", {"a": 1}, groups={"hop": ["a"]}, synthetic="llm:m")])
    two = TestSet([Query("q", {"b": 1, "c": 0}, texts={"b": "text"})])
    made = one.merge(two)[0]
    assert (made.groups, made.synthetic, made.texts) == ({"hop": ["a"], "b": ["b"]}, "llm:m", {"b": "text"})
    assert two.merge(one)[0].synthetic == "llm:m"


def test_differences() -> None:
    person = Label("b", "d3", 2, "ana", time="2026-01-01T00:00:00Z")
    new = TestSet([replace(A[1], text="text b!", tags=("t",)), Query("c", {"d": 1})]).with_labels([person])
    found = A.difference(new)
    assert (found.added, found.removed) == (["c"], ["a"])
    assert found.reworded == {"b": ("text b", "text b!")}
    assert found.changed == {"b": ["tags"]}
    assert [(one.query, one.doc, one.before, one.after, one.labels) for one in found.grades] == [
        ("b", "d3", 1, 2, (person,))
    ]
    assert len(found.labels_added) == 3
    assert found.policies == (None, LabelPolicy())
    assert not found.same
    assert found.to_dict()["policies"][1] == {"prefer": LabelPolicy().prefer, "combine": "majority"}
    assert A.difference(TestSet(reversed(A), name="other")).same
    assert [note.key for note in A.difference(A).notes] == ["testsets.diff_same"]


def test_summary() -> None:
    made = A.with_labels([Label("b", "d3", 2, "ana"), Label("b", "d3", 1, "bo")]).merge(
        TestSet([Query("new", {}), Query("made", {"x": 0}, synthetic="known-item")]), unreviewed=True
    )
    found = made.summary
    assert (found.queries, found.judged, found.unlabelled, found.no_relevant, found.synthetic) == (4, 3, 1, 1, 1)
    assert found.grades == {0: 2, 1: 2}
    assert found.conflicts == 1
    assert {note.key for note in found.notes} == {
        f"testsets.{name}" for name in ("unlabelled", "no_relevant", "conflicts_majority", "synthetic")
    }


@pytest.mark.parametrize(
    ("name", "policy"),
    [
        ("people-first", LabelPolicy()),
        ("people-only", LabelPolicy(("person",))),
        ("majority", LabelPolicy(())),
        ("mean", LabelPolicy((), "mean")),
        ("people-first+latest", LabelPolicy(combine="latest")),
    ],
)
def test_policies_by_name(name: str, policy: LabelPolicy) -> None:
    assert LabelPolicy.named(name) == policy


@pytest.mark.parametrize("name", ["median", "people-first+median", "majority+mean", ""])
def test_unknown_policies(name: str) -> None:
    with pytest.raises(DataError, match=r"none of|there is no policy"):
        LabelPolicy.named(name)
