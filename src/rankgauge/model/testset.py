"""TestSet: queries with their texts, tags and graded judgments; Corpus: the texts of documents."""

from __future__ import annotations

import os
import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from rankgauge.arguments import check_text, named_arguments
from rankgauge.errors import DataError, counted
from rankgauge.model.conversations import conversations_by
from rankgauge.model.files import FILES
from rankgauge.model.judgments import Qrels
from rankgauge.model.spans import Span

if TYPE_CHECKING:
    import polars as pl

__all__ = ["Corpus", "Query", "TestSet"]

_NUMBERS = {int, float}
_REMEDY = 'give Query("its text", {"d1": 1}), or read a file with TestSet.load(path)'


@named_arguments
@dataclass(frozen=True)
class Query:
    """One query of a test set. `grades` holds every judged document; without an id the text is the id."""

    text: str
    grades: Mapping[str, float]
    id: str = ""
    tags: tuple[str, ...] = ()
    texts: Mapping[str, str] = field(default_factory=dict)
    """Texts of some judged documents, for people to read."""
    groups: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """Relevant documents by what they are evidence of (a hop, a facet): one document of each group suffices."""
    no_answer: bool = False
    """Whether the right result is nothing: no document of the collection answers the query."""
    conversation: str = ""
    """The conversation that the query is a turn of; turns of one conversation are not independent."""
    spans: Sequence[Span] = ()
    """Gold passages, by their characters or their texts."""
    synthetic: str = ""
    """What made the query, where no person asked it: `known-item`, `llm:NAME`; for ever, whatever is done with it."""

    def __post_init__(self) -> None:
        if not isinstance(self.text, str):
            raise DataError(f"`text` must be a text, not {self.text!r}")
        if type(self.grades) is not dict and not isinstance(self.grades, Mapping):  # the first is four times as fast
            raise DataError(f'query {self.text!r}: `grades` must be a mapping such as {{"d1": 1}}, not {self.grades!r}')
        if not set(map(type, self.grades.values())) <= _NUMBERS:
            self._check_grades()
        if not isinstance(self.id, str):
            self._write_id()
        if isinstance(self.tags, str):
            raise DataError(f"query {self.text!r}: `tags` must be a list such as ({self.tags!r},), not a text")
        if not self.id:
            object.__setattr__(self, "id", self.text)
        if not self.id:
            raise DataError("a query needs a text or an id")
        if self.groups:
            self._check_groups()
        check_text("synthetic", self.synthetic)
        if self.no_answer and (self.relevant or self.spans):
            raise DataError(f"query {self.id!r} has no answer, but also a relevant document; drop one of the two")

    def _check_grades(self) -> None:
        for doc, grade in self.grades.items():
            if not hasattr(grade, "__float__"):
                raise DataError(f"query {self.text!r}: the grade of document {doc!r} is {grade!r}; give a number")

    def _write_id(self) -> None:
        if self.id is not None and (isinstance(self.id, bool) or not isinstance(self.id, int)):
            raise DataError(f"query {self.text!r}: `id` must be a text, not {self.id!r}")
        object.__setattr__(self, "id", "" if self.id is None else str(self.id))

    def _check_groups(self) -> None:
        """Groups hold relevant documents only, and each of them: a document that is needed by no group would count
        for recall and for no group."""
        if not isinstance(self.groups, Mapping) or not all(isinstance(docs, Sequence) for docs in self.groups.values()):
            raise DataError(f'query {self.id!r}: `groups` must be lists of documents by name, {{"hop 1": ["d1"]}}')
        relevant, grouped = set(self.relevant), {doc for docs in self.groups.values() for doc in docs}
        if empty := [name for name, docs in self.groups.items() if isinstance(docs, str) or not docs]:
            raise DataError(f"query {self.id!r}: group {empty[0]!r} must list at least one document")
        if unknown := sorted(grouped - relevant):
            raise DataError(f"query {self.id!r}: {unknown[0]!r} is in a group, but not judged relevant")
        if left := sorted(relevant - grouped):
            raise DataError(f"query {self.id!r}: {left[0]!r} is relevant, but in no group; give it a group of its own")

    @property
    def relevant(self) -> list[str]:
        """Documents with a grade above 0, best first."""
        return sorted((doc for doc, grade in self.grades.items() if grade > 0), key=lambda doc: -self.grades[doc])


