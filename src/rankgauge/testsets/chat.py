"""ChatModel: a language model behind an endpoint that speaks OpenAI's protocol, POST {endpoint}/chat/completions.

Servers differ in what they take: an answer's form as a JSON schema, as any JSON, or not at all; the most tokens of an
answer under an old name or a new one; a temperature or none. What a server refuses is left out from then on.
"""

from __future__ import annotations

import json
import os
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final
from urllib.parse import urlsplit

from rankgauge.arguments import named_arguments
from rankgauge.errors import DataError, RankgaugeError, RetrieverError
from rankgauge.formats.secrets import masked, masked_value, register_secret
from rankgauge.formats.variables import filled, unset_in
from rankgauge.retrievers.checks import check_model_name, check_number, check_whole, unset_fault
from rankgauge.retrievers.web import Service, decoded
from rankgauge.testsets.chat_cost import Prices, as_prices
from rankgauge.words.visible import shortened

__all__ = ["ChatModel", "Message", "Reply"]

Message = Mapping[str, str]
"""{"role": "system" | "user" | "assistant", "content": "..."}"""

_NO_KEY: Final = "name the environment variable that holds the key with `api_key_env=`"
_ADVICE: Final = {
    404: "the endpoint is the URL before /chat/completions, such as https://host/v1; does it serve this model?",
}
_PATH: Final = "/chat/completions"
_FORMATS: Final = ("json_schema", "json_object", "text")
_REFUSED: Final = (400, 404, 415, 422, 500, 501)
"""Statuses of servers that do not know a parameter."""
_OF_FORMATS: Final = ("response_format", "json_schema", "json_object", "schema", "guided", "grammar", "structured")
_READ: Final = 1 << 16
_SHOWN: Final = 200
_MOST_TOKENS: Final = 10**12
_OPENAI: Final = ("OPENAI_API_KEY", "api.openai.com")


@dataclass(frozen=True)
class Reply:
    """What a model answered, and the tokens it took; None where the server did not tell them."""

    text: str
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    model: str = ""
    """The model by the name the server gives it, often with its version."""
    finish: str = ""
    """Why the answer ended: `stop`; `length` where it was cut at `max_tokens`; `content_filter`."""
    refusal: str = ""
    """What the model said instead of an answer, where the server tells that apart."""
    seconds: float = 0.0


@dataclass(frozen=True)
class _Form:
    """What of a request the server takes."""

    limit: str = "max_tokens"
    temperature: bool = True
    format: int = 0
    """The place in `_FORMATS`."""


