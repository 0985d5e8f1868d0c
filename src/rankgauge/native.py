"""The compiled module `rankgauge_native`, where it is installed. What it does, NumPy does too, with the same result."""

from __future__ import annotations

import os
from functools import cache
from types import ModuleType

__all__ = ["PADDING", "native", "threads"]

PADDING = 16
"""Bytes that must follow a text that the module reads."""
_VERSION = 3
_MOST_THREADS = 8


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
