"""Qrels: relevance judgments, one row for each (query, subtopic, document)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

from rankgauge.arguments import named_arguments
from rankgauge.errors import DataError
from rankgauge.model.by_query import ByQuery
from rankgauge.model.columns import as_ids, as_list, as_numbers, check_ids
from rankgauge.model.frames import named_columns

if TYPE_CHECKING:
    import polars as pl

    from rankgauge.model.text_rows import TextRows

__all__ = ["Qrels"]


@named_arguments
class Qrels(ByQuery):
    """Judgments, immutable: `qrels[query]` is {document: grade}; with subtopics, a document's best grade.

    Made from a dictionary, a data frame, rows with names as ir_measures' `Qrel`, ranx' `Qrels`, or by reading a file.
    A list or set of ids in place of {document: grade} names the relevant documents, of grade 1. `no_answer` names the
    queries whose right result is nothing.
    """

    _number, _called, _attribute = "grade", "judgments", "qrels"
    _load: Callable[[], pl.DataFrame] | None = None
    text: TextRows | None = None
    """The rows of a plain TREC file, if the judgments come from one."""
    no_answer: frozenset[str] = frozenset()
    """Queries that no document of the collection answers."""

    def __init__(
        self,
        source: Qrels | Mapping[str, Mapping[str, float]] | Any,
        *,
        name: str = "judgments",
        no_answer: Iterable[str] = (),
    ) -> None:
        super().__init__(source, name=name)
        if isinstance(no_answer, str) or not isinstance(no_answer, Iterable):
            raise DataError(f"{self.name}: `no_answer` must be a list of query ids, not {no_answer!r}")
        if marked := frozenset(map(str, no_answer)):
            self._mark(marked)

    def _mark(self, queries: frozenset[str]) -> None:
        """Note queries without an answer; they need not have judgments."""
        self.no_answer, self.text = self.no_answer | queries, None  # plain text has no place for them
        for kept in ("_index", "_lists", "without_documents"):
            vars(self).pop(kept, None)
        if self._mapping is not None:
            self._mapping = {**self._mapping, **{query: {} for query in sorted(queries - self._mapping.keys())}}
            answered = [query for query in queries if any(grade > 0 for grade in self._mapping[query].values())]
        else:
            answered = list(queries & set(self.frame.filter(self.frame["grade"] > 0)["query"]))
        if answered:
            raise DataError(
                f"{self.name}: query {min(answered)!r} has no answer, but also a relevant document; drop one of the two"
            )

    @cached_property
    def without_documents(self) -> list[str]:
        """Queries of which no document is judged: they have no row among the columns."""
        if self._mapping is not None:
            return [query for query, docs in self._mapping.items() if not docs]
        return sorted(self.no_answer - set(self.frame["query"].unique())) if self.no_answer else []

    @property
    def queries(self) -> Sequence[str]:
        """Ids of the queries, in the order in which they first appear; those that no column can hold come last."""
        return super().queries if self._mapping is not None else [*super().queries, *self.without_documents]

    @classmethod
    def of_text(cls, rows: TextRows, name: str, load: Callable[[], pl.DataFrame]) -> Qrels:
        """Judgments from rows of text; `load` reads them into columns if that is wanted after all."""
        made = cls.__new__(cls)
        made.name, made._load, made.text = name, load, rows
        return made

    @cached_property
    def frame(self) -> pl.DataFrame:
        """Columns query, doc, grade, and subtopic where there are several."""
        return self._load() if self._load is not None else super().frame

    @cached_property
    def only_relevant(self) -> bool:
        """Whether no document is judged non-relevant: then what is not listed may be unjudged or not relevant, and
        Judged@k says nothing."""
        if self._mapping is not None:
            try:
                return all(grade > 0 for docs in self._mapping.values() for grade in docs.values())
            except TypeError:
                raise self._no_number() from None
        if self.text is not None:
            return bool((self.text.number > 0).all())
        return bool((self.frame["grade"] > 0).all())

    def _no_number(self) -> DataError:
        pairs = ((query, doc, grade) for query, docs in (self._mapping or {}).items() for doc, grade in docs.items())
        query, doc, grade = next(pair for pair in pairs if not hasattr(pair[2], "__float__"))
        return DataError(
            f"{self.name}: query {query!r}, document {doc!r}: the grade {grade!r} is no number; give numbers such as 0 "
            "and 1"
        )

    def to_dict(self) -> dict[str, dict[str, float]]:
        """{query: {document: grade}}; with subtopics, a document's best grade."""
        if self._mapping is not None:
            return {query: dict(docs) for query, docs in self._mapping.items()}
        result: dict[str, dict[str, float]] = {}
        for query, doc, grade in self.frame.select("query", "doc", "grade").iter_rows():
            docs = result.setdefault(query, {})
            docs[doc] = max(grade, docs.get(doc, grade))
        return result | {query: {} for query in self.without_documents}

    def __eq__(self, other: object) -> bool:
        same = super().__eq__(other)
        return same if same is not True else isinstance(other, Qrels) and self.no_answer == other.no_answer

    def _comparable(self) -> pl.DataFrame:
        columns = sorted(self.frame.columns)
        return self.frame.select(columns).sort(columns)

    def _of_list(self, query: Any, docs: Any) -> Mapping[Any, float]:
        """A plain list of relevant ids, each of grade 1."""
        if isinstance(docs, Mapping):
            return docs
        ids = list(docs) if isinstance(docs, set | frozenset) else as_list(docs, self.name, query)
        check_ids(ids, self.name, query, "list of relevant ids, or a dictionary {document: grade}")
        return dict.fromkeys(ids, 1)

    def _of_columns(self, frame: pl.DataFrame) -> pl.DataFrame:
        import polars as pl

        name = self.name
        chosen = named_columns(frame, ("query", "doc", "grade"), name, optional=("subtopic",))
        columns = [as_ids(chosen["query"], name), as_ids(chosen["doc"], name), as_numbers(chosen["grade"], name)]
        if "subtopic" in chosen.columns:
            columns.append(as_ids(chosen["subtopic"], name))
        return _merge_repeats(pl.DataFrame(columns), name)


def _merge_repeats(frame: pl.DataFrame, name: str) -> pl.DataFrame:
    """Identical repeats are merged; contradicting ones are an error. A constant subtopic column is dropped."""
    key = ["query", "doc"]
    if "subtopic" in frame.columns:
        if frame["subtopic"].n_unique() <= 1:
            frame = frame.drop("subtopic")
        else:
            key = ["query", "subtopic", "doc"]
    if frame.select(key).is_unique().all():
        return frame
    frame = frame.unique(maintain_order=True)
    twice = frame.filter(frame.select(key).is_duplicated())
    if len(twice):
        query, doc = twice["query"][0], twice["doc"][0]
        grades = twice.filter((twice["query"] == query) & (twice["doc"] == doc))["grade"].to_list()
        raise DataError(
            f"{name}: document {doc!r} of query {query!r} has contradicting grades "
            f"{' and '.join(f'{grade:g}' for grade in grades)}; keep one"
        )
    return frame
