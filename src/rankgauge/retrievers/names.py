"""Addresses of hosts, found in bounded time: `getaddrinfo` takes no time limit and cannot be ended."""

from __future__ import annotations

import socket
import threading
import time
from typing import Final

__all__ = ["addresses_of"]

_lock: Final = threading.Lock()
_under_way: Final[dict[tuple[str, int], _Lookup]] = {}


class _Lookup(threading.Thread):
    """One question for a host. A daemon, so that one that hangs does not keep the program from ending."""

    def __init__(self, host: str, port: int) -> None:
        super().__init__(daemon=True, name="rankgauge")
        self.host, self.port = host, port
        self.found: list[str] = []
        self.error: OSError | UnicodeError | None = None

    def run(self) -> None:
        try:
            infos = socket.getaddrinfo(self.host, self.port, type=socket.SOCK_STREAM)
            self.found = list(dict.fromkeys(str(info[4][0]) for info in infos))
        except (OSError, UnicodeError) as error:
            self.error = error
        finally:
            with _lock:
                _under_way.pop((self.host, self.port), None)


def addresses_of(host: str, port: int, deadline: float) -> list[str]:
    """The addresses of a host, by a moment of `time.monotonic`; a `TimeoutError` where there is no answer by then.

    Who asks for a host that is being asked for already waits for the same answer: a resolver that hangs takes one
    thread for each host, however many calls are made.
    """
    if _is_address(host):
        return [host]
    with _lock:
        lookup = _under_way.get((host, port))
        if lookup is None:
            lookup = _under_way[host, port] = _Lookup(host, port)
            lookup.start()
    lookup.join(max(deadline - time.monotonic(), 0.001))
    if lookup.is_alive():
        raise TimeoutError(f"the name {host} was not resolved in time")
    if lookup.error is not None:
        raise lookup.error
    return lookup.found


def _is_address(host: str) -> bool:
    for family in (socket.AF_INET, socket.AF_INET6):
        try:
            socket.inet_pton(family, host)
        except (OSError, ValueError):
            continue
        return True
    return False
