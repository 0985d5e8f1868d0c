"""What executors do with a partition, without Spark: however the rows are divided and whatever fits into memory, the
figures are those of `evaluate`."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import Any

import polars as pl
import pyarrow as pa
import pytest

import rankgauge
from rankgauge.engine.scoring import score_matched
from rankgauge.errors import ContractError, DataError
from rankgauge.evaluation import Evaluation
from rankgauge.evaluation.plan import make_plan
from rankgauge.measures import parse_measure
from rankgauge.model.judgments import Qrels
from rankgauge.spark import partitions
from rankgauge.spark.gathering import answers_in, put_together, with_edges
from rankgauge.spark.partitions import Judgments, Matching
from tests.spark.worlds import EVERY, MEASURES, assert_same, world

CONTRACTS: list[dict[str, Any]] = [
    {},
    {"ties": "expected"},
    {"missing": "skip", "no_relevant": "skip"},
    {"depth": 7, "rel": 2},
    {"contract": "trec_eval9"},
    {"contract": "beir"},
    {"ties": "expected", "depth": 3},
]


def divided(
    qrels: pl.DataFrame, run: pl.DataFrame, parts: int, rows: int, measures: list[str], **choices: Any
) -> Evaluation:
    """As Spark would: the rows of each query in one of the parts, each in batches of a few rows."""
    plan = make_plan(measures, **choices)
    judgments = Qrels(qrels)
    work = Matching(Judgments.of(judgments), plan.contract, rows)
    told: list[tuple[str, bytes]] = []
    for part in range(parts):
        own = run.filter(run["query"].hash() % parts == part)
        batches = own.to_arrow().to_batches(max_chunksize=5)
        for batch in work(pa.RecordBatch.from_arrays(b.columns, own.columns) for b in batches):
            told += answers_in(batch)
    matched = put_together(told[::-1], judgments, "run")
    return Evaluation(score_matched(judgments, matched, plan.measures, plan.contract, name="run"), plan)


@pytest.mark.parametrize("choices", CONTRACTS, ids=str)
@pytest.mark.parametrize("rows", [7, 60, 10**6])
def test_however_the_rows_are_divided(choices: dict[str, Any], rows: int) -> None:
    """Of 7 rows in memory most queries have more: their places are counted part by part."""
    drawn = choices.get("ties") == "expected"  # of which one measure, and those that need no drawing, are enough
    measures = [m for m in MEASURES if not drawn or m == "Bpref" or parse_measure(m).definition.ties == "exact"]
    for seed, parts in enumerate((1, 2, 17)):
        qrels, run = world(seed)
        if choices.get("contract") == "beir":  # documents that are named as their query
            run = pl.concat([run, run.unique("query").with_columns(doc=pl.col("query"), score=pl.lit(9.0))])
        wanted = rankgauge.evaluate(qrels, run, measures, **choices)
        assert_same(divided(qrels, run, parts, rows, measures, **choices), wanted)


def lying(qrels: pl.DataFrame, run: pl.DataFrame, parts: int, **choices: Any) -> Evaluation | None:
    """As Spark reads a file whose rows are cut into parts anywhere; None where they have to be brought together."""
    plan = make_plan(MEASURES, **choices)
    judgments = Qrels(qrels)
    work = Matching(Judgments.of(judgments), plan.contract)
    told: list[tuple[str, bytes]] = []
    cuts = [len(run) * part // max(1, parts) for part in range(parts + 1)]
    for start, end in pairwise(cuts):
        for batch in replace(work, as_they_lie=True)(run[start:end].to_arrow().to_batches(max_chunksize=5)):
            told += answers_in(batch)
    answers = with_edges(told[::-1], judgments, work)
    if answers is None:
        return None
    matched = put_together(answers, judgments, "run")
    return Evaluation(score_matched(judgments, matched, plan.measures, plan.contract, name="run"), plan)


@pytest.mark.parametrize(("parts", "chunk"), [(1, 1), (1, 10**6), (2, 30), (5, 1), (17, 30), (90, 10**6)])
def test_rows_that_need_not_move(parts: int, chunk: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Queries in one piece are matched where they are; those cut by the end of a part are matched after."""
    monkeypatch.setattr(partitions, "_CHUNK", chunk)
    qrels, run = world(9)
    grouped = run.sort("query", maintain_order=True)
    for choices in ({}, {"ties": "given"}, {"contract": "beir", "missing": "skip"}):
        placed = grouped.with_columns(place=pl.int_range(pl.len()).cast(pl.Float64)) if "ties" in choices else grouped
        got = lying(qrels, placed, parts, **choices)
        assert got is not None
        assert_same(got, rankgauge.evaluate(qrels, run, MEASURES, **choices))
    twice = pl.concat([grouped, grouped.tail(1)])  # in a part of its own, or not
    with pytest.raises(DataError, match=r"run: document 'd\d+' stands twice for query 'q\d+';"):
        lying(qrels, twice, parts)


