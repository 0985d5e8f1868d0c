"""Names as an attacker would choose them, and rules that no output may break, whatever the names in it are.

Each name begins with what it tries, for some tricks only work at the beginning of a line or a cell. The rules know
nothing of how the project escapes: they look at bytes, or ask a parser of the format.
"""

from __future__ import annotations

import csv
import io
import re
import unicodedata
from collections.abc import Callable
from html.parser import HTMLParser
from xml.etree import ElementTree

from markdown_it import MarkdownIt

__all__ = ["HOSTILE", "ORDINARY", "RULES", "lines"]

HOSTILE = {
    "escape": "\x1b[31;1mred\x1b]0;title\x07",
    "c1": "\x9b2J\x90q\x85next",
    "lines": "\n::error::forged\r##[error]forged\v\f\u2028::warning::forged\u2029rankgauge: passed",
    "github": "::error file=a,line=1::forged",
    "blank": "\u3000 ::set-output name=x::forged",
    "azure": "x ##vso[task.complete result=Succeeded;]",
    "actions": "##[error]forged",
    "teamcity": "##teamcity[buildStatus status='SUCCESS']",
    "bidi": "\u202egnp.exe\u202c\u2066x\u2069\u200f\u200e\u061c",
    "invisible": "ad\u200bmin\u2060\ufeff\u00ad\u3164\U000e0041a\u200db",
    "surrogate": "half\ud800",
    "xml": "]]>\x00\x01\uffff\ufffe",
    "link": "[click](http://evil.example/x) ![pic](http://evil.example/i.png) [a][b] <http://evil.example>",
    "reference": "[b]: http://evil.example",
    "mention": "@octocat (@org/team) #123 org/repo#7 GH-9 !7 www.evil.example me@evil.example",
    "pipe": "|@octocat\\|@octocat`|`@octocat` | x",
    "html": "<script>window.hacked=1</script><img src=x onerror=window.hacked=2>&lt;b&gt;<!--",
    "markup": "```fence\\ *b* _i_ ~~s~~ $x$ `code` \\",
    "heading": "# heading",
    "quote": "> quote",
    "box": "[x] done",
    "latex": "\\input{/etc/passwd} %&#_$^~{}\\end{tabular}",
    "option": "[1cm]*|",
    "formula": '=HYPERLINK("http://evil.example","x")',
    "plus": "+1+1",
    "minus": "-2+3",
    "at": "@SUM(1)",
    "tab": "\t=1+1",
    "wide": "＝1+1",
    "template": "{{ 7*7 }} {measure} %s {0} [red]x[/red]",
    "argument": "`missing='\\x1b[31m\\n::error::forged'`",
}
ORDINARY = ["文档一", "مستند", "می‌خواهم", "👩🏽‍🚀", "❤️", "क्‍ष", "été", "doc-1_a.b"]
"""Shown as they are."""

