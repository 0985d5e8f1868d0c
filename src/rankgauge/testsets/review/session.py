"""A person labels documents one after the other: what is shown, what is said, what is taken back. Nothing here draws:
a terminal and a page do, over the same session.

Every grade and every note is on the disk before the next document is shown. A session that begins again goes on at the
first document that its judge has not labelled; what was skipped comes again at the end.
"""

from __future__ import annotations

import datetime
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from rankgauge.arguments import as_path, check_text, named_arguments
from rankgauge.errors import DataError
from rankgauge.formats.labels import LabelFile
from rankgauge.model.labels import Label, Labels
from rankgauge.model.pool import Pool
from rankgauge.model.testset import Query, TestSet
from rankgauge.testsets.review.judged import (
    PathLike,
    all_labels,
    check_scale,
    read_corpus,
    read_labels,
    read_tested,
    usual_scale,
)
from rankgauge.testsets.review.queued import Pair, QueuedPair, ReviewQueue, as_queue

__all__ = ["Progress", "ReviewSession", "Said", "Shown", "now"]

_TURNS = 3
"""Earlier turns of a conversation that are shown with a query."""


def now() -> str:
    """The time in ISO 8601, to the second."""
    return datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds").replace("+00:00", "Z")


@dataclass(frozen=True)
class Said:
    """What somebody else said of a document, for who adjudicates; without a name."""

    grade: float
    reason: str


@dataclass(frozen=True)
class Shown:
    """A document to be labelled, as a reviewer may see it."""

    query: str
    doc: str
    query_text: str
    text: str | None
    """None where no text of the document is known."""
    turns: tuple[str, ...] = ()
    """Earlier queries of the same conversation."""
    note: str = ""
    grade: float | None = None
    """What the judge said before, where it is asked again after an undo."""
    said: tuple[Said, ...] = ()


@dataclass(frozen=True)
class Progress:
    """Where a session stands."""

    total: int
    done: int
    skipped: int
    query: int
    """The number of the query that is shown, from 1; 0 at the end."""
    queries: int
    given: int
    """Labels given since the session began, less those taken back."""

    @property
    def left(self) -> int:
        return self.total - self.done


@dataclass(frozen=True)
class _Step:
    """Something that can be undone."""

    item: QueuedPair
    what: Literal["grade", "skip"]
    before: Label | None = None


