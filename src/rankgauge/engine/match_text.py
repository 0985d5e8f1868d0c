"""From rows of text to ranks and grades of the judged documents, with numpy alone."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial

import numpy as np

from rankgauge.engine.hits import Hits, Judged, assemble
from rankgauge.model.contract import Contract
from rankgauge.model.ordering import first_scores, places
from rankgauge.model.ranked import Ints, RankedGrades, largest_first
from rankgauge.model.text_rows import IrregularTextError, Keys, TextRows, has_repeats, mixed, require_equal

__all__ = ["TextMatcher"]

_COMPARE_UP_TO = 16  # judged documents of a query up to which comparing beats searching
_MOST_TIED = 200_000  # tied documents whose ids are compared one by one


class TextMatcher:
    """Takes parts of a run, each with whole queries, and finds the judged documents in them.

    What it does not handle (queries that come back, documents that stand twice, masses of ties) is an
    `IrregularTextError`, for the matcher of data frames to deal with.
    """

    def __init__(self, judgments: TextRows, contract: Contract) -> None:
        first = judgments.first_of_lists()
        keys = judgments.query_key[first]
        self._pairs = mixed(judgments.query_key, judgments.doc_key)
        if has_repeats(np.sort(keys)) or has_repeats(np.sort(self._pairs)):
            raise IrregularTextError
        self._contract = contract
        self._rows = judgments
        self._starts = np.append(first, len(judgments))
        self._owner = np.repeat(np.arange(len(first)), np.diff(self._starts))
        self._keys, self._next = keys, 0
        self._by_key = np.argsort(keys, kind="stable")
        self._query_keys = keys[self._by_key]
        self._sorted_pairs: tuple[Keys, Ints] | None = None
        queries = judgments.queries(first)
        self._judged = Judged(queries, self._starts, largest_first(judgments.number, self._owner))
        self._in_run = np.zeros(len(queries), dtype=bool)
        self._retrieved = np.zeros(len(queries), dtype=np.int64)
        self._top = np.full(len(queries), np.nan)
        self._hits: list[Hits] = []
        self._heads: list[Keys] = []
        self.first_queries: list[str] = []

    @property
    def run_queries(self) -> int:
        """How many queries the run has, judged or not."""
        return sum(map(len, self._heads))

    def add_all(self, parts: Iterable[TextRows]) -> RankedGrades:
        for part in parts:
            self._add(part)
        if not self._heads or has_repeats(np.sort(np.concatenate(self._heads))):  # nothing, or a query came back
            raise IrregularTextError
        return assemble(self._judged, self._hits, self._in_run, self._retrieved, top=self._top)

    def _add(self, rows: TextRows) -> None:
        first = rows.first_of_lists()
        starts = np.append(first, len(rows))
        heads = rows.query_key[first]
        if not self.first_queries:
            self.first_queries = list(rows.queries(first[:5]))
        self._heads.append(heads)
        pairs = mixed(rows.query_key, rows.doc_key)
        if has_repeats(np.sort(pairs)):
            raise IrregularTextError
        owners = self._owners(heads)
        judged = owners >= 0
        require_equal(rows.query.take(first[judged]), self._rows.query.take(self._starts[owners[judged]]))
        self._in_run[owners[judged]] = True
        self._retrieved[owners[judged]] = np.diff(starts)[judged]
        self._top[owners[judged]] = first_scores(rows.number, starts, self._contract)[judged]
        row, judgment = self._join(rows, starts, owners, pairs)
        require_equal(rows.doc.take(row), self._rows.doc.take(judgment))
        number = np.searchsorted(starts, row, side="right") - 1
        above, tied, tie_met = places(rows.number, starts, row, number, partial(_ids, rows), self._contract)
        grade = self._rows.number[judgment]
        self._hits.append(Hits(self._owner[judgment], above, tied, grade, judgment, tie_met))

    def _owners(self, heads: Keys) -> Ints:
        """Number of each query among the judged ones, -1 where it has no judgments."""
        if not len(self._query_keys):
            return np.full(len(heads), -1)
        likely = slice(self._next, self._next + len(heads))  # runs often list queries as the judgments do
        if np.array_equal(self._keys[likely], heads):
            self._next += len(heads)
            return np.arange(likely.start, likely.stop)
        place = np.minimum(np.searchsorted(self._query_keys, heads), len(self._query_keys) - 1)
        return np.where(self._query_keys[place] == heads, self._by_key[place], -1)

    def _join(self, rows: TextRows, starts: Ints, owners: Ints, pairs: Keys) -> tuple[Ints, Ints]:
        """(row of the run, row of the judgments) of every judged document that was retrieved."""
        begin = self._starts[owners]
        counts = np.where(owners >= 0, self._starts[owners + 1] - begin, 0)
        if int(counts.max()) <= _COMPARE_UP_TO:
            lengths = np.diff(starts)
            found: list[Ints] = []
            judgments: list[Ints] = []
            for i in range(int(counts.max())):
                wanted = np.where(counts > i, begin + i, 0)
                row = np.flatnonzero(pairs == np.repeat(self._pairs[wanted], lengths))
                number = np.searchsorted(starts, row, side="right") - 1
                own = counts[number] > i
                found.append(row[own])
                judgments.append(wanted[number[own]])
            none = [np.zeros(0, dtype=np.int64)]
            return np.concatenate(found or none), np.concatenate(judgments or none)
        if self._sorted_pairs is None:
            order = np.argsort(self._pairs)
            self._sorted_pairs = (self._pairs[order], order)
        known, order = self._sorted_pairs
        place = np.minimum(np.searchsorted(known, pairs), len(known) - 1)
        row = np.flatnonzero(known[place] == pairs)
        return row, order[place[row]]


def _ids(source: TextRows, rows: Ints) -> list[bytes]:
    if len(rows) > _MOST_TIED:
        raise IrregularTextError
    return [source.doc_bytes(row) for row in rows.tolist()]
