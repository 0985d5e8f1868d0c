"""BRIGHT: Parquet files `examples/DOMAIN-*.parquet` with query, id, gold_ids and excluded_ids, and
`documents/DOMAIN-*.parquet` with id and content."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from rankgauge.benchmarks.catalogue import Benchmark
from rankgauge.benchmarks.material import Document, Material
from rankgauge.benchmarks.places import Place
from rankgauge.benchmarks.rows import parquet_rows, text_of
from rankgauge.errors import Fault, FormatError

__all__ = ["read_bright"]

_NONE = "N/A"
"""What stands in place of an id where there is none."""


def read_bright(benchmark: Benchmark, place: Place) -> Material:
    """The queries of a domain with their gold documents, and those that do not count for them."""
    patterns = [f"examples/{benchmark.split}-*.parquet", f"examples/{benchmark.split}.parquet"]
    examples = place.found(patterns)
    if not examples:
        raise place.lacks(patterns, "queries")
    documents = place.found([f"documents/{benchmark.split}-*.parquet", f"documents/{benchmark.split}.parquet"])
    queries, grades, excluded = {}, {}, {}
    for path in examples:
        for number, row in parquet_rows([path], ["id", "query", "gold_ids", "excluded_ids"]):
            own = text_of(row["id"], path, number, "query")
            queries[own] = str(row["query"])
            grades[own] = dict.fromkeys(_ids(row["gold_ids"], path, number), 1.0)
            apart = _ids(row["excluded_ids"], path, number)
            if both := [doc for doc in apart if doc in grades[own]]:
                said = f"document {both[0]!r} of query {own!r} is relevant and excluded"
                raise FormatError(str(path), [Fault(f"row {number}: {said}")])
            if apart:
                excluded[own] = apart
    read = (lambda: _documents(documents)) if documents else None
    return Material(grades, queries, read, excluded=excluded)


def _ids(value: object, path: Path, number: int) -> list[str]:
    if not isinstance(value, list):
        raise FormatError(str(path), [Fault(f"row {number}: ids must be a list, not {value!r}"[:200])])
    return [str(doc) for doc in value if doc != _NONE]


def _documents(paths: list[Path]) -> Iterator[Document]:
    for path in paths:
        for number, row in parquet_rows([path], ["id", "content"]):
            yield Document(text_of(row["id"], path, number, "document"), "", str(row["content"]))
