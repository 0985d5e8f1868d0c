"""What the retrieval calls of traces brought and took, question by question."""

from __future__ import annotations

from dataclasses import dataclass, field

__all__ = ["CallMeans", "Spent", "TraceUse"]


@dataclass(frozen=True)
class CallMeans:
    """The calls of one number: the first of each question, the second, ..."""

    call: int
    questions: int
    """Questions that had such a call."""
    own: dict[str, float]
    """Means of the lists of these calls alone, over these questions."""
    union: dict[str, float]
    """Means of the union of the calls up to this one, over all questions that count."""
    complete: int
    """Questions of which all evidence was there after this call, and not before."""


@dataclass(frozen=True)
class Spent:
    """Tokens or seconds of the questions that tell them."""

    questions: int
    mean: float
    p50: float
    p95: float


@dataclass(frozen=True)
class TraceUse:
    """Traces bound to the queries of a test set."""

    traces: int
    by_id: int
    """Traces whose query was told by an id."""
    by_text: int
    """Traces whose question has the text of a query."""
    unbound: int
    """Traces of no query of the test set: they are not scored."""
    repeated: int
    """Traces of a query that another trace came before: they are not scored."""
    order: str
    """How the lists of several calls are one: calls, ranks or rrf."""
    calls: dict[int, int] = field(default_factory=dict)
    """How many questions had so many calls."""
    documents: float = 0.0
    """Different documents of a question, on average."""
    tokens: Spent | None = None
    seconds: Spent | None = None
    by_call: list[CallMeans] = field(default_factory=list)
    """By the number of the call; of very long traces only the first."""
    evidence: int = 0
    """Questions of the test set that have evidence to be found."""
    never: int = 0
    """Of these, those of which not all was there after the last call."""

    @property
    def questions(self) -> int:
        """Questions with a trace."""
        return sum(self.calls.values())

    @property
    def calls_per_question(self) -> float:
        return sum(n * questions for n, questions in self.calls.items()) / self.questions if self.questions else 0.0
