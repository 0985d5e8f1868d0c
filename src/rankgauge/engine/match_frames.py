"""From columns to ranks and grades of the judged documents, one part of a run at a time.

Rows are joined with the judgments by a 64-bit hash of (query, document), and the matches are then compared as text, so
no row becomes a Python object. The same hashes, sorted, show whether a document stands twice in a list.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from rankgauge.engine.characters import CharacterCounts
from rankgauge.engine.hits import Hits, Judged, assemble
from rankgauge.engine.long_lists import counted_places
from rankgauge.errors import ContractError
from rankgauge.model.contract import Contract
from rankgauge.model.judgments import Qrels
from rankgauge.model.keys import Hashes, list_bounds, pair_keys, repeated_pairs
from rankgauge.model.ordering import as_compared, first_scores, places, rank_lists
from rankgauge.model.ranked import Floats, Ints, RankedGrades, SubtopicHits, largest_first
from rankgauge.model.run import Run
from rankgauge.model.text_rows import has_repeats

if TYPE_CHECKING:
    from rankgauge.formats import RunParts

__all__ = ["FrameMatcher", "JudgmentIndex", "NotGroupedError", "without_repeats"]

Budgets = Mapping[str, tuple[Callable[[pl.Series], Floats], int]]


class NotGroupedError(Exception):
    """A query came back after other queries: the rows are not grouped by query."""


@dataclass(frozen=True, eq=False, repr=False)
class JudgmentIndex:
    """Judgments made ready to be joined with runs; several runs can share one."""

    judged: Judged
    rows: pl.DataFrame
    """One row for each judged (query, document): key, judgment (row number), doc, owner, grade."""
    query_numbers: pl.DataFrame
    subtopics: SubtopicHits | None
    """Their `hit` is the row of the judgment."""

    @staticmethod
    def kept(qrels: Qrels) -> JudgmentIndex:
        """Made once for all runs that the judgments are matched with."""
        index: JudgmentIndex = vars(qrels).get("_index") or JudgmentIndex.of(qrels)
        vars(qrels)["_index"] = index
        return index

    @staticmethod
    def of(qrels: Qrels) -> JudgmentIndex:
        frame = qrels.frame
        by_subtopic = frame if "subtopic" in frame.columns else None
        if by_subtopic is not None:
            frame = frame.group_by("query", "doc", maintain_order=True).agg(pl.col("grade").max())
        bounds, heads = list_bounds(frame["query"])
        queries = heads.unique(maintain_order=True)
        if qrels.without_documents:
            queries = pl.Series("query", qrels.queries, dtype=pl.String)
        numbers = pl.DataFrame({"query": queries, "owner": np.arange(len(queries), dtype=np.int64)})
        owner = np.repeat(_numbers_of(heads, numbers), np.diff(bounds))
        grades = frame["grade"].to_numpy()
        rows = pl.DataFrame(
            {
                "key": pair_keys(bounds, heads, frame["doc"]),
                "judgment": np.arange(len(frame)),
                "doc": frame["doc"],
                "owner": owner,
                "grade": grades,
            }
        )
        starts = np.concatenate(([0], np.cumsum(np.bincount(owner, minlength=len(queries)))))
        judged = Judged(queries.to_list(), starts, largest_first(grades, owner))
        subtopics = None if by_subtopic is None else _subtopic_rows(by_subtopic, frame, numbers)
        return JudgmentIndex(judged, rows, numbers, subtopics)


def _subtopic_rows(frame: pl.DataFrame, documents: pl.DataFrame, numbers: pl.DataFrame) -> SubtopicHits:
    judgments = documents.select("query", "doc").with_row_index("judgment")
    rows = (
        frame.join(judgments, on=["query", "doc"])
        .join(numbers, on="query")
        .with_columns(
            pl.col("doc").rank("dense", descending=True).over("query").alias("document"),
            pl.col("subtopic").rank("dense").over("query").alias("number"),
        )
        .sort("owner", "document", "number")
    )
    counts = np.bincount(rows["owner"].to_numpy(), minlength=len(numbers))
    return SubtopicHits(
        np.concatenate(([0], np.cumsum(counts))),
        rows["document"].to_numpy().astype(np.int64),
        rows["number"].to_numpy().astype(np.int64),
        rows["grade"].to_numpy(),
        rows["judgment"].to_numpy().astype(np.int64),
    )


def _numbers_of(heads: pl.Series, numbers: pl.DataFrame) -> Ints:
    """The number of each query among the judged ones, -1 where it has no judgments."""
    if len(heads) == len(numbers) and heads.equals(numbers["query"]):
        return np.arange(len(heads))
    joined = pl.DataFrame({"query": heads}).join(numbers, on="query", how="left", maintain_order="left")
    return joined["owner"].fill_null(-1).to_numpy()


def without_repeats(frame: pl.DataFrame, keys: Hashes, contract: Contract, run: Run | RunParts) -> pl.DataFrame:
    """Each document of a list once: the better ranked one, if the contract allows repeats at all. The same frame where
    there are none."""
    repeated = repeated_pairs(frame, keys)
    if not len(repeated):
        return frame
    if contract.duplicates == "error":
        raise run.describe_repeats(repeated.head(20).rows(), len(repeated))
    rows = frame.with_row_index("row")
    if contract.ties != "given":
        rows = rows.sort("score", descending=True, maintain_order=True)
    return rows.unique(["query", "doc"], keep="first", maintain_order=True).sort("row").drop("row")


class FrameMatcher:
    """Takes parts of a run, each with whole queries, and finds the judged documents in them.

    `budgets` maps a name to a function that gives documents their cost, and a limit; the matcher then counts how many
    documents of each list fit. `characters` takes the ids of each list in their order.
    """

    def __init__(
        self,
        index: JudgmentIndex,
        contract: Contract,
        run: Run | RunParts,
        budgets: Budgets,
        characters: CharacterCounts | None = None,
    ) -> None:
        n = len(index.judged.queries)
        self._index, self._contract, self._run = index, contract, run
        self._hits: list[Hits] = []
        self._in_run = np.zeros(n, dtype=bool)
        self._retrieved = np.zeros(n, dtype=np.int64)
        self._top = np.full(n, np.nan)
        self._budgets, self._characters = budgets, characters
        self._prefix = {key: np.zeros(n, dtype=np.int64) for key in self._budgets}
        self._seen: Hashes = np.zeros(0, dtype=np.uint64)
        self.first_queries: list[str] = []
        """A few queries of the run, for messages."""

    def add(self, frame: pl.DataFrame) -> None:
        """Rows query, doc, score of whole queries."""
        if not len(frame):
            return
        if not self.first_queries:
            self.first_queries = frame["query"].head(5).to_list()
        starts, heads = list_bounds(frame["query"])
        owners = self._note_queries(heads)
        if self._contract.drop_self:
            frame = frame.filter(frame["query"] != frame["doc"])
            starts, heads, owners = self._lists(frame)
        keys = pair_keys(starts, heads, frame["doc"])
        once = without_repeats(frame, keys, self._contract, self._run)
        if once is not frame:
            frame = once
            starts, heads, owners = self._lists(frame)
            keys = pair_keys(starts, heads, frame["doc"])
        inside = owners >= 0
        self._retrieved[owners[inside]] = np.diff(starts)[inside]
        self._top[owners[inside]] = first_scores(frame["score"].to_numpy(), starts, self._contract)[inside]
        self._find(frame, starts, owners, keys)
        for name, (cost, limit) in self._budgets.items():
            self._count_fitting(name, cost, limit, frame, starts, owners)
        if self._characters is not None:
            ordered = self._ordered(frame, starts)
            for number, owner in enumerate(owners.tolist()):
                if owner >= 0:
                    first, end = int(starts[number]), int(starts[number + 1])
                    self._characters.add(owner, ordered.slice(first, end - first))

    def add_long(self, parts: Callable[[], Iterable[pl.DataFrame]]) -> None:
        """Rows of one query in parts, which are read twice; all rows of a document lie in one of them.

        Neither the order of the rows nor budgets nor characters are known here.
        """
        if self._contract.ties in ("stable", "given"):
            raise ContractError(
                f"{self._run.name}: a list is too long to be put into the order in which it was given; choose "
                "`ties='trec'` or `ties='expected'`"
            )
        owner, retrieved, top, found = None, 0, -np.inf, []
        for frame in parts():
            if owner is None:
                self.first_queries = self.first_queries or [frame["query"][0]]
                owner = int(self._note_queries(frame["query"].head(1))[0])
            rows = self._once(frame)
            retrieved += len(rows)
            if owner >= 0 and len(rows):
                top = max(top, float(as_compared(rows["score"].to_numpy(), self._contract.scores).max()))
                found.append(rows.select("doc", "score").join(self._index.rows.filter(owner=owner), on="doc"))
        if owner is None or owner < 0 or not retrieved:
            return
        self._retrieved[owner], self._top[owner] = retrieved, top
        hits = pl.concat(found)
        if len(hits):
            scores = hits["score"].to_numpy()
            places = counted_places(map(self._once, parts()), scores, hits["doc"], self._contract)
            above, tied, tie_met = places
            judgment = hits["judgment"].to_numpy()
            self._hits.append(Hits(np.full(len(hits), owner), above, tied, hits["grade"].to_numpy(), judgment, tie_met))

    def _once(self, frame: pl.DataFrame) -> pl.DataFrame:
        """Some rows of one query, with each document once."""
        if self._contract.drop_self:
            frame = frame.filter(frame["query"] != frame["doc"])
        return without_repeats(frame, pair_keys(*list_bounds(frame["query"]), frame["doc"]), self._contract, self._run)

    def add_empty(self, queries: Iterable[str]) -> None:
        """Queries whose lists are empty; those of which there are rows elsewhere stay as they are."""
        heads = pl.Series(list(dict.fromkeys(queries)), dtype=pl.String)
        if len(heads):
            self._note_queries(heads.filter(~np.isin(heads.hash().to_numpy(), self._seen)))

    @property
    def seen(self) -> Hashes:
        """Hashes of the queries that the run has."""
        return self._seen

    @property
    def run_queries(self) -> int:
        """How many queries the run has, judged or not."""
        return len(self._seen)

    @property
    def hits(self) -> Hits:
        """Judged documents found so far."""
        return Hits(*map(np.concatenate, zip(*self._hits, strict=True))) if self._hits else Hits.none()

    @property
    def lists(self) -> pl.DataFrame:
        """Judged queries found so far: query, documents retrieved, score of the first."""
        own = np.flatnonzero(self._in_run)
        queries = self._index.query_numbers["query"].gather(own)
        return pl.DataFrame({"query": queries, "retrieved": self._retrieved[own], "top": self._top[own]})

    def _lists(self, frame: pl.DataFrame) -> tuple[Ints, pl.Series, Ints]:
        starts, heads = list_bounds(frame["query"])
        return starts, heads, _numbers_of(heads, self._index.query_numbers)

    def _note_queries(self, heads: pl.Series) -> Ints:
        """Mark the queries as present, and make sure that none of them was there before."""
        self._seen = np.sort(np.concatenate((self._seen, heads.hash().to_numpy())))
        if has_repeats(self._seen):
            raise NotGroupedError
        owners = _numbers_of(heads, self._index.query_numbers)
        self._in_run[owners[owners >= 0]] = True
        return owners

    def _find(self, frame: pl.DataFrame, starts: Ints, owners: Ints, keys: Hashes) -> None:
        joined = pl.DataFrame({"key": keys}).with_row_index("row").join(self._index.rows, on="key", how="inner")
        if not len(joined):
            return
        row = joined["row"].to_numpy().astype(np.int64)
        number = np.searchsorted(starts, row, side="right") - 1
        owner = joined["owner"].to_numpy()
        true = (owners[number] == owner) & (frame["doc"].gather(row) == joined["doc"]).to_numpy()
        row, number, owner = row[true], number[true], owner[true]
        scores = frame["score"].to_numpy()
        above, tied, tie_met = places(scores, starts, row, number, frame["doc"].gather, self._contract)
        grade = joined["grade"].to_numpy()[true]
        self._hits.append(Hits(owner, above, tied, grade, joined["judgment"].to_numpy()[true], tie_met))

    def _ordered(self, frame: pl.DataFrame, starts: Ints) -> pl.Series:
        """The documents of all lists, each list best first."""
        return frame["doc"].gather(rank_lists(frame["score"].to_numpy(), starts, frame["doc"], self._contract))

    def _count_fitting(
        self,
        name: str,
        cost: Callable[[pl.Series], Floats],
        limit: int,
        frame: pl.DataFrame,
        starts: Ints,
        owners: Ints,
    ) -> None:
        lists = np.repeat(np.arange(len(owners)), np.diff(starts))
        if "context" in frame.columns:  # of chunks, counted when they were merged into documents
            fits = frame["context"].to_numpy() <= limit
        else:
            ordered = self._ordered(frame, starts)
            judged_list = owners[lists] >= 0
            sizes = np.zeros(len(ordered))
            sizes[judged_list] = cost(ordered.filter(judged_list))
            total = np.cumsum(sizes)
            fits = total - np.concatenate(([0.0], total))[starts[:-1]][lists] <= limit
        fitting = np.bincount(lists[fits], minlength=len(owners))
        inside = owners >= 0
        self._prefix[name][owners[inside]] = fitting[inside]

    def finish(self) -> RankedGrades:
        """What the kernels see, for all judged queries."""
        ranked = assemble(
            self._index.judged,
            self._hits,
            self._in_run,
            self._retrieved,
            self._index.subtopics,
            self._prefix,
            self._top,
        )
        return ranked if self._characters is None else replace(ranked, characters=self._characters.finish())
