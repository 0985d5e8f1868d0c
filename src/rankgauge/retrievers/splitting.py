"""Where a text may be cut: between words, between sentences, before the headings of Markdown. Chinese included."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

__all__ = ["Piece", "headings", "sections", "sentences", "stripped", "words"]

Piece = tuple[int, int]
"""Where a piece of a text begins and ends; neither end is white space."""

_IDEOGRAPHS: Final = "\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"  # written without spaces
_CLOSING: Final = "\"'\\])\u201d\u2019\u300d\u300f\uff09"
_WORD: Final = re.compile(
    rf"(?:[{_IDEOGRAPHS}]|[^\s{_IDEOGRAPHS}]++)[\u3001\u3002\uff01\uff0c\uff1a\uff1b\uff1f{_CLOSING}]*+"
)
# Runs of marks are taken whole and begun once, so that a page of dots takes no longer than a page of words.
_END: Final = re.compile(
    rf"(?<![.!?])[.!?]++[{_CLOSING}]*+\s++"
    rf"|(?<![\u2026\u3002\uff01\uff1f])[\u2026\u3002\uff01\uff1f]++[{_CLOSING}]*+\s*+"
    r"|\n[ \t]*+\n\s*+"
    r"|\n(?=[ \t]*+(?:[-*+]|\d++[.)])[ \t])"
)
_HEADING: Final = re.compile(r" {0,3}#{1,6}(?:[ \t\r]|$)")
_UNDERLINE: Final = re.compile(r" {0,3}(?:=+|-+)[ \t\r]*$")
_FENCE: Final = re.compile(r" {0,3}(`{3,}|~{3,})(.*)$")
_OTHER_BLOCK: Final = re.compile(r" {4}|\t| {0,3}(?:>|[-*+][ \t]|\d+[.)][ \t]|\|)")  # no line to underline


def words(text: str, start: int, end: int) -> Iterator[Piece]:
    """Words, with the marks that follow them; a Chinese character is one."""
    return (found.span() for found in _WORD.finditer(text, start, end))


def sentences(text: str, start: int, end: int) -> Iterator[Piece]:
    """Sentences, paragraphs and entries of lists: a mark at the end of a sentence before white space, a Chinese one
    before anything, a blank line."""
    for found in _END.finditer(text, start, end):
        yield from stripped(text, start, found.end())
        start = found.end()
    yield from stripped(text, start, end)


def sections(text: str) -> Iterator[Piece]:
    """The parts of a Markdown text, each from its heading to the next one. A heading without a text of its own stays
    with the part that follows."""
    begun, told = 0, 0  # where the part begins, and where its heading ends
    for start, end in headings(text):
        if text[told:start].strip():
            yield from stripped(text, begun, start)
            begun = start
        told = end
    yield from stripped(text, begun, len(text))


def headings(text: str) -> Iterator[Piece]:
    """Lines that begin with #, and lines underlined with = or -; not those within a code fence."""
    place, fence, before = 0, "", ""  # `before` is the line above, where it may be underlined
    for line in text.split("\n"):
        mark = _FENCE.match(line)
        if fence:
            if mark and mark[1].startswith(fence) and not mark[2].strip():
                fence = ""
            before = ""
        elif mark and not (mark[1][0] == "`" and "`" in mark[2]):
            fence, before = mark[1], ""
        elif _HEADING.match(line):
            yield place, place + len(line)
            before = ""
        elif before and _UNDERLINE.match(line):
            yield place - len(before) - 1, place + len(line)
            before = ""
        else:
            before = line if line.strip() and not _OTHER_BLOCK.match(line) else ""
        place += len(line) + 1


def stripped(text: str, start: int, end: int) -> Iterator[Piece]:
    """The piece without white space around it; nothing where there is nothing else."""
    piece = text[start:end]
    inner = piece.strip()
    if inner:
        first = start + len(piece) - len(piece.lstrip())
        yield first, first + len(inner)
