"""Traces from files: our own JSON Lines, and spans in the layouts that OpenTelemetry and Phoenix write."""

from __future__ import annotations

import csv
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankgauge import Call, Trace, Traces, load_traces
from rankgauge.errors import DataError, FormatError

QUESTION = "Who coached the team that won in 1995?"


def spans() -> Sequence[Any]:
    """Spans of the real SDK: an agent with two retrievals, the second of which asks another, and a bare retriever."""
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import SimpleSpanProcessor
    from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

    exporter, provider = InMemorySpanExporter(), TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    tracer = provider.get_tracer("agent")

    def retriever(query: str, *docs: str) -> dict[str, Any]:
        about: dict[str, Any] = {"openinference.span.kind": "RETRIEVER", "input.value": query}
        for i, doc in enumerate(docs):
            about[f"retrieval.documents.{i}.document.id"] = doc
            about[f"retrieval.documents.{i}.document.score"] = 1.0 - i / 10
            about[f"retrieval.documents.{i}.document.content"] = f"text of {doc}"
        return about

    metadata = {"metadata": json.dumps({"query_id": "q7"})}
    with tracer.start_as_current_span(
        "agent", attributes={"openinference.span.kind": "AGENT", "input.value": QUESTION, **metadata}
    ):
        with tracer.start_as_current_span("search", attributes=retriever("1995 winner", "d1", "d2")):
            pass
        with tracer.start_as_current_span(
            "llm", attributes={"openinference.span.kind": "LLM", "llm.token_count.total": 120}
        ):
            pass
        with (
            tracer.start_as_current_span("fusion", attributes=retriever("coach", *(f"d{i}" for i in range(3, 15)))),
            tracer.start_as_current_span("inner", attributes=retriever("coach", "d3")),
        ):
            pass
    with tracer.start_as_current_span("search", attributes=retriever("a question of its own", "d9")):
        pass
    return exporter.get_finished_spans()


def checked(traces: Traces) -> None:
    agent, bare = sorted(traces, key=lambda trace: trace.query_id, reverse=True)
    assert (agent.query_id, agent.question, agent.tokens) == ("q7", QUESTION, 120)
    assert [call.query for call in agent.calls] == ["1995 winner", "coach"]
    assert list(agent.calls[0].documents) == ["d1", "d2"]
    assert list(agent.calls[1].documents) == [f"d{i}" for i in range(3, 15)]  # 10 comes after 9, not after 1
    assert agent.calls[0].texts[0] == "text of d1"
    assert all(call.seconds is not None and 0 <= call.seconds < 5 for call in agent.calls)
    assert (bare.query_id, bare.question, list(bare.calls[0].documents)) == ("", "a question of its own", ["d9"])


def nested(span: Any) -> dict[str, Any]:
    """A span as Phoenix's JSON has it: nested attributes, the kind beside them."""
    attributes: dict[str, Any] = {}
    for key, value in span.attributes.items():
        place = attributes
        *path, last = key.split(".")
        for part in path:
            place = place.setdefault(part, {})
        place[last] = value
    documents = attributes.get("retrieval", {}).get("documents", {})
    if documents:
        attributes["retrieval"]["documents"] = [documents[key] for key in sorted(documents, key=int)]
    kind = attributes.pop("openinference")["span"]["kind"]
    if isinstance(attributes.get("metadata"), str):
        attributes["metadata"] = json.loads(attributes["metadata"])
    own = json.loads(span.to_json())
    return {
        "name": span.name,
        "context": {"trace_id": own["context"]["trace_id"], "span_id": own["context"]["span_id"]},
        "span_kind": kind,
        "parent_id": own["parent_id"],
        "start_time": own["start_time"],
        "end_time": own["end_time"],
        "status_code": "OK",
        "status_message": "",
        "attributes": attributes,
        "events": [],
    }


def columns(span: Any) -> dict[str, Any]:
    """A row of Phoenix's data frame: documents are a list of objects with flat keys."""
    row = nested(span)
    own = row["attributes"]
    documents = [
        {f"document.{key}": value for key, value in entry["document"].items()}
        for entry in own.get("retrieval", {}).get("documents", [])
    ]
    return {
        "context.span_id": row["context"]["span_id"],
        "context.trace_id": row["context"]["trace_id"],
        **{key: row[key] for key in ("name", "span_kind", "parent_id", "start_time", "end_time")},
        "attributes.input.value": own.get("input", {}).get("value"),
        "attributes.retrieval.documents": documents or None,
        "attributes.metadata": own.get("metadata"),
        "attributes.llm.token_count.total": own.get("llm", {}).get("token_count", {}).get("total"),
    }


def test_otlp(tmp_path: Path) -> None:
    """As the collector's file exporter writes it (a document in each line), with ids in hexadecimal or base64."""
    encoder = pytest.importorskip("opentelemetry.exporter.otlp.proto.common.trace_encoder")
    from google.protobuf.json_format import MessageToDict

    found = spans()
    for camel in (True, False):
        message = MessageToDict(encoder.encode_spans(found), preserving_proto_field_name=not camel)
        whole, lines = tmp_path / f"{camel}.json", tmp_path / f"{camel}.jsonl"
        whole.write_text(json.dumps(message))
        checked(load_traces(whole))
        parts = [MessageToDict(encoder.encode_spans([span]), preserving_proto_field_name=not camel) for span in found]
        lines.write_text("\n".join(map(json.dumps, parts)))
        checked(load_traces(lines))


