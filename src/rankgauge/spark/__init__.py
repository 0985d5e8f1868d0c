"""Runs that are Spark DataFrames: scored where their rows are, with the same figures as `rankgauge.evaluate`.

Names load on first use: importing this package needs no Spark.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rankgauge.lazy import lazy_names

if TYPE_CHECKING:
    from rankgauge.spark.evaluating import evaluate
    from rankgauge.spark.reading import read_run
    from rankgauge.spark.retrieving import run_retriever
    from rankgauge.spark.scores import mean_scores, score_queries

__all__ = ["evaluate", "mean_scores", "read_run", "run_retriever", "score_queries"]

__getattr__ = lazy_names(
    __name__,
    {
        "evaluating": ("evaluate",),
        "reading": ("read_run",),
        "retrieving": ("run_retriever",),
        "scores": ("mean_scores", "score_queries"),
    },
)
