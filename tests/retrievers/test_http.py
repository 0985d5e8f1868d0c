"""A service behind a URL: real requests over real connections, and every way in which they fail."""

from __future__ import annotations

import re
import socket
import sys
import threading
import time
from base64 import b64encode
from collections.abc import Callable
from email.utils import formatdate
from typing import Any

import pytest

from rankgauge.errors import MissingExtraError, RetrieverError
from rankgauge.retrievers.adapters import from_elasticsearch
from rankgauge.retrievers.fields import parse_path
from rankgauge.retrievers.hits import Hit
from rankgauge.retrievers.http import HttpRetriever, fill, select
from rankgauge.retrievers.runner import run_queries
from rankgauge.retrievers.searcher import as_searcher
from rankgauge.retrievers.vector_stores import from_vespa
from tests.retrievers.servers import Asked, Reply, calls

FOUND = {"hits": [{"id": "d1", "score": 2.5}, {"id": "d2", "score": 1.0}], "took": 3}


def always(reply: Reply) -> Callable[[Asked], Reply]:
    return lambda asked: reply


def failure(reply: Reply, **options: Any) -> RetrieverError:
    with calls(always(reply)) as service:
        retriever = HttpRetriever(service.url + "/search", **options)
        with pytest.raises(RetrieverError) as caught:
            retriever.search("x", 3)
        retriever.close()
    assert service.url in str(caught.value) or "path" in str(caught.value)
    return caught.value


def test_post() -> None:
    with calls(always(Reply(FOUND))) as service:
        retriever = HttpRetriever(
            service.url + "/v1/search?tenant=7",
            body={"q": "{query}", "options": {"size": "{k}", "why": "for {query} ({k})"}, "list": ["{query}", 1, None]},
            scores="$.hits[*].score",
        )
        assert as_searcher(retriever).search('caf\u00e9 "{k}" \ud83d\ude00', 2) == [Hit("d1", 2.5), Hit("d2", 1.0)]
        retriever.close()
    (asked,) = service.asked
    text = 'caf\u00e9 "{k}" \ud83d\ude00'
    assert (asked.method, asked.path) == ("POST", "/v1/search?tenant=7")
    assert asked.body["q"] == text.encode("utf-8", "replace").decode()
    assert asked.body["options"]["size"] == 2
    assert asked.body["list"][1:] == [1, None]


def test_template() -> None:
    template = {"q": "{query}", "n": "{k}", "both": "{query}/{k}", "deep": [{"x": "{query}"}], "same": 1.5}
    filled = fill(template, "what is {k} or {query}?", 5)
    assert filled == {
        "q": "what is {k} or {query}?",
        "n": 5,
        "both": "what is {k} or {query}?/5",
        "deep": [{"x": "what is {k} or {query}?"}],
        "same": 1.5,
    }


def test_get() -> None:
    with calls(always(Reply(FOUND))) as service:
        in_url = HttpRetriever(service.url + "/search?q={query}&n={k}", method="get")
        assert in_url.search("a b&c=d/\u4e2d", 4) == ["d1", "d2"]
        as_parameters = HttpRetriever(service.url + "/search", method="GET", body={"q": "{query}", "limit": "{k}"})
        assert as_parameters.search("a b&c", 4) == ["d1", "d2"]
        plain = HttpRetriever(service.url, method="GET")
        plain.search("x", 1)
        for retriever in (in_url, as_parameters, plain):
            retriever.close()
    assert service.asked[0].parameters == {"q": "a b&c=d/\u4e2d", "n": "4"}
    assert service.asked[1].parameters == {"q": "a b&c", "limit": "4"}
    assert service.asked[2].parameters == {"query": "x", "k": "1"}
    assert all(asked.body is None for asked in service.asked)


@pytest.mark.parametrize(
    ("answer", "ids", "expected"),
    [
        (FOUND, "$.hits[*].id", ["d1", "d2"]),
        (FOUND, "hits[*].id", ["d1", "d2"]),
        ({"ids": ["a", "b"]}, "$.ids", ["a", "b"]),
        ({"ids": [["a", "b"]]}, "$.ids[0]", ["a", "b"]),
        ({"ids": [["a", "b"]]}, "$.ids[0][*]", ["a", "b"]),
        (["a", "b"], "$", ["a", "b"]),
        (["a", "b"], "$[*]", ["a", "b"]),
        ({"groups": [{"docs": [{"n": 1}]}, {"docs": [{"n": 2}, {"n": 3}]}]}, "$.groups[*].docs[*].n", [1, 2, 3]),
        ({"hits": []}, "$.hits[*].id", []),
        ({"a.b": {"x y": ["c"]}}, "$['a.b'][\"x y\"][*]", ["c"]),
        ({"hits": [{"id": "a"}, {}]}, "$.hits[*].id", ["a", None]),
    ],
    ids=str,
)
def test_paths(answer: Any, ids: str, expected: list[Any]) -> None:
    with calls(always(Reply(answer))) as service:
        retriever = HttpRetriever(service.url, ids=ids)
        assert retriever.search("x", 10) == expected
        retriever.close()