_TURNING = set("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
_UNSEEN = set("\u00ad\u200b\u2060\u3164\ufeff\U000e0041")
_FOLD = re.compile(r"<details>\n<summary>[\w ]+</summary>\n|</details>\n?")
"""The only HTML of our Markdown, in words of our own."""
_LINKED = re.compile(r"(?:^|[^\w])@\w|\w@\w+\.\w|(?:^|[^\w])[#!]\d|\bGH-\d|://|\bwww\.", re.ASCII)


def lines(text: str, *, folded: bool = False) -> None:
    """Plain text for people: nothing that steers a terminal, no command to a CI service, and no line but ours unless
    long ones were folded."""
    for character in text:
        assert character == "\n" or unicodedata.category(character) not in ("Cc", "Cs", "Cn", "Zl", "Zp"), ascii(text)
        assert character not in _TURNING | _UNSEEN, ascii(text)
    assert not [line for line in text.split("\n") if re.match(r"\s*::[a-zA-Z]", line)]
    assert not re.search(r"##(vso|teamcity)?\[", text, re.IGNORECASE)
    assert folded or not re.search(r"^(?:rankgauge: passed|forged|next)", text, re.MULTILINE)


def markdown(text: str) -> None:
    """Nothing that a page of GitHub or GitLab makes a link, a picture, a person or an element of."""
    lines(text)
    parsed = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"]).parse(text)
    kinds = {"link_open", "image", "html_inline", "html_block", "fence", "code_block", "blockquote_open", "em_open"}
    kinds |= {"s_open", "ordered_list_open", "hr"}
    for token in parsed:
        if token.type == "html_block" and _FOLD.fullmatch(token.content):
            continue
        assert token.type not in kinds, token.content
        assert token.type != "heading_open" or token.tag == "h3"
        for inner in token.children or ():
            assert inner.type not in kinds, token.content
            assert inner.type != "text" or not _LINKED.search(inner.content), (inner.content, token.content)
    for table in re.split(r"\n\n", text):
        rows = [line for line in table.split("\n") if line.startswith("|")]
        assert len({len(re.findall(r"(?<!\\)(?:\\\\)*\|", row)) for row in rows}) <= 1, rows


def latex(text: str) -> None:
    """Rows of a table with the same number of cells, and no command but ours."""
    lines(text)
    ours = (
        r"\\(?:textbackslash|textasciitilde|textasciicircum|textasciigrave|textquotesingle|textless|textgreater|textbar"
        r"|ldots)\{\}"
    )
    signs = r"\$(?:-|\\(?:rightarrow|downarrow|infty|times|pm|geq|leq|alpha|tau))\$"
    alone = {"", r"\begin{table}", r"\centering", r"\label{tab:rankgauge}", r"\end{table}", r"\toprule", r"\midrule"}
    alone |= {r"\bottomrule", r"\end{tabular}"}
    width = None
    for line in text.split("\n"):
        if line.startswith("%") or line in alone:
            continue
        if caption := re.fullmatch(r"\\caption\{(.*)\}", line):
            left = re.sub(rf"{ours}|{signs}|\\[&%$#_{{}}]|{{}}", "", caption[1])
            assert not re.search(r"[\\#$%^~{}_&]", left), line
            continue
        if line.startswith(r"\begin{tabular}{"):
            width = len(line.removeprefix(r"\begin{tabular}{").rstrip("}"))
            continue
        assert line.endswith(r" \\"), line
        assert not line.lstrip().startswith(("[", "*")), line
        cells = re.sub(r"\\(?:textbf|textsuperscript)\{([\w.]+)\}", r"\1", line.removesuffix(r" \\"))
        left = re.sub(rf"{ours}|{signs}|\\[&%$#_{{}}]|{{}}", "", cells)
        assert not re.search(r"[\\#$%^~{}_]", left), line
        assert left.count("&") + 1 in (1, width), line


def table(text: str) -> None:
    """CSV that a spreadsheet shows as it is."""
    lines(text)
    rows = list(csv.reader(io.StringIO(text, newline="")))
    assert len({len(row) for row in rows}) == 1
    for cell in (cell for row in rows for cell in row if cell not in ("", "-")):
        if unicodedata.normalize("NFKC", cell.lstrip())[:1] in ("=", "+", "-", "@"):
            float(cell)


def xml(text: str) -> None:
    """Well-formed, and clean once it is read."""
    for element in ElementTree.fromstring(text.encode()).iter():
        for part in (element.text or "", *element.attrib.values()):
            lines(part)


class _Elements(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.said: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        assert not [name for name, _ in attrs if name.startswith("on")]
        self.said += [value or "" for name, value in attrs if name in ("title", "aria-label")]

    def handle_data(self, data: str) -> None:
        if self.tags[-1:] not in (["script"], ["style"]):
            self.said.append(data)


def html(text: str) -> None:
    """No element of a name's, and no text that turns or hides."""
    found = _Elements()
    found.feed(text)
    assert found.tags.count("script") in (0, 4)
    assert "img" not in found.tags
    for said in found.said:
        assert not (_TURNING | _UNSEEN | set("\x1b\x9b\x00")) & set(said)
    text.encode()


def trec_lines(text: str) -> None:
    """As `lines`, but for the tabs between the columns."""
    assert all(line.count("\t") == 2 for line in text.splitlines())
    lines(text.replace("\t", " "))


RULES: dict[str, Callable[[str], None]] = {
    "terminal": lines,
    "markdown": markdown,
    "latex": latex,
    "csv": table,
    "html": html,
    "notebook": html,
    "junit": xml,
    "trec_eval": trec_lines,
}
