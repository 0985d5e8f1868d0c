"""The nouns: judgments, runs, test sets, corpora and the contract; and the one ranking rule."""

from typing import TYPE_CHECKING

from rankgauge.lazy import lazy_names
from rankgauge.model.chunks import Chunk, Chunks
from rankgauge.model.contract import Contract
from rankgauge.model.corpus import Corpus
from rankgauge.model.judgments import Qrels
from rankgauge.model.query import Query
from rankgauge.model.run import Run
from rankgauge.model.spans import Span
from rankgauge.model.testset import TestSet

if TYPE_CHECKING:
    from rankgauge.model.labels import Label, LabelPolicy, Labels
    from rankgauge.model.pool import Pool, PooledPair
    from rankgauge.model.traces import Call, Trace, Traces

__all__ = [
    "Call",
    "Chunk",
    "Chunks",
    "Contract",
    "Corpus",
    "Label",
    "LabelPolicy",
    "Labels",
    "Pool",
    "PooledPair",
    "Qrels",
    "Query",
    "Run",
    "Span",
    "TestSet",
    "Trace",
    "Traces",
]

__getattr__ = lazy_names(
    __name__,
    {
        "labels": ("Label", "LabelPolicy", "Labels"),
        "pool": ("Pool", "PooledPair"),
        "traces": ("Call", "Trace", "Traces"),
    },
)
