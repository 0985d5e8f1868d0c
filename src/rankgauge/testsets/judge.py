"""Judge: a language model with a rubric, that says how relevant documents are."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, Final, Literal, get_args

from rankgauge.arguments import check_text, named_arguments
from rankgauge.errors import DataError
from rankgauge.retrievers.checks import check_whole
from rankgauge.testsets.chat import ChatModel, Message, Reply
from rankgauge.testsets.chat_cost import Prices
from rankgauge.testsets.chat_pace import CallSettings
from rankgauge.testsets.chat_requests import ChatRequest
from rankgauge.testsets.fencing import fenced, marker_for, neutral
from rankgauge.testsets.judge_answers import Verdict, schema_for, verdicts_in
from rankgauge.testsets.model_family import model_family
from rankgauge.testsets.rubric import load_prompt, load_rubric, version_of

__all__ = ["Judge"]

Combining = Literal["vote", "mean"]
_OF_A_REASON: Final = 60  # tokens that are expected
_OF_A_GRADE: Final = 12
_ROOM: Final = 4  # times as many tokens may come as are expected


class Judge:
    """A model of an endpoint that grades documents by a rubric.

    `scale` is binary, 0-3 or 0-10 with a rubric in English or Chinese (`language`); `rubric` and `prompt` are files of
    your own. Each document is graded `samples` times, and the majority counts, or the mean (`combine`). `listwise`
    documents of a query share a call: cheaper, and each is graded beside others. A document is cut after `max_chars`
    characters. Without `reasons` answers are shorter. `name` is the judge's name in labels; by default the model's.
    What is left is as for any model of an endpoint: the key, prices of a million tokens, (prompt, completion), calls
    at a time and in a minute.
    """

    @named_arguments
    def __init__(
        self,
        endpoint: str,
        model: str,
        *,
        name: str = "",
        scale: str | None = None,
        rubric: str | os.PathLike[str] | None = None,
        prompt: str | os.PathLike[str] | None = None,
        language: str | None = None,
        samples: int = 1,
        combine: Combining = "vote",
        listwise: int = 1,
        reasons: bool = True,
        max_chars: int = 12_000,
        temperature: float | None = None,
        max_tokens: int | None = None,
        api_key_env: str | None = None,
        prices: Prices | Sequence[float] | None = None,
        timeout: float = 120.0,
        concurrency: int = 4,
        requests_per_minute: float | None = None,
        tokens_per_minute: float | None = None,
        retries: int = 4,
        extra: Mapping[str, Any] | None = None,
    ) -> None:
        check_text("name", name)
        self.samples, self.listwise = check_whole("samples", samples, 1, 100), check_whole("listwise", listwise, 1, 100)
        self.max_chars = check_whole("max_chars", max_chars, 1)
        if combine not in get_args(Combining):
            raise DataError(f"`combine={combine!r}` is none of {', '.join(get_args(Combining))}")
        self.combine, self.reasons = combine, bool(reasons)
        self.rubric = load_rubric(rubric, scale, language or "en")
        self.prompt = load_prompt(prompt, language or self.rubric.language)
        self.settings = CallSettings(
            concurrency=concurrency,
            requests_per_minute=requests_per_minute,
            tokens_per_minute=tokens_per_minute,
            retries=retries,
        )
        self.chat = ChatModel(
            endpoint,
            model,
            api_key_env=api_key_env,
            # The same question asked twice at temperature 0 gives the same answer twice.
            temperature=(0.0 if self.samples == 1 else 0.7) if temperature is None else temperature,
            max_tokens=200 + _ROOM * self._expected(self.listwise, 8) if max_tokens is None else max_tokens,
            timeout=timeout,
            prices=prices,
            extra=extra,
        )
        self.name = name or model

    @property
    def model(self) -> str:
        return self.chat.model

    @property
    def family(self) -> str:
        return model_family(self.model)

    @cached_property
    def version(self) -> str:
        """Of what it is told: rubric and prompt."""
        return version_of(self.rubric, self.prompt)

    @property
    def configuration(self) -> dict[str, Any]:
        """What decides about its grades."""
        return {
            **self.chat.configuration,
            "rubric": self.version,
            "samples": self.samples,
            "combine": self.combine,
            "listwise": self.listwise,
            "reasons": self.reasons,
            "max_chars": self.max_chars,
        }

    def text_of(self, text: str) -> str:
        """A document as it is shown."""
        return neutral(text)[: self.max_chars]

    def request(
        self, name: str, query: str, documents: Sequence[str], criteria: Mapping[str, str], sample: int = 0
    ) -> ChatRequest:
        """The question for the grades of some documents of a query."""
        messages = self._messages(query, documents, criteria)
        schema = schema_for(self.rubric, [*criteria], len(documents), reasons=self.reasons)
        return ChatRequest(name, messages, schema, sample, self._expected(len(documents), len(criteria)))

    def read(self, reply: Reply, documents: int, criteria: Sequence[str]) -> dict[int, Verdict]:
        """The verdicts of an answer, by the number of the document."""
        return verdicts_in(reply, self.rubric, criteria, documents)

    def close(self) -> None:
        """Close the connections."""
        self.chat.close()

    def __repr__(self) -> str:
        return f"Judge({self.name!r}: {self.version})"

    def _expected(self, documents: int, criteria: int) -> int:
        return documents * (_OF_A_GRADE + 8 * criteria + (_OF_A_REASON if self.reasons else 0)) + 8

    def _messages(self, query: str, documents: Sequence[str], criteria: Mapping[str, str]) -> tuple[Message, ...]:
        prompt, rubric = self.prompt, self.rubric
        asked, shown = neutral(query), [self.text_of(text) for text in documents]
        points = {name: neutral(text) for name, text in criteria.items()}
        marker = marker_for([asked, *shown])
        fences = [fenced(f"document {number}", text, marker) for number, text in enumerate(shown, start=1)]
        listed = "\n".join(f"{number}. {text}" for number, text in enumerate(points.values(), start=1))
        user = prompt.filled(
            "one" if len(documents) == 1 else "several",
            query=fenced("query", asked, marker),
            documents="\n\n".join(fences),
            criteria=f"\n{prompt.filled('criteria', criteria=listed)}\n" if points else "",
            form=self._form(len(documents), len(points)),
        )
        system = prompt.filled("system", rubric=rubric.text)
        return {"role": "system", "content": system}, {"role": "user", "content": user}

    def _form(self, documents: int, criteria: int) -> str:
        """An answer as an example. Its grade is none: models repeat what they see."""
        scale = f"<{self.rubric.lowest}-{self.rubric.highest}>"
        one: dict[str, Any] = {"document": 1} if documents > 1 else {}
        if self.reasons:
            one["reason"] = f"<{self.prompt.reason}>"
        if criteria:
            one["criteria"] = {str(number): scale for number in range(1, criteria + 1)}
        one["grade"] = scale
        text = json.dumps(one if documents == 1 else {"grades": [one, {"document": 2}]}, ensure_ascii=False)
        text = text.replace(f'"{scale}"', scale)
        return text.replace('{"document": 2}', "...")
