"""Scores and grades that lie in arrays, on any device: NumPy, PyTorch, JAX and CuPy through the array API."""

from rankgauge.tensors.embeddings import evaluate_embeddings
from rankgauge.tensors.evaluate import evaluate_tensors
from rankgauge.tensors.result import TensorScores
from rankgauge.tensors.trainer import trainer_metrics

__all__ = ["TensorScores", "evaluate_embeddings", "evaluate_tensors", "trainer_metrics"]
