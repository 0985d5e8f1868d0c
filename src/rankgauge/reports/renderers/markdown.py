"""Markdown, for pull requests and pages of CI jobs: the decision behind a mark and its table; the rest is folded."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import groupby
from typing import Any

from rankgauge.reports.cells import Look
from rankgauge.reports.document import Block, Detail, Notes, Outcome, Paragraph, Report, Table
from rankgauge.reports.lines import Form, grid, pieces
from rankgauge.words import Language, Note, say

__all__ = ["render"]

_MARKS = {"pass": "✅", "fail": "❌", "warn": "⚠️", "open": "❔"}
_SIGNS = {"better": "▲", "worse": "▼", "equivalent": "≈", "pass": "✓", "fail": "✗"}

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
    look = Look(language, digits, minus="−", signs=_SIGNS, grouped=True)

    def table(block: Table) -> str:
        return _table(block, look, detail) + ("\n" if block.notes else "")

    form = Form(
        look,
        table,
        lambda title: f"**{_inline(title.strip())}**\n\n",
        lambda line: f"- {_line(line)}\n",
        lambda line, status: f"{_MARKS[status]} {_inline(line)}\n" if status else f"{_line(line)}\n",
        lambda text, status: f"### {_MARKS[status]} {_inline(text)}\n",
        lambda line: f"- {_line(line)}\n",
    )
    blocks = list(_headed(report.shown(detail)))
    found: list[str] = []
    for is_folded, group in groupby((b for b in blocks if b.detail == "answer"), _is_folded):
        if is_folded:
            notes = [block for block in group if isinstance(block, Notes)]
            count = sum(len(block.notes) for block in notes)
            bare = [replace(block, title=None) for block in notes]
            found.append(_folded(say("answer.folded", language, n=count), pieces(bare, form)))
        else:
            found += pieces(group, form)
    told = [note for block in blocks if isinstance(block, Notes) and block.folded for note in block.notes]
    evidence = pieces(_without(told, (block for block in blocks if block.detail != "answer")), form)
    if evidence:
        found.append(_folded(say("answer.evidence", language), evidence))
    return "\n".join(found)


def _headed(blocks: Iterable[Block]) -> Iterable[Block]:
    """The blocks, the first decision as the outcome, which is a heading."""
    decided = False
    for block in blocks:
        if isinstance(block, Paragraph) and block.status is not None and not decided:
            yield Outcome(block.words, block.status)
        else:
            yield block
        decided = decided or (isinstance(block, Paragraph | Outcome) and block.status is not None)


def _without(told: Sequence[Note], blocks: Iterable[Block]) -> Iterable[Block]:
    """Blocks without what the remarks told already."""
    for block in blocks:
        if isinstance(block, Notes):
            block = replace(block, notes=[note for note in block.notes if note not in told])
        yield block


def _is_folded(block: Block) -> bool:
    return isinstance(block, Notes) and block.folded


def _folded(summary: str, parts: Sequence[str]) -> str:
    """Parts that a click shows. The summary is words of our own; empty lines let what is inside be Markdown."""
    return "\n".join([f"<details>\n<summary>{summary}</summary>\n", *parts, "</details>\n"])


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
        return "| " + " | ".join(_inline(cell.rstrip()) for cell in filled) + " |"

    rule = "".join("|---" if made.is_text(j) else "|---:" for j in range(len(made.header))) + "|"
    return "\n".join([line(made.header), rule, *(line(row) for row in made.rows)]) + "\n"
