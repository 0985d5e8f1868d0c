"""Qrels: relevance judgments, one row for each (query, subtopic, document)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from numbers import Integral
from typing import TYPE_CHECKING, Any

from rankgauge.errors import DataError
from rankgauge.model.columns import as_ids, as_list, as_numbers, check_mapping
from rankgauge.model.frames import is_frame, named_columns, to_polars

if TYPE_CHECKING:
    import polars as pl

    from rankgauge.model.text_rows import TextRows

__all__ = ["Qrels"]


class Qrels:
    """Judgments, immutable. Made from a dictionary, a data frame, or by reading a file.

    A list or set of ids in place of {document: grade} names the relevant documents, of grade 1.
    """

    def __init__(self, source: Qrels | Mapping[str, Mapping[str, float]] | Any, *, name: str = "judgments") -> None:
        self.name = name
        self._mapping: Mapping[str, Mapping[str, float]] | None = None
        self._frame: pl.DataFrame | None = None
        self._load: Callable[[], pl.DataFrame] | None = None
        self.text: TextRows | None = None
        """The rows of a plain TREC file, if the judgments come from one."""
        if isinstance(source, Qrels):
            self._mapping, self._frame = source._mapping, source._frame
            self._load, self.text, self.name = source._load, source.text, source.name
        elif isinstance(source, Mapping):
            if any(not issubclass(kind, Mapping) for kind in set(map(type, source.values()))):
                source = {query: _graded(query, docs, name) for query, docs in source.items()}
            self._mapping = check_mapping(source, name, "grade")
        elif is_frame(source):
            self._frame = _checked(to_polars(source), name)
        else:
            raise DataError(
                f"{name}: a {type(source).__name__} is no judgments; give a dictionary "
                "{query: {document: grade}}, a data frame, or the path of a file"
            )

    @classmethod
    def of_frame(cls, frame: pl.DataFrame, name: str) -> Qrels:
        """Judgments from columns query, doc, grade (and subtopic) that a reader has checked already."""
        made = cls.__new__(cls)
        made.name, made._mapping, made._frame, made._load, made.text = name, None, frame, None, None
        return made

    @classmethod
    def of_text(cls, rows: TextRows, name: str, load: Callable[[], pl.DataFrame]) -> Qrels:
        """Judgments from rows of text; `load` reads them into columns if that is wanted after all."""
        made = cls.__new__(cls)
        made.name, made._mapping, made._frame, made._load, made.text = name, None, None, load, rows
        return made

    @property
    def mapping(self) -> Mapping[str, Mapping[str, float]] | None:
        """The dictionary these judgments were made from, if any; not to be changed."""
        return self._mapping

    @cached_property
    def frame(self) -> pl.DataFrame:
        """Columns query, doc, grade, and subtopic where there are several."""
        if self._frame is not None:
            return self._frame
        if self._load is not None:
            return self._load()
        import polars as pl

        assert self._mapping is not None
        rows = [(query, doc, float(grade)) for query, docs in self._mapping.items() for doc, grade in docs.items()]
        return pl.DataFrame(rows, schema={"query": pl.String, "doc": pl.String, "grade": pl.Float64}, orient="row")

    @cached_property
    def only_relevant(self) -> bool:
        """Whether no document is judged non-relevant: then what is not listed may be unjudged or not relevant, and
        Judged@k says nothing."""
        if self._mapping is not None:
            return all(grade > 0 for docs in self._mapping.values() for grade in docs.values())
        if self.text is not None:
            return bool((self.text.number > 0).all())
        return bool((self.frame["grade"] > 0).all())

    def to_dict(self) -> dict[str, dict[str, float]]:
        """{query: {document: grade}}; with subtopics, a document's best grade."""
        if self._mapping is not None:
            return {query: dict(docs) for query, docs in self._mapping.items()}
        result: dict[str, dict[str, float]] = {}
        for query, doc, grade in self.frame.select("query", "doc", "grade").iter_rows():
            docs = result.setdefault(query, {})
            docs[doc] = max(grade, docs.get(doc, grade))
        return result

    @property
    def queries(self) -> Sequence[str]:
        """Ids of the judged queries, in the order of their first judgment."""
        if self._mapping is not None:
            return list(self._mapping)
        return self.frame["query"].unique(maintain_order=True).to_list()

    def __len__(self) -> int:
        """Number of judged queries."""
        return len(self.queries)

    def __iter__(self) -> Iterator[str]:
        return iter(self.queries)

    def __repr__(self) -> str:
        return f"Qrels({self.name!r}: {len(self)} queries)"


def _graded(query: Any, docs: Any, where: str) -> Mapping[Any, float]:
    """A plain list of relevant ids, each of grade 1."""
    if isinstance(docs, Mapping):
        return docs
    ids = list(docs) if isinstance(docs, set | frozenset) else as_list(docs, where, query)
    for doc in ids:
        if not isinstance(doc, str | Integral):
            raise DataError(
                f"{where}: query {query!r} lists {doc!r}, which is no document id; give a list of relevant ids, "
                "or a dictionary {document: grade}"
            )
    return dict.fromkeys(ids, 1)


def _checked(frame: pl.DataFrame, name: str) -> pl.DataFrame:
    chosen = named_columns(frame, ("query", "doc", "grade"), name, optional=("subtopic",))
    columns = [as_ids(chosen["query"], name), as_ids(chosen["doc"], name), as_numbers(chosen["grade"], name)]
    if "subtopic" in chosen.columns:
        columns.append(as_ids(chosen["subtopic"], name))
    import polars as pl

    return merge_repeats(pl.DataFrame(columns), name)


def merge_repeats(frame: pl.DataFrame, name: str) -> pl.DataFrame:
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
