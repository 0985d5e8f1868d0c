"""For notebooks: the answer as a piece of HTML that stands alone, its intervals drawn.

It is put on pages whose colours are not known: JupyterLab's follow its theme, others the browser's, some neither. So
words have the colour of the page around them, marks have tones that stand out on light and dark alike, and a picture
brings its own background.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from importlib.resources import files
from itertools import pairwise
from typing import Any

from rankgauge.reports.cells import Look, card_line, facts_line, note_line, told, written
from rankgauge.reports.chart_specs import VERDICTS
from rankgauge.reports.document import (
    Block,
    Cards,
    Cell,
    Column,
    Detail,
    Drawn,
    Facts,
    Marked,
    Notes,
    Outcome,
    Paragraph,
    Report,
    Scored,
    Table,
)
from rankgauge.reports.lines import shown_columns
from rankgauge.words import Language, say

__all__ = ["render", "two_tones"]

_WIDTH, _HEIGHT, _EDGE = 160, 14, 5
_MANY = 6  # columns, beside which an interval has no room for its figures
_JOINT = re.compile(r"(?<=[_/])(?=\w)")  # where a long name may go on in the next line
_SIGNS = {"better": "▲", "worse": "▼", "equivalent": "≈", "pass": "✓", "fail": "✗"}
_STATUS = {"pass": ("✓", "pass"), "fail": ("✗", "fail"), "warn": ("⚠", "warn"), "open": ("?", "inconclusive")}
_TONES = {**VERDICTS, "pass": VERDICTS["better"], "fail": VERDICTS["worse"], "warn": "#c07d00"}


@cache
def _style(name: str) -> str:
    return (files("rankgauge.reports") / "templates" / f"{name}.css").read_text(encoding="utf-8")


def two_tones(pictures: Mapping[str, str], text: str) -> str:
    """Addresses of pictures by mode, of which the page shows the one that suits it; without styles the light one."""
    hidden = {"light": "", "dark": ' style="display: none"'}
    images = "".join(f'<img class="rg-{m}" src="{src}" alt="{text}"{hidden[m]}>' for m, src in pictures.items())
    return f'<div class="rankgauge-chart"><style>{_style("notebook-chart")}</style>{images}</div>'


def render(report: Report, *, language: Language = "en", digits: int = 4, detail: Detail = "answer", **_: Any) -> str:
    """The report as a piece of HTML; every text is escaped."""
    page = _Page(Look(language, digits, minus="−", signs=_SIGNS, grouped=True), detail)
    blocks = "\n".join(part for block in report.shown(detail) for part in page.parts(block))
    tones = " ".join(f"--rg-{name}: {tone};" for name, tone in _TONES.items())
    style = f"<style>.rankgauge {{ {tones} }}\n{_style('notebook')}</style>"
    return f'<div class="rankgauge" lang="{language}">{style}\n{blocks}\n</div>\n'


def _sign(sign: str, tone: str) -> str:
    return f'<span class="rg-sign" style="color: var(--rg-{tone})">{sign}</span>'


class _Page:
    """The parts of the page in the words of a language."""

    def __init__(self, look: Look, detail: Detail) -> None:
        self.look, self.detail = look, detail
        self.bare = Look(look.language, look.digits, minus=look.minus)

    def parts(self, block: Block) -> Iterator[str]:
        if isinstance(block, Paragraph | Outcome):
            yield self._paragraph(block)
        elif isinstance(block, Notes):
            yield self._notes(block)
        elif isinstance(block, Table):
            if block.title is not None:
                yield f"<p>{html.escape(told(block.title, self.look))}</p>"
            yield self._table(block)
            yield self._notes(Notes(block.notes))
        elif isinstance(block, Cards):
            yield from (f"<p>{html.escape(card_line(card, self.look))}</p>" for card in block.cards)
        elif isinstance(block, Facts):
            yield f"<p>{html.escape(facts_line(block, self.look))}</p>"

    def _paragraph(self, block: Paragraph | Outcome) -> str:
        style = "lead" if isinstance(block, Outcome) else block.style
        mark = "" if block.status is None else f"{_sign(*_STATUS[block.status])} "
        return f'<p class="rg-{style}">{mark}{html.escape(told(block.words, self.look))}</p>'

    def _notes(self, block: Notes) -> str:
        if not block.notes:
            return ""
        if not block.folded:
            title = [] if block.title is None else [told(block.title, self.look)]
            lines = [*title, *(note_line(note, self.look) for note in block.notes)]
            return "\n".join(f"<p>{html.escape(line)}</p>" for line in lines)
        summary = html.escape(say("answer.folded", self.look.language, n=len(block.notes)))
        items = "".join(f"<li>{html.escape(' '.join(told(note, self.look).split()))}</li>" for note in block.notes)
        return f"<details><summary>{_sign('⚠', 'warn')} {summary}</summary><ul>{items}</ul></details>"

    def _table(self, block: Table) -> str:
        kept = [(j, block.columns[j]) for j in shown_columns(block, self.detail)]
        head = "".join(f"<th{_kind(column)}>{_breakable(told(column.head, self.look))}</th>" for _, column in kept)
        rows = []
        for row in block.rows:
            if len(row) != len(block.columns):
                cells = f'<td colspan="{len(kept)}">{html.escape(written(row[0], "text", self.look))}</td>'
            else:
                tone = next((cell.mark for cell in row if isinstance(cell, Marked) and cell.mark in _TONES), None)
                shown = _with_intervals(row) if block.name == "answer" else row
                cells = "".join(f"<td{_kind(c, shown[j])}>{self._cell(shown[j], c, tone)}</td>" for j, c in kept)
            rows.append(f"<tr>{cells}</tr>")
        tight = ' class="rg-tight"' if len(kept) > _MANY else ""
        return f"<table{tight}><thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table>"

    def _cell(self, cell: Cell, column: Column, tone: str | None) -> str:
        text = _breakable(written(cell, column.kind, self.bare))
        if isinstance(cell, Drawn):
            return f"{_interval(cell, tone, text)}<small>{text}</small>"
        if isinstance(cell, Marked | Scored) and cell.mark in _SIGNS:
            sign = _sign(_SIGNS[cell.mark], cell.mark)
            return f"{sign} {text}" if isinstance(cell, Marked) else f"{text} {sign}"
        return text


def _breakable(text: str) -> str:
    return _JOINT.sub("<wbr>", html.escape(text))


def _with_intervals(row: Sequence[Cell]) -> list[Cell]:
    """A mean's interval to be drawn, where it lies between 0 and 1 and so on one scale with the others."""
    found = list(row)
    for j, (value, cell) in enumerate(pairwise(row), start=1):
        if isinstance(value, float) and isinstance(cell, tuple) and min(cell) >= 0 and max(cell) <= 1:
            found[j] = Drawn(value, cell, (0.0, 1.0))
    return found


