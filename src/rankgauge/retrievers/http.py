"""HttpRetriever: a search service behind a URL that speaks JSON, asked over kept connections."""

from __future__ import annotations

import http.client
import json
import os
import re
import socket
import ssl
import threading
import time
from collections.abc import Mapping
from email.utils import parsedate_to_datetime
from typing import Any, Final
from urllib.parse import quote, urlencode, urlsplit

from rankgauge.errors import RetrieverError
from rankgauge.retrievers.checks import check_number
from rankgauge.retrievers.fields import ABSENT, Path, follow, parse_path, shown

__all__ = ["HttpRetriever", "fill"]

_RETRIED: Final = frozenset((408, 425, 429, 500, 502, 503, 504))
_DEFAULT_BODY: Final = {"query": "{query}", "k": "{k}"}
_STALE: Final = (http.client.RemoteDisconnected, ConnectionResetError, BrokenPipeError, ssl.SSLEOFError)
_NO_HOST = re.compile(r"[\s\x00-\x20\x7f{}<>\"\\^`|]")
_VARIABLE = re.compile(r"\$\{(\w+)\}")


class _Closing:
    """A connection that closes itself when the thread that kept it has ended."""

    def __del__(self) -> None:
        self.close()  # type: ignore[attr-defined]


class _Plain(_Closing, http.client.HTTPConnection):
    pass


class _Secure(_Closing, http.client.HTTPSConnection):
    pass


