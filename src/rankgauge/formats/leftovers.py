"""Temporary files of processes that were killed while they wrote: found by their names, and removed unless a living
process has them."""

from __future__ import annotations

import os
import re
import sys
import time
from contextlib import suppress
from pathlib import Path

__all__ = ["lock_file", "remove_leftovers", "temporary_prefix"]

_NAME = re.compile(r"\.(?P<target>.+)\.[a-z0-9_]{8}")
_FRESH = 60.0
"""Seconds. A file that is younger may belong to a process that has not locked it yet."""


def temporary_prefix(name: str) -> str:
    """What the temporary file of a target's name begins with; eight letters follow."""
    return f".{name}."


def lock_file(handle: int) -> bool:
    """Take an open file for this process alone, until it is closed or the process ends in any way; False when another
    one has it."""
    try:
        if sys.platform == "win32":
            import msvcrt

            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def remove_leftovers(folder: Path, name: str | None = None) -> None:
    """Remove what killed processes left of writing a file of this name, or of any, in a folder of ours. What cannot be
    looked at stays."""
    with suppress(OSError):
        for entry in os.scandir(folder):
            found = _NAME.fullmatch(entry.name)
            if found is None or (name is not None and found["target"] != name):
                continue
            with suppress(OSError):
                if entry.is_file(follow_symlinks=False) and time.time() - entry.stat().st_mtime > _FRESH:
                    _remove_unused(entry.path)


def _remove_unused(path: str) -> None:
    handle = os.open(path, os.O_RDWR)
    try:
        if lock_file(handle):
            os.unlink(path)
    finally:
        os.close(handle)
