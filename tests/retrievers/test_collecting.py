"""LangChain's callbacks as traces, with the real langchain-core."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from langchain_core.callbacks import CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.language_models import FakeListChatModel
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import RunnableLambda, RunnableParallel

from rankgauge import Query, TestSet, TraceCollector, Traces, evaluate_traces


class Lists(BaseRetriever):
    lists: dict[str, list[str]]

    def _get_relevant_documents(self, query: str, *, run_manager: CallbackManagerForRetrieverRun) -> list[Document]:
        return [Document(page_content=f"text of {doc}", metadata={"id": doc}) for doc in self.lists[query]]


class Both(BaseRetriever):
    """A retriever that asks another one twice."""

    inner: BaseRetriever

    def _get_relevant_documents(self, query: str, *, run_manager: CallbackManagerForRetrieverRun) -> list[Document]:
        found = [self.inner.invoke(query, {"callbacks": run_manager.get_child()}) for _ in range(2)]
        return found[0]


LISTS = Lists(lists={"first hop": ["d1", "x"], "second hop": ["y", "d2"], "alone": ["d3"]})


def two_hops(question: Any) -> str:
    LISTS.invoke("first hop")
    LISTS.invoke("second hop")
    return str(question)


def test_a_chain_is_one_trace(tmp_path: Path) -> None:
    collector = TraceCollector(name="agent")
    config: dict[str, Any] = {"callbacks": [collector]}
    chain = RunnableLambda(two_hops) | FakeListChatModel(responses=["answer"])
    chain.invoke("who won, and who coached?", config)
    chain.invoke({"question": "by id"}, {**config, "metadata": {"query_id": "q2"}})
    LISTS.invoke("alone", config)
    first, second, third = collector.traces
    assert (first.question, first.query_id) == ("who won, and who coached?", "")
    assert [(call.query, list(call.documents)) for call in first.calls] == [
        ("first hop", ["d1", "x"]),
        ("second hop", ["y", "d2"]),
    ]
    assert all(call.seconds is not None and call.seconds < 5 for call in first.calls)
    assert (second.query_id, second.question) == ("q2", "by id")
    assert (third.question, list(third.calls[0].documents)) == ("alone", ["d3"])
    collector.save(tmp_path / "traces.jsonl")
    assert Traces.load(tmp_path / "traces.jsonl") == collector.traces
    tested = TestSet([Query("who won, and who coached?", {"d1": 1, "d2": 1}, "q1"), Query("x", {"d2": 1}, "q2")])
    found = evaluate_traces(tested, collector, "R@10")
    assert found.usage["agent"].by_text == found.usage["agent"].by_id == 1
    assert found.evaluations["agent"].mean["R@10"] == 1.0


def test_a_retrieval_inside_another_is_part_of_it() -> None:
    collector = TraceCollector()
    Both(inner=LISTS).invoke("alone", {"callbacks": [collector]})
    (trace,) = collector.traces
    assert len(trace.calls) == 1


def test_parallel_and_async() -> None:
    collector = TraceCollector()
    config: dict[str, Any] = {"callbacks": [collector]}
    both = RunnableParallel(
        a=RunnableLambda(lambda _: "first hop") | LISTS, b=RunnableLambda(lambda _: "alone") | LISTS
    )
    both.invoke("in parallel", config)
    asyncio.run(both.ainvoke("later", config))
    for trace, question in zip(collector.traces, ("in parallel", "later"), strict=True):
        assert trace.question == question
        assert {call.query for call in trace.calls} == {"first hop", "alone"}


def test_a_failed_call_brought_nothing() -> None:
    collector = TraceCollector()
    with pytest.raises(KeyError):
        LISTS.invoke("unknown", {"callbacks": [collector]})
    (trace,) = collector.traces
    assert (trace.question, trace.calls[0].documents) == ("unknown", ())


def test_tokens_and_messages() -> None:
    from langchain_core.messages import AIMessage, HumanMessage
    from langchain_core.outputs import ChatGeneration, LLMResult

    collector = TraceCollector()
    collector.on_chain_start({}, {"messages": [HumanMessage("what is it?")]}, run_id=1)
    collector.on_chat_model_start({}, [[HumanMessage("what is it?")]], run_id=2, parent_run_id=1)
    usage = {"input_tokens": 7, "output_tokens": 3, "total_tokens": 10}
    message = AIMessage("x", usage_metadata=usage)
    collector.on_llm_end(LLMResult(generations=[[ChatGeneration(message=message)]]), run_id=2)
    collector.on_agent_finish(None, run_id=1)  # which nobody here needs
    (trace,) = collector.traces
    assert (trace.question, trace.tokens) == ("what is it?", 10)
    with pytest.raises(AttributeError):
        _ = collector.nothing
