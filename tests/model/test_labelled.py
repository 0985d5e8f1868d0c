"""Test sets that carry labels: grades are what a policy makes of them, whatever is done with the test set."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import product
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankgauge import Label, LabelPolicy, Labels, Query, TestSet
from rankgauge.errors import DataError, FormatError

PLAIN = TestSet(
    [Query("what is a list", {"d1": 2, "d2": 0}, "q1", ("python",)), Query("what is a set", {"d3": 1}, "q2")],
    name="work/queries.json",
)


def of(query: str, doc: str, grade: float | None, judge: str = "ana", kind: str = "person") -> Label:
    return Label(query, doc, grade, judge, kind)  # type: ignore[arg-type]


def test_labels_make_the_grades() -> None:
    made = PLAIN.with_labels([of("q1", "d1", 0), of("q1", "d4", 1), of("q2", "d3", 3, "m", "model")])
    assert [dict(query.grades) for query in made] == [{"d1": 0, "d2": 0, "d4": 1}, {"d3": 3}]
    assert [(one.kind, one.judge) for one in made.labels[:3]] == [("import", "queries.json")] * 3
    assert made.policy == LabelPolicy()
    assert PLAIN.policy is None and len(PLAIN.labels) == 0  # noqa: PT018
    assert PLAIN.qrels.to_dict() == {"q1": {"d1": 2, "d2": 0}, "q2": {"d3": 1}}
    more = made.with_labels([of("q1", "d1", 2, "bo"), of("q1", "d1", 2, "cy")])
    assert more[0].grades["d1"] == 2
    assert more.with_labels(policy=LabelPolicy(combine="lowest"))[0].grades["d1"] == 0
    back = more.with_labels([of("q1", "d1", None, judge) for judge in ("ana", "bo", "cy")])
    assert back[0].grades["d1"] == 2, "what was imported counts again"


def test_a_policy_without_imports_leaves_their_documents_unjudged() -> None:
    made = PLAIN.with_labels([of("q1", "d1", 1)], LabelPolicy(("person",)))
    assert [dict(query.grades) for query in made] == [{"d1": 1}, {}]
    with pytest.raises(DataError, match="LabelPolicy"):
        PLAIN.with_labels((), "majority")  # type: ignore[arg-type]


def test_labels_of_unknown_queries_are_told() -> None:
    labels = Labels([of("q1", "d1", 1), of("q9", "d1", 1)])
    with pytest.raises(DataError, match=r"'q9'.*skip_unknown"):
        PLAIN.with_labels(labels)
    assert PLAIN.with_labels(labels, skip_unknown=True)[0].grades["d1"] == 1


def test_groups_and_passages_follow_the_grades() -> None:
    query = Query("q", {"a": 1, "b": 1, "c": 1}, groups={"hop 1": ["a", "b"], "hop 2": ["c"]})
    labels = [
        of("q", "a", 0),
        of("q", "c", 0),
        of("q", "e", 1),
        of("q", "d", 1),
        Label("q", "d", 1, "ana", aspect="hop 2"),
    ]
    made = TestSet([query]).with_labels(labels)[0]
    assert made.groups == {"hop 1": ["b"], "hop 2": ["d"], "e": ["e"]}
    silent = TestSet([Query("q", {}, no_answer=True)])
    with pytest.raises(DataError, match="without an answer"):
        silent.with_labels([of("q", "a", 1)])
    assert silent.with_labels([of("q", "a", 0)])[0].no_answer


def test_whatever_is_derived_keeps_its_labels() -> None:
    made = PLAIN.with_labels([of("q1", "d1", 0)])
    assert made.tagged("python").labels.sources == {("import", "queries.json"): 2, ("person", "ana"): 1}
    first, second = made.split(0.5)
    assert len(first.labels) + len(second.labels) == 4
    assert made.renamed("other").version == made.version
    assert made.with_texts({"q1": "lists?"}).labels == made.labels
    assert made.without_texts().policy is None
    moved = [replace(query, grades={f"{doc}#": grade for doc, grade in query.grades.items()}) for query in made]
    other = made.with_queries(moved)
    assert [query.grades for query in other] == [query.grades for query in moved]
    assert {one.kind for one in other.labels} == {"import"}


def test_the_version_is_of_the_content() -> None:
    again = TestSet(reversed(PLAIN), name="other")
    assert again.version == PLAIN.version
    assert TestSet([replace(PLAIN[0], grades={"d2": 0.0, "d1": 2.0}), PLAIN[1]]).version == PLAIN.version
    made = PLAIN.with_labels()
    versions = {
        PLAIN.version,
        made.version,
        made.with_labels(policy=LabelPolicy(combine="mean")).version,
        made.with_labels([of("q1", "d1", 2)]).version,
        PLAIN.with_texts({"q1": "?"}).version,
        TestSet([replace(PLAIN[0], tags=("a",)), PLAIN[1]]).version,
        TestSet([replace(PLAIN[0], synthetic="llm:m"), PLAIN[1]]).version,
    }
    assert len(versions) == 7


def test_files(tmp_path: Path) -> None:
    made = PLAIN.with_labels([of("q1", "d1", 0), of("q1", "d1", 1), of("q2", "d9", 1, "m", "model")])
    made.save(path := tmp_path / "a.json")
    loaded = TestSet.load(path)
    assert loaded == made.renamed(str(path))
    assert loaded.version == made.version
    loaded.save(tmp_path / "b.json")
    assert (tmp_path / "b.json").read_bytes() == path.read_bytes()
    kept = json.loads(path.read_text())
    assert list(kept) == ["queries", "labels", "policy"]
    assert kept["policy"] == {"prefer": ["person", "model", "clicks", "import"], "combine": "majority"}
    with pytest.raises(FormatError, match="jsonl cannot hold who gave which label"):
        made.save(tmp_path / "a.jsonl")
    made.save(tmp_path / "a.jsonl", lossy=True)
    assert TestSet.load(tmp_path / "a.jsonl").qrels.to_dict() == made.qrels.to_dict()
    PLAIN.save(plain := tmp_path / "plain.json")
    assert isinstance(json.loads(plain.read_text()), list), "old files stay as they are"


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda kept: kept["queries"][0].update(relevant_docs=["d1"], relevance_scores={"d1": 3}), "add a label"),
        (lambda kept: kept.update(labels={}), '"labels" must be a list'),
        (lambda kept: kept["labels"].append({"query": "q1"}), "label 5"),
        (lambda kept: kept["labels"].append({"query": "x", "doc": "d", "grade": 1, "judge": "a"}), "'x'"),
        (lambda kept: kept.update(policy={"combine": "median"}), "median"),
        (lambda kept: kept.update(policy={"combin": "mean"}), "policy"),
        (lambda kept: kept.update(policy=[]), "policy"),
        (lambda kept: kept.update(policy={"prefer": [[]]}), "prefer"),
    ],
)
def test_a_damaged_file_is_told(change: object, told: str, tmp_path: Path) -> None:
    PLAIN.with_labels([of("q1", "d1", 0)]).save(path := tmp_path / "a.json")
    kept = json.loads(path.read_text())
    change(kept)  # type: ignore[operator]
    path.write_text(json.dumps(kept))
    with pytest.raises(FormatError, match=told):
        TestSet.load(path)


LABELS = st.sampled_from(
    [
        Label(*values)
        for values in product(["q1", "q2"], ["d1", "d2", "d3"], [None, 0, 1, 2], "ab", ["person", "model", "import"])
    ]
)


@given(st.lists(LABELS, max_size=12), st.lists(LABELS, max_size=12), st.sampled_from(["majority", "latest", "lowest"]))
def test_in_two_steps_or_one(first: list[Label], second: list[Label], combine: str) -> None:
    policy = LabelPolicy(combine=combine)  # type: ignore[arg-type]
    at_once = PLAIN.with_labels([*first, *second], policy)
    assert PLAIN.with_labels(first).with_labels(second, policy) == at_once
    assert at_once.with_queries(at_once) == at_once
    assert {query.id: dict(query.grades) for query in at_once if query.grades} == at_once.labels.grades(policy)


def test_an_imported_1_among_finer_grades_is_told() -> None:
    """The document a query was made of counts 1, and a worse one that a judge graded 2 would count more."""
    plain = TestSet([Query("reset", {"d1": 1}, "q1")])
    finer = plain.with_labels([Label("q1", "d2", 2, "gpt", "model")])
    assert [(finer.summary.coarse, finer.summary.finest), plain.summary.coarse] == [(1, 2.0), 0]
    assert "testsets.coarse" in [note.key for note in finer.summary.notes]
    assert finer.with_labels([Label("q1", "d1", 3, "gpt", "model")]).summary.coarse == 0
    assert plain.with_labels([Label("q1", "d2", 1, "gpt", "model")]).summary.coarse == 0


def test_imports_beyond_the_scale_of_labels_are_told() -> None:
    """A person's 3, the best there is on 0 to 3, would make a 3 of an imported 100."""
    plain = TestSet([Query("towels", {f"d{i}": 100 for i in range(30)}, "q1")])
    note = plain.with_labels([Label("q1", "d1", 3, "ana")]).summary.notes[-1]
    assert (note.key, note.level, note.parameters) == (
        "testsets.overreaching",
        "warning",
        {"imported": 100.0, "highest": 3.0},
    )
    # An interval is on the scale of its label.
    unsure = [Label("q1", "d1", 1, "clicks", "clicks", low=0, high=3)]
    assert plain.with_labels(unsure).summary.reach == 3
    assert plain.summary.overreaching is None
    assert plain.with_labels([Label("q1", "d1", 0, "ana")]).summary.overreaching is None
    assert plain.with_labels([Label("q1", "d1", 100, "ana")]).summary.overreaching is None


def test_a_few_corrections_are_no_other_scale() -> None:
    plain = TestSet([Query("towels", {f"d{i}": 3 for i in range(30)}, "q1")])
    lower = [Label("q1", f"d{i}", 1, "ana") for i in range(20)]
    assert plain.with_labels(lower[:5]).summary.overreaching is None
    assert plain.with_labels(lower).summary.overreaching == 3
    worse = [Label("q1", f"w{i}", 1, "ana") for i in range(20)]  # of documents that had no 3
    assert plain.with_labels(worse).summary.overreaching is None
