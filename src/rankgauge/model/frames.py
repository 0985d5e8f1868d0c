"""Columns from whatever the caller has: polars, pandas or pyarrow frames, all turned into polars without a change."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rankgauge.errors import DataError

if TYPE_CHECKING:
    import polars as pl

__all__ = ["ID_COLUMNS", "column_roles", "frame_of_rows", "is_frame", "named_columns", "to_polars"]

ID_COLUMNS: Mapping[str, Sequence[str]] = json.loads((Path(__file__).parent / "column_names.json").read_text("utf-8"))
"""The names that people give each column."""


def is_frame(value: Any) -> bool:
    """Whether a value is a data frame of polars, pandas or pyarrow, told by its looks, so that none is imported."""
    module = type(value).__module__.partition(".")[0]
    return module in ("polars", "pandas", "pyarrow") and hasattr(type(value), "columns")


def to_polars(frame: Any) -> pl.DataFrame:
    """The frame as polars. The caller's object is only read."""
    import polars as pl

    module = type(frame).__module__.partition(".")[0]
    if module == "polars":
        return frame.collect() if isinstance(frame, pl.LazyFrame) else frame
    if module == "pyarrow":
        return pl.DataFrame(pl.from_arrow(frame))
    names = [str(name) for name in frame.columns]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise DataError(f"the data frame has two columns named {twice[0]!r}; rename one")
    # Column by column: pandas' text columns come as objects, which polars reads without needing pyarrow.
    return pl.DataFrame({str(name): _pandas_column(frame[name]) for name in frame.columns}, strict=False)


def _pandas_column(column: Any) -> Any:
    import polars as pl

    if column.dtype.kind in "iufb":
        return pl.Series(column.to_numpy())
    values = [None if value is None or value != value else value for value in column.tolist()]
    return pl.Series(values, strict=False)


def frame_of_rows(source: Any, where: str) -> pl.DataFrame | None:
    """Columns from named tuples, one for each row, as ir_measures and ir_datasets have them; None for all else."""
    if isinstance(source, str | bytes) or not isinstance(source, Iterable):
        return None
    rows = list(source)
    kinds = {tuple(getattr(row, "_fields", ())) if isinstance(row, tuple) else () for row in rows}
    if not rows or kinds == {()}:
        return None
    if len(kinds) > 1:
        raise DataError(f"{where}: the rows are of several kinds; give all of them the same names")
    import polars as pl

    columns = zip(kinds.pop(), zip(*rows, strict=True), strict=True)
    return pl.DataFrame({name: pl.Series(values, strict=False) for name, values in columns})


def named_columns(frame: pl.DataFrame, wanted: Sequence[str], where: str, optional: Sequence[str] = ()) -> pl.DataFrame:
    """The wanted columns under their own names, found by any name people give them."""
    found = column_roles(frame.columns, wanted, where, optional)
    return frame.select([frame[name].alias(role) for role, name in found.items()])


def column_roles(
    names: Sequence[str], wanted: Sequence[str], where: str, optional: Sequence[str] = ()
) -> dict[str, str]:
    """Which column has which role."""
    lower = {str(name).strip().casefold(): name for name in names}
    found: dict[str, str] = {}
    for role in (*wanted, *optional):
        free = [lower[alias] for alias in ID_COLUMNS[role] if alias in lower and lower[alias] not in found.values()]
        if free:
            found[role] = free[0]
        elif role in wanted:
            raise DataError(
                f"{where}: no column for {role!r} among {', '.join(map(repr, names)) or 'none'}; "
                f"name one of: {', '.join(ID_COLUMNS[role])}"
            )
    return found
