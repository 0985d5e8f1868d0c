"""Scores of single queries that stay a Spark DataFrame, where the queries are too many for the driver."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from rankgauge.arguments import named_arguments
from rankgauge.engine.averaging import aggregate
from rankgauge.engine.match_frames import FrameMatcher, JudgmentIndex
from rankgauge.engine.scoring import counted_queries
from rankgauge.engine.scoring import score_queries as scored_queries
from rankgauge.errors import ContractError, MeasureError
from rankgauge.evaluation.plan import DEFAULT_MEASURES, Plan, make_plan
from rankgauge.measures import Measure, parse_measure
from rankgauge.model.judgments import Qrels
from rankgauge.model.ranked import RankedGrades
from rankgauge.spark.columns import check_frame, judgment_columns, run_columns
from rankgauge.spark.evaluating import by_query, check_partitions, check_plan
from rankgauge.spark.failures import told
from rankgauge.spark.partitions import JUDGED, ROWS, arrow, frames_of, gather, whole_run
from rankgauge.spark.session import check_spark, check_version

__all__ = ["mean_scores", "score_queries"]


@named_arguments
def score_queries(
    df_run: Any,
    df_qrels: Any,
    measures: str | Measure | Sequence[str | Measure] = DEFAULT_MEASURES,
    *,
    contract: str | Any | None = None,
    ties: str | None = None,
    missing: str | None = None,
    no_relevant: str | None = None,
    duplicates: str | None = None,
    depth: int | None = None,
    rel: float | None = None,
    threshold: float | None = None,
    partitions: int | None = None,
) -> Any:
    """The score of every judged query as a Spark DataFrame: query, and a column for each measure.

    Judgments are divided by query as the run is, so that neither they nor the scores have to fit into the driver. A
    query that does not count for a measure has null there. `mean_scores` gives the means.
    """
    check_spark()
    plan = make_plan(measures, contract, ties, missing, no_relevant, duplicates, depth, rel, threshold)
    check_plan(plan)
    for measure in plan.measures:
        if measure.definition.family == "diversity" or "subtopics" in measure.definition.needs:
            raise MeasureError(f"{measure} needs judgments by subtopic: use `spark.evaluate`")
    check_frame(df_qrels, "df_qrels")
    from pyspark.sql import functions

    judged = judgment_columns(df_qrels, "judgments")
    if "subtopic" in judged.columns:
        judged = judged.groupBy("query", "doc").agg(functions.max("grade").alias("grade"))
    judged = judged.withColumnRenamed("grade", "score").withColumn(JUDGED, functions.lit(True))
    run = run_columns(df_run, plan.contract, "run").withColumn(JUDGED, functions.lit(False))
    check_version(run.sparkSession)
    check_partitions(partitions)
    rows = by_query(run.unionByName(judged, allowMissingColumns=True), partitions)
    fields = ", ".join(["query string", *(f"`{measure}` double" for measure in plan.measures)])
    with told("the run could not be divided"):
        return rows.mapInArrow(Scoring(plan), fields)


@dataclass(frozen=True)
class Scoring:
    """Scores the queries of a partition, which holds their judgments and their lists."""

    plan: Plan
    rows: int = ROWS

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        judged: list[pl.DataFrame] = []
        empty: list[str] = []
        index: list[JudgmentIndex] = []
        contract, measures = self.plan.contract, self.plan.measures

        def listed() -> Iterator[pl.DataFrame]:
            for frame in frames_of(batches, empty):
                of_judgments = frame[JUDGED]
                judged.append(frame.filter(of_judgments).select("query", "doc", grade="score"))
                if len(rows := frame.filter(~of_judgments).drop(JUDGED)):
                    yield rows

        def make() -> FrameMatcher:
            if not index:
                index.append(JudgmentIndex.of(Qrels(pl.concat(judged), name="judgments")))
            return FrameMatcher(index[0], contract, whole_run(), {})

        matcher = gather(listed(), make, self.rows)
        if not judged:
            return
        matcher.add_empty(empty)
        ranked = matcher.finish()
        if contract.depth is not None:
            ranked = ranked.limited(contract.depth)
        if contract.missing == "error" and not ranked.in_run.all():
            first = ranked.queries[int(np.argmin(ranked.in_run))]
            raise ContractError(f"run: judged queries are missing from the run, such as {first!r}")
        yield from arrow(self._table(ranked, measures))

    def _table(self, ranked: RankedGrades, measures: Sequence[Measure]) -> pl.DataFrame:
        values, _ = scored_queries(ranked, measures)
        counted = counted_queries(ranked, measures, self.plan.contract)
        columns = {str(m): pl.Series(values[:, j]).set(pl.Series(~counted[:, j]), None) for j, m in enumerate(measures)}
        return pl.DataFrame({"query": pl.Series(ranked.queries, dtype=pl.String), **columns})


def mean_scores(scores: Any) -> dict[str, float]:
    """The means of `score_queries`, added in the order of the query ids as `evaluate` adds them: the same to the last
    bit, however the rows are divided."""
    check_frame(scores, "scores")
    names = [name for name in scores.columns if name != "query"]
    with told("the queries could not be scored"):
        table = scores.orderBy("query").select(*(f"`{name}`" for name in names)).toArrow()
    found = {}
    for name in names:
        values = table[name].drop_null().to_numpy()
        found[name] = aggregate(parse_measure(name).definition.aggregate, values)
    return found
