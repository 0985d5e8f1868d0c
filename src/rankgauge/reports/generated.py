"""Queries made of documents, and the folder that a test set is begun in, as reports."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from rankgauge.reports.document import Block, Cell, Column, Notes, Paragraph, Report, Table
from rankgauge.testsets.generated import GeneratedQueries
from rankgauge.testsets.starting import StartedTestSet
from rankgauge.words import Note

__all__ = ["generated_report", "started_report"]


def generated_report(found: GeneratedQueries) -> Report:
    """How many queries of each kind, how they compare with people's, and what was dropped."""
    return Report(Note("generated.title"), list(_generated_blocks(found)))


def _generated_blocks(found: GeneratedQueries) -> Iterator[Block]:
    known = found.maker == "known-item"
    maker = Note("generated.known_item") if known else Note("generated.by_model", {"model": found.maker[4:]})
    about: dict[str, Any] = {
        "n": len(found.test_set),
        "sources": found.sources,
        "documents": found.documents,
        "spread": Note(f"generated.by_{found.by}", {"parts": found.parts}),
        "maker": maker,
    }
    yield Paragraph(Note("generated.made", about))
    yield kinds_table(found)
    yield _compared(found)
    said = []
    if drops := found.drops:
        said.append(Note("generated.dropped", {"reasons": drops}))
    if found.usage is not None:
        used = found.usage
        cost: Any = "" if used.cost is None else Note("generated.cost", {"cost": used.cost, "unit": used.unit})
        said.append(
            Note("generated.usage", {"calls": used.calls, "tokens": used.tokens, "cost": cost, "kept": used.kept})
        )
    yield Notes([*said, *found.notes])


def kinds_table(found: GeneratedQueries) -> Table:
    number = Column(Note("generated.number"), "count")
    columns = [Column(Note("generated.kind")), number, Column(Note("generated.wanted"), "count")]
    rows: list[list[Cell]] = [
        [Note(f"generated.kind_{kind}"), n, found.wanted.get(kind, 0)] for kind, n in found.made.items()
    ]
    return Table("kinds", columns, rows)


def _compared(found: GeneratedQueries) -> Table:
    """Beside the queries of people, where these are known."""
    columns = [
        Column(Note("generated.realism")),
        Column(Note("generated.words"), "figure"),
        Column(Note("generated.questions"), "share"),
        Column(Note("generated.taken"), "share"),
    ]
    both = {"these": found.realism} | ({} if found.real is None else {"real": found.real})
    rows: list[list[Cell]] = [
        [Note(f"generated.{name}"), one.words, one.questions, one.taken] for name, one in both.items()
    ]
    return Table("realism", columns, rows)


def started_report(found: StartedTestSet) -> Report:
    """What is in the folder and what to do with it, then how it came to be."""
    about = {
        "folder": str(found.folder),
        "documents": len(found.documents.corpus),
        "queries": len(found.test_set),
        "systems": found.systems or ["bm25"],
    }
    blocks: list[Block] = [Paragraph(Note("started.folder", about)), kinds_table(found.generated)]
    blocks += [_compared(found.generated), Notes(found.notes)]
    return Report(Note("started.title"), [*blocks, Paragraph(Note("started.next", {"plan": str(found.plan)}))])
