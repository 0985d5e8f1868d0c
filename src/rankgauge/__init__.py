"""rankgauge measures retrieval quality: exact scores under an explicit contract, with honest uncertainty.

import rankgauge
result = rankgauge.evaluate(qrels, run, measures=["nDCG@10", "R@5,10"])
result.mean["nDCG@10"], result.interval["nDCG@10"], result.warnings
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rankgauge.comparison import Comparison, compare, compare_scores
    from rankgauge.errors import RankgaugeError
    from rankgauge.evaluation import Evaluation, evaluate
    from rankgauge.formats import load_corpus, load_qrels, load_run, load_testset
    from rankgauge.live.live import LiveEvaluation, evaluate_retriever
    from rankgauge.live.sweep import Sweep, sweep
    from rankgauge.measures import Measure, parse_measure, parse_measures
    from rankgauge.model import Contract, Corpus, Qrels, Query, Run, TestSet

from rankgauge.version import __version__

# Names load on first use, so that importing the package costs next to nothing.
_HOME = {
    "RankgaugeError": "rankgauge.errors",
    "Comparison": "rankgauge.comparison",
    "compare": "rankgauge.comparison",
    "compare_scores": "rankgauge.comparison",
    "Evaluation": "rankgauge.evaluation",
    "evaluate": "rankgauge.evaluation",
    "LiveEvaluation": "rankgauge.live.live",
    "evaluate_retriever": "rankgauge.live.live",
    "Sweep": "rankgauge.live.sweep",
    "sweep": "rankgauge.live.sweep",
    "load_corpus": "rankgauge.formats",
    "load_qrels": "rankgauge.formats",
    "load_run": "rankgauge.formats",
    "load_testset": "rankgauge.formats",
    "Measure": "rankgauge.measures",
    "parse_measure": "rankgauge.measures",
    "parse_measures": "rankgauge.measures",
    "Contract": "rankgauge.model",
    "Corpus": "rankgauge.model",
    "Qrels": "rankgauge.model",
    "Query": "rankgauge.model",
    "Run": "rankgauge.model",
    "TestSet": "rankgauge.model",
}

__all__ = [
    "Comparison",
    "Contract",
    "Corpus",
    "Evaluation",
    "LiveEvaluation",
    "Measure",
    "Qrels",
    "Query",
    "RankgaugeError",
    "Run",
    "Sweep",
    "TestSet",
    "__version__",
    "compare",
    "compare_scores",
    "evaluate",
    "evaluate_retriever",
    "load_corpus",
    "load_qrels",
    "load_run",
    "load_testset",
    "parse_measure",
    "parse_measures",
    "sweep",
]


def __getattr__(name: str) -> Any:
    home = _HOME.get(name)
    if home is None:
        raise AttributeError(f"module 'rankgauge' has no attribute {name!r}")
    if name == "TestSet":
        import_module("rankgauge.formats")  # gives it load and save
    value = getattr(import_module(home), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