def _kind(column: Column, cell: Cell = None) -> str:
    if isinstance(cell, Marked):
        return ' class="rg-mark"'
    if column.kind in ("text", "bar"):
        return ' class="rg-text"'
    return "" if column.kind == "plot" else ' class="rg-number"'


def _interval(cell: Drawn, tone: str | None, text: str) -> str:
    """An interval at its place on the scale of its table, and a dotted line where 0 is."""
    low, high = cell.scale

    def place(value: float) -> str:
        share = (min(max(value, low), high) - low) / (high - low)
        return f"{_EDGE + share * (_WIDTH - 2 * _EDGE):.1f}"

    middle, color, line = _HEIGHT / 2, f"var(--rg-{tone or 'inconclusive'})", ""
    shape = f'<circle cx="{place(cell.value)}" cy="{middle}" r="3.5" fill="{color}"/>'
    if cell.ends is not None:
        first, last = map(place, cell.ends)
        path = f"M{first} {middle}H{last}M{first} 3V{_HEIGHT - 3}M{last} 3V{_HEIGHT - 3}"
        shape = f'<path d="{path}" stroke="{color}" stroke-width="2" fill="none"/>{shape}'
    if cell.zero and low <= 0 <= high:
        ends = f'x1="{place(0)}" x2="{place(0)}" y1="0" y2="{_HEIGHT}"'
        line = f'<line {ends} stroke="currentColor" stroke-opacity=".6" stroke-dasharray="2 2"/>'
    size = f'width="{_WIDTH}" height="{_HEIGHT}" viewBox="0 0 {_WIDTH} {_HEIGHT}"'
    return f'<svg {size} role="img" aria-label="{text}">{line}{shape}</svg>'
