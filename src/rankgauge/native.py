"""The compiled module `rankgauge_native`, where it is installed. What it does, NumPy does too, with the same result."""

from __future__ import annotations

import os
from functools import cache
from types import ModuleType

__all__ = ["JUDGMENTS_PART", "PADDING", "RUN_PART", "Rules", "native", "rules", "threads"]

Rules = tuple[int, bool]

PADDING = 16
"""Bytes that must follow a text that the module reads."""
JUDGMENTS_PART, RUN_PART = 1 << 18, 4 << 20
"""Bytes that a thread takes at a time."""
_VERSION = 3
_MOST_THREADS = 8
_TIES = {"trec": 0, "given": 1, "expected": 2, "stable": 3}


@cache
def _module() -> ModuleType | None:
    try:
        import rankgauge_native
    except ImportError:
        return None
    found: ModuleType = rankgauge_native
    return found if getattr(found, "VERSION", None) == _VERSION else None


def native() -> ModuleType | None:
    """The module, unless it is absent, of another version, or not wanted: RANKGAUGE_NATIVE=0."""
    return None if os.environ.get("RANKGAUGE_NATIVE") == "0" else _module()


def threads() -> int:
    """How many threads it may use."""
    processors = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return min(processors, _MOST_THREADS)


def rules(ties: str, *, single: bool) -> Rules:
    """How it orders: the rule for ties, and whether scores are rounded to float32 first."""
    return _TIES[ties], single
