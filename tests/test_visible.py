"""Texts from elsewhere, made visible: what is hidden or commands is spelled out, everything else stays."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from rankgauge.reports.renderers import markdown
from rankgauge.visible import uncommanded, visible, visible_lines, visible_message
from tests import hostile

ACTIVE = "`|\\[]()<>@#!*_~$&;:/-.=+'\" \u3000a1xwW中\u202e\x1b"


@pytest.mark.parametrize(
    "text", [*hostile.ORDINARY, "🏴󠁧󠁢󠁥󠁮󠁧󠁿", "1️⃣", "葛󠄀", "nDCG@10", "::1", "C##", "a::b", "日本\u3000語", "x\\y"]
)
def test_ordinary_texts_stay(text: str) -> None:
    assert visible(text) == visible_lines(text) == uncommanded(text) == text


def test_what_it_looks_like() -> None:
    assert visible("a\nb\x1b[31m\u202e\x9b") == "a\\nb\\x1b[31m\\u202e\\x9b"
    assert visible("ad\u200bmin a\u200db 中\u200d文 a\ufe0f ❤\ufe0f\ufe01") == (
        "ad\\u200bmin a\\u200db 中\\u200d文 a\\ufe0f ❤\ufe0f\\ufe01"
    )
    assert visible(" ::error::x ##vso[y]") == " \\x3a:error::x \\x23#vso[y]"
    assert visible_lines("a\n::set-output name=x::y") == "a\n\\x3a:set-output name=x::y"
    assert visible_message("file: 2 faults\n  line 1: x\nforged\n  hint: y") == (
        "file: 2 faults\n  line 1: x\\nforged\n  hint: y"
    )
    assert uncommanded("\x1b[1m::error::\x1b[0m") == "\x1b[1m\\x3a:error::\x1b[0m"


@given(st.text() | st.text(alphabet=ACTIVE + "\u200d\ufe0f👩\U000e0041\ud800\n"))
def test_nothing_hidden_is_left(text: str) -> None:
    shown = visible(text)
    assert visible(shown) == shown
    hostile.lines("".join(c for c in shown if unicodedata.category(c) != "Cn"))  # not assigned yet


@given(st.text(alphabet=ACTIVE, max_size=40), st.text(alphabet=ACTIVE, max_size=20))
def test_markdown_shows_the_text(text: str, other: str) -> None:
    """What a reader sees of any text is that text, in a line, an item, and a cell."""
    parser = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
    text, other = visible(text).strip(), visible(other).strip()
    cells = f"| {markdown._inline(text)} | {markdown._inline(other)} |\n|---|---|\n"
    for source, wanted in (
        (f"{markdown._line(text)}\n", [text]),
        (f"- {markdown._line(text)}\n", [text]),
        (cells, [text, other]),
    ):
        hostile.markdown(source)
        inline = [token.children or [] for token in parser.parse(source) if token.type == "inline"]
        seen = ["".join(inner.content for inner in children) for children in inline]
        # Backquotes around a word make it code, as in texts of our own.
        shown, meant = ([" ".join(one.replace("`", "").split()) for one in listed if one] for listed in (seen, wanted))
        assert [one for one in shown if one] == [one for one in meant if one]
