"""Files to nouns and back. Reading detects the format; errors name the file and the line."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rankgauge.lazy import lazy_names

if TYPE_CHECKING:
    from rankgauge.formats.detect import FORMATS, Format
    from rankgauge.formats.loading import (
        RunParts,
        load_chunks,
        load_corpus,
        load_judgments,
        load_qrels,
        load_run,
        load_testset,
        open_run,
    )
    from rankgauge.formats.sources import Source

__all__ = [
    "FORMATS",
    "Format",
    "RunParts",
    "Source",
    "load_chunks",
    "load_corpus",
    "load_judgments",
    "load_qrels",
    "load_run",
    "load_testset",
    "open_run",
]

_LOADING = [name for name in __all__ if name not in ("FORMATS", "Format", "Source")]
__getattr__ = lazy_names(__name__, {"detect": ("FORMATS", "Format"), "loading": _LOADING, "sources": ("Source",)})
