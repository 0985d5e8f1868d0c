"""`spark.run_retriever`: queries in partitions, each asked of a retriever that is made where the partition is."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any

import polars as pl

from rankgauge.arguments import named_arguments
from rankgauge.errors import DataError, RankgaugeError
from rankgauge.retrievers.answers import RetrievalResult
from rankgauge.retrievers.runner import run_queries
from rankgauge.retrievers.work import CallSettings
from rankgauge.spark.columns import query_columns
from rankgauge.spark.failures import told
from rankgauge.spark.partitions import arrow
from rankgauge.spark.session import check_spark, check_version

__all__ = ["run_retriever"]

_FIELDS = "query_id string, doc_id string, score double, rank int, latency double, error string"
_KINDS = {"string": pl.String, "double": pl.Float64, "int": pl.Int32}
_SCHEMA = {name: _KINDS[kind] for name, kind in map(str.split, _FIELDS.split(", "))}
_BATCH = 100_000  # rows that go back at once


@named_arguments
def run_retriever(
    df_queries: Any,
    make_retriever: Callable[[], Any],
    k: int | None = 10,
    *,
    concurrency: int = 1,
    timeout: float = 30.0,
    retries: int = 2,
    backoff: float = 0.5,
    max_failed: float = 0.05,
    partitions: int | None = None,
) -> Any:
    """Ask a retriever every query of a Spark DataFrame (query_id, text), in parallel over its partitions.

    `make_retriever` takes nothing and gives a retriever of any kind that `evaluate_retriever` takes; it is called once
    for each partition, on the executor. `concurrency`, `timeout`, `retries`, `backoff` and `max_failed` are those of
    `retrievers.run_queries`, for each partition. The result has a row for each document found: query_id, doc_id, score,
    rank, latency in seconds, error. A query that failed, or that found nothing, has one row without a document, and
    counts as an empty list in `spark.evaluate`. As with any DataFrame, every use of it asks again: write it to Parquet
    first.
    """
    check_spark()
    CallSettings(k, concurrency, timeout, retries, backoff, max_failed).check()
    if not callable(make_retriever):
        raise DataError(f"`make_retriever` must be a function that makes a retriever, not {make_retriever!r}")
    queries = query_columns(df_queries)
    check_version(df_queries.sparkSession)
    if partitions is not None:
        queries = queries.repartition(partitions)
    limits = {"concurrency": concurrency, "timeout": timeout, "retries": retries, "backoff": backoff}
    with told("the queries could not be divided"):
        return queries.mapInArrow(Asking(make_retriever, k, {**limits, "max_failed": max_failed}), _FIELDS)


@dataclass(frozen=True)
class Asking:
    """Asks all queries of a partition."""

    make: Callable[[], Any]
    k: int | None
    limits: dict[str, Any]

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        queries: dict[str, str] = {}
        for batch in batches:
            for query, text in zip(*(column.to_pylist() for column in batch.columns), strict=True):
                if query is None or text is None:
                    raise RankgaugeError(f"query {query!r} with text {text!r}: both an id and a text are needed")
                if queries.setdefault(query, text) != text:
                    raise RankgaugeError(f"query {query!r} has two texts; keep one")
        if queries:
            result = run_queries(self.make(), queries, self.k, **self.limits)
            rows = _rows(result, queries)
            while part := list(islice(rows, _BATCH)):
                yield from arrow(pl.DataFrame(part, _SCHEMA, orient="row"))


def _rows(result: RetrievalResult, queries: Iterable[str]) -> Iterator[tuple[Any, ...]]:
    """Every query has a row at least, also one that was not asked since the retriever had been given up."""
    answers = {answer.query: answer for answer in result.answers}
    for query in queries:
        answer = answers.get(query)
        if answer is None:
            yield query, None, None, None, None, "not asked: too many queries had failed before"
        elif not answer.hits or answer.error is not None:
            yield query, None, None, None, answer.seconds, answer.error
        else:
            for rank, hit in enumerate(answer.hits, start=1):
                yield query, hit.id, float(hit.score), rank, answer.seconds, None
