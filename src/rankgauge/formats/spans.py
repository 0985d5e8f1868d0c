"""Spans of OpenTelemetry as traces, with the attributes of OpenInference, or of the conventions for generative AI.

One span may be written in many ways: flat keys (`retrieval.documents.0.document.id`), nested objects and lists, lists
of objects with flat keys, columns of a table (`attributes.retrieval.documents`). All become flat keys first.
"""

from __future__ import annotations

import ast
import datetime
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rankgauge.errors import DataError, Fault, FormatError
from rankgauge.formats.json_values import id_of
from rankgauge.model.traces import Call, Trace, Traces

__all__ = ["has_spans", "traces_of_spans"]

_RESOURCES = ("resourceSpans", "resource_spans")
_SCOPES = ("scopeSpans", "scope_spans", "instrumentationLibrarySpans")
_TRACE = ("context.trace_id", "traceId", "trace_id", "context.traceId")
_SPAN = ("context.span_id", "spanId", "span_id", "context.spanId")
_PARENT = ("parent_id", "parentSpanId", "parent_span_id", "parentId")
_START = ("start_time", "startTimeUnixNano", "start_time_unix_nano", "startTime")
_END = ("end_time", "endTimeUnixNano", "end_time_unix_nano", "endTime")
_KIND = ("openinference.span.kind", "span_kind", "spanKind")
_QUERY_ID = ("rankgauge.query_id", "query_id", "query.id", "metadata.query_id", "metadata.query.id", "tag.query_id")
_INPUT = ("input.value", "gen_ai.retrieval.query.text")
_DOCUMENTS = ("retrieval.documents", "gen_ai.retrieval.documents")
_ASKED = ("question", "query", "input", "user_input", "input_text", "query_str", "str_or_query_bundle")
_VALUES = ("stringValue", "intValue", "doubleValue", "boolValue", "string_value", "int_value", "double_value")


@dataclass(frozen=True)
class _Span:
    trace: str
    own: str
    parent: str
    start: float | None
    end: float | None
    attributes: Mapping[str, Any]

    @property
    def kind(self) -> str:
        kind = _first(self.attributes, _KIND)
        if kind is None and self.attributes.get("gen_ai.operation.name") == "retrieval":
            return "RETRIEVER"
        return str(kind or "").upper()

    @property
    def text(self) -> str:
        return _asked(_first(self.attributes, _INPUT))


def has_spans(values: Sequence[Any]) -> bool:
    """Whether JSON values, or rows of a table, are spans."""
    first = next((value for value in values if isinstance(value, Mapping)), None)
    if first is None:
        return False
    if any(key in first for key in _RESOURCES):
        return True
    if "calls" in first:
        return False
    flat = dict(_flat(first)) if isinstance(first.get("context"), Mapping) else first
    return _first(flat, _TRACE) is not None and _first(flat, _SPAN) is not None


def traces_of_spans(values: Sequence[Any], name: str, query_id: str | None = None) -> Traces:
    """One trace for each trace id, in the order of their first spans; calls in the order in which they began."""
    spans, faults = [], []
    for number, value in enumerate(_rows(values), start=1):
        try:
            spans.append(_span(value))
        except DataError as error:
            faults.append(Fault(f"span {number}: {error}"))
    if faults:
        raise FormatError(name, faults)
    by_trace: dict[str, list[_Span]] = {}
    for span in spans:
        by_trace.setdefault(span.trace, []).append(span)
    if not any(span.kind == "RETRIEVER" for span in spans):
        raise FormatError(
            name,
            ["none of its spans is a retrieval: openinference.span.kind is nowhere RETRIEVER, so there are no calls"],
        )
    wanted = _QUERY_ID if query_id is None else (query_id, f"metadata.{query_id}")
    made = []
    for own in by_trace.values():
        try:
            made.append(_trace(own, wanted))
        except DataError as error:
            faults.append(Fault(f"trace {own[0].trace}: {error}"))
    if faults:
        raise FormatError(name, faults)
    return Traces(made, name=name)


def _trace(spans: Sequence[_Span], wanted: Sequence[str]) -> Trace:
    known = {span.own: span for span in spans}
    ordered = sorted(spans, key=lambda span: float("inf") if span.start is None else span.start)
    root = next((span for span in ordered if span.parent not in known), ordered[0])
    found = [_first(span.attributes, wanted) for span in (root, *ordered)]
    own = next((value for value in found if value is not None), None)
    calls = [_call(span) for span in ordered if span.kind == "RETRIEVER" and not _inside(span, known)]
    counts = [span.attributes.get("llm.token_count.total") for span in ordered if span.kind == "LLM"]
    tokens = [float(count) for count in counts if count is not None]
    return Trace(calls, "" if own is None else id_of(own, "query"), root.text, sum(tokens) if tokens else None)


def _inside(span: _Span, known: Mapping[str, _Span]) -> bool:
    """Whether a retrieval is a part of another one, as those that a fusing retriever makes."""
    seen = {span.own}
    above = known.get(span.parent)
    while above is not None and above.own not in seen:
        if above.kind == "RETRIEVER":
            return True
        seen.add(above.own)
        above = known.get(above.parent)
    return False


