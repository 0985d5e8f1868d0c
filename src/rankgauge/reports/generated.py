"""Queries made of documents, and the folder that a test set is begun in, as reports."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from rankgauge.reports.document import Block, Cell, Column, Notes, Paragraph, Report, Table
from rankgauge.testsets.generated import GeneratedQueries
from rankgauge.testsets.query_checks import REASONS
from rankgauge.words import Note

__all__ = ["generated_blocks", "generated_report"]


def generated_report(found: GeneratedQueries) -> Report:
    """How many queries of each kind, how they compare with people's, and what was dropped."""
    return Report(Note("generated.title"), list(generated_blocks(found)))


def generated_blocks(found: GeneratedQueries) -> Iterator[Block]:
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
    number = Column(Note("generated.number"), "count")
    columns = [Column(Note("generated.kind")), number, Column(Note("generated.wanted"), "count")]
    rows: list[list[Cell]] = [
        [Note(f"generated.kind_{kind}"), n, found.wanted.get(kind, 0)] for kind, n in found.made.items()
    ]
    yield Table("kinds", columns, rows)
    yield _compared(found)
    said = []
    if found.dropped:
        reasons = [
            Note(f"generated.dropped_{reason}", {"n": found.dropped[reason]})
            for reason in REASONS
            if found.dropped.get(reason)
        ]
        said.append(Note("generated.dropped", {"reasons": reasons}))
    if found.usage is not None:
        used = found.usage
        cost: Any = "" if used.cost is None else Note("generated.cost", {"cost": used.cost, "unit": used.unit})
        said.append(
            Note("generated.usage", {"calls": used.calls, "tokens": used.tokens, "cost": cost, "kept": used.kept})
        )
    yield Notes([*said, *found.notes])


def _compared(found: GeneratedQueries) -> Table:
    """Beside the queries of people, where these are known."""
    both = [found.realism] if found.real is None else [found.realism, found.real]
    columns = [Column(Note("generated.realism"))]
    columns += [Column(Note(f"generated.{name}"), "figure") for name in ("these", "real")[: len(both)]]
    shares: list[list[Cell]] = [
        [Note("generated.words"), *(one.words for one in both)],
        [Note("generated.questions"), *(100 * one.questions for one in both)],
        [Note("generated.taken"), *(None if one.taken is None else 100 * one.taken for one in both)],
    ]
    return Table("realism", columns, shares)
