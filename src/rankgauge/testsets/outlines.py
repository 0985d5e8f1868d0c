"""What a document says of itself: its title, its headings, and its prose without code and markup."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from rankgauge.retrievers.splitting import headings

__all__ = ["Outline", "outline"]

_FRONT: Final = re.compile(r"\A---[ \t]*\n(.{0,4000}?)\n---[ \t]*(?:\n|\Z)", re.DOTALL)
_FRONT_TITLE: Final = re.compile(r"^title:[ \t]*[\"']?(.+?)[\"']?[ \t]*$", re.MULTILINE)
_CODE: Final = re.compile(r"^ {0,3}(`{3,}|~{3,})[^\n]*\n.*?(?:^ {0,3}\1[ \t]*$|\Z)", re.DOTALL | re.MULTILINE)
_LINK: Final = re.compile(r"!?\[([^\]\[]{0,300})\]\([^()\s]{0,500}\)")
_URL: Final = re.compile(r"\bhttps?://\S{1,2000}")
_TAG: Final = re.compile(r"</?[A-Za-z][^<>]{0,300}>")
_NUMBER: Final = re.compile(r"^(?:\(?\d+(?:\.\d+)*[.)]?|[A-Za-z][.)])\s+")
_SENTENCE: Final = re.compile(r"[.!;:,\u3002\uff01\uff1b\uff1a\uff0c]\s*$")
_AROUND: Final = re.compile(r"^[ –—-]+|[ :\uff1a–—-]+$")
_LONGEST_TITLE: Final = 90
_READ: Final = 200_000
"""Characters of a document that are looked at for headings and prose."""


@dataclass(frozen=True)
class Outline:
    title: str
    """The first heading, or the first line where it reads like a title; empty where there is none."""
    headings: tuple[str, ...]
    """The others, each once."""
    prose: str


def outline(text: str) -> Outline:
    """The outline of a document in Markdown, or of plain text."""
    text = text[:_READ].replace("\r\n", "\n")
    title = ""
    if front := _FRONT.match(text):
        text = text[front.end() :]
        if named := _FRONT_TITLE.search(front[1]):
            title = _plain(named[1])
    places = list(headings(text))
    found = [plain for start, end in places if (plain := _plain(text[start:end]))]
    first = next((line for line in text.split("\n") if line.strip()), "")
    if not title and found and places and not text[: places[0][0]].strip():
        title = found[0]
    elif not title and len(first) <= _LONGEST_TITLE and not _SENTENCE.search(first):
        title = _plain(first)
    rest = _without(text, places)
    rest = _CODE.sub("\n", rest)
    rest = _URL.sub(" ", _TAG.sub(" ", _LINK.sub(r"\1", rest)))
    return Outline(title, tuple(one for one in dict.fromkeys(found) if one != title), rest)


def _without(text: str, places: list[tuple[int, int]]) -> str:
    kept, end = [], 0
    for start, behind in places:
        kept.append(text[end:start])
        end = behind
    return "\n".join([*kept, text[end:]])


def _plain(line: str) -> str:
    """A heading without its marks: of Markdown, of numbering, of links."""
    line = line.split("\n")[0].strip().lstrip("#").strip().rstrip("#")
    line = _TAG.sub(" ", _LINK.sub(r"\1", line))
    line = _NUMBER.sub("", re.sub(r"[`*\\]|\{#[^}]*\}|(?<!\w)_|_(?!\w)", "", line).strip())
    return _AROUND.sub("", " ".join(line.split()))