@pytest.mark.parametrize(
    ("answer", "ids", "message"),
    [
        ({"results": [], "took": 1}, "$.hits[*].id", "no 'hits' at $ of the answer, which has the keys results, took"),
        ({"hits": {"total": 0}}, "$.hits[*].id", "no list at $.hits"),
        ({"hits": []}, "$.hits[0].id", "no element 0 at $.hits"),
        ({"hits": "none"}, "$.hits", "leads to 'none' (str), not to a list"),
        ([1], "$.hits", "no 'hits' at $"),
    ],
    ids=str,
)
def test_paths_that_lead_nowhere(answer: Any, ids: str, message: str) -> None:
    error = failure(Reply(answer), ids=ids)
    assert message in str(error)
    assert not error.retry


@pytest.mark.parametrize(
    ("options", "hits", "message"),
    [
        ({"scores": "$.hits[*].sc"}, FOUND["hits"], r"the path \$.hits\[\*\].sc finds nothing in any of the 2 results"),
        ({"scores": "$.hits[*].sc"}, FOUND["hits"], r"\(they have the keys id, score\); set scores to where they are"),
        ({"scores": "$.hits[*].score"}, [{"id": "a", "score": None}], "finds nothing in any of the 1 results"),
        ({"ids": "$.hits[*].doc"}, FOUND["hits"], "set ids to where they are"),
        ({"ids": "$.hits[*].doc.id"}, FOUND["hits"], "they have the keys id, score"),
        ({"ids": "$.hits"}, [None, None], "finds nothing"),
    ],
)
def test_paths_that_find_nothing_in_any_result(options: dict[str, str], hits: list[Any], message: str) -> None:
    assert re.search(message, str(failure(Reply({"hits": hits}), **options)))


def test_some_scores_are_no_reason_to_refuse() -> None:
    hits = [{"id": "a", "score": 2.0}, {"id": "b"}]
    with calls(always(Reply({"hits": hits}))) as service:
        retriever = HttpRetriever(service.url, scores="$.hits[*].score")
        assert retriever.search("x", 2) == [("a", 2.0), ("b", None)]
        retriever.close()
    with calls(always(Reply({"hits": []}))) as service:
        retriever = HttpRetriever(service.url, scores="$.hits[*].score")
        assert retriever.search("x", 2) == []
        retriever.close()


def test_scores_must_match() -> None:
    error = failure(Reply({"ids": ["a", "b"], "scores": [1]}), ids="$.ids[*]", scores="$.scores[*]")
    assert "2 ids" in str(error)
    with calls(always(Reply({"ids": ["a", "b"], "d": [0.1, 0.4]}))) as service:
        retriever = HttpRetriever(service.url, ids="$.ids[*]", scores="-$.d[*]")
        assert as_searcher(retriever).search("x", 2) == [Hit("a", -0.1), Hit("b", -0.4)]
        retriever.close()


@pytest.mark.parametrize(
    ("url", "options", "message"),
    [
        ("localhost:9200", {}, "must begin with http"),
        ("ftp://host/x", {}, "must begin with http"),
        ("http:///x", {}, "name a host"),
        ("http://host:port/x", {}, "cannot be read"),
        ("http://host/", {"body": {"q": "x"}}, "never see it"),
        ("http://host/", {"ids": "$.hits[*"}, "path"),
        ("http://host/", {"ids": ""}, "path"),
        ("http://host/", {"scores": "$..x"}, "path"),
        ("http://host/", {"headers": {"Authorization": "Bearer ${RANKGAUGE_NO_SUCH}"}}, "RANKGAUGE_NO_SUCH"),
        ("http://host/", {"method": "GET", "body": ["{query}"]}, "must be a dictionary"),
    ],
)
def test_checked_when_made(url: str, options: dict[str, Any], message: str) -> None:
    with pytest.raises(RetrieverError, match=message):
        HttpRetriever(url, **options)


