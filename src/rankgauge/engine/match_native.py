"""From files of TREC text to ranks and grades of the judged documents, by the compiled module."""

from __future__ import annotations

import os
from dataclasses import dataclass

import numpy as np

from rankgauge.engine.hits import Hits, Judged, assemble
from rankgauge.formats.sources import Source
from rankgauge.model.contract import Contract
from rankgauge.model.ranked import RankedGrades, largest_first
from rankgauge.model.text_rows import TextRows
from rankgauge.native import native

__all__ = ["NativeMatch", "match_native"]

_TIES = {"trec": 0, "given": 1, "expected": 2, "stable": 3}
_PART = 4 << 20  # bytes that a thread takes at a time
_MOST_THREADS = 8


@dataclass(frozen=True, eq=False, repr=False)
class NativeMatch:
    """What the module found in a run."""

    ranked: RankedGrades
    run_queries: int
    first_queries: list[str]


def match_native(judgments: TextRows, run: Source, contract: Contract, *, part: int = _PART) -> NativeMatch | None:
    """None without the module, for files that it does not read (compressed, pipes), and for text that is not plain."""
    module, file = native(), run.plain_file()
    if module is None or file is None:
        return None
    rows = judgments
    columns = (rows.query_start, rows.query_length, rows.query_key, rows.doc_start, rows.doc_length, rows.doc_key)
    found = module.match_run(
        rows.text,
        *map(np.ascontiguousarray, columns),
        os.fsencode(file.path),
        file.start,
        file.size,
        _TIES[contract.ties],
        contract.scores == "float32",
        min(_processors(), _MOST_THREADS),
        part,
    )
    if found is None:
        return None
    *whole, tie_met, in_run, retrieved, top, queries, first = found
    owner, above, tied, judgment = (np.frombuffer(column, dtype=np.int64) for column in whole)
    heads = rows.first_of_lists()
    starts = np.append(heads, len(rows))
    of_query = np.repeat(np.arange(len(heads)), np.diff(starts))
    judged = Judged(rows.queries(heads), starts, largest_first(rows.number, of_query))
    hits = Hits(owner, above, tied, rows.number[judgment], judgment, np.frombuffer(tie_met, dtype=bool))
    ranked = assemble(
        judged,
        [hits],
        np.frombuffer(in_run, dtype=bool),
        np.frombuffer(retrieved, dtype=np.int64),
        top=np.frombuffer(top, dtype=np.float64),
    )
    return NativeMatch(ranked, queries, first)


def _processors() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
