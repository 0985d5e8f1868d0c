"""Which documents to judge next, as a report."""

from __future__ import annotations

from collections.abc import Iterator

from rankgauge.record import UnjudgedRange
from rankgauge.reports.document import Block, Cell, Column, Notes, Report, Table
from rankgauge.sensitivity.judge_next import JudgingPlan
from rankgauge.words import Note
from rankgauge.words.numbers import score
from rankgauge.words.visible import clipped

__all__ = ["judging_report"]

_MOST_TEXT = 60


def judging_report(plan: JudgingPlan, systems: list[str], digits: int = 4) -> Report:
    """The documents, the ranges that they leave open, and what to know of both; as data, whole texts."""
    documents = _documents(plan, systems, digits)
    return Report(Note("judging.title"), list(_blocks(plan, systems, digits)), data={"documents": documents})


def _blocks(plan: JudgingPlan, systems: list[str], digits: int) -> Iterator[Block]:
    if plan.candidates:
        yield _documents(plan, systems, digits, _MOST_TEXT)
    numbers = [Column(Note(f"judging.{name}"), "score") for name in ("now", "least", "most")]
    columns = [Column(Note("judging.measure")), Column(Note("judging.mean")), *numbers]
    if plan.ranges:
        yield Table("ranges", columns, [_range(found, digits) for found in plan.ranges])
    bound = [] if all(found.exact for found in plan.ranges) else [Note("judging.bound")]
    yield Notes([*bound, *plan.notes])


def _range(found: UnjudgedRange, digits: int) -> list[Cell]:
    of = Note("judging.difference", {"a": found.a, "b": found.b}) if found.a else found.b
    high = found.high if found.exact else f"{score(found.high, digits)} *"
    return [found.measure, of, found.observed, found.low, high]


def _documents(plan: JudgingPlan, systems: list[str], digits: int, most: int | None = None) -> Table:
    """The documents to judge; texts of queries are cut after `most` characters. Influences have two digits more."""
    heads = ["query", *(["text"] if plan.texts else []), "doc"]
    columns = [Column(Note(f"judging.{name}")) for name in heads]
    columns += [Column(Note("judging.rank", {"name": name}), "count") for name in systems]
    rows: list[list[Cell]] = []
    for candidate in plan.candidates:
        text = plan.texts.get(candidate.query, "")
        text = text if most is None else clipped(text, most)
        known = {"query": candidate.query, "text": text, "doc": candidate.doc}
        ranks = [candidate.ranks[name] for name in systems]
        places = ["" if rank is None else rank for rank in ranks]
        rows.append([*(known[head] for head in heads), *places, score(candidate.influence, digits + 2)])
    return Table("documents", [*columns, Column(Note("judging.influence"), "score")], rows)