class ReviewSession:
    """One judge's way through a queue, over a file of labels that no other process has meanwhile.

    `next()` is the document to be labelled now, None at the end; `grade`, `skip`, `note` and `undo` say what to do with
    it. With `adjudicates`, labels settle what others disagree about, whose grades and reasons are shown: those of the
    file, and of `others`. The `scale` is 0 to 3, or as far as grades of the test set and these labels go.
    """

    @named_arguments
    def __init__(
        self,
        queue: ReviewQueue | Pool | Iterable[Pair] | PathLike,
        test_set: TestSet | PathLike,
        labels: LabelFile | PathLike,
        *,
        judge: str,
        corpus: Mapping[str, str] | PathLike | None = None,
        scale: Sequence[float] | None = None,
        rubric: str = "",
        adjudicates: bool = False,
        others: Labels | PathLike | None = None,
        clock: Callable[[], str] | None = None,
    ) -> None:
        check_text("judge", judge)
        check_text("rubric", rubric)
        if not judge or not judge.strip():
            raise DataError("`judge` is the name of who labels: it must not be empty")
        self.judge, self.rubric, self.adjudicates = judge, rubric, bool(adjudicates)
        given_scale, self._clock = None if scale is None else check_scale(scale), clock or now
        tested = read_tested(test_set)
        self._queries = {query.id: query for query in tested}
        self._turns = _turns(tested)
        self._corpus = read_corpus(corpus)
        items = as_queue(queue).of(judge).items
        if unknown := [one for one in items if one.query not in self._queries]:
            raise DataError(f"query {unknown[0].query!r} of the queue is not in the test set {tested.name}")
        self._items = {one.pair: one for one in items}
        self._places = {query: i for i, query in enumerate(dict.fromkeys(one.query for one in items), start=1)}
        before = all_labels(tested, read_labels(others))
        self._own = not isinstance(labels, LabelFile)
        self.file = labels if isinstance(labels, LabelFile) else LabelFile(as_path("labels", labels))
        self.scale = given_scale or usual_scale(tested, [*before, *self.file.labels])
        self._others: dict[Pair, list[Label]] = {}
        self._last: dict[Pair, Label] = {}
        self._steps: list[_Step] = []
        self._given = 0
        self._read(before)
        self._waiting = [one for one in items if not self._is_done(one.pair)]
        self._skipped: dict[Pair, int] = {}

    def _read(self, others: Labels) -> None:
        """What is said already: by this judge, and, for who adjudicates, by others."""
        labels = self.file.labels
        before: dict[Pair, Label] = {}
        for label in labels:
            if label.pair in self._items and self._is_own(label):
                if label.pair in self._last:
                    before[label.pair] = self._last.pop(label.pair)
                self._last[label.pair] = label
        if self.adjudicates:
            voices = others.added(labels).voices
            for pair in self._items:
                self._others[pair] = [one for one in voices.get(pair, ()) if not one.adjudicates]
        done = (label for label in self._last.values() if label.grade is not None)
        self._steps = [_Step(self._items[label.pair], "grade", before.get(label.pair)) for label in done]

    def _is_own(self, label: Label) -> bool:
        own = (label.judge, label.kind, label.adjudicates, label.aspect)
        return own == (self.judge, "person", self.adjudicates, "")

    def _is_done(self, pair: Pair) -> bool:
        return pair in self._last and self._last[pair].grade is not None

    def next(self) -> Shown | None:
        """What is to be labelled now; the same until it is labelled or skipped."""
        item = self._current()
        return None if item is None else self._shown(item)

    def _current(self) -> QueuedPair | None:
        return self._waiting[0] if self._waiting else None

    def _shown(self, item: QueuedPair) -> Shown:
        query, last = self._queries[item.query], self._last.get(item.pair)
        text = self._corpus.get(item.doc, query.texts.get(item.doc))
        said = sorted((Said(one.grade or 0.0, one.reason) for one in self._others.get(item.pair, ())), key=_by_grade)
        turns = self._turns.get(item.query, ())
        note, grade = ("", None) if last is None else (last.reason, last.grade)
        return Shown(item.query, item.doc, query.text, text, turns, note, grade, tuple(said))

    def grade(self, grade: float, note: str = "") -> None:
        """Label the document that is shown; the note is kept with the grade, or else the one that it has."""
        check_text("note", note)
        item = self._needed()
        if isinstance(grade, bool) or grade not in self.scale:
            raise DataError(f"{grade!r} is no grade here; the scale is {', '.join(f'{one:g}' for one in self.scale)}")
        before = self._last.get(item.pair)
        reason = " ".join(note.split()) or ("" if before is None else before.reason)
        self._say(item.pair, float(grade), reason)
        self._steps.append(_Step(item, "grade", before))
        self._given += 1
        self._waiting.pop(0)

    def skip(self) -> None:
        """Leave it for the end; what is skipped a second time is left for another session."""
        item = self._needed()
        self._waiting.pop(0)
        self._skipped[item.pair] = self._skipped.get(item.pair, 0) + 1
        if self._skipped[item.pair] == 1:
            self._waiting.append(item)
        self._steps.append(_Step(item, "skip"))

    def note(self, text: str) -> None:
        """Say something of the document that is shown, with its grade or without."""
        check_text("text", text)
        item = self._needed()
        if not text.strip():
            return
        last = self._last.get(item.pair)
        self._say(item.pair, None if last is None else last.grade, " ".join(text.split()))

    def undo(self) -> Shown | None:
        """Take the last grade or skip back, also one of an earlier session; what is shown then. None where nothing is
        left to take back."""
        if not self._steps:
            return None
        step = self._steps.pop()
        if step.what == "grade":
            before = step.before
            self._say(step.item.pair, None if before is None else before.grade, "" if before is None else before.reason)
            self._given -= 1
        else:
            self._skipped[step.item.pair] -= 1
        self._waiting = [step.item, *(one for one in self._waiting if one.pair != step.item.pair)]
        return self.next()

    def _say(self, pair: Pair, grade: float | None, reason: str) -> None:
        time = self._clock()
        label = Label(*pair, grade, self.judge, "person", time, self.rubric, reason, adjudicates=self.adjudicates)
        self.file.add([label])
        self._last[pair] = label

    def _needed(self) -> QueuedPair:
        item = self._current()
        if item is None:
            raise DataError("there is nothing left to label in this session")
        return item

    @property
    def progress(self) -> Progress:
        item = self._current()
        done = sum(self._is_done(pair) for pair in self._items)
        skipped = sum(n > 0 and not self._is_done(pair) for pair, n in self._skipped.items())
        place = 0 if item is None else self._places[item.query]
        return Progress(len(self._items), done, skipped, place, len(self._places), self._given)

    def close(self) -> None:
        """Give the file free, where the session opened it."""
        if self._own:
            self.file.close()

    def __enter__(self) -> ReviewSession:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _by_grade(said: Said) -> tuple[float, str]:
    return -said.grade, said.reason


def _turns(tested: TestSet) -> dict[str, tuple[str, ...]]:
    """For each turn of a conversation the last ones before it, in the order of the test set."""
    so_far: dict[str, list[Query]] = {}
    found = {}
    for query in tested:
        if query.conversation:
            before = so_far.setdefault(query.conversation, [])
            found[query.id] = tuple(one.text for one in before[-_TURNS:])
            before.append(query)
    return found
