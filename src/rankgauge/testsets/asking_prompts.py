"""What a language model is told and shown when it writes queries, and when it looks which documents answer them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from random import Random
from typing import Any, Final

from rankgauge.retrievers.splitting import sections
from rankgauge.retrievers.text import plain_words
from rankgauge.testsets.chat import Message, Reply
from rankgauge.testsets.chat_json import json_in
from rankgauge.testsets.chat_requests import ChatRequest, UnusableError
from rankgauge.testsets.fencing import fenced, marker_for, neutral
from rankgauge.testsets.known_items import Kind
from rankgauge.testsets.phrasing import script_of
from rankgauge.testsets.source_terms import folded

__all__ = ["passage_about", "passage_of", "read_documents", "read_query", "verifying", "writing"]

_LONGEST: Final = 4000  # characters of a document that are shown
_LONGEST_QUERY: Final = 400
_QUERY: Final = {
    "type": "object",
    "properties": {"query": {"type": "string"}},
    "required": ["query"],
    "additionalProperties": False,
}
_DOCUMENTS: Final = {
    "type": "object",
    "properties": {"documents": {"type": "array", "items": {"type": "string"}}},
    "required": ["documents"],
    "additionalProperties": False,
}
_EXPECTED: Final = 30  # tokens of an answer


@cache
def _told(script: str) -> dict[str, str]:
    file = Path(__file__).with_name("templates") / f"asking.{script}.json"
    told: dict[str, str] = json.loads(file.read_text("utf-8"))
    return told


def passage_of(text: str, chance: Random) -> str:
    """What is shown of a document: all of it, or a part that begins with one of its sections, below its first line."""
    text = neutral(text).strip()
    if len(text) <= _LONGEST:
        return text
    starts = [start for start, _ in sections(text) if start <= len(text) - _LONGEST // 2] or [0]
    start = chance.choice(starts)
    first = text.split("\n", 1)[0][:200]
    return text[:_LONGEST] if start == 0 else f"{first}\n...\n{text[start : start + _LONGEST - len(first) - 5]}"


def passage_about(text: str, words: Sequence[str]) -> str:
    """What is shown of a document beside a query: all of it, or the part that holds most of the query's words."""
    text = neutral(text).strip()
    if len(text) <= _LONGEST:
        return text
    wanted = set(words)
    parts = [text[start : start + _LONGEST] for start in range(0, min(len(text), 50 * _LONGEST), _LONGEST // 2)]
    return max(parts, key=lambda part: len(wanted & set(map(folded, plain_words(part)))))


def writing(
    name: str,
    kind: Kind,
    passages: Sequence[str],
    *,
    styles: Sequence[str] = (),
    forbidden: Sequence[str] = (),
    before: str = "",
    sample: int = 0,
) -> ChatRequest:
    """The request for one query. `before` is a query with forbidden words that the model wrote."""
    told = _told(script_of(" ".join(passages)))
    parts = [told[kind]]
    if styles:
        parts.append(told["styles"].format(styles="\n".join(f"- {neutral(style)[:200]}" for style in styles)))
    if forbidden:
        parts.append(told["forbidden"].format(words=", ".join(forbidden)))
    parts += [told["skip"], told["form"]]
    messages: list[Message] = [
        {"role": "system", "content": told["system"]},
        {"role": "user", "content": "\n\n".join([_shown(passages), *parts])},
    ]
    if before:
        again = told["again"].format(query=json.dumps(before, ensure_ascii=False), words=", ".join(forbidden))
        messages += [
            {"role": "assistant", "content": json.dumps({"query": before}, ensure_ascii=False)},
            {"role": "user", "content": f"{again}\n\n{told['form']}"},
        ]
    return ChatRequest(name, tuple(messages), _QUERY, sample, _EXPECTED)


def verifying(name: str, query: str, passages: Sequence[str]) -> ChatRequest:
    """The request that asks which passages answer a query."""
    told = _told(script_of(query))
    asked = told["verify"].format(query=json.dumps(neutral(query), ensure_ascii=False))
    content = "\n\n".join([_shown(passages), asked, told["verify_form"]])
    messages = ({"role": "system", "content": told["verify_system"]}, {"role": "user", "content": content})
    return ChatRequest(name, messages, _DOCUMENTS, 0, _EXPECTED)


def _shown(passages: Sequence[str]) -> str:
    marker = marker_for(passages)
    return "\n\n".join(fenced(f"document {chr(65 + i)}", text, marker) for i, text in enumerate(passages))


def read_query(request: ChatRequest, reply: Reply) -> str:
    """The query; empty where the model found none to write."""
    query = _read(reply, "query")
    if not isinstance(query, str):
        raise UnusableError("no_query", "the query is no text")
    query = " ".join(neutral(query).split())
    if len(query) > _LONGEST_QUERY:
        raise UnusableError("too_long", f"a query of {len(query)} characters")
    return query


def read_documents(request: ChatRequest, reply: Reply) -> frozenset[int]:
    """Places of the passages that answer the query."""
    named = _read(reply, "documents")
    if not isinstance(named, list) or not all(isinstance(one, str) for one in named):
        raise UnusableError("no_documents", "the documents are no list of names")
    letters = [one.strip().upper().removeprefix("DOCUMENT").strip() for one in named]
    if unknown := [one for one in letters if len(one) != 1 or not "A" <= one <= "Z"]:
        raise UnusableError("no_documents", f"{unknown[0]!r} is no document"[:100])
    return frozenset(ord(one) - 65 for one in letters)


def _read(reply: Reply, key: str) -> Any:
    if reply.refusal:
        raise UnusableError("refused", reply.refusal[:200])
    try:
        answer: Mapping[str, Any] = json_in(reply.text)
    except ValueError as error:
        raise UnusableError("cut" if reply.finish == "length" else "no_json", str(error)) from None
    if key not in answer:
        raise UnusableError("no_json", f"there is no {key!r}")
    return answer[key]
