"""Damaged cells, told by table, row and column, all together, with what can be done about them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice
from typing import cast

from rankgauge.errors import FormatError
from rankgauge.history.cells import Bytes, Cell, DamagedCellError
from rankgauge.history.location import Location
from rankgauge.history.schema import metadata
from rankgauge.history.sql import sa
from rankgauge.words.visible import shortened

__all__ = ["REMEDY", "damage_told"]

REMEDY = (
    "the database is damaged: restore a copy of it; or keep what can be read (rankgauge history export --all "
    "--skip-damaged -o records.jsonl) and add it to a new history; or delete what is damaged"
)
_MOST = 20
_AT_ONCE = 500
_NAMED = 60


@contextmanager
def damage_told(location: Location, connection: sa.Connection) -> Iterator[None]:
    """In a transaction: where a cell turns out to be damaged, say which ones are."""
    try:
        yield
    except DamagedCellError as error:
        found = list(islice(_damaged_cells(connection), _MOST)) or [str(error)]
        raise FormatError(str(location), found, hint=REMEDY) from None


def _damaged_cells(connection: sa.Connection) -> Iterator[str]:
    for table in metadata.sorted_tables:
        cells = [
            # The beginning of a document tells what it is, and takes no memory.
            sa.func.substr(column, 1, 1) if isinstance(column.type, Bytes) else column
            for column in table.c
        ]
        raw = sa.select(*(sa.type_coerce(cell, sa.types.NullType()) for cell in cells))
        for row in connection.execute(raw.execution_options(yield_per=_AT_ONCE)):
            found = dict(zip(table.c.keys(), row, strict=True))
            for column in table.c:
                fault = cast(Cell[object], column.type).fault(found[column.name])
                if fault is not None:
                    names = ", ".join(
                        f"{key.name} = {shortened(repr(found[key.name])[: 4 * _NAMED], _NAMED)}"
                        for key in table.primary_key
                    )
                    yield f"table {table.name}, row {names}: {column.name} {fault}"
