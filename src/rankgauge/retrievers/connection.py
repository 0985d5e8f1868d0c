"""Connection: one exchange with a server at a time, bounded in time and in bytes whatever the server sends.

httpx limits each wait and not their sum, so that a byte a second never ends, and reads an answer of any length. Its
lower half, httpcore, takes a network backend: the one here gives every wait no more than what is left of the call.
Headers and what stands around chunks are limited to 100 kB by httpcore itself.
"""

from __future__ import annotations

import ssl
import time
import zlib
from collections.abc import Iterable, Iterator
from typing import Any, Final, NamedTuple

from rankgauge.errors import RetrieverError
from rankgauge.formats.secrets import masked
from rankgauge.retrievers.names import addresses_of

__all__ = ["Answered", "Connection", "TooLongError", "UnreadableError"]

_KEPT: Final = 5.0  # seconds for which an idle connection is taken again
_PIECE: Final = 1 << 14  # bytes written at a time, so that a server that reads slowly meets the deadline
_REFUSAL: Final = 1 << 16  # bytes that are read of an answer that is no success
_ZIPPED: Final = {"gzip", "x-gzip", "deflate"}
_EITHER_HEADER: Final = 32 + zlib.MAX_WBITS


class TooLongError(RetrieverError):
    """The answer is longer than it may be."""


class UnreadableError(RetrieverError):
    """The answer is compressed in a way that was not asked for, or is damaged."""


class Answered(NamedTuple):
    """What a server answered."""

    status: int
    headers: Any
    data: bytes


class Connection:
    """A connection that is kept for the next exchange. One thread at a time may use it."""

    def __init__(self, httpx: Any, httpcore: Any, verify: ssl.SSLContext | None, proxy: str | None) -> None:
        self._httpx, self._httpcore = httpx, httpcore
        backend = _Backend(httpcore)
        self._clock = backend.clock
        common = {"ssl_context": verify, "max_connections": 1, "keepalive_expiry": _KEPT, "network_backend": backend}
        if proxy is None:
            self._pool = httpcore.ConnectionPool(**common)
            return
        by = httpx.Proxy(proxy)
        place = self._address(by.url)
        if by.url.scheme in ("http", "https"):
            self._pool = httpcore.HTTPProxy(place, proxy_auth=by.raw_auth, proxy_headers=by.headers.raw, **common)
        else:
            self._pool = httpcore.SOCKSProxy(place, proxy_auth=by.raw_auth, **common)

    def exchange(self, request: Any, deadline: float, most: int) -> Answered:
        """Send a request of httpx; errors are those of httpcore, and the two of this module.

        A success of more than `most` bytes, decompressed, is an error; of anything else the beginning is read.
        """
        self._clock.deadline = deadline
        sent = self._httpcore.Request(
            request.method,
            self._address(request.url),
            headers=request.headers.raw,
            content=request.stream,
            extensions={"timeout": dict.fromkeys(("connect", "read", "write", "pool"), self._clock.left())},
        )
        response = self._pool.handle_request(sent)
        headers = self._httpx.Headers(response.headers)
        try:
            if 200 <= response.status < 300:
                _check_length(headers, most)
                return Answered(response.status, headers, _joined(_decoded(response.stream, headers, most), most))
            try:
                return Answered(response.status, headers, _beginning(_decoded(response.stream, headers, _REFUSAL)))
            except UnreadableError:
                return Answered(response.status, headers, b"")
        finally:
            response.close()  # an answer that was not read to its end closes the connection
            if any(map(_left_over, self._pool.connections)):
                self._pool.close()

    def close(self) -> None:
        self._pool.close()

    def _address(self, url: Any) -> Any:
        return self._httpcore.URL(scheme=url.raw_scheme, host=url.raw_host, port=url.port, target=url.raw_path)


def _left_over(connection: Any) -> bool:
    """Whether more was read than the answer: the next request would get it as its own. What lies unread in the socket
    is seen by httpcore itself."""
    while connection is not None:
        if state := getattr(connection, "_h11_state", None):
            return bool(state.trailing_data[0])
        connection = getattr(connection, "_connection", None)
    return False


def _check_length(headers: Any, most: int) -> None:
    announced = headers.get("Content-Length", "")
    if announced.isdecimal() and int(announced) > most:
        raise TooLongError(f"the answer has {_size(int(announced))}, more than {_size(most)}")


