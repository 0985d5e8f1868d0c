"""Files that are matched while the modules which score them are still being loaded: that takes as long.

Only the compiled module can do so, for it needs neither NumPy nor the interpreter. What it found is taken by the places
that would ask it for the same; if it cannot be taken - another file, other rules, a text that is not plain - they ask.
"""

from __future__ import annotations

import os
import stat
from contextlib import suppress
from threading import Event, Thread
from types import ModuleType
from typing import Any

from rankgauge.native import JUDGMENTS_PART, PADDING, RUN_PART, Rules, native, threads

__all__ = ["begin_matching", "begun_judgments", "begun_match"]

Identity = tuple[int, int, int, int]
_MOST_JUDGMENTS, _MOST_RUN = 64_000_000, 256_000_000  # bytes; what is larger may have to be sorted first
_BOM = b"\xef\xbb\xbf"


class _Matching(Thread):
    def __init__(
        self, module: ModuleType, paths: tuple[str, str], files: tuple[Identity, Identity], rules: Rules
    ) -> None:
        super().__init__(name="rankgauge ahead")
        self.module, self.paths, self.files, self.rules = module, paths, files, rules
        self.read = Event()
        self.judgments: tuple[bytes, Any] | None = None
        self.found: Any = None

    def run(self) -> None:
        try:
            with suppress(Exception):  # no memory, say: then it is done without
                self._match()
        finally:
            self.read.set()

    def _match(self) -> None:
        text = self.module.read_text(*self._place(0))
        columns = text and self.module.read_judgments(text, 0, len(text) - PADDING, threads(), JUDGMENTS_PART)
        if not columns:
            return
        self.judgments = (text, columns)
        self.read.set()
        self.found = self.module.match_run(text, *columns[:6], *self._place(1), *self.rules, threads(), RUN_PART)

    def _place(self, which: int) -> tuple[bytes, int, int]:
        """A path, where the text begins and where it ends."""
        path = self.paths[which]
        with open(path, "rb") as file:
            start = len(_BOM) if file.read(len(_BOM)) == _BOM else 0
        return os.fsencode(path), start, _size(self.files[which])


_begun: _Matching | None = None


def begin_matching(qrels: str, run: str, rules: Rules) -> None:
    """Begin to match a run with judgments, if both are files of a size that is matched in one go."""
    global _begun
    module, judged, listed = native(), _identity(qrels), _identity(run)
    if module is None or judged is None or listed is None or os.name != "posix":
        return
    if _size(judged) <= _MOST_JUDGMENTS and _size(listed) <= _MOST_RUN:
        matching = _Matching(module, (qrels, run), (judged, listed), rules)
        with suppress(RuntimeError):  # no more threads: then it is done without
            matching.start()
            _begun = matching


def begun_judgments(path: str) -> tuple[bytes, Any] | None:
    """Text and columns of the judgments, if they were begun and the file is still the same."""
    if _begun is None or _begun.files[0] != _identity(path):
        return None
    _begun.read.wait()
    return _begun.judgments if _begun.files[0] == _identity(path) else None


def begun_match(text: bytes, run: str, rules: Rules) -> tuple[Any] | None:
    """What the compiled module found in a run for the judgments of a text that `begun_judgments` gave: None where the
    run is not plain. Once."""
    global _begun
    begun = _begun
    if begun is None or begun.judgments is None or begun.judgments[0] is not text:
        return None
    if begun.rules != rules or begun.files[1] != _identity(run):
        return None
    _begun = None
    begun.join()
    return (begun.found,) if begun.files[1] == _identity(run) else None


def _identity(path: str) -> Identity | None:
    """What tells that a file is the same and was not written to; None for what is no ordinary file."""
    try:
        found = os.stat(path)
    except (OSError, ValueError):
        return None
    return (found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns) if stat.S_ISREG(found.st_mode) else None


def _size(file: Identity) -> int:
    return file[2]
