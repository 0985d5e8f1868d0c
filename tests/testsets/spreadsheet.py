"""What Excel does to a CSV file that is opened by a double click and saved again, as far as it concerns ids."""

from __future__ import annotations

import csv
import io
import re

__all__ = ["through_excel"]

_MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]


def through_excel(data: bytes, separator: str = ",", *, keep: dict[int, str] | None = None) -> bytes:
    """The file as it is saved: cells that look like numbers, dates or truth values are, formulas are computed, and
    blanks around numbers go. `keep` fills in a column, by its place."""
    rows = list(csv.reader(io.StringIO(data.decode("utf-8-sig"), newline="")))
    for number, row in enumerate(rows):
        for place, text in (keep or {}).items():
            if number:
                row[place] = text
    buffer = io.StringIO()
    csv.writer(buffer, delimiter=separator, lineterminator="\r\n").writerows(
        [_cell(one) for one in row] for row in rows
    )
    return buffer.getvalue().encode()


def _cell(text: str) -> str:
    bare = text.strip()
    if re.match(r"[=+@]|-\D", bare):
        return "#NAME?"
    if bare.lower() in ("true", "false"):
        return bare.upper()
    if re.fullmatch(r"[+-]?\d+(\.\d*)?(e[+-]?\d+)?", bare, re.IGNORECASE):
        number = float(bare)
        return f"{number:.5E}" if abs(number) >= 1e11 or "e" in bare.lower() else f"{number:g}"
    if found := re.fullmatch(r"(\d{1,2})[-/](\d{1,2})", bare):
        return f"{found[2]}-{_MONTHS[min(int(found[1]), 12) - 1].title()}"
    if found := re.fullmatch(r"(\d{4})-(\d{2})-(\d{2})", bare):
        return f"{int(found[3])}/{int(found[2])}/{found[1]}"
    if found := re.fullmatch(rf"({'|'.join(_MONTHS)})[a-z]*[- ]?(\d{{1,2}})", bare, re.IGNORECASE):
        return f"{found[2]}-{found[1].title()}"
    if re.fullmatch(r"\d{1,2}:\d\d", bare):
        return f"{bare}:00"
    if found := re.fullmatch(r"(\d+)%", bare):
        return f"{int(found[1])}%"
    return text
