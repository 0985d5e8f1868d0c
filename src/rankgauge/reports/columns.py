"""Columns and cells that leaderboards share: scores, intervals drawn to one scale, latency."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rankgauge.record import Record, ScoredMeasure, SystemResult
from rankgauge.reports.document import Cell, Column, word
from rankgauge.reports.tables import LATER
from rankgauge.words import Note

__all__ = ["LATER", "answer", "head_of", "in_order", "scale_of", "time_columns", "times_of", "value_of"]


def answer(name: str, /, **parameters: Any) -> Note:
    return Note(f"answer.{name}", parameters)


def value_of(about: ScoredMeasure, value: float) -> int | float:
    return round(value) if about.aggregate == "sum" else value


def head_of(about: ScoredMeasure, drop: int = 0) -> Column:
    return Column(about.name, "score", hint=word("lower_is_better") if about.lower_is_better else None, drop=drop)


def in_order(record: Record, about: ScoredMeasure) -> list[SystemResult]:
    sign = 1 if about.lower_is_better else -1
    return sorted(record.systems, key=lambda system: sign * system.means[about.name].value)


def times_of(record: Record, system: SystemResult) -> list[Cell]:
    if not time_columns(record):
        return []
    latency = None if system.calls is None else system.calls.latency
    return [None if latency is None else latency.p50]


def time_columns(record: Record) -> list[Column]:
    live = any(system.calls is not None and system.calls.latency is not None for system in record.systems)
    return [Column(word("p50"), "latency", drop=2)] if live else []


def scale_of(ends: Sequence[tuple[float, float]], values: Sequence[float]) -> tuple[float, float]:
    """From the least to the greatest that is drawn; open ends are drawn to the border."""
    found = [value for value in (*(end for pair in ends for end in pair), *values) if abs(value) != float("inf")]
    low, high = min(found, default=0.0), max(found, default=0.0)
    return (low, high) if high > low else (low - 0.5, high + 0.5)