def _call(span: _Span) -> Call:
    documents, texts = [], []
    for place in _places(span.attributes):
        own = _first(span.attributes, [f"{place}.{key}" for key in ("document.id", "id")])
        if own is None:  # LangChain's documents have an id only where the store gave one
            held = _first(span.attributes, [f"{place}.{key}" for key in ("document.metadata", "metadata")])
            fields = dict(_flat(_opened(held))) if held is not None else {}
            start = f"{place}.document.metadata."
            fields |= {
                key.removeprefix(start): value for key, value in span.attributes.items() if key.startswith(start)
            }
            own = _first(fields, ("id", "doc_id", "document_id", "chunk_id", "source"))
        if own is None:
            raise DataError(
                "a retrieved document has no id: set document.id, or metadata with id, doc_id, chunk_id or source"
            )
        documents.append(id_of(own, "document"))
        text = _first(span.attributes, [f"{place}.{key}" for key in ("document.content", "content")])
        texts.append(text if isinstance(text, str) else "")
    took = None if span.start is None or span.end is None else max(0.0, span.end - span.start)
    return Call(span.text, documents, None, took, texts if any(texts) else ())


def _places(attributes: Mapping[str, Any]) -> list[str]:
    """The keys of the documents, such as retrieval.documents.0, in their order."""
    found = set()
    for start in _DOCUMENTS:
        for key in attributes:
            if key.startswith(f"{start}."):
                number = key[len(start) + 1 :].split(".")[0]
                if number.isdecimal():
                    found.add((start, int(number)))
    return [f"{start}.{number}" for start, number in sorted(found)]


def _rows(values: Sequence[Any]) -> Iterator[Mapping[str, Any]]:
    """The spans of all values; those of OTLP stand below resources and scopes."""
    for value in values:
        if not isinstance(value, Mapping):
            raise DataError("this is no span")
        resources = next((value[key] for key in _RESOURCES if key in value), None)
        if resources is None:
            yield value
            continue
        for resource in _objects(resources, "resourceSpans"):
            scopes: Any = next((resource[key] for key in _SCOPES if key in resource), [])
            for scope in _objects(scopes, "scopeSpans"):
                for span in _objects(scope.get("spans", []), "spans"):
                    yield {**span, "attributes": _attributes(span.get("attributes", []))}


def _objects(listed: Any, name: str) -> Sequence[Mapping[str, Any]]:
    """A list of objects, as OTLP has it under a name."""
    if not isinstance(listed, list) or not all(isinstance(one, Mapping) for one in listed):
        raise DataError(f'"{name}" must be a list of objects, not {listed!r}'[:200])
    return listed


def _attributes(listed: Any) -> dict[str, Any]:
    """OTLP's list of keys and typed values as an object."""
    found = {}
    for item in _objects(listed, "attributes"):
        value = item.get("value") or {}
        if not isinstance(item.get("key"), str) or not isinstance(value, Mapping):
            raise DataError(f'an attribute is {{"key": ..., "value": {{...}}}}, not {item!r}'[:200])
        found[item["key"]] = _value(value)
    return found


def _value(value: Mapping[str, Any]) -> Any:
    for key in _VALUES:
        if key in value:
            found = value[key]
            return int(found) if key.startswith("int") else found
    listed = value.get("arrayValue", value.get("array_value"))
    if listed is not None:
        return [_value(item) for item in listed.get("values", [])]
    held = value.get("kvlistValue", value.get("kvlist_value"))
    return None if held is None else _attributes(held.get("values", []))


def _span(value: Mapping[str, Any]) -> _Span:
    flat = {key.removeprefix("attributes."): item for key, item in _flat(value)}
    trace, own = _first(flat, _TRACE), _first(flat, _SPAN)
    if trace is None or own is None:
        raise DataError("it has no trace id or no span id")
    parent = _first(flat, _PARENT)
    return _Span(
        str(trace),
        str(own),
        "" if parent is None else str(parent),
        _moment(_first(flat, _START)),
        _moment(_first(flat, _END)),
        flat,
    )


def _flat(value: Any, start: str = "") -> Iterator[tuple[str, Any]]:
    """Flat keys of nested objects and lists. Of texts, those are opened that hold documents or metadata."""
    if isinstance(value, str) and start.endswith((*_DOCUMENTS, "metadata")):
        value = _opened(value)
    if isinstance(value, Mapping):
        for key, item in value.items():
            yield from _flat(item, f"{start}.{key}" if start else str(key))
    elif isinstance(value, list | tuple):
        for place, item in enumerate(value):
            yield from _flat(item, f"{start}.{place}" if start else str(place))
    elif value is not None and value == value:  # a table fills with NaN what a row does not have
        yield start, value


def _opened(value: Any) -> Any:
    """A list or object that a text holds, as JSON or as Python (which a CSV of pandas has) writes it."""
    if not isinstance(value, str) or value.strip()[:1] not in ("{", "["):
        return value
    try:
        return json.loads(value)
    except ValueError:
        try:
            return ast.literal_eval(value)
        except (ValueError, SyntaxError, MemoryError, RecursionError):
            return value


def _asked(value: Any) -> str:
    """The question of an input, which may be an object as a text."""
    found = _opened(value)
    if isinstance(found, Mapping):
        texts = [found[key] for key in _ASKED if isinstance(found.get(key), str)]
        alone = [item for item in found.values() if isinstance(item, str)]
        return texts[0] if texts else alone[0] if len(alone) == 1 else str(value)
    return value if isinstance(value, str) else "" if value is None else str(value)


def _moment(value: Any) -> float | None:
    """Seconds, of nanoseconds as OTLP has them or of a time."""
    if isinstance(value, datetime.datetime):
        return value.timestamp()
    if isinstance(value, int | float):
        return value / 1e9 if value > 1e12 else float(value)
    if isinstance(value, str) and value.isdecimal():
        return int(value) / 1e9
    try:
        return datetime.datetime.fromisoformat(str(value)).timestamp()
    except ValueError:
        return None


def _first(values: Mapping[str, Any], names: Sequence[str]) -> Any:
    return next((values[name] for name in names if values.get(name) not in (None, "")), None)
