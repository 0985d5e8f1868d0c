"""Files that a library reads by their paths: those that lie on the disk as they are, and copies of all others."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from rankgauge.errors import FormatError
from rankgauge.formats.leftovers import lock_file, remove_leftovers, temporary_prefix
from rankgauge.formats.sources import Source

__all__ = ["local_path"]

_NAME = "rankgauge-part"
_PIECE = 1 << 22  # bytes


@contextmanager
def local_path(source: Source) -> Iterator[str]:
    """Where a file lies; one that is compressed, in memory or on another machine is copied into the folder for
    temporary files while it is needed. Copies of processes that were killed are removed before."""
    plain = source.plain_file()
    if plain is not None:
        yield plain.path
        return
    with _copy(source) as path:
        yield path


@contextmanager
def _copy(source: Source) -> Iterator[str]:
    handle, path = -1, ""
    try:
        with _room(source.name):
            remove_leftovers(Path(tempfile.gettempdir()), _NAME)
            handle, path = tempfile.mkstemp(prefix=temporary_prefix(_NAME))
            lock_file(handle)  # while this process lives, nobody takes it for a leftover
        with source.open() as file:
            while piece := file.read(_PIECE):
                with _room(source.name):
                    _write(handle, piece)
        yield path
    finally:
        if handle >= 0:
            os.close(handle)
        if path:
            with suppress(OSError):
                os.unlink(path)


@contextmanager
def _room(name: str) -> Iterator[None]:
    """Say what to do where the disk cannot hold the copy."""
    try:
        yield
    except OSError as error:
        raise FormatError(
            name,
            [f"it cannot be copied into the folder for temporary files: {error.strerror or error}"],
            hint="name a folder with room in the environment variable TMPDIR",
        ) from None


def _write(handle: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(handle, view) :]
