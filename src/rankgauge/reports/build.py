"""A report from a result: built once, for all formats."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import Any

from rankgauge.errors import DataError
from rankgauge.record import Record
from rankgauge.reports.answer import answer_part
from rankgauge.reports.document import Block, Explorer, Notes, Report, Table, word
from rankgauge.reports.evaluation import (
    cautions,
    means_part,
    per_query_table,
    provenance_part,
    readings,
    score_data,
    targets_part,
)
from rankgauge.reports.passages import overlap_part
from rankgauge.words import Note

__all__ = ["record_report", "report_of"]

_NAMES = 3


def report_of(result: Any, *, per_query: bool = False) -> Report:
    """The report of a record, of a result that has one, or of a gate."""
    if isinstance(result, str | os.PathLike):
        result = Record.load(result)
    record = result if isinstance(result, Record) else getattr(result, "record", None)
    if not isinstance(record, Record):
        from rankgauge.gating.outcome import GateResult
        from rankgauge.reports.gate import gate_report

        if isinstance(result, GateResult):
            return gate_report(result)
        raise DataError(
            f"no report can be made of {type(result).__name__}; give a record, its file, or a result that has one"
        )
    built = record_report(record, per_query=per_query)
    if record.sweeps and hasattr(result, "result"):  # a `Sweep`
        from rankgauge.reports.versions import versions_part

        # What was asked for are the versions, not the means of the best one.
        rest = [block for block in built.blocks if block.detail != "answer" or _is_beside(block)]
        return replace(built, blocks=[*versions_part(record), *rest])
    return built


def _is_beside(block: Block) -> bool:
    return isinstance(block, Explorer) or (isinstance(block, Notes) and block.folded)


def record_report(record: Record, *, per_query: bool = False, scenario: str | None = None) -> Report:
    """The report of a record; `per_query` adds every query's scores to formats that cannot explore them,
    `scenario` the reference values of one."""
    compared = record.comparison
    if record.losses and compared is None and not _is_live(record):
        return _losses_report(record, per_query=per_query)
    static: list[Block] = [per_query_table(record)] if per_query else []
    # Only what the record holds is loaded: a table of means should come at once.
    blocks: list[Block] = [*answer_part(record), *targets_part(record, scenario)]
    traced = any(system.traces for system in record.systems)
    if traced:
        from rankgauge.reports.traces import traces_answer, traces_part

        at = next((i for i, block in enumerate(blocks) if _is_beside(block)), len(blocks))  # above the remarks
        blocks[at:at] = traces_answer(record)
    if compared is None:
        blocks += [*means_part(record), *overlap_part(record), *_live_part(record), *_losses_part(record)]
        blocks += traces_part(record) if traced else ()
        blocks.append(Explorer(static))
    else:
        from rankgauge.reports import comparison as part

        blocks += [*means_part(record), *overlap_part(record)]
        blocks += part.comparison_part(record, compared) if compared.rows else ()
        blocks += [*_live_part(record), *_losses_part(record)]
        blocks += traces_part(record) if traced else ()
        blocks.append(Explorer([*static, *part.changed_part(record, compared)]))
        blocks += [*part.ending_part(record, compared)]
        blocks += part.verdict_cards(compared) if compared.rows else ()
    if any(system.no_answer is not None for system in record.systems):
        from rankgauge.reports.no_answer import no_answer_part

        blocks += no_answer_part(record)
    blocks += [*readings(record), *provenance_part(record)]
    names = [system.name for system in record.systems]
    about = word("comparison_of" if compared is not None else "evaluation_of", names=_named(names))
    counted = {"queries": _queries(record), "systems": len(names)}
    return Report(
        about,
        blocks,
        word("made", date=record.created[:10], **counted),
        _data(record, per_query),
        cautions=cautions(record),
        record=record,
    )


def _losses_report(record: Record, *, per_query: bool) -> Report:
    """Of a record that is about losses alone."""
    from rankgauge.reports.losses import losses_answer, losses_data, losses_part

    blocks = [*losses_answer(record, record.losses[0]), *losses_part(record, alone=True)]
    blocks += [Explorer([per_query_table(record)] if per_query else []), *provenance_part(record)]
    about = Note("losses.title", {"system": record.losses[0].system})
    counted = {"queries": _queries(record), "stages": len(record.losses[0].stages)}
    made = Note("losses.made", {"date": record.created[:10], **counted})
    return Report(about, blocks, made, losses_data(record), cautions=cautions(record), record=record)


def _losses_part(record: Record) -> list[Block]:
    if not record.losses:
        return []
    from rankgauge.reports.losses import losses_part

    return list(losses_part(record, alone=False))


def _is_live(record: Record) -> bool:
    return bool(record.sweeps or record.invalid or any(system.calls for system in record.systems))


def _live_part(record: Record) -> list[Block]:
    if not _is_live(record):
        return []
    from rankgauge.reports.calls import calls_part, sweeps_part

    return [*calls_part(record), *sweeps_part(record)]


def _data(record: Record, per_query: bool) -> dict[str, Table]:
    if record.comparison is not None:
        from rankgauge.reports.comparison import comparison_data

        main = comparison_data(record.comparison)
    elif per_query:
        main = per_query_table(record, ("system", "query"))
    else:
        main = score_data(record)
    found = {main.name: main}
    if any(system.traces for system in record.systems):
        from rankgauge.reports.traces import trace_data

        found["traces"] = trace_data(record)
    if _is_live(record):
        from rankgauge.reports.calls import calls_data

        found |= calls_data(record)
    return found


def _named(names: list[str]) -> Any:
    if len(names) <= _NAMES:
        return names
    return word("and_more", names=names[: _NAMES - 1], rest=len(names) - _NAMES + 1, n=len(names))


def _queries(record: Record) -> int:
    counts = (mean.queries for system in record.systems for mean in system.means.values())
    return len(record.queries) or max(counts, default=0)
