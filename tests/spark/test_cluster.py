"""A real cluster of two executors: rows in any order and number of parts, files, and what can go wrong."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import rankgauge
from rankgauge import spark as on_spark
from rankgauge.errors import ContractError, DataError, RankgaugeError
from rankgauge.spark.failures import SparkError
from tests.cli.command import run_command
from tests.spark.worlds import MEASURES, MEASURES_OF_ONE_LIST, assert_same, world

pytestmark = [
    pytest.mark.needs("java", "pyspark"),
    pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas:FutureWarning"),
]
FIELDS = "query string, doc string, score double"
Batches = Iterator[Any]


@pytest.fixture(scope="module")
def judged_run(spark: Any) -> tuple[pl.DataFrame, pl.DataFrame, Any, Any]:
    """Judgments and run here, and there."""
    qrels, run = world(1, queries=30)
    return qrels, run, there(spark, qrels), there(spark, run)


def there(spark: Any, frame: pl.DataFrame) -> Any:
    rows = [tuple(row) for row in frame.rows()]
    kinds = {pl.String: "string", pl.Int64: "long", pl.Float64: "double", pl.Float32: "float"}
    return spark.createDataFrame(rows, ", ".join(f"{name} {kinds[t]}" for name, t in frame.schema.items()))


def test_any_number_of_parts(judged_run: Any) -> None:
    qrels, run, qrels_there, run_there = judged_run
    plans: dict[int | None, dict[str, Any]] = {
        1: {},
        17: {"missing": "skip", "rel": 2},
        None: {"contract": "trec_eval9"},
    }
    for parts, choices in plans.items():
        wanted = rankgauge.evaluate(qrels, run, MEASURES, **choices)
        got = on_spark.evaluate(run_there, qrels_there, MEASURES, partitions=parts, **choices)
        assert_same(got, wanted)
    assert got.record.systems[0].per_query == wanted.record.systems[0].per_query


def test_files(spark: Any, tmp_path: Path) -> None:
    """Queries divided over several files, whole numbers as ids, scores of float32; Parquet, CSV and TREC text."""
    qrels, run = world(2, whole=True)
    run = run.with_columns(pl.col("score").cast(pl.Float32))
    folder = tmp_path / "run.parquet"
    folder.mkdir()
    for number in range(3):
        run[number::3].rename({"query": "qid", "doc": "docno"}).write_parquet(folder / f"{number}.parquet")
    qrels.write_csv(tmp_path / "qrels.csv")
    wanted = rankgauge.evaluate(qrels, run, ["nDCG@10", "AP", "P@5"], name="system")
    got = on_spark.evaluate(on_spark.read_run(spark, str(folder)), qrels, ["nDCG@10", "AP", "P@5"], name="system")
    assert_same(got, wanted)
    run.write_csv(tmp_path / "run.csv")
    lines = run.select(line=pl.format("{} Q0 {} 1 {} x", "query", "doc", pl.col("score").cast(pl.Float64)))
    (tmp_path / "run.trec").write_text("\n".join(lines["line"]) + "\n\n")
    for name in ("run.csv", "run.trec", "run.parquet"):
        arguments = ("evaluate", tmp_path / "qrels.csv", f"system={tmp_path / name}", "-m", "AP", "--lang", "en")
        assert run_command(*arguments, "--engine", "spark").stdout == run_command(*arguments).stdout
    told = run_command(*arguments[:2], f"x={tmp_path / 'none.parquet'}", "--engine", "spark", status=2)
    assert "none.parquet: [PATH_NOT_FOUND] Path does not exist" in told.stderr


def killed(batches: Iterable[Any], marker: str) -> Batches:
    """Ends the executor that runs this for the first time."""
    for batch in batches:
        if not os.path.exists(marker):
            Path(marker).touch()
            daemon = Path(f"/proc/{os.getppid()}/stat").read_text().rpartition(")")[2].split()
            os.kill(int(daemon[1]), signal.SIGKILL)
        yield batch


def slow(batches: Iterable[Any], marker: str) -> Batches:
    """Is slow for the first time, so that another executor is given the same work."""
    for batch in batches:
        if not os.path.exists(marker):
            Path(marker).touch()
            time.sleep(4)
        yield batch


@pytest.mark.needs("proc")
@pytest.mark.parametrize("trouble", [slow, killed])
def test_work_that_is_done_twice(judged_run: Any, tmp_path: Path, trouble: Callable[..., Batches]) -> None:
    qrels, run, _, run_there = judged_run
    marker = str(tmp_path / "marker")
    troubled = run_there.repartition(4).mapInArrow(lambda batches: trouble(batches, marker), FIELDS)
    assert_same(on_spark.evaluate(troubled, qrels, MEASURES), rankgauge.evaluate(qrels, run, MEASURES))
    assert os.path.exists(marker)


def raising(batches: Iterable[Any]) -> Batches:
    for _ in batches:
        raise ValueError("the index is gone")
    yield from ()


def ending(batches: Iterable[Any]) -> Batches:
    for _ in batches:
        os._exit(137)
    yield from ()


def test_a_part_that_fails(judged_run: Any) -> None:
    qrels, _, _, run_there = judged_run
    for trouble, message in {
        raising: "^run: the rows could not be matched: a Python worker failed: ValueError: the index is gone$",
        ending: "a worker was killed or ended by itself, most often for want of memory: raise spark.executor",
    }.items():
        with pytest.raises(SparkError, match=message):
            on_spark.evaluate(run_there.mapInArrow(trouble, FIELDS), qrels)


def test_rows_and_columns_that_are_wrong(spark: Any, judged_run: Any) -> None:
    from pyspark.sql import functions

    qrels, _, qrels_there, run_there = judged_run
    twice = run_there.union(run_there.limit(3))
    lacking = "run: no column for 'score' among 'query', 'doc'; name one of: score, sim"
    for frame, kind, message in (
        (twice, DataError, r"run: document 'd\d+' stands twice for query 'q\d+' \(3 such documents in all\)"),
        (run_there.drop("score"), DataError, lacking),
        (qrels_there.withColumnRenamed("grade", "label"), DataError, "the run comes first, then the judgments"),
        (run_there.withColumn("doc", functions.lit(1.5)), DataError, "the column 'doc' holds double, not ids; cast it"),
        (run_there.withColumn("score", functions.lit("high")), DataError, r"the score None is no finite number"),
        (run_there.withColumn("score", functions.array("score")), DataError, "holds array, not numbers; cast it"),
        (run_there.limit(0), DataError, "run: the run holds no query"),
        (qrels, DataError, "`df_run` must be a Spark DataFrame, not a DataFrame"),
    ):
        with pytest.raises(kind, match=message):
            on_spark.evaluate(frame, qrels)
    with pytest.raises(ContractError, match="the rows of a Spark DataFrame have none: add a column `rank`"):
        on_spark.evaluate(run_there, qrels, ties="stable")
    with pytest.raises(DataError, match="`partitions=0` must be a whole number"):
        on_spark.evaluate(run_there, qrels, partitions=0)
    with pytest.raises(RankgaugeError, match=r"R\(budget=100\) needs the texts of the documents"):
        on_spark.evaluate(run_there, qrels, "R(budget=100)")
    old = [("q", "d", "7.5")]
    assert on_spark.evaluate(spark.createDataFrame(old, "qid string, pid string, sim string"), {"q": {"d": 1}}, "RR")


def test_the_order_of_the_list(spark: Any) -> None:
    """A column of ranks tells it, and alone it stands for scores."""
    qrels, run = world(3)
    ranked = run.with_columns(rank=pl.int_range(1, pl.len() + 1))
    wanted = rankgauge.evaluate(qrels, run, MEASURES, ties="given")
    assert_same(on_spark.evaluate(there(spark, ranked.sort("doc")), qrels, MEASURES, ties="given"), wanted)
    alone = ranked.drop("score")
    assert_same(
        on_spark.evaluate(there(spark, alone), qrels, ["AP", "RR"]),
        rankgauge.evaluate(qrels, alone.sample(fraction=1, shuffle=True, seed=2), ["AP", "RR"]),
    )


def row_of(like: Any, row: tuple[Any, ...]) -> Any:
    """A row more, of the columns of a frame."""
    return like.sparkSession.createDataFrame([row], like.schema)


def test_scores_that_stay_there(judged_run: Any) -> None:
    """Where the queries are too many for the driver: every score and every mean, to the last bit."""
    qrels, run, qrels_there, run_there = judged_run
    for parts, choices in {5: {}, None: {"missing": "skip", "no_relevant": "skip", "depth": 9}}.items():
        wanted = rankgauge.evaluate(qrels, run, MEASURES_OF_ONE_LIST, **choices)
        scores = on_spark.score_queries(run_there, qrels_there, MEASURES_OF_ONE_LIST, partitions=parts, **choices)
        assert on_spark.mean_scores(scores) == dict(wanted.mean)
        kept = np.where(wanted.table.counted, wanted.table.values, None).tolist()
        assert {row[0]: list(row[1:]) for row in scores.collect()} == dict(zip(wanted.table.queries, kept, strict=True))
    twice = on_spark.score_queries(run_there.union(run_there), qrels_there, "AP")
    with pytest.raises(SparkError, match=r"the queries could not be scored: run: document 'd\d+' stands twice"):
        on_spark.mean_scores(twice)
    nameless = qrels_there.union(row_of(qrels_there, ("q1", None, 1)))
    with pytest.raises(SparkError, match="could not be scored: judgments: a row has no doc id; its query id is 'q1'"):
        on_spark.mean_scores(on_spark.score_queries(run_there, nameless, "AP"))


def retriever() -> Callable[[str, int], list[tuple[str, float]]]:
    """Made on the executor. It finds nothing for one query and fails for another."""

    def search(text: str, k: int) -> list[tuple[str, float]]:
        if text == "q3":
            raise ValueError("no such index")
        return [] if text == "q5" else [(f"d{(n * len(text) + int(text[1:])) % 60}", 1.0 - n / 64) for n in range(k)]

    return search


def test_a_retriever_over_partitions(spark: Any) -> None:
    """What it found is scored as the same retriever's run is; no query is dropped."""
    qrels, _ = world(8, queries=30)
    queries = {query: query for query in dict.fromkeys(qrels["query"])}
    frame = spark.createDataFrame(list(queries.items()), "query_id string, text string")
    found = on_spark.run_retriever(frame, retriever, 20, retries=0, max_failed=0.5, partitions=3).cache()
    here = rankgauge.retrievers.run_queries(retriever(), queries, 20, retries=0)
    assert_same(on_spark.evaluate(found, qrels, MEASURES), rankgauge.evaluate(qrels, here.run, MEASURES))
    failed = found.where("error is not null").collect()
    assert [(row.query_id, row.doc_id) for row in failed] == [("q3", None)]
    assert "no such index" in failed[0].error
    assert {row.query_id for row in found.select("query_id").distinct().collect()} == queries.keys()
    assert found.where("latency > 0").count() == found.count()


def broken() -> Any:
    raise OSError("no index at /index")


def test_a_retriever_that_cannot_be_made(spark: Any) -> None:
    frame = spark.createDataFrame([("q1", "one")], "query_id string, text string")
    with pytest.raises(SparkError, match="a Python worker failed: OSError: no index at /index"):
        on_spark.evaluate(on_spark.run_retriever(frame, broken), {"q1": {"d": 1}})
    with pytest.raises(DataError, match="no column for 'query_text'"):
        on_spark.run_retriever(frame.drop("text"), broken)
    with pytest.raises(DataError, match="must be a function that makes a retriever"):
        on_spark.run_retriever(frame, "bm25")
