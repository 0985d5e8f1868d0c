"""The folder that answers are kept in: one journal for each system and what its answers depend on."""

from __future__ import annotations

import errno
import hashlib
import json
import os
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from rankgauge.errors import RetrieverError
from rankgauge.retrievers.journal import Journal, lock_file

__all__ = ["folder_held", "journals_in", "open_journal"]

_JOURNAL = re.compile(r".*-[0-9a-f]{16}\.jsonl")
_LOCK = "lock"


def open_journal(folder: str | os.PathLike[str], name: str, key: Mapping[str, Any]) -> Journal:
    """The journal of what `key` describes, in the folder that answers are kept in."""
    digest = hashlib.sha256(json.dumps(key, sort_keys=True, default=str).encode()).hexdigest()[:16]
    plain = "".join(c if c.isalnum() or c in "-_." else "_" for c in name)[:60]
    _make(Path(folder))
    return Journal(Path(folder) / f"{plain}-{digest}.jsonl", key)


def _make(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if not os.access(folder, os.W_OK | os.X_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
    except OSError as error:
        raise RetrieverError(
            f"answers cannot be kept in {str(folder)!r}: {error.strerror}; name another folder with cache, "
            "or keep none: cache = false in a plan, cache=None in Python"
        ) from None


@contextmanager
def folder_held(folder: Path) -> Iterator[None]:
    """Only one start of a plan at a time keeps its answers in a folder: another is refused before it asks anything."""
    _make(folder)
    try:
        handle = os.open(folder / _LOCK, os.O_RDWR | os.O_CREAT, 0o666)
    except OSError as error:
        raise RetrieverError(f"{folder / _LOCK} cannot be opened: {error.strerror}") from None
    try:
        if not lock_file(handle):
            raise RetrieverError(
                f"another rankgauge run keeps its answers in {str(folder)!r} right now; wait for its end, or give this "
                'plan a folder of its own: cache = "..." under [calls]'
            )
        yield
    finally:
        os.close(handle)  # which gives the lock free too


def journals_in(folder: Path) -> list[Path]:
    """The journals that a folder holds, told by their names; other files of the folder are not among them."""
    return [path for path in sorted(folder.glob("*.jsonl")) if _JOURNAL.fullmatch(path.name)]
