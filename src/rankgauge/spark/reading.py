"""Runs in files of any number, read by Spark where they lie."""

from __future__ import annotations

import os
import re
from typing import Any

from rankgauge.errors import FormatError
from rankgauge.formats.detect import format_of_name
from rankgauge.spark.failures import told

__all__ = ["read_run"]

_FORMATS = ("parquet", "csv", "tsv", "trec")
_ENDINGS = {"csv": "csv", "tsv": "tsv", "run": "trec", "trec": "trec", "txt": "trec", "res": "trec", "results": "trec"}


def read_run(session: Any, path: str, form: str | None = None) -> Any:
    """A file, a folder, a pattern or a URL as a DataFrame: Parquet, CSV or TSV with a header, or TREC text."""
    if form is None:
        ending = re.search(r"\.(\w+?)(\.gz|\.zst|\.bz2)?/?$", path)
        form = (_ENDINGS.get(ending[1].lower()) if ending else None) or format_of_name(path.rstrip("/")) or "parquet"
    if form not in _FORMATS:
        raise FormatError(path, [f"Spark reads {', '.join(_FORMATS)}, not {form}: rankgauge convert writes Parquet"])
    if "://" not in path and str(session.conf.get("spark.master", "")).startswith("local"):
        path = os.path.abspath(path)  # from Python's folder, which may not be the one that Java started in
    with told(path):
        if form == "parquet":
            return session.read.parquet(path)
        if form != "trec":
            separator = "," if form == "csv" else "\t"
            return session.read.csv(path, header=True, sep=separator, escape='"')
        from pyspark.sql import functions

        parts = functions.split(functions.trim("value"), r"\s+")
        named = {"query": 0, "doc": 2, "rank": 3, "score": 4}
        lines = session.read.text(path).where(functions.trim("value") != "")
        return lines.select(*(functions.get(parts, functions.lit(n)).alias(name) for name, n in named.items()))
