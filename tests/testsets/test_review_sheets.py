"""Sheets out and in: through a spreadsheet, filled in by several people, damaged in the ways that happen."""

from __future__ import annotations

import csv
import io
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rankgauge import Label, Query, TestSet, import_reviews, load_labels, save_sheet
from rankgauge.errors import DataError, FormatError, RankgaugeError
from rankgauge.formats.labels import LabelFile
from rankgauge.testsets.review.queued import QueuedPair, ReviewQueue
from tests.testsets.spreadsheet import through_excel

IDS = ["1234567890123456", "007", "1e5", "1-2", "2024-05-01", "MAR1", "=1+1", "'quoted", " blank ", "true", "文档"]
QUEUE = ReviewQueue(tuple(QueuedPair(query, doc) for query in ("1-2", "q2") for doc in IDS), 22)
SET = TestSet([Query("=SUM(A1)", {}, "1-2"), Query("第二个查询", {}, "q2", texts={"007": "-1 bond\nline"})])


@pytest.fixture
def sheet(tmp_path: Path) -> Path:
    save_sheet(QUEUE, tmp_path / "sheet.csv", SET, corpus={"MAR1": "+a" + "x" * 40_000})
    return tmp_path / "sheet.csv"


def cells(path: Path, separator: str = ",") -> list[list[str]]:
    return list(csv.reader(io.StringIO(path.read_bytes().decode("utf-8-sig"), newline=""), delimiter=separator))


def place(name: str) -> int:
    return ["query_id", "query", "doc_id", "text", "grade", "comment", "check"].index(name)


def refill(path: Path, column: str, *texts: str) -> None:
    """Write into the first rows of a column."""
    rows = cells(path)
    for row, text in zip(rows[1:], texts, strict=False):
        row[place(column)] = text
    buffer = io.StringIO()
    csv.writer(buffer).writerows(rows)
    path.write_text(buffer.getvalue(), encoding="utf-8", newline="")


def test_what_a_sheet_holds(sheet: Path) -> None:
    data = sheet.read_bytes()
    assert data.startswith(b"\xef\xbb\xbf")
    assert data.count(b"\r\n") == data.count(b"\n") == len(QUEUE) + 1, "every row is one line"
    rows = cells(sheet)
    assert rows[0] == ["query_id", "query", "doc_id", "text", "grade", "comment", "check (do not change)"]
    assert all(cell[:1] not in "=+-@" for row in rows[1:] for cell in row if cell)
    assert max(len(cell) for row in rows for cell in row) < 32_767
    assert [row[place("text")] for row in rows[1:] if row[place("text")]][1] == "'-1 bond line"


@pytest.mark.parametrize("separator", [",", ";", "\t"])
@pytest.mark.parametrize("grade", ["2", "2.0", "2,0", " 2 ", "\uff12", "'2"])
def test_through_a_spreadsheet_and_back(sheet: Path, separator: str, grade: str, tmp_path: Path) -> None:
    data = through_excel(sheet.read_bytes(), separator)
    sheet.write_bytes(through_excel(sheet.read_bytes(), separator, keep={place("grade"): grade}))
    assert data.count(b"#NAME?") == 0
    found = import_reviews(sheet, tmp_path / "l", judge="ana")
    assert (found.rows, found.graded, found.new) == (22, 22, 22)
    assert load_labels(tmp_path / "l").grades() == {query: dict.fromkeys(IDS, 2.0) for query in ("1-2", "q2")}
    before = (tmp_path / "l").read_bytes()
    assert import_reviews(sheet, tmp_path / "l", judge="ana").new == 0
    assert (tmp_path / "l").read_bytes() == before


def test_blank_is_not_judged_and_comments_are_reasons(sheet: Path, tmp_path: Path) -> None:
    refill(sheet, "grade", "1", "", " ", "0")
    refill(sheet, "comment", "'=good", "no grade yet", "", "two\nlines")
    found = import_reviews(sheet, tmp_path / "l", judge="ana")
    assert (found.graded, found.new, found.reviewers) == (2, 2, {"ana": 2})
    assert [(one.grade, one.reason) for one in load_labels(tmp_path / "l")] == [(1.0, "=good"), (0.0, "two lines")]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=30)
@given(
    ids=st.lists(
        st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1, max_size=6),
        unique=True,
        min_size=1,
        max_size=6,
    )
)
def test_any_ids_come_back(ids: list[str], tmp_path: Path) -> None:
    queue = ReviewQueue(tuple(QueuedPair(f"q{one}", one) for one in ids), len(ids))
    save_sheet(queue, tmp_path / "s.tsv", SET)
    rows = cells(tmp_path / "s.tsv", "\t")
    for row in rows[1:]:
        row[place("grade")] = "1"
    with open(tmp_path / "s.tsv", "w", newline="", encoding="utf-8-sig") as file:
        csv.writer(file, delimiter="\t").writerows(rows)
    (tmp_path / "l").unlink(missing_ok=True)
    import_reviews(tmp_path / "s.tsv", tmp_path / "l", judge="ana")
    assert load_labels(tmp_path / "l").grades() == {f"q{one}": {one: 1.0} for one in ids}


