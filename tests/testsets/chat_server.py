"""A language model on the loopback interface that speaks the protocol and answers as a test says."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from tests.retrievers.servers import Asked, Reply, Service, calls

Said = str | Reply | Mapping[str, Any]


def completion(text: str | None, *, prompt: int = 100, answer: int = 10, **message: Any) -> dict[str, Any]:
    """A body such as OpenAI's, with an answer's text."""
    finish = message.pop("finish", "stop")
    told = {"role": "assistant", "content": text, **message}
    return {
        "id": "1",
        "object": "chat.completion",
        "model": "tested-1",
        "choices": [{"index": 0, "message": told, "finish_reason": finish}],
        "usage": {"prompt_tokens": prompt, "completion_tokens": answer, "total_tokens": prompt + answer},
    }


def said(asked: Asked) -> str:
    """All texts of a request."""
    return "\n".join(message["content"] for message in asked.body["messages"])


@dataclass
class Model:
    """The server, and what it was asked."""

    service: Service
    lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def endpoint(self) -> str:
        return f"{self.service.url}/v1"

    @property
    def asked(self) -> list[Asked]:
        return self.service.asked


@contextmanager
def model(answer: Callable[[Asked], Said | None]) -> Iterator[Model]:
    """A server whose answers `answer` makes: a text, a mapping that becomes JSON, or a whole reply."""

    def reply(asked: Asked) -> Reply:
        assert asked.path.partition("?")[0].endswith("/chat/completions"), asked.path
        found = answer(asked)
        if isinstance(found, Reply):
            return found
        return Reply(completion(found if found is None or isinstance(found, str) else json.dumps(found)))

    with calls(reply) as service:
        yield Model(service)