def test_headers_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RANKGAUGE_TEST_TOKEN", "s3cret")
    with calls(lambda asked: Reply(FOUND) if len(service.asked) == 1 else Reply("go away", 401)) as service:
        retriever = HttpRetriever(service.url, headers={"Authorization": "Bearer ${RANKGAUGE_TEST_TOKEN}"})
        retriever.search("x", 1)
        with pytest.raises(RetrieverError, match="401 Unauthorized; check the headers") as caught:
            retriever.search("x", 1)
        retriever.close()
    assert service.asked[0].headers["authorization"] == "Bearer s3cret"
    assert "s3cret" not in str(caught.value) + repr(retriever) + str(retriever.configuration)
    assert not caught.value.retry


@pytest.mark.parametrize(
    ("status", "retry"),
    [
        (500, True),
        (502, True),
        (503, True),
        (504, True),
        (429, True),
        (408, True),
        (400, False),
        (404, False),
        (501, False),
    ],
)
def test_statuses(status: int, retry: bool) -> None:
    error = failure(Reply({"why": "because"}, status))
    assert f"status {status}" in str(error)
    assert "because" in str(error)
    assert error.retry is retry


def test_retry_after() -> None:
    assert failure(Reply("", 429, {"Retry-After": "7"})).retry_after == 7
    soon = failure(Reply("", 503, {"Retry-After": formatdate(time.time() + 30, usegmt=True)})).retry_after
    assert soon is not None
    assert 25 < soon <= 31
    assert failure(Reply("", 429, {"Retry-After": formatdate(0, usegmt=True)})).retry_after == 0
    assert failure(Reply("", 429, {"Retry-After": "later"})).retry_after is None
    assert failure(Reply("", 429)).retry_after is None


def test_redirect() -> None:
    error = failure(Reply("", 302, {"Location": "/other"}))
    assert "'/other'" in str(error)
    assert "give the URL that it leads to" in str(error)
    assert not error.retry


def test_no_json() -> None:
    for sent in (b"<html>Welcome</html>", b"", b'{"hits": [', b"\xff\xfe"):
        error = failure(Reply(sent))
        assert "no JSON" in str(error)
        assert not error.retry


def test_no_text() -> None:
    said = str(failure(Reply(b'{"hits": "\xff"}')))
    assert "the answer is no JSON (its bytes are not UTF-8); it begins" in said
    assert "codec" not in said


def test_broken_connections() -> None:
    assert failure(Reply(drop=True)).retry
    assert failure(Reply(FOUND, missing=10)).retry
    error = failure(Reply(FOUND, delay=5), timeout=0.1)
    assert "no answer within 0.1 s" in str(error)
    assert error.retry


def test_refused_and_unknown() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # bound but not listening: nobody else gets this port
        with pytest.raises(RetrieverError, match="is the server running") as caught:
            HttpRetriever(f"http://127.0.0.1:{taken.getsockname()[1]}/").search("x", 1)
    assert caught.value.retry
    with pytest.raises(RetrieverError, match="the host is unknown"):
        HttpRetriever("http://no-such-host.invalid/").search("x", 1)


def test_no_secure_connection() -> None:
    with calls(always(Reply(FOUND))) as service:
        with pytest.raises(RetrieverError, match="no secure connection") as caught:
            HttpRetriever(service.url.replace("http:", "https:")).search("x", 1)
        assert not caught.value.retry


def test_letters_that_no_url_may_hold() -> None:
    with calls(always(Reply(FOUND))) as service:
        retriever = HttpRetriever(service.url + "/\u641c\u7d22 all/%20?name=\u00e9&q={query}", method="GET")
        assert retriever.search("x y", 2) == ["d1", "d2"]
        retriever.close()
    assert service.asked[0].path == "/%E6%90%9C%E7%B4%A2%20all/%20?name=%C3%A9&q=x%20y"


def test_connections_are_kept_by_thread() -> None:
    with calls(always(Reply(FOUND))) as service:
        retriever = HttpRetriever(service.url)
        result = run_queries(retriever, {str(number): "x" for number in range(60)}, 2, concurrency=3)
        assert not result.failed
        assert 1 <= len({asked.connection for asked in service.asked}) <= 3
    assert len(service.asked) == 60


def test_a_connection_closed_meanwhile_is_opened_anew() -> None:
    with calls(always(Reply(FOUND, close=True))) as service:
        retriever = HttpRetriever(service.url)
        for _ in range(5):
            assert retriever.search("x", 2) == ["d1", "d2"]
            time.sleep(0.02)
        retriever.close()
    assert len(service.asked) == 5
    assert len({asked.connection for asked in service.asked}) == 5


