"""The text of an HTML page, with its headings as Markdown writes them."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from typing import Final

__all__ = ["declared_charset", "html_text"]

_SILENT: Final = frozenset(("script", "style", "template", "svg", "noscript", "iframe", "select", "button", "head"))
_AROUND: Final = frozenset(("nav", "footer", "aside"))
"""What stands on every page; left out, unless nothing else is there."""
_BLOCKS: Final = frozenset(
    (
        *("address", "article", "blockquote", "body", "br", "dd", "details", "div", "dl", "dt", "fieldset"),
        *("figcaption", "figure", "form", "h1", "h2", "h3", "h4", "h5", "h6", "header", "hr", "html", "li", "main"),
        *("ol", "option", "p", "pre", "section", "summary", "table", "tbody", "tfoot", "thead", "tr", "ul"),
    )
)
_VOID: Final = frozenset(
    ("area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr")
)
_CHARSET: Final = re.compile(rb"<meta[^>]{0,200}?charset\s*=\s*[\"']?\s*([\w.:-]{1,40})", re.IGNORECASE)
_MOST_OPEN: Final = 10_000


class _Reader(HTMLParser):
    def __init__(self, left_out: frozenset[str]) -> None:
        super().__init__(convert_charrefs=True)
        self._left_out = left_out
        self._skipped: list[str] = []
        self._titled = self._preformatted = False
        self.title = ""
        self.headed = False
        self.parts: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "title" and not self.title:
            self._titled = True
        elif tag == "body":
            self._skipped.clear()  # whatever the head left open
        elif self._skipped or tag in self._left_out:
            if tag not in _VOID and len(self._skipped) < _MOST_OPEN:
                self._skipped.append(tag)
            return
        if tag in _BLOCKS:
            self.parts.append("\n")
        if len(tag) == 2 and tag[0] == "h" and tag[1] in "123456":
            self.parts.append(f"\n{'#' * int(tag[1])} ")
            self.headed = self.headed or tag == "h1"
        elif tag == "li":
            self.parts.append("- ")
        elif tag in ("td", "th"):
            self.parts.append(" ")
        elif tag == "pre":
            self._preformatted = True

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in _BLOCKS and not self._skipped:
            self.parts.append("\n")

    def handle_endtag(self, tag: str) -> None:
        if tag == "title":
            self._titled = False
        if self._skipped:
            if tag in self._skipped:  # what was left open inside it ends with it
                while self._skipped.pop() != tag:
                    pass
            return
        if tag == "pre":
            self._preformatted = False
        if tag in _BLOCKS:
            self.parts.append("\n")

    def handle_data(self, data: str) -> None:
        if self._titled:
            self.title += data
        elif not self._skipped:
            self.parts.append(data if self._preformatted else re.sub(r"\s+", " ", data))


def html_text(page: str) -> str:
    """What a reader sees of a page, its title first; without navigation, scripts and the like."""
    for left_out in (_SILENT | _AROUND, _SILENT, frozenset(("script", "style"))):
        reader = _Reader(left_out)
        try:
            reader.feed(page)
            reader.close()
        except AssertionError:  # of malformed declarations such as <![x
            pass
        text = _tidied("".join(reader.parts))
        if text:
            break
    title = " ".join(reader.title.split())
    return f"# {title}\n\n{text}".strip() if title and not reader.headed else text


def _tidied(text: str) -> str:
    lines = (re.sub(r"[ \t\xa0]+$", "", line) for line in text.split("\n"))
    kept = (line.lstrip(" ") if not line.startswith("    ") else line for line in lines)
    return re.sub(r"\n{3,}", "\n\n", "\n".join(kept)).strip()


def declared_charset(data: bytes) -> str | None:
    """The encoding that a page says it is in."""
    found = _CHARSET.search(data[:4096])
    return None if found is None else found[1].decode("ascii", "replace").lower()
