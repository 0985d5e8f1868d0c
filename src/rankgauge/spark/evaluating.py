"""`spark.evaluate`: rows in a Spark DataFrame in, the ordinary `Evaluation` out."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl

from rankgauge import errors
from rankgauge.arguments import check_text, named_arguments
from rankgauge.engine.hits import Hits, assemble
from rankgauge.engine.match_frames import JudgmentIndex
from rankgauge.engine.matching import Matched, checked_ids, marked_no_answer
from rankgauge.engine.scoring import score_matched
from rankgauge.errors import MeasureError, RankgaugeError
from rankgauge.evaluation.conversations import ConversationRule, conversations_of
from rankgauge.evaluation.evaluate import Evaluation
from rankgauge.evaluation.inputs import read_judgments
from rankgauge.evaluation.plan import DEFAULT_MEASURES, Plan, make_plan
from rankgauge.measures import Measure
from rankgauge.model.contract import Contract
from rankgauge.model.judgments import Qrels
from rankgauge.model.run import Run
from rankgauge.model.testset import TestSet
from rankgauge.spark.columns import judgment_columns, run_columns
from rankgauge.spark.failures import told
from rankgauge.spark.partitions import FIELDS, Judgments, Matching, packed, unpacked
from rankgauge.spark.session import check_spark, check_version

__all__ = ["check_plan", "evaluate", "local_judgments", "partitioned"]


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
    rows are brought together by query and matched on the executors; the driver gets the judged documents that were
    found, no more than there are judgments, and scores them. So the figures do not depend on how the rows were
    divided, to the last bit.

    `partitions` is the number of parts that the rows are divided into; Spark chooses it by default. The other choices
    are those of `rankgauge.evaluate`. Rows of a DataFrame have no order: `ties="given"` and `ties="stable"` need a
    column `rank`.
    """
    check_spark()
    check_text("name", name)
    plan = make_plan(measures, contract, ties, missing, no_relevant, duplicates, depth, rel, threshold)
    check_plan(plan)
    called = name or "run"
    rows = partitioned(run_columns(df_run, plan.contract, called), partitions)
    judgments, test_set = local_judgments(df_qrels)
    matched = _matched(rows, judgments, plan.contract, called)
    table = score_matched(judgments, matched, plan.measures, plan.contract, name=called)
    turns = conversations_of(conversations, table.queries, test_set)
    sources = {"judgments": df_qrels}
    return Evaluation(table, plan, called, sources=sources, test_set=test_set, conversations=turns)


def check_plan(plan: Plan) -> None:
    """Raise an error for measures that need more than lists and judgments."""
    for measure in plan.measures:
        if measure.get("budget") is not None or "characters" in measure.definition.needs:
            raise MeasureError(f"{measure} needs the texts of the documents, which are not read on Spark")


def partitioned(rows: Any, partitions: int | None) -> Any:
    """The rows in partitions of whole queries."""
    check_version(rows.sparkSession)
    if partitions is None:
        return rows.repartition("query")
    if isinstance(partitions, bool) or not isinstance(partitions, int) or partitions < 1:
        raise errors.DataError(f"`partitions={partitions!r}` must be a whole number of at least 1")
    return rows.repartition(partitions, "query")


def local_judgments(source: Any) -> tuple[Qrels, TestSet | None]:
    """Judgments on the driver; a Spark DataFrame of them is brought there."""
    if not type(source).__module__.startswith("pyspark.sql"):
        return read_judgments(source)
    with told("reading the judgments"):
        table = judgment_columns(source, "judgments").toArrow()
    return Qrels(table), None


def _matched(rows: Any, qrels: Qrels, contract: Contract, name: str) -> Matched:
    """What the kernels see, put together from what each partition found."""
    index = JudgmentIndex.kept(qrels)
    sent = packed(qrels.frame)
    work = Matching(Judgments(sent, hashlib.sha256(sent).hexdigest()), contract)
    with told(f"{name}: the rows could not be matched"):
        answers = rows.mapInArrow(work, FIELDS).toArrow()
    parts: dict[str, list[bytes]] = {what: [] for what in ("error", "counts", "lists", "hits", "sample")}
    for what, pack in zip(answers["what"].to_pylist(), answers["told"].to_pylist(), strict=True):
        parts[what].append(pack)
    if parts["error"]:
        raise _error([json.loads(fault) for fault in parts["error"]], name)
    counts = [json.loads(count) for count in parts["counts"]]
    matched = Matched(_ranked(index, parts["lists"], parts["hits"]), sum(queries for queries, _ in counts))
    first = sorted(query for _, queries in counts for query in queries)[:5]

    def sample() -> pl.DataFrame:
        found = [unpacked(rows).select("query", "doc", "score") for rows in parts["sample"]]
        return pl.concat(found).sort("query", "score", "doc", descending=[False, True, True])

    return marked_no_answer(checked_ids(matched, qrels, first, name, sample), qrels)


def _ranked(index: JudgmentIndex, lists: Sequence[bytes], found: Sequence[bytes]) -> Any:
    """All parts as one `RankedGrades`."""
    n = len(index.judged.queries)
    in_run, retrieved, top = np.zeros(n, dtype=bool), np.zeros(n, dtype=np.int64), np.full(n, np.nan)
    for pack in lists:
        rows = unpacked(pack).join(index.query_numbers, on="query", maintain_order="left")
        owner = rows["owner"].to_numpy()
        in_run[owner] = True
        retrieved[owner], top[owner] = rows["retrieved"].to_numpy(), rows["top"].to_numpy()
    owners, grades = index.rows["owner"].to_numpy(), index.rows["grade"].to_numpy()
    parts = []
    for pack in found:
        rows = unpacked(pack)
        judgment, above, tied, met = (rows[name].to_numpy() for name in ("judgment", "above", "tied", "tie_met"))
        parts.append(Hits(owners[judgment], above, tied, grades[judgment], judgment, met))
    return assemble(index.judged, parts, in_run, retrieved, index.subtopics, top=top)


def _error(faults: Sequence[Mapping[str, Any]], name: str) -> RankgaugeError:
    """What the partitions complained of, as one error."""
    pairs = sorted((query, doc) for fault in faults for query, doc in fault.get("pairs", ()))
    if pairs:
        return Run({"": {}}, name=name).describe_repeats(pairs, sum(fault.get("total", 0) for fault in faults))
    fault = min(faults, key=lambda fault: str(fault["message"]))
    kind: type[RankgaugeError] = getattr(errors, fault["kind"], RankgaugeError)
    return kind(f"{name}: {fault['message'].removeprefix('run: ')}")