class ChatModel:
    """A model of an endpoint, which threads may share. One call is one request: who makes many tries again, paces and
    pays for them with `call_all`.

    `api_key_env` names the environment variable that holds the key. Without one, api.openai.com gets that of
    OPENAI_API_KEY, and no other host gets any. `prices` are those of a million tokens, (prompt, completion). `extra`
    goes into the body of each request, such as {"seed": 1}.
    """

    @named_arguments
    def __init__(
        self,
        endpoint: str,
        model: str,
        *,
        api_key_env: str | None = None,
        temperature: float | None = 0.0,
        max_tokens: int = 512,
        timeout: float = 120.0,
        prices: Prices | Sequence[float] | None = None,
        extra: Mapping[str, Any] | None = None,
    ) -> None:
        base, sign, query = endpoint.strip().partition("?") if isinstance(endpoint, str) else ("", "", "")
        base = base.rstrip("/")
        if unset := unset_in(base + query):
            raise RankgaugeError(unset_fault("endpoint", unset[0]))
        if not filled(base).startswith(("http://", "https://")):
            raise RankgaugeError(f"endpoint={masked(repr(endpoint))} must be a URL such as https://host/v1")
        check_model_name(endpoint, model)
        base = base.removesuffix(_PATH)
        self.endpoint = base + sign + query
        self.model = model
        self.url = base + _PATH + sign + query
        self._target = filled(self.url)
        self.temperature = None if temperature is None else check_number("temperature", temperature, 0, 2)
        self.max_tokens = check_whole("max_tokens", max_tokens, 1)
        self.timeout = check_number("timeout", timeout, 0.001)
        self.prices = as_prices(prices)
        self.extra = _extra(extra)
        header = _key_header(self._target, api_key_env)
        refused = f"the key in {api_key_env or _OPENAI[0]} is not accepted" if header else _NO_KEY
        self._service = Service(
            self.url,
            headers=header,
            timeout=self.timeout,
            advice={**_ADVICE, **dict.fromkeys((401, 403), refused)},
            proxies=True,
            too_long="no chat model answers at such length: is this the URL of a chat completion?",
        )
        self._form, self._proven = _Form(), False
        self._mutex = threading.Lock()

    @property
    def configuration(self) -> dict[str, Any]:
        """What decides about the answers."""
        return {
            "endpoint": masked(self.endpoint),
            "model": self.model,
            "temperature": self.temperature,
            "max_tokens": self.max_tokens,
            **({"extra": self.extra} if self.extra else {}),
        }

    def ask(self, messages: Sequence[Message], schema: Mapping[str, Any] | None = None) -> Reply:
        """The model's answer to messages, as JSON of a schema where one is given and the server takes it; else the
        schema is put into words. A `RetrieverError` where there is no answer; a refusal is an answer."""
        while True:
            form = self._form
            body = json.dumps(self._body(messages, schema, form))
            began = time.perf_counter()
            try:
                data = self._service.send("POST", self._target, body.encode("utf-8", "surrogatepass"))
            except RetrieverError as error:
                if not self._learned(error, form, schema is not None):
                    raise
            else:
                reply = replace(self._reply(data), seconds=time.perf_counter() - began)
                self._proven = True
                return reply

    def close(self) -> None:
        """Close the connections; another request opens new ones."""
        self._service.close()

    def __repr__(self) -> str:
        return f"ChatModel({masked(self.endpoint)!r}, {self.model!r})"

    def _body(self, messages: Sequence[Message], schema: Mapping[str, Any] | None, form: _Form) -> dict[str, Any]:
        body: dict[str, Any] = {"model": self.model, "messages": [dict(one) for one in messages]}
        body[form.limit] = self.max_tokens
        if self.temperature is not None and form.temperature:
            body["temperature"] = self.temperature
        if schema is not None:
            kind = _FORMATS[form.format]
            if kind == "json_schema":
                named = {"name": "answer", "strict": True, "schema": dict(schema)}
                body["response_format"] = {"type": kind, "json_schema": named}
            else:
                wanted = f"Answer with one JSON object that matches this JSON schema: {json.dumps(schema)}"
                body["messages"] = [*body["messages"][:-1], _with(body["messages"][-1], wanted)]
                if kind == "json_object":
                    body["response_format"] = {"type": kind}
        return {**body, **self.extra}

    def _learned(self, error: RetrieverError, form: _Form, structured: bool) -> bool:
        """Whether the request may do better in another form, which is that of all requests from now on."""
        if error.status not in _REFUSED:
            return False
        said = str(error).lower()
        new = form
        if form.limit == "max_tokens" and "max_completion_tokens" in said:
            new = replace(form, limit="max_completion_tokens")
        elif form.temperature and "temperature" in said and self.temperature is not None:
            new = replace(form, temperature=False)
        elif structured and form.format < len(_FORMATS) - 1 and self._of_format(error, said):
            new = replace(form, format=form.format + 1)
        with self._mutex:
            if self._form != form:  # another thread has learned it
                return True
            self._form = new
        return new != form

    def _of_format(self, error: RetrieverError, said: str) -> bool:
        """Whether it is the answer's form that is refused. A server that answered before knows the form."""
        named = any(word in said for word in _OF_FORMATS)
        return named if error.status in (404, 500) or self._proven else True

    def _reply(self, data: bytes) -> Reply:
        """The answer as it is kept and shown: without secrets."""
        try:
            value = json.loads(data)
        except (ValueError, RecursionError):
            raise self._unreadable("what is no JSON", data) from None
        if isinstance(value, Mapping) and value.get("error"):  # some gateways send errors with the status 200
            raise RetrieverError(f"{masked(self.url)}: {_start(data)}", retry=True)
        try:
            choice = value["choices"][0]
            message = choice["message"]
            text, refusal = _text(message.get("content")), _text(message.get("refusal"))
            usage = value.get("usage") or {}
            counts = [_count(usage.get(name)) for name in ("prompt_tokens", "completion_tokens")]
        except (KeyError, IndexError, TypeError, AttributeError):
            raise self._unreadable('no {"choices": [{"message": {"content": "..."}}]}', data) from None
        name, finish = value.get("model"), choice.get("finish_reason")
        return Reply(
            _without_secrets(text),
            counts[0],
            counts[1],
            masked(name) if isinstance(name, str) else "",
            finish if isinstance(finish, str) else "",
            masked(refusal),
        )

    def _unreadable(self, what: str, data: bytes) -> RetrieverError:
        return RetrieverError(f"{masked(self.url)} answered with {what}: {_start(data)}", retry=True)


def _key_header(url: str, variable: str | None) -> dict[str, str]:
    if variable is None:
        name, host = _OPENAI
        key = os.environ.get(name, "").strip() if urlsplit(url).hostname == host else ""
    else:
        if not isinstance(variable, str) or not variable:
            raise DataError(f"`api_key_env` is the name of an environment variable, not {variable!r}"[:100])
        key = os.environ.get(variable, "").strip() if variable.isprintable() else ""
        if not key:
            raise RankgaugeError(f"the environment variable {variable} (api_key_env) is not set: put the key there")
    if not key:
        return {}
    register_secret(key)
    return {"Authorization": f"Bearer {key}"}


def _extra(extra: Mapping[str, Any] | None) -> dict[str, Any]:
    try:
        if not isinstance(extra or {}, Mapping):
            raise TypeError
        return dict(json.loads(json.dumps(extra or {}, allow_nan=False)))
    except (TypeError, ValueError):
        raise DataError("`extra` holds what goes into the body of each request, as JSON can: a mapping") from None


def _with(message: Mapping[str, str], wanted: str) -> dict[str, str]:
    return {**message, "content": f"{message['content']}\n\n{wanted}"}


def _text(content: Any) -> str:
    """The text of a message, which may come in parts."""
    if isinstance(content, list):
        return "".join(part.get("text") or "" for part in content if part.get("type", "text") == "text")
    if content is not None and not isinstance(content, str):
        raise TypeError
    return content or ""


def _count(value: Any) -> int | None:
    """A number of tokens that an answer can have; any other is as good as none."""
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < _MOST_TOKENS else None


def _without_secrets(text: str) -> str:
    """A text with its secrets masked; one of JSON stays JSON."""
    found = masked(text)
    if found != text:
        try:
            return json.dumps(masked_value(json.loads(text)), ensure_ascii=False)
        except (ValueError, RecursionError):
            pass
    return found


def _start(data: bytes) -> str:
    return shortened(masked(decoded(data[:_READ])), _SHOWN) or "(nothing)"
