"""Retrievers: from a query to a ranked list. All have `search(query, k) -> list[Hit]` and `ids`.

Names load on first use: what a retriever needs is an extra, and importing this package costs next to nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rankgauge.lazy import lazy_names

if TYPE_CHECKING:
    from rankgauge.retrievers.adapters import from_chroma, from_elasticsearch, from_faiss, from_langchain
    from rankgauge.retrievers.answers import RetrievalResult
    from rankgauge.retrievers.bm25 import BM25
    from rankgauge.retrievers.dense import Dense
    from rankgauge.retrievers.fusion import fuse, fuse_lists
    from rankgauge.retrievers.hits import Hit
    from rankgauge.retrievers.http import HttpRetriever
    from rankgauge.retrievers.hybrid import Hybrid
    from rankgauge.retrievers.interface import Retriever
    from rankgauge.retrievers.journal import Journal
    from rankgauge.retrievers.mmr import MMR
    from rankgauge.retrievers.nearest import ann_recall
    from rankgauge.retrievers.registry import RETRIEVERS, build, parameters_of
    from rankgauge.retrievers.rerank import Rerank
    from rankgauge.retrievers.runner import run_queries
    from rankgauge.retrievers.searcher import Searcher, as_searcher
    from rankgauge.retrievers.term_proximity import TermProximity
    from rankgauge.retrievers.vector_stores import (
        from_haystack,
        from_lancedb,
        from_milvus,
        from_pgvector,
        from_qdrant,
        from_vespa,
    )

__all__ = [
    "BM25",
    "MMR",
    "RETRIEVERS",
    "Dense",
    "Hit",
    "HttpRetriever",
    "Hybrid",
    "Journal",
    "Rerank",
    "RetrievalResult",
    "Retriever",
    "Searcher",
    "TermProximity",
    "ann_recall",
    "as_searcher",
    "build",
    "from_chroma",
    "from_elasticsearch",
    "from_faiss",
    "from_haystack",
    "from_lancedb",
    "from_langchain",
    "from_milvus",
    "from_pgvector",
    "from_qdrant",
    "from_vespa",
    "fuse",
    "fuse_lists",
    "parameters_of",
    "run_queries",
]

__getattr__ = lazy_names(
    __name__,
    {
        "adapters": ("from_chroma", "from_elasticsearch", "from_faiss", "from_langchain"),
        "answers": ("RetrievalResult",),
        "bm25": ("BM25",),
        "dense": ("Dense",),
        "fusion": ("fuse", "fuse_lists"),
        "hits": ("Hit",),
        "http": ("HttpRetriever",),
        "hybrid": ("Hybrid",),
        "interface": ("Retriever",),
        "journal": ("Journal",),
        "mmr": ("MMR",),
        "nearest": ("ann_recall",),
        "registry": ("RETRIEVERS", "build", "parameters_of"),
        "rerank": ("Rerank",),
        "runner": ("run_queries",),
        "searcher": ("Searcher", "as_searcher"),
        "term_proximity": ("TermProximity",),
        "vector_stores": (
            "from_haystack",
            "from_lancedb",
            "from_milvus",
            "from_pgvector",
            "from_qdrant",
            "from_vespa",
        ),
    },
)
