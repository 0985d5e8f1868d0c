"""What a reader must know of labels that are passages: the rule, what it left out, and how much it decides."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rankgauge.measures import Measure
from rankgauge.model.contract import Contract
from rankgauge.model.scores import Passages
from rankgauge.words import Note

__all__ = ["passage_notes"]

_MATTERS = 0.05
"""A change of a mean by more than this, at another overlap, is worth a remark."""
_IN_ALL = ("AP", "nDCG", "R", "Rprec", "F1")
"""Measures that divide by what all relevant chunks would give."""


def passage_notes(found: Passages, contract: Contract, measures: Sequence[Measure]) -> Iterator[Note]:
    """All notes on how labels became judgments of chunks."""
    if found.spans:
        yield Note("spans.rule", {"spans": found.spans, "overlap": contract.overlap})
    else:
        yield Note("spans.documents", {"labels": found.labels})
    if recalls := [str(measure) for measure in measures if measure.name == "StRecall"]:
        yield Note("spans.recall", {"measures": recalls})
    if chunks := [str(measure) for measure in measures if measure.name == "R"]:
        yield Note("spans.recall_of_chunks", {"measures": chunks})
    if found.by_text:
        yield Note("spans.by_text", {"n": found.by_text, "spans": found.spans})
    if found.split:
        yield Note("spans.split", {"n": found.split, "spans": found.spans})
    if found.in_no_chunk:
        counts = {"n": found.in_no_chunk, "labels": found.labels, "overlap": contract.overlap}
        if contract.chunk_ids is None:
            yield Note("spans.in_no_chunk", counts, "warning")
        else:
            yield Note("spans.not_retrieved", counts)
    if found.misread:
        yield Note("spans.misread", {"n": found.misread, "compared": found.compared}, "warning")
    if found.unknown:
        yield Note("spans.unknown", {"n": found.unknown}, "warning")
    counting = [str(measure) for measure in measures if measure.name in _IN_ALL]
    if contract.chunk_ids is not None and counting:
        yield Note("spans.ids_alone", {"measures": counting}, "warning")
    yield from _sensitivity(found, contract)


def _sensitivity(found: Passages, contract: Contract) -> Iterator[Note]:
    """The measure that another overlap would move most."""
    own = next((row.means for row in found.overlaps if row.overlap == contract.overlap), None)
    if own is None:
        return
    moved = {name: max(abs(row.means[name] - mean) for row in found.overlaps) for name, mean in own.items()}
    name = max(moved, key=lambda one: moved[one])
    if moved[name] > _MATTERS:
        means = [row.means[name] for row in found.overlaps]
        about = {
            "measure": name,
            "low": min(means),
            "high": max(means),
            "first": found.overlaps[0].overlap,
            "last": found.overlaps[-1].overlap,
            "overlap": contract.overlap,
        }
        yield Note("spans.sensitive", about, "warning")