@named_arguments
class TestSet(Sequence[Query]):
    """Queries with judgments, immutable. Iterates over its queries; `test_set.qrels` is what measures need."""

    __test__ = False  # not a test case, whatever pytest makes of its name

    def __init__(self, queries: Iterable[Query], *, name: str = "test set") -> None:
        check_text("name", name)
        if not isinstance(queries, Iterable):
            raise DataError(f"{name}: a {type(queries).__name__} is no list of queries; {_REMEDY}")
        self._queries = tuple(queries)
        self.name = name
        seen: dict[str, int] = {}
        for number, query in enumerate(self._queries, start=1):
            if not isinstance(query, Query):
                raise DataError(f"{name}: query {number} is a {type(query).__name__}; {_REMEDY}")
            if query.id in seen:
                raise DataError(f"{name}: query {number} has the same id {query.id!r} as query {seen[query.id]}")
            seen[query.id] = number

    @classmethod
    def from_annotations(
        cls,
        queries: Sequence[str],
        relevant_docs: Sequence[Sequence[str]],
        relevance_scores: Sequence[Mapping[str, float] | None] | None = None,
        *,
        ids: Sequence[str] | None = None,
        tags: Sequence[Sequence[str]] | None = None,
        name: str = "test set",
    ) -> TestSet:
        """A test set from parallel lists: texts, relevant documents of each, and grades of each if there are any.

        A document listed but not scored has grade 1; one scored 0 and not listed is judged non-relevant; one listed
        and scored 0 or less is a contradiction.
        """
        lists: dict[str, Sequence[Any] | None] = {
            "relevant_docs": relevant_docs,
            "relevance_scores": relevance_scores,
            "ids": ids,
            "tags": tags,
        }
        for what, values in lists.items():
            if values is not None and len(values) != len(queries):
                there = "is" if len(queries) == 1 else "are"
                entries, texts = counted(len(values), "entry", "entries"), counted(len(queries), "query", "queries")
                raise DataError(f"{what} has {entries}, but there {there} {texts}")
        made, faults = [], []
        for i, text in enumerate(queries):
            try:
                grades = grades_of(relevant_docs[i], relevance_scores[i] if relevance_scores else None)
                made.append(Query(text, grades, ids[i] if ids else "", tuple(tags[i]) if tags else ()))
            except DataError as error:
                faults.append(f"query {i + 1} ({text!r}): {error}")
        if faults:
            raise DataError(f"{name}: " + "; ".join(faults[:20]))
        return cls(made, name=name)

    @classmethod
    def load(cls, path: str | os.PathLike[str], format: str | None = None) -> TestSet:  # noqa: A002
        """Read a test set from any format that holds one."""
        loaded: TestSet = FILES["load_testset"](path, format)
        return loaded

    def save(self, path: str | os.PathLike[str], format: str | None = None, *, lossy: bool = False) -> None:  # noqa: A002
        """Write the test set, whole or not at all: as JSON, unless its ending or `format` names another format.

        What the format cannot hold is an error, unless `lossy` allows it.
        """
        FILES["save"](self, path, format, lossy=lossy)

    @property
    def qrels(self) -> Qrels:
        """The judgments alone; groups of evidence are their subtopics."""
        silent = [query.id for query in self._queries if query.no_answer]
        if any(query.groups for query in self._queries):
            return Qrels(_rows_by_group(self._queries), name=self.name, no_answer=silent)
        return Qrels({query.id: query.grades for query in self._queries}, name=self.name, no_answer=silent)

    @property
    def conversations(self) -> dict[str, str]:
        """The conversation of each query that belongs to one."""
        return {query.id: query.conversation for query in self._queries if query.conversation}

    def with_conversations(self, rule: str | Mapping[str, str]) -> TestSet:
        """The same queries as turns of conversations: `rule` is a mapping from query to conversation, or a regular
        expression whose first group in a query's id is its conversation, such as `^(.+)<::>` of MTRAG's ids."""
        found = conversations_by(rule, [query.id for query in self._queries])
        turns = (replace(query, conversation=found.get(query.id, query.conversation)) for query in self._queries)
        return TestSet(turns, name=self.name)

    @property
    def tags(self) -> dict[str, list[str]]:
        """Query ids by tag."""
        by_tag: dict[str, list[str]] = {}
        for query in self._queries:
            for tag in query.tags:
                by_tag.setdefault(tag, []).append(query.id)
        return by_tag

    def tagged(self, *tags: str) -> TestSet:
        """Only the queries that carry all of these tags."""
        return TestSet((q for q in self._queries if set(tags) <= set(q.tags)), name=f"{self.name} [{', '.join(tags)}]")

    def split(self, share: float = 0.5, *, seed: int = 0) -> tuple[TestSet, TestSet]:
        """Two test sets with a random share of the queries and the rest, each in the original order."""
        if not isinstance(share, int | float) or not 0 < share < 1:
            raise DataError(f"share={share!r} must lie between 0 and 1")
        chosen = set(random.Random(seed).sample(range(len(self)), round(share * len(self))))
        parts = ([q for i, q in enumerate(self) if (i in chosen) is first] for first in (True, False))
        first, second = (TestSet(part, name=f"{self.name} [part {i}]") for i, part in enumerate(parts, start=1))
        return first, second

    def renamed(self, name: str) -> TestSet:
        return TestSet(self._queries, name=name)

    def with_texts(self, texts: Mapping[str, str]) -> TestSet:
        """The same queries with other texts, by id."""
        return TestSet((replace(q, text=texts.get(q.id, q.text)) for q in self._queries), name=self.name)

    def without_texts(self) -> TestSet:
        """Ids and judgments only: what TREC judgments can hold."""
        return TestSet((Query(q.id, q.grades, q.id, groups=q.groups) for q in self._queries), name=self.name)

    def __len__(self) -> int:
        return len(self._queries)

    def __getitem__(self, index: Any) -> Any:
        return self._queries[index]

    def __iter__(self) -> Iterator[Query]:
        return iter(self._queries)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, TestSet) and self._queries == other._queries

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"TestSet({self.name!r}: {counted(len(self), 'query', 'queries')})"


