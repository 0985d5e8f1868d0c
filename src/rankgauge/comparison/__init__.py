"""Compare: pairs, families of tests, groups, slices, rerank and ablation tables, what changed."""

from rankgauge.comparison.compare import compare, compare_scores
from rankgauge.comparison.comparison import Comparison
from rankgauge.comparison.rerank import rerank_notes, rerank_of
from rankgauge.comparison.verdicts import row_note, summary_notes

__all__ = ["Comparison", "compare", "compare_scores", "rerank_notes", "rerank_of", "row_note", "summary_notes"]