class HttpRetriever:
    """Asks a URL and reads ids, and scores if there are any, out of the JSON it answers.

    In `body`, `"{k}"` becomes the number of results and `{query}` the text of the query, wherever they stand; in `url`
    they are quoted. A GET request without them in its URL sends `body` as the parameters of the URL. `ids` and
    `scores` are paths such as `$.hits[*].id`; a `-` before `scores` says that smaller is better. In `headers`,
    `${NAME}` is taken from the environment, so that no secret stands in a file.
    """

    def __init__(
        self,
        url: str,
        *,
        body: Any = None,
        method: str = "POST",
        ids: str = "$.hits[*].id",
        scores: str | None = None,
        headers: Mapping[str, str] | None = None,
        timeout: float = 30.0,
    ) -> None:
        for given, value in (("url", url), ("method", method), ("ids", ids), ("scores", scores)):
            if not isinstance(value, str) and not (value is None and given == "scores"):
                raise RetrieverError(f"{given}={value!r} must be a text")
        self.url, self.method, self.timeout = url, method.upper(), check_number("timeout", timeout, 0.001)
        try:
            parts = urlsplit(url)
            self._address = (parts.hostname, parts.port)
        except ValueError as error:
            raise RetrieverError(f"the URL {url!r} cannot be read: {error}") from None
        if parts.scheme not in ("http", "https") or not parts.hostname or _NO_HOST.search(parts.hostname):
            raise RetrieverError(f"the URL {url!r} must begin with http:// or https:// and name a host")
        self._secure = ssl.create_default_context() if parts.scheme == "https" else None
        target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        self._target = quote(target, safe="/?&=%{}:;,@!$'()*+~[]")  # blanks and letters that no URL may hold
        self.body = _DEFAULT_BODY if body is None and "{query}" not in url else body
        try:
            written = json.dumps(self.body, ensure_ascii=False)
        except (TypeError, ValueError) as error:
            raise RetrieverError(f"the body cannot be written as JSON: {error}") from None
        if "{query}" not in url and "{query}" not in written:
            raise RetrieverError("{query} stands neither in the url nor in the body: the retriever would never see it")
        self._as_parameters = self.method == "GET" and self.body is not None
        if self._as_parameters and not isinstance(self.body, Mapping):
            raise RetrieverError("the body of a GET request is sent as parameters of the URL and must be a dictionary")
        self.ids, self.scores = ids, scores
        self._id_path = parse_path(ids, each=True)
        self._score_path = None if scores is None else parse_path(scores.removeprefix("-"), each=True)
        self._headers = {"Accept": "application/json", "Content-Type": "application/json", **_filled(headers or {})}
        self.header_texts = dict(headers or {})
        """Headers as they were given, names of variables in the place of secrets."""
        self._local = threading.local()  # each thread keeps its connection

    @property
    def config(self) -> dict[str, Any]:
        """What decides about the answers, without headers, which may hold secrets."""
        return {"url": self.url, "method": self.method, "body": self.body, "ids": self.ids, "scores": self.scores}

    def search(self, query: str, k: int) -> list[Any]:
        """Ids, or (id, score) pairs, in the order of the answer."""
        answer = self._parsed(*self._exchange(*self._request(query, k)))
        ids = select(answer, self._id_path, self.ids)
        if ids and all(found is None for found in ids):
            raise RetrieverError(self._nothing(answer, "ids", self._id_path, self.ids))
        if self._score_path is None or self.scores is None:
            return ids
        scores = select(answer, self._score_path, self.scores)
        if ids and all(found is None for found in scores):
            raise RetrieverError(self._nothing(answer, "scores", self._score_path, self.scores))
        if len(scores) != len(ids):
            raise RetrieverError(
                f"{self.url}: {len(ids)} ids at {self.ids} but {len(scores)} scores at {self.scores}; "
                "both paths must lead through the same list"
            )
        if self.scores.startswith("-"):
            scores = [-score if isinstance(score, int | float) else score for score in scores]
        return list(zip(ids, scores, strict=True))

    def _nothing(self, answer: Any, what: str, path: Path, text: str) -> str:
        """What to say of a path that leads into every result of an answer and finds nothing in any."""
        inside = len(path) - 1 - path[::-1].index(None) if None in path else -1
        listed = select(answer, path[: inside + 1], text) if inside >= 0 else []
        keys = dict.fromkeys(str(key) for result in listed if isinstance(result, dict) for key in result)
        seen = f"they have the keys {', '.join(list(keys)[:15])}" if keys else f"such as {shown((listed or [None])[0])}"
        return (
            f"{self.url}: the path {text} finds nothing in any of the {len(listed)} results ({seen}); "
            f"set {what} to where they are" + (", or leave it out" if what == "scores" else "")
        )

    def close(self) -> None:
        """Close the connection of this thread."""
        connection = self._local.__dict__.pop("connection", None)
        if connection is not None:
            connection.close()

    def _request(self, query: str, k: int) -> tuple[str, bytes | None]:
        target = self._target
        if "{" in target:
            target = target.replace("{query}", quote(query, safe="")).replace("{k}", str(k))
        if self.body is None:
            return target, None
        body = fill(self.body, query, k)
        if self._as_parameters:
            return f"{target}{'&' if '?' in target else '?'}{urlencode(body)}", None
        return target, json.dumps(body, ensure_ascii=False).encode("utf-8", "replace")

    def _exchange(self, target: str, body: bytes | None) -> tuple[int, http.client.HTTPMessage, bytes]:
        """Send a request over this thread's connection. One that the server has closed meanwhile is opened anew."""
        while True:
            connection = getattr(self._local, "connection", None)
            kept = connection is not None
            if connection is None:
                connection = self._local.connection = self._connection()
            try:
                connection.request(self.method, target, body, self._headers)
                response = connection.getresponse()
                data = response.read()
                if response.will_close:
                    self.close()
                return response.status, response.headers, data
            except BaseException as error:
                self.close()
                if kept and isinstance(error, _STALE):
                    continue
                if isinstance(error, OSError | http.client.HTTPException):
                    raise self._failure(error) from None
                raise

    def _connection(self) -> http.client.HTTPConnection:
        host, port = self._address
        if self._secure is not None:
            return _Secure(str(host), port, timeout=self.timeout, context=self._secure)
        return _Plain(str(host), port, timeout=self.timeout)

    def _failure(self, error: Exception) -> RetrieverError:
        """What went wrong on the way, and whether it may go well another time."""
        if isinstance(error, TimeoutError):
            return RetrieverError(f"{self.url}: no answer within {self.timeout:g} s", retry=True)
        if isinstance(error, ConnectionRefusedError):
            return RetrieverError(f"{self.url}: the connection is refused; is the server running?", retry=True)
        if isinstance(error, socket.gaierror):
            again = error.errno == socket.EAI_AGAIN
            return RetrieverError(f"{self.url}: the host is unknown ({error.strerror})", retry=again)
        if isinstance(error, ssl.SSLError):
            broke = isinstance(error, ssl.SSLEOFError | ssl.SSLZeroReturnError)
            return RetrieverError(f"{self.url}: no secure connection: {error}", retry=broke)
        if isinstance(error, http.client.InvalidURL | http.client.UnknownProtocol | http.client.LineTooLong):
            return RetrieverError(f"{self.url}: {type(error).__name__}: {error}")
        return RetrieverError(f"{self.url}: the connection broke ({type(error).__name__}: {error})", retry=True)

    def _parsed(self, status: int, headers: http.client.HTTPMessage, data: bytes) -> Any:
        if 200 <= status < 300:
            try:
                return json.loads(data)
            except ValueError as error:
                begin = shown(data[:60].decode("utf-8", "replace"))
                why = "its bytes are not UTF-8" if isinstance(error, UnicodeDecodeError) else str(error)
                raise RetrieverError(f"{self.url}: the answer is no JSON ({why}); it begins {begin}") from None
        reason = http.client.responses.get(status, "")
        if 300 <= status < 400:
            raise RetrieverError(
                f"{self.url}: status {status} {reason}, redirected to {headers.get('Location')!r}; "
                "redirects are not followed: set url to where it leads"
            )
        advice = "; check the headers and their variables" if status in (401, 403) else ""
        text = " ".join(data[:300].decode("utf-8", "replace").split())
        raise RetrieverError(
            f"{self.url}: status {status} {reason}{advice}" + (f": {text}" if text else ""),
            retry=status in _RETRIED,
            retry_after=_pause(headers.get("Retry-After")) if status in _RETRIED else None,
        )