def test_works_again_after_a_failure() -> None:
    replies = [
        Reply(FOUND),
        Reply("", 500),
        Reply(FOUND),
        Reply(b"x"),
        Reply(FOUND),
        Reply(FOUND, delay=0.5),
        Reply(FOUND),
    ]
    with calls(lambda asked: replies[len(service.asked) - 1]) as service:
        retriever = HttpRetriever(service.url, timeout=0.2)
        for reply in replies:
            if reply.body == FOUND and reply.status == 200 and not reply.delay:
                assert retriever.search("x", 2) == ["d1", "d2"]
            else:
                with pytest.raises(RetrieverError):
                    retriever.search("x", 2)
        retriever.close()


def test_the_runner_honours_retry_after() -> None:
    def limited(asked: Asked) -> Reply:
        return Reply("slow down", 429, {"Retry-After": "1"}) if len(service.asked) == 1 else Reply(FOUND)

    with calls(limited) as service:
        result = run_queries(HttpRetriever(service.url), {"q": "x"}, 2, backoff=60)
    (answer,) = result.answers
    assert answer.attempts == 2
    assert answer.error is None
    assert 1.0 <= result.wall_seconds < 10
    assert answer.seconds < 0.9  # the pause is no latency


def test_a_pause_that_is_too_long_is_told() -> None:
    with calls(always(Reply("busy", 429, {"Retry-After": "3600"}))) as service:
        passed = run_queries(HttpRetriever(service.url), {"1": "x"}, 1)
    assert len(service.asked) == 1
    told = passed.reason.parameters["error"]
    assert "not repeated: it asks for a pause of 3600 s, and at most 300 s are waited" in told


def test_many_threads_share_one_retriever() -> None:
    def echo(asked: Asked) -> Reply:
        return Reply({"hits": [{"id": asked.body["query"]}]}, delay=0.001)

    with calls(echo) as service:
        retriever = HttpRetriever(service.url)
        wrong: list[Any] = []

        def ask(name: str) -> None:
            for number in range(20):
                if retriever.search(f"{name}-{number}", 1) != [f"{name}-{number}"]:
                    wrong.append(name)

        threads = [threading.Thread(target=ask, args=(str(number),)) for number in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert not wrong


def test_a_missing_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "httpx", None)
    with pytest.raises(MissingExtraError, match=r"asking a URL needs httpx: pip install httpx \(it is in the extra"):
        HttpRetriever("http://host/")


