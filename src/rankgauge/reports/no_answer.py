"""Queries without an answer: a line or two on the first screen, and a table among the evidence."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from rankgauge.record import NoAnswer, Record
from rankgauge.reports.document import Block, Cell, Column, Estimate, Heading, Notes, Paragraph, Table, word
from rankgauge.reports.evaluation import ends_of
from rankgauge.words import Note

__all__ = ["no_answer_lines", "no_answer_part"]


def _say(name: str, /, **parameters: Any) -> Note:
    return Note(f"evidence.{name}", parameters)


def _found(record: Record) -> list[tuple[str, NoAnswer]]:
    return [(system.name, system.no_answer) for system in record.systems if system.no_answer is not None]


def no_answer_lines(record: Record) -> Iterator[Block]:
    """What became of them."""
    found = _found(record)
    if len(found) > 1:
        each = [
            _say("system", name=name, refused=own.refused)
            if own.auroc is None
            else _say("system_auroc", name=name, refused=own.refused, auroc=own.auroc)
            for name, own in found
        ]
        yield Notes([_say("systems", n=found[0][1].unanswerable, each=each)])
    elif found:
        yield Notes(list(_of_one(found[0][1])))


def _of_one(own: NoAnswer) -> Iterator[Note]:
    rule: Note | str = "" if own.threshold is None else _say("by_threshold", threshold=own.threshold)
    counts = {"refused": own.refused, "answered": own.answered, "answerable": own.answerable}
    yield _say("refused", n=own.unanswerable, **counts, rule=rule, handled=own.handled, ends=ends_of(own.interval))
    if own.auroc is None or own.best is None:
        return
    figures = {"auroc": own.auroc, "ends": ends_of(own.auroc_interval), "threshold": own.best.threshold}
    if own.best.held_out is None:
        yield _say("separation_plain", **figures, accuracy=own.best.accuracy)
    else:
        yield _say("separation", **figures, accuracy=own.best.accuracy, held=own.best.held_out)


def no_answer_part(record: Record) -> Iterator[Block]:
    """All figures, a row for each system."""
    found = _found(record)
    if not found:
        return
    threshold = found[0][1].threshold
    rule: Note | str = "" if threshold is None else _say("hint_rule", threshold=threshold)
    yield Heading(_say("title"), "no-answer", "evidence")
    columns = [
        Column(word("system")),
        Column(_say("head_refused")),
        Column(_say("head_answered")),
        Column(_say("head_handled"), "score"),
        Column(_say("head_precision"), "score", drop=2),
        Column(_say("head_recall"), "score", drop=3),
        Column(_say("head_auroc"), "score"),
        Column(_say("head_threshold"), "plain"),
        Column(_say("head_held"), "score"),
        Column(_say("head_accuracy"), "score", drop=1),
    ]
    rows = [(name, *_cells(own)) for name, own in found]
    yield Table("no-answer", columns, rows, detail="evidence")
    yield Paragraph(_say("hint", rule=rule), "hint", "evidence")


def _cells(own: NoAnswer) -> list[Cell]:
    best = own.best
    return [
        _say("of", n=own.refused, all=own.unanswerable),
        _say("of", n=own.answered, all=own.answerable),
        Estimate(own.handled, ends_of(own.interval)),
        own.refusal_precision,
        own.refusal_recall,
        None if own.auroc is None else Estimate(own.auroc, ends_of(own.auroc_interval)),
        None if best is None else best.threshold,
        None if best is None else best.held_out,
        None if best is None else best.accuracy,
    ]
