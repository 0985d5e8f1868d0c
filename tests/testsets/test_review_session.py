"""A session against a naive model of it, over a real file that is opened again between."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rankgauge import Label, Pool, Query, ReviewSession, TestSet, load_labels
from rankgauge.errors import DataError, RankgaugeError
from rankgauge.formats.labels import LabelFile
from rankgauge.testsets.review.queued import QueuedPair, ReviewQueue

PAIRS = [("q1", "a"), ("q1", "b"), ("q2", "c"), ("q2", "d")]
SET = TestSet([Query("first", {}, "q1", texts={"a": "held"}), Query("second", {}, "q2")])
CORPUS = {"b": "of the corpus"}
ACTIONS = st.one_of(
    *(st.just(action) for action in ("skip", "undo", "again", "note")), st.sampled_from([0.0, 1.0, 3.0])
)


def opened(path: Path, **choices: Any) -> ReviewSession:
    ticks = itertools.count()
    times = (f"2026-05-01T12:00:{tick % 60:02d}Z" for tick in ticks)
    choices = {"judge": "ana", "corpus": CORPUS, **choices}
    return ReviewSession(Pool(PAIRS), SET, path, clock=lambda: next(times), **choices)


class Naive:
    """Grades, what waits, and what was done, as a person would keep them on paper."""

    def __init__(self) -> None:
        self.grades: dict[tuple[str, str], float | None] = dict.fromkeys(PAIRS)
        self.order: list[tuple[str, str]] = []
        self.begin()

    def begin(self) -> None:
        self.waiting = [pair for pair in PAIRS if self.grades[pair] is None]
        self.done: list[tuple[str, tuple[str, str]]] = [("grade", pair) for pair in self.order]
        self.skips = dict.fromkeys(PAIRS, 0)

    def act(self, action: Any) -> None:
        if action == "again":
            self.begin()
        elif action == "undo":
            if self.done:
                what, pair = self.done.pop()
                if what == "grade":
                    self.grades[pair] = None
                    self.order.remove(pair)
                else:
                    self.skips[pair] -= 1
                self.waiting = [pair, *(one for one in self.waiting if one != pair)]
        elif self.waiting and action == "skip":
            pair = self.waiting.pop(0)
            self.skips[pair] += 1
            self.done.append(("skip", pair))
            self.waiting += [pair] if self.skips[pair] == 1 else []
        elif self.waiting and action != "note":
            pair = self.waiting.pop(0)
            self.grades[pair] = action
            self.order.append(pair)
            self.done.append(("grade", pair))


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60)
@given(actions=st.lists(ACTIONS, max_size=25))
def test_a_session_is_what_was_done(actions: list[Any], tmp_path: Path) -> None:
    path = tmp_path / "labels.jsonl"
    path.unlink(missing_ok=True)
    naive, session = Naive(), opened(path)
    for action in actions:
        if action == "again":
            session.close()
            session = opened(path)
        elif action == "undo":
            session.undo()
        elif session.next() is not None:
            if action == "skip":
                session.skip()
            elif action == "note":
                session.note("a word")
            else:
                session.grade(action)
        naive.act(action)
        said = {(q, d): grade for q, docs in load_labels(path).grades().items() for d, grade in docs.items()}
        assert said == {pair: grade for pair, grade in naive.grades.items() if grade is not None}
        shown, progress = session.next(), session.progress
        assert (None if shown is None else (shown.query, shown.doc)) == (naive.waiting or [None])[0]
        assert (progress.done, progress.total) == (len(said), 4)
    session.close()


def test_what_is_shown(tmp_path: Path) -> None:
    with opened(tmp_path / "l") as session:
        first = session.next()
        assert first is not None
        assert (first.query_text, first.text, first.note, first.grade, first.said) == ("first", "held", "", None, ())
        session.note("  cut\noff ")
        assert session.next().note == "cut off"  # type: ignore[union-attr]
        session.grade(2)
        assert session.next().text == "of the corpus"  # type: ignore[union-attr]
        session.skip()
        third = session.next()
        assert third is not None
        assert (third.query_text, third.text) == ("second", None)
        progress = session.progress
        assert (progress.done, progress.left, progress.skipped, progress.query, progress.given) == (1, 3, 1, 2, 1)
    (label,) = load_labels(tmp_path / "l").voices["q1", "a"]
    assert (label.grade, label.reason, label.judge, label.kind) == (2.0, "cut off", "ana", "person")


def test_undo_keeps_the_note_and_reaches_back(tmp_path: Path) -> None:
    with opened(tmp_path / "l") as session:
        session.note("why")
        session.grade(2)
        session.grade(1)
    with opened(tmp_path / "l") as session:
        assert session.progress.given == 0
        session.undo()
        shown = session.undo()
        assert shown is not None
        assert (shown.doc, shown.note, shown.grade) == ("a", "why", None)
        assert session.undo() is None
        assert session.next() == shown
    assert load_labels(tmp_path / "l").grades() == {}


def test_undo_of_a_second_thought_brings_the_first_back(tmp_path: Path) -> None:
    """A grade from a sheet stood there when the terminal was asked again."""
    with LabelFile(tmp_path / "l") as file:
        file.add([Label("q1", "a", grade, "ana") for grade in (1, 3)])
    with opened(tmp_path / "l") as session:
        assert session.undo().grade == 1.0  # type: ignore[union-attr]
    assert load_labels(tmp_path / "l").grades() == {"q1": {"a": 1.0}}


def test_judges_do_not_see_each_other(tmp_path: Path) -> None:
    with opened(tmp_path / "l") as session:
        for _ in PAIRS:
            session.grade(1)
        assert session.next() is None
        with pytest.raises(DataError, match="nothing left to label"):
            session.grade(1)
    with opened(tmp_path / "l", judge="bo") as session:
        assert session.progress.done == 0
        assert session.next().said == ()  # type: ignore[union-attr]
        session.grade(3)
    with opened(tmp_path / "l", judge="cho", adjudicates=True) as session:
        said = session.next().said  # type: ignore[union-attr]
        assert [(one.grade, one.reason) for one in said] == [(3.0, ""), (1.0, "")]
        assert not hasattr(said[0], "judge")
        session.grade(0)
    labels = load_labels(tmp_path / "l")
    assert labels.grades()["q1"]["a"] == 0.0
    assert not labels.conflicts()


def test_everybody_has_a_share(tmp_path: Path) -> None:
    items = tuple(
        QueuedPair(*pair, reviewers=who)
        for pair, who in zip(PAIRS, (("ana",), ("bo",), ("bo", "ana"), ()), strict=True)
    )
    queue = ReviewQueue(items, 4)
    with ReviewSession(queue, SET, tmp_path / "l", judge="ana") as session:
        assert session.progress.total == 3
    with pytest.raises(DataError, match="nothing here is for 'dee'"):
        ReviewSession(ReviewQueue(items[:3], 3), SET, tmp_path / "l", judge="dee")


def test_turns_before_a_turn_are_shown(tmp_path: Path) -> None:
    turns = [Query(f"turn {i}", {}, f"t{i}", conversation="c") for i in range(6)]
    with ReviewSession([("t5", "d")], TestSet(turns), tmp_path / "l", judge="ana") as session:
        assert session.next().turns == ("turn 2", "turn 3", "turn 4")  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("choices", "words"),
    [
        ({"judge": ""}, "must not be empty"),
        ({"judge": 3}, "`judge` must be a text"),
        ({"scale": [1]}, "two different grades"),
        ({"scal": [1]}, "did you mean scale"),
        ({"others": 3}, "labels are a list of Label"),
    ],
)
def test_bad_choices(choices: dict[str, Any], words: str, tmp_path: Path) -> None:
    with pytest.raises(RankgaugeError, match=words):
        opened(tmp_path / "l", **choices)


def test_bad_grades_and_queries(tmp_path: Path) -> None:
    with opened(tmp_path / "l") as session:
        for grade in (5, True, "2", None):
            with pytest.raises(DataError, match="no grade here; the scale is 0, 1, 2, 3"):
                session.grade(grade)  # type: ignore[arg-type]
        assert session.progress.done == 0
        with pytest.raises(RankgaugeError, match="another process writes labels"):
            opened(tmp_path / "l")
    with pytest.raises(DataError, match="query 'q9' of the queue is not in the test set"):
        ReviewSession([("q9", "d")], SET, tmp_path / "m", judge="ana")
