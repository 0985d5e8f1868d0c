"""Tables of finished texts on a terminal and as CSV."""

from __future__ import annotations

import csv
import io
import shutil
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TextIO
from unicodedata import combining, east_asian_width, normalize

from rankgauge.visible import visible

__all__ = ["Table", "render_csv", "render_terminal", "terminal_width", "width_of"]

_GAP = "   "


@dataclass(frozen=True)
class Table:
    """Header and rows of cells; the first columns are text, the others numbers. A row of one cell stands across."""

    header: Sequence[str]
    rows: Sequence[Sequence[str]]
    text_columns: int | Sequence[bool] = 1
    """How many columns are text, or for each column whether it is."""

    def is_text(self, column: int) -> bool:
        kinds = self.text_columns
        return column < kinds if isinstance(kinds, int) else kinds[column]


def render_csv(table: Table) -> str:
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerows([_harmless(cell) for cell in row] for row in (table.header, *table.rows))
    return buffer.getvalue()


def _harmless(cell: str) -> str:
    """A cell that a spreadsheet takes for a formula, such as a name that begins with =, becomes a text by a '. Tabs and
    ends of lines, behind which a formula may stand too, are spelled out."""
    cell = visible(cell)
    first = normalize("NFKC", cell.lstrip()[:1])  # full-width signs count too
    if cell == "-" or not first or first not in "=+-@":
        return cell
    try:
        float(cell)
    except ValueError:
        return f"'{cell}"
    return cell


def terminal_width(stream: TextIO | None = None, *, to_file: bool = False) -> int | None:
    """The width to draw for: the terminal's own, or none at all where there is no terminal."""
    stream = stream or sys.stdout
    return shutil.get_terminal_size().columns if stream.isatty() and not to_file else None


def width_of(text: str) -> int:
    """Columns a text takes on a terminal: Chinese characters take two."""
    if text.isascii():
        return len(text)
    return sum(2 if east_asian_width(c) in "WF" else 0 if combining(c) else 1 for c in text)


def render_terminal(table: Table, *, width: int | None = None, color: bool = False) -> str:
    """The table in columns; where it is too wide for the terminal, rich folds the cells."""
    rows = [list(table.header), *(list(row) for row in table.rows)]
    whole = [row for row in rows if len(row) == len(table.header)]
    widths = [max(width_of(row[j]) for row in whole) for j in range(len(table.header))]
    total = sum(widths) + len(_GAP) * (len(widths) - 1)
    if width is not None and total > width:
        return _folded(table, width, color)

    def line(row: Sequence[str]) -> str:
        if len(row) < len(widths):
            return f"── {row[0]} ──"
        cells = []
        for j, text in enumerate(row):
            blank = " " * (widths[j] - width_of(text))
            cells.append(text + blank if table.is_text(j) else blank + text)
        return _GAP.join(cells).rstrip()

    head = f"\x1b[1m{line(rows[0])}\x1b[0m" if color else line(rows[0])
    return "\n".join([head, "─" * total, *(line(row) for row in rows[1:])]) + "\n"


def _folded(table: Table, width: int, color: bool) -> str:
    from rich import box
    from rich.console import Console
    from rich.table import Table as RichTable

    drawn = RichTable(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False, header_style="bold")
    for i, name in enumerate(table.header):
        drawn.add_column(name, justify="left" if table.is_text(i) else "right", overflow="fold")
    for row in table.rows:
        drawn.add_row(*row)
    buffer = io.StringIO()
    console = Console(file=buffer, width=width, force_terminal=color, no_color=not color, highlight=False, markup=False)
    console.print(drawn)
    return "\n".join(text.rstrip() for text in buffer.getvalue().splitlines()) + "\n"
