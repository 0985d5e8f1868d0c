"""The end of the program, where systems left threads or processes that Python would wait for, if need be for ever."""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Collection
from contextlib import suppress
from typing import Any

__all__ = ["end_without", "threads"]

_GRACE = 5.0
"""Seconds that they have to end by themselves."""
_LOOK = 0.05


def threads() -> set[threading.Thread]:
    """All that are there: pools are waited for too, although their threads are daemons where a daemon began them."""
    return {*threading.enumerate()} - {threading.main_thread()}


def end_without(before: Collection[threading.Thread], code: Any) -> None:
    """See to it that the program ends with the status that was decided, whatever the command has left behind beside
    the threads from before. Nothing happens until Python begins to end, for this need not be the whole program."""
    if not threads() - set(before) and not _children():
        return
    status = code if isinstance(code, int) else int(code is not None)
    ending = threading.Event()
    # Pools of threads are waited for before the main thread counts as ended, by a function that is registered so.
    register = getattr(threading, "_register_atexit", None)
    if register is not None:
        register(ending.set)
    threading.Thread(target=_watch, args=(status, ending), daemon=True, name="rankgauge end").start()


def _watch(status: int, ending: threading.Event) -> None:
    while not ending.wait(_LOOK) and threading.main_thread().is_alive():
        pass
    time.sleep(_GRACE)
    with suppress(OSError, ValueError, AttributeError):
        print("rankgauge: threads of the systems are still busy; the program ends without them", file=sys.stderr)
        sys.stderr.flush()
    for child in _children():
        with suppress(OSError, ValueError):
            child.kill()
    os._exit(status)


def _children() -> list[Any]:
    """Processes that were begun by Python's own means."""
    module = sys.modules.get("multiprocessing")
    return [] if module is None else module.active_children()
