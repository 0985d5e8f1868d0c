"""Scores that only rise: distances in the retriever's order, told from lists that are merely out of order."""

from __future__ import annotations

import sqlite3
import threading
import time
from collections import namedtuple
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankgauge import evaluate_retriever
from rankgauge.errors import RetrieverError
from rankgauge.model.testset import Query, TestSet
from rankgauge.retrievers import Journal, run_queries
from rankgauge.retrievers.deadline import deadline_of
from rankgauge.retrievers.hits import Hit, hits_of
from rankgauge.words import LANGUAGES, tell

QUERIES = {str(i): f"query {i}" for i in range(4)}
FAR = {f"query {i}": [(f"d{i}{j}", 0.1 * (j + 1)) for j in range(5)] for i in range(4)}
"""Documents by distance, the nearest first."""


def nearest(query: str, k: int) -> list[tuple[str, float]]:
    return FAR[query][:k]


def orders(search: Any, k: int = 5, **options: Any) -> dict[str, list[str]]:
    return {query: list(docs) for query, docs in run_queries(search, QUERIES, k, **options).run.to_dict().items()}


def test_distances_in_every_list_keep_the_retrievers_order() -> None:
    result = run_queries(nearest, QUERIES, 5)
    assert [[hit.id for hit in answer.hits] for answer in result.answers] == [[d for d, _ in FAR[q]] for q in FAR]
    assert all(a.score > b.score for a, b in pairwise(result.answers[0].hits))
    assert result.faults == {"rising": 4}
    (note,) = result.notes
    assert (note.key, note.level) == ("asking.rising", "warning")
    assert note.parameters == {"lists": 4, "query": "0", "field": "[1]"}
    assert "score_field='-[1]'" in tell(note, "en")
    for language in LANGUAGES:
        assert "score_field='[1]'" in tell(note, language)


def test_saying_which_they_are_ends_the_remark() -> None:
    test_set = TestSet([Query(text, {FAR[text][0][0]: 1}) for text in FAR])
    fields = (None, "-[1]", "[1]")
    found = {field: evaluate_retriever(nearest, test_set, measures="RR", score_field=field) for field in fields}
    assert {field: live.mean["RR"] for field, live in found.items()} == {None: 1.0, "-[1]": 1.0, "[1]": 0.2}
    keys = {field: {note.key for note in live.live_notes} for field, live in found.items()}
    assert keys == {None: {"asking.rising"}, "-[1]": set(), "[1]": {"asking.turned"}}
    (note,) = found["[1]"].live_notes
    assert all("`score_field='-[1]'`" in tell(note, language) for language in LANGUAGES)


def test_similarities_called_distances_are_told_the_other_way(tmp_path: Path) -> None:
    def similar(query: str, k: int) -> list[tuple[str, float]]:
        return [(doc, 1 - far) for doc, far in FAR[query][:k]]

    test_set = TestSet([Query(text, {FAR[text][0][0]: 1}) for text in FAR])
    keeping = {"cache": tmp_path, "configuration": {}}
    for _ in range(2):  # from the journal too
        live = evaluate_retriever(similar, test_set, measures="RR", score_field="-[1]", **keeping)
        assert [note.parameters["field"] for note in live.live_notes if note.key == "asking.turned"] == ["[1]"]


def test_one_list_that_falls_makes_them_scores() -> None:
    def mixed(query: str, k: int) -> list[tuple[str, float]]:
        return FAR[query][::-1][:k] if query == "query 3" else FAR[query][:k]

    result = run_queries(mixed, QUERIES, 5)
    assert all(answer.hits[0].score == pytest.approx(0.5) for answer in result.answers)
    assert result.faults == {"unsorted": 3}


def test_equal_scores_say_nothing() -> None:
    def equal(query: str, k: int) -> list[tuple[str, float]]:
        return [*((doc, 1.0) for doc, _ in FAR[query]), *([("stray", 2.0)] if query == "query 0" else [])]

    result = run_queries(equal, QUERIES, 6)
    assert result.faults == {"unsorted": 1}
    assert result.answers[0].hits[0] == Hit("stray", 2.0)


def test_lists_that_are_longer_than_asked_for_are_cut_at_the_right_end() -> None:
    found = orders(lambda query: FAR[query], 2)
    assert found["1"] == ["d10", "d11"]
    assert hits_of(FAR["query 1"], 2)[0] == [Hit("d14", 0.5), Hit("d13", 0.4)]  # one list cannot tell


