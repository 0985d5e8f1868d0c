"""What formats of plain text share: blocks one below the other, tables as grids of texts."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from rankgauge.reports import tables
from rankgauge.reports.cells import Look, card_line, facts_line, note_line, told, written
from rankgauge.reports.document import (
    DETAILS,
    Block,
    Cards,
    Charts,
    Detail,
    Facts,
    Heading,
    Notes,
    Outcome,
    Paragraph,
    Status,
    Table,
)

__all__ = ["Form", "grid", "pieces", "shown_columns"]


@dataclass(frozen=True)
class Form:
    """How a format sets the parts of a text."""

    look: Look
    table: Callable[[Table], str]
    title: Callable[[str], str]
    line: Callable[[str], str]
    lead: Callable[[str, Status | None], str]
    """Of a paragraph that stands before everything else, with its status where it is a decision."""
    outcome: Callable[[str, str], str]
    """Of a text and its status."""
    bullet: Callable[[str], str]
    """Of a remark in a list of them."""


def shown_columns(table: Table, detail: Detail) -> list[int]:
    """The places of the columns up to a level of detail."""
    return [j for j, column in enumerate(table.columns) if DETAILS.index(column.detail) <= DETAILS.index(detail)]


def grid(table: Table, look: Look, detail: Detail = "evidence") -> tables.Table:
    """The columns up to a level of detail in words."""
    kept = [(i, table.columns[i]) for i in shown_columns(table, detail)]
    rows = [
        [written(row[i], column.kind, look) for i, column in kept]
        if len(row) == len(table.columns)
        else [written(row[0], "text", look)]
        for row in table.rows
    ]
    header = [told(column.head, look) for _, column in kept]
    texts = [column.kind in ("text", "plot", "bar") for _, column in kept]
    return tables.Table(header, rows, texts, [column.drop for _, column in kept], ruled=not table.light)


def pieces(blocks: Iterable[Block], form: Form) -> list[str]:
    """Texts to be joined by empty lines: tables with what belongs to them, and lines that follow one another."""
    found: list[str] = []
    open_piece = False
    for block in blocks:
        if isinstance(block, Heading | Charts):
            continue
        alone = isinstance(block, Table | Outcome) or (isinstance(block, Notes) and block.title is not None)
        text = _text(block, form)
        if open_piece and not alone:
            found[-1] += text
        elif text:
            found.append(text)
            open_piece = not alone
        else:
            open_piece = False
    return found


def _text(block: Block, form: Form) -> str:
    look = form.look
    if isinstance(block, Outcome):
        return form.outcome(told(block.words, look), block.status)
    if isinstance(block, Paragraph):
        line = told(block.words, look)
        return form.lead(line, block.status) if block.style == "lead" else form.line(line)
    if isinstance(block, Cards):
        return "".join(form.line(card_line(card, look)) for card in block.cards)
    if isinstance(block, Facts):
        return form.line(facts_line(block, look))
    if isinstance(block, Table | Notes):
        title = "" if block.title is None else form.title(told(block.title, look))
        if isinstance(block, Notes) and block.bulleted:
            lines = "".join(form.bullet(told(note, look)) for note in block.notes)
        else:
            lines = "".join(form.line(note_line(note, look)) for note in block.notes)
        return title + (form.table(block) if isinstance(block, Table) else "") + lines
    return ""
