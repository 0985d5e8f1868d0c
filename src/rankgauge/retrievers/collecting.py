"""`TraceCollector`: the retrieval calls of a chain or an agent as traces, gathered by LangChain's callbacks."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from rankgauge.arguments import check_text, named_arguments
from rankgauge.model.traces import Call, Trace, Traces
from rankgauge.retrievers.hits import hits_of

__all__ = ["TraceCollector"]

_QUESTIONS = ("question", "query", "input", "user_input", "text", "messages")
_MOST = 100_000
"""Documents of one call that are read."""


@dataclass
class _Begun:
    """Something that was started: a chain, a tool, a retriever."""

    parent: Any
    question: str
    metadata: Mapping[str, Any]
    retrieves: bool = False
    started: float = field(default_factory=time.perf_counter)


@dataclass
class _Gathered:
    """What is known of one question so far."""

    question: str
    query_id: str
    calls: list[tuple[float, Call]] = field(default_factory=list)
    tokens: float | None = None


@named_arguments
class TraceCollector:
    """Gathers traces where it is given as a callback: `chain.invoke(question, config={"callbacks": [collector]})`.

    All retrievals below one call of a chain, an agent or a retriever are one trace, in the order in which they began;
    a retrieval inside another is a part of it. The query's id is taken from the metadata, `{"query_id": "q1"}`, where
    it is there; else the question's text finds it. `id_field` names the field that holds the document's id, as for
    `evaluate_retriever`. It has what LangChain asks of a handler and needs no LangChain itself.
    """

    raise_error = True
    run_inline = True
    ignore_llm = ignore_chain = ignore_agent = ignore_retriever = ignore_chat_model = False
    ignore_retry = ignore_custom_event = True

    def __init__(self, *, id_field: str | None = None, name: str = "traces") -> None:
        check_text("id_field", id_field)
        check_text("name", name)
        self.name, self._id_field = name, id_field
        self._begun: dict[Any, _Begun] = {}
        self._gathered: dict[Any, _Gathered] = {}
        self._lock = threading.Lock()

    @property
    def traces(self) -> Traces:
        """What has been gathered so far."""
        with self._lock:
            return Traces(
                (
                    Trace(
                        [call for _, call in sorted(one.calls, key=lambda entry: entry[0])],
                        one.query_id,
                        one.question,
                        one.tokens,
                    )
                    for one in self._gathered.values()
                ),
                name=self.name,
            )

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the traces as JSON Lines, whole or not at all."""
        self.traces.save(path)

    def __len__(self) -> int:
        return len(self._gathered)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("on_"):  # events that tell nothing of retrieval
            return _nothing
        raise AttributeError(name)

    def on_chain_start(
        self,
        serialized: Any,
        inputs: Any,
        *,
        run_id: Any,
        parent_run_id: Any = None,
        metadata: Mapping[str, Any] | None = None,
        **_: Any,
    ) -> None:
        self._start(run_id, parent_run_id, _question(inputs), metadata)

    on_tool_start = on_llm_start = on_chat_model_start = on_chain_start

    def on_retriever_start(
        self,
        serialized: Any,
        query: str,
        *,
        run_id: Any,
        parent_run_id: Any = None,
        metadata: Mapping[str, Any] | None = None,
        **_: Any,
    ) -> None:
        self._start(run_id, parent_run_id, query, metadata, retrieves=True)

    def on_retriever_end(self, documents: Any, *, run_id: Any, **_: Any) -> None:
        hits, _faults = hits_of(documents, _MOST, id_field=self._id_field)
        self._end(run_id, [hit.id for hit in hits])

    def on_retriever_error(self, error: BaseException, *, run_id: Any, **_: Any) -> None:
        """A call that failed brought nothing."""
        self._end(run_id, [])

    def on_llm_end(self, response: Any, *, run_id: Any, **_: Any) -> None:
        used = _tokens(response)
        with self._lock:
            gathered = self._gathered.get(self._root(run_id))
            if used is not None and gathered is not None:
                gathered.tokens = (gathered.tokens or 0.0) + used

    def _start(
        self, run_id: Any, parent: Any, question: str, metadata: Mapping[str, Any] | None, *, retrieves: bool = False
    ) -> None:
        with self._lock:
            self._begun[run_id] = _Begun(parent, question, metadata or {}, retrieves)
            if parent is None or parent not in self._begun:
                own = (metadata or {}).get("query_id")
                self._gathered[run_id] = _Gathered(question, "" if own is None else str(own))

    def _end(self, run_id: Any, documents: list[str]) -> None:
        with self._lock:
            begun = self._begun.get(run_id)
            if begun is None or self._inside(begun):
                return
            took = time.perf_counter() - begun.started
            gathered = self._gathered[self._root(run_id)]
            gathered.calls.append((begun.started, Call(begun.question, documents, None, took)))
            if not gathered.query_id and (own := begun.metadata.get("query_id")) is not None:
                gathered.query_id = str(own)

    def _inside(self, begun: _Begun) -> bool:
        """Whether a retrieval is a part of another one."""
        above = self._begun.get(begun.parent)
        while above is not None:
            if above.retrieves:
                return True
            above = self._begun.get(above.parent)
        return False

    def _root(self, run_id: Any) -> Any:
        while (begun := self._begun.get(run_id)) is not None and begun.parent in self._begun:
            run_id = begun.parent
        return run_id


def _nothing(*_: Any, **__: Any) -> None:
    return None


def _question(inputs: Any) -> str:
    """The text that a chain or an agent was asked."""
    if isinstance(inputs, str):
        return inputs
    if isinstance(inputs, Mapping):
        return next((found for key in _QUESTIONS if key in inputs and (found := _question(inputs[key]))), "")
    if isinstance(inputs, list | tuple) and inputs:
        last = inputs[-1]
        return _question(last[1] if isinstance(last, tuple) and len(last) == 2 else last)
    content = getattr(inputs, "content", None)
    return content if isinstance(content, str) else ""


def _tokens(response: Any) -> float | None:
    """Tokens of a model's answer, as LangChain tells them."""
    for generations in getattr(response, "generations", ()):
        for generation in generations:
            usage = getattr(getattr(generation, "message", None), "usage_metadata", None)
            if isinstance(usage, Mapping) and isinstance(usage.get("total_tokens"), int | float):
                return float(usage["total_tokens"])
    output = getattr(response, "llm_output", None)
    usage = output.get("token_usage") if isinstance(output, Mapping) else None
    total = usage.get("total_tokens") if isinstance(usage, Mapping) else None
    return float(total) if isinstance(total, int | float) else None
