"""Pools as JSON Lines: {"query": "q1", "doc": "d1", "systems": ["bm25", "dense"], "rank": 3}."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from rankgauge.arguments import named_arguments
from rankgauge.errors import DataError, Fault, FormatError
from rankgauge.formats.json_values import dump_lines, id_of, read_json_lines
from rankgauge.formats.sources import Source, write_whole
from rankgauge.model.pool import Pool, PooledPair

__all__ = ["load_pool", "save_pool"]


@named_arguments
def load_pool(path: str | os.PathLike[str]) -> Pool:
    """A pool from JSON Lines."""
    source = Source(path)
    found, faults = [], list[str | Fault]()
    for number, item in read_json_lines(source):
        try:
            found.append(_pair(item))
        except DataError as error:
            faults.append(Fault(str(error), number))
    if faults:
        raise FormatError(source.name, faults)
    return Pool(found, name=source.name)


def _pair(item: Any) -> PooledPair:
    if not isinstance(item, Mapping) or not {"query", "doc"} <= set(item):
        raise DataError('a line of a pool is an object such as {"query": "q1", "doc": "d1"}')
    systems, rank = item.get("systems", []), item.get("rank")
    if not isinstance(systems, list) or not all(isinstance(name, str) for name in systems):
        raise DataError('"systems" must be a list of names')
    if rank is not None and (isinstance(rank, bool) or not isinstance(rank, int) or rank < 1):
        raise DataError(f'"rank" must be a whole number from 1, not {rank!r}')
    return PooledPair(id_of(item["query"], "query"), id_of(item["doc"], "document"), tuple(systems), rank)


@named_arguments
def save_pool(pool: Pool, path: str | os.PathLike[str]) -> None:
    """Write a pool as JSON Lines, whole or not at all."""
    items = [{"query": one.query, "doc": one.doc, "systems": list(one.systems), "rank": one.rank} for one in pool]
    write_whole(path, dump_lines(items))
