"""Retrievers: from a query to a ranked list. All have `search(query, k) -> list[Hit]` and `ids`.

Names load on first use: what a retriever needs is an extra, and importing this package costs next to nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rankgauge.retrievers.bm25 import BM25
    from rankgauge.retrievers.dense import Dense
    from rankgauge.retrievers.fusion import fuse, fuse_runs
    from rankgauge.retrievers.hits import Hit
    from rankgauge.retrievers.hybrid import Hybrid
    from rankgauge.retrievers.interface import Retriever
    from rankgauge.retrievers.mmr import MMR
    from rankgauge.retrievers.nearest import ann_recall
    from rankgauge.retrievers.registry import RETRIEVERS, build, parameters_of
    from rankgauge.retrievers.rerank import Rerank
    from rankgauge.retrievers.term_proximity import TermProximity

__all__ = [
    "BM25",
    "MMR",
    "RETRIEVERS",
    "Dense",
    "Hit",
    "Hybrid",
    "Rerank",
    "Retriever",
    "TermProximity",
    "ann_recall",
    "build",
    "fuse",
    "fuse_runs",
    "parameters_of",
]

_HOME = {
    "BM25": "bm25",
    "MMR": "mmr",
    "Dense": "dense",
    "Hit": "hits",
    "Hybrid": "hybrid",
    "RETRIEVERS": "registry",
    "Rerank": "rerank",
    "Retriever": "interface",
    "TermProximity": "term_proximity",
    "ann_recall": "nearest",
    "build": "registry",
    "fuse": "fusion",
    "fuse_runs": "fusion",
    "parameters_of": "registry",
}


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'rankgauge.retrievers' has no attribute {name!r}")
    value = getattr(import_module(f"rankgauge.retrievers.{_HOME[name]}"), name)
    globals()[name] = value
    return value
