"""A network that can be cut: packets are swallowed, connections stay open, as with a firewall that drops."""

from __future__ import annotations

import socket
import threading
from contextlib import suppress
from typing import Self
from urllib.parse import urlsplit

__all__ = ["Network"]


class Network:
    """Passes on what comes for a server on this machine, while it is not cut."""

    def __init__(self, port: int) -> None:
        self._to, self._open = port, threading.Event()
        self._sockets: list[socket.socket] = []
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = int(self._listener.getsockname()[1])
        self.heal()

    def cut(self) -> None:
        """From now on nothing comes through, the end of a connection neither."""
        self._open.clear()

    def heal(self) -> None:
        """What was sent meanwhile arrives late, as after a pause of the network."""
        self._open.set()

    def through(self, url: str) -> str:
        """The address of a server, by way of this network."""
        return url.replace(f":{urlsplit(url).port}/", f":{self.port}/")

    def __enter__(self) -> Self:
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(self, *exception: object) -> None:
        for one in (self._listener, *self._sockets):
            with suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
            one.close()
        self.heal()

    def _accept(self) -> None:
        while True:
            try:
                near = self._listener.accept()[0]
                self._sockets.append(near)
                threading.Thread(target=self._join, args=(near,), daemon=True).start()
            except OSError:
                return

    def _join(self, near: socket.socket) -> None:
        self._open.wait()
        with suppress(OSError):
            far = socket.create_connection(("127.0.0.1", self._to))
            self._sockets.append(far)
            threading.Thread(target=self._pass_on, args=(far, near), daemon=True).start()
            self._pass_on(near, far)

    def _pass_on(self, source: socket.socket, target: socket.socket) -> None:
        with suppress(OSError):
            while data := source.recv(65536):
                self._open.wait()
                target.sendall(data)
            self._open.wait()
            target.shutdown(socket.SHUT_WR)
