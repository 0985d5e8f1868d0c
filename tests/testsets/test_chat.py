"""One call of a language model, over a real connection: what servers take, refuse and answer."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rankgauge.errors import DataError, RankgaugeError, RetrieverError
from rankgauge.formats.secrets import forget_secrets
from rankgauge.testsets.chat import ChatModel
from rankgauge.testsets.chat_cost import Prices, likely_tokens, most_tokens
from rankgauge.testsets.chat_json import json_in
from tests.retrievers.servers import Asked, Reply
from tests.testsets.chat_server import completion, model

HELLO = ({"role": "user", "content": "hello"},)
SCHEMA = {"type": "object", "properties": {"grade": {"type": "integer"}}, "required": ["grade"]}


def chat(endpoint: str, **options: Any) -> ChatModel:
    return ChatModel(endpoint, "tested", **{"timeout": 5.0, **options})


def test_parameters_of_an_endpoint_stay_behind_the_path() -> None:
    with model(lambda asked: "hi") as server:
        for parameters in ("/?api-version=1&x=/y", "?api-version=1&x=/y", "/chat/completions?api-version=1&x=/y"):
            assert chat(server.endpoint + parameters).ask(HELLO).text == "hi"
        assert {asked.path for asked in server.asked} == {"/v1/chat/completions?api-version=1&x=/y"}


def test_an_answer_with_its_tokens() -> None:
    with model(lambda asked: Reply(completion("hi", prompt=7, answer=2))) as server:
        for endpoint in (server.endpoint, f"{server.endpoint}/", f"{server.endpoint}/chat/completions"):
            reply = chat(endpoint, extra={"seed": 1}).ask(HELLO, SCHEMA)
            assert (reply.text, reply.prompt_tokens, reply.completion_tokens) == ("hi", 7, 2)
            assert (reply.model, reply.finish, reply.refusal) == ("tested-1", "stop", "")
    body = server.asked[0].body
    assert body["messages"] == [{"role": "user", "content": "hello"}]
    assert (body["model"], body["temperature"], body["max_tokens"], body["seed"]) == ("tested", 0.0, 512, 1)
    assert body["response_format"]["json_schema"]["schema"] == SCHEMA
    assert "Authorization" not in {name.title() for name in server.asked[0].headers}


@pytest.mark.parametrize("status", [400, 404, 422, 500])
def test_a_server_without_schemas_is_told_in_words(status: int) -> None:
    """json_schema, then json_object, then words alone; what was learned holds for all later calls."""

    def answer(asked: Asked) -> Any:
        form = asked.body.get("response_format", {}).get("type")
        if form is not None:
            return Reply({"error": {"message": f"response_format of type {form} is not supported"}}, status)
        return '{"grade": 2}'

    with model(answer) as server:
        asking = chat(server.endpoint)
        assert asking.ask(HELLO, SCHEMA).text == '{"grade": 2}'
        assert asking.ask(HELLO, SCHEMA).text == '{"grade": 2}'
    forms = [asked.body.get("response_format", {}).get("type") for asked in server.asked]
    assert forms == ["json_schema", "json_object", None, None]
    assert json.dumps(SCHEMA) in server.asked[-1].body["messages"][-1]["content"]


def test_models_that_reason_take_other_parameters() -> None:
    def answer(asked: Asked) -> Any:
        if "max_tokens" in asked.body:
            return Reply({"error": {"message": "Unsupported parameter: use 'max_completion_tokens' instead."}}, 400)
        if "temperature" in asked.body:
            return Reply({"error": {"message": "Unsupported value: 'temperature' does not support 0."}}, 400)
        return "hi"

    with model(answer) as server:
        assert chat(server.endpoint).ask(HELLO).text == "hi"
    assert "max_completion_tokens" in server.asked[-1].body


def test_a_refused_request_is_not_asked_in_other_forms_for_ever() -> None:
    with model(lambda asked: Reply({"error": {"message": "context length exceeded"}}, 400)) as server:
        with pytest.raises(RetrieverError, match="context length exceeded") as caught:
            chat(server.endpoint).ask(HELLO)
        assert caught.value.status == 400
        assert not caught.value.retry
        assert len(server.asked) == 1
        with pytest.raises(RetrieverError, match="context length exceeded"):
            chat(server.endpoint).ask(HELLO, SCHEMA)
        assert len(server.asked) == 4  # as a schema, as JSON, in words


@pytest.mark.parametrize(
    ("reply", "said", "retry"),
    [
        (Reply(b"<html>busy</html>"), "no JSON: <html>busy</html>", True),
        (Reply({"choices": []}), "answered with no", True),
        (Reply({"choices": [{"message": {"content": 3}}]}), "answered with no", True),
        (Reply({"error": {"message": "overloaded"}}), "overloaded", True),
        (Reply([1, 2]), "answered with no", True),
        (Reply(b" " * 10_000_001), "more than 10 MB; no chat model answers at such length", False),
        (Reply(completion("x"), missing=50), "connection", True),
        (Reply(None, drop=True), "connection broke", True),
        (Reply({"error": "no"}, 401), "api_key_env", False),
        (Reply({"error": "no"}, 404), "the endpoint is the URL before /chat/completions", False),
        (Reply({"error": "slow down"}, 429, {"Retry-After": "3"}), "429", True),
        (Reply({}, 302, {"Location": "http://elsewhere"}), "redirects are not followed", False),
    ],
)
def test_what_goes_wrong_is_told(reply: Reply, said: str, retry: bool) -> None:
    with model(lambda asked: reply) as server, pytest.raises(RetrieverError, match=said) as caught:
        chat(server.endpoint).ask(HELLO)
    assert caught.value.retry is retry


def test_a_call_has_a_time() -> None:
    slow = Reply(completion("x"), delay=3.0)
    with model(lambda asked: slow) as server, pytest.raises(RetrieverError, match=r"no answer within 0\.2 s"):
        chat(server.endpoint, timeout=0.2).ask(HELLO)


def test_refusals_parts_and_missing_counts() -> None:
    said = [
        completion(None, refusal="I will not"),
        completion("", finish="content_filter"),
        completion([{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]),  # type: ignore[arg-type]
        {"choices": [{"message": {"content": "x"}}], "usage": {"prompt_tokens": -1, "completion_tokens": True}},
        {"choices": [{"message": {"content": "y"}}], "usage": {"prompt_tokens": 10**30, "completion_tokens": 10**400}},
    ]
    with model(lambda asked: Reply(said[len(server.asked) - 1])) as server:
        asking = chat(server.endpoint)
        replies = [asking.ask(HELLO) for _ in said]
    assert [reply.refusal for reply in replies] == ["I will not", "", "", "", ""]
    assert [reply.text for reply in replies] == ["", "", "ab", "x", "y"]
    assert replies[1].finish == "content_filter"
    for reply in replies[3:]:
        assert (reply.prompt_tokens, reply.completion_tokens) == (None, None)


def test_keys_come_from_the_environment_and_are_shown_nowhere(monkeypatch: pytest.MonkeyPatch) -> None:
    key = "canary-81f3c2aa77d0b"
    monkeypatch.setenv("JUDGE_KEY", key)
    monkeypatch.setenv("OPENAI_API_KEY", "another-canary-55aa10")
    forget_secrets()
    echo = {"n": 0}

    def answer(asked: Asked) -> Any:
        echo["n"] += 1
        header = asked.headers.get("Authorization") or asked.headers.get("authorization") or "none"
        return Reply({"error": header}, 400) if echo["n"] == 1 else json.dumps({"reason": f"you sent {header}"})

    with model(answer) as server:
        asking = chat(server.endpoint, api_key_env="JUDGE_KEY")
        with pytest.raises(RetrieverError) as caught:
            asking.ask(HELLO)
        reply = asking.ask(HELLO)
        chat(server.endpoint).ask(HELLO)
    headers = [asked.headers.get("Authorization") or asked.headers.get("authorization") for asked in server.asked]
    assert headers == [f"Bearer {key}", f"Bearer {key}", None]  # OPENAI_API_KEY goes to OpenAI alone
    assert key not in str(caught.value)
    assert key not in reply.text
    assert json.loads(reply.text)["reason"].startswith("you sent")
    assert key not in repr(asking)
    assert key not in json.dumps(asking.configuration)
    with (
        model(lambda asked: Reply({"error": "no"}, 401)) as server,
        pytest.raises(RetrieverError, match="the key in JUDGE_KEY is not accepted"),
    ):
        chat(server.endpoint, api_key_env="JUDGE_KEY").ask(HELLO)
    with pytest.raises(RankgaugeError, match=r"NO_SUCH_KEY .* is not set"):
        chat("http://localhost/v1", api_key_env="NO_SUCH_KEY")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"endpoint": "localhost"}, "must be a URL"),
        ({"endpoint": ""}, "must be a URL"),
        ({"endpoint": None}, "must be a URL"),
        ({"endpoint": "http://${NO_SUCH_HOST}/v1"}, "NO_SUCH_HOST"),
        ({"model": ""}, "needs model="),
        ({"model": None}, "needs model="),
        ({"temperature": 3}, "temperature"),
        ({"temperature": float("nan")}, "temperature"),
        ({"max_tokens": 0}, "max_tokens"),
        ({"timeout": 0}, "timeout"),
        ({"prices": (1,)}, "prices"),
        ({"prices": "1,2"}, "prices"),
        ({"prices": (1, -2)}, "prices"),
        ({"extra": [1]}, "extra"),
        ({"extra": {"x": object()}}, "extra"),
        ({"api_key_env": ""}, "api_key_env"),
        ({"modle": "x"}, "did you mean model"),
    ],
)
def test_wrong_settings_are_refused(options: dict[str, Any], said: str) -> None:
    with pytest.raises(RankgaugeError, match=said):
        ChatModel(**{"endpoint": "http://localhost/v1", "model": "x", **options})


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ('{"grade": 2}', {"grade": 2}),
        ('```json\n{"grade": 2}\n```', {"grade": 2}),
        ('<think>{"grade": 0} or not</think> Sure: {"grade": 2}.', {"grade": 2}),
        ('{"grade": "<0-3>"} is the form, so: {"grade": 2}', {"grade": 2}),
        ('{"reason": "it says \\"{\\"", "grade": 2} }', {"reason": 'it says "{"', "grade": 2}),
        ('{"reason": "two\nlines", "grade": 2}', {"reason": "two\nlines", "grade": 2}),
        ('{"a": {"grade": 1}}', {"a": {"grade": 1}}),
    ],
)
def test_json_in_what_models_say(text: str, found: dict[str, Any]) -> None:
    assert json_in(text) == found


@pytest.mark.parametrize("text", ["", "2", "[1]", "I cannot", '{"grade": 2', '{"grade": ', "{" * 5000, "{]}"])
def test_no_json_is_none(text: str) -> None:
    with pytest.raises(ValueError, match="JSON object"):
        json_in(text)


@settings(max_examples=100, deadline=None)
@given(st.text())
def test_no_text_has_more_tokens_than_is_set_aside(text: str) -> None:
    """A tokenizer of bytes gives at most a token for each byte."""
    surrogates = text.encode("utf-8", "surrogatepass")
    assert most_tokens([{"role": "user", "content": text}]) > len(surrogates)
    assert 0 <= likely_tokens(text) <= max(len(text), 0)


def test_prices_are_of_a_million() -> None:
    assert Prices(0.15, 0.6).of(1_000_000, 500_000) == pytest.approx(0.45)
    with pytest.raises(DataError):
        Prices(1, 2, "")
