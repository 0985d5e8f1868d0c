"""A review session drawn on a terminal: each key is done and saved before the next one is read."""

from __future__ import annotations

import shutil
import sys
import time

from rankgauge.cli.keys import RESIZED, Keys
from rankgauge.cli.review_screen import help_lines, page_of, pages_of, place_line, text_lines, unknown_key
from rankgauge.cli.showing import terminal_look
from rankgauge.testsets.review.session import ReviewSession, Shown
from rankgauge.testsets.review.standing import Standing, VerdictWatch
from rankgauge.visible import visible
from rankgauge.words import Language, say

__all__ = ["Pace", "work_on_terminal"]

_CLEAR = "\x1b[2J\x1b[H"
_OTHER_SCREEN, _FIRST_SCREEN = "\x1b[?1049h", "\x1b[?1049l"
_SHARE = 20
"""The verdict is looked at again when the work since has taken this many times what the last look took."""


class Pace:
    """What labels can still turn, looked at as often as that takes no time to speak of."""

    def __init__(self, session: ReviewSession, watch: VerdictWatch | None) -> None:
        self._session, self._watch = session, watch
        self._standing: Standing | None = None
        self._cost, self._at, self._labels = 0.0, 0.0, -1

    def now(self) -> Standing | None:
        """The standing as of a short while ago."""
        if self._watch is not None and time.monotonic() - self._at >= _SHARE * self._cost:
            self.final()
        return self._standing

    def final(self) -> Standing | None:
        """The standing of now."""
        labels = self._session.file.labels
        if self._watch is not None and len(labels) != self._labels:
            begin = time.monotonic()
            self._standing, self._labels = self._watch.standing(labels), len(labels)
            self._at = time.monotonic()
            self._cost = self._at - begin
        return self._standing


def work_on_terminal(session: ReviewSession, pace: Pace, language: Language) -> None:
    """Until everything is labelled or q is pressed."""
    keys = Keys()
    with keys.reading():
        sys.stdout.write(_OTHER_SCREEN)
        try:
            _Screen(session, pace, keys, language).work()
        finally:
            sys.stdout.write(_FIRST_SCREEN)
            sys.stdout.flush()


class _Screen:
    def __init__(self, session: ReviewSession, pace: Pace, keys: Keys, language: Language) -> None:
        self.session, self.pace, self.keys, self.language = session, pace, keys, language
        self.page, self.answer = 0, ""
        self.by_key = {f"{grade:g}": grade for grade in session.scale if 0 <= grade <= 9 and grade == int(grade)}
        self.single = len(self.by_key) == len(session.scale)
        """Whether each grade is one key; else it is typed and ended by Enter."""

    def work(self) -> None:
        while (shown := self.session.next()) is not None:
            self._draw(shown)
            if not self._do(self.keys.next(), shown):
                return

    def _size(self) -> tuple[int, int]:
        size = shutil.get_terminal_size()
        return max(size.columns, 20), max(size.lines, 10)

    def _draw(self, shown: Shown) -> None:
        width, height = self._size()
        place = place_line(self.session.progress, self.pace.now(), self.language)
        screen = page_of(
            shown,
            self.page,
            place,
            self.session.scale,
            self.answer,
            width=width,
            height=height,
            language=self.language,
            color=bool(terminal_look()["color"]),
        )
        self._write(_CLEAR + screen)

    def _write(self, text: str) -> None:
        sys.stdout.write(text)
        sys.stdout.flush()

    def _do(self, key: str, shown: Shown) -> bool:
        """What a key means; False where it ends the session."""
        if key in ("q", "Q", "end"):
            return False
        if key == RESIZED:
            return True
        pages = len(pages_of(shown, *self._size(), self.language))
        if key in ("space", "down", "enter", "b", "up"):
            self.page = max(0, min(pages - 1, self.page + (-1 if key in ("b", "up") else 1)))
            return True
        if key.isdecimal() and not self.single:
            self._typed_grade(key)
        elif key in self.by_key:
            self._graded(self.by_key[key])
        elif key in ("s", "S"):
            self.session.skip()
            self._moved("was_skipped")
        elif key in ("u", "U"):
            self._moved("nothing_to_undo" if self.session.undo() is None else "undone")
        elif key in ("n", "N"):
            if text := self._typed("ask_note"):
                self.session.note(text)
                self.answer = say("review.noted", self.language)
        elif key in ("?", "h", "H"):
            self._help()
        else:
            self.answer = unknown_key(key, key, self.session.scale, self.language)
        return True

    def _graded(self, grade: float) -> None:
        self.session.grade(grade)
        self.page, self.answer = 0, ""

    def _moved(self, key: str) -> None:
        self.page, self.answer = 0, say(f"review.{key}", self.language)

    def _typed_grade(self, first: str) -> None:
        typed = self._typed("ask_grade", first)
        try:
            grade = float(typed)
        except ValueError:
            grade = float("nan")
        if grade in self.session.scale:
            self._graded(grade)
        elif typed:
            self.answer = unknown_key(typed, typed, self.session.scale, self.language)

    def _typed(self, question: str, text: str = "") -> str:
        """A line that is typed below the screen; Escape gives it up."""
        asked = say(f"review.{question}", self.language)
        while True:
            width, _ = self._size()
            line = (text_lines(asked + text, width) or [asked])[-1]
            self._write(f"\r\x1b[2K{line}")
            key = self.keys.next()
            if key in ("enter", "end"):
                return text
            if key == "escape":
                return ""
            if key == "backspace":
                text = text[:-1]
            elif key == "space":
                text += " "
            elif len(key) == 1 and visible(key) == key:
                text += key

    def _help(self) -> None:
        width, _ = self._size()
        self._write(_CLEAR + "\n".join(help_lines(self.session.scale, width, self.language)) + "\n")
        self.keys.next()
        self.answer = ""
