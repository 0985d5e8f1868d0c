"""Dense retrieval: latent semantic analysis, functions, and servers that speak OpenAI's protocol."""

from __future__ import annotations

import json
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from email.utils import formatdate
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rankgauge.errors import DataError, MissingExtraError, RankgaugeError, RetrieverError
from rankgauge.retrievers import Dense, Hit, Retriever
from rankgauge.retrievers.endpoint import EmbeddingEndpoint
from tests.retrievers.real import CHINESE, SMALL, collection, scores

QUERIES = ("delete a file", "json string", "wait for results", "path")


def letters(texts: Sequence[str]) -> list[list[float]]:
    """A model of a kind: how often each letter stands in a text."""
    return [[float(text.lower().count(chr(97 + i))) for i in range(26)] for text in texts]


def test_lsa() -> None:
    dense = Dense(SMALL, dimensions=5)
    assert isinstance(dense, Retriever)
    assert list(dense.ids) == list(SMALL)
    assert dense.vectors_of(SMALL).shape == (8, 5)
    for query in QUERIES:
        hits = dense.search(query, 10)
        assert all(type(hit) is Hit and type(hit.score) is float and abs(hit.score) < 1 + 1e-6 for hit in hits)
        assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
        assert dense.search(query, 3) == hits[:3]
        assert Dense(SMALL, dimensions=5).search(query, 10) == hits
    assert dense.search("delete directory", 1)[0].id == "shutil.rmtree"
    assert dense.search("zebra", 3) == dense.search("", 3) == []


def test_with_all_dimensions_it_is_tf_idf() -> None:
    """As many dimensions as documents lose nothing: cosines are those of scikit-learn's tf-idf vectors."""
    from sklearn.feature_extraction.text import TfidfVectorizer

    from rankgauge.retrievers.text import english_terms

    texts = [text for text in SMALL.values() if text]
    dense = Dense({str(i): text for i, text in enumerate(texts)}, dimensions=1000)
    table = TfidfVectorizer(analyzer=english_terms, sublinear_tf=True).fit_transform(texts)
    vectors = dense.vectors_of(map(str, range(len(texts))))
    assert vectors @ vectors.T == pytest.approx((table @ table.T).toarray(), abs=1e-5)


def test_finds_related_words_without_a_common_one() -> None:
    corpus = {
        "a": "car engine repair",
        "b": "automobile engine maintenance",
        "c": "automobile repair maintenance",
        "d": "banana cake recipe",
        "e": "chocolate cake recipe",
    }
    found = dict(Dense(corpus, dimensions=2).search("car", 5))
    assert found["c"] > 0.9
    assert found["c"] > found["d"] + 0.5


def test_chinese_and_tiny_corpora() -> None:
    assert Dense(CHINESE).search("大学 北京", 1)[0].id == "a"
    assert [hit.id for hit in Dense({"only": "one text"}).search("text", 3)] == ["only"]
    assert len(Dense({"a": "same text", "b": "same text"}).search("text", 3)) == 2
    with pytest.raises(DataError, match="none of the 2 documents"):
        Dense({"a": "", "b": "the"})


def test_function_as_model() -> None:
    dense = Dense(SMALL, model=letters)
    table = np.array(letters(list(SMALL.values())))
    query = np.array(letters(["json"])[0])
    with np.errstate(invalid="ignore"):
        cosines = np.nan_to_num(table @ query / np.linalg.norm(table, axis=1) / np.linalg.norm(query))
    assert dict(dense.search("json", 10)) == pytest.approx(dict(zip(SMALL, cosines, strict=True)), abs=1e-6)
    assert dense.search("123", 3) == []


def test_bad_models() -> None:
    with pytest.raises(DataError, match="gave 1 vectors for 8 texts"):
        Dense(SMALL, model=lambda texts: [[1.0, 2.0]])
    with pytest.raises(DataError, match="NaN or infinite"):
        Dense(SMALL, model=lambda texts: [[np.nan]] * len(texts))
    with pytest.raises(DataError, match="shape"):
        Dense(SMALL, model=lambda texts: [1.0] * len(texts))
    with pytest.raises(DataError, match="the query 1 dimensions, but the documents 8"):
        Dense(SMALL, model=lambda texts: [[1.0] * len(texts)] * len(texts)).search("x", 1)
    with pytest.raises(RankgaugeError, match="model=3 must be"):
        Dense(SMALL, model=3)  # type: ignore[arg-type]