def _rows_by_group(queries: Sequence[Query]) -> pl.DataFrame:
    """One row for each document of each group. Where a query has no groups, each document is one of its own; a query
    without any judgment has no row."""
    import polars as pl

    rows = []
    for query in queries:
        groups = query.groups or {doc: (doc,) for doc in query.relevant}
        rows += [(query.id, name, doc, query.grades[doc]) for name, docs in groups.items() for doc in docs]
        rows += [(query.id, "0", doc, grade) for doc, grade in query.grades.items() if grade <= 0]
    return pl.DataFrame(rows, schema=["query", "subtopic", "doc", "grade"], orient="row")


def grades_of(listed: Sequence[str], scores: Mapping[str, float] | None) -> dict[str, float]:
    """Grades from a list of relevant documents and optional scores, under the rules of `from_annotations`."""
    scores = scores or {}
    repeated = sorted({doc for doc in listed if list(listed).count(doc) > 1}) if len(set(listed)) != len(listed) else []
    if repeated:
        raise DataError(f"document {repeated[0]!r} is listed twice")
    against = [doc for doc in listed if doc in scores and not scores[doc] > 0]
    if against:
        raise DataError(
            f"document {against[0]!r} is listed as relevant, but scored {scores[against[0]]:g}; "
            "remove it from relevant_docs or give it a grade above 0"
        )
    unlisted = [doc for doc, score in scores.items() if score > 0 and doc not in listed]
    if unlisted and listed:
        raise DataError(
            f"document {unlisted[0]!r} is scored {scores[unlisted[0]]:g}, but not listed in relevant_docs; list it too"
        )
    return {**{doc: float(scores.get(doc, 1.0)) for doc in listed}, **{doc: float(s) for doc, s in scores.items()}}


def as_testset(qrels: Qrels) -> TestSet:
    """A test set whose texts are the ids."""
    made = (
        Query(query, grades, query, no_answer=query in qrels.no_answer) for query, grades in qrels.to_dict().items()
    )
    return TestSet(made, name=qrels.name)


@named_arguments
class Corpus(Mapping[str, str]):
    """Texts of documents by id, immutable."""

    def __init__(self, texts: Mapping[str, str], *, name: str = "corpus") -> None:
        check_text("name", name)
        try:
            self._texts = dict(texts)
        except (TypeError, ValueError):
            raise DataError(
                f'{name}: a {type(texts).__name__} is no corpus; give texts by id, {{"d1": "its text"}}, or read a '
                "file with load_corpus(path)"
            ) from None
        if any(not issubclass(kind, str) for kind in set(map(type, self._texts.values()))):
            doc, text = next((doc, text) for doc, text in self._texts.items() if not isinstance(text, str))
            raise DataError(f"{name}: document {doc!r} has a {type(text).__name__} for its text; give a text")
        self.name = name

    def __getitem__(self, doc: str) -> str:
        return self._texts[doc]

    def __iter__(self) -> Iterator[str]:
        return iter(self._texts)

    def __len__(self) -> int:
        return len(self._texts)

    def __repr__(self) -> str:
        return f"Corpus({self.name!r}: {counted(len(self), 'document')})"
