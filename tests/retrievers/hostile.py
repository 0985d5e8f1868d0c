"""Servers that send without end: raw bytes over a loopback connection, each path another way to take all there is."""

from __future__ import annotations

import gzip
import json
import socket
import threading
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager

Send = Callable[[bytes], None]
OK = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\n"
CHUNKED = OK + b"Transfer-Encoding: chunked\r\n\r\n"
BLOCK = b"x" * 65536
PAUSE = 0.02


def _sized(body: bytes, extra: bytes = b"") -> bytes:
    return OK + extra + f"Content-Length: {len(body)}\r\n\r\n".encode() + body


def _forever(send: Send, begin: bytes, block: bytes) -> None:
    send(begin)
    while True:
        send(block)


def _slowly(send: Send, begin: bytes, stopped: threading.Event) -> None:
    send(begin)
    while not stopped.wait(PAUSE):
        send(b"x")


def _bomb() -> bytes:
    """100 kB of gzip that hold 100 MB."""
    return gzip.compress(b" " * 100_000_000, 1)


def _empty_blocks() -> tuple[bytes, bytes]:
    """The header of a zlib stream, and a block of it that holds nothing."""
    packer = zlib.compressobj()
    start = packer.compress(b"[") + packer.flush(zlib.Z_FULL_FLUSH)
    return start, b"\x00\x00\x00\xff\xff" * 10_000


def answers(stopped: threading.Event) -> dict[str, Callable[[Send], None]]:
    zipped = b"Content-Encoding: gzip\r\n"
    start, nothing = _empty_blocks()
    bomb = _bomb()
    ids = json.dumps({"hits": [{"id": str(n)} for n in range(110_000)]}).encode()
    return {
        "endless": lambda send: _forever(send, OK + b"\r\n", BLOCK),
        "chunks": lambda send: _forever(send, CHUNKED, b"10000\r\n" + BLOCK + b"\r\n"),
        "large": lambda send: _forever(send, OK + b"Content-Length: 100000000\r\n\r\n", BLOCK),
        "slow-body": lambda send: _slowly(send, OK + b"\r\n", stopped),
        "given-up": lambda send: _slowly(send, OK + b"\r\n", stopped),
        "slow-headers": lambda send: _slowly(send, OK + b"X: ", stopped),
        "slow-chunks": lambda send: _slowly(send, CHUNKED + b"ffff\r\n", stopped),
        "headers": lambda send: _forever(send, OK, b"X-Header: " + BLOCK[:8000] + b"\r\n"),
        "continue": lambda send: _forever(send, b"", b"HTTP/1.1 100 Continue\r\n\r\n" * 1000),
        "trailers": lambda send: _forever(send, CHUNKED + b"2\r\n[]\r\n0\r\n", b"X-Trailer: " + BLOCK + b"\r\n"),
        "chunk-extension": lambda send: _forever(send, CHUNKED + b"2;x=", BLOCK),
        "bomb": lambda send: send(_sized(bomb, zipped)),
        "empty-blocks": lambda send: _forever(send, OK + b"Content-Encoding: deflate\r\n\r\n" + start, nothing),
        "brotli": lambda send: send(_sized(b"x", b"Content-Encoding: br\r\n")),
        "error-body": lambda send: _forever(send, b"HTTP/1.1 404 Not Found\r\n\r\n", BLOCK),
        "redirect": lambda send: send(
            b"HTTP/1.1 302 Found\r\nConnection: close\r\nLocation: /redirect\r\nContent-Length: 0\r\n\r\n"
        ),
        "nested": lambda send: send(_sized(b"[" * 5_000_000)),
        "long-id": lambda send: send(_sized(json.dumps({"hits": [{"id": "x" * 1_000_000}]}).encode())),
        "many-ids": lambda send: send(_sized(ids)),
        "plain": lambda send: send(_sized(gzip.compress(b'{"hits": [{"id": "d1"}]}'), zipped)),
    }


@contextmanager
def hostile() -> Iterator[str]:
    """The URL of a server that answers /NAME in the way of that name."""
    stopped = threading.Event()
    known = answers(stopped)
    listener = socket.create_server(("127.0.0.1", 0))

    def serve(client: socket.socket) -> None:
        with client:
            try:
                asked = client.recv(65536)
                while not asked.endswith(b"}"):  # the body: what is left unread would break the connection
                    asked += client.recv(65536)
                known[asked.split()[1].decode().split("/")[1]](client.sendall)
                client.recv(1)  # until the other end closes
            except OSError:
                pass

    def accept() -> None:
        while not stopped.is_set():
            try:
                client, _ = listener.accept()
            except OSError:
                return
            threading.Thread(target=serve, args=(client,), daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    finally:
        stopped.set()
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()
