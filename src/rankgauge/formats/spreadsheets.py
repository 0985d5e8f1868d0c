"""Sheets that people fill in with Excel, WPS, LibreOffice or Google Sheets, and that come back whole.

A spreadsheet runs what looks like a formula, turns ids into dates and numbers, and rewrites separators, ends of lines
and encodings. So a cell that it would not leave alone gets a ' in front, which goes again when the sheet is read, and
ids that were changed all the same are found.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Sequence
from typing import Final
from unicodedata import normalize

from rankgauge.errors import Fault, FormatError
from rankgauge.formats.sources import Source, not_utf8
from rankgauge.visible import visible

__all__ = ["MOST_TEXT", "SEPARATORS", "changed_by_spreadsheet", "guarded", "read_sheet", "render_sheet", "unguarded"]

SEPARATORS: Final = {"comma": ",", "semicolon": ";", "tab": "\t"}
MOST_TEXT: Final = 32_000
"""Characters: Excel cuts a cell after 32,767."""
_HEADER: Final = 1 << 20
"""Characters among which the header is."""
_MONTH: Final = (
    "(?:jan(?:uary|v)?|feb(?:ruary)?|févr|fev|mar(?:ch|s|z)?|märz?|mrz|mrt|apr(?:il)?|avr|abr|may|mai|maj|mei|mag|june?|"
    "juin|giu|july?|juil|lug|aug(?:ust)?|août|ago|sept?(?:ember)?|set|o[ck]t(?:ober)?|ott|out|nov(?:ember)?|de[cz]|"
    "december|déc|dic|ene|gen)"
)
"""As Excel knows them in English, German, French, Spanish, Italian, Portuguese, Dutch and Polish."""
_GUARDED: Final = re.compile(
    rf"\W|\d|(?:true|false|wahr|falsch|vrai|faux|inf|nan|na|null|none)$|{_MONTH}[-/. ]?\d",
    re.IGNORECASE,
)
"""Beginnings of cells that a spreadsheet may not leave alone: signs, digits, words for truth, months."""
_NUMBER: Final = re.compile(r"[+-]?\d+(?:[.,]\d+)?E[+-]?\d+", re.IGNORECASE)
_DATE: Final = re.compile(
    rf"\d{{1,4}}([-/.])\d{{1,2}}\1\d{{1,4}}|\d{{1,2}}(?:[-/. ]|\. ){_MONTH}\.?(?:[-/. ]\d{{2,4}})?"
    rf"|{_MONTH}\.?[-/. ]\d{{1,4}}"
    r"|\d{1,2}:\d\d(?::\d\d)?(?: ?[AP]M)?|(?:\d{4}\u5e74)?\d{1,2}\u6708(?:\d{1,2}\u65e5)?",
    re.IGNORECASE,
)


def guarded(text: str, *, exact: bool = False) -> str:
    """A cell that a spreadsheet takes for a text. With `exact`, for ids, it comes back as it was: whatever might become
    a number, a date or a truth value is guarded too."""
    if exact:
        return f"'{text}" if _GUARDED.match(text) or text != text.strip() else text
    shown = visible(text)
    first = normalize("NFKC", shown.lstrip()[:1])  # full-width signs count too
    return f"'{shown}" if first and first in "=+-@'" else shown


def unguarded(text: str) -> str:
    """What the cell said before it was guarded."""
    return text[1:] if text.startswith("'") else text.strip()


def changed_by_spreadsheet(cell: str) -> str | None:
    """What a spreadsheet made of an id: `number` or `date`; None where it seems to be as it was written."""
    text = cell.strip()
    if _NUMBER.fullmatch(text):
        return "number"
    return "date" if _DATE.fullmatch(text) else None


def render_sheet(rows: Iterable[Sequence[str]], separator: str = ",") -> bytes:
    """Rows as Excel opens them by a double click: UTF-8 with its mark, CRLF; every row is one line."""
    buffer = io.StringIO()
    csv.writer(buffer, delimiter=separator, lineterminator="\r\n").writerows(rows)
    return b"\xef\xbb\xbf" + buffer.getvalue().encode("utf-8", "backslashreplace")


def read_sheet(source: Source) -> tuple[list[str], list[tuple[int, list[str]]]]:
    """The header and the rows with their numbers as a spreadsheet shows them; blank rows are left out."""
    text = _text(source)
    first, _, rest = text.partition("\n")
    rows_before = 0
    if named := re.fullmatch(r"sep=([,;|\t])\s*", first, re.IGNORECASE):  # Excel's own way to name it
        text, separator, rows_before = rest, named[1], 1
    else:
        separator = _separator(text)
    found: list[tuple[int, list[str]]] = []
    try:
        for number, row in enumerate(csv.reader(io.StringIO(text, newline=""), delimiter=separator), rows_before + 1):
            if any(cell.strip() for cell in row):
                found.append((number, row))
    except csv.Error as error:
        raise FormatError(source.name, [f"this is no table of cells: {error}"]) from None
    if not found or not text.strip(",;\t\r\n "):
        raise FormatError(source.name, ["the file is empty"])
    return found[0][1], found[1:]


def _text(source: Source) -> str:
    data = source.read()
    try:
        if data[:2] in (b"\xff\xfe", b"\xfe\xff"):  # what Excel calls Unicode text
            return data.decode("utf-16")
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        raise FormatError(source.name, [f"{not_utf8(data)}; or save it as CSV UTF-8"]) from None
    if "\0" in text:
        line = text.count("\n", 0, text.index("\0")) + 1
        raise FormatError(source.name, [Fault("a character of code 0; save the sheet as CSV UTF-8", line)])
    return text


def _separator(text: str) -> str:
    """That which the header has most of outside quotation marks."""
    bare = re.sub(r'"(?:[^"]|"")*"', '""', text[:_HEADER])
    header = next((line for line in bare.split("\n") if line.strip(",;\t\r ")), "")
    return max((",", ";", "\t"), key=header.count)
