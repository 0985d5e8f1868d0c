"""Files that are for their owner alone: answers, histories and what waits to be stored, in a folder `.rankgauge`."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

__all__ = ["PRIVATE", "begin_private", "is_private", "make_folders"]

_FOLDER = ".rankgauge"
PRIVATE = 0o600
"""The mode of a private file."""


def is_private(path: str | os.PathLike[str]) -> bool:
    """Whether a path lies in such a folder, or is one."""
    return _FOLDER in Path(os.path.abspath(path)).parts


def begin_private(path: Path) -> None:
    """Begin an empty file in a private folder, for a library that would make it readable to all. What SQLite puts
    beside a database has the database's mode. Where it cannot be made, the library says so."""
    if is_private(path):
        with suppress(OSError):
            os.close(os.open(path, os.O_CREAT | os.O_EXCL, PRIVATE))


def make_folders(path: Path) -> None:
    """Make a folder and those above it that are not there; a private one can be entered by its owner alone."""
    for folder in (*reversed(path.parents), path):
        if not folder.is_dir():
            folder.mkdir(mode=0o700 if is_private(folder) else 0o777, exist_ok=True)
