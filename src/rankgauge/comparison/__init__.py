"""Compare: pairs, families of tests, groups, slices, rerank and ablation tables, what changed."""

from rankgauge.comparison.compare import compare, compare_scores
from rankgauge.comparison.comparison import Comparison
from rankgauge.comparison.rerank import rerank_of
from rankgauge.comparison.verdicts import summary_notes

__all__ = ["Comparison", "compare", "compare_scores", "rerank_of", "summary_notes"]
