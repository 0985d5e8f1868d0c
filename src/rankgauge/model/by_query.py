"""What judgments and runs have in common: a number for each (query, document), kept in the form it came in."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Self

from rankgauge.arguments import check_text
from rankgauge.errors import DataError
from rankgauge.model.columns import check_mapping, is_plain
from rankgauge.model.files import FILES
from rankgauge.model.frames import frame_of_rows, is_frame, to_polars

if TYPE_CHECKING:
    import polars as pl

__all__ = ["ByQuery"]


class ByQuery:
    """{query: {document: number}}, immutable."""

    _number: ClassVar[str]
    """The column of the number: grade or score."""
    _called: ClassVar[str]
    """What messages call it."""
    _attribute: ClassVar[str]
    """Where ranx' class of the same name keeps its lists, which tells the two apart."""
    _mapping: Mapping[str, Mapping[str, float]] | None = None
    _frame: pl.DataFrame | None = None

    def __init__(self, source: Any, *, name: str) -> None:
        check_text("name", name)
        self.name = name
        if isinstance(source, type(self)):
            vars(self).update(vars(source))
            return
        if hasattr(source, self._attribute) and hasattr(source, "to_dict"):  # ranx
            self.name = source.name or name
            source = dict(source.to_dict())
        if isinstance(source, Mapping) and is_plain(source):
            self._mapping = source
        elif isinstance(source, Mapping):
            if any(not issubclass(kind, Mapping) for kind in set(map(type, source.values()))):
                source = {query: self._of_list(query, docs) for query, docs in source.items()}
            self._mapping = check_mapping(source, self.name, self._number)
        elif is_frame(source):
            self._frame = self._of_columns(to_polars(source))
        elif (rows := frame_of_rows(source, name)) is not None:
            self._frame = self._of_columns(rows)
        else:
            kind = type(self).__name__
            raise DataError(
                f"{name}: a {type(source).__name__} is no {self._called}; give a dictionary "
                f"{{query: {{document: {self._number}}}}}, a data frame, rows with names (query_id, doc_id, ...), or "
                f"read a file with {kind}.load(path)"
            )

    @classmethod
    def of_frame(cls, frame: pl.DataFrame, name: str) -> Self:
        """From columns query, doc and grade or score that a reader has checked already."""
        made = cls.__new__(cls)
        made.name, made._frame = name, frame
        return made

    def _of_list(self, query: Any, docs: Any) -> Mapping[Any, float]:
        """{document: number} of a query whose documents are listed in another way."""
        raise NotImplementedError

    def _of_columns(self, frame: pl.DataFrame) -> pl.DataFrame:
        """The columns that count, checked."""
        raise NotImplementedError

    @property
    def mapping(self) -> Mapping[str, Mapping[str, float]] | None:
        """The dictionary it was made from, if any; not to be changed."""
        return self._mapping

    @cached_property
    def frame(self) -> pl.DataFrame:
        """Columns query, doc and grade or score, in the order given."""
        if self._frame is not None:
            return self._frame
        import polars as pl

        assert self._mapping is not None
        rows = [(query, doc, float(number)) for query, docs in self._mapping.items() for doc, number in docs.items()]
        return pl.DataFrame(rows, schema={"query": pl.String, "doc": pl.String, self._number: pl.Float64}, orient="row")

    def to_dict(self) -> dict[str, dict[str, float]]:
        """{query: {document: number}}, in the order given."""
        raise NotImplementedError

    @property
    def queries(self) -> Sequence[str]:
        """Ids of the queries, in the order in which they first appear."""
        if self._mapping is not None:
            return list(self._mapping)
        return self.frame["query"].unique(maintain_order=True).to_list()

    @cached_property
    def _lists(self) -> Mapping[str, Mapping[str, float]]:
        return self._mapping if self._mapping is not None else self.to_dict()

    def __getitem__(self, query: str) -> dict[str, float]:
        """{document: number} of one query."""
        if query not in self._lists:
            raise KeyError(f"{self.name} has no query {query!r}")
        return dict(self._lists[query])

    def __contains__(self, query: object) -> bool:
        return query in self._lists

    def __len__(self) -> int:
        """Number of queries."""
        return len(self.queries)

    def __iter__(self) -> Iterator[str]:
        return iter(self.queries)

    def _comparable(self) -> pl.DataFrame:
        """The columns without the order that does not matter."""
        raise NotImplementedError

    def __eq__(self, other: object) -> bool:
        """Whether both hold the same, whatever they are named and whatever form they came in."""
        if not isinstance(other, type(self)):
            return NotImplemented
        # A query with an empty list has no row.
        return set(self.queries) == set(other.queries) and self._comparable().equals(other._comparable())

    __hash__ = None  # type: ignore[assignment]

    @classmethod
    def load(cls, path: str | os.PathLike[str], format: str | None = None) -> Self:  # noqa: A002
        """Read a file of any format, told by its content unless `format` names it."""
        loaded: Self = FILES[f"load_{cls.__name__.lower()}"](path, format)
        return loaded

    def save(self, path: str | os.PathLike[str], format: str | None = None, *, lossy: bool = False) -> None:  # noqa: A002
        """Write a file, whole or not at all, in the format that its ending or `format` names.

        What the format cannot hold is an error, unless `lossy` allows it.
        """
        FILES["save"](self, path, format, lossy=lossy)

    def __repr__(self) -> str:
        queries = len(self)
        rows = len(self.frame) if self._mapping is None else sum(map(len, self._mapping.values()))
        of = f"{queries} {'query' if queries == 1 else 'queries'}, {rows} {'document' if rows == 1 else 'documents'}"
        return f"{type(self).__name__}({self.name!r}: {of})"
