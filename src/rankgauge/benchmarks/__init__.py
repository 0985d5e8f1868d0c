"""Public benchmarks: a catalogue, ways to get them, and runs under their official measures and contracts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rankgauge.lazy import lazy_names

if TYPE_CHECKING:
    from rankgauge.benchmarks.catalogue import Benchmark, find_benchmark, list_benchmarks
    from rankgauge.benchmarks.mteb_model import MtebModel
    from rankgauge.benchmarks.mteb_results import MtebScores, load_mteb_results
    from rankgauge.benchmarks.running import BenchmarkResult, run_benchmark
    from rankgauge.benchmarks.stored import BenchmarkSet, fetch_benchmark, load_benchmark

__all__ = [
    "Benchmark",
    "BenchmarkResult",
    "BenchmarkSet",
    "MtebModel",
    "MtebScores",
    "fetch_benchmark",
    "find_benchmark",
    "list_benchmarks",
    "load_benchmark",
    "load_mteb_results",
    "run_benchmark",
]

__getattr__ = lazy_names(
    __name__,
    {
        "catalogue": ("Benchmark", "find_benchmark", "list_benchmarks"),
        "mteb_model": ("MtebModel",),
        "mteb_results": ("MtebScores", "load_mteb_results"),
        "running": ("BenchmarkResult", "run_benchmark"),
        "stored": ("BenchmarkSet", "fetch_benchmark", "load_benchmark"),
    },
)
