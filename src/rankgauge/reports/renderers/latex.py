"""LaTeX with booktabs: the table of a paper, or every table of the evidence. Remarks are comments."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from rankgauge.record import Record
from rankgauge.reports.cells import Look, note_line, told
from rankgauge.reports.document import Detail, Notes, Report, Table
from rankgauge.reports.lines import grid
from rankgauge.reports.paper import PaperCell, paper_of
from rankgauge.words import Language, Note, say

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
    "`": r"\textasciigrave{}",
    "'": r"\textquotesingle{}",
    "→": r"$\rightarrow$",
    "↓": r"$\downarrow$",
    "∞": r"$\infty$",
    "−": "$-$",
    "×": r"$\times$",
    "±": r"$\pm$",
    "≥": r"$\geq$",
    "≤": r"$\leq$",
    "α": r"$\alpha$",
    "τ": r"$\tau$",
    "…": r"\ldots{}",
}
_LIGATURES = re.compile(r"(?<=[-,?!])(?=[-,`])")
_UNKNOWN = re.compile(r"[^\x00-\u017f]")
"""What pdflatex has no letters for."""
_BESIDE = ("per_query", "targets")
"""Tables that were asked for, beside that of the paper."""


def render(report: Report, *, language: Language = "en", digits: int = 4, detail: Detail = "answer", **_: Any) -> str:
    """The table of a paper with the answer; beyond it all tables up to that detail, without floats."""
    look = Look(language, digits, minus="−")
    said: list[Note] = []
    found = [_comments(report.cautions, look, said)] if report.cautions else []
    record = report.record
    scored = record is not None and bool(record.systems and record.measures) and "losses" not in list(report.data)[:1]
    is_paper = detail == "answer" and scored
    if is_paper and record is not None:
        found.append(_paper(record, look))
    for block in report.shown(detail):
        if isinstance(block, Table) and (not is_paper or block.name in _BESIDE):
            title = "" if block.title is None else f"% {told(block.title, look)}\n"
            found.append(title + _comments(block.notes, look, said) + _table(block, look, detail))
        elif isinstance(block, Notes) and block.title is not None:
            found.append(f"% {told(block.title, look)}\n" + _comments(block.notes, look, said))
    text = "\n".join(found)
    printed = "\n".join(line for line in text.splitlines() if not line.startswith("%"))
    return f"% {say('paper.unicode', language)}\n{text}" if _UNKNOWN.search(printed) else text


def _comments(notes: Sequence[Note], look: Look, said: list[Note]) -> str:
    """What was not said before."""
    fresh = [note for note in notes if note not in said]
    said += fresh
    return "".join(f"% {note_line(note, look)}\n" for note in fresh)


def _escaped(text: str) -> str:
    """A text that shows as it is, dashes that would melt into one included."""
    return "".join(_LATEX.get(character, character) for character in _LIGATURES.sub("\0", text)).replace("\0", "{}")


def _row(cells: Sequence[str]) -> str:
    """A row of cells that are escaped."""
    first, *others = cells
    if first.lstrip().startswith(("[", "*")):  # which would be an option of the command before it
        first = f"{{}}{first}"
    return " & ".join([first, *others]) + r" \\"


def _tabular(columns: str, header: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    yield f"\\begin{{tabular}}{{{columns}}}"
    yield r"\toprule"
    yield _row(header)
    yield r"\midrule"
    yield from map(_row, rows)
    yield r"\bottomrule"
    yield r"\end{tabular}"


def _paper(record: Record, look: Look) -> str:
    """The table as a float, with a caption that says how to read it."""
    made = paper_of(record, look.digits)
    lettered = any(letter for letter, _, _ in made.systems)
    header = [told(Note("report.system"), look), *(f"{name} ↓" if lower else name for name, lower in made.measures)]
    rows = [
        [*([letter] if lettered else []), _escaped(told(name, look)), *map(_cell, means)]
        for letter, name, means in made.systems
    ]
    caption = ("" if look.language == "zh" else " ").join(told(note, look) for note in made.caption)
    lines = [
        r"% \usepackage{booktabs}",
        r"\begin{table}",
        r"\centering",
        rf"\caption{{{_escaped(caption)}}}",
        r"\label{tab:rankgauge}",
        *_tabular(
            "l" * (len(header) + lettered),
            [*([""] if lettered else []), *(_escaped(told(head, look)) for head in header)],
            rows,
        ),
        r"\end{table}",
    ]
    return "\n".join(lines) + "\n"


def _cell(cell: PaperCell) -> str:
    value = rf"\textbf{{{_escaped(cell.text)}}}" if cell.best else _escaped(cell.text)
    beaten = ("," if any(len(letter) > 1 for letter in cell.beaten) else "").join(cell.beaten)
    return value + (rf"\textsuperscript{{{beaten}}}" if beaten else "")


def _table(block: Table, look: Look, detail: Detail) -> str:
    shown = [column for column in block.columns if column.kind != "bar"]  # its share stands beside it
    rows = [
        [cell for cell, column in zip(row, block.columns, strict=True) if column.kind != "bar"]
        if len(row) == len(block.columns)
        else row
        for row in block.rows
    ]
    made = grid(replace(block, columns=shown, rows=rows), look, "evidence" if detail == "answer" else detail)
    columns = "".join("l" if made.is_text(j) else "r" for j in range(len(made.header)))
    escaped = [[_escaped(cell) for cell in row] for row in made.rows]
    return "\n".join(_tabular(columns, [_escaped(head) for head in made.header], escaped)) + "\n"
