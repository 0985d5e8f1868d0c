"""Journal: finished answers on disk, one JSON line each, so that an interrupted retrieval goes on where it was; and the
folder that answers are kept in, one journal for each system and what its answers depend on."""

from __future__ import annotations

import errno
import hashlib
import json
import os
import re
import threading
import weakref
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from rankgauge.errors import RetrieverError
from rankgauge.formats.leftovers import lock_file
from rankgauge.formats.private import PRIVATE, make_folders

__all__ = ["Journal", "folder_held", "journals_in", "open_journal"]

_encode: Final = json.JSONEncoder(allow_nan=False, separators=(",", ":")).encode
_HEADER: Final = b'{"rankgauge journal": 1}\n'
_JOURNAL: Final = re.compile(r".*-[0-9a-f]{16}\.jsonl")
_LOCK: Final = "lock"


class Journal:
    """Answers under the content of what was asked: the query's text, k, and `key`.

    `key` says what else decides about an answer: the configuration of the system and the version of its corpus. One
    file may hold answers of many keys. A line is handed to the operating system as soon as its answer is there, so it
    survives the end of this process however that comes; `sync` makes it survive a power cut. A last line that was cut
    short is ignored. One process at a time may use a file.
    """

    def __init__(self, path: str | os.PathLike[str], key: Mapping[str, Any]) -> None:
        self.path = os.fspath(path)
        try:
            self._base = hashlib.sha256(json.dumps(key, sort_keys=True, allow_nan=False).encode())
        except (TypeError, ValueError) as error:
            raise RetrieverError(
                f"the key of a journal may hold texts, numbers, lists and dictionaries only: {error}"
            ) from None
        self._known: dict[str, bytes] = {}
        self._mutex = threading.Lock()
        self._dirty = False
        self.damaged = 0
        """Lines that could not be read; their queries are asked again."""
        try:
            self._file = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_APPEND | getattr(os, "O_BINARY", 0), PRIVATE)
        except OSError as error:
            raise RetrieverError(f"the journal {self.path} cannot be opened: {error.strerror}") from None
        self._closing = weakref.finalize(self, os.close, self._file)
        try:
            if not lock_file(self._file):
                raise RetrieverError(
                    f"the journal {self.path} is in use by another process; wait for its end or name another file"
                )
            self._read()
        except BaseException:
            self.close()
            raise

    def get(self, text: str, k: int | None) -> dict[str, Any] | None:
        """What was recorded for a query, if anything."""
        line = self._known.get(self._digest(text, k))
        found: dict[str, Any] | None = None if line is None else json.loads(line)
        return found

    def add(self, text: str, k: int | None, record: Mapping[str, Any]) -> None:
        """Write one answer. A record with an `error` is kept for people to read and not given back."""
        digest = self._digest(text, k)
        line = _encode({"key": digest, "text": text, "k": k, **record}).encode() + b"\n"
        with self._mutex:
            self._write(line)
            if not record.get("error"):
                self._known[digest] = line

    def sync(self) -> None:
        """Wait until what was written is on the disk."""
        if self._dirty:
            self._dirty = False
            try:
                os.fsync(self._file)
            except OSError as error:
                raise RetrieverError(f"the journal {self.path} cannot be written: {error.strerror}") from None

    def close(self) -> None:
        """Give the file free for others."""
        if self._closing.alive:
            try:
                self.sync()
            finally:
                self._closing()

    def __len__(self) -> int:
        """Number of answers, of all keys."""
        return len(self._known)

    def __enter__(self) -> Journal:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Journal({self.path!r}: {len(self)} answers)"

    def _digest(self, text: str, k: int | None) -> str:
        digest = self._base.copy()
        digest.update(f"\n{k}\n{text}".encode("utf-8", "surrogatepass"))
        return digest.hexdigest()[:32]

    def _write(self, data: bytes) -> None:
        try:
            while data:
                data = data[os.write(self._file, data) :]
        except OSError as error:
            raise RetrieverError(f"the journal {self.path} cannot be written: {error.strerror}") from None
        self._dirty = True

    def _read(self) -> None:
        """Load the lines; what is left of one that was cut short goes away, so that the next begins a line."""
        os.lseek(self._file, 0, os.SEEK_SET)
        with open(self._file, "rb", closefd=False) as file:
            data = file.read()
        whole = data.rfind(b"\n") + 1
        if data[whole:] and (data.startswith(_HEADER) or _HEADER.startswith(data)):
            os.ftruncate(self._file, whole)
            data = data[:whole]
        if not data:
            self._write(_HEADER)
            return
        if not data.startswith(_HEADER):
            raise RetrieverError(
                f"{self.path} is no journal of rankgauge, or its beginning is damaged, and is left as it is; "
                "name another file, or run the plan with `fresh=True`, which forgets the answers kept for it"
            )
        for line in data[len(_HEADER) :].splitlines():
            try:
                record = json.loads(line)
                if not record.get("error"):
                    self._known[record["key"]] = line
            except (ValueError, KeyError, AttributeError):
                self.damaged += 1


def open_journal(folder: str | os.PathLike[str], name: str, key: Mapping[str, Any]) -> Journal:
    """The journal of what `key` describes, in the folder that answers are kept in."""
    digest = hashlib.sha256(json.dumps(key, sort_keys=True, default=str).encode()).hexdigest()[:16]
    _make(Path(folder))
    return Journal(Path(folder) / f"{_plain(name)}-{digest}.jsonl", key)


def _plain(name: str) -> str:
    return "".join(c if c.isalnum() or c in "-_." else "_" for c in name)[:60]


def _make(folder: Path) -> None:
    try:
        make_folders(folder)
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
        handle = os.open(folder / _LOCK, os.O_RDWR | os.O_CREAT, PRIVATE)
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


def journals_in(folder: Path, name: str | None = None) -> list[Path]:
    """The journals that a folder holds, or those of one system, told by their names; other files of the folder are not
    among them."""
    found = [path for path in sorted(folder.glob("*.jsonl")) if _JOURNAL.fullmatch(path.name)]
    return found if name is None else [path for path in found if path.name[:-23] == _plain(name)]
