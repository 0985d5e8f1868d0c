"""Query: one query of a test set, with its judgments."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from rankgauge.arguments import check_text, named_arguments
from rankgauge.errors import DataError
from rankgauge.model.spans import Span, as_span

__all__ = ["Query"]

_NUMBERS = {int, float}


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
    """Gold passages, by their characters or their texts. A text that is quoted becomes a `Span`, and so does
    {"doc": ..., "start": ..., "end": ...}. Without `grades`, their documents are judged as they are."""
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
        if self.spans or type(self.spans) is not tuple:
            object.__setattr__(self, "spans", self._spans())
            if not self.grades:
                object.__setattr__(self, "grades", self._grades_of_spans())
        if self.no_answer not in (True, False):
            raise DataError(f"query {self.id!r}: `no_answer` must be True or False, not {self.no_answer!r}")
        check_text("conversation", self.conversation)
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

    def _spans(self) -> tuple[Span, ...]:
        if self.spans is None:
            return ()
        if isinstance(self.spans, str | Mapping | Span) or not isinstance(self.spans, Iterable):
            raise DataError(f"query {self.id!r}: `spans` must be a list of passages, not {self.spans!r}"[:300])
        try:
            return tuple(map(as_span, self.spans))
        except DataError as error:
            raise DataError(f"query {self.id!r}: {error}") from None

    def _grades_of_spans(self) -> dict[str, float]:
        """Where passages are the only labels, their documents are judged as the passages are."""
        grades: dict[str, float] = {}
        for span in self.spans:
            if span.doc:
                grades[span.doc] = max(span.grade, grades.get(span.doc, span.grade))
        return grades

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
