"""Remarks: what could change what a reader concludes, each cause once, whichever systems and measures it is about."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from rankgauge.record import Record
from rankgauge.reports.document import note_about, said_once
from rankgauge.words import Note

if TYPE_CHECKING:  # which a table of means does without
    from rankgauge.record import ComparisonResult

__all__ = ["remarks_of", "unsaid"]

_PAIRS = 2
"""Pairs that a remark names."""
_RANGES = ("comparison.unjudged_flips", "comparison.unjudged_may_flip", "comparison.ties_flip")
_NO_VERDICT = ("evaluation.ties", "evaluation.judged_low", "live.too_many")
"""What turns no verdict by itself: where it could, a range over labels or orders says so."""


def remarks_of(record: Record) -> list[Note]:
    """The warnings that count, in the order: who is missing, what was answered, what was scored, what could turn."""
    left_out = [Note("report.left_out", {"name": n, "reason": why}, "warning") for n, why in record.invalid.items()]
    everyone = [system.name for system in record.systems]
    told: list[tuple[Note, str]] = []
    for note, names in _notes(record):
        if note.level == "warning" and not note.key.startswith(_NO_VERDICT) and note.key not in _RANGES:
            told += [(note, name) for name in names or everyone]
    grouped = [
        note if len(set(names)) == len(everyone) else note_about(list(dict.fromkeys(names)), note)
        for note, names in said_once(told)
    ]
    grouped = _kinds_together(grouped)
    ranges = [] if record.comparison is None else list(_turning(record.comparison))
    return [*left_out, *_kept(record), *grouped, *ranges]


def _kinds_together(notes: list[Note]) -> list[Note]:
    """What is said of real and synthetic queries of each system, as one remark."""
    mixed = {
        name: note.parameters["text"]
        for note in notes
        if note.key == "report.of" and note.parameters["text"].key == "synthetic.mixed"
        for name in note.parameters["who"]
    }
    if not mixed:
        return notes
    from rankgauge.evaluation.synthetic import systems_note  # most queries are real

    rest = [note for note in notes if note.key != "report.of" or note.parameters["text"].key != "synthetic.mixed"]
    return [*rest, systems_note(mixed)]


def _kept(record: Record) -> Iterator[Note]:
    """Answers that were not measured now: what is judged may not be what the system is."""
    live = [(system.name, system.calls) for system in record.systems if system.calls is not None]
    for note, names in said_once((note, name) for name, calls in live for note in calls.notes):
        if note.key == "live.cached":
            yield note_about(names, note)
    if untimed := [name for name, calls in live if calls.latency is None and calls.kept]:
        yield Note("report.untimed", {"names": untimed})


def unsaid(notes: Iterable[Note], record: Record) -> list[Note]:
    """Those of the notes that stand not among the remarks, in their own words or in those of a range."""
    remarks = remarks_of(record)
    keys = {remark.key for remark in remarks}
    said = [_about(remark) for remark in remarks]

    def known(note: Note) -> bool:
        return note.key.replace("comparison.", "answer.") in keys if note.key in _RANGES else _about(note) in said

    return [note for note in notes if not known(note)]


def _about(note: Note) -> Note:
    """A note without the systems that it names."""
    inner = {"comparison.some_systems": "note", "report.of": "text"}.get(note.key)
    found = note if inner is None else note.parameters.get(inner)
    return found if isinstance(found, Note) else note


def _notes(record: Record) -> Iterator[tuple[Note, list[str]]]:
    """Each note with the systems it is about; none are all."""
    for system in record.systems:
        for note in () if system.calls is None else system.calls.notes:
            yield note, [system.name]
    compared = record.comparison
    if compared is None or not compared.notes:
        for system in record.systems:
            for note in system.notes:
                yield note, [system.name]
        return
    for note in compared.notes:
        inner, about = note.parameters.get("note"), note.parameters.get("systems")
        if note.key == "comparison.some_systems" and isinstance(inner, Note) and isinstance(about, list):
            yield inner, [str(name) for name in about]
        else:
            yield note, []


def _turning(compared: ComparisonResult) -> Iterator[Note]:
    """Labels and orders that could make another system the winner, one remark for each kind."""
    verdicts = {(row.measure, row.a, row.b): row.verdict for row in compared.rows}
    unjudged = [] if compared.unjudged is None else [row for row in compared.unjudged.rows if row.changes_winner]
    tied = [] if compared.tied is None else [row for row in compared.tied.rows if row.changes_winner]
    proven = ("better", "worse")
    kinds: dict[str, list[Any]] = {
        "unjudged_flips": [row for row in unjudged if row.exact],
        # A bound that may be too wide says something only against a verdict.
        "unjudged_may_flip": [
            row for row in unjudged if not row.exact and verdicts.get((row.measure, row.a, row.b)) in proven
        ],
        "ties_flip": tied,
    }
    for key, rows in kinds.items():
        if rows:
            pairs: dict[tuple[str, str], list[str]] = {}
            for row in rows:
                pairs.setdefault((row.a, row.b), []).append(row.measure)
            named = [Note("answer.pair", {"a": a, "b": b, "measures": names}) for (a, b), names in pairs.items()]
            if len(named) > _PAIRS:
                named = [*named[: _PAIRS - 1], Note("answer.more_pairs", {"n": len(named) - _PAIRS + 1})]
            about = {} if key == "ties_flip" else {"documents": _documents([row.documents for row in rows])}
            yield Note(f"answer.{key}", {**about, "pairs": named}, "warning")


def _documents(counts: list[int]) -> Note:
    """How many unjudged documents it depends on, which differs from pair to pair."""
    low, high = min(counts), max(counts)
    if low == high:
        return Note("answer.unjudged_documents", {"n": low})
    return Note("answer.unjudged_between", {"low": low, "high": high})
