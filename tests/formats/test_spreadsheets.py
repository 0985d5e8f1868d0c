"""Sheets that went through a spreadsheet: what was guarded comes back, what was changed is found."""

from __future__ import annotations

import csv
import io
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankgauge.errors import FormatError
from rankgauge.formats.sources import Source
from rankgauge.formats.spreadsheets import changed_by_spreadsheet, guarded, read_sheet, render_sheet, unguarded
from tests.testsets.spreadsheet import through_excel

IDS = [
    *(
        "1234567890123456",
        "007",
        "1e5",
        "3E8",
        "1-2",
        "2024-05-01",
        "MAR1",
        "Sept2",
        "jan-5",
        "12:30",
        "5%",
        "$5",
        "1/2",
    ),
    *("true", "FALSE", "=1+1", "+x", "-x", "@x", "\uff1d1", "'quoted'", "''", " blank", "blank ", "1,5", "1.50", "nan"),
    *("d1", "doc_7", "\u6587\u6863", "3\u67084\u65e5", "a,b", "a;b", 'a"b', "a\tb", "https://x.org/?a=1", "_x"),
]


@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_ids_survive_a_spreadsheet(separator: str, tmp_path: Path) -> None:
    path = tmp_path / "sheet.csv"
    path.write_bytes(
        through_excel(render_sheet([["id", "n"], *([guarded(one, exact=True), "1"] for one in IDS)]), separator)
    )
    _, rows = read_sheet(Source(path))
    assert [unguarded(cells[0]) for _, cells in rows] == IDS


def test_unguarded_ids_are_changed_and_found() -> None:
    """Else the test above would show nothing."""
    plain = ["1234567890123456", "1e5", "1-2", "2024-05-01", "MAR1", "12:30"]
    cells = [row[0] for row in csv.reader(io.StringIO(through_excel(render_sheet([[one] for one in plain])).decode()))]
    assert all(after != before for before, after in zip(plain[:2], cells[:2], strict=True))
    assert [changed_by_spreadsheet(cell) for cell in cells] == ["number", "number", *["date"] * 4]


@pytest.mark.parametrize(
    ("cell", "kind"),
    [
        *((text, "number") for text in ("1.23E+15", "1,23E+15", "1E5", "-2.5e-07")),
        *((text, "date") for text in ("01.02.2024", "2-Jan", "Jan-24", "2. Jan", "3/4/2024", "12:30:00", "12:30 PM")),
        *((text, "date") for text in ("2024\u5e743\u67084\u65e5", "3\u67084\u65e5", "M\u00e4r-05", "05-f\u00e9vr")),
        *(
            (text, None)
            for text in ("d1", "1", "007", "E5", "1E", "abc-1", "decoy 12", "marble-1", "12-abc", "1.5", "")
        ),
    ],
)
def test_what_a_spreadsheet_made(cell: str, kind: str | None) -> None:
    assert changed_by_spreadsheet(cell) == kind


@given(st.text(min_size=1, max_size=20))
def test_texts_are_no_formulas(text: str) -> None:
    for cell in (guarded(text), guarded(text, exact=True)):
        assert not re.match(r"\s*[=+\-@\uff1d\uff0b\uff0d\uff20]", cell)
    assert unguarded(guarded(text, exact=True)) == text
    assert "\n" not in guarded(text)


@given(
    st.lists(
        st.lists(st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=8), min_size=2, max_size=4),
        min_size=1,
        max_size=5,
    )
)
def test_rows_come_back(rows: list[list[str]]) -> None:
    rows = [["head", "b"], *([f"x{row[0]}", *row[1:]] for row in rows)]
    found = read_bytes(render_sheet(rows))
    assert [found[0], *(cells for _, cells in found[1])] == rows


def read_bytes(data: bytes) -> tuple[list[str], list[tuple[int, list[str]]]]:
    return read_sheet(Source("-", stdin=io.BytesIO(data)))


@pytest.mark.parametrize(
    ("data", "rows"),
    [
        (b"a;b\r\n1;2\r\n", [(2, ["1", "2"])]),
        (b"sep=;\r\na;b\r\n1;2\r\n", [(3, ["1", "2"])]),
        (b"a\tb\n\n1\t2,5\n", [(3, ["1", "2,5"])]),
        ("\ufeffa\tb\r\n1\t2\r\n".encode("utf-16"), [(2, ["1", "2"])]),
        (b'a,b\n"x\ny",2\n3,4\n', [(2, ["x\ny", "2"]), (3, ["3", "4"])]),
        (b'"a;x",b\n1,2\n,\n', [(2, ["1", "2"])]),
        (b"a,b", []),
    ],
)
def test_what_spreadsheets_write(data: bytes, rows: list[tuple[int, list[str]]]) -> None:
    assert read_bytes(data)[1] == rows


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "the file is empty"),
        (b"\r\n;;\r\n", "the file is empty"),
        ("等级,备注".encode("gb18030"), "not UTF-8; .*CSV UTF-8"),
        (b"a,b\n1,\0\n", "line 2|:2: "),
        (b"PK\x03\x04" + b"\0" * 26 + b"[Content_Types].xml", "Excel workbook"),
    ],
)
def test_what_is_no_sheet(data: bytes, words: str) -> None:
    with pytest.raises(FormatError, match=words):
        read_bytes(data)
