"""Record: the one typed result document that every evaluation, comparison and sweep ends as."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rankgauge.lazy import lazy_names
from rankgauge.words import Note

if TYPE_CHECKING:
    from rankgauge.record.calls import Calls, Cost
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
    from rankgauge.record.losses import Headroom, LossesResult, LossPlace, LostDocument
    from rankgauge.record.no_answer import ChosenThreshold, NoAnswer
    from rankgauge.record.parts import (
        InputFile,
        ListedDocument,
        Mean,
        Provenance,
        RelevantDocuments,
        ScoredMeasure,
        SystemResult,
    )
    from rankgauge.record.record import Record, as_record
    from rankgauge.record.sweep import BudgetPoint, HeldOut, SweepResult, Version

__all__ = [
    "Agreement",
    "BudgetPoint",
    "Calls",
    "Change",
    "Changes",
    "ChosenThreshold",
    "ComparisonResult",
    "Cost",
    "Headroom",
    "HeldOut",
    "InputFile",
    "ListedDocument",
    "LossPlace",
    "LossesResult",
    "LostDocument",
    "Mean",
    "NoAnswer",
    "Note",
    "Provenance",
    "Record",
    "RelevantDocuments",
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
    "as_record",
]

__getattr__ = lazy_names(
    __name__,
    {
        "calls": ("Calls", "Cost"),
        "comparison": (
            "Agreement",
            "Change",
            "Changes",
            "ComparisonResult",
            "Rerank",
            "RerankRow",
            "Row",
            "Slice",
            "Standing",
            "Tied",
            "TiedRange",
            "TiedScore",
            "Unjudged",
            "UnjudgedRange",
        ),
        "losses": ("LossPlace", "LossesResult", "LostDocument", "Headroom"),
        "no_answer": ("ChosenThreshold", "NoAnswer"),
        "parts": (
            "InputFile",
            "ListedDocument",
            "Mean",
            "Provenance",
            "RelevantDocuments",
            "ScoredMeasure",
            "SystemResult",
        ),
        "record": ("Record", "as_record"),
        "sweep": ("BudgetPoint", "HeldOut", "SweepResult", "Version"),
    },
)
