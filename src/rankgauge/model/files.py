"""Where the nouns find their readers and writers.

`rankgauge.formats` knows the nouns, so they cannot import it; they name its functions as every registry names its
parts, and a function is loaded when a file is first read or written. So `TestSet.load` works wherever the class was
imported from.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rankgauge.registry import Registry

__all__ = ["FILES"]

FILES: Registry[Callable[..., Any]] = Registry(
    "file function",
    "rankgauge.files",
    {
        "load_qrels": "rankgauge.formats:load_qrels",
        "load_run": "rankgauge.formats:load_run",
        "load_testset": "rankgauge.formats:load_testset",
        "load_traces": "rankgauge.formats.traces:load_traces",
        "save": "rankgauge.formats.convert:save",
        "save_traces": "rankgauge.formats.traces:save_traces",
    },
)
