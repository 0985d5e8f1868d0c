"""rankgauge measures retrieval quality: exact scores under an explicit contract, with honest uncertainty.

import rankgauge
result = rankgauge.evaluate(qrels, run, measures=["nDCG@10", "R@5,10"])
result.mean["nDCG@10"], result.interval["nDCG@10"], result.warnings
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from rankgauge.lazy import lazy_names
from rankgauge.version import __version__

if TYPE_CHECKING:
    from rankgauge import retrievers, spark
    from rankgauge.benchmarks import fetch_benchmark, list_benchmarks, load_benchmark, run_benchmark
    from rankgauge.comparison import Comparison, compare, compare_scores
    from rankgauge.comparison.losses import Losses, losses
    from rankgauge.comparison.power import audit, power
    from rankgauge.comparison.stored_scores import compare_stored
    from rankgauge.comparison.traces import TraceEvaluation, evaluate_traces
    from rankgauge.comparison.verify import verify
    from rankgauge.errors import RankgaugeError
    from rankgauge.evaluation import Evaluation, evaluate
    from rankgauge.evaluation.reconcile import reconcile
    from rankgauge.exports.mlflow import log_mlflow
    from rankgauge.exports.opentelemetry import log_opentelemetry
    from rankgauge.formats import load_chunks, load_corpus, load_qrels, load_run, load_testset
    from rankgauge.formats.chunks import save_chunks
    from rankgauge.formats.convert import convert
    from rankgauge.formats.documents import Documents, load_documents
    from rankgauge.formats.labels import LabelFile, load_labels, save_labels
    from rankgauge.formats.pool import load_pool, save_pool
    from rankgauge.formats.traces import load_traces
    from rankgauge.gating.baseline import load_baseline
    from rankgauge.gating.gate import gate
    from rankgauge.gating.outcome import GateResult
    from rankgauge.gating.rules import GateRules
    from rankgauge.history.baselines import promote_baseline, set_baseline
    from rankgauge.history.references import find_baseline
    from rankgauge.history.store import History
    from rankgauge.live.chunk_sweep import sweep_chunks
    from rankgauge.live.evaluation import LiveEvaluation
    from rankgauge.live.live import evaluate_retriever
    from rankgauge.live.several import evaluate_retrievers
    from rankgauge.live.sweep import Sweep, sweep
    from rankgauge.measures import Measure, parse_measure, parse_measures
    from rankgauge.model import (
        Call,
        Chunk,
        Chunks,
        Contract,
        Corpus,
        Label,
        LabelPolicy,
        Labels,
        Pool,
        PooledPair,
        Qrels,
        Query,
        Run,
        Span,
        TestSet,
        Trace,
        Traces,
    )
    from rankgauge.monitoring.alerts.channels import check_alerts
    from rankgauge.monitoring.loop.monitor import Monitor
    from rankgauge.monitoring.loop.plan import load_monitor_plan
    from rankgauge.plans.plan import load_plan
    from rankgauge.plans.running import run_plan
    from rankgauge.record import Note, Record
    from rankgauge.reports.drawing import save_charts
    from rankgauge.reports.explanation import explain
    from rankgauge.reports.writing import report
    from rankgauge.retrievers.chunking import chunk
    from rankgauge.retrievers.collecting import TraceCollector
    from rankgauge.retrievers.fusion import fuse
    from rankgauge.sensitivity.judge_next import judge_next
    from rankgauge.tensors import TensorScores, evaluate_embeddings, evaluate_tensors, trainer_metrics
    from rankgauge.tensors.evaluator import EmbeddingEvaluator
    from rankgauge.tensors.metric import RetrievalMetric
    from rankgauge.testsets.agreement import LabelAgreement, agreement
    from rankgauge.testsets.anchoring import Anchored, anchor
    from rankgauge.testsets.aspects import aspect_qrels
    from rankgauge.testsets.candidates import Candidates, candidates
    from rankgauge.testsets.chat import ChatModel
    from rankgauge.testsets.click_labels import ClickLabels, click_labels
    from rankgauge.testsets.correction import Corrected, corrected
    from rankgauge.testsets.drift import LabelDrift, label_drift
    from rankgauge.testsets.generated import GeneratedQueries
    from rankgauge.testsets.generating import generate_queries
    from rankgauge.testsets.incident_queries import incident_queries
    from rankgauge.testsets.judge import Judge
    from rankgauge.testsets.judge_result import JudgeResult
    from rankgauge.testsets.judging import estimate_judging, judge, probe_judge
    from rankgauge.testsets.lint.findings import Finding
    from rankgauge.testsets.lint.linting import Lint, lint
    from rankgauge.testsets.model_family import model_family
    from rankgauge.testsets.pooling import pool
    from rankgauge.testsets.review.importing import import_reviews
    from rankgauge.testsets.review.queue import review_queue
    from rankgauge.testsets.review.queued import ReviewQueue
    from rankgauge.testsets.review.session import ReviewSession
    from rankgauge.testsets.review.sheets import save_sheet
    from rankgauge.testsets.sampling import Sample, draw_sample, load_sample
    from rankgauge.testsets.sizing import SizePlan, plan_size
    from rankgauge.testsets.starting import StartedTestSet, init_from_documents

# Names load on first use, so that importing the package costs next to nothing.
_NAMES = {
    "errors": ("RankgaugeError",),
    "model": (
        *("Call", "Chunk", "Chunks", "Contract", "Corpus", "Label", "LabelPolicy", "Labels", "Pool", "PooledPair"),
        *("Qrels", "Query", "Run", "Span", "TestSet", "Trace", "Traces"),
    ),
    "formats": ("load_chunks", "load_corpus", "load_qrels", "load_run", "load_testset"),
    "formats.chunks": ("save_chunks",),
    "formats.convert": ("convert",),
    "formats.documents": ("Documents", "load_documents"),
    "formats.labels": ("LabelFile", "load_labels", "save_labels"),
    "formats.pool": ("load_pool", "save_pool"),
    "formats.traces": ("load_traces",),
    "measures": ("Measure", "parse_measure", "parse_measures"),
    "record": ("Note", "Record"),
    "evaluation": ("Evaluation", "evaluate"),
    "evaluation.reconcile": ("reconcile",),
    "sensitivity.judge_next": ("judge_next",),
    "tensors": ("TensorScores", "evaluate_embeddings", "evaluate_tensors", "trainer_metrics"),
    "tensors.evaluator": ("EmbeddingEvaluator",),
    "tensors.metric": ("RetrievalMetric",),
    "comparison": ("Comparison", "compare", "compare_scores"),
    "comparison.stored_scores": ("compare_stored",),
    "comparison.losses": ("Losses", "losses"),
    "comparison.traces": ("TraceEvaluation", "evaluate_traces"),
    "comparison.power": ("audit", "power"),
    "comparison.verify": ("verify",),
    "testsets.agreement": ("LabelAgreement", "agreement"),
    "testsets.anchoring": ("Anchored", "anchor"),
    "testsets.aspects": ("aspect_qrels",),
    "testsets.candidates": ("Candidates", "candidates"),
    "testsets.click_labels": ("ClickLabels", "click_labels"),
    "testsets.chat": ("ChatModel",),
    "testsets.generated": ("GeneratedQueries",),
    "testsets.generating": ("generate_queries",),
    "testsets.starting": ("StartedTestSet", "init_from_documents"),
    "testsets.drift": ("LabelDrift", "label_drift"),
    "testsets.review.importing": ("import_reviews",),
    "testsets.review.queue": ("review_queue",),
    "testsets.review.queued": ("ReviewQueue",),
    "testsets.review.session": ("ReviewSession",),
    "testsets.review.sheets": ("save_sheet",),
    "testsets.incident_queries": ("incident_queries",),
    "testsets.judge": ("Judge",),
    "testsets.judge_result": ("JudgeResult",),
    "testsets.judging": ("estimate_judging", "judge", "probe_judge"),
    "testsets.lint.findings": ("Finding",),
    "testsets.lint.linting": ("Lint", "lint"),
    "testsets.model_family": ("model_family",),
    "testsets.pooling": ("pool",),
    "testsets.correction": ("Corrected", "corrected"),
    "testsets.sampling": ("Sample", "draw_sample", "load_sample"),
    "testsets.sizing": ("SizePlan", "plan_size"),
    "benchmarks": ("fetch_benchmark", "list_benchmarks", "load_benchmark", "run_benchmark"),
    "exports.mlflow": ("log_mlflow",),
    "exports.opentelemetry": ("log_opentelemetry",),
    "retrievers.chunking": ("chunk",),
    "retrievers.collecting": ("TraceCollector",),
    "retrievers.fusion": ("fuse",),
    "live.chunk_sweep": ("sweep_chunks",),
    "live.evaluation": ("LiveEvaluation",),
    "live.live": ("evaluate_retriever",),
    "live.several": ("evaluate_retrievers",),
    "live.sweep": ("Sweep", "sweep"),
    "gating.gate": ("gate",),
    "gating.outcome": ("GateResult",),
    "gating.rules": ("GateRules",),
    "gating.baseline": ("load_baseline",),
    "plans.plan": ("load_plan",),
    "plans.running": ("run_plan",),
    "history.store": ("History",),
    "history.baselines": ("promote_baseline", "set_baseline"),
    "history.references": ("find_baseline",),
    "monitoring.alerts.channels": ("check_alerts",),
    "monitoring.loop.monitor": ("Monitor",),
    "monitoring.loop.plan": ("load_monitor_plan",),
    "reports.drawing": ("save_charts",),
    "reports.explanation": ("explain",),
    "reports.writing": ("report",),
}

__all__ = [
    "Anchored",
    "Call",
    "Candidates",
    "ChatModel",
    "Chunk",
    "Chunks",
    "ClickLabels",
    "Comparison",
    "Contract",
    "Corpus",
    "Corrected",
    "Documents",
    "EmbeddingEvaluator",
    "Evaluation",
    "Finding",
    "GateResult",
    "GateRules",
    "GeneratedQueries",
    "History",
    "Judge",
    "JudgeResult",
    "Label",
    "LabelAgreement",
    "LabelDrift",
    "LabelFile",
    "LabelPolicy",
    "Labels",
    "Lint",
    "LiveEvaluation",
    "Losses",
    "Measure",
    "Monitor",
    "Note",
    "Pool",
    "PooledPair",
    "Qrels",
    "Query",
    "RankgaugeError",
    "Record",
    "RetrievalMetric",
    "ReviewQueue",
    "ReviewSession",
    "Run",
    "Sample",
    "SizePlan",
    "Span",
    "StartedTestSet",
    "Sweep",
    "TensorScores",
    "TestSet",
    "Trace",
    "TraceCollector",
    "TraceEvaluation",
    "Traces",
    "__version__",
    "agreement",
    "anchor",
    "aspect_qrels",
    "audit",
    "candidates",
    "check_alerts",
    "chunk",
    "click_labels",
    "compare",
    "compare_scores",
    "compare_stored",
    "convert",
    "corrected",
    "draw_sample",
    "estimate_judging",
    "evaluate",
    "evaluate_embeddings",
    "evaluate_retriever",
    "evaluate_retrievers",
    "evaluate_tensors",
    "evaluate_traces",
    "explain",
    "fetch_benchmark",
    "find_baseline",
    "fuse",
    "gate",
    "generate_queries",
    "import_reviews",
    "incident_queries",
    "init_from_documents",
    "judge",
    "judge_next",
    "label_drift",
    "lint",
    "list_benchmarks",
    "load_baseline",
    "load_benchmark",
    "load_chunks",
    "load_corpus",
    "load_documents",
    "load_labels",
    "load_monitor_plan",
    "load_plan",
    "load_pool",
    "load_qrels",
    "load_run",
    "load_sample",
    "load_testset",
    "load_traces",
    "log_mlflow",
    "log_opentelemetry",
    "losses",
    "model_family",
    "parse_measure",
    "parse_measures",
    "plan_size",
    "pool",
    "power",
    "probe_judge",
    "promote_baseline",
    "reconcile",
    "report",
    "retrievers",
    "review_queue",
    "run_benchmark",
    "run_plan",
    "save_charts",
    "save_chunks",
    "save_labels",
    "save_pool",
    "save_sheet",
    "set_baseline",
    "spark",
    "sweep",
    "sweep_chunks",
    "trainer_metrics",
    "verify",
]


_PACKAGES = ("retrievers", "spark")
_load = lazy_names(__name__, _NAMES)


def __getattr__(name: str) -> Any:
    return import_module(f"rankgauge.{name}") if name in _PACKAGES else _load(name)


def __dir__() -> list[str]:
    return sorted(__all__)