def test_changed_ids_are_refused_with_their_rows(sheet: Path, tmp_path: Path) -> None:
    refill(sheet, "grade", *["1"] * 22)
    refill(sheet, "doc_id", "1.23457E+15", "7", "100000", "2-Jan")
    with pytest.raises(FormatError) as error:
        import_reviews(sheet, tmp_path / "l", judge="ana")
    assert error.value.total == 4
    text = str(error.value)
    assert "line 2: the ids" in text
    assert "a spreadsheet made a number of one" in text
    assert "line 5: the ids" in text
    assert "a spreadsheet made a date of one" in text
    assert "nothing was imported" in text
    assert not (tmp_path / "l").exists()


def test_a_column_sorted_alone_is_refused(sheet: Path, tmp_path: Path) -> None:
    refill(sheet, "grade", *["1"] * 22)
    column = [row[place("doc_id")] for row in cells(sheet)[1:]]
    refill(sheet, "doc_id", *column[1:], column[0])
    with pytest.raises(FormatError, match="a column was sorted without the others"):
        import_reviews(sheet, tmp_path / "l", judge="ana")


def test_rows_may_be_sorted_and_dropped(sheet: Path, tmp_path: Path) -> None:
    refill(sheet, "grade", *map(str, range(22)))
    rows = cells(sheet)
    with open(sheet, "w", newline="") as file:
        csv.writer(file).writerows([rows[0], *sorted(rows[1:], key=lambda row: row[2])[3:]])
    found = import_reviews(sheet, tmp_path / "l", judge="ana")
    assert found.graded == 19
    kept = load_labels(tmp_path / "l").grades()
    for query, first in (("1-2", 0), ("q2", 11)):
        assert all(grade == first + IDS.index(doc) for doc, grade in kept[query].items())


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("query_id,doc_id,grade\nq,1.23E+15,1\n", r":2: the document id '1.23E\+15' looks like a number that a spread"),
        ("query_id,doc_id,grade\n2-Jan,d,1\n", ":2: the query id '2-Jan' looks like a date"),
        ("query_id,doc_id,grade\nq,,1\n", ":2: the document id is missing"),
        ("query_id,doc_id,grade\nq,d,good\n", ":2: the grade 'good' is no number; leave it blank"),
        ("query_id,doc_id,grade\nq,d,nan\n", "no number"),
        ("query_id,doc_id,grade\nq,d,1e999\n", "no number"),
        ("query_id,doc_id,grade\nq,d,1_0\n", "no number"),
        ("query_id,doc_id,grade\nq,d,7\n", "the grade '7' is none of 0, 1, 2, 3"),
        ("query_id,doc_id,grade\nq,d,1\nq,d,2\n", ":3: ana gives this document 2, and 1 in row 2"),
        ("query_id,doc_id\nq,d\n", ":1: no column for grade among 'query_id', 'doc_id'"),
        ("query_id,doc_id,grade,Grade\nq,d,1,2\n", "two columns are named 'grade'"),
        ("query_id,doc_id,grade\nq,d,1,what\n", "the row has 4 cells, the header 3"),
        ("", "the file is empty"),
    ],
)
def test_faults_of_a_sheet(text: str, words: str, tmp_path: Path) -> None:
    (tmp_path / "s.csv").write_text(text)
    with pytest.raises(FormatError, match=words):
        import_reviews(tmp_path / "s.csv", tmp_path / "l", judge="ana", scale=(0, 1, 2, 3))
    assert not (tmp_path / "l").exists()


@pytest.mark.parametrize(
    "header", ["qid;docid;relevance;notes", "query_id;doc_id;grade (0-3);Comment", "查询编号;文档编号;等级;备注"]
)
def test_sheets_of_others(header: str, tmp_path: Path) -> None:
    (tmp_path / "s.csv").write_text(f"{header}\r\nq1;d 1;2,0;yes\r\nq1;'2-1;0;\r\nq1;d3;;\r\n", newline="")
    found = import_reviews(tmp_path / "s.csv", tmp_path / "l", judge="ana")
    assert found.graded == 2
    assert load_labels(tmp_path / "l").grades() == {"q1": {"d 1": 2.0, "2-1": 0.0}}


