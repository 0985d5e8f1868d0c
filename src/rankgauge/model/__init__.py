"""The nouns: judgments, runs, test sets, corpora and the contract; and the one ranking rule."""

from rankgauge.model.chunks import Chunk, Chunks
from rankgauge.model.contract import Contract
from rankgauge.model.judgments import Qrels
from rankgauge.model.run import Run
from rankgauge.model.spans import Span
from rankgauge.model.testset import Corpus, Query, TestSet
from rankgauge.model.traces import Call, Trace, Traces

__all__ = [
    "Call",
    "Chunk",
    "Chunks",
    "Contract",
    "Corpus",
    "Qrels",
    "Query",
    "Run",
    "Span",
    "TestSet",
    "Trace",
    "Traces",
]
