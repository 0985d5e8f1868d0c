"""Advice: what the rows of a comparison mean together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import reduce
from math import isclose
from typing import Any, get_args

from rankgauge.record import ComparisonResult, Note, Record, ScoredMeasure
from rankgauge.stats.settings import Verdict

__all__ = ["MIRRORED", "advice_of", "contradicting", "summary_notes"]

MIRRORED: dict[str, Verdict] = {
    "better": "worse",
    "worse": "better",
    "equivalent": "equivalent",
    "inconclusive": "inconclusive",
}
"""A verdict about b, seen from a, as one about a, seen from b."""


_MISMATCH = ("evaluation.id_mismatch", "evaluation.id_mismatch_merged", "asking.id_mismatch")
_SURELY = 10  # queries without any judged document, which is no failure of the search


def summary_notes(record: Record) -> list[Note]:
    """What to do, in a paragraph or two."""
    if record.comparison is None:
        return []
    return advice_of(record.comparison, record.measures, {system.name: system.notes for system in record.systems})


def advice_of(
    found: ComparisonResult, measures: Sequence[ScoredMeasure], notes: Mapping[str, Sequence[Note]]
) -> list[Note]:
    """The decision, by the first measure; then what other measures say that would change it. `notes` are those of each
    system: the decision is not about those whose ids do not match the judgments, which are told behind it."""
    unmatched = [name for name, own in notes.items() if any(note.key in _MISMATCH for note in own)]
    if not unmatched or max((row.queries for row in found.rows), default=0) < _SURELY:
        return _decided(found, measures)
    told = Note("comparison.no_ids", {"systems": unmatched}, "warning")
    rows = [row for row in found.rows if row.a not in unmatched and row.b not in unmatched]
    if not rows:
        return [told]
    groups = {
        name: [own for own in standing if own.system not in unmatched] for name, standing in found.groups.items()
    }
    decision, *others = _decided(replace(found, rows=rows, groups=groups), measures)
    return [decision, told, *others]


def _decided(found: ComparisonResult, measures: Sequence[ScoredMeasure]) -> list[Note]:
    forced = next((note for note in found.notes if note.key == "comparison.forced"), None)
    if forced is not None:
        return [Note("comparison.no_advice", {"forced": forced}, "warning")]
    if len(found.pairs) == 1:
        return [_advice(found, {measure.name: measure.lower_is_better for measure in measures})]
    names = list(dict.fromkeys(row.measure for row in found.rows))
    lower = {measure.name: measure.lower_is_better for measure in measures}
    told = [_leaders(found, name) if found.all_pairs else _against_baseline(found, name, lower[name]) for name in names]
    alike: dict[str, tuple[Note, list[str]]] = {}
    for name, note in zip(names, told, strict=True):  # measures that say the same are named together
        said = {key: value for key, value in note.parameters.items() if key != "measure"}
        alike.setdefault(repr((note.key, said)), (note, []))[1].append(name)
    return [Note(note.key, {**note.parameters, "measure": same}) for note, same in alike.values()]


def contradicting(notes: Sequence[Note]) -> list[Note]:
    """Those of the advice, by measure, that advise another system than the first does."""
    if not notes:
        return []
    first = notes[0]
    if first.key == "comparison.keep":
        return [note for note in notes[1:] if note.key in ("comparison.take", "comparison.take_or_not")]
    best = first.parameters.get("best")
    return [note for note in notes[1:] if best is not None and best in note.parameters.get("worse", ())]


def _against_baseline(found: ComparisonResult, measure: str, lower: bool) -> Note:
    """Keep the baseline, or take the best of those that are better than it."""
    rows = [row for row in found.rows if row.measure == measure]
    verdicts = {verdict: [row.b for row in rows if row.verdict == verdict] for verdict in get_args(Verdict)}
    better = [row for row in rows if row.verdict == "better"]
    best = max(better, key=lambda row: -row.mean_b if lower else row.mean_b, default=None)
    parts = [
        Note("comparison.are", {"names": others, "verdict": Note(f"comparison.verdict_{verdict}")})
        for verdict, names in verdicts.items()
        if (others := [name for name in names if best is None or name != best.b])
    ]
    joined = reduce(_both, parts) if parts else None
    about: dict[str, Any] = {"a": found.baseline, "measure": measure, "rest": joined}
    if best is None:
        return Note("comparison.keep", about)
    worse = [row.measure for row in found.rows if row.b == best.b and row.verdict == "worse"]
    if joined is not None:
        about["rest"] = Note("comparison.then", {"text": joined})
    if worse:
        return Note("comparison.take_or_not", {**about, "b": best.b, "worse": worse})
    return Note("comparison.take", {**about, "b": best.b})


def _both(first: Note, second: Note) -> Note:
    return Note("comparison.and", {"first": first, "second": second})


def _leaders(found: ComparisonResult, measure: str) -> Note:
    """The best by the mean, and which of the others are significantly worse."""
    shown = found.groups.get(measure)
    if shown is None:
        return Note("comparison.nothing_in_common", {"measure": measure})
    leading = found.groups.get(found.rows[0].measure, shown)[0].system
    level = [own.system for own in shown if isclose(own.mean, shown[0].mean, rel_tol=1e-12)]
    best = leading if leading in level else level[0]  # of equal means that of the system that leads otherwise
    verdicts: dict[str, str] = {}
    for row in found.rows:
        if row.measure == measure and best in (row.a, row.b):
            verdicts[row.a if row.b == best else row.b] = MIRRORED[row.verdict] if row.a != best else row.verdict
    known = {own.system for own in shown if own.system != best}
    first = found.groups.get(found.rows[0].measure, shown)
    order = [own.system for own in first if own.system in known]
    worse = [name for name in order if verdicts.get(name) == "worse"]
    rest = [name for name in order if name not in worse]
    about = {"best": best, "measure": measure}
    if not rest:
        return Note("comparison.leads_all", about)
    if not worse:
        return Note("comparison.leads_none", {**about, "rest": rest})
    return Note("comparison.leads", {**about, "worse": worse, "rest": rest})


def _advice(found: ComparisonResult, lower: dict[str, bool]) -> Note:
    """What to do with two systems."""
    rows = found.rows
    a, b = found.pairs[0]
    names = {
        verdict: [row.measure for row in rows if row.verdict == verdict]
        for verdict in ("better", "worse", "equivalent", "inconclusive")
    }
    pair = {"a": a, "b": b}
    same = Note("comparison.rest_same", {"names": names["equivalent"]}) if names["equivalent"] else ""
    still_open = Note("comparison.rest_open", {"names": names["inconclusive"]}) if names["inconclusive"] else ""
    against = [
        row.measure
        for row in rows
        if row.verdict in ("better", "worse")
        and row.difference
        and (row.verdict == "better") != ((row.difference < 0) == lower[row.measure])
    ]
    if against:
        return Note("comparison.against_the_mean", {**pair, "names": against, "test": found.settings.test})
    if names["better"] and names["worse"]:
        return Note("comparison.mixed", {**pair, "wins": names["better"], "losses": names["worse"]})
    if names["better"] or names["worse"]:
        key = "win" if names["better"] else "lose"
        if rows[0].verdict == "inconclusive":  # what decides is the first measure
            key = "better" if key == "win" else "worse"
            return Note(f"comparison.only_{key}", {**pair, "names": names[key], "same": same, "open": still_open})
        won = names["better"] or names["worse"]
        return Note(f"comparison.{key}", {**pair, "names": won, "same": same, "open": still_open})
    if all(row.ties == row.queries and row.queries for row in rows):
        return Note("comparison.all_identical", {**pair, "n": max(row.queries for row in rows)})
    if not names["inconclusive"]:
        values = {"names": names["equivalent"], "margin": found.settings.equivalence_margin}
        return Note("comparison.same", {**pair, **values})
    row = next(row for row in rows if row.verdict == "inconclusive")
    if row.detectable is None:
        return Note("comparison.open_no_size", {**pair, "same": same, "n": row.queries})
    values = {"n": row.queries, "detectable": row.detectable, "measure": row.measure}
    return Note("comparison.open", {**pair, "same": same, **values})
