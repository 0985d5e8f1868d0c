"""Search services on the loopback interface that answer as a test says, over real connections."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit


@dataclass
class Asked:
    """One request as the server saw it."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: Any
    connection: tuple[str, int]
    """The client's end: equal for requests that came over one connection."""

    @property
    def parameters(self) -> dict[str, str]:
        return {name: values[0] for name, values in parse_qs(urlsplit(self.path).query).items()}


@dataclass
class Reply:
    body: Any = None
    """Bytes go out as they are, all else as JSON."""
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    delay: float = 0.0
    drop: bool = False
    """Close the connection without an answer."""
    close: bool = False
    """Close it silently after the answer, as servers do with connections that idle."""
    missing: int = 0
    """Announce so many bytes more than are sent."""


@dataclass
class Service:
    url: str
    asked: list[Asked] = field(default_factory=list)
    stopping: threading.Event = field(default_factory=threading.Event)


@contextmanager
def calls(answer: Callable[[Asked], Reply]) -> Iterator[Service]:
    """A server that answers every request with what `answer` makes of it."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def handle_request(self) -> None:
            data = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            body = json.loads(data) if data else None
            asked = Asked(self.command, self.path, dict(self.headers), body, self.client_address)
            service.asked.append(asked)
            reply = answer(asked)
            if reply.delay:
                service.stopping.wait(reply.delay)
            if reply.drop:
                self.close_connection = True
                return
            sent = reply.body if isinstance(reply.body, bytes) else json.dumps(reply.body).encode()
            try:
                self.send_response(reply.status)
                self.send_header("Content-Length", str(len(sent) + reply.missing))
                for name, value in {"Content-Type": "application/json", **reply.headers}.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(sent)
            except ConnectionError:  # the client did not wait
                self.close_connection = True
            if reply.close or reply.missing:
                self.close_connection = True

        do_GET = do_POST = handle_request

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    server.block_on_close = False
    service = Service(f"http://127.0.0.1:{server.server_address[1]}")
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield service
    finally:
        service.stopping.set()
        server.shutdown()
        thread.join()
        server.server_close()


def by_shared_words(documents: Mapping[str, str], query: str) -> list[tuple[str, float]]:
    """Documents that share words with a query, best first: a ranking simple enough to check by hand."""
    words = set(query.lower().split())
    counts = {doc: float(sum(word in words for word in text.lower().split())) for doc, text in documents.items()}
    return sorted(((doc, n) for doc, n in counts.items() if n), key=lambda pair: (-pair[1], pair[0]))


def elasticsearch(documents: Mapping[str, str]) -> Callable[[Asked], Reply]:
    """`POST /index/_search` with a match query on `text`, answered in Elasticsearch's form."""

    def answer(asked: Asked) -> Reply:
        accepted = asked.headers.get("Accept", "application/json").split(",")[0]
        headers = {"X-Elastic-Product": "Elasticsearch", "Content-Type": accepted}
        if asked.method != "POST" or not asked.path.startswith("/docs/_search"):
            return Reply({"error": {"type": "index_not_found_exception"}, "status": 404}, 404, headers)
        started = time.perf_counter()
        match = asked.body["query"]["match"]["text"]
        query = match["query"] if isinstance(match, dict) else match
        found = by_shared_words(documents, query)
        hits = []
        for doc, score in found[: asked.body.get("size", 10)]:
            hit: dict[str, Any] = {"_index": "docs", "_id": doc, "_score": score}
            if asked.body.get("_source", True) is not False:
                hit["_source"] = {"text": documents[doc], "number": f"n-{doc}"}
            hits.append(hit)
        body = {
            "took": int((time.perf_counter() - started) * 1000),
            "timed_out": False,
            "_shards": {"total": 1, "successful": 1, "skipped": 0, "failed": 0},
            "hits": {
                "total": {"value": len(found), "relation": "eq"},
                "max_score": found[0][1] if found else None,
                "hits": hits,
            },
        }
        return Reply(body, headers=headers)

    return answer
