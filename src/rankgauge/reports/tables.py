"""A table of texts, and its renderings."""

from __future__ import annotations

import csv
import io
import sys
from collections.abc import Sequence
from dataclasses import dataclass

__all__ = ["Table", "render_csv", "render_latex", "render_markdown", "render_terminal", "terminal_width"]

_WIDE = 400  # width for tables that go to a file or a pipe, where nothing should be folded


@dataclass(frozen=True)
class Table:
    """Header and rows of cells; the first columns are text, the others numbers."""

    header: Sequence[str]
    rows: Sequence[Sequence[str]]
    text_columns: int = 1


def render_markdown(table: Table) -> str:
    def line(cells: Sequence[str]) -> str:
        return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"

    rule = "|---" * table.text_columns + "|---:" * (len(table.header) - table.text_columns) + "|"
    return "\n".join([line(table.header), rule, *(line(row) for row in table.rows)]) + "\n"


_LATEX = {
    "\\": r"\textbackslash{}",
    "&": r"\&",
    "%": r"\%",
    "$": r"\$",
    "#": r"\#",
    "_": r"\_",
    "{": r"\{",
    "}": r"\}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
}


def _latex_text(text: str) -> str:
    return "".join(_LATEX.get(character, character) for character in text)


def render_latex(table: Table) -> str:
    """A booktabs table."""

    def line(cells: Sequence[str]) -> str:
        return " & ".join(_latex_text(cell) for cell in cells) + r" \\"

    body = "\n".join(line(row) for row in table.rows)
    columns = "l" * table.text_columns + "r" * (len(table.header) - table.text_columns)
    return (
        f"\\begin{{tabular}}{{{columns}}}\n\\toprule\n{line(table.header)}\n\\midrule\n{body}\n"
        "\\bottomrule\n\\end{tabular}\n"
    )


def render_csv(table: Table) -> str:
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(table.header)
    writer.writerows(table.rows)
    return buffer.getvalue()


def terminal_width(*, to_file: bool = False) -> int | None:
    """The width to draw for: the terminal's own (None), or wide enough for anything where there is no terminal."""
    return None if sys.stdout.isatty() and not to_file else _WIDE


def render_terminal(table: Table, *, width: int | None = None, color: bool = False) -> str:
    """The table with box lines, as rich draws it."""
    from rich import box
    from rich.console import Console
    from rich.table import Table as RichTable

    drawn = RichTable(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False, header_style="bold")
    for i, name in enumerate(table.header):
        drawn.add_column(name, justify="left" if i < table.text_columns else "right", overflow="fold", no_wrap=False)
    for row in table.rows:
        drawn.add_row(*row)
    buffer = io.StringIO()
    console = Console(file=buffer, width=width, force_terminal=color, no_color=not color, highlight=False, markup=False)
    console.print(drawn)
    return "\n".join(line.rstrip() for line in buffer.getvalue().splitlines()) + "\n"
