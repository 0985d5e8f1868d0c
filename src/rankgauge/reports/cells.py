"""Cells and texts in the words of a language: where a report meets `words`, which rounds and speaks."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from rankgauge.reports.document import (
    Bar,
    Card,
    Cell,
    Drawn,
    Estimate,
    Facts,
    Formula,
    Kind,
    Marked,
    Pair,
    Reading,
    Scored,
    Text,
)
from rankgauge.visible import visible
from rankgauge.words import Language, Note, listed, numbers, say, tell

__all__ = ["Look", "card_line", "facts_line", "note_line", "told", "written"]


_BAR = 20  # columns of a whole


@dataclass(frozen=True)
class Look:
    """How a format writes: language, digits, and what stands for nothing."""

    language: Language = "en"
    digits: int = 4
    interval_digits: int | None = None
    """Of an interval that stands beside its value."""
    p_digits: int = 4
    missing: str = "-"
    minus: str = "-"
    pair: str = "report.arrow"
    """The words for two systems."""
    signs: Mapping[str, str] = field(default_factory=dict)
    """What stands beside words and scores that are marked better, worse or equivalent."""
    one_precision: bool = False
    """Whether sentences write scores in as many digits as tables do."""

    def tell(self, note: Note) -> str:
        """A note in words."""
        return tell(note, self.language, digits=self.digits if self.one_precision else None)

    grouped: bool = False
    """Whether whole numbers are written 1,234."""

    @property
    def of_intervals(self) -> int:
        return self.digits if self.interval_digits is None else self.interval_digits


_WRITERS: Mapping[Kind, Callable[[Any, Look], str]] = {
    "score": lambda value, look: numbers.score(value, look.digits),
    "signed": lambda value, look: numbers.signed(value, look.digits),
    "relative": lambda value, look: numbers.signed_percent(value),
    "share": lambda value, look: numbers.percent(value, 0),
    "p": lambda value, look: numbers.p_value(value, look.p_digits),
    "effect": lambda value, look: numbers.signed(value, 2),
    "tau": lambda value, look: numbers.score(value, 2),
    "ms": lambda value, look: numbers.figure(1000 * value),
    "latency": lambda value, look: numbers.glance(1000 * value),
    "figure": lambda value, look: numbers.figure(value),
    "plain": lambda value, look: f"{value:.{max(look.digits, 6)}g}",
    "exact": lambda value, look: repr(value),
}


def written(cell: Cell, kind: Kind, look: Look) -> str:
    """A cell of a column of this kind."""
    if cell is None:
        return "" if kind == "plot" else look.missing
    if isinstance(cell, str | Note | Reading | Formula):
        return told(cell, look)
    if isinstance(cell, bool):
        return str(cell).lower()
    if isinstance(cell, int):
        return f"{cell:,}" if look.grouped and kind not in ("plain", "exact") else str(cell)
    if isinstance(cell, Bar):
        return _bar(cell.share)
    if isinstance(cell, Pair):
        return say(look.pair, look.language, a=cell.a, b=cell.b)
    if isinstance(cell, Marked):
        text = listed([look.tell(one) for one in cell.words], look.language)
        return f"{look.signs[cell.mark]} {text}" if cell.mark in look.signs else text
    if isinstance(cell, Scored):
        return f"{written(cell.value, kind, look)}{look.signs.get(cell.mark, ' ' if look.signs else '')}"
    return _number(cell, kind, look).replace("-", look.minus)


def _bar(share: float) -> str:
    """A bar of eighths of blocks; the least share that there is can be seen."""
    eighths = max(round(share * _BAR * 8), 1) if share > 0 else 0
    return "█" * (eighths // 8) + " ▏▎▍▌▋▊▉"[eighths % 8].strip()


def _number(cell: float | tuple[float, float] | Estimate | Drawn, kind: Kind, look: Look) -> str:
    if isinstance(cell, Estimate):
        value = _number(cell.value, kind, look)
        return value if cell.ends is None else f"{value} {numbers.interval(cell.ends, look.of_intervals)}"
    if isinstance(cell, tuple):
        write = numbers.bounds if kind == "bounds" else numbers.interval
        return write(cell, look.of_intervals)
    if isinstance(cell, Drawn):  # in words where nothing is drawn
        write = numbers.bounds if cell.zero else numbers.interval
        return look.missing if cell.ends is None else write(cell.ends, look.of_intervals)
    return _WRITERS[kind](cell, look)


def told(text: Text, look: Look) -> str:
    """A text in words; a name with its controls spelled out."""
    if isinstance(text, str):
        return visible(text)
    if isinstance(text, Note):
        return look.tell(text)
    from rankgauge.measures import find_measure
    from rankgauge.measures.explanations import describe, sentence

    measure = find_measure(text.measure)
    if isinstance(text, Formula):
        return visible(text.recorded if measure is None else describe(measure.definition, look.language)["formula"])
    return "" if measure is None else sentence(measure, text.value, look.language)


def note_line(note: Note, look: Look) -> str:
    """A note on one line: warning: bm25: what is to be known."""
    line = told(note, look)
    if note.level == "warning":
        line = say("report.warning", look.language, text=line)
    return " ".join(line.split())


def card_line(card: Card, look: Look) -> str:
    """What a card says; a verdict names its measure itself."""
    line = told(card.words, look)
    return line if card.names_itself else say("report.of", look.language, who=card.head, text=line)


def facts_line(facts: Facts, look: Look) -> str:
    """contract: default (ties=trec, missing=zero)."""
    chosen = ", ".join(f"{told(name, look)}={told(value, look)}" for name, value in facts.entries)
    line = f"{told(facts.name, look)} ({chosen})" if facts.name else chosen
    return say("report.of", look.language, who=told(facts.title, look), text=line)
