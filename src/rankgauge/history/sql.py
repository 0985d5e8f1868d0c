"""SQLAlchemy, which the history alone needs: imported in one place, so that one place says how to get it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rankgauge.extras import check_installed

check_installed("sqlalchemy", "the history", "SQLAlchemy", "guard")

import sqlalchemy as sa  # noqa: E402

__all__ = ["Connection", "insert_once", "sa"]

Connection = sa.Connection
"""An open transaction, for callers that pass it on and write no SQL themselves."""


def insert_once(connection: sa.Connection, table: sa.Table, row: Mapping[str, Any], unique: list[str]) -> int | None:
    """Insert a row and give its id, or None where one with the same `unique` columns is there: that one stays."""
    if connection.dialect.name == "postgresql":
        from sqlalchemy.dialects.postgresql import insert
    else:
        from sqlalchemy.dialects.sqlite import insert  # type: ignore[assignment]
    wanted = insert(table).values(**row).on_conflict_do_nothing(index_elements=unique)
    number = connection.execute(wanted.returning(table.c.id)).scalar()
    return None if number is None else int(number)
