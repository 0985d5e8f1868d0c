"""Live evaluations as one record, compared where there are several."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rankgauge.comparison import Comparison
from rankgauge.evaluation import record_of
from rankgauge.live.live import LiveEvaluation, with_calls
from rankgauge.model.testset import TestSet
from rankgauge.record import InputFile, Record
from rankgauge.stats.family import Settings

__all__ = ["live_comparison", "live_record"]


def live_comparison(
    found: Sequence[LiveEvaluation], test_set: TestSet, settings: Settings, *, baseline: str | None = None
) -> Comparison:
    """Live evaluations on one test set, compared."""
    return Comparison.of(
        found,
        settings,
        baseline=baseline,
        qrels=test_set.qrels,
        runs={live.name: live.retrieval.run for live in found},
        test_set=test_set,
    )


def live_record(
    found: Sequence[LiveEvaluation],
    comparison: Comparison | None = None,
    *,
    inputs: Mapping[str, InputFile] | None = None,
    slices: bool = False,
    test_set: TestSet | None = None,
) -> Record:
    """The record of live evaluations, with latency and errors beside the scores."""
    if comparison is None:
        return with_calls(record_of(found, inputs=inputs, test_set=test_set), found)
    return with_calls(comparison.to_record(inputs=inputs or {}, slices=slices), found)
