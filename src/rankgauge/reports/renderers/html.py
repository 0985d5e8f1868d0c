"""One HTML file that works offline: the report's words and tables, its charts, and every query to be explored.

The page of a record lets its reader choose measure and pair, so it carries the scores and a script; a report of
anything else is a page without scripts, its charts drawn.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from rankgauge.errors import MissingExtraError
from rankgauge.reports.cells import Look, told, written
from rankgauge.reports.chart_specs import Chart
from rankgauge.reports.document import (
    Beside,
    Block,
    Card,
    Cards,
    Cell,
    Charts,
    Column,
    Estimate,
    Explorer,
    Facts,
    Heading,
    Letters,
    Marked,
    Notes,
    Outcome,
    Paragraph,
    Remark,
    Report,
    Table,
    word,
)
from rankgauge.reports.drawing import converter, drawn
from rankgauge.reports.page_data import data_of, script_json
from rankgauge.version import __version__
from rankgauge.words import Language, listed, say

if TYPE_CHECKING:
    from jinja2 import Environment

__all__ = ["render"]

_SCRIPTS = ("base.js", "charts.js", "changes.js", "queries.js", "start.js")
_TALL = 12
Item = dict[str, Any]


def render(report: Report, *, language: Language = "en", digits: int = 4, **_: Any) -> str:
    """The page. Texts are escaped by the template, data by `script_json`; nothing is fetched when it is opened."""
    environment = _environment()
    page = _Page(report, language, digits)
    record = report.record
    made = environment.get_template("page.html").render(
        w=page.word,
        title=told(report.title, page.look),
        subtitle="" if report.subtitle is None else told(report.subtitle, page.look),
        sections=page.sections,
        explorer=page.explorer,
        version=__version__ if record is None else record.rankgauge,
        style=_file("style.css"),
        data=None if record is None else script_json(data_of(record, page.charts, language)),
        runtime="" if record is None else _runtime(),
        script="\n".join(_file(name) for name in _SCRIPTS),
    )
    # Half of a surrogate pair can stand in JSON but not in a file.
    return re.sub("[\ud800-\udfff]", "\ufffd", made)


class _Page:
    """The blocks of a report as the template shows them: in sections, with figures and words written."""

    def __init__(self, report: Report, language: Language, digits: int) -> None:
        self.report, self.language = report, language
        self.look = Look(language, digits, max(digits - 1, 0), 3, "–", "−", "html.against")
        self.charts: dict[str, list[Chart]] = {}
        self.explorer: Item = {}
        self.sections: list[Item] = []
        for block in _with_cards_first(report.blocks):
            if isinstance(block, Explorer):
                self._explore()
            elif isinstance(block, Heading):
                self._open(block.id, told(block.words, self.look))
            else:
                if not self.sections:
                    self._open("", "")
                self.sections[-1]["items"] += self._items(block)
        self.sections = [section for section in self.sections if section["items"] or section["explorer"]]
        self._count_warnings()

    def word(self, name: str, **parameters: Any) -> str:
        return say(f"html.{name}", self.language, **parameters)

    def _count_warnings(self) -> None:
        """Said below the advice, before the figures."""
        n = sum(remark.is_warning for remark in _remarks(self.report.blocks))
        if n and self.sections[0]["id"] == "summary":
            items = self.sections[0]["items"]
            place = sum(item["kind"] == "paragraph" for item in items)
            items.insert(place, {"kind": "warnings", "text": self.word("warnings" if n > 1 else "one_warning", n=n)})

    def _open(self, name: str, title: str, *, explorer: bool = False) -> None:
        self.sections.append({"id": name, "title": title, "items": [], "explorer": explorer})

    def _explore(self) -> None:
        record = self.report.record
        if record is None:
            return
        pairs, compared = len(record.systems) > 1, record.comparison
        shown = {
            "queries": pairs,
            "distribution": True,
            "slices": compared is not None and bool(compared.slices),
            "changes": pairs,
            "all": True,
        }
        ids = [name for name, holds in shown.items() if holds and record.queries]
        self._open("explore", "", explorer=True)
        self.explorer = {
            "ids": ids,
            "has_lists": bool(record.lists),
            "height": len(record.systems) * 99 + 42,
        }

    def _items(self, block: Block) -> Iterator[Item]:
        look = self.look
        if isinstance(block, Table):
            yield self._table(block)
        elif isinstance(block, Paragraph | Outcome):
            style = block.style if isinstance(block, Paragraph) else f"outcome {block.status}"
            yield {"kind": "paragraph", "style": style, "text": told(block.words, look)}
        elif isinstance(block, Notes) and block.remarks:
            yield self._notes(block.remarks, "" if block.title is None else told(block.title, look))
        elif isinstance(block, Facts):
            entries = [*([(self.word("preset"), block.name)] if block.name else []), *block.entries]
            shown = [(told(name, look), value) for name, value in entries]
            yield {"kind": "facts", "title": told(block.title, look), "entries": shown}
        elif isinstance(block, Cards):
            yield {"kind": "cards", "cards": [self._card(card) for card in block.cards]}
        elif isinstance(block, Charts):
            yield from self._figures(block)
        elif isinstance(block, Beside):
            inner = [item for one in block.blocks for item in self._items(one)]
            if inner:
                yield {"kind": "beside", "items": inner, "figures": inner[0]["kind"] == "figures"}

    def _figures(self, block: Charts) -> Iterator[Item]:
        found = list(block.draw(self.language))
        caption = told(block.caption, self.look)
        known = self.charts.setdefault(block.kind, []) if found else []
        first = len(known)
        known += found
        if found and self.report.record is None:
            svg = [drawn(chart, self.language, ["svg"])["svg"].decode() for chart in found]
            yield {"kind": "drawings", "drawings": svg, "caption": caption}
        elif found:
            by_measure = bool(self.report.record and self.report.record.queries) and found[0].measure is not None
            figures = [
                {"index": first + i, "height": chart.height, "hidden": by_measure and i > 0}
                for i, chart in enumerate(found)
            ]
            choose = by_measure and len(found) > 1
            yield {"kind": "figures", "chart": block.kind, "figures": figures, "caption": caption, "choose": choose}

    def _notes(self, remarks: Sequence[Remark], title: str) -> Item:
        ordered = sorted(remarks, key=lambda remark: not remark.is_warning)
        shown = [
            {
                "warning": remark.is_warning,
                "who": listed(remark.who, self.language),
                "text": told(remark.note, self.look),
            }
            for remark in ordered
        ]
        return {"kind": "notes", "title": title, "notes": shown}

    def _card(self, card: Card) -> Item:
        look = self.look
        return {
            "head": card.head,
            "badge": None if card.verdict is None else self._cell(card.verdict, "text"),
            "value": written(card.cell, card.kind, look),
            "small": "" if card.ends is None else self._ends(card),
            "pair": "" if card.pair is None else written(card.pair, "text", look),
            "text": told(card.words, look),
        }

    def _ends(self, card: Card) -> str:
        return written(card.ends, "bounds" if card.kind == "signed" else "score", self.look)

    def _table(self, table: Table) -> Item:
        """Columns that stand under another become its second line; what only a terminal draws is left out."""
        columns = [(i, column) for i, column in enumerate(table.columns) if not column.under and column.kind != "plot"]
        below = {column.under: (i, column) for i, column in enumerate(table.columns) if column.under}
        heads = [
            {
                "text": told(column.head, self.look).replace(" ms", "\u00a0ms"),
                "small": "" if column.hint is None else told(column.hint, self.look),
                "numeric": column.kind != "text",
            }
            for _, column in columns
        ]
        rows: list[Item] = []
        for row in table.rows:
            if len(row) < len(table.columns):
                rows.append({"across": written(row[0], "text", self.look), "cells": []})
                continue
            cells = [self._cell(row[i], column.kind) for i, column in columns]
            for cell, (_, column) in zip(cells, columns, strict=True):
                if column.key in below:
                    i, under = below[column.key]
                    cell["small"] = self._small(row[i], under)
            rows.append({"across": "", "cells": cells})
        title = "" if table.title is None else told(table.title, self.look)
        notes = self._notes(table.notes, "") if table.notes else None
        known: Item = {"title": title, "heads": heads, "rows": rows, "notes": notes, "tall": len(rows) > _TALL}
        return {"kind": "table", "name": table.name, **known, "wide": len(columns) > _TALL // 2}

    def _small(self, cell: Cell, column: Column) -> str:
        text = "" if cell is None and column.kind == "bounds" else written(cell, column.kind, self.look)
        return f"{told(column.head, self.look)} {text}" if column.kind == "p" else text

    def _cell(self, cell: Cell, kind: Any) -> Item:
        if isinstance(cell, Estimate):
            small = "" if cell.ends is None else written(cell.ends, "score", self.look)
            return {"text": written(cell.value, kind, self.look), "small": small, "numeric": True}
        item = {"text": written(cell, kind, self.look), "small": "", "numeric": kind != "text"}
        if isinstance(cell, Marked):
            item["mark"] = cell.mark
        if isinstance(cell, Letters):
            item["letters"] = [letter if letter in cell.own else "" for letter in cell.all]
        return item


def _with_cards_first(blocks: Sequence[Block]) -> list[Block]:
    """The page has room for cards in its summary, which it always begins with where there is something to say."""
    cards = [block for block in blocks if isinstance(block, Cards)]
    rest = [block for block in blocks if not isinstance(block, Cards)]
    start = next((i for i, block in enumerate(rest) if isinstance(block, Heading) and block.id != "summary"), 0)
    begun = any(isinstance(block, Heading) and block.id == "summary" for block in rest)
    wanted = bool(cards) or any(remark.is_warning for remark in _remarks(blocks))
    opening: list[Block] = [] if begun or not wanted else [Heading(word("summary"), "summary")]
    return [*opening, *rest[:start], *cards, *rest[start:]]


def _remarks(blocks: Sequence[Block]) -> Iterator[Remark]:
    for block in blocks:
        if isinstance(block, Notes):
            yield from block.remarks
        elif isinstance(block, Table):
            yield from block.notes


@cache
def _file(name: str) -> str:
    return (files("rankgauge.reports") / "templates" / name).read_text(encoding="utf-8")


@cache
def _environment() -> Environment:
    try:
        from jinja2 import Environment, FunctionLoader, StrictUndefined
    except ImportError:
        raise MissingExtraError("the HTML report needs jinja2: pip install 'rankgauge[report]'") from None
    return Environment(
        loader=FunctionLoader(_file), autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )


@cache
def _runtime() -> str:
    """Vega, Vega-Lite and Vega-Embed in one script, made once for each process, for it takes a second."""
    bundle: str = converter().javascript_bundle("window.vegaEmbed = vegaEmbed;")
    return re.sub(r"</(script)", r"<\\/\1", bundle, flags=re.IGNORECASE)
