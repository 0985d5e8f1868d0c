"""Groups of evidence, queries without an answer, conversations and gold passages in a test set."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from rankgauge import Query, RankgaugeError, Span, TestSet, convert, evaluate
from rankgauge.errors import DataError

FULL = TestSet(
    [
        Query(
            "who led it, and when",
            {"a": 1, "b": 2, "c": 1, "n": 0},
            "q1",
            groups={"who": ("a", "b"), "when": ("b", "c")},
            conversation="c1",
            spans=(Span("a", 3, 8, "hello"), Span(text="a quotation")),
        ),
        Query("nobody knows", {"n": 0}, "q2", no_answer=True, conversation="c1"),
        Query("plain", {"d": 1, "e": 1}, "q3", spans=(Span("d", 0, 4, grade=2),)),
    ]
)


@pytest.mark.parametrize("form", ["json", "jsonl"])
def test_json_holds_all_of_it(tmp_path: Path, form: str) -> None:
    FULL.save(tmp_path / f"t.{form}")
    assert TestSet.load(tmp_path / f"t.{form}") == FULL


def test_groups_are_the_subtopics_of_the_judgments() -> None:
    rows = FULL.qrels.frame.select("query", "subtopic", "doc", "grade").rows()
    assert {("q1", "when", "b", 2.0), ("q1", "who", "b", 2.0)} < set(rows)
    assert ("q3", "d", "d", 1.0) in rows, "without groups, each relevant document is one of its own"
    run = {"q1": ["a", "x", "c"], "q3": ["d"]}
    got = evaluate(FULL, run, ["StRecall@1", "StRecall@3", "R@3"])
    assert got.per_query["StRecall@1"].to_list()[0] == 0.5
    assert got.per_query["StRecall@3"].to_list()[0] == 1.0
    assert got.per_query["R@3"].to_list()[0] == pytest.approx(2 / 3)


def test_spans_alone_judge_their_documents(tmp_path: Path) -> None:
    path = tmp_path / "t.json"
    path.write_text('[{"query": "x", "spans": [{"doc": "d1", "start": 0, "end": 5}, "a quoted text"]}]')
    query = TestSet.load(path)[0]
    assert query.grades == {"d1": 1.0}
    assert [span.anchored for span in query.spans] == [True, False]


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        (lambda: Query("q", {"a": 1}, groups={"g": ["a", "b"]}), "'b' is in a group, but not judged relevant"),
        (lambda: Query("q", {"a": 1, "b": 1}, groups={"g": ["a"]}), "'b' is relevant, but in no group"),
        (lambda: Query("q", {"a": 1}, groups={"g": []}), "must list at least one document"),
        (lambda: Query("q", {"a": 1}, no_answer=True), "has no answer, but also a relevant document"),
        (lambda: Span("d", 3), "both `start` and `end`"),
        (lambda: Span("d", 3, 3), "ends after it begins"),
        (lambda: Span("", 3, 4), "of which document"),
        (lambda: Span("d", 3, 9, "abc"), "has 6 characters, but its text has 3"),
        (lambda: Span("d"), "or the `text` it quotes"),
    ],
)
def test_faults_are_named(fault: object, words: str) -> None:
    with pytest.raises(RankgaugeError, match=words):
        fault()  # type: ignore[operator]


def test_other_formats_say_what_they_would_lose(tmp_path: Path) -> None:
    FULL.save(tmp_path / "t.json")
    with pytest.raises(RankgaugeError) as error:
        convert(str(tmp_path / "t.json"), str(tmp_path / "t.qrels"), to="trec")
    for what in ("which queries have no answer", "conversations", "gold passages"):
        assert what in str(error.value)


def test_passages_as_people_write_them() -> None:
    spans = ["quoted words", {"doc": "d", "start": 0, "end": 4}, Span("d", 5, 9)]
    assert Query("a query", {}, spans=spans).spans == (Span(text="quoted words"), Span("d", 0, 4), Span("d", 5, 9))


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"spans": "quoted words"}, "`spans` must be a list of passages"),
        ({"spans": Span("d", 0, 4)}, "`spans` must be a list of passages"),
        ({"spans": [5]}, "a passage is a quoted text or an object with doc, start, end, text, grade, not 5"),
        ({"spans": [{"document": "d"}]}, "a passage is a quoted text or an object"),
        ({"spans": [{"doc": "d", "start": 4, "end": 1}]}, "query 'a query': a span begins at 0 or later"),
        ({"no_answer": "no"}, "`no_answer` must be True or False, not 'no'"),
        ({"conversation": 3}, "`conversation` must be a text, not 3"),
    ],
)
def test_fields_of_the_wrong_kind(fields: dict[str, Any], said: str) -> None:
    with pytest.raises(DataError, match=re.escape(said)):
        Query("a query", {}, **fields)


def test_a_grade_that_is_a_text_has_a_place() -> None:
    with pytest.raises(DataError, match="query 'q', document 'd': the grade '2' is no number"):
        evaluate({"q": {"e": 1, "d": "2"}}, {"q": ["d"]}, "RR")
