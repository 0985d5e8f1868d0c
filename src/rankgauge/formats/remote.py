"""Files by their URLs, s3://bucket/run.parquet: through fsspec, which finds the package of each protocol, or through
the file systems of pyarrow where that package is absent."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import IO, Any
from urllib.parse import unquote, urlsplit

from rankgauge.errors import FormatError, RankgaugeError
from rankgauge.extras import optional
from rankgauge.formats.sources import PlainFile, Source

__all__ = ["RemoteSource", "is_url", "local_file", "remote_files"]

_URL = re.compile(r"[a-zA-Z][a-zA-Z0-9+.-]+://")
_BUFFER = 1 << 22  # bytes


def is_url(path: str) -> bool:
    return _URL.match(path) is not None


def local_file(url: str) -> str:
    """The path of a file on this machine that is given as a URL, file:///data/run.trec; other paths as they are."""
    if not url.lower().startswith("file://"):
        return url
    parts = urlsplit(url)
    if parts.netloc not in ("", "localhost"):
        raise FormatError(url, ["a file on this machine is written with three slashes: file:///folder/name"])
    from urllib.request import url2pathname  # 15 ms with ssl and email, for the few who write file://

    return url2pathname(parts.path)


def remote_files(url: str) -> tuple[str, dict[str, Source]]:
    """The file of a URL, or all that a folder or a pattern stands for, by their paths, in their order; and before
    them the path that was asked for."""
    with _told(url):
        system, path = _system(url)
        if any(mark in path for mark in ("*[" if url.lower().startswith("http") else "*?[")):
            matched = system.glob(path)
            found = {file for one in matched for file in (system.find(one) if system.isdir(one) else [one])}
        elif system.isdir(path):
            found = set(system.find(path))
        else:
            return path, {path: RemoteSource(url, system, path)}
        protocol = url.partition("://")[0]
        named = {file: f"{protocol}://{file.removeprefix(f'{protocol}://').lstrip('/')}" for file in map(str, found)}
        return path, {file: RemoteSource(named[file], system, file) for file in sorted(named)}


class RemoteSource(Source):
    """A file on another machine, read from there each time."""

    def __init__(self, url: str, system: Any, place: str) -> None:
        self.path = self.name = url
        self._place, self._system = place, system
        self._kept, self.done = None, 0
        with _told(url):
            if not system.isfile(place):
                raise FormatError(url, ["there is no such file"])
            self._length = int(system.size(place) or 0)

    @contextmanager
    def _raw(self) -> Iterator[IO[bytes]]:
        with _told(self.name):
            file = self._system.open(self._place, "rb")
        with io.BufferedReader(_Remote(file, self.name), _BUFFER) as buffered:
            yield buffered

    @property
    def size(self) -> int:
        return self._length

    def plain_file(self) -> PlainFile | None:
        return None


class _Remote(io.RawIOBase):
    """A file of fsspec whose faults name it."""

    def __init__(self, file: Any, name: str) -> None:
        self._file, self._name = file, name

    def readinto(self, buffer: Any) -> int:
        with _told(self._name):
            data = self._file.read(len(buffer))
        buffer[: len(data)] = data
        return len(data)

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        with _told(self._name):
            return int(self._file.seek(offset, whence))

    def tell(self) -> int:
        return int(self._file.tell())

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def close(self) -> None:
        if not self.closed:
            self._file.close()
        super().close()


def _system(url: str) -> tuple[Any, str]:
    """The file system of a URL, and the path in it."""
    what = f"reading {url.partition('://')[0]}:// paths"
    optional("fsspec", what, "fsspec", "datasets")
    core: Any = optional("fsspec.core", what, "fsspec", "datasets")
    try:
        system, path = core.url_to_fs(url)
    except ImportError as error:
        try:
            own, path = import_module("pyarrow.fs").FileSystem.from_uri(url)
            wrapped: Any = import_module("fsspec.implementations.arrow").ArrowFSWrapper(own)
        except (ImportError, ValueError, OSError):
            raise FormatError(url, [f"its protocol needs a further package: {error}"]) from None
        return wrapped, unquote(path)
    return system, str(path)


@contextmanager
def _told(name: str) -> Iterator[None]:
    """What a file system raises, of any kind, as a fault of this file."""
    try:
        yield
    except RankgaugeError:
        raise
    except Exception as error:
        said = str(error).strip().split("\n")[0] or type(error).__name__
        raise FormatError(name, [f"it cannot be read: {said}"]) from None
