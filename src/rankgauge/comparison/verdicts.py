"""Advice: what the rows of a comparison mean together."""

from __future__ import annotations

from collections.abc import Sequence

from rankgauge.record import ComparisonResult, Note, Record, ScoredMeasure

__all__ = ["advice_of", "summary_notes"]


def summary_notes(record: Record) -> list[Note]:
    """What to do, in a paragraph or two."""
    return [] if record.comparison is None else advice_of(record.comparison, record.measures)


def advice_of(found: ComparisonResult, measures: Sequence[ScoredMeasure]) -> list[Note]:
    """One paragraph for two systems; for more, the groups or the standing against the baseline, by measure."""
    forced = next((note for note in found.notes if note.key == "comparison.forced"), None)
    if forced is not None:
        return [Note("comparison.no_advice", {"forced": forced}, "warning")]
    names = list(dict.fromkeys(row.measure for row in found.rows))
    if len(found.pairs) == 1:
        return [_advice(found, {measure.name: measure.lower_is_better for measure in measures})]
    if found.all_pairs:
        return [_standings(found, name) for name in names]
    alike: dict[tuple[str, ...], list[str]] = {}
    for name in names:  # measures that say the same are named together
        alike.setdefault(tuple(row.verdict for row in found.rows if row.measure == name), []).append(name)
    return [_against_baseline(found, same) for same in alike.values()]


def _against_baseline(found: ComparisonResult, measures: list[str]) -> Note:
    rows = [row for row in found.rows if row.measure == measures[0]]
    better, worse = ([row.b for row in rows if row.verdict == verdict] for verdict in ("better", "worse"))
    rest = [row.b for row in rows if row.b not in (*better, *worse)]
    none = Note("comparison.none")
    values = {"better": better or none, "worse": worse or none, "rest": rest or none}
    return Note("comparison.against_baseline", {"a": found.baseline, "measures": measures, **values})


def _standings(found: ComparisonResult, measure: str) -> Note:
    """The systems in their order, with letters or ranks."""
    shown = found.groups.get(measure)
    if shown is None:
        return Note("comparison.nothing_in_common", {"measure": measure})
    groups = [
        Note("comparison.standing", {"system": own.system, "mean": own.mean, "label": own.label}) for own in shown
    ]
    n = next(row.queries for row in found.rows if row.measure == measure)
    key = "comparison.groups" if shown[0].letters else "comparison.ranks"
    return Note(key, {"measure": measure, "groups": groups, "n": n})


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
