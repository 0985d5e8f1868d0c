"""Markdown, for pull requests and pages of CI jobs."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from rankgauge.reports.cells import Look
from rankgauge.reports.document import Detail, Report, Table
from rankgauge.reports.lines import Form, grid, pieces
from rankgauge.words import Language

__all__ = ["render"]

_MARKS = {"pass": "✅", "fail": "❌", "warn": "⚠️", "open": "❔"}

# What GitHub and GitLab turn into links after Markdown is done, so that no escape helps: people, issues, addresses.
_LINKED = (
    r"(?<![a-z0-9_])@\w|[\w.+-]@[\w-]+\.\w|(?<![a-z0-9_&])[#!][0-9]|\w/[\w.-]+#[0-9]|\bgh-[0-9]"
    r"|://|\bwww\.|\bmailto:"
)
_ACTIVE = re.compile(
    rf"(?P<linked>(?<![!-{{}}~])(?=[!-{{}}~]*?(?:{_LINKED}))[!-{{}}~]+)"
    r"|(?P<code>(?<!`)`[\w='\".,+-]+`(?!`))"  # as texts of our own name an argument
    r"|(?P<html><)|(?P<entity>&(?=\#?\w+;))"
    r"|\\(?=[!-/:-@\[-`{-~]|$)|[|`*~$]|!(?=\[)|\](?=[\[(:])|(?<![^\W_])_|_(?![^\W_])",
    re.IGNORECASE,
)
# What at the beginning of a line makes it a heading, a quotation, a list, a rule or a box to tick.
_OPENING = re.compile(r"^(?=[#>+=\[-])|^(\d+)(?=[.)])")


def render(report: Report, *, language: Language = "en", digits: int = 4, detail: Detail = "evidence", **_: Any) -> str:
    """The report as Markdown."""
    look = Look(language, digits)

    def table(block: Table) -> str:
        return _table(block, look, detail) + ("\n" if block.notes else "")

    form = Form(
        look,
        table,
        lambda title: f"**{_inline(title.strip())}**\n\n",
        lambda line: f"- {_line(line)}\n",
        lambda line: f"{_line(line)}\n",
        lambda text, status: f"### {_MARKS[status]} {_inline(text)}\n",
        lambda line: f"- {_line(line)}\n",
    )
    return "\n".join(pieces(report.shown(detail), form))


def _line(text: str) -> str:
    """A text that may stand at the beginning of a line."""
    return _OPENING.sub(lambda found: f"{found[1] or ''}\\", _inline(text.strip()))


def _inline(text: str) -> str:
    """A text that shows as it is: without links, pictures, mentions, HTML and the like."""
    return _ACTIVE.sub(_escaped, text)


def _escaped(found: re.Match[str]) -> str:
    if found["linked"]:
        return _code(found["linked"])
    if found["code"]:
        return found["code"]
    return "&lt;" if found["html"] else "&amp;" if found["entity"] else f"\\{found[0]}"


def _code(text: str) -> str:
    """A text as code, in more backquotes than it has itself; a table ends its cell at a bare pipe even there."""
    marks = "`" * (max(map(len, re.findall("`+", text)), default=0) + 1)
    blank = " " if text.startswith("`") or text.endswith("`") else ""
    return marks + blank + text.replace("|", "\\|") + blank + marks


def _table(block: Table, look: Look, detail: Detail) -> str:
    made = grid(block, look, detail)

    def line(cells: Sequence[str]) -> str:
        filled = [*cells, *[""] * (len(made.header) - len(cells))]
        return "| " + " | ".join(_inline(cell) for cell in filled) + " |"

    rule = "".join("|---" if made.is_text(j) else "|---:" for j in range(len(made.header))) + "|"
    return "\n".join([line(made.header), rule, *(line(row) for row in made.rows)]) + "\n"
