"""LitSearch: Parquet files `query/*.parquet` with query, specificity and corpusids, and `corpus_clean/*.parquet` with
corpusid, title and abstract.

A query has no id of its own; it is the number of its row. Specific and broad queries are measured apart, so they are
tags.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from rankgauge.benchmarks.catalogue import Benchmark
from rankgauge.benchmarks.material import Document, Material
from rankgauge.benchmarks.places import Place
from rankgauge.benchmarks.rows import parquet_rows, text_of
from rankgauge.errors import Fault, FormatError

__all__ = ["read_litsearch"]

_TAGS = {0: "broad", 1: "specific"}


def read_litsearch(benchmark: Benchmark, place: Place) -> Material:
    """All queries with the papers that answer them."""
    asked = place.found(["query/*.parquet"])
    if not asked:
        raise place.lacks(["query/*.parquet"], "queries")
    documents = place.found(["corpus_clean/*.parquet"])
    queries: dict[str, str] = {}
    grades: dict[str, dict[str, float]] = {}
    tags: dict[str, tuple[str, ...]] = {}
    for path in asked:
        for number, row in parquet_rows([path], ["query", "specificity", "corpusids"]):
            own = f"q{len(queries) + 1}"
            queries[own] = str(row["query"])
            if row["specificity"] not in _TAGS:
                said = f"row {number}: the specificity is {row['specificity']!r}, not 0 or 1"
                raise FormatError(str(path), [Fault(said)])
            tags[own] = (_TAGS[row["specificity"]],)
            grades[own] = {text_of(doc, path, number, "document"): 1.0 for doc in row["corpusids"] or ()}
    return Material(grades, queries, (lambda: _documents(documents)) if documents else None, tags)


def _documents(paths: list[Path]) -> Iterator[Document]:
    for path in paths:
        for number, row in parquet_rows([path], ["corpusid", "title", "abstract"]):
            own = text_of(row["corpusid"], path, number, "document")
            yield Document(own, row["title"] or "", row["abstract"] or "")
