"""Spark itself: whether it is there, in a version that can be worked with, and a session for the command line."""

from __future__ import annotations

import os
import re
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any

from rankgauge.errors import RankgaugeError
from rankgauge.extras import check_all_installed, optional
from rankgauge.spark.failures import told

__all__ = ["check_spark", "check_version", "own_settings", "session"]

_LEAST = 4
_MOST = 300  # characters of what Java said
_NEEDED = {"pyspark": "pyspark>=4", "pyarrow": "pyarrow", "pandas": "pandas"}  # Spark itself asks for pandas


def check_spark() -> None:
    """Raise an error where the Python side of Spark is missing or too old."""
    needed = [(name, package, "spark") for name, package in _NEEDED.items()]
    check_all_installed("working on Spark", needed)
    _check(optional("pyspark", "working on Spark", "pyspark>=4", "spark").__version__)


def check_version(spark: Any) -> None:
    """Raise an error where the cluster is too old."""
    _check(spark.version)


def _check(version: str) -> None:
    if int(version.split(".")[0]) < _LEAST:
        raise RankgaugeError(
            f"this is Spark {version}, and Spark {_LEAST} or newer is needed: pip install 'pyspark>=4'"
        )


def session() -> Any:
    """The session that `spark-submit` prepared, else one on this machine."""
    check_spark()
    home = os.environ.get("JAVA_HOME")
    java = shutil.which("java", path=str(Path(home) / "bin")) if home else shutil.which("java")
    if java is None:
        where = f"there is none in JAVA_HOME ({home})" if home else "no java was found"
        raise RankgaugeError(
            f"Spark needs Java 17 or newer, and {where}: install it (apt-get install openjdk-17-jre-headless), or name "
            "its folder in JAVA_HOME"
        )
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)  # else workers run whatever python3 is first in the path
    from pyspark.sql import SparkSession

    if (started := SparkSession.getActiveSession()) is not None:
        return started
    builder = SparkSession.builder.appName("rankgauge")
    if "PYSPARK_GATEWAY_PORT" in os.environ:  # under spark-submit, whose settings stay
        with told("Spark could not be started"):
            return builder.getOrCreate()
    for name, value in own_settings().items():
        builder = builder.config(name, value)
    with told("Spark could not be started"), _java_said() as said:
        try:
            return builder.getOrCreate()
        except Exception as error:
            raise _not_started(said()) or error from None


@contextmanager
def _java_said() -> Iterator[Callable[[], str]]:
    """Java inherits a file in the place of standard error, for it writes a screen of greetings before any result; gives
    what it has written there."""
    if os.environ.get("RANKGAUGE_DEBUG") or os.name == "nt":
        yield lambda: ""
        return
    sys.stderr.flush()
    try:
        own = os.dup(2)
    except OSError:  # it is closed, so nobody reads it
        yield lambda: ""
        return
    with TemporaryFile() as file:
        os.dup2(file.fileno(), 2)
        try:
            yield lambda: os.pread(file.fileno(), 1 << 16, 0).decode(errors="replace")
        finally:
            os.dup2(own, 2)
            os.close(own)


def _not_started(said: str) -> RankgaugeError | None:
    """Why Java ended before it was Spark; None where it did not say."""
    if re.search(r"UnsupportedClassVersionError|Unrecognized option|Unable to initialize main class", said):
        return RankgaugeError("Spark could not be started: this Java is too old, and Spark needs Java 17 or newer")
    lines = [line.strip() for line in said.splitlines() if re.search(r"error|exception", line, re.IGNORECASE)]
    return RankgaugeError(f"Spark could not be started: Java said: {lines[0][:_MOST]}") if lines else None


def own_settings() -> dict[str, str]:
    """Of a session that nobody else prepared. What fails is told in a sentence: Spark's log would put a stack trace of
    Java before it."""
    level = "WARN" if os.environ.get("RANKGAUGE_DEBUG") else "OFF"
    return {"spark.log.level": level, "spark.ui.enabled": "false", "spark.ui.showConsoleProgress": "false"}
