"""Traces: the retrieval calls that were made for one question, in their order, by an agent or a rewriter of queries."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from rankgauge.arguments import check_text, named_arguments
from rankgauge.errors import DataError, counted
from rankgauge.model.files import FILES

__all__ = ["Call", "Trace", "Traces"]

_CALL = 'give Call("the query sent", ["d1", "d2"])'


@named_arguments
@dataclass(frozen=True)
class Call:
    """One retrieval call: the query that was sent, and the documents that came back, best first."""

    query: str
    documents: Sequence[str]
    tokens: float | None = None
    """Tokens that the results put into the context; None where nobody counted."""
    seconds: float | None = None
    texts: Sequence[str] = field(default=(), repr=False)
    """What the results say, in their order, where it is known: a tokenizer can count it. Chunks of one document may be
    more than the documents."""

    def __post_init__(self) -> None:
        check_text("query", self.query)
        if isinstance(self.documents, str) or not all(isinstance(doc, str) and doc for doc in self.documents):
            raise DataError(f"`documents` of a call must be a list of ids, not {self.documents!r}"[:200])
        object.__setattr__(self, "documents", tuple(dict.fromkeys(self.documents)))
        object.__setattr__(self, "texts", tuple(self.texts))
        for name in ("tokens", "seconds"):
            number = getattr(self, name)
            if number is not None and (isinstance(number, bool) or not isinstance(number, int | float) or number < 0):
                raise DataError(f"`{name}` of a call must be a number from 0 on, not {number!r}")


@named_arguments
@dataclass(frozen=True)
class Trace:
    """The calls of one question. `query_id` is the query of the test set, where the trace tells it; else the text of
    the `question` finds it."""

    calls: Sequence[Call]
    query_id: str = ""
    question: str = ""
    tokens: float | None = None
    """Of the whole trace, answers included; None where only calls, or nobody, counted."""

    def __post_init__(self) -> None:
        check_text("question", self.question)
        check_text("query_id", self.query_id)
        if isinstance(self.calls, Call) or not all(isinstance(call, Call) for call in self.calls):
            raise DataError(f"`calls` of a trace must be a list of calls; {_CALL}")
        object.__setattr__(self, "calls", tuple(self.calls))

    @property
    def all_tokens(self) -> float | None:
        """Of the whole trace, or of its calls where each was counted."""
        if self.tokens is not None or not self.calls or any(call.tokens is None for call in self.calls):
            return self.tokens
        return sum(call.tokens or 0 for call in self.calls)


@named_arguments
class Traces(Sequence[Trace]):
    """Traces of many questions, immutable."""

    def __init__(self, traces: Iterable[Trace], *, name: str = "traces") -> None:
        check_text("name", name)
        if not isinstance(traces, Iterable):
            raise DataError(
                f"{name}: a {type(traces).__name__} is no list of traces; read a file with Traces.load(path)"
            )
        self._traces, self.name = tuple(traces), name
        for number, trace in enumerate(self._traces, start=1):
            if not isinstance(trace, Trace):
                raise DataError(f'{name}: entry {number} is a {type(trace).__name__}; give Trace([...], query_id="q1")')

    @classmethod
    def load(cls, path: str | os.PathLike[str], *, query_id: str | None = None) -> Traces:
        """Traces from a file, as `load_traces` reads them."""
        found: Traces = FILES["load_traces"](path, query_id=query_id)
        return found

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the traces as JSON Lines, whole or not at all."""
        FILES["save_traces"](self, path)

    def __len__(self) -> int:
        return len(self._traces)

    def __getitem__(self, index: Any) -> Any:
        return self._traces[index]

    def __iter__(self) -> Iterator[Trace]:
        return iter(self._traces)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Traces) and self._traces == other._traces

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        calls = counted(sum(len(trace.calls) for trace in self), "call")
        return f"Traces({self.name!r}: {counted(len(self), 'trace')}, {calls})"