def _joined(parts: Iterable[bytes], most: int) -> bytes:
    held, size = [], 0
    for part in parts:
        size += len(part)
        if size > most:
            raise TooLongError(f"the answer has more than {_size(most)}")
        held.append(part)
    return b"".join(held)


def _beginning(parts: Iterable[bytes]) -> bytes:
    held, size = [], 0
    for part in parts:
        held.append(part)
        size += len(part)
        if size >= _REFUSAL:
            break
    return b"".join(held)


def _decoded(parts: Iterable[bytes], headers: Any, most: int) -> Iterator[bytes]:
    """The parts of a body decompressed, never more of one than one byte beyond `most`."""
    encoding = headers.get("Content-Encoding", "").strip().lower()
    if encoding in ("", "identity"):
        yield from parts
        return
    if encoding not in _ZIPPED:
        told = masked(encoding)[:50]
        raise UnreadableError(f"the answer is compressed as {told!r}, which was not asked for and is not read")
    unpack, size = zlib.decompressobj(_EITHER_HEADER), 0
    for part in parts:
        size += len(part)
        if size > most:  # compressed data may make nothing for ever
            raise TooLongError(f"the answer has more than {_size(most)}")
        try:
            made = unpack.decompress(part, most + 1)
        except zlib.error as error:
            raise UnreadableError(f"the compressed answer is damaged: {error}") from None
        if made:
            yield made


def _size(count: int) -> str:
    return f"{count / 1e6:.3g} MB" if count >= 100_000 else f"{count} bytes"


class _Clock:
    """When the exchange under way has to end."""

    deadline = 0.0

    def left(self) -> float:
        return max(self.deadline - time.monotonic(), 0.001)

    def shorter(self, timeout: float | None) -> float:
        left = self.left()
        return left if timeout is None else min(timeout, left)


class _Backend:
    """httpcore's own way to connect, each wait no longer than what is left."""

    def __init__(self, httpcore: Any) -> None:
        self.clock = _Clock()
        self._httpcore, self._inner = httpcore, httpcore.SyncBackend()

    def connect_tcp(self, host: str, port: int, timeout: float | None = None, **options: Any) -> _Stream:
        core, refused = self._httpcore, None
        for address in self._addresses(host, port):
            try:
                stream = self._inner.connect_tcp(address, port, timeout=self.clock.shorter(timeout), **options)
                return _Stream(stream, self.clock, core)
            except core.ConnectError as error:
                refused = error
        raise refused or core.ConnectError(f"{host} has no address")

    def _addresses(self, host: str, port: int) -> list[str]:
        try:
            return addresses_of(host, port, self.clock.deadline)
        except TimeoutError as error:
            raise self._httpcore.ConnectTimeout(str(error)) from error
        except (OSError, UnicodeError) as error:
            raise self._httpcore.ConnectError(str(error)) from error

    def sleep(self, seconds: float) -> None:
        self._inner.sleep(self.clock.shorter(seconds))


class _Stream:
    """A stream of httpcore, each wait no longer than what is left.

    What is written waits for the first read, so that head and body of a request go out together: threads by the dozen
    pay for every system call once more when they wait for one another.
    """

    def __init__(self, inner: Any, clock: _Clock, httpcore: Any) -> None:
        self._inner, self._clock, self._httpcore = inner, clock, httpcore
        self._waiting = b""

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        if self._waiting:
            self._send(timeout)
        if time.monotonic() >= self._clock.deadline:  # where there is always something to read, no wait ends
            raise self._httpcore.ReadTimeout("the time of the call is over")
        read: bytes = self._inner.read(max_bytes, self._clock.shorter(timeout))
        return read

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self._waiting += buffer
        if len(self._waiting) > _PIECE:
            self._send(timeout)

    def _send(self, timeout: float | None) -> None:
        data, self._waiting = self._waiting, b""
        try:
            for start in range(0, len(data), _PIECE):
                self._inner.write(data[start : start + _PIECE], self._clock.shorter(timeout))
        except self._httpcore.WriteError:
            pass  # a server may refuse what it has not read; reading tells what it said, or that it is gone

    def close(self) -> None:
        self._inner.close()

    def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> _Stream:
        secured = self._inner.start_tls(ssl_context, server_hostname, self._clock.shorter(timeout))
        return _Stream(secured, self._clock, self._httpcore)

    def get_extra_info(self, info: str) -> Any:
        return self._inner.get_extra_info(info)
