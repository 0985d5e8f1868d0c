"""Service: a URL asked over kept connections. Every failure is a `RetrieverError` that says whether to try again.

httpx speaks HTTP; what is decided here is what a measurement needs: no redirect is followed, since a key must not go to
another host, no compression is asked for, since its time would count as the retriever's, a call has a time and an
answer a length that it cannot pass, and secrets are masked. `Connection` is used and not httpx's `Client`: with 32
calls at a time a client adds 5 ms to a call of 20 ms, the layer below it 1.
"""

from __future__ import annotations

import codecs
import socket
import ssl
import weakref
from base64 import b64encode
from collections import deque
from collections.abc import Mapping
from http.client import responses
from typing import Any, Final
from urllib.parse import unquote, urlsplit

from rankgauge.errors import RetrieverError
from rankgauge.extras import optional
from rankgauge.formats.durations import retry_after
from rankgauge.formats.secrets import masked, register_secrets
from rankgauge.formats.variables import filled
from rankgauge.retrievers.connection import Answered, Connection, TooLongError, UnreadableError
from rankgauge.retrievers.deadline import deadline_of, over

__all__ = ["LONGEST_PAUSE", "MAX_BODY", "RETRIED", "Service", "check_url", "decoded", "with_login"]

MAX_BODY: Final = 10_000_000
"""Bytes of the longest answer that is read unless more are allowed."""

RETRIED: Final = frozenset((408, 425, 429, 500, 502, 503, 504))
"""Statuses after which the same request may succeed."""
LONGEST_PAUSE: Final = 300.0
"""Seconds: a server that asks for a longer pause is taken as one that failed."""
_HEADERS: Final = {"accept": "application/json", "content-type": "application/json", "accept-encoding": "identity"}
_NOT_IN_A_HOST: Final = frozenset(' {}<>"\\^`|\x7f') | frozenset(map(chr, range(32)))
_READ: Final = 1 << 16  # bytes of an answer that are looked at for an error, and characters that it shows
_SHOWN: Final = 300


def check_url(url: str) -> None:
    """Raise an error unless it is a URL that can be asked."""
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname, parts.port
    except ValueError as error:
        raise RetrieverError(f"the URL {masked(url)!r} cannot be read: {error}") from None
    if parts.scheme not in ("http", "https") or not host or _NOT_IN_A_HOST & set(host):
        raise RetrieverError(f"the URL {masked(url)!r} must begin with http:// or https:// and name a host")


def with_login(url: str, headers: Mapping[str, str]) -> dict[str, str]:
    """The headers, with user and password of the URL as Basic authorization; transports send none by themselves."""
    register_secrets(url)
    register_secrets(headers)
    given = {name.lower(): value for name, value in headers.items()}
    parts = urlsplit(url)
    if parts.username is None:
        return given
    if "authorization" in given:
        raise RetrieverError(
            f"the URL {masked(url)!r} holds a user, and there is an Authorization already (from headers or "
            "api_key_env); keep one of them"
        )
    login = f"{unquote(parts.username)}:{unquote(parts.password or '')}"
    return {**given, "authorization": f"Basic {b64encode(login.encode()).decode()}"}