def fill(template: Any, query: str, k: int) -> Any:
    """A template with the query and k in their places; `"{k}"` alone becomes a number."""
    if isinstance(template, str):
        if template == "{k}":
            return k
        # At once, so that a query which holds the text {k} stays as it is.
        return re.sub(r"\{(query|k)\}", lambda found: query if found[1] == "query" else str(k), template)
    if isinstance(template, Mapping):
        return {name: fill(value, query, k) for name, value in template.items()}
    if isinstance(template, list | tuple):
        return [fill(value, query, k) for value in template]
    return template


def select(answer: Any, path: Path, text: str) -> list[Any]:
    """What a path leads to. Elements of a list that lack a name give None; anything else that lacks it is an error."""
    found, several = [answer], False
    for number, step in enumerate(path):
        following: list[Any] = []
        for value in found:
            inner = ABSENT
            if step is not None and isinstance(value, dict if isinstance(step, str) else list):
                inner = follow(value, (step,), ABSENT)
            if step is None and isinstance(value, list):
                following += value
            elif inner is not ABSENT:
                following.append(inner)
            elif several:
                following.append(None)
            else:
                raise RetrieverError(_lost(value, path[:number], step, text))
        found, several = following, several or step is None
    if not several:
        if not isinstance(found[0], list):
            raise RetrieverError(
                f"the path {text} leads to {shown(found[0])}, not to a list; put [*] where its list is"
            )
        return list(found[0])
    return found


def _lost(value: Any, done: Path, step: str | int | None, text: str) -> str:
    place = "$" + "".join(f".{part}" if isinstance(part, str) else f"[{part}]" for part in done)
    wanted = "list" if step is None else repr(step) if isinstance(step, str) else f"element {step}"
    seen = f"the keys {', '.join(map(str, value))}" if isinstance(value, dict) else shown(value)
    return f"the path {text} cannot be followed: there is no {wanted} at {place} of the answer, which has {seen}"


def _filled(headers: Mapping[str, str]) -> dict[str, str]:
    """Headers with the variables of the environment in their places."""
    filled = {}
    if not isinstance(headers, Mapping):
        raise RetrieverError(f"headers={headers!r} must be a dictionary from name to text")
    for name, text in headers.items():
        if not isinstance(name, str) or not isinstance(text, str):
            raise RetrieverError(f"the header {name} must be a text, not {text!r}")
        for variable in _VARIABLE.findall(text):
            if variable not in os.environ:
                raise RetrieverError(f"the header {name} needs the environment variable {variable}, which is not set")
        value = _VARIABLE.sub(lambda found: os.environ[found[1]], text).strip()
        if any(c in "\r\n\0" or ord(c) > 255 for c in value):  # the value may be a secret and is not shown
            raise RetrieverError(f"the header {name} holds what no header may: line ends, or letters beyond Latin-1")
        filled[name] = value
    return filled


def _pause(text: str | None) -> float | None:
    """Seconds of a Retry-After header, which gives a number or a date."""
    if text is None:
        return None
    try:
        return max(0.0, float(text))
    except ValueError:
        pass
    try:
        return max(0.0, parsedate_to_datetime(text).timestamp() - time.time())
    except ValueError:
        return None
