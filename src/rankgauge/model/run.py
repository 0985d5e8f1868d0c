"""Run: what a system retrieved, one row for each (query, document) with its score."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from numbers import Integral
from typing import TYPE_CHECKING, Any

from rankgauge.errors import DataError
from rankgauge.model.columns import as_ids, as_list, as_numbers, check_mapping
from rankgauge.model.frames import is_frame, named_columns, to_polars

if TYPE_CHECKING:
    import polars as pl

__all__ = ["Run"]


class Run:
    """Ranked lists of one system, immutable. Made from a dictionary, a data frame, or by reading a file.

    A list of ids without scores stands for scores that fall by one from document to document; a list of pairs gives
    ids with their scores.
    """

    def __init__(self, source: Run | Mapping[str, Mapping[str, float]] | Any, *, name: str = "run") -> None:
        self.name = name
        self._mapping: Mapping[str, Mapping[str, float]] | None = None
        self._frame: pl.DataFrame | None = None
        if isinstance(source, Run):
            self._mapping, self._frame, self.name = source._mapping, source._frame, source.name
        elif isinstance(source, Mapping):
            if any(not issubclass(kind, Mapping) for kind in set(map(type, source.values()))):
                source = {query: _scored(query, docs, name) for query, docs in source.items()}
            self._mapping = check_mapping(source, name, "score")
        elif is_frame(source):
            self._frame = _checked(to_polars(source), name)
        else:
            raise DataError(
                f"{name}: a {type(source).__name__} is no run; give a dictionary {{query: {{document: score}}}}, "
                "a data frame, or the path of a file"
            )

    @classmethod
    def of_frame(cls, frame: pl.DataFrame, name: str) -> Run:
        """A run from columns query, doc, score that a reader has checked already."""
        made = cls.__new__(cls)
        made.name, made._mapping, made._frame = name, None, frame
        return made

    @property
    def mapping(self) -> Mapping[str, Mapping[str, float]] | None:
        """The dictionary this run was made from, if any; not to be changed."""
        return self._mapping

    @cached_property
    def frame(self) -> pl.DataFrame:
        """Columns query, doc, score, in the order given."""
        if self._frame is not None:
            return self._frame
        import polars as pl

        assert self._mapping is not None
        rows = [(query, doc, float(score)) for query, docs in self._mapping.items() for doc, score in docs.items()]
        return pl.DataFrame(rows, schema={"query": pl.String, "doc": pl.String, "score": pl.Float64}, orient="row")

    def to_dict(self) -> dict[str, dict[str, float]]:
        """{query: {document: score}}, in the order given."""
        if self._mapping is not None:
            return {query: dict(docs) for query, docs in self._mapping.items()}
        result: dict[str, dict[str, float]] = {}
        for query, doc, score in self.frame.iter_rows():
            result.setdefault(query, {}).setdefault(doc, score)
        return result

    @property
    def queries(self) -> Sequence[str]:
        """Ids of the queries, in order of appearance."""
        if self._mapping is not None:
            return list(self._mapping)
        return self.frame["query"].unique(maintain_order=True).to_list()

    def __len__(self) -> int:
        """Number of queries."""
        return len(self.queries)

    def __iter__(self) -> Iterator[str]:
        return iter(self.queries)

    def __repr__(self) -> str:
        return f"Run({self.name!r}: {len(self)} queries)"


def _scored(query: Any, docs: Any, where: str) -> dict[Any, float]:
    """A plain list of ids, best first, with scores that fall by one."""
    if isinstance(docs, Mapping):
        return dict(docs)
    docs = as_list(docs, where, query)
    if docs and all(isinstance(entry, tuple | list) and len(entry) == 2 for entry in docs):
        ids, scored = [doc for doc, _ in docs], dict(docs)
        if len(scored) != len(ids):
            raise DataError(f"{where}: query {query!r} lists document {_twice(ids)!r} twice")
        return scored
    for doc in docs:
        if not isinstance(doc, str | Integral):
            raise DataError(
                f"{where}: query {query!r} lists {doc!r}, which is no document id; give a list of ids, best first, "
                "or a dictionary {document: score}"
            )
    scored = {doc: float(len(docs) - i) for i, doc in reversed(list(enumerate(docs)))}
    if len(scored) != len(docs):
        raise DataError(f"{where}: query {query!r} lists document {_twice(docs)!r} twice")
    return dict(reversed(scored.items()))


def _twice(docs: list[Any]) -> Any:
    return next(doc for doc in docs if docs.count(doc) > 1)


def _checked(frame: pl.DataFrame, name: str) -> pl.DataFrame:
    import polars as pl

    lower = {str(column).strip().casefold() for column in frame.columns}
    if not lower & {"score", "sim", "similarity"} and lower & {"rank", "position"}:
        chosen = named_columns(frame, ("query", "doc", "rank"), name)
        chosen = chosen.select("query", "doc", (-as_numbers(chosen["rank"], name)).alias("score"))
    else:
        chosen = named_columns(frame, ("query", "doc", "score"), name)
    return pl.DataFrame([as_ids(chosen["query"], name), as_ids(chosen["doc"], name), as_numbers(chosen["score"], name)])
