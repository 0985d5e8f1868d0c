"""CSV: one table with plain numbers, since that is what a spreadsheet reads from a file; further tables are files of
their own."""

from __future__ import annotations

from typing import Any

from rankgauge.errors import DataError
from rankgauge.reports import tables
from rankgauge.reports.cells import Look, told, written
from rankgauge.reports.document import Report, Table
from rankgauge.words import Language

__all__ = ["companions", "render"]


def render(report: Report, *, language: Language = "en", digits: int = 4, **_: Any) -> str:
    """The main table."""
    if not report.data:
        raise DataError("there is no table of figures for programs in this report; choose another format")
    return _csv(next(iter(report.data.values())), digits)


def companions(report: Report, path: str, *, digits: int = 4) -> dict[str, str]:
    """What belongs beside a CSV file, by file name: summary-calls.csv beside summary.csv, and so on."""
    ending = next((end for end in (".csv.gz", ".csv.zst", ".csv") if path.lower().endswith(end)), "")
    stem, ending = path[: len(path) - len(ending)], path[len(path) - len(ending) :]
    return {f"{stem}-{name}{ending}": _csv(table, digits) for name, table in list(report.data.items())[1:]}


def _csv(table: Table, digits: int) -> str:
    look = Look(digits=digits, missing="")
    rows = [[written(cell, column.kind, look) for cell, column in zip(row, table.columns, strict=True)]
            for row in table.rows]  # fmt: skip
    return tables.render_csv(tables.Table([told(column.head, look) for column in table.columns], rows))
