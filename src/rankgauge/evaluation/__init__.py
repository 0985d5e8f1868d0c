"""Evaluate: inputs of any kind -> scores -> Record."""

from rankgauge.evaluation.evaluate import Evaluation, Scoring, evaluate
from rankgauge.evaluation.inputs import hashed, read_judgments, read_run, signatures
from rankgauge.evaluation.plan import DEFAULT_MEASURES, Plan, make_plan
from rankgauge.evaluation.recording import record_of
from rankgauge.evaluation.scores import ByMeasure, Scores
from rankgauge.model.chunks import GivenChunks

__all__ = [
    "DEFAULT_MEASURES",
    "ByMeasure",
    "Evaluation",
    "GivenChunks",
    "Plan",
    "Scores",
    "Scoring",
    "evaluate",
    "hashed",
    "make_plan",
    "read_judgments",
    "read_run",
    "record_of",
    "signatures",
]
