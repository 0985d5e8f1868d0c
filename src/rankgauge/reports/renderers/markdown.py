"""Markdown, for pull requests and pages of CI jobs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rankgauge.reports.cells import Look
from rankgauge.reports.document import Detail, Report, Table
from rankgauge.reports.lines import Form, grid, pieces
from rankgauge.words import Language

__all__ = ["render"]

_MARKS = {"pass": "✅", "fail": "❌", "warn": "⚠️", "open": "❔"}


def render(report: Report, *, language: Language = "en", digits: int = 4, detail: Detail = "evidence", **_: Any) -> str:
    """The report as Markdown."""
    look = Look(language, digits)

    def table(block: Table) -> str:
        return _table(block, look, detail) + ("\n" if block.notes else "")

    form = Form(
        look,
        table,
        lambda title: f"**{_inline(title)}**\n\n",
        lambda line: f"- {_inline(line)}\n",
        lambda line: f"{_inline(line)}\n",
        lambda text, status: f"### {_MARKS[status]} {_inline(text)}\n",
    )
    return "\n".join(pieces(report.shown(detail), form))


def _inline(text: str) -> str:
    return text.replace("<", "&lt;")


def _table(block: Table, look: Look, detail: Detail) -> str:
    made = grid(block, look, detail)

    def line(cells: Sequence[str]) -> str:
        filled = [*cells, *[""] * (len(made.header) - len(cells))]
        return "| " + " | ".join(_inline(cell.replace("|", "\\|")) for cell in filled) + " |"

    rule = "".join("|---" if made.is_text(j) else "|---:" for j in range(len(made.header))) + "|"
    return "\n".join([line(made.header), rule, *(line(row) for row in made.rows)]) + "\n"
