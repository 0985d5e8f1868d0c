"""Baselines of the history as reports."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from rankgauge.gating.rules import DEFAULT_MAX_LOSS
from rankgauge.history.rows import StoredBaseline
from rankgauge.history.times import shown
from rankgauge.record import Record
from rankgauge.record.identity import identity_of
from rankgauge.reports.document import Block, Cell, Column, Paragraph, Report, Table
from rankgauge.reports.evaluation import mean_table
from rankgauge.words import Note

__all__ = ["baseline_note", "baseline_report", "baselines_report", "promotion_note"]


def _word(name: str, /, **parameters: Any) -> Note:
    return Note(f"history.{name}", parameters)


def baseline_note(made: StoredBaseline) -> Note:
    """A baseline in one line."""
    told = {"name": made.name, "version": made.version, "system": made.system, "date": f"{made.created:%Y-%m-%d}"}
    return _word("baseline", **told, max_loss=_max_loss(made))


def promotion_note(made: StoredBaseline) -> Note | None:
    """What to know of a promotion against the gate, or by looser rules."""
    if made.forced is not None:
        return _word("forced", status=made.forced, note=made.note)
    looser = made.looser if made.action == "promote" else ()
    return _word("looser", rules=list(looser), note=made.note) if looser else None


def baselines_report(found: Sequence[StoredBaseline]) -> Report:
    """The current version of every baseline."""
    heads = ("name", "version", "action", "system", "measured", "max_loss", "note")
    rows: list[tuple[Cell, ...]] = [
        (b.name, str(b.version), b.action, b.system, f"{b.created:%Y-%m-%d}", _max_loss(b), _note(b)) for b in found
    ]
    return Report(_word("baselines"), [_table(heads, rows)])


def baseline_report(versions: Sequence[StoredBaseline], record: Record) -> Report:
    """A baseline: what it is a measurement of, its means and targets, and all its versions, newest first."""
    now = versions[0]
    facts = [baseline_note(now), *_facts(now, record)]
    heads = ("version", "action", "system", "record", "set_at", "note")
    rows: list[tuple[Cell, ...]] = [
        (str(v.version), v.action, v.system, str(v.record_id), shown(v.set_at), _note(v)) for v in versions
    ]
    means = mean_table(replace(record, systems=[record.system(now.system)]))
    blocks: list[Block] = [*map(Paragraph, facts), means, _table(heads, rows)]
    return Report(baseline_note(now), blocks)


def _facts(now: StoredBaseline, record: Record) -> list[Note]:
    days = (datetime.datetime.now(datetime.UTC) - now.created).days
    known = vars(identity_of(record))
    return [
        _word("fact_record", id=now.record_id, uid=now.uid[:12]),
        _word("fact_measured", time=shown(now.created), days=days),
        _word("fact_max_loss", max_loss=_max_loss(now)),
        *([_word("fact_targets", targets=list(now.targets))] if now.targets else []),
        *([_word("fact_used", rules=_used(now.used))] if now.used else []),
        *(_word(f"fact_{key}", hash=value[:12] if value else _word("unknown")) for key, value in known.items()),
        _word("fact_anchor", id=now.anchor_id),
    ]


def _table(heads: Sequence[str], rows: Sequence[Sequence[Cell]]) -> Table:
    return Table("baselines", [Column(_word(head)) for head in heads], rows)


def _max_loss(made: StoredBaseline) -> Note:
    return (
        _word("default_loss", share=DEFAULT_MAX_LOSS) if made.max_loss is None else _word("loss", share=made.max_loss)
    )


def _note(made: StoredBaseline) -> str:
    marks = [mark for mark in (made.forced, *made.looser) if mark]
    return (f"[{', '.join(marks)}] " if marks else "") + (made.note or "")


def _used(rules: Any) -> list[str]:
    """Rules as a plan writes them."""
    return [f"{key} {' '.join(value) if isinstance(value, list) else value}" for key, value in rules.items()]
