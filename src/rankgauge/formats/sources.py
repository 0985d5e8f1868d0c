"""Bytes from disk or standard input, plain, gzip or zstandard; and files written whole or not at all."""

from __future__ import annotations

import gzip
import hashlib
import io
import os
import sys
import tempfile
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import IO, Any, BinaryIO, cast

from rankgauge.arguments import as_path
from rankgauge.errors import FormatError

__all__ = ["Source", "fields_of", "not_utf8", "unpacked_name", "write_whole"]

_GZIP, _ZSTD, _BOM = b"\x1f\x8b", b"\x28\xb5\x2f\xfd", b"\xef\xbb\xbf"
_ENDINGS = (".gz", ".zst", ".zstd")


class Source:
    """One input: a path, or `-` for standard input. That and pipes, `<(zcat ...)`, are read once and kept."""

    def __init__(self, path: str | os.PathLike[str], *, stdin: BinaryIO | None = None) -> None:
        self.path = as_path("path", path)
        self.name = "standard input" if self.path == "-" else self.path
        self._kept: bytes | None = None
        if self.path == "-":
            self._kept = (stdin or sys.stdin.buffer).read()
        elif not Path(self.path).exists():
            raise FormatError(self.path, ["there is no such file"])
        elif Path(self.path).is_dir():
            raise FormatError(self.path, ["this is a folder, not a file"])
        elif not Path(self.path).is_file():
            with self._raw() as pipe:
                self._kept = pipe.read()

    @property
    def bare_name(self) -> str:
        """The file's name without folder and compression ending."""
        return unpacked_name(self.path)

    @contextmanager
    def _raw(self) -> Iterator[IO[bytes]]:
        if self._kept is not None:
            yield io.BytesIO(self._kept)
            return
        try:
            with open(self.path, "rb") as file:
                yield file
        except OSError as error:
            raise FormatError(self.name, [error.strerror or str(error)]) from None

    @contextmanager
    def open(self) -> Iterator[IO[bytes]]:
        """The decompressed bytes."""
        with self._raw() as file:
            magic = file.read(4)
            file.seek(0)
            damaged: tuple[type[Exception], ...] = (EOFError, gzip.BadGzipFile, zlib.error)
            try:
                if magic[:2] == _GZIP:
                    with gzip.open(file) as unpacked:
                        yield cast(IO[bytes], unpacked)
                elif magic == _ZSTD:
                    zstd = _zstd()
                    damaged = (EOFError, zstd.ZstdError)
                    with zstd.open(file) as unpacked:
                        yield unpacked
                else:
                    yield file
            except damaged as error:
                raise FormatError(self.name, [f"the compressed data is damaged: {error}"]) from None

    def read(self) -> bytes:
        """All decompressed bytes, without a byte-order mark."""
        with self.open() as file:
            return file.read().removeprefix(_BOM)

    def head(self, size: int = 65536) -> bytes:
        """The first decompressed bytes, for detection."""
        with self.open() as file:
            parts, left = [], size
            while left > 0 and (part := file.read(left)):
                parts.append(part)
                left -= len(part)
            return b"".join(parts).removeprefix(_BOM)

    def text(self) -> str:
        """All of it as text; bytes that are not UTF-8 are a fault with their line."""
        data = self.read()
        try:
            return data.decode("utf-8")
        except UnicodeDecodeError as error:
            line = data.count(b"\n", 0, error.start) + 1
            raise FormatError(self.name, [not_utf8(data, f"line {line}: ")]) from None

    def blocks(self, size: int) -> Iterator[bytes]:
        """Blocks of whole lines, about `size` bytes each, without a byte-order mark."""
        with self.open() as file:
            first = True
            while block := file.read(size):
                if first:
                    block, first = block.removeprefix(_BOM), False
                yield block if block.endswith(b"\n") else block + file.readline()

    def sha256(self) -> str:
        """Hash of the file as it lies there."""
        with self._raw() as file:
            return hashlib.file_digest(cast(Any, file), "sha256").hexdigest()


def unpacked_name(path: str | os.PathLike[str]) -> str:
    """A file's name without its folder and without the ending of a compression."""
    name = Path(path)
    return name.stem if name.suffix.lower() in _ENDINGS else name.name


def fields_of(lines: Iterable[bytes]) -> Iterator[tuple[int, list[bytes]]]:
    """(line number, fields) of every line that is neither blank nor a comment. Fields end at ASCII white space."""
    for number, line in enumerate(lines, start=1):
        fields = line.split()
        if fields and not line.startswith(b"#"):
            yield number, fields


def _write_through(target: str, data: bytes) -> None:
    """Write into a pipe or a device, which must not be replaced by a file."""
    try:
        with open(target, "wb") as file:
            file.write(data)
    except OSError as error:
        raise FormatError(target, [f"cannot be written: {error.strerror or error}"]) from None


def _zstd() -> Any:
    """Python's own module from 3.14 on, its backport before."""
    try:
        return import_module("compression.zstd")
    except ImportError:
        return import_module("backports.zstd")


def not_utf8(data: bytes, place: str = "") -> str:
    """What to say of bytes in another encoding, and how to mend them."""
    likely = "UTF-16" if data[:2] in (b"\xff\xfe", b"\xfe\xff") else "GB18030"
    return f"{place}bytes that are not UTF-8; convert the file, for example with: iconv -f {likely} -t UTF-8"


def write_whole(path: str | os.PathLike[str], data: bytes) -> None:
    """Write a file under a temporary name and rename it, so that a reader sees all of it or the old one.

    The ending `.gz` or `.zst` compresses; `-` is standard output.
    """
    target = os.fspath(path)
    if target.lower().endswith(".gz"):
        data = gzip.compress(data, mtime=0)
    elif target.lower().endswith((".zst", ".zstd")):
        data = _zstd().compress(data)
    if target == "-":
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
        return
    target = os.path.realpath(target)  # behind a link it is the file that is replaced, not the link
    if os.path.exists(target) and not os.path.isfile(target) and not os.path.isdir(target):
        _write_through(target, data)
        return
    folder = Path(target).parent
    if not folder.is_dir():
        raise FormatError(target, [f"the folder {str(folder)!r} does not exist; make it first"])
    if Path(target).is_dir():
        raise FormatError(target, ["this is a folder; name a file in it"])
    try:
        handle, temporary = tempfile.mkstemp(dir=folder, prefix=f".{Path(target).name}.")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(data)
            mask = os.umask(0)
            os.umask(mask)
            os.chmod(temporary, 0o666 & ~mask)
            os.replace(temporary, target)
        except BaseException:
            os.unlink(temporary)
            raise
    except OSError as error:
        raise FormatError(target, [f"cannot be written: {error.strerror or error}"]) from None
