"""For terminals: the answer on one screen, in colour where that is wanted."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from rankgauge.reports import tables
from rankgauge.reports.cells import Look, told
from rankgauge.reports.document import Cell, Detail, Drawn, Marked, Report, Scored, Table
from rankgauge.reports.interval_bars import end_labels, reach
from rankgauge.reports.lines import Form, grid, pieces, shown_columns
from rankgauge.visible import uncommanded
from rankgauge.words import Language, numbers, say
from rankgauge.words.visible import clipped

__all__ = ["render", "render_table"]

_PLOTS = (40, 33, 25, 17, 13)
"""Widths of drawn intervals, of which the first that leaves room for all columns is taken."""
_PAGE = 80
"""Columns where nothing tells how many there are."""
_SHADES = {"pass": "32", "fail": "31", "warn": "33", "open": "33"}
_COLOURS = {"better": "32", "worse": "31", "equivalent": "36", "inconclusive": "33", "quiet": "2"}
_COLOURS |= {mark: _SHADES[mark] for mark in ("pass", "fail", "warn")}
_SIGNS = {"better": "▲", "worse": "▼", "equivalent": "≈", "pass": "✓", "fail": "✗"}


def render(
    report: Report,
    *,
    language: Language = "en",
    digits: int = 4,
    detail: Detail = "answer",
    width: int | None = None,
    color: bool = False,
    **_: Any,
) -> str:
    """The report as text."""
    look = Look(language, digits, minus=numbers.MINUS, signs=_SIGNS, grouped=True)

    def shaded(text: str, shade: str) -> str:
        return f"\x1b[{shade}m{text}\x1b[0m\n" if color else f"{text}\n"

    def line(text: str) -> str:
        return f"{tables.wrapped(text, width, '  ')}\n"

    form = Form(
        look,
        lambda table: render_table(table, look, detail=detail, width=width, color=color),
        line,
        line,
        lambda text, status: shaded(tables.wrapped(text, width), "1"),
        lambda text, status: shaded(tables.wrapped(text, width), f"1;{_SHADES[status]}"),
        lambda text: line(f"• {text}"),
    )
    shown = [
        replace(block, notes=())
        if isinstance(block, Table) and block.notes_on and not _has_room(block, look, detail, width)
        else block
        for block in report.shown(detail)
    ]
    # Once more at the end, for a narrow table breaks its cells into lines.
    return uncommanded("\n".join(pieces(shown, form)))


def _has_room(table: Table, look: Look, detail: Detail, width: int | None) -> bool:
    """Whether the column that its notes are about is shown."""
    if detail != "answer" or width is None:
        return True
    head = next((told(column.head, look) for column in table.columns if column.key == table.notes_on), None)
    return head in _heads(tables.fitted(_made(table, look, detail, width), width))


def render_table(
    table: Table, look: Look, *, detail: Detail = "evidence", width: int | None = None, color: bool = False
) -> str:
    """One table; of the answer columns may go where there is no room."""
    whole = detail != "answer"
    made = _made(table, look, detail, width)
    shades = _shades(table, shown_columns(table, detail)) if color else {}
    made = replace(made, shades=shades)
    if whole or width is None:
        return tables.render_terminal(made, width=width, color=color)
    fitted = tables.fitted(made, width)
    text = tables.render_terminal(fitted, width=width, color=color)
    gone = [head for j, head in enumerate(made.header) if made.drop[j] and head not in _heads(fitted)]
    if not gone:
        return text
    return f"{text}{tables.wrapped(say('answer.no_room', look.language, names=gone), width)}\n"


def _made(table: Table, look: Look, detail: Detail, width: int | None) -> tables.Table:
    """All its columns in words, and intervals drawn."""
    most = max((column.most for column in table.columns), default=0)
    made = _drawn_out(_clipped(table, most), look, detail, width)
    spare = (width or _PAGE) - tables.total_width(made)
    return made if spare <= 0 or not most else _drawn_out(_clipped(table, most + spare), look, detail, width)


def _drawn_out(table: Table, look: Look, detail: Detail, width: int | None) -> tables.Table:
    """The cells as texts, with the intervals drawn."""
    kept = [j for j, column in enumerate(table.columns) if column.kind == "plot"]
    made = grid(table, look, detail)
    if kept:
        cells = [row[kept[0]] if len(row) > 1 else None for row in table.rows]
        place = next(i for i, column in enumerate(shown_columns(table, detail)) if column == kept[0])
        if any(isinstance(cell, Drawn) for cell in cells):
            made = _plotted(made, place, cells, look, width)
    return made


def _clipped(table: Table, most: int) -> Table:
    """The table with the ends of long texts left out where its columns say so."""
    long = {j for j, column in enumerate(table.columns) if column.most}

    def cut(cell: Cell, j: int) -> Cell:
        return clipped(cell, most, tables.width_of) if j in long and isinstance(cell, str) else cell

    return replace(table, rows=[[cut(cell, j) for j, cell in enumerate(row)] for row in table.rows])


def _heads(table: tables.Table) -> list[str]:
    """The heads as they are where they are not broken into lines."""
    return [head.replace("\n", " ") for head in table.header]


def _shades(table: Table, columns: list[int]) -> dict[tuple[int, int], str]:
    """The colours of verdicts and of scores that differ."""
    found: dict[tuple[int, int], str] = {}
    for i, row in enumerate(table.rows):
        for place, j in enumerate(columns if len(row) == len(table.columns) else ()):
            cell = row[j]
            mark = cell.mark if isinstance(cell, Marked | Scored) else ""
            if mark in _COLOURS:
                found[i, place] = _COLOURS[mark]
    return found


def _plotted(made: tables.Table, place: int, cells: list[Any], look: Look, width: int | None) -> tables.Table:
    """The column with its intervals drawn to one scale: its ends stand below it, or in its head where that is empty."""
    first = next(cell for cell in cells if isinstance(cell, Drawn))
    for room in _PLOTS if width is not None else _PLOTS[2:3]:
        drawn = ["" if cell is None else _drawn(cell, room) for cell in cells]
        rows = [
            row if len(row) == 1 else [*row[:place], plot, *row[place + 1 :]]
            for row, plot in zip(made.rows, drawn, strict=True)
        ]
        low, high = end_labels(*reach(first), look, signed=first.zero)
        blank = " " * max(1, room - len(low) - len(high))
        if made.header[place]:
            rows.append(["" if j != place else _axis(first, room, low, high) for j in range(len(made.header))])
            header = made.header
        else:
            header = [head if j != place else f"{low}{blank}{high}" for j, head in enumerate(made.header)]
        fitted = replace(made, header=header, rows=rows)
        if width is None or tables.total_width(fitted) <= width:
            break
    return fitted


def _axis(cell: Drawn, room: int, low: str, high: str) -> str:
    """The ends of the scale. Where the place of 0 is marked it is named, which leaves no room for an end that is near;
    the other one tells the scale."""
    zero = _place(0.0, cell, room) if cell.zero else -1
    left, right = len(low) < zero, room - len(high) > zero + 1
    if zero < 0 or not (left or right):
        return f"{low}{' ' * max(1, room - len(low) - len(high))}{high}"
    before = (low if left else "").ljust(zero)
    return f"{before}0{high.rjust(room - zero - 1) if right else ''}"


def _place(value: float, cell: Drawn, room: int) -> int:
    low, high = reach(cell)
    return round((min(max(value, low), high) - low) / (high - low) * (room - 1)) if low <= value <= high else -1


def _drawn(cell: Drawn, room: int) -> str:
    """├────●────┤ at its place, and ┊ where 0 is."""
    line = [" "] * room
    low, high = reach(cell)
    zero = _place(0.0, cell, room) if cell.zero else -1
    point = _place(cell.value, cell, room)
    if zero >= 0:
        line[zero] = "┊"
    if cell.ends is not None:
        first, last = (_place(min(max(end, low), high), cell, room) for end in cell.ends)
        if zero >= 0 and first < last:  # an interval that excludes 0 does not seem to reach it
            first += cell.ends[0] > 0 and first == zero
            last -= cell.ends[1] < 0 and last == zero
            point = min(max(point, first), last)
        line[first : last + 1] = "─" * (last + 1 - first)
        line[first], line[last] = "├", "┤"
        if first < zero < last:
            line[zero] = "┼"
    line[point] = "●"
    return "".join(line)