def test_secrets_stand_in_no_message(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RANKGAUGE_TEST_TOKEN", "s3cret-token")
    with calls(always(Reply({"why": "s3cret-token is not known"}, 403))) as service:
        address = service.url.replace("//", "//user:hidden@") + "/search?api_key=hidden2"
        retriever = HttpRetriever(address, headers={"X-Key": "${RANKGAUGE_TEST_TOKEN}"})
        with pytest.raises(RetrieverError, match="is not known") as caught:
            retriever.search("x", 1)
        retriever.close()
    assert service.asked[0].headers["x-key"] == "s3cret-token"
    assert not [word for word in ("s3cret", "hidden") if word in str(caught.value)]


def test_user_and_password_of_a_url_are_sent_as_basic_authorization(monkeypatch: pytest.MonkeyPatch) -> None:
    def answer(asked: Asked) -> Reply:
        expected = f"Basic {b64encode('me:p@ss/wörd'.encode()).decode()}"
        return Reply(FOUND) if asked.headers.get("authorization") == expected else Reply({}, 401)

    monkeypatch.setenv("RANKGAUGE_TEST_LOGIN", "me:p%40ss%2Fw%C3%B6rd")
    with calls(answer) as service:
        with pytest.raises(RetrieverError, match="status 401"):
            HttpRetriever(service.url).search("x", 1)
        for login in ("me:p%40ss%2Fw%C3%B6rd", "${RANKGAUGE_TEST_LOGIN}"):
            retriever = HttpRetriever(service.url.replace("//", f"//{login}@"))
            assert retriever.search("x", 1)
            retriever.close()
        with pytest.raises(RetrieverError, match="keep one of them"):
            HttpRetriever(service.url.replace("//", "//me:pw@"), headers={"Authorization": "Bearer x"})


def test_variables_in_url_headers_and_body(monkeypatch: pytest.MonkeyPatch) -> None:
    """They are sent, and neither stored nor shown."""
    with calls(always(Reply(FOUND))) as service:
        values = {"BASE": service.url, "PART": "docs-v2", "WORD": "very secret\n"}
        for name, value in values.items():
            monkeypatch.setenv(f"RANKGAUGE_TEST_{name}", value)
        retriever = HttpRetriever(
            "${RANKGAUGE_TEST_BASE}/${RANKGAUGE_TEST_PART}/search",
            body={"query": "{query}", "filter": [{"by": "${RANKGAUGE_TEST_WORD}"}]},
            headers={"X-Word": "${RANKGAUGE_TEST_WORD}"},
        )
        retriever.search("x", 1)
        elastic = from_elasticsearch("${RANKGAUGE_TEST_BASE}", "docs", headers={"X-Word": "${RANKGAUGE_TEST_WORD}"})
        with pytest.raises(RetrieverError) as caught:
            elastic.search("x", 1)
        retriever.close()
    assert [asked.path for asked in service.asked] == ["/docs-v2/search", "/docs/_search"]
    assert service.asked[0].body == {"query": "x", "filter": [{"by": "very secret"}]}
    assert {asked.headers["x-word"] for asked in service.asked} == {"very secret"}
    told = repr((retriever.configuration, retriever.url, retriever.body, str(caught.value)))
    assert "${RANKGAUGE_TEST_BASE}" in told
    assert not [value for value in ("very secret", service.url, "docs-v2") if value in told]


def test_a_secret_is_masked_before_a_message_is_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    """Half of a key would not be found."""
    monkeypatch.setenv("RANKGAUGE_TEST_TOKEN", "s3cret-token" * 5)
    for start in range(20, 300, 40):
        for status, form in ((403, "{}"), (200, "no JSON {}"), (200, '{{"hits": "{}"}}')):
            said = form.format("." * start + "s3cret-token" * 5 + "." * 300).encode()
            with calls(always(Reply(said, status))) as service:
                retriever = HttpRetriever(service.url, headers={"X-Key": "${RANKGAUGE_TEST_TOKEN}"})
                with pytest.raises(RetrieverError) as caught:
                    retriever.search("x", 1)
                retriever.close()
            assert "s3cr" not in str(caught.value), caught.value


def test_nor_is_half_a_key_among_keys_or_in_a_header(monkeypatch: pytest.MonkeyPatch) -> None:
    token = "s3cret-token" * 5
    monkeypatch.setenv("RANKGAUGE_TEST_TOKEN", token)
    errors = {"root": {"errors": [{"summary": "." * 450, "message": token}]}}
    for kind, reply in (
        (HttpRetriever, Reply({"." * 285 + token: 1})),
        (HttpRetriever, Reply(b"{}", headers={"Content-Encoding": "." * 40 + token})),
        (from_vespa, Reply(errors)),
    ):
        with calls(always(reply)) as service:
            retriever = kind(service.url, headers={"X-Key": "${RANKGAUGE_TEST_TOKEN}"})
            with pytest.raises(RetrieverError) as caught:
                retriever.search("x", 1)
        assert "s3cr" not in str(caught.value), caught.value


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be"])
def test_a_secret_in_letters_of_two_bytes(monkeypatch: pytest.MonkeyPatch, encoding: str) -> None:
    """As servers on Windows write them: a zero between the letters of a key hides it from nobody."""
    monkeypatch.setenv("RANKGAUGE_TEST_TOKEN", "s3cret-token")
    for status, said in ((500, "not allowed: "), (200, "no JSON: ")):
        with calls(always(Reply(f"{said}s3cret-token".encode(encoding), status))) as service:
            retriever = HttpRetriever(service.url, headers={"X-Key": "${RANKGAUGE_TEST_TOKEN}"})
            with pytest.raises(RetrieverError, match=re.escape(f"{said}***")):
                retriever.search("x", 1)
            retriever.close()


@pytest.mark.parametrize("errors", [["broken"], {"message": "broken"}, "broken"])
def test_errors_of_vespa_in_other_forms(errors: Any) -> None:
    with calls(always(Reply({"root": {"errors": errors}}))) as service, pytest.raises(RetrieverError, match="broken"):
        from_vespa(service.url).search("x", 1)


def test_headers_of_ones_own_go_before_ours() -> None:
    with calls(always(Reply(FOUND))) as service:
        retriever = HttpRetriever(service.url, headers={"Accept": "application/vnd.mine+json", "X-Name": "caf\u00e9"})
        retriever.search("x", 1)
        retriever.close()
    assert service.asked[0].headers["accept"] == "application/vnd.mine+json"
    assert service.asked[0].headers["x-name"] == "caf\u00e9"


def test_an_answer_with_thousands_of_keys_is_told_in_a_line() -> None:
    with pytest.raises(RetrieverError) as caught:
        select({f"key {i}": i for i in range(100_000)}, parse_path("$.hits[*].id", each=True), "$.hits[*].id")
    assert len(str(caught.value)) < 1000