SHAPES: dict[str, tuple[Callable[[str, float], Any], str]] = {
    "pairs": (lambda doc, far: (doc, far), "[1]"),
    "lists": (lambda doc, far: [doc, far], "[1]"),
    "dictionaries": (lambda doc, far: {"id": doc, "score": far}, "score"),
    "metadata": (lambda doc, far: {"id": doc, "metadata": {"score": far}}, "metadata.score"),
    "named": (lambda doc, far: namedtuple("Row", "doc_id score")(doc, far), "score"),
    "documents": (lambda doc, far: ({"id": doc}, far), "[1]"),
}


@pytest.mark.parametrize("shape", SHAPES)
def test_the_argument_to_give_is_exact(shape: str) -> None:
    make, field = SHAPES[shape]

    def search(query: str, k: int) -> list[Any]:
        return [make(doc, far) for doc, far in FAR[query][:k]]

    (note,) = run_queries(search, QUERIES, 5).notes
    assert note.parameters["field"] == field
    named = {query.text: [hit.id for hit in answer.hits] for query, answer in _answers(search, f"-{field}")}
    assert named == {text: [doc for doc, _ in FAR[text]] for text in FAR}


def _answers(search: Any, field: str) -> Any:
    test_set = TestSet([Query(text, {"x": 1}) for text in FAR])
    live = evaluate_retriever(search, test_set, score_field=field, measures="RR")
    assert not [note for note in live.live_notes if note.key in ("asking.rising", "live.unsorted")]
    return zip(test_set, live.retrieval.answers, strict=True)


def test_answers_that_were_kept_decide_too(tmp_path: Path) -> None:
    """A start that went on after a crash gives what one that never stopped does."""
    key: dict[str, Any] = {}
    with Journal(tmp_path / "a.jsonl", key) as journal:
        run_queries(nearest, dict(list(QUERIES.items())[:2]), 3, journal=journal)
    with Journal(tmp_path / "a.jsonl", key) as journal:
        resumed = run_queries(nearest, QUERIES, 3, journal=journal)
    whole = run_queries(nearest, QUERIES, 3)
    assert resumed.cached == 2
    assert resumed.run == whole.run
    assert resumed.notes[0] == whole.notes[0]


@given(st.lists(st.lists(st.floats(0, 1), min_size=2, max_size=6), min_size=1, max_size=5))
def test_order_given_or_order_of_scores(lists: list[list[float]]) -> None:
    """Every list is read in one of two ways, and all lists in the same."""
    queries = {str(i): str(i) for i in range(len(lists))}
    result = run_queries(lambda query, k: [(f"d{j}", s) for j, s in enumerate(lists[int(query)])], queries, 9)
    rises = [all(a <= b for a, b in pairwise(s)) and s[0] < s[-1] for s in lists]
    falls = [any(a > b for a, b in pairwise(s)) for s in lists]
    kept = any(rises) and not any(falls) and 2 * sum(rises) >= len(lists)
    for answer, scores in zip(result.answers, lists, strict=True):
        by_score = sorted(range(len(scores)), key=lambda j: -scores[j])
        ids = [int(hit.id[1:]) for hit in answer.hits]
        assert ids == (list(range(len(scores))) if kept else by_score)


# Rows of databases


@pytest.fixture
def database() -> sqlite3.Connection:
    made = sqlite3.connect(":memory:")
    made.execute("CREATE VIRTUAL TABLE docs USING fts5(id UNINDEXED, body, year UNINDEXED)")
    texts = ["apple pie", "pear tart", "apple apple tart", "plum cake with much else in it and apple", "pear"]
    made.executemany("INSERT INTO docs VALUES (?, ?, 1999)", [(f"d{i}", text) for i, text in enumerate(texts)])
    return made


STATEMENTS = {
    "SELECT id, bm25(docs) FROM docs WHERE docs MATCH ? ORDER BY 2 LIMIT ?": "bm25(docs)",
    "SELECT id, bm25(docs) AS score FROM docs WHERE docs MATCH ? ORDER BY score LIMIT ?": "score",
    "SELECT id AS d, rank FROM docs WHERE docs MATCH ? ORDER BY rank LIMIT ?": "rank",
    "SELECT id, year FROM docs WHERE docs MATCH ? ORDER BY rank LIMIT ?": None,
    "SELECT id FROM docs WHERE docs MATCH ? ORDER BY rank LIMIT ?": None,
    "SELECT body, id, year FROM docs WHERE docs MATCH ? ORDER BY rank LIMIT ?": None,
}


