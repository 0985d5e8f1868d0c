"""LaTeX: the tables of the answer with booktabs; notes are comments."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rankgauge.reports.cells import Look, note_line, told
from rankgauge.reports.document import Detail, Notes, Report, Table
from rankgauge.reports.lines import grid
from rankgauge.words import Language, Note

__all__ = ["render"]

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
    "|": r"\textbar{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "→": r"$\rightarrow$",
    "∞": r"$\infty$",
}


def render(report: Report, *, language: Language = "en", digits: int = 4, detail: Detail = "answer", **_: Any) -> str:
    """The tables."""
    look = Look(language, digits)
    found = [_comments(report.cautions, look)] if report.cautions else []
    for block in report.shown("answer"):
        if isinstance(block, Table):
            title = "" if block.title is None else f"% {told(block.title, look)}\n"
            found.append(title + _comments(block.notes, look) + _table(block, look))
        elif isinstance(block, Notes) and block.title is not None:
            found.append(f"% {told(block.title, look)}\n" + _comments(block.notes, look))
    return "\n".join(found)


def _comments(notes: Sequence[Note], look: Look) -> str:
    return "".join(f"% {note_line(note, look)}\n" for note in notes)


def _table(block: Table, look: Look) -> str:
    made = grid(block, look)

    def line(cells: Sequence[str]) -> str:
        first, *others = ["".join(_LATEX.get(character, character) for character in cell) for cell in cells]
        if first.lstrip().startswith(("[", "*")):  # which would be an option of the command before it
            first = f"{{}}{first}"
        return " & ".join([first, *others]) + r" \\"

    columns = "".join("l" if made.is_text(j) else "r" for j in range(len(made.header)))
    body = "\n".join(line(row) for row in made.rows)
    return (
        f"\\begin{{tabular}}{{{columns}}}\n\\toprule\n{line(made.header)}\n\\midrule\n{body}\n"
        "\\bottomrule\n\\end{tabular}\n"
    )
