"""Checks on ids and numbers that hold for every kind of input."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Set
from numbers import Integral
from typing import TYPE_CHECKING, Any

from rankgauge.errors import DataError
from rankgauge.native import native

if TYPE_CHECKING:
    import polars as pl

__all__ = ["as_ids", "as_list", "as_numbers", "check_ids", "check_mapping", "is_plain"]


def as_ids(column: pl.Series, where: str) -> pl.Series:
    """A column of ids as text. Numbers become text; nothing and the empty text are errors."""
    import polars as pl

    if column.dtype != pl.String:
        if column.dtype.is_float() and len(column) and bool((column == column.floor()).all()):
            # A whole-number column that met a gap on its way through pandas: 7.0 was 7.
            column = column.cast(pl.Int64, strict=False)
        try:
            column = column.cast(pl.String)
        except pl.exceptions.PolarsError:
            raise DataError(f"{where}: the {column.name} column holds {column.dtype}, not ids") from None
    bad = column.is_null() | (column == "").fill_null(False)
    if bad.any():
        row = int(bad.arg_max() or 0) + 1
        raise DataError(f"{where}: row {row} has no {column.name} id ({int(bad.sum())} in all)")
    return column


def as_numbers(column: pl.Series, where: str) -> pl.Series:
    """A column of finite float64 numbers."""
    import polars as pl

    numbers = column
    if column.dtype != pl.Float64:
        try:
            numbers = column.cast(pl.Float64, strict=False)
        except pl.exceptions.PolarsError:
            raise DataError(f"{where}: the {column.name} column holds {column.dtype}, not numbers") from None
    bad = numbers.is_null() | ~numbers.is_finite().fill_null(False)
    if bad.any():
        row = int(bad.arg_max() or 0)
        raise DataError(
            f"{where}: row {row + 1}: {column.name} {column[row]!r} is no finite number ({int(bad.sum())} in all)"
        )
    return numbers


def is_plain(source: Mapping[Any, Any]) -> bool:
    """Whether the compiled module finds a dictionary of dictionaries whose ids are texts, which `check_mapping` would
    return as it is; false without the module."""
    module = native()
    return module is not None and module.is_plain(source)


def check_mapping(source: Mapping[Any, Any], where: str, what: str) -> Mapping[str, Mapping[str, float]]:
    """The dictionary itself if its ids are texts, else a copy with ids as text. Values are checked when they are used.

    Only the first id of each query is looked at: looking at each of millions would cost more than scoring them.
    """
    if set(map(type, source.values())) != {dict}:
        for query, docs in source.items():
            if not isinstance(docs, Mapping):
                raise DataError(
                    f"{where}: query {query!r} maps to a {type(docs).__name__}, not to {{document: {what}}}"
                )
    first_ids = map(next, map(iter, filter(None, source.values())))
    if {*map(type, source), *map(type, first_ids)} <= {str}:
        return source
    copy = {
        _id(query, where): {_id(doc, where): value for doc, value in docs.items()} for query, docs in source.items()
    }
    if len(copy) != len(source) or any(len(a) != len(b) for a, b in zip(copy.values(), source.values(), strict=True)):
        raise DataError(f"{where}: two ids are the same once written as text, such as 7 and '7'")
    return copy


def as_list(docs: Any, where: str, query: Any) -> list[Any]:
    """Documents given one after the other: a list, a tuple, an array, a generator."""
    if not isinstance(docs, str | bytes) and isinstance(docs, Iterable) and not isinstance(docs, Set):
        return list(docs.tolist() if hasattr(docs, "tolist") else docs)
    raise DataError(f"{where}: query {query!r} maps to a {type(docs).__name__}, neither a list nor a dictionary")


def check_ids(ids: Iterable[Any], where: str, query: Any, wanted: str) -> None:
    """Raise an error unless each of a list's entries can be an id."""
    for doc in ids:
        if not isinstance(doc, str | Integral):
            raise DataError(f"{where}: query {query!r} lists {doc!r}, which is no document id; give a {wanted}")


def _id(value: Any, where: str) -> str:
    if isinstance(value, str):
        return value
    try:  # whole numbers of any kind, numpy's included
        if not isinstance(value, bool) and math.isfinite(value) and value == int(value):
            return str(int(value))
    except (TypeError, ValueError, OverflowError):
        pass
    raise DataError(f"{where}: the id {value!r} is neither a text nor a whole number")
