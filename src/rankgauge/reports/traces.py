"""The part of a report that traces add: calls, tokens and evidence of a question, then call by call."""

from __future__ import annotations

from collections.abc import Iterator

from rankgauge.record import Record, SystemResult
from rankgauge.record.traces import Spent, TraceUse
from rankgauge.reports.document import Block, Cell, Column, Detail, Heading, Notes, Paragraph, Table, data_table
from rankgauge.words import Note
from rankgauge.words.numbers import percent

__all__ = ["trace_data", "traces_answer", "traces_part"]

_ON_FIRST_SCREEN = 6
"""Calls of a table that still fits below the means."""


def _traced(record: Record) -> list[tuple[SystemResult, TraceUse]]:
    return [(system, system.traces) for system in record.systems if system.traces is not None]


def traces_answer(record: Record) -> Iterator[Block]:
    """What a question took, and how often all its evidence was there; of one system call by call."""
    traced = _traced(record)
    if traced:
        yield Notes([_used(system, use) for system, use in traced])
    if len(traced) == 1 and record.comparison is None and len(traced[0][1].by_call) <= _ON_FIRST_SCREEN:
        yield _table(record, *traced[0], "answer")


def _used(system: SystemResult, use: TraceUse) -> Note:
    about = {"system": system.name, "calls": use.calls_per_question, "documents": use.documents}
    about["tokens"] = (
        "" if use.tokens is None else Note("traces.tokens", {"mean": use.tokens.mean, "p95": use.tokens.p95})
    )
    if not use.evidence:
        return Note("traces.used_no_evidence", about)
    about |= {"evidence": use.evidence, "share": 1 - use.never / use.evidence, "when": ""}
    if len(use.by_call) > 1:
        about["when"] = Note("traces.after_first", {"share": use.by_call[0].complete / use.evidence})
    return Note("traces.used", about)


def traces_part(record: Record) -> Iterator[Block]:
    """Call by call, and what the calls took."""
    traced = _traced(record)
    if not traced:
        return
    yield Heading(Note("traces.title", {"system": ", ".join(system.name for system, _ in traced)}), "traces")
    for system, use in traced:
        if record.comparison is not None or len(traced) > 1 or len(use.by_call) > _ON_FIRST_SCREEN:
            yield _table(record, system, use, "evidence")
        spent = [("tokens_name", use.tokens), ("seconds", use.seconds)]
        told = [_spent(system.name, name, figures) for name, figures in spent if figures is not None]
        if told:
            yield Notes(told, detail="evidence")
    yield Paragraph(Note("traces.hint", {"order": Note(f"traces.order_{traced[0][1].order}")}), "hint", "evidence")


def _spent(system: str, name: str, figures: Spent) -> Note:
    values = {"mean": figures.mean, "p50": figures.p50, "p95": figures.p95, "n": figures.questions}
    return Note("traces.spent", {"system": system, "what": Note(f"traces.{name}"), **values})


def _table(record: Record, system: SystemResult, use: TraceUse, detail: Detail) -> Table:
    """One row for each number of call, by the first measure; of further measures the unions."""
    first, *others = [about.name for about in record.measures]
    others = others if detail != "answer" else []
    columns = [
        Column(Note("traces.call")),
        Column(Note("traces.questions"), "count"),
        Column(Note("traces.own", {"measure": first}), "score"),
        Column(Note("traces.union", {"measure": first}), "score"),
        *([Column(Note("traces.complete"))] if use.evidence else []),
        *(Column(Note("traces.union", {"measure": name}), "score", drop=2 + i) for i, name in enumerate(others)),
    ]
    rows: list[tuple[Cell, ...]] = []
    there = 0
    for entry in use.by_call:
        there += entry.complete
        share = f"{there} ({percent(there / use.evidence, 0)})" if use.evidence else ""
        rows.append(
            (
                str(entry.call),
                entry.questions,
                entry.own[first],
                entry.union[first],
                *([share] if use.evidence else []),
                *(entry.union[name] for name in others),
            )
        )
    notes = [Note("traces.never", {"n": use.never, "evidence": use.evidence})] if use.evidence else []
    title = Note("traces.title", {"system": system.name})
    return Table(f"traces_{system.name}", columns, rows, title, notes, detail=detail, light=detail == "answer")


def trace_data(record: Record) -> Table:
    """One row for each system, call and measure, for spreadsheets."""
    rows: list[dict[str, Cell]] = [
        {
            "system": system.name,
            "call": entry.call,
            "questions": entry.questions,
            "measure": about.name,
            "own": entry.own[about.name],
            "union": entry.union[about.name],
            "complete": entry.complete,
        }
        for system, use in _traced(record)
        for entry in use.by_call
        for about in record.measures
    ]
    return data_table("traces", rows, "plain")