class Service:
    """A server at a URL, which threads may share: a connection serves one call at a time, and is kept for the next."""

    def __init__(
        self,
        url: str,
        *,
        headers: Mapping[str, str] | None = None,
        timeout: float = 30.0,
        advice: Mapping[int, str] | None = None,
        proxies: bool = False,
        max_body: int = MAX_BODY,
        too_long: str = "ask for fewer or smaller results, or raise max_body",
    ) -> None:
        """`url` is what messages show, with references such as `${NAME}`. `timeout` is for a call as a whole, and
        `max_body` the bytes of its answer, decompressed. `advice` is what to say after a status, and `too_long` of an
        answer above `max_body`; `proxies` of the environment are used if wanted, which for a retriever they are not:
        their time would count as its own."""
        address = filled(url)
        check_url(address)
        self.url, self.timeout, self.max_body = url, timeout, max_body
        given = with_login(address, headers or {})
        self._headers = {name: value.encode("latin-1") for name, value in {**_HEADERS, **given}.items()}
        self._advice, self._too_long = dict(advice or {}), too_long
        self._httpx = optional("httpx", "asking a URL", "httpx", "http")
        # The system's certificates, which a company's own servers need.
        self._verify = ssl.create_default_context() if urlsplit(address).scheme == "https" else None
        self._proxy = _proxy(address) if proxies else None
        self._httpcore = optional("httpcore", "asking a URL", "httpx", "http")
        core = self._httpcore
        self._failures = (core.TimeoutException, core.NetworkError, core.ProtocolError, core.ProxyError)
        self._idle: deque[Connection] = deque()  # last in, first out
        weakref.finalize(self, _close, self._idle)

    def send(self, method: str, url: str, content: bytes | None = None) -> bytes:
        """What the server answers; an error for all that is no success."""
        return self.exchange(method, url, content)[0]

    def exchange(self, method: str, url: str, content: bytes | None = None) -> tuple[bytes, Any]:
        """The same with the headers of the answer."""
        status, headers, data = self._exchanged(method, url, content)
        if not 200 <= status < 300:
            raise self._refusal(status, headers, data)
        return data, headers

    def _exchanged(self, method: str, url: str, content: bytes | None) -> Answered:
        try:
            connection = self._idle.pop()
        except IndexError:
            connection = Connection(self._httpx, self._httpcore, self._verify, self._proxy)
        try:
            request = self._httpx.Request(method, url, headers=self._headers, content=content)
            return connection.exchange(request, deadline_of(self.timeout), self.max_body)
        except TooLongError as error:
            raise self._error(f"{error}; {self._too_long}") from None
        except UnreadableError as error:
            raise self._error(str(error)) from None
        except self._failures as error:
            raise self._failure(error) from None
        except self._httpx.InvalidURL as error:
            raise self._error(str(error)) from None
        finally:
            self._idle.append(connection)

    def close(self) -> None:
        """Close the connections; another request opens new ones."""
        _close(self._idle)

    def _error(self, said: str, **how: Any) -> RetrieverError:
        return RetrieverError(masked(f"{self.url}: {said}"), **how)

    def _failure(self, error: Exception) -> RetrieverError:
        """What went wrong on the way, and whether it may go well another time."""
        if isinstance(error, self._httpcore.TimeoutException):
            return self._error(f"no answer within {self.timeout:g} s", retry=not over())
        cause: BaseException | None = error
        while cause is not None:
            if isinstance(cause, ConnectionRefusedError):
                return self._error("the connection is refused; is the server running?", retry=True, sent=False)
            if isinstance(cause, socket.gaierror):
                again = cause.errno == socket.EAI_AGAIN
                return self._error(f"the host is unknown ({cause.strerror})", retry=again, sent=False)
            if isinstance(cause, ssl.SSLError):
                broke = isinstance(cause, ssl.SSLEOFError | ssl.SSLZeroReturnError)
                return self._error(f"no secure connection: {cause}", retry=broke)
            cause = cause.__cause__ or cause.__context__
        if "too long" in str(error):  # of h11
            return self._error("the headers of the answer are too long: more than 100 kB")
        mistaken = isinstance(error, self._httpcore.LocalProtocolError)
        return self._error(f"the connection broke ({type(error).__name__}: {error})", retry=not mistaken)

    def _refusal(self, status: int, headers: Mapping[str, str], data: bytes) -> RetrieverError:
        said = f"status {status} {responses.get(status, '')}".rstrip()
        if 300 <= status < 400:
            where = headers.get("Location")
            return self._error(
                f"{said}, redirected to {where!r}; redirects are not followed: give the URL that it leads to",
                status=status,
            )
        advice = self._advice.get(status, "")
        # Masked before it is cut: half a key would not be found.
        text = masked(" ".join(decoded(data[:_READ]).split()))[:_SHOWN]
        return self._error(
            said + (f"; {advice}" if advice else "") + (f": {text}" if text else ""),
            retry=status in RETRIED,
            retry_after=retry_after(headers.get("Retry-After")) if status in RETRIED else None,
            status=status,
        )


def decoded(data: bytes) -> str:
    """What a server sent, to be shown. Bytes that are no UTF-8 are read one by one, as headers are: a secret in them
    must be found, also where there is a zero between its letters."""
    if data[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE):
        return data.decode("utf-16", "ignore")
    if 3 * data.count(0) > len(data):
        return data.decode("utf-16-be" if data[:1] == b"\0" else "utf-16-le", "ignore")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        return data.decode("utf-8", "ignore") if error.start >= len(data) - 3 else data.decode("latin-1")


def _close(connections: deque[Connection]) -> None:
    while connections:
        connections.pop().close()


def _proxy(url: str) -> str | None:
    """The proxy that the environment names for a URL."""
    from urllib.request import getproxies, proxy_bypass

    parts = urlsplit(url)
    found = None if proxy_bypass(parts.hostname or "") else getproxies().get(parts.scheme)
    return f"http://{found}" if found and "://" not in found else found
