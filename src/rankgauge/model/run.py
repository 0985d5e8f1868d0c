"""Run: what a system retrieved, one row for each (query, document) with its score."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Self

from rankgauge.arguments import named_arguments
from rankgauge.errors import DataError, RankgaugeError
from rankgauge.model.by_query import ByQuery
from rankgauge.model.columns import as_ids, as_list, as_numbers, check_ids
from rankgauge.model.frames import named_columns

if TYPE_CHECKING:
    import polars as pl

__all__ = ["Run", "is_ranked"]


def is_ranked(columns: Sequence[str]) -> bool:
    """Whether columns tell the rank of each document and no score."""
    lower = {str(column).strip().casefold() for column in columns}
    return bool(not lower & {"score", "sim", "similarity"} and lower & {"rank", "position"})


@named_arguments
class Run(ByQuery):
    """Ranked lists of one system, immutable: `run[query]` is {document: score}.

    Made from a dictionary, a data frame, rows with names as ir_measures' `ScoredDoc`, ranx' `Run`, or by reading a
    file. A list of ids without scores stands for scores that fall by one from document to document; a list of pairs
    gives ids with their scores.
    """

    _number, _called, _attribute = "score", "run", "run"
    _empty: tuple[str, ...] = ()

    def __init__(self, source: Run | Mapping[str, Mapping[str, float]] | Any, *, name: str = "run") -> None:
        super().__init__(source, name=name)

    @classmethod
    def of_frame(cls, frame: pl.DataFrame, name: str, *, empty: Sequence[str] = ()) -> Self:
        """From columns query, doc and score that a reader has checked already, and queries whose lists are empty."""
        made = super().of_frame(frame, name)
        made._empty = tuple(empty)
        return made

    @property
    def empty(self) -> Sequence[str]:
        """Queries whose lists are empty, which have no row."""
        return self._empty if self._mapping is None else [query for query, docs in self._mapping.items() if not docs]

    @property
    def queries(self) -> Sequence[str]:
        """Ids of the queries, in the order in which they first appear."""
        return [*super().queries, *self._empty]

    def to_dict(self) -> dict[str, dict[str, float]]:
        """{query: {document: score}}, in the order given."""
        if self._mapping is not None:
            return {query: dict(docs) for query, docs in self._mapping.items()}
        result: dict[str, dict[str, float]] = {}
        for query, doc, score in self.frame.select("query", "doc", "score").iter_rows():
            result.setdefault(query, {}).setdefault(doc, score)
        return {**result, **{query: {} for query in self._empty}}

    def parts(self) -> Iterator[pl.DataFrame]:
        """Columns query, doc, score, as a file gives them part by part."""
        yield self.frame

    def describe_repeats(self, pairs: Sequence[tuple[str, str]], total: int) -> RankgaugeError:
        """The error for documents that stand twice in a list: some (query, document), and how many there are."""
        query, doc = pairs[0]
        more = f" ({total} such documents in all)" if total > 1 else ""
        return DataError(
            f"{self.name}: document {doc!r} stands twice for query {query!r}{more}; "
            "remove it, or keep the better one with `duplicates='first'`"
        )

    def _comparable(self) -> pl.DataFrame:
        return self.frame.sort("query", maintain_order=True)  # the order within a list may decide its ties

    def _of_list(self, query: Any, docs: Any) -> dict[Any, float]:
        """Pairs, or ids alone, best first, with scores that fall by one."""
        if isinstance(docs, Mapping):
            return dict(docs)
        docs = as_list(docs, self.name, query)
        if docs and all(isinstance(entry, tuple | list) and len(entry) == 2 for entry in docs):
            ids, scored = [doc for doc, _ in docs], dict(docs)
        else:
            check_ids(docs, self.name, query, "list of ids, best first, or a dictionary {document: score}")
            ids, scored = docs, {doc: float(len(docs) - i) for i, doc in enumerate(docs)}
        if len(scored) != len(ids):
            twice = next(doc for doc in ids if ids.count(doc) > 1)
            raise DataError(f"{self.name}: query {query!r} lists document {twice!r} twice")
        return scored

    def _of_columns(self, frame: pl.DataFrame) -> pl.DataFrame:
        import polars as pl

        name = self.name
        if is_ranked(frame.columns):
            chosen = named_columns(frame, ("query", "doc", "rank"), name)
            chosen = chosen.select("query", "doc", (-as_numbers(chosen["rank"], name)).alias("score"))
        else:
            chosen = named_columns(frame, ("query", "doc", "score"), name)
        return pl.DataFrame(
            [as_ids(chosen["query"], name), as_ids(chosen["doc"], name), as_numbers(chosen["score"], name)]
        )
