"""Layouts of single examples, questions with what answers them: ragas, DeepEval, LlamaIndex, Phoenix, Langfuse.

Gold documents are named by ids, which become grades of 1, or quoted as texts, which become spans without a place yet.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from rankgauge.errors import DataError
from rankgauge.formats.imports.entries import each, entries_of, list_of, text_of
from rankgauge.formats.json_values import id_of
from rankgauge.model.spans import Span
from rankgauge.model.testset import Query

__all__ = ["deepeval", "labelled", "langfuse", "old_ragas", "page_of", "phoenix", "phoenix_table", "ragas"]

_IDS = ("relevant_docs", "relevant_doc_ids", "reference_context_ids", "document_ids", "doc_ids", "gold_ids")
_TEXTS = ("reference_contexts", "reference_context", "contexts", "context", "ground_truth_context", "gold_passages")
_QUESTIONS = ("query", "question", "input", "text", "prompt", "user_input")
_OWN_ID = ("id", "query_id", "example_id")


def _example(text: str, parts: Iterator[Mapping[str, Any]], own: Any = None) -> Query:
    """A query from the gold documents that stand in any of the parts."""
    gold: list[Any] = []
    quoted: list[Any] = []
    for part in parts:
        gold += [doc for key in _IDS for doc in list_of(part.get(key))]
        quoted += [passage for key in _TEXTS for passage in list_of(part.get(key))]
    if not all(isinstance(passage, str) and passage.strip() for passage in quoted):
        raise DataError("a passage that it quotes is no text")
    if not gold and not quoted:
        raise DataError(
            f"it names no document that answers it: give ids under {_IDS[0]!r} or texts under {_TEXTS[0]!r} (in its "
            "metadata, where it has one)"
        )
    grades = dict.fromkeys((id_of(doc, "document") for doc in gold), 1.0)
    spans = tuple(Span(text=passage) for passage in dict.fromkeys(quoted))
    return Query(text, grades, "" if own in (None, "") else id_of(own, "query"), spans=spans)


def _flat(
    *questions: str, seen: Callable[[Mapping[str, Any]], Mapping[str, Any]] = dict
) -> Callable[[Any], list[Query]]:
    """A reader of examples whose keys stand side by side; `seen` gives an example as it is to be taken."""

    def read(value: Any) -> list[Query]:
        items = entries_of([value] if isinstance(value, Mapping) else value, "examples")

        def one(item: Mapping[str, Any]) -> Query:
            own = next((item[key] for key in _OWN_ID if item.get(key) not in (None, "")), None)
            return _example(text_of(item, *questions), iter([seen(item)]), own)

        return each(items, one)

    return read


def _not_answered(item: Mapping[str, Any]) -> Mapping[str, Any]:
    """Beside an answer, the contexts are what a system retrieved for it: as gold they would judge it by itself."""
    if item.get("answer") not in (None, "") and list_of(item.get("contexts")):
        if not any(list_of(item.get(key)) for key in (*_IDS, *_TEXTS[:2])):
            raise DataError(
                f'its "contexts" are what was retrieved for its "answer", and no gold: give gold passages under '
                f"{_TEXTS[0]!r}, or ids under {_IDS[0]!r}"
            )
        return {key: value for key, value in item.items() if key != "contexts"}
    return item


def _apart(item: Mapping[str, Any]) -> Mapping[str, Any]:
    """In tables, DeepEval joins the passages by bars."""
    held = item.get("context")
    if not isinstance(held, str) or held.strip()[:1] == "[":
        return item
    return {**item, "context": [passage for passage in held.split("|") if passage.strip()]}


ragas = _flat("user_input")
old_ragas = _flat("question", seen=_not_answered)
deepeval = _flat("input", seen=_apart)


def labelled(value: Any) -> list[Query]:
    """LlamaIndex: {"examples": [{"query": ..., "reference_contexts": [...], "reference_answer": ...}]}"""
    return _flat("query")(value["examples"])


def _nested(*answers: str) -> Callable[[Any], list[Query]]:
    """A reader of examples whose input, output and metadata are objects, or texts that hold them."""

    def read(value: Any) -> list[Query]:
        value = page_of(value)
        items = entries_of([value] if isinstance(value, Mapping) else value, "examples")

        def one(item: Mapping[str, Any]) -> Query:
            asked = _opened(item.get("input"))
            text = asked if isinstance(asked, str) else _question(asked)
            parts = [_opened(item.get(key)) for key in (*answers, "metadata")]
            own = next((item[key] for key in _OWN_ID if item.get(key) not in (None, "")), None)
            found = [part for part in (asked, *parts) if isinstance(part, Mapping)]
            return _example(text, iter(found), own)

        return each(items, one)

    return read


langfuse = _nested("expectedOutput", "expected_output")
phoenix = _nested("output")
_PARTS = ("input", "output", "metadata")


def phoenix_table(value: Any) -> list[Query]:
    """Phoenix's CSV: a column for each key, such as input_question and metadata_reference_contexts."""

    def joined(row: Mapping[str, Any]) -> dict[str, Any]:
        held = {
            part: {
                name.removeprefix(f"{part}_"): cell
                for name, cell in row.items()
                if name.startswith(f"{part}_") and cell is not None
            }
            for part in _PARTS
        }
        return {"id": row.get("example_id"), **held}

    return phoenix([joined(row) for row in entries_of(value, "examples")])


def page_of(value: Any) -> Any:
    """The entries of an answer of an API: {"data": [...]}, {"items": [...]} or {"data": {"examples": [...]}}; all else
    as it is."""
    for path in (("data",), ("items",), ("data", "examples"), ("data", "items")):
        found = value
        for key in path:
            found = found.get(key) if isinstance(found, Mapping) else None
        if isinstance(found, list) and found and all(isinstance(item, Mapping) and "input" in item for item in found):
            return found
    return value


def _opened(value: Any) -> Any:
    """An object that a table holds as JSON."""
    if isinstance(value, str) and value.strip()[:1] == "{":
        try:
            return json.loads(value)
        except ValueError:
            return value
    return value


def _question(asked: Any) -> str:
    if not isinstance(asked, Mapping):
        raise DataError("its input is neither a text nor an object with one")
    texts = [value for value in asked.values() if isinstance(value, str)]
    named = next((asked[key] for key in _QUESTIONS if isinstance(asked.get(key), str)), None)
    if named is None and len(texts) != 1:
        raise DataError(f"its input has no question under {', '.join(map(repr, _QUESTIONS))}")
    return str(named if named is not None else texts[0])
