"""A run in Parquet scored on Spark beside Spark's own RankingMetrics: `python -m benchmarks.spark`.

Both work in one session of two cores on the same files, each for its second time, so that neither pays for the start of
Java and of Python's workers. RankingMetrics takes lists: its time includes their making, which Spark does in Java.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
import time
import warnings
from collections.abc import Callable, Mapping
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from rankgauge import spark as on_spark

__all__ = ["BARS", "absent"]

CORES = 2
DEPTH = 1000
QUERIES = (900, 6_600)
JUDGED = 5
MEASURES = ["nDCG@10", "AP", "P@10", "R@100", "AP@10"]
BARS = {900: 5.0, 6_600: 5.0}
"""How many times faster than RankingMetrics is aimed at, by the number of queries."""
FOLDER = Path(__file__).parent / "data"


def absent() -> str | None:
    """What is missing for this part, if anything is."""
    if find_spec("pyspark") is None:
        return "pyspark is not installed: make .venv/.spark"
    return None if shutil.which("java") else "there is no Java: apt-get install openjdk-17-jre-headless"


def written(queries: int) -> tuple[str, str]:
    """Judgments and a run of 1,000 documents for each query, in Parquet."""
    qrels, run = (FOLDER / f"spark_{queries}.{what}.parquet" for what in ("qrels", "run"))
    if not run.exists():
        rng = np.random.default_rng(20_240_901)
        FOLDER.mkdir(exist_ok=True)
        query = np.repeat(np.arange(queries), DEPTH)
        docs = np.concatenate([rng.permutation(10 * DEPTH)[:DEPTH] * 880 for _ in range(queries)])
        frame = pl.DataFrame({"query_id": query, "doc_id": docs + query % 880, "score": rng.normal(size=len(query))})
        frame = frame.with_columns(pl.col("query_id", "doc_id").cast(pl.String))
        frame.filter(pl.int_range(pl.len()) % (DEPTH // JUDGED) == 0).select(
            "query_id", "doc_id", relevance=pl.Series(rng.integers(1, 2, queries * JUDGED))
        ).write_parquet(qrels)
        frame.write_parquet(run)
    return str(qrels), str(run)


def rankgauge_means(session: Any, qrels: str, run: str) -> Mapping[str, float]:
    return on_spark.evaluate(session.read.parquet(run), session.read.parquet(qrels), MEASURES).mean


def peer_means(session: Any, qrels: str, run: str) -> Mapping[str, float]:
    from pyspark.mllib.evaluation import RankingMetrics
    from pyspark.sql import functions

    pair = functions.struct("score", "doc_id")
    lists = session.read.parquet(run).groupBy("query_id").agg(functions.sort_array(functions.collect_list(pair), False))
    lists = lists.toDF("query_id", "pairs").select("query_id", functions.col("pairs.doc_id").alias("found"))
    relevant = session.read.parquet(qrels).where("relevance > 0").groupBy("query_id")
    joined = lists.join(relevant.agg(functions.collect_list("doc_id").alias("relevant")), "query_id")
    pairs = joined.rdd.map(lambda row: (row.found, row.relevant)).cache()
    metrics = RankingMetrics(pairs)
    found = {
        "nDCG@10": metrics.ndcgAt(10),
        "AP": metrics.meanAveragePrecision,
        "P@10": metrics.precisionAt(10),
        "R@100": metrics.recallAt(100),
        "AP@10": metrics.meanAveragePrecisionAt(10),
    }
    pairs.unpersist()
    return found


def timed(work: Mapping[str, Callable[[], Mapping[str, float]]]) -> dict[str, tuple[float, Mapping[str, float]]]:
    """Seconds of the second run of each, and what came out; each has had its first before."""
    for tool in work.values():
        tool()
    found = {}
    for name, tool in work.items():
        start = time.perf_counter()
        means = tool()
        found[name] = time.perf_counter() - start, means
    return found


def session() -> Any:
    from pyspark.sql import SparkSession

    settings = {
        "spark.driver.memory": "4g",
        "spark.driver.host": "127.0.0.1",
        "spark.log.level": "ERROR",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
    }
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    builder = SparkSession.builder.master(f"local[{CORES}]")
    for name, value in settings.items():
        builder = builder.config(name, value)
    return builder.getOrCreate()


def main(asked: list[str]) -> None:
    warnings.simplefilter("ignore", FutureWarning)  # Spark's own module of metrics asks for the session in an old way
    started, found = session(), {}
    for queries in map(int, asked) if asked else QUERIES:
        files = written(queries)
        tools = {"rankgauge": rankgauge_means, "RankingMetrics": peer_means}
        both = timed({name: partial(tool, started, *files) for name, tool in tools.items()})
        (own, means), (peer, others) = both["rankgauge"], both["RankingMetrics"]
        for name in ("AP", "P@10", "R@100"):  # nDCG there knows no grades, and AP@10 divides by another number
            assert abs(means[name] - others[name]) < 1e-9, (name, means[name], others[name])
        rows = queries * DEPTH
        found[queries] = {"rows": rows, "rankgauge": own, "RankingMetrics": peer, "rows_per_core": rows / own / CORES}
    print(json.dumps(found))


if __name__ == "__main__":
    main(sys.argv[1:])
