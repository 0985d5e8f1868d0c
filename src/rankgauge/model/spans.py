"""Span: a gold passage of a document, by its characters or by its text."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields
from numbers import Real
from typing import Any

from rankgauge.arguments import named_arguments
from rankgauge.errors import DataError

__all__ = ["Span", "as_span"]


@named_arguments
@dataclass(frozen=True)
class Span:
    """A passage that answers a query: characters `start` to `end` (exclusive) of document `doc`, its `text`, or both.

    A span with a place is anchored. One that has only a text is a quotation, whose place is not known yet.
    """

    doc: str = ""
    start: int | None = None
    end: int | None = None
    text: str = ""
    grade: float = 1.0

    def __post_init__(self) -> None:
        if not isinstance(self.doc, str) or not isinstance(self.text, str):
            raise DataError("`doc` and `text` of a span must be texts")
        if not _is_number(self.grade) or not math.isfinite(self.grade):
            raise DataError(f"the grade of a span is a finite number such as 1, not {self.grade!r}"[:200])
        if (self.start is None) != (self.end is None):
            raise DataError("a span needs both `start` and `end`, or neither")
        if self.start is None and not self.text:
            raise DataError("a span needs `start` and `end`, or the `text` it quotes")
        if self.start is not None and self.end is not None:
            if not all(isinstance(place, int) and not isinstance(place, bool) for place in (self.start, self.end)):
                raise DataError(f"`start` and `end` of a span are whole numbers, not {self.start!r} and {self.end!r}")
            if not 0 <= self.start < self.end:
                raise DataError(f"a span begins at 0 or later and ends after it begins, not {self.start} to {self.end}")
            if not self.doc:
                raise DataError(f"the span {self.start} to {self.end} does not say of which document")
            if self.text and len(self.text) != self.end - self.start:
                raise DataError(
                    f"the span {self.start} to {self.end} of {self.doc!r} has {self.end - self.start} characters, but "
                    f"its text has {len(self.text)}"
                )

    @property
    def anchored(self) -> bool:
        """Whether the place is known."""
        return self.start is not None


def _is_number(grade: object) -> bool:
    return isinstance(grade, Real) and not isinstance(grade, bool)


def as_span(given: Any) -> Span:
    """A passage as people write it: a `Span`, the text it quotes, or an object with the fields of one."""
    if isinstance(given, Span):
        return given
    if isinstance(given, str):
        return Span(text=given)
    known = [one.name for one in fields(Span)]
    if not isinstance(given, Mapping) or not given.keys() <= set(known):
        raise DataError(f"a passage is a quoted text or an object with {', '.join(known)}, not {given!r}"[:300])
    return Span(**given)