@pytest.mark.parametrize("layout", ["sdk", "nested", "columns"])
def test_lines_of_spans(layout: str, tmp_path: Path) -> None:
    write = {"sdk": lambda span: json.loads(span.to_json()), "nested": nested, "columns": columns}[layout]
    path = tmp_path / "spans.jsonl"
    path.write_text("\n".join(json.dumps(write(span)) for span in spans()))
    checked(load_traces(path))


@pytest.mark.parametrize("form", ["csv", "repr", "parquet"])
def test_tables_of_spans(form: str, tmp_path: Path) -> None:
    """A table from pandas holds lists as Python writes them, another one as JSON, Parquet as they are."""
    import polars as pl

    rows = [columns(span) for span in spans()]
    path = tmp_path / ("spans.parquet" if form == "parquet" else "spans.csv")
    if form == "parquet":
        pl.DataFrame(rows, infer_schema_length=None).write_parquet(path)
    else:
        texts = json.dumps if form == "csv" else repr
        with path.open("w", newline="") as file:
            writer = csv.DictWriter(file, list(rows[0]))
            writer.writeheader()
            for row in rows:
                writer.writerow(
                    {key: texts(value) if isinstance(value, list | dict) else value for key, value in row.items()}
                )
    checked(load_traces(path))


def test_another_attribute_names_the_query(tmp_path: Path) -> None:
    path = tmp_path / "spans.jsonl"
    rows = [json.loads(span.to_json()) for span in spans()]
    for row in rows:
        row["attributes"]["app.case"] = "case 3"
    path.write_text("\n".join(map(json.dumps, rows)))
    assert {trace.query_id for trace in load_traces(path, query_id="app.case")} == {"case 3"}


def test_what_is_no_retrieval(tmp_path: Path) -> None:
    path = tmp_path / "spans.jsonl"
    rows = [json.loads(span.to_json()) for span in spans() if span.name in ("agent", "llm")]
    path.write_text("\n".join(map(json.dumps, rows)))
    with pytest.raises(FormatError, match="RETRIEVER"):
        load_traces(path)
    rows = [json.loads(span.to_json()) for span in spans()]
    for row in rows:
        row["attributes"] = {key: value for key, value in row["attributes"].items() if not key.endswith("document.id")}
    path.write_text("\n".join(map(json.dumps, rows)))
    with pytest.raises(FormatError, match="has no id"):
        load_traces(path)


def test_lines_of_questions_and_of_calls(tmp_path: Path) -> None:
    whole = [{"query_id": "q1", "calls": [{"query": "a", "results": ["d1", {"id": "d2", "score": 0.3}], "tokens": 5}]}]
    single = [
        {"query_id": "q1", "call": 2, "query": "b", "results": [["d3", 0.5]]},
        {"query_id": "q1", "call": 1, "query": "a", "results": ["d1"], "seconds": 0.5},
        {"question": "what?", "query": "c", "results": []},
    ]
    path = tmp_path / "traces.jsonl"
    path.write_text("\n".join(map(json.dumps, whole)) + "\n")
    (trace,) = load_traces(path)
    assert trace == Trace([Call("a", ["d1", "d2"], 5.0)], "q1")
    path.write_text("\n".join(map(json.dumps, single)))
    first, second = load_traces(path)
    assert [call.query for call in first.calls] == ["a", "b"]
    assert (second.question, second.calls[0].documents) == ("what?", ())


def test_all_faults_with_their_lines(tmp_path: Path) -> None:
    rows: list[Any] = [
        {"calls": []},
        {"query_id": "q1", "calls": [{"query": "a"}]},
        {"query_id": "q2", "calls": [{"results": [{"score": 1}]}]},
        {"query_id": "q3", "calls": [{"results": ["d"], "tokens": -1}]},
        {"query_id": "q4", "call": 1, "results": ["d"]},
        {"query_id": "q4", "call": 1, "results": ["d"]},
        [],
    ]
    path = tmp_path / "traces.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)))
    with pytest.raises(FormatError) as caught:
        load_traces(path)
    for line in (1, 2, 3, 4, 6, 7):
        assert f"line {line}:" in str(caught.value)
    (tmp_path / "run.txt").write_text("q1 Q0 d1 1 0.5 x\n")
    with pytest.raises(FormatError, match="JSON Lines"):
        load_traces(tmp_path / "run.txt")


ids = st.text(st.characters(codec="utf-8", exclude_categories=("Cc", "Cs")), min_size=1, max_size=5)
calls = st.builds(Call, ids, st.lists(ids, max_size=4), st.none() | st.floats(0, 1e6), st.none() | st.floats(0, 60))
traces = st.lists(
    st.builds(Trace, st.lists(calls, max_size=3), ids, ids, st.none() | st.floats(0, 1e6)), min_size=1, max_size=4
)


@given(traces)
def test_round_trip(tmp_path_factory: pytest.TempPathFactory, made: list[Trace]) -> None:
    path = tmp_path_factory.mktemp("traces") / "traces.jsonl"
    Traces(made).save(path)
    assert Traces.load(path) == Traces(made)


def test_nouns_refuse() -> None:
    with pytest.raises(DataError, match="list of ids"):
        Call("q", "d1")
    with pytest.raises(DataError, match="list of calls"):
        Trace(["d1"])  # type: ignore[list-item]
    with pytest.raises(DataError, match="entry 1"):
        Traces([{"calls": []}])  # type: ignore[list-item]
    assert repr(Traces([Trace([Call("q", ["d", "d"])])])) == "Traces('traces': 1 trace, 1 call)"
