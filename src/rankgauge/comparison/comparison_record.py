"""A comparison as a result document: an evaluation record with a part `comparison`, and what a report shows of it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from rankgauge.comparison.comparison import Comparison
from rankgauge.comparison.rows import Row
from rankgauge.comparison.verdicts import notes_of_comparison, uncertainty_notes
from rankgauge.evaluation.old_record import record_of, scores_record
from rankgauge.words import LANGUAGES

if TYPE_CHECKING:
    from rankgauge.comparison.rerank import Rerank

__all__ = ["comparison_record"]

_CHANGED = 10  # queries that gained and lost most, for each measure and pair
_LISTED = 10  # documents of each list that is shown
_MOST_LISTS = 200  # queries whose lists are shown
_MOST_TEXT = 300  # characters of a query's text


def comparison_record(
    comparison: Comparison,
    *,
    inputs: Mapping[str, Mapping[str, Any]] | None = None,
    provenance: bool = True,
    slices: bool = False,
    uncertainty: bool = True,
    lists: bool = True,
    rerank: Rerank | None = None,
) -> dict[str, Any]:
    """The record. `uncertainty` adds the ranges over unjudged documents and tied orders, and `lists` the first
    documents of the queries that changed most; both take a second look at the runs. `slices` adds the rows by tag."""
    if comparison.evaluations:
        record = record_of(comparison.evaluations, inputs=inputs, provenance=provenance)
    else:
        record = scores_record(comparison, inputs=inputs, provenance=provenance)
    changes = comparison.changes(_CHANGED)
    shown = list(
        dict.fromkeys(
            change.query
            for rank in range(_CHANGED)
            for entry in changes
            for side in (entry.gained, entry.lost)
            for change in side[rank : rank + 1]
        )
    )[:_MOST_LISTS]
    settings, agreement = comparison.settings, comparison.agreement
    part: dict[str, Any] = {
        "settings": {
            **asdict(settings),
            "baseline": comparison.baseline,
            "family": sum(row.p_value is not None for row in comparison.rows),
        },
        "rows": [_row(row) for row in comparison.rows],
        "groups": {measure: [own._asdict() for own in entries] for measure, entries in comparison.groups.items()},
        "changes": [asdict(entry) for entry in changes],
        "slices": [{"tag": part.tag, **_row(part.row)} for part in comparison.slices] if slices else [],
        "agreement": {
            kind: [asdict(entry) for entry in agreement if entry.kind == kind] for kind in ("measures", "systems")
        },
        "summary": {language: comparison.summary(language) for language in LANGUAGES},
        "notes": {
            language: [
                asdict(note)
                for note in [
                    *notes_of_comparison(comparison, language),
                    *(uncertainty_notes(comparison, language) if uncertainty else []),
                ]
            ]
            for language in LANGUAGES
        },
    }
    if uncertainty and comparison.qrels is not None:
        part |= _uncertainty(comparison)
    if rerank is not None:
        part["rerank"] = rerank.to_dict()
    return {
        **record,
        "kind": "comparison",
        "texts": _texts(comparison),
        "tags": {} if comparison.test_set is None else {q.id: list(q.tags) for q in comparison.test_set if q.tags},
        "lists": _lists(comparison, shown) if lists else {},
        "comparison": part,
    }


def _row(row: Row) -> dict[str, Any]:
    entry = asdict(row)
    if row.interval is not None:
        entry["interval"]["low"] = _finite(row.interval.low)
        entry["interval"]["high"] = _finite(row.interval.high)
    return {**entry, "sentence": {language: row.sentence(language) for language in LANGUAGES}}


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _texts(comparison: Comparison) -> dict[str, str]:
    if comparison.test_set is None:
        return {}
    return {
        q.id: q.text if len(q.text) <= _MOST_TEXT else q.text[: _MOST_TEXT - 1] + "…"
        for q in comparison.test_set
        if q.text != q.id
    }


def _lists(comparison: Comparison, queries: Sequence[str]) -> dict[str, dict[str, list[dict[str, Any]]]]:
    """The first documents of the queries that changed most, under every system."""
    if comparison.qrels is None or not queries:
        return {}
    from rankgauge.engine.lists import top_lists

    lists: dict[str, dict[str, list[dict[str, Any]]]] = {query: {} for query in queries}
    for evaluation in comparison.evaluations:
        run = comparison.open_run(evaluation.name)
        found = top_lists(comparison.qrels, run, evaluation.contract, _LISTED, set(queries))
        for query in queries:
            lists[query][evaluation.name] = [listed._asdict() for listed in found.get(query, [])]
    return lists


def _uncertainty(comparison: Comparison) -> dict[str, Any]:
    """Ranges over the labels of unjudged documents and over tied orders."""
    ranges, reasons = comparison.unjudged
    tied = comparison.tied
    alike = {tuple(reason.values()): reason for reason in reasons.values()}
    shared = next(iter(alike.values())) if len(alike) == 1 and not ranges else None
    return {
        "unjudged": {
            "reason": shared,
            "reasons": reasons,
            "rows": [{**asdict(row), "changes_winner": row.changes_winner} for row in ranges],
        },
        "tied": {
            "systems": [asdict(score) for score in tied.systems],
            "rows": [{**asdict(row), "changes_winner": row.changes_winner} for row in tied.rows],
        },
    }
