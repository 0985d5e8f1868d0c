"""One HTML file that works offline: the report's words and tables, its charts, and every query to be explored.

The page of a record lets its reader choose measure and pair, so it carries the scores and a script; a report of
anything else is a page without scripts, its charts drawn.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any, Literal

from rankgauge.extras import check_installed
from rankgauge.reports.cells import Look, told, written
from rankgauge.reports.chart_specs import Chart, shown
from rankgauge.reports.document import (
    Bar,
    Beside,
    Block,
    Cards,
    Cell,
    Charts,
    Column,
    Drawn,
    Estimate,
    Explorer,
    Heading,
    Kind,
    Marked,
    Paragraph,
    Report,
    Scored,
    Table,
    Text,
)
from rankgauge.reports.drawing import converter, drawn
from rankgauge.reports.interval_bars import axis_of, bar_of
from rankgauge.reports.page_data import data_of, script_json
from rankgauge.version import __version__
from rankgauge.visible import visible
from rankgauge.words import Language, Note, listed, say

if TYPE_CHECKING:
    from jinja2 import Environment
    from markupsafe import Markup

    from rankgauge.record import Record

__all__ = ["render"]

_SCRIPTS = ("base.js", "charts.js", "query.js", "queries.js", "changes.js", "leading.js", "start.js")
_TALL = 12  # rows that are shown at once
_WIDE = 6  # columns that have room
_NARROW = 3  # columns that have room on a telephone
_SHORT = 14  # characters that have room beside other cells of a card
_SIGNS = {
    "better": "▲",
    "worse": "▼",
    "equivalent": "≈",
    "inconclusive": "?",
    "pass": "✓",
    "fail": "✗",
    "warn": "!",
    "open": "?",
}
_CODE = re.compile(r"`([^`\s]+)`")
_JOINT = re.compile(r"(?<=[^\W_][_/])(?=[^\W_])")
_JOINED = re.compile(r"[(\uff08\u201c]*[\w.@-]*[a-zA-Z0-9][_/][a-zA-Z0-9][\w./@-]*[^\w\s<&]*", re.ASCII)
_MODES: tuple[Literal["light", "dark"], ...] = ("light", "dark")
Item = dict[str, Any]


def render(report: Report, *, language: Language = "en", digits: int = 4, **_: Any) -> str:
    """The page. Texts are escaped by the template, data by `script_json`; nothing is fetched when it is opened."""
    environment = _environment()
    page = _Page(report, language, digits)
    record = report.record
    return environment.get_template("page.html").render(
        page=page,
        w=page.word,
        title=page.told(report.title),
        subtitle="" if report.subtitle is None else page.told(report.subtitle),
        explorer=page.explorer,
        version=__version__ if record is None else record.rankgauge,
        style=_file("style.css"),
        data=None if record is None else script_json(data_of(record, page.charts, language, digits)),
        runtime="" if record is None else _runtime(),
        script="\n".join(_file(name) for name in _SCRIPTS),
    )


class _Page:
    """What the template asks for: the blocks in sections, words, cells, and charts by kind."""

    def __init__(self, report: Report, language: Language, digits: int) -> None:
        self.report, self.language = report, language
        self.look = Look(language, digits, None, 4, "–", "−", "html.against", one_precision=True, grouped=True)
        self.explorer = _explored(report.record)
        self.sections: list[Item] = []
        later: list[Block] = []
        for block in report.blocks:
            if isinstance(block, Heading):
                self._begin(block.id, block.words, folded=block.folded)
                if block.id == "comparison":
                    self.sections[-1]["blocks"] += later
            elif isinstance(block, Paragraph) and block.style == "lead" and block.detail != "answer":
                later.append(block)  # what further measures say is evidence for the decision
            elif isinstance(block, Explorer):
                if self.explorer:
                    self._begin("explore", "", block)
            elif not self._repeats(block):
                if not self.sections:
                    self._begin("answer" if report.record else "", "")
                self.sections[-1]["blocks"].append(block)
        self.drawn = {id(block): self._figures(block) for block in _charts(report.blocks)}

    def _repeats(self, block: Block) -> bool:
        """Whether the first screen says the same: verdicts, and the means of a single system."""
        alone = self.report.record is not None and len(self.report.record.systems) == 1
        in_means = bool(self.sections) and self.sections[-1]["id"] == "means"
        return isinstance(block, Cards) or (alone and in_means and not isinstance(block, Charts))

    def _begin(self, name: str, title: Text, *blocks: Block, folded: bool = False) -> None:
        self.sections.append({"id": name, "title": title, "blocks": [*blocks], "folded": folded})

    @property
    def charts(self) -> dict[str, list[Chart]]:
        """By kind, in the order of the page."""
        found: dict[str, list[Chart]] = {}
        for item in self.drawn.values():
            if item["charts"]:
                found.setdefault(item["kind"], []).extend(item["charts"])
        return found

    def word(self, name: str, **parameters: Any) -> str:
        return say(f"html.{name}", self.language, **parameters)

    def told(self, text: Text) -> str:
        return told(text, self.look)

    def said(self, text: Text) -> Markup:
        """A note, escaped: code as code, and the query that it names leads to its lists."""
        from markupsafe import Markup, escape

        line = _CODE.sub(r"<code>\1</code>", str(escape(self.told(text))))
        query = text.parameters.get("query") if isinstance(text, Note) else None
        if self.explorer.get("ids") and self.report.record and query in self.report.record.queries:
            target = escape(script_json(["", "", None, visible(query)]))
            link = f'<a href="#all" data-leads="{target}">{escape(visible(query))}</a>'
            line = line.replace(str(escape(visible(repr(query)))), link)
        return Markup(line)  # every part of it is escaped

    def written(self, cell: Cell, kind: Kind = "text") -> str:
        return written(cell, kind, self.look)

    def listed(self, names: Sequence[str]) -> str:
        return listed([self.told(name) for name in names], self.language)

    def sign(self, mark: str) -> str:
        """The shape of a mark, for those who see no colours."""
        return _SIGNS.get(mark, "")

    def kind(self, block: object) -> str:
        return type(block).__name__

    def figures(self, block: Charts) -> Item:
        return self.drawn[id(block)]

    def _figures(self, block: Charts) -> Item:
        """Charts of a page that can be explored are drawn by its script, those of another here."""
        charts = list(block.draw(self.language, self.look.digits))
        record = self.report.record
        svg = [] if record else [{mode: self._drawing(chart, mode) for mode in _MODES} for chart in charts]
        by_measure = bool(record and record.queries and charts) and charts[0].measure is not None
        return {"kind": block.kind, "charts": charts, "drawings": svg, "by_measure": by_measure}

    def _drawing(self, chart: Chart, mode: Literal["light", "dark"]) -> str:
        return drawn(chart, self.language, ["svg"], mode=mode, background="transparent")["svg"].decode()

    def index(self, chart: Chart, kind: str) -> int:
        """Its place among the charts of its kind."""
        return next(i for i, other in enumerate(self.charts[kind]) if other is chart)

    def table(self, table: Table) -> Item:
        """Columns that stand under another become its second line."""
        columns = [(i, column) for i, column in enumerate(table.columns) if not column.under]
        below = {column.under: (i, column) for i, column in enumerate(table.columns) if column.under}
        targets = list(table.leads_to) if self.explorer.get("ids") else []
        rows: list[Item] = []
        for number, row in enumerate(table.rows):
            if len(row) < len(table.columns):
                rows.append({"across": self.written(row[0])})
                continue
            cells = [self.cell(row[i], column.kind) for i, column in columns]
            for cell, (_, column) in zip(cells, columns, strict=True):
                if column.key in below:
                    i, under = below[column.key]
                    cell["small"] = self._small(row[i], under)
            rows.append({"cells": cells, "target": script_json(shown(targets[number])) if targets else ""})
        _give_lines([row["cells"] for row in rows if "cells" in row])
        plots = [cell for row in table.rows for cell in row if isinstance(cell, Drawn)]
        return {
            "columns": [self._head(column) for _, column in columns],
            "rows": rows,
            "many": len(rows) > _TALL,
            "look": self._table_look(table),
            "axis": axis_of(plots[0], self.look) if plots else [],
            "longest": max((len(row["cells"][0]["text"]) for row in rows if "cells" in row), default=0),
        }

    def _table_look(self, table: Table) -> str:
        """Rows become cards where there is little room, two cells abreast if they have second lines; a wide table is
        set closely."""
        columns = sum(not column.under for column in table.columns)
        leaderboard = table.name == "leaderboard"
        ends = any(isinstance(cell, Estimate) for row in table.rows for cell in row)
        looks = {
            "leaderboard": leaderboard,
            "standing": leaderboard and bool(table.leads_to) and bool(table.leads_to[0].system),
            "many": leaderboard and columns > _WIDE,
            "rows": not leaderboard and columns > _WIDE,
            "cards": leaderboard or columns > _NARROW,
            "headed": table.name == "changed",  # its first head says what is shown
            "paired": not leaderboard and (ends or any(column.under for column in table.columns)),
        }
        return " ".join(name for name, holds in looks.items() if holds)

    def _head(self, column: Column) -> Item:
        words = self.told(column.head).replace(" ms", "\u00a0ms")
        return {
            "words": words,
            "kind": column.kind,
            "look": _look(column.kind),
            "hint": "" if column.hint is None else self.told(column.hint),
        }

    def _small(self, cell: Cell, column: Column) -> str:
        text = "" if cell is None and column.kind == "bounds" else self.written(cell, column.kind)
        return f"{self.told(column.head)} {text}" if column.kind == "p" else text

    def cell(self, cell: Cell, kind: Kind) -> Item:
        value, small = (cell.value, cell.ends) if isinstance(cell, Estimate) else (cell, None)
        marked = isinstance(cell, Marked)
        mark = cell.mark if isinstance(cell, Marked | Scored) else ""
        return {
            "text": "" if kind in ("plot", "bar") else self.written(value, kind),
            "small": "" if small is None else self.written(small, "score"),
            "look": f"{_look(kind)} verdict".strip() if marked else _look(kind) if cell not in ("", None) else "empty",
            "badge": marked,
            "mark": mark,
            "sign": self.sign(mark) if marked or isinstance(cell, Scored) else "",
            "scored": isinstance(cell, Scored),
            "plot": bar_of(cell, self.look) if isinstance(cell, Drawn) else None,
            "bar": f"{100 * cell.share:.2f}" if isinstance(cell, Bar) and cell.share else "",
        }


def _give_lines(rows: Sequence[Sequence[Item]]) -> None:
    """A column of long texts takes a line of a card for itself."""
    for column in zip(*rows, strict=True):
        texts = [cell for cell in column if not cell["badge"] and not cell["plot"]]
        if max((len(cell["text"]) for cell in texts), default=0) > _SHORT:
            for cell in texts:
                cell["look"] = f"{cell['look']} long".strip()


def _look(kind: Kind) -> str:
    """How a column is set: numbers to the right."""
    return {"text": "", "plot": "plot", "bar": "share"}.get(kind, "n")


def _explored(record: Record | None) -> Item:
    """The sections that let a reader explore single queries."""
    if record is None:
        return {}
    pairs, slices = len(record.systems) > 1, record.comparison is not None and bool(record.comparison.slices)
    shown = {"queries": pairs, "distribution": True, "slices": slices, "changes": pairs, "all": True}
    ids = [name for name, holds in shown.items() if holds and record.queries]
    return {"ids": ids, "has_lists": bool(record.lists), "pairs": pairs, "height": len(record.systems) * 99 + 42}


def _charts(blocks: Sequence[Block]) -> Iterator[Charts]:
    for block in blocks:
        if isinstance(block, Charts):
            yield block
        elif isinstance(block, Beside):
            yield from _charts(block.blocks)


@cache
def _file(name: str) -> str:
    return (files("rankgauge.reports") / "templates" / name).read_text(encoding="utf-8")


@cache
def _environment() -> Environment:
    check_installed("jinja2", "the HTML report", "jinja2", "report")
    from jinja2 import Environment, FunctionLoader, StrictUndefined

    made = Environment(
        loader=FunctionLoader(_file), autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    made.filters |= {"breakable": _breakable, "breakable_text": lambda text: _JOINT.sub("\u200b", text)}
    made.filters["prose"] = _prose
    return made


def _breakable(text: str) -> Markup:
    """Escaped, and long names such as BM25_RM3_expanded may break behind underscores; copied text stays as it is."""
    from markupsafe import Markup, escape

    return Markup(_JOINT.sub("<wbr>", str(escape(text))))


def _prose(text: str) -> Markup:
    """Escaped, and a long name goes to the next line as a whole; it breaks only where a line is too short for it."""
    from markupsafe import Markup, escape

    return Markup(_JOINED.sub(lambda found: f'<span class="name">{_breakable(Markup(found[0]))}</span>', escape(text)))


@cache
def _runtime() -> str:
    """Vega, Vega-Lite and Vega-Embed in one script, made once for each process, for it takes a second."""
    bundle: str = converter().javascript_bundle("window.vegaEmbed = vegaEmbed;")
    return re.sub(r"</(script)", r"<\\/\1", bundle, flags=re.IGNORECASE)
