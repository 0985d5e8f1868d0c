"""Record: the one typed result document that every evaluation, comparison and sweep ends as."""

from rankgauge.record.calls import Calls
from rankgauge.record.comparison import (
    Agreement,
    Change,
    Changes,
    ComparisonResult,
    Rerank,
    RerankRow,
    Row,
    Slice,
    Standing,
    Tied,
    TiedRange,
    TiedScore,
    Unjudged,
    UnjudgedRange,
)
from rankgauge.record.record import (
    InputFile,
    ListedDocument,
    Mean,
    Provenance,
    Record,
    ScoredMeasure,
    SystemResult,
)
from rankgauge.record.sweep import HeldOut, SweepResult, Version
from rankgauge.words import Note

__all__ = [
    "Agreement",
    "Calls",
    "Change",
    "Changes",
    "ComparisonResult",
    "HeldOut",
    "InputFile",
    "ListedDocument",
    "Mean",
    "Note",
    "Provenance",
    "Record",
    "Rerank",
    "RerankRow",
    "Row",
    "ScoredMeasure",
    "Slice",
    "Standing",
    "SweepResult",
    "SystemResult",
    "Tied",
    "TiedRange",
    "TiedScore",
    "Unjudged",
    "UnjudgedRange",
    "Version",
]
