"""TestSet: queries with their texts, tags and graded judgments, and the labels that these come from."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from rankgauge.arguments import check_text, named_arguments
from rankgauge.errors import DataError, counted
from rankgauge.model.conversations import conversations_by
from rankgauge.model.corpus import Corpus
from rankgauge.model.files import FILES
from rankgauge.model.judgments import Qrels
from rankgauge.model.query import Query

if TYPE_CHECKING:
    import polars as pl

    from rankgauge.model.differences import TestSetDifference
    from rankgauge.model.labels import Label, LabelPolicy, Labels
    from rankgauge.model.summary import TestSetSummary

__all__ = ["Corpus", "Query", "TestSet", "as_testset"]

_REMEDY = 'give Query("its text", {"d1": 1}), or read a file with TestSet.load(path)'


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
        self._labels: Labels | None = None
        self._policy: LabelPolicy | None = None
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
        from rankgauge.model.annotations import annotated

        return cls(annotated(queries, relevant_docs, relevance_scores, ids, tags, name), name=name)

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

    @classmethod
    def from_labels(
        cls,
        queries: Iterable[Query],
        labels: Labels | Iterable[Label],
        policy: LabelPolicy | None = None,
        *,
        name: str = "test set",
    ) -> TestSet:
        """Queries whose grades are what the policy makes of the labels alone: grades that they have do not count."""
        from rankgauge.model.labelled import graded
        from rankgauge.model.labels import LabelPolicy, Labels

        if policy is not None and not isinstance(policy, LabelPolicy):
            raise DataError(f"`policy` must be a LabelPolicy, not {policy!r}")
        bare = cls(queries, name=name)
        own, rule = labels if isinstance(labels, Labels) else Labels(labels), policy or LabelPolicy()
        return cls(graded(bare, own, rule), name=name)._with(own, rule)

    def _with(self, labels: Labels | None, policy: LabelPolicy | None) -> TestSet:
        """This new test set with the labels that its grades come from."""
        self._labels, self._policy = labels, policy
        return self

    def with_labels(
        self,
        labels: Labels | Iterable[Label] = (),
        policy: LabelPolicy | None = None,
        *,
        skip_unknown: bool = False,
    ) -> TestSet:
        """The same queries with further labels; their grades are what the policy makes of all labels.

        Where the set has no labels yet, the grades that it has become labels of kind `import`, whose judge is its
        name. Without a `policy` it keeps its own, or has the usual one: people before models, a majority of them.
        Labels of other queries are an error, or left out with `skip_unknown`.
        """
        from rankgauge.model.labelled import refuse_unknown
        from rankgauge.model.labels import Labels

        given = labels if isinstance(labels, Labels) else Labels(labels)
        if skip_unknown:
            given = given.of_queries(self)
        refuse_unknown(given, self)
        return TestSet.from_labels(self, self._as_labels().added(given), policy or self._policy, name=self.name)

    def regraded(self, grades: Mapping[float, float]) -> TestSet:
        """The same test set with other grades for those that are named: {1: 4, 2: 3, 3: 2, 4: 1} turns a scale round in
        which lower is better. Labels go along, so that their policy still gives the grades."""
        from rankgauge.model.labelled import regraded

        queries, labels = regraded(self._queries, self._labels, grades)
        if labels is None or self._policy is None:
            return TestSet(queries, name=self.name)
        return TestSet.from_labels(queries, labels, self._policy, name=self.name)

    def _as_labels(self) -> Labels:
        """Its labels, or its grades as such."""
        from rankgauge.model.labelled import imported
        from rankgauge.model.labels import Labels

        return Labels(imported(self, self.name), name=self.name) if self._labels is None else self._labels

    def with_queries(self, queries: Iterable[Query], *, name: str | None = None) -> TestSet:
        """A test set of other queries, or of some of these, with the grades that they bring. It keeps the labels that
        give these grades; any other grade becomes a label of kind `import`, where the test set has labels."""
        from rankgauge.model.labelled import kept_labels

        made = TestSet(queries, name=self.name if name is None else name)
        if self._labels is None or self._policy is None:
            return made
        return made._with(kept_labels(self._labels, self._policy, made, self.name), self._policy)

    @property
    def labels(self) -> Labels:
        """Who gave which grade; empty where the grades came without labels."""
        from rankgauge.model.labels import Labels

        return Labels(name=self.name) if self._labels is None else self._labels

    @property
    def policy(self) -> LabelPolicy | None:
        """What makes grades of its labels; None where it has none."""
        return self._policy

    @cached_property
    def version(self) -> str:
        """A hash of all that it says: queries, grades, labels and policy, not its name or order."""
        from rankgauge.model.labelled import version_of

        return version_of(self, self.labels, self._policy)

    @property
    def conversations(self) -> dict[str, str]:
        """The conversation of each query that belongs to one."""
        return {query.id: query.conversation for query in self._queries if query.conversation}

    def with_conversations(self, rule: str | Mapping[str, str]) -> TestSet:
        """The same queries as turns of conversations: `rule` is a mapping from query to conversation, or a regular
        expression whose first group in a query's id is its conversation, such as `^(.+)<::>` of MTRAG's ids."""
        found = conversations_by(rule, [query.id for query in self._queries])
        turns = (replace(query, conversation=found.get(query.id, query.conversation)) for query in self._queries)
        return self.with_queries(turns)

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
        found = (query for query in self._queries if set(tags) <= set(query.tags))
        return self.with_queries(found, name=f"{self.name} [{', '.join(tags)}]")

    def split(
        self,
        share: float = 0.5,
        *,
        seed: int = 0,
        by: str | Sequence[str] | None = None,
        scores: Mapping[str, float] | None = None,
    ) -> tuple[TestSet, TestSet]:
        """Two test sets with a random share of the queries and the rest, each in the original order.

        Turns of one conversation and queries that are nearly the same stay together. `by` makes the two parts alike:
        by "tag", by "difficulty" (thirds of `scores`, those of a system by query), or by both.
        """
        from rankgauge.model.splitting import check_by, parts_of

        if isinstance(share, bool) or not isinstance(share, int | float) or not 0 < share < 1:
            raise DataError(f"share={share!r} must lie between 0 and 1")
        chosen = parts_of(self, share, seed, check_by(by), scores)
        parts = ([q for i, q in enumerate(self) if (i in chosen) is first] for first in (True, False))
        named = ((part, f"{self.name} [part {i}]") for i, part in enumerate(parts, start=1))
        first, second = (self.with_queries(part, name=name) for part, name in named)
        return first, second

    def sample(
        self, n: int, *, seed: int = 0, by: str | None = None, weights: Mapping[str, float] | None = None
    ) -> TestSet:
        """n random queries, in the original order. With `by="tag"` the tags take turns, so that rare ones are there
        too; with `weights` by id or text, such as how often each was asked, those of more weight are likelier."""
        from rankgauge.model.splitting import check_by, sample_of

        chosen = sample_of(self, n, seed, check_by(by), weights)
        return self.with_queries((self[i] for i in chosen), name=f"{self.name} [{n}]")

    def merge(
        self,
        other: TestSet,
        *,
        conflicts: str = "error",
        policy: LabelPolicy | None = None,
        unreviewed: bool = False,
        name: str | None = None,
    ) -> TestSet:
        """The queries of both, those of one id as one. Where grades or texts differ, that is an error; with
        `conflicts="first"` this test set is right, and with "labels" the grades of both are labels that the policy
        decides among. Queries of the other without any label are refused unless `unreviewed`."""
        from rankgauge.model.merging import check_conflicts, merged_labels, merged_queries, refuse_unreviewed

        how = check_conflicts(conflicts)
        if not isinstance(other, TestSet):
            raise DataError(f"`other` must be a TestSet, not a {type(other).__name__}; read a file with TestSet.load")
        if not unreviewed:
            refuse_unreviewed([query for query in other if query.id not in {own.id for own in self}], other.name)
        made = TestSet(merged_queries(self, other, how), name=self.name if name is None else name)
        rule = policy or self._policy or other._policy
        if rule is None and how != "labels":
            return made
        labels = merged_labels(self._as_labels(), other._as_labels(), made, every=how == "labels")
        return TestSet.from_labels(made, labels, rule, name=made.name)

    def difference(self, other: TestSet) -> TestSetDifference:
        """What changed from this test set to another version of it."""
        from rankgauge.model.differences import difference_of

        if not isinstance(other, TestSet):
            raise DataError(f"`other` must be a TestSet, not a {type(other).__name__}; read a file with TestSet.load")
        labels, policies = (self.labels, other.labels), (self._policy, other._policy)
        return difference_of(self, other, labels, policies, (self.version, other.version))

    @property
    def summary(self) -> TestSetSummary:
        """How many queries and judgments of which kinds it has, and who gave them."""
        from rankgauge.model.summary import summary_of

        return summary_of(self, self.name, self.version, self.labels, self._policy)

    def renamed(self, name: str) -> TestSet:
        return TestSet(self._queries, name=name)._with(self._labels, self._policy)

    def with_texts(self, texts: Mapping[str, str]) -> TestSet:
        """The same queries with other texts, by id."""
        return self.with_queries(replace(query, text=texts.get(query.id, query.text)) for query in self._queries)

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
        if not isinstance(other, TestSet) or self._queries != other._queries:
            return False
        return (self._labels, self._policy) == (other._labels, other._policy)

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


def as_testset(qrels: Qrels) -> TestSet:
    """A test set whose texts are the ids."""
    made = (
        Query(query, grades, query, no_answer=query in qrels.no_answer) for query, grades in qrels.to_dict().items()
    )
    return TestSet(made, name=qrels.name)
