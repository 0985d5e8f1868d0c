"""Failures of Spark, told in a sentence instead of a Java stack trace."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

from rankgauge.errors import RankgaugeError

__all__ = ["SparkError", "told"]

_MOST = 300
_CAUSE = re.compile(r"^(?:Caused by)?: (?:[\w.$]+: )?(.+)$", re.MULTILINE)
"""What Java raised: the error behind `An error occurred while calling ...`, and its causes."""
_KNOWN = (
    (
        r"No module named '(rankgauge|polars|numpy|pyarrow|msgspec|click)",
        "the executors' Python has no {0}: install rankgauge[spark] there too, and name that Python in PYSPARK_PYTHON",
    ),
    (
        r"PYTHON_VERSION_MISMATCH",
        "driver and executors run different Pythons: name the same one in PYSPARK_PYTHON and PYSPARK_DRIVER_PYTHON",
    ),
    (
        r"Python worker exited unexpectedly|exit(?:ed)? .{0,40}?(?:code|status):? (?:137|52|143)|ExecutorLostFailure"
        r"|OutOfMemoryError|Java heap space",
        "a worker was killed or ended by itself, most often for want of memory: raise "
        "spark.executor.memoryOverhead, or give more, smaller `partitions=`",
    ),
    (r"maxResultSize", "what the queries found is larger than spark.driver.maxResultSize: raise it"),
)


class SparkError(RankgaugeError):
    """A job that Spark could not finish."""


@contextmanager
def told(doing: str) -> Iterator[None]:
    """Turn what Spark raises into one error that says what was done and why it failed."""
    try:
        with warnings.catch_warnings():
            # Rows go between Spark and Python as Arrow; pandas is asked for and not used.
            warnings.filterwarnings("ignore", message="PySpark does not yet fully support pandas")
            yield
    except RankgaugeError:
        raise
    except Exception as error:
        if type(error).__module__.partition(".")[0] not in ("pyspark", "py4j"):
            raise
        raise SparkError(f"{doing}: {_reason(str(error))}") from None


def _reason(text: str) -> str:
    for pattern, remedy in _KNOWN:
        if found := re.search(pattern, text, re.DOTALL):
            return remedy.format(*found.groups())
    python = [
        line.strip()
        for trace in re.findall(r"Traceback \(most recent call last\):\n(.*?)(?:\n\n|\n\s+at |\Z)", text, re.DOTALL)
        for line in trace.splitlines()
        if line and not line.startswith((" ", "\t"))
    ]
    java = [found[1] for found in _CAUSE.finditer(text)]
    lines = [line.strip() for line in text.splitlines() if line.strip() and not line.lstrip().startswith("at ")]
    if python and (own := re.match(r"rankgauge\.errors\.\w+: (.+)", python[-1])):
        return own[1]
    if python:
        return f"a Python worker failed: {python[-1][:_MOST]}"
    told = java[-1:] or lines  # the last cause is the first that happened
    return (told[0] if told else "it gave no reason")[:_MOST]
