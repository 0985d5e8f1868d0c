"""For terminals: tables in columns, in colour where that is wanted."""

from __future__ import annotations

from typing import Any

from rankgauge.reports import tables
from rankgauge.reports.cells import Look
from rankgauge.reports.document import Detail, Drawn, Report, Table
from rankgauge.reports.lines import Form, grid, pieces
from rankgauge.visible import uncommanded
from rankgauge.words import Language, numbers

__all__ = ["render", "render_table"]

_PLOT = (16, 60)
"""Least and greatest width of drawn intervals."""
_SHADES = {"pass": "32", "fail": "31", "warn": "33", "open": "33"}


def render(
    report: Report,
    *,
    language: Language = "en",
    digits: int = 4,
    detail: Detail = "evidence",
    width: int | None = None,
    color: bool = False,
    **_: Any,
) -> str:
    """The report as text."""
    look = Look(language, digits)

    def outcome(text: str, status: str) -> str:
        return f"\x1b[1;{_SHADES[status]}m{text}\x1b[0m\n" if color else f"{text}\n"

    form = Form(
        look,
        lambda table: render_table(table, look, detail=detail, width=width, color=color),
        lambda title: f"{title}\n",
        lambda line: f"{line}\n",
        lambda line: f"{line}\n",
        outcome,
    )
    # Once more at the end, for a narrow table breaks its cells into lines.
    return uncommanded("\n".join(pieces(report.shown(detail), form)))


def render_table(
    table: Table, look: Look, *, detail: Detail = "evidence", width: int | None = None, color: bool = False
) -> str:
    """One table."""
    plot = next((i for i, column in enumerate(table.columns) if column.kind == "plot"), None)
    made = grid(table, look, detail)
    if plot is not None:
        if width is not None and width - _left(made) < _PLOT[0]:  # narrow: the drawing tells the interval
            made = grid(table, look, detail, doubled=False)
        made = _plotted(made, [row[plot] if len(row) > 1 else None for row in table.rows], look, width)
    return tables.render_terminal(made, width=width, color=color)


def _left(made: tables.Table) -> int:
    """The width of all columns before the drawing."""
    rows = [made.header, *(row for row in made.rows if len(row) > 1)]
    return sum(max(tables.width_of(row[j]) for row in rows) + 3 for j in range(len(made.header) - 1))


def _plotted(made: tables.Table, cells: list[Any], look: Look, width: int | None) -> tables.Table:
    """The last column with its intervals drawn to one scale, the ends of which stand in the head."""
    room = max(_PLOT[0], min(_PLOT[1], (width or 100) - _left(made)))
    low, high = (numbers.score(end, look.digits) for end in next(cell for cell in cells if cell is not None).scale)
    blank = " " * max(1, room - len(low) - len(high))
    rows = [
        row if cell is None else [*row[:-1], _drawn(cell, room)] for row, cell in zip(made.rows, cells, strict=True)
    ]
    return tables.Table([*made.header[:-1], f"{low}{blank}{high}"], rows, made.text_columns)


def _drawn(cell: Drawn, room: int) -> str:
    """├────●────┤ at its place."""
    low, high = cell.scale

    def place(value: float) -> int:
        return round((value - low) / (high - low) * (room - 1))

    line = [" "] * room
    if cell.ends is not None:
        first, last = map(place, cell.ends)
        line[first : last + 1] = "─" * (last + 1 - first)
        line[first], line[last] = "├", "┤"
    line[place(cell.value)] = "●"
    return "".join(line)