@pytest.mark.parametrize("statement", STATEMENTS)
@pytest.mark.parametrize("rows", [None, sqlite3.Row])
def test_rows_of_sqlite(database: sqlite3.Connection, statement: str, rows: Any) -> None:
    """A plain connection, asked in the thread it was made in, whatever its rows are."""
    database.row_factory = rows

    def search(query: str, k: int) -> list[Any]:
        return database.execute(statement, (query, k)).fetchall()

    options = {}
    if rows is None and STATEMENTS[statement] is None and "SELECT id FROM" not in statement:
        options = {"id_field": "[1]"} if "body" in statement else {"id_field": "[0]"}
        if "year" in statement and "body" not in statement:
            return  # a pair of id and year cannot be told from one of id and score
    if rows is None and "SELECT id FROM" in statement:
        options = {"id_field": "[0]"}
    test_set = TestSet([Query("apple", {"d2": 1}), Query("pear", {"d4": 1})])
    live = evaluate_retriever(search, test_set, measures="RR", **options)
    assert live.mean["RR"] == 1.0
    assert [hit.id for hit in live.retrieval.answers[0].hits] == ["d2", "d0", "d3"]
    notes = {note.key: note for note in live.live_notes}
    assert notes["asking.own_thread"].level == "info"
    field = STATEMENTS[statement]
    if field is not None:
        assert notes["asking.rising"].parameters["field"] == ("[1]" if rows is None else field)
        named = f"-{notes['asking.rising'].parameters['field']}"
        again = evaluate_retriever(search, test_set, measures="RR", score_field=named)
        assert again.run.to_dict() == live.run.to_dict()
        assert "asking.rising" not in [note.key for note in again.live_notes]


def test_a_row_without_an_id_says_what_it_has(database: sqlite3.Connection) -> None:
    database.row_factory = sqlite3.Row
    row = database.execute("SELECT body, year, body AS title FROM docs").fetchone()
    with pytest.raises(RetrieverError, match=r"no id in any of the usual places.*seen: a Row with body, year, title"):
        hits_of([row], 3)
    assert hits_of([row], 3, id_field="body")[0][0].id == "apple pie"
    assert hits_of([row], 3, id_field="[2]", score_field="-[1]")[0] == [Hit("apple pie", -1999.0)]


def test_a_connection_of_another_thread_with_several_calls_at_a_time(database: sqlite3.Connection) -> None:
    """The calls cannot go home then: the first mistake says what is wrong."""

    def search(query: str, k: int) -> list[Any]:
        return database.execute("SELECT id FROM docs LIMIT ?", (k,)).fetchall()

    result = run_queries(search, {str(i): "x" for i in range(40)}, 3, concurrency=4)
    assert result.mistaken
    assert len(result.answers) < 12
    assert isinstance(result.cause, sqlite3.ProgrammingError)
    assert "same thread" in next(iter(result.errors))


def test_calls_at_home_are_timed_and_limited(database: sqlite3.Connection) -> None:
    home, seen = threading.get_ident(), []

    def search(query: str, k: int) -> list[Any]:
        found = database.execute("SELECT id FROM docs LIMIT ?", (k,)).fetchall()
        seen.append(threading.get_ident())
        if query == "slow":
            time.sleep(0.2)
        return [row[0] for row in found]

    result = run_queries(search, {"a": "x", "b": "slow", "c": "y"}, 3, timeout=0.1, retries=0, max_failed=0.5)
    assert result.own_thread
    assert set(seen) == {home}
    assert result.failed == ["b"]
    assert result.errors == {"no answer within 0.1 s": 1}
    assert result.latency.count == 2


def test_ctrl_c_at_home_ends_it_with_what_is_done(database: sqlite3.Connection) -> None:
    def search(query: str, k: int) -> list[Any]:
        database.execute("SELECT 1")
        if query == "c":
            raise KeyboardInterrupt
        return [query]

    result = run_queries(search, {name: name for name in "abcd"}, 3)
    assert result.interrupted
    assert [answer.query for answer in result.answers] == ["a", "b"]


def test_hanging_calls_elsewhere_are_still_given_up() -> None:
    event = threading.Event()
    started = time.perf_counter()
    result = run_queries(lambda query, k: event.wait(10) or [query], {"a": "x", "b": "y"}, 3, timeout=0.1)
    event.set()
    assert time.perf_counter() - started < 5
    assert len(result.failed) == 2
    assert not result.own_thread


def test_a_limit_ends_with_the_calls(database: sqlite3.Connection) -> None:
    """Calls in the caller's thread must not leave their limit there: whatever asks a server later would be too late."""

    def search(query: str, k: int) -> list[Any]:
        return database.execute("SELECT id FROM docs WHERE docs MATCH ? LIMIT ?", (query, k)).fetchall()

    before = deadline_of(3600)
    test_set = TestSet([Query("apple", {"d2": 1}), Query("pear", {"d4": 1})])
    live = evaluate_retriever(search, test_set, measures="RR", id_field="[0]", timeout=1)
    assert "asking.own_thread" in [note.key for note in live.live_notes]
    assert deadline_of(3600) >= before