def test_rows_that_have_to_move(monkeypatch: pytest.MonkeyPatch) -> None:
    qrels, run = world(9)
    grouped = run.sort("query", maintain_order=True)
    assert lying(qrels, run, 3) is None
    assert lying(qrels, pl.concat([grouped[::2], grouped[1::2]]), 2) is None, "whole in no part, though each is grouped"
    with pytest.raises(DataError, match="run: the run holds no query"):
        lying(qrels, grouped.head(0), 0)
    monkeypatch.setattr(partitions, "_EDGE", 10)
    monkeypatch.setattr(partitions, "_CHUNK", 1)
    assert lying(qrels, grouped, 1) is None, "a list is too long to be held"


def test_subtopics_and_groups() -> None:
    qrels, run = world(3)
    qrels = pl.concat([qrels.with_columns(subtopic=pl.lit(str(n))) for n in (1, 2)])
    qrels = qrels.filter(pl.struct("query", "doc", "subtopic").hash() % 3 > 0)
    wanted = rankgauge.evaluate(qrels, run, EVERY)
    for rows in (7, 10**6):
        assert_same(divided(qrels, run, 3, rows, EVERY), wanted)


@pytest.mark.parametrize("rows", [7, 10**6])
def test_repeats(rows: int) -> None:
    qrels, run = world(4)
    twice = pl.concat([run, run.sample(30, seed=1).with_columns(pl.col("score") + 1)])
    with pytest.raises(DataError, match=r"run: document 'd\d+' stands twice for query 'q\d+' \(\d+ such documents"):
        divided(qrels, twice, 3, rows, ["AP"])
    wanted = rankgauge.evaluate(qrels, twice, MEASURES, duplicates="first")
    assert_same(divided(qrels, twice, 3, rows, MEASURES, duplicates="first"), wanted)


@pytest.mark.parametrize("ties", ["given", "stable"])
def test_lists_in_their_own_order(ties: str) -> None:
    qrels, run = world(5)
    placed = run.with_columns(place=pl.int_range(pl.len()).cast(pl.Float64))
    wanted = rankgauge.evaluate(qrels, run, MEASURES, ties=ties)
    for rows in (60, 10**6):
        assert_same(divided(qrels, placed.sort("score", "doc"), 3, rows, MEASURES, ties=ties), wanted)
    with pytest.raises(ContractError, match="a list is too long to be put into the order"):
        divided(qrels, placed, 3, 7, ["AP"], ties=ties)


def test_ids_that_do_not_meet() -> None:
    """The same hints as elsewhere on why nothing was found."""
    qrels, run = world(6, whole=True)
    qrels = qrels.with_columns(pl.col("query").cast(pl.String), pl.col("doc").cast(pl.String))
    run = run.with_columns(pl.col("query").cast(pl.String), pl.format("00{}", "doc").alias("doc"))
    with pytest.raises(DataError, match="the same numbers are written differently"):
        divided(qrels, run, 3, 10**6, ["AP"])
    with pytest.raises(DataError, match="have no query in common"):
        divided(qrels.with_columns(query=pl.format("x{}", "query")), run, 3, 10**6, ["AP"])
    other = divided(qrels, run.with_columns(doc=pl.format("x{}", "doc")), 3, 10**6, ["AP"])
    assert other.coverage.id_mismatch is not None
    assert other.mean["AP"] == 0.0


@pytest.mark.parametrize(
    ("column", "value", "message"),
    [
        ("score", float("nan"), r"query 'q\d+', document 'd\d+': the score nan is no finite number"),
        ("score", None, "the score None is no finite number"),
        ("query", None, "a row has no query id; its doc id is 'd"),
        ("doc", None, "a row has no doc id; its query id is 'q"),
        ("doc", "", "a row has no doc id; its query id is 'q"),
    ],
)
def test_rows_that_say_nothing(column: str, value: Any, message: str) -> None:
    qrels, run = world(7)
    bad = pl.when(pl.int_range(pl.len()) == 20).then(pl.lit(value)).otherwise(pl.col(column)).alias(column)
    with pytest.raises(DataError, match=message):
        divided(qrels, run.with_columns(bad), 1, 10**6, ["AP"])
