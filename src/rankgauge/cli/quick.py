"""Shorter ways to begin and to end, for commands that score files and call no code of others."""

from __future__ import annotations

import atexit
import gc
import os
import sys
from collections.abc import Sequence

from rankgauge.ahead import begin_matching
from rankgauge.native import rules

__all__ = ["begin_quickly"]

_THREADS = "OPENBLAS_NUM_THREADS"


def begin_quickly(qrels: str, runs: Sequence[str], ties: str = "trec", *, single: bool = False) -> None:
    """A run alone is matched while the modules are loaded which score it. NumPy comes without the threads of its linear
    algebra, which nothing here uses and which keep a processor busy for a while. When Python ends, it looks for no
    garbage: the system takes the memory at once."""
    atexit.register(gc.freeze)
    alone = "numpy" not in sys.modules and _THREADS not in os.environ
    if alone:
        os.environ[_THREADS] = "1"
    try:
        if len(runs) == 1:
            begin_matching(qrels, runs[0], rules(ties, single=single))
        import numpy  # noqa: F401
    finally:
        if alone:
            del os.environ[_THREADS]
