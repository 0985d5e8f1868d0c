"""Where the judgments of a record came from, and its real and synthetic queries apart."""

from __future__ import annotations

from collections.abc import Iterator

from rankgauge.evaluation.synthetic import apart_in
from rankgauge.record import Record
from rankgauge.record.labels import LabelledTestSet
from rankgauge.reports.document import Block, Cell, Column, Facts, Table, Text, word
from rankgauge.words import Note

__all__ = ["label_facts", "source_note", "synthetic_table"]

_MOST_SOURCES = 20
_SHORT = 12


def label_facts(found: LabelledTestSet) -> Facts:
    """The version of the test set, the policy and who gave labels."""
    most = sorted(found.sources, key=lambda source: -source.labels)
    rows: list[tuple[Text, Text]] = [
        (Note("labels.version"), found.version[:_SHORT]),
        (Note("labels.policy"), found.policy.note),
    ]
    shown = [source_note(one.kind, one.judge, one.labels) for one in most[:_MOST_SOURCES]]
    if len(most) > _MOST_SOURCES:
        shown.append(Note("labels.more_sources", {"n": len(most) - _MOST_SOURCES}))
    rows.append((Note("labels.sources"), Note("labels.listed", {"sources": shown})))
    return Facts(Note("labels.title"), rows, detail="evidence")


def source_note(kind: str, judge: str, n: int) -> Note:
    """How many labels a judge gave."""
    return Note("labels.source", {"kind": Note(f"labels.kind_{kind}"), "judge": judge, "n": n})


def synthetic_table(record: Record) -> Iterator[Block]:
    """Every system and measure over the real queries, and over the synthetic ones."""
    names = [about.name for about in record.measures]
    rows: list[list[Cell]] = [
        [system.name, one.measure, one.real, one.synthetic, one.real_queries, one.synthetic_queries]
        for system in record.systems
        for one in apart_in(record, system.name, names)
    ]
    if rows:
        scores = [Column(Note(f"synthetic.{kind}"), "score") for kind in ("real", "synthetic")]
        counts = [Column(Note(f"synthetic.{kind}_queries"), "count") for kind in ("real", "synthetic")]
        columns = [Column(word("system")), Column(word("measure")), *scores, *counts]
        yield Table("synthetic", columns, rows, Note("synthetic.title"), detail="evidence")
