"""What is asked of a language model and what came of it: requests, failures, estimates."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, Literal, TypeVar

from rankgauge.testsets.chat import Message, Reply
from rankgauge.testsets.chat_cost import Usage, likely_tokens

__all__ = ["CallFailure", "Calls", "ChatRequest", "Estimate", "UnusableError"]

T = TypeVar("T")


class UnusableError(Exception):
    """An answer that is not what was asked for; `reason` is a word such as `refused` or `no_json`."""

    def __init__(self, reason: str, detail: str = "") -> None:
        super().__init__(f"{reason}: {detail}" if detail else reason)
        self.reason, self.detail = reason, detail


@dataclass(frozen=True)
class ChatRequest:
    """One question. `name` is the asker's own, each name once; requests that are alike but for their `sample` are
    asked apart."""

    name: str
    messages: tuple[Message, ...]
    schema: Mapping[str, Any] | None = None
    sample: int = 0
    expected: int = 64
    """About how many tokens the answer has, for estimates."""

    @property
    def likely_prompt(self) -> int:
        said = sum(likely_tokens(one["content"]) for one in self.messages)
        return said + 4 * len(self.messages) + 3


@dataclass(frozen=True)
class CallFailure:
    """A request without a usable answer."""

    name: str
    reason: str
    """`call` where no answer came; else what the reader of the answers says, such as `refused`."""
    detail: str = ""
    raw: str = ""
    """The answer itself, where there was one."""
    tries: int = 1


@dataclass(frozen=True)
class Estimate:
    """What calls will cost, before any is made. `most_cost` is what they cannot exceed, their retries apart."""

    calls: int
    kept: int
    prompt_tokens: int
    completion_tokens: int
    cost: float | None
    most_cost: float | None
    unit: str = ""


@dataclass
class Calls(Generic[T]):
    """What came of many calls: answers as they were read, in the order of the requests."""

    answers: dict[str, T] = field(default_factory=dict)
    replies: dict[str, Reply] = field(default_factory=dict)
    failures: list[CallFailure] = field(default_factory=list)
    left: list[str] = field(default_factory=list)
    """Requests that were not asked, or not answered before the end."""
    stopped: Literal["", "budget", "interrupted", "failing"] = ""
    spent: Usage = field(default_factory=Usage)
