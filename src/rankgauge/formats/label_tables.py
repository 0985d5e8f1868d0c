"""Labels as tables: CSV, TSV and Parquet with a column each for query, document, grade and, where it is there, judge,
kind, time, rubric, reason and aspect."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rankgauge.errors import DataError, Fault, FormatError
from rankgauge.formats.detect import Format
from rankgauge.formats.sources import Source
from rankgauge.formats.tables import read_table
from rankgauge.model.frames import named_columns
from rankgauge.model.labels import Label

__all__ = ["read_label_table"]

_OTHERS = ("judge", "kind", "time", "rubric", "reason", "aspect")


def read_label_table(source: Source, form: Format, judge: str) -> list[Label]:
    """The labels of the rows that have a grade; those without one are not judged yet. Where no column says who judged,
    it is `judge`."""
    table = named_columns(read_table(source, form), ("query", "doc", "grade"), source.name, _OTHERS)
    found: list[Label] = []
    faults: list[str | Fault] = []
    for number, row in enumerate(table.iter_rows(named=True), start=1 if form == "parquet" else 2):
        cells = {name: "" if value is None else value for name, value in row.items()}
        if isinstance(cells["grade"], str) and not cells["grade"].strip():
            continue
        try:
            found.append(_label(cells, judge))
        except DataError as error:
            faults.append(Fault(str(error), number))
    if faults:
        raise FormatError(source.name, faults)
    return found


def _label(cells: Mapping[str, Any], judge: str) -> Label:
    texts = {name: str(cells.get(name, "")).strip() for name in ("query", "doc", *_OTHERS)}
    said = cells["grade"]
    if isinstance(said, str) and said.count(",") == 1 and "." not in said:
        said = said.replace(",", ".")  # as Excel writes it where semicolons separate
    try:
        grade = float(said)
    except (TypeError, ValueError):
        raise DataError(f"the grade {cells['grade']!r} is no number") from None
    given = {name: text for name, text in texts.items() if text}
    if missing := [name for name in ("query", "doc") if name not in given]:
        raise DataError(f"the {missing[0]} id is missing")
    values: dict[str, Any] = {"judge": judge, **given, "grade": grade}
    return Label(**values)