def test_graph_and_its_ef_search() -> None:
    graph = Dense(SMALL, index="hnsw", ef_search=4)
    exact = Dense(SMALL)
    for query in QUERIES:
        found = graph.with_ef_search(50).search(query, 8)
        assert dict(found) == pytest.approx(dict(exact.search(query, 8)), abs=1e-6)
    with pytest.raises(RankgaugeError, match="ef_search belongs to index='hnsw'"):
        exact.with_ef_search(10)
    with pytest.raises(DataError, match="'nothing' is not in the index"):
        exact.vectors_of(["nothing"])


def test_threads() -> None:
    dense = Dense(SMALL)
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda query: dense.search(query, 5), QUERIES * 10))
    assert found == [dense.search(query, 5) for query in QUERIES * 10]


def test_cranfield(data: Path) -> None:
    """A guard: latent semantic analysis has given an AP of .346 here."""
    chosen = collection(data, "cranfield")
    assert scores(Dense(chosen.documents), chosen, "AP")["AP"] == pytest.approx(0.346, abs=0.02)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"dimensions": 0}, "dimensions=0 must be a whole number of at least 1"),
        ({"index": "ivf"}, "index='ivf' must be one of exact, hnsw"),
        ({"language": "fr"}, "language='fr'"),
        ({"api_key_env": "KEY"}, "api_key_env belongs to an endpoint"),
        ({"endpoint": "http://localhost/v1"}, "needs model="),
        ({"endpoint": "localhost:80", "model": "m"}, "must be a URL"),
        ({"endpoint": "file:///etc/hosts", "model": "m"}, "must be a URL"),
    ],
)
def test_bad_parameters(parameters: dict[str, Any], message: str) -> None:
    with pytest.raises(RankgaugeError, match=message):
        Dense(SMALL, **parameters)


@pytest.mark.parametrize(
    ("module", "parameters", "extra"),
    [
        ("sentence_transformers", {"model": "all-MiniLM-L6-v2"}, "models"),
        ("sklearn.decomposition", {}, "retrievers"),
        ("faiss", {"index": "hnsw", "model": letters}, "retrievers"),
    ],
)
def test_missing_extra(monkeypatch: pytest.MonkeyPatch, module: str, parameters: dict[str, Any], extra: str) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(MissingExtraError, match=rf"it is in the extra rankgauge\[{extra}\]"):
        Dense(SMALL, **parameters)


Answer = tuple[int, dict[str, str], bytes]


class Server:
    """A server on this machine that speaks OpenAI's protocol; `plan` says how the next requests are answered."""

    def __init__(self) -> None:
        self.requests: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.plan: list[Answer | Callable[[dict[str, Any]], bytes] | None] = []
        lock = threading.Lock()
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                with lock:
                    outer.requests.append({"path": self.path, **body})
                    outer.headers.append(dict(self.headers.items()))
                    planned = outer.plan.pop(0) if outer.plan else None
                if isinstance(planned, tuple):
                    status, headers, data = planned
                else:
                    status, headers, data = 200, {}, (planned or answer)(body)
                if status == 0:  # hang up without an answer
                    return
                self.send_response(status)
                for name, value in headers.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, *_: Any) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}/v1"
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01})
        self._thread.start()

    def close(self) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


def answer(body: dict[str, Any]) -> bytes:
    """Vectors in another order than the texts, as the protocol allows."""
    assert body["model"] == "letters"
    rows = [{"index": i, "embedding": row, "object": "embedding"} for i, row in enumerate(letters(body["input"]))]
    return json.dumps({"object": "list", "data": rows[::-1], "model": "letters"}).encode()


@pytest.fixture
def server() -> Iterator[Server]:
    made = Server()
    yield made
    made.close()


def encoder(server: Server, pauses: list[float] | None = None, **options: Any) -> EmbeddingEndpoint:
    sleep = (pauses if pauses is not None else []).append
    return EmbeddingEndpoint(server.url, model="letters", sleep=sleep, **options)


