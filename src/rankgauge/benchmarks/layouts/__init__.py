"""How the makers of benchmarks lay their files out, and the functions that read them."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

from rankgauge.benchmarks.catalogue import Benchmark
from rankgauge.benchmarks.material import Material
from rankgauge.benchmarks.places import Place

__all__ = ["LAYOUTS", "read_layout"]

LAYOUTS = {
    "beir": "rankgauge.benchmarks.layouts.beir:read_beir",
    "bright": "rankgauge.benchmarks.layouts.bright:read_bright",
    "dureader": "rankgauge.benchmarks.layouts.dureader:read_dureader",
    "graded": "rankgauge.benchmarks.layouts.graded:read_graded",
    "lecard": "rankgauge.benchmarks.layouts.lecard:read_lecard",
    "litsearch": "rankgauge.benchmarks.layouts.litsearch:read_litsearch",
    "tables": "rankgauge.benchmarks.layouts.tables:read_tables",
}
"""The reader of each layout."""


def read_layout(benchmark: Benchmark, place: Place) -> Material:
    """The benchmark from its own files."""
    module, _, name = LAYOUTS[benchmark.layout].partition(":")
    reader: Callable[[Benchmark, Place], Any] = getattr(import_module(module), name)
    found: Material = reader(benchmark, place)
    return found
