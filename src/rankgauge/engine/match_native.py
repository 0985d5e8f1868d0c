"""To ranks and grades of the judged documents by the compiled module: from files of TREC text, dictionaries, frames.

Each function gives None without the module, and for what the module does not take; NumPy and polars then do the work.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

import numpy as np

from rankgauge.ahead import begun_match
from rankgauge.engine.hits import Hits, Judged, assemble
from rankgauge.formats.sources import PlainFile, Source
from rankgauge.model.contract import Contract
from rankgauge.model.judgments import Qrels
from rankgauge.model.ranked import Floats, RankedGrades, largest_first
from rankgauge.model.run import Run
from rankgauge.model.text_rows import IrregularTextError, TextRows
from rankgauge.native import RUN_PART, Rules, native, rules, threads

__all__ = ["NativeMatch", "match_native", "match_native_frames", "match_native_mappings"]


@dataclass(frozen=True, eq=False, repr=False)
class NativeMatch:
    """What the module found in a run."""

    ranked: RankedGrades
    run_queries: int
    first_queries: list[str]


def match_native(judgments: TextRows, run: Source, contract: Contract, *, part: int = RUN_PART) -> NativeMatch | None:
    """Files that are neither compressed nor pipes, of plain text."""
    module, file = native(), run.plain_file()
    if module is None or file is None:
        return None
    rows = judgments
    begun = begun_match(rows.text, file.path, _rules(contract))
    found = _found(module, rows, file, contract, part) if begun is None else begun[0]
    if found is None:
        return None
    try:
        heads = rows.first_of_lists()
    except IrregularTextError:
        return None
    starts = np.append(heads, len(rows))
    of_query = np.repeat(np.arange(len(heads)), np.diff(starts))
    judged = Judged(rows.queries(heads), starts, largest_first(rows.number, of_query))
    return _match(found, judged, rows.number)


def _found(module: Any, rows: TextRows, file: PlainFile, contract: Contract, part: int) -> Any:
    columns = (rows.query_start, rows.query_length, rows.query_key, rows.doc_start, rows.doc_length, rows.doc_key)
    return module.match_run(
        rows.text,
        *map(np.ascontiguousarray, columns),
        os.fsencode(file.path),
        file.start,
        file.size,
        *_rules(contract),
        threads(),
        part,
    )


def match_native_frames(qrels: Qrels, run: Run, contract: Contract) -> NativeMatch | None:
    """Columns in memory, their rows in any order."""
    module = native()
    if module is None or contract.drop_self or run.mapping is not None or run.empty or qrels.without_documents:
        return None
    judgments = qrels.frame
    if "subtopic" in judgments.columns or not len(judgments):
        return None
    import polars as pl

    from rankgauge.model.keys import list_bounds

    starts, heads = list_bounds(judgments["query"])
    if not heads.is_unique().all():
        judgments = judgments.sort(pl.int_range(pl.len()).first().over("query"), maintain_order=True)
        starts, heads = list_bounds(judgments["query"])
    # Column by column: as a whole, frames would be copied into pieces of one size.
    columns = [*judgments.select("query", "doc", "grade"), *run.frame.select("query", "doc", "score")]
    found = module.match_frame(*(column.__arrow_c_stream__() for column in columns), *_rules(contract), threads())
    if found is None:
        return None
    grades = judgments["grade"].to_numpy()
    of_query = np.repeat(np.arange(len(heads)), np.diff(starts))
    return _match(found, Judged(heads.to_list(), starts, largest_first(grades, of_query)), grades)


def match_native_mappings(qrels: Qrels, run: Run, contract: Contract) -> RankedGrades | None:
    """Dictionaries; not their subclasses, nor numbers of kinds that are rarely met."""
    module = native()
    if module is None or contract.drop_self:
        return None
    found = module.match_dictionaries(qrels.mapping, run.mapping, *_rules(contract), np.float64)
    if found is None:
        return None
    counts, grades, *columns = found
    starts = np.concatenate(([0], np.cumsum(np.frombuffer(counts, dtype=np.int64))))
    numbers = np.frombuffer(grades, dtype=np.float64)
    queries = list(qrels.mapping or ())
    of_query = np.repeat(np.arange(len(queries)), np.diff(starts))
    return _ranked(columns, Judged(queries, starts, largest_first(numbers, of_query)), numbers)


def _match(found: Any, judged: Judged, grades: Floats) -> NativeMatch:
    *columns, queries, first = found
    return NativeMatch(_ranked(columns, judged, grades), queries, first)


def _ranked(columns: list[bytes], judged: Judged, grades: Floats) -> RankedGrades:
    *whole, tie_met, in_run, retrieved, top = columns
    owner, above, tied, judgment = (np.frombuffer(column, dtype=np.int64) for column in whole)
    hits = Hits(owner, above, tied, grades[judgment], judgment, np.frombuffer(tie_met, dtype=bool))
    return assemble(
        judged,
        [hits],
        np.frombuffer(in_run, dtype=bool),
        np.frombuffer(retrieved, dtype=np.int64),
        top=np.frombuffer(top, dtype=np.float64),
    )


def _rules(contract: Contract) -> Rules:
    return rules(contract.ties, single=contract.scores == "float32")