def test_endpoint_is_the_model_it_serves(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EMBEDDING_KEY", "secret")
    dense = Dense(SMALL, endpoint=server.url, model="letters", api_key_env="EMBEDDING_KEY")
    local = Dense(SMALL, model=letters)
    for query in QUERIES:
        assert dense.search(query, 5) == local.search(query, 5)
    assert {request["path"] for request in server.requests} == {"/v1/embeddings"}
    assert {headers["authorization"] for headers in server.headers} == {"Bearer secret"}
    assert "" not in server.requests[0]["input"]


def test_batches(server: Server) -> None:
    texts = ["a" * i for i in range(1, 11)]
    assert encoder(server, batch_size=4)(texts).tolist() == letters(texts)
    assert [len(request["input"]) for request in server.requests] == [4, 4, 2]
    with_path = EmbeddingEndpoint(f"{server.url}/embeddings/", model="letters")
    assert with_path(["b"]).tolist() == letters(["b"])


def test_tries_again_after_the_pause_asked_for(server: Server) -> None:
    pauses: list[float] = []
    later = formatdate(time.time() + 30, usegmt=True)
    server.plan = [
        (429, {"Retry-After": "7"}, b"slow down"),
        (503, {}, b""),
        (500, {"Retry-After": later}, b""),
        (0, {}, b""),
    ]
    assert encoder(server, pauses)(["abc"]).tolist() == letters(["abc"])
    assert len(server.requests) == 5
    assert pauses[:2] == [7, 1]
    assert 25 < pauses[2] <= 30
    assert pauses[3] == 4


def test_gives_up(server: Server) -> None:
    pauses: list[float] = []
    server.plan = [(503, {"Retry-After": "9999"}, b"overloaded")] * 3
    with pytest.raises(RetrieverError, match=r"status 503 .*overloaded \(tried 3 times\)") as caught:
        encoder(server, pauses, tries=3, timeout=5)(["a"])
    assert caught.value.retry
    assert pauses == [5, 5]  # no pause is longer than the time limit


def test_refusals_are_not_tried_again(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EMBEDDING_KEY", "secret-key")
    server.plan = [
        (401, {}, b'{"error": "no key"}'),
        (404, {}, b"nothing here"),
        (400, {}, b"bad"),
        (302, {"Location": "http://127.0.0.1:9/"}, b""),
    ]
    encode = encoder(server, api_key_env="EMBEDDING_KEY")
    for message in (
        "401.*api_key_env.*no key",
        "404.*before /embeddings",
        "400.*bad",
        "302.*redirects are not followed",
    ):
        with pytest.raises(RetrieverError, match=message) as caught:
            encode(["a"])
        assert "secret-key" not in str(caught.value)
    assert len(server.requests) == 4


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"<html>oops</html>", "is no JSON: <html>oops"),
        (b"", r"is no JSON: \(nothing\)"),
        (b"[]", "did not answer as OpenAI's embeddings do"),
        (b'{"data": [{"embedding": [1]}]}', "did not answer as"),
        (b'{"data": [{"index": 0, "embedding": "AAAA"}]}', "did not answer as"),
        (b'{"data": []}', "gave 0 vectors for 1 texts"),
        (b'{"data": [{"index": 1, "embedding": [1]}]}', "gave 1 vectors for 1 texts"),
    ],
)
def test_answers_that_cannot_be_understood(server: Server, data: bytes, message: str) -> None:
    server.plan = [(200, {}, data)]
    with pytest.raises(RetrieverError, match=message):
        encoder(server)(["a"])
    assert len(server.requests) == 1


def test_vectors_of_different_lengths(server: Server) -> None:
    server.plan = [(200, {}, b'{"data": [{"index": 0, "embedding": [1, 2]}]}')]
    with pytest.raises(RetrieverError, match="different lengths"):
        encoder(server, batch_size=1)(["a", "b"])


def test_nobody_listens(server: Server) -> None:
    server.close()
    with pytest.raises(RetrieverError, match=r"the connection is refused.* \(tried 2 times\)"):
        encoder(server, tries=2)(["a"])


def test_missing_key(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("EMBEDDING_KEY", raising=False)
    with pytest.raises(RankgaugeError, match="environment variable EMBEDDING_KEY"):
        encoder(server, api_key_env="EMBEDDING_KEY")
