"""`spark.evaluate`: rows in a Spark DataFrame in, the ordinary `Evaluation` out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from rankgauge.arguments import check_text, named_arguments
from rankgauge.engine.scoring import score_matched
from rankgauge.errors import DataError, MeasureError
from rankgauge.evaluation.conversations import ConversationRule, conversations_of
from rankgauge.evaluation.evaluate import Evaluation
from rankgauge.evaluation.inputs import read_judgments
from rankgauge.evaluation.plan import DEFAULT_MEASURES, Plan, make_plan
from rankgauge.measures import Measure
from rankgauge.model.contract import Contract
from rankgauge.model.judgments import Qrels
from rankgauge.model.testset import TestSet
from rankgauge.spark.columns import judgment_columns, run_columns
from rankgauge.spark.failures import told
from rankgauge.spark.gathering import Answers, answers_in, put_together, with_edges
from rankgauge.spark.partitions import FIELDS, Judgments, Matching
from rankgauge.spark.session import check_spark, check_version

__all__ = ["by_query", "check_partitions", "check_plan", "evaluate", "local_judgments"]


@named_arguments
def evaluate(
    df_run: Any,
    df_qrels: Any,
    measures: str | Measure | Sequence[str | Measure] = DEFAULT_MEASURES,
    *,
    contract: str | Contract | None = None,
    ties: str | None = None,
    missing: str | None = None,
    no_relevant: str | None = None,
    duplicates: str | None = None,
    depth: int | None = None,
    rel: float | None = None,
    threshold: float | None = None,
    conversations: ConversationRule = None,
    name: str | None = None,
    partitions: int | None = None,
) -> Evaluation:
    """Score a run that is a Spark DataFrame, with the figures, counts and notes of `rankgauge.evaluate`.

    `df_run` has a row for each (query, document) with its score, under any column names that a local data frame may
    have; `df_qrels` is a Spark DataFrame of judgments, or anything that `rankgauge.evaluate` takes for judgments. The
    rows are matched on the executors, where they lie if the rows of a query lie together, else brought together by
    query; the driver gets the judged documents that were found, no more than there are judgments, and scores them. So
    the figures do not depend on how the rows were divided, to the last bit.

    With `partitions` all rows are brought together by query in so many parts, and read once. The other choices are
    those of `rankgauge.evaluate`. Rows of a DataFrame have no order: `ties="given"` and `ties="stable"` need a
    column `rank`.
    """
    check_spark()
    check_text("name", name)
    plan = make_plan(measures, contract, ties, missing, no_relevant, duplicates, depth, rel, threshold)
    check_plan(plan)
    called = name or "run"
    rows = run_columns(df_run, plan.contract, called)
    check_version(rows.sparkSession)
    check_partitions(partitions)
    judgments, test_set = local_judgments(df_qrels)
    with told(f"{called}: the rows could not be matched"):
        answers = _answers(rows, judgments, plan.contract, partitions)
    matched = put_together(answers, judgments, called)
    table = score_matched(judgments, matched, plan.measures, plan.contract, name=called)
    turns = conversations_of(conversations, table.queries, test_set)
    sources = {"judgments": df_qrels}
    return Evaluation(table, plan, called, sources=sources, test_set=test_set, conversations=turns)


def check_plan(plan: Plan) -> None:
    """Raise an error for measures that need more than lists and judgments."""
    for measure in plan.measures:
        if measure.get("budget") is not None or "characters" in measure.definition.needs:
            raise MeasureError(f"{measure} needs the texts of the documents, which are not read on Spark")


def check_partitions(partitions: Any) -> None:
    """Raise an error for what is no number of parts."""
    if partitions is not None and (isinstance(partitions, bool) or not isinstance(partitions, int) or partitions < 1):
        raise DataError(f"`partitions={partitions!r}` must be a whole number of at least 1")


def by_query(rows: Any, partitions: int | None) -> Any:
    """The rows in partitions of whole queries."""
    return rows.repartition("query") if partitions is None else rows.repartition(partitions, "query")


def _answers(rows: Any, qrels: Qrels, contract: Contract, partitions: int | None) -> Answers:
    """What each partition found. Mostly all rows of a query lie in one already, and next to nothing has to move."""
    work = Matching(Judgments.of(qrels), contract)
    if partitions is None:
        answers = with_edges(_collected(rows, replace(work, as_they_lie=True)), qrels, work)
        if answers is not None:
            return answers
    return _collected(by_query(rows, partitions), work)


def _collected(rows: Any, work: Matching) -> Answers:
    return answers_in(rows.mapInArrow(work, FIELDS).toArrow())


def local_judgments(source: Any) -> tuple[Qrels, TestSet | None]:
    """Judgments on the driver; a Spark DataFrame of them is brought there."""
    if not type(source).__module__.startswith("pyspark.sql"):
        return read_judgments(source)
    with told("reading the judgments"):
        table = judgment_columns(source, "judgments").toArrow()
    return Qrels(table), None
