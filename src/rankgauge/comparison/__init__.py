"""Compare: pairs, families of tests, groups, slices, rerank and ablation tables, what changed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rankgauge.lazy import lazy_names

if TYPE_CHECKING:
    from rankgauge.comparison.comparing import compare, compare_scores
    from rankgauge.comparison.comparison import Comparison
    from rankgauge.comparison.rerank import rerank_of
    from rankgauge.comparison.verdicts import summary_notes

__all__ = ["Comparison", "compare", "compare_scores", "rerank_of", "summary_notes"]

# A report needs the verdicts alone, not what finds them.
__getattr__ = lazy_names(
    __name__,
    {
        "comparing": ("compare", "compare_scores"),
        "comparison": ("Comparison",),
        "rerank": ("rerank_of",),
        "verdicts": ("summary_notes",),
    },
)