def test_a_queue_says_which_ids_are_right(tmp_path: Path) -> None:
    (tmp_path / "s.csv").write_text("query_id,doc_id,grade\nq,2-Jan,1\n")
    assert import_reviews(tmp_path / "s.csv", tmp_path / "l", judge="ana", queue=[("q", "2-Jan")]).new == 1
    with pytest.raises(FormatError, match="document '2-Jan' of query 'q' is not in the queue"):
        import_reviews(tmp_path / "s.csv", tmp_path / "m", judge="ana", queue=[("q", "1-2")])


def test_several_reviewers_and_their_conflicts(tmp_path: Path) -> None:
    shared = ReviewQueue((QueuedPair("q2", "a", ("ana", "bo")), QueuedPair("q2", "b", ("bo",))), 2)
    save_sheet(shared, tmp_path / "both.csv", SET)
    rows = cells(tmp_path / "both.csv")
    assert [row[6] for row in rows] == ["reviewer", "ana", "bo", "bo"]
    for row, grade in zip(rows[1:], ("1", "2", "0"), strict=True):
        row[4] = grade
    with open(tmp_path / "both.csv", "w", newline="") as file:
        csv.writer(file).writerows(rows)
    found = import_reviews(tmp_path / "both.csv", tmp_path / "l")
    assert found.reviewers == {"ana": 1, "bo": 2}
    assert list(found.conflicts) == [("q2", "a")]
    assert found.to_dict()["conflicts"] == [{"query": "q2", "doc": "a", "grades": {"ana": 1.0, "bo": 2.0}}]
    save_sheet(shared, tmp_path / "ana.csv", SET, reviewer="ana", language="zh")
    assert len(cells(tmp_path / "ana.csv")) == 2
    assert cells(tmp_path / "ana.csv")[0][0] == "查询编号"
    (tmp_path / "n.csv").write_text("query_id,doc_id,grade\nq,d,1\n")
    with pytest.raises(FormatError, match="nobody says who reviewed it"):
        import_reviews(tmp_path / "n.csv", tmp_path / "l")


def test_an_adjudicators_sheet(tmp_path: Path) -> None:
    with LabelFile(tmp_path / "l") as file:
        file.add([Label("q", "d", 0, "ana"), Label("q", "d", 2, "bo")])
    (tmp_path / "s.csv").write_text("query_id,doc_id,grade\nq,d,1\n")
    found = import_reviews(tmp_path / "s.csv", tmp_path / "l", judge="ana", adjudicates=True)
    assert not found.conflicts
    assert load_labels(tmp_path / "l").grades() == {"q": {"d": 1.0}}


def test_what_was_said_after_the_sheet_was_saved_stands(tmp_path: Path) -> None:
    (tmp_path / "s.csv").write_text("query_id,doc_id,grade\nq,d,1\nq,e,1\n")
    os.utime(tmp_path / "s.csv", (1_700_000_000, 1_700_000_000))
    assert import_reviews(tmp_path / "s.csv", tmp_path / "l", judge="ana").new == 2
    with LabelFile(tmp_path / "l") as file:
        file.add([Label("q", "d", 3, "ana", time="2024-01-01T00:00:00Z")])
    found = import_reviews(tmp_path / "s.csv", tmp_path / "l", judge="ana")
    assert (found.new, found.later) == (0, (("q", "d"),))
    assert load_labels(tmp_path / "l").grades() == {"q": {"d": 3.0, "e": 1.0}}


@pytest.mark.parametrize(
    ("choices", "words"),
    [
        ({"separator": "|"}, "none of comma, semicolon, tab"),
        ({"language": "fr"}, "unknown language"),
        ({"reviewer": 3}, "`reviewer` must be a text"),
        ({"corpus": 3}, "is no corpus"),
    ],
)
def test_bad_choices(choices: dict[str, Any], words: str, tmp_path: Path) -> None:
    with pytest.raises(RankgaugeError, match=words):
        save_sheet(QUEUE, tmp_path / "s.csv", SET, **choices)


def test_ids_that_no_sheet_can_hold(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="holds a character that no sheet can hold"):
        save_sheet(ReviewQueue((QueuedPair("q2", "a\0"),), 1), tmp_path / "s.csv", SET)


@pytest.mark.parametrize(("at", "new"), [("2020-01-01T00:00:00", 1), ("2999-01-01", 0)])
def test_labels_whose_times_name_no_zone(at: str, new: int, sheet: Path, tmp_path: Path) -> None:
    with LabelFile(tmp_path / "labels.jsonl") as file:
        file.add([Label("1-2", IDS[0], 1, "ana", time=at)])
    refill(sheet, "grade", "3")
    found = import_reviews(sheet, tmp_path / "labels.jsonl", judge="ana")
    assert (found.new, len(found.later)) == (new, 1 - new)
