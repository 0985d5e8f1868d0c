"""Traces as files: JSON Lines of our own, one object for each question or each call, and spans of other tools.

{"query_id": "q1", "question": "...", "calls": [{"query": "...", "results": ["d1", {"id": "d2", "score": 0.8}],
                                                 "tokens": 812, "seconds": 0.12}, ...]}
{"query_id": "q1", "call": 1, "query": "...", "results": [...], "tokens": 812}          one line for each call

Spans (`spans`) are those of OpenTelemetry, as OTLP writes them and as Phoenix exports them.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from rankgauge.arguments import named_arguments
from rankgauge.errors import DataError, Fault, FormatError
from rankgauge.formats.detect import detect
from rankgauge.formats.json_values import dump_lines, id_of, number_of, read_json, read_json_lines
from rankgauge.formats.sources import Source, write_whole
from rankgauge.formats.spans import has_spans, traces_of_spans
from rankgauge.model.frames import ID_COLUMNS
from rankgauge.model.traces import Call, Trace, Traces

__all__ = ["load_traces", "save_traces", "traces_of"]

_LISTS = ("results", "documents", "retrieved", "docs", "hits", "retrieved_docs")
_IDS = ("query_id", "qid", "question_id", "trace_id")
_TEXTS = ("text", "content", "page_content")
_EXAMPLE = '{"query_id": "q1", "calls": [{"query": "...", "results": ["d1", "d2"]}]}'


@named_arguments
def load_traces(path: str | os.PathLike[str] | Source, *, query_id: str | None = None) -> Traces:
    """Traces from JSON Lines, one line for each question or each call, or from spans of OpenTelemetry: OTLP JSON,
    spans as its SDK prints them, Phoenix's exports (JSON Lines, CSV, Parquet).

    Of spans, those of the kind RETRIEVER are calls; one inside another is a part of it. `query_id` names the span
    attribute that holds the id of the test set's query, where it is not `query_id`.
    """
    source = path if isinstance(path, Source) else Source(path)
    kind = detect(source)
    if kind == "jsonl":
        items = list(read_json_lines(source))
    elif kind == "json":
        value = read_json(source)
        held = value.get("traces") if isinstance(value, Mapping) and isinstance(value.get("traces"), list) else None
        listed = held if held is not None else value if isinstance(value, list) else [value]
        items = list(enumerate(listed, start=1))
    elif kind == "trec":
        raise FormatError(source.name, [f"traces are JSON Lines such as {_EXAMPLE}, or spans of OpenTelemetry"])
    else:
        from rankgauge.formats.tables import read_table

        items = list(enumerate(read_table(source, kind).to_dicts(), start=1 if kind == "parquet" else 2))
    return traces_of(items, source.name, query_id=query_id)


def traces_of(items: list[tuple[int, Any]], name: str, *, query_id: str | None = None) -> Traces:
    """Traces from JSON values, each with the number of its line or entry."""
    if has_spans([value for _, value in items]):
        return traces_of_spans([value for _, value in items], name, query_id)
    if query_id is not None:
        raise FormatError(name, [f"there are no spans here whose attribute {query_id!r} could hold the query's id"])
    whole: list[Trace] = []
    single: dict[str, list[tuple[int | None, int, Call, Trace]]] = {}
    faults = []
    for number, item in items:
        try:
            if not isinstance(item, Mapping):
                raise DataError(f"this is no object such as {_EXAMPLE}")
            if "calls" in item:
                whole.append(_trace(item))
            else:
                place, call, about = _one_call(item)
                own = single.setdefault(about.query_id or about.question, [])
                if place is not None and any(place == other for other, *_ in own):
                    raise DataError(f"call {place} of {about.query_id or about.question!r} stands twice")
                own.append((place, number, call, about))
        except DataError as error:
            faults.append(Fault(str(error), number))
    if faults:
        raise FormatError(name, faults)
    for calls in single.values():
        if all(place is not None for place, *_ in calls):
            calls.sort(key=lambda entry: entry[0] or 0)
        about = calls[0][3]
        whole.append(Trace([call for _, _, call, _ in calls], about.query_id, about.question))
    return Traces(whole, name=name)


def _trace(item: Mapping[str, Any]) -> Trace:
    calls = item["calls"]
    if not isinstance(calls, list):
        raise DataError(f'"calls" must be a list of calls, not {calls!r}'[:200])
    made, faults = [], []
    for place, call in enumerate(calls, start=1):
        try:
            made.append(_call(call))
        except DataError as error:
            faults.append(f"call {place}: {error}")
    if faults:
        raise DataError("; ".join(faults))
    question = item.get("question", item.get("query", ""))
    tokens = None if item.get("tokens") is None else number_of(item["tokens"], "number of tokens")
    return Trace(made, *_about(item, question), tokens)


def _about(item: Mapping[str, Any], question: Any) -> tuple[str, str]:
    key = next((key for key in (*_IDS, "id") if item.get(key) not in (None, "")), None)
    own = "" if key is None else id_of(item[key], "query")
    if not isinstance(question, str):
        raise DataError(f"the question {question!r} is no text"[:200])
    if not own and not question:
        raise DataError('it has neither "query_id" nor "question"')
    return own, question


def _one_call(item: Mapping[str, Any]) -> tuple[int | None, Call, Trace]:
    place = item.get("call", item.get("step"))
    if place is not None and (isinstance(place, bool) or not isinstance(place, int)):
        raise DataError(f'"call" must be the number of the call, not {place!r}'[:200])
    own = any(item.get(key) not in (None, "") for key in _IDS)
    question = item.get("question") or ("" if own else item.get("query", ""))
    return place, _call(item), Trace((), *_about({key: item.get(key) for key in _IDS}, question))


def _call(item: Any) -> Call:
    if not isinstance(item, Mapping):
        raise DataError(f"a call is an object such as {{'query': ..., 'results': [...]}}, not {item!r}"[:200])
    key = next((key for key in _LISTS if key in item), None)
    if key is None:
        raise DataError(f"it has no results; name their list one of: {', '.join(_LISTS)}")
    results, query = item[key], item.get("query", "")
    if not isinstance(results, list):
        raise DataError(f'"{key}" must be a list of ids or of objects with one, not {results!r}'[:200])
    if not isinstance(query, str):
        raise DataError(f"the query {query!r} is no text"[:200])
    found = [_result(result) for result in results]
    numbers = {
        name: None if item.get(name) is None else number_of(item[name], f"number of {name}")
        for name in ("tokens", "seconds")
    }
    texts = [text for _, text in found] if any(text for _, text in found) else []
    return Call(query, [doc for doc, _ in found], numbers["tokens"], numbers["seconds"], texts)


def _result(result: Any) -> tuple[str, str]:
    """Id and text. The order is the one given: a score tells nothing of its direction."""
    if isinstance(result, Mapping):
        key = next((key for key in (*ID_COLUMNS["doc"], "id", "_id") if result.get(key) not in (None, "")), None)
        if key is None:
            raise DataError(f"a result has no document id; name it one of: {', '.join(ID_COLUMNS['doc'])}")
        text = next((result[key] for key in _TEXTS if isinstance(result.get(key), str)), "")
        return id_of(result[key], "document"), text
    if isinstance(result, list) and len(result) == 2:
        result = result[0]
    return id_of(result, "document"), ""


def save_traces(traces: Traces, path: str | os.PathLike[str]) -> None:
    """One line for each trace."""
    write_whole(path, dump_lines(map(_item, traces)))


def _item(trace: Trace) -> dict[str, Any]:
    about = {"query_id": trace.query_id, "question": trace.question, "tokens": trace.tokens}
    item: dict[str, Any] = {name: value for name, value in about.items() if value not in ("", None)}
    return {**item, "calls": [_call_item(call) for call in trace.calls]}


def _call_item(call: Call) -> dict[str, Any]:
    texts = call.texts if len(call.texts) == len(call.documents) else [""] * len(call.documents)
    results = [{"id": doc, "text": text} if text else doc for doc, text in zip(call.documents, texts, strict=True)]
    numbers = {name: value for name in ("tokens", "seconds") if (value := getattr(call, name)) is not None}
    return {"query": call.query, "results": results, **numbers}
