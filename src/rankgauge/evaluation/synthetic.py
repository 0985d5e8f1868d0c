"""Queries that no person asked, beside real ones: the mean of each kind apart, so that neither hides the other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from rankgauge.engine.averaging import aggregate, byte_order
from rankgauge.evaluation.scores import Scores
from rankgauge.model.ranked import Bools, Floats
from rankgauge.record import Record
from rankgauge.words import Note

__all__ = ["Apart", "apart_in", "kinds_note", "mixed_note", "notes_in", "synthetic_notes", "systems_note"]

_MOST_MEASURES = 3
_MOST_SYSTEMS = 4


@dataclass(frozen=True)
class Apart:
    """A measure over the real queries and over the synthetic ones; None where no query of a kind counts."""

    measure: str
    real: float | None
    synthetic: float | None
    real_queries: int
    synthetic_queries: int

    @staticmethod
    def of(measure: str, how: str, values: Floats, counted: Bools, made: Bools, queries: Sequence[str]) -> Apart:
        order, (real, synthetic) = byte_order(queries), (counted & ~made, counted & made)
        means = [aggregate(how, values, kind, order) if kind.any() else None for kind in (real, synthetic)]
        return Apart(measure, means[0], means[1], int(real.sum()), int(synthetic.sum()))

    @property
    def note(self) -> Note:
        names = {"measure": self.measure, "real": self.real, "synthetic": self.synthetic}
        missing = [name for name in ("real", "synthetic") if names[name] is None]
        return Note(f"synthetic.no_{missing[0]}" if missing else "synthetic.means", names)


def apart_in(record: Record, system: str, measures: Sequence[str]) -> list[Apart]:
    """The kinds apart, of a record that holds the scores of its queries and has both kinds."""
    made = _made(record.queries, record.synthetic)
    if not made.any() or made.all():
        return []
    own = record.system(system)
    found = []
    for about in (record.measure(name) for name in measures):
        values = np.array(own.per_query[about.name], dtype=np.float64)
        counted = np.array(own.counted.get(about.name, [True] * len(values)), dtype=bool)
        found.append(Apart.of(about.name, about.aggregate, values, counted, made, record.queries))
    return found


def synthetic_notes(scores: Scores) -> list[Note]:
    """A warning where some queries are synthetic, and one where all are."""
    synthetic = scores.synthetic
    if not synthetic:
        return []
    table, queries = scores.table, scores.table.queries
    made = _made(queries, synthetic)
    if made.all():
        return [_all(synthetic, len(made))]
    apart = [
        Apart.of(str(one), one.definition.aggregate, table.values[:, j], table.counted[:, j], made, queries)
        for j, one in enumerate(scores.measures)
    ]
    return [mixed_note(apart, int(made.sum()), len(made))]


def notes_in(record: Record, system: str, measures: Sequence[str]) -> list[Note]:
    """The same of a system in a record that holds the scores of its queries."""
    apart = apart_in(record, system, measures)
    made = int(_made(record.queries, record.synthetic).sum())
    if apart:
        return [mixed_note(apart, made, len(record.queries))]
    return [_all(record.synthetic, made)] if made else []


def kinds_note(
    columns: Mapping[str, tuple[Floats, Bools]],
    measure: str,
    how: str,
    queries: Sequence[str],
    synthetic: Mapping[str, str],
) -> Note:
    """The same of several systems, by their scores of one measure and which of these count."""
    made = _made(queries, synthetic)
    if made.all():
        return _all(synthetic, len(made))
    mixed = {}
    for name, (values, counted) in columns.items():
        apart = Apart.of(measure, how, np.where(counted, values, 0.0), counted, made, queries)
        mixed[name] = mixed_note([apart], int(made.sum()), len(made))
    return systems_note(mixed)


def _all(synthetic: Mapping[str, str], n: int) -> Note:
    return Note("synthetic.all", {"n": n, "makers": list(dict.fromkeys(synthetic.values()))}, "warning")


def mixed_note(apart: Sequence[Apart], synthetic: int, n: int) -> Note:
    """The means of the first measures, kind by kind."""
    counts = {"synthetic": synthetic, "n": n}
    return Note("synthetic.mixed", {**counts, "means": [one.note for one in apart[:_MOST_MEASURES]]}, "warning")


def systems_note(mixed: Mapping[str, Note]) -> Note:
    """The notes of several systems as one, about the first measure."""
    counts = {name: value for name, value in next(iter(mixed.values())).parameters.items() if name != "means"}
    first = {system: note.parameters["means"][0] for system, note in mixed.items()}
    shown = [Note("synthetic.system", {"system": name, "means": first[name]}) for name in list(first)[:_MOST_SYSTEMS]]
    if len(first) > _MOST_SYSTEMS:
        shown.append(Note("synthetic.more", {"n": len(first) - _MOST_SYSTEMS}))
    return Note("synthetic.systems", {**counts, "systems": shown}, "warning")


def _made(queries: Sequence[str], synthetic: Mapping[str, str]) -> Bools:
    return np.array([query in synthetic for query in queries], dtype=bool)
