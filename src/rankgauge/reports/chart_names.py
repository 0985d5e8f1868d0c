"""Names of charts: what they hold, in characters that every file system takes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from unicodedata import normalize

from rankgauge.reports.chart_specs import Chart

__all__ = ["chart_name", "named_apart"]

_KEPT = "._@+="
_LONGEST = 40
"""Bytes of a part: with three parts and an ending a name stays below the 143 that some encrypted file systems take."""


def chart_name(kind: str, *parts: str) -> str:
    """scatter-bm25-dense-nDCG@10."""
    return "-".join([kind, *map(_safe, parts)])


def _safe(part: str) -> str:
    """A name without what some system reads as a path, a pattern or a quote."""
    kept = "".join(c if c.isalnum() or c in f"{_KEPT}-" else "_" for c in normalize("NFC", part))
    cut = kept.encode("utf-8", "ignore")[:_LONGEST].decode("utf-8", "ignore")
    return cut.rstrip(".") or "_"  # Windows drops a dot at the end


def named_apart(charts: Sequence[Chart]) -> list[Chart]:
    """Charts of different names, also where capitals and forms of letters do not count."""
    taken: set[str] = set()
    found = []
    for chart in charts:
        name, number = chart.name, 1
        while normalize("NFKC", name).casefold() in taken:
            number += 1
            name = f"{chart.name}-{number}"
        taken.add(normalize("NFKC", name).casefold())
        found.append(replace(chart, name=name))
    return found
