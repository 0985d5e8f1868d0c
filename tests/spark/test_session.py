"""What is said where Spark is missing, or cannot be started or understood; without Spark."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import polars as pl
import pytest

from rankgauge import spark as on_spark
from rankgauge.errors import DataError, FormatError, MissingExtraError, RankgaugeError
from rankgauge.spark import session
from rankgauge.spark.columns import check_frame
from rankgauge.spark.failures import SparkError, told
from tests.cli.command import run_command


def test_without_pyspark(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(sys.modules, "pyspark", None)
    wanted = r"working on Spark needs pyspark>=4: pip install pyspark>=4 \(it is in the extra rankgauge\[spark\]\)"
    for work in (
        lambda: on_spark.evaluate(pl.DataFrame(), {"q": {"d": 1}}),
        lambda: on_spark.score_queries(pl.DataFrame(), pl.DataFrame()),
        lambda: on_spark.run_retriever(pl.DataFrame(), list),
    ):
        with pytest.raises(MissingExtraError, match=wanted):
            work()
    qrels = tmp_path / "qrels"
    qrels.write_text("q 0 d 1\n")
    done = run_command("evaluate", qrels, "a.parquet", "--engine", "spark", status=2)
    assert "working on Spark needs pyspark>=4" in done.stderr
    done = run_command("evaluate", qrels, "a.parquet", "--engine", "spark", "--stream", status=2)
    assert "--engine spark has no --stream" in done.stderr


def test_without_java(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(session, "check_spark", lambda: None)
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(RankgaugeError, match="Spark needs Java 17 or newer, and no java was found: install it"):
        session.session()
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    with pytest.raises(RankgaugeError, match=r"there is none in JAVA_HOME \(.+\): install it"):
        session.session()


@pytest.mark.needs("pyspark")
@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("Unrecognized option: --add-modules=jdk.incubator.vector", "this Java is too old, and Spark needs Java 17 or"),
        ("WARNING: x\nError: no room for the heap\n\tat y", "Java said: Error: no room for the heap"),
        ("", "JAVA_GATEWAY_EXITED"),
    ],
)
def test_a_java_that_does_not_start(said: str, told: str, tmp_path: Path) -> None:
    """What it writes is told in a line, and nothing else reaches the terminal."""
    java = tmp_path / "bin" / "java"
    java.parent.mkdir()
    java.write_text(f"#!/bin/sh\ncat >&2 <<END\n{said}\nEND\nexit 1\n")
    java.chmod(0o755)
    (tmp_path / "qrels").write_text("q 0 d 1\n")
    command = [sys.executable, "-m", "rankgauge", "evaluate", "qrels", "a.parquet", "--engine", "spark"]
    environment = {**os.environ, "JAVA_HOME": str(tmp_path)}
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert told in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_an_old_spark() -> None:
    class Old:
        version = "3.5.1"

    with pytest.raises(RankgaugeError, match=r"this is Spark 3\.5\.1, and Spark 4 or newer is needed: pip install"):
        session.check_version(Old())


def test_a_session_that_was_stopped() -> None:
    context = SimpleNamespace(_jsc=None)
    beside_java = SimpleNamespace(sparkContext=context)
    for session_ in (beside_java, SimpleNamespace(is_stopped=True)):
        frame = type("DataFrame", (), {"__module__": "pyspark.sql.dataframe", "sparkSession": session_})()
        with pytest.raises(DataError, match="the Spark session of `df_run` was stopped: start one"):
            check_frame(frame, "df_run")


def test_the_logs_of_java_are_for_debugging(monkeypatch: pytest.MonkeyPatch) -> None:
    """A stack trace of a hundred lines would stand before the sentence that tells what is wrong."""
    assert session.own_settings()["spark.log.level"] == "OFF"
    monkeypatch.setenv("RANKGAUGE_DEBUG", "1")
    assert session.own_settings()["spark.log.level"] == "WARN"


def test_formats_that_spark_does_not_read() -> None:
    with pytest.raises(FormatError, match="Spark reads parquet, csv, tsv, trec, not json: rankgauge convert writes"):
        on_spark.read_run(None, "run.json", "json")
    for path, form in {"run.jsonl": "jsonl", "run.json.gz": "json", "s3a://x/run.arrow/": "arrow"}.items():
        with pytest.raises(FormatError, match=f"Spark reads parquet, csv, tsv, trec, not {form}"):
            on_spark.read_run(None, path)


PYTHON = """An exception was thrown from the Python worker. Please see the stack trace below.
Traceback (most recent call last):
  File "worker.py", line 1, in main
    process()
{last}
\tat org.apache.spark.api.python.BasePythonRunner$ReaderIterator.handlePythonException(PythonRunner.scala:581)
"""


JAVA = """An error occurred while calling o32.parquet.
: org.apache.spark.SparkException: Job aborted due to stage failure: Task 0 in stage 0.0 failed 1 times
org.apache.spark.SparkException: [FAILED_READ_FILE.CANNOT_READ_FILE_FOOTER] Encountered error while reading file
\tat org.apache.spark.util.ThreadUtils$.parmap(ThreadUtils.scala:486)
Caused by: org.apache.spark.SparkException: Exception thrown in awaitResult
\t... 1 more
Caused by: java.lang.RuntimeException: file:/data/run.parquet is not a Parquet file (length is too low: 11)
\tat org.apache.parquet.hadoop.ParquetFileReader.readFooter(ParquetFileReader.java:599)
\t... 9 more
"""


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (PYTHON.format(last="KeyError: 'x'"), "scoring: a Python worker failed: KeyError: 'x'"),
        (PYTHON.format(last="rankgauge.errors.DataError: run: bad"), "scoring: run: bad"),
        (
            PYTHON.format(last="ModuleNotFoundError: No module named 'rankgauge'"),
            "scoring: the executors' Python has no rankgauge: install rankgauge[spark] there too, and name that Python "
            "in PYSPARK_PYTHON",
        ),
        ("[PYTHON_VERSION_MISMATCH] Python in worker has different version 3.9", "driver and executors run different"),
        ("ExecutorLostFailure (executor 1 exited caused by one of the running tasks)", "a worker was killed or ended"),
        ("Total size of results is bigger than spark.driver.maxResultSize (1024.0 MiB)", "maxResultSize: raise it"),
        ("[TABLE_NOT_FOUND] no such table\n\tat java.lang.Thread.run", "scoring: [TABLE_NOT_FOUND] no such table"),
        (JAVA, "scoring: file:/data/run.parquet is not a Parquet file (length is too low: 11)"),
        (
            "An error occurred while calling o3.parquet.\n: java.io.EOFException: cut short\n\tat x",
            "scoring: cut short",
        ),
        ("", "scoring: it gave no reason"),
    ],
)
def test_failures_in_a_sentence(text: str, message: str) -> None:
    """No stack trace of Java reaches a reader."""
    error = type("PythonException", (Exception,), {"__module__": "pyspark.errors"})
    with pytest.raises(SparkError) as caught, told("scoring"):
        raise error(text)
    assert message in str(caught.value)
    assert "\tat " not in str(caught.value)
    assert caught.value.__suppress_context__
    with pytest.raises(ZeroDivisionError), told("scoring"):  # a mistake of ours stays one
        raise ZeroDivisionError
    with pytest.raises(DataError), told("scoring"):
        raise DataError("x")
