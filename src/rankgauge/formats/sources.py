"""Bytes from disk or standard input, plain, gzip or zstandard; and files written whole or not at all."""

from __future__ import annotations

import gzip
import io
import os
import sys
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from importlib import import_module
from pathlib import Path
from typing import IO, Any, BinaryIO, NamedTuple, cast

from rankgauge.arguments import as_path
from rankgauge.errors import Fault, FormatError
from rankgauge.formats.archives import BEGINNING, foreign_kind
from rankgauge.formats.leftovers import lock_file, remove_leftovers, temporary_prefix
from rankgauge.formats.limits import FILES, PARTS, Limits, written
from rankgauge.formats.private import is_private

__all__ = [
    "FITS_MODULE",
    "LARGE_PACKED",
    "LARGE_TEXT",
    "PlainFile",
    "Source",
    "fields_of",
    "not_utf8",
    "unpacked_name",
    "write_whole",
]

_GZIP, _ZSTD, _BOM = b"\x1f\x8b", b"\x28\xb5\x2f\xfd", b"\xef\xbb\xbf"
_ENDINGS = (".gz", ".zst", ".zstd")
_PIECE = 1 << 20  # bytes
_LONGEST_LINE = 1 << 20  # bytes beyond a block
LARGE_TEXT, LARGE_PACKED = 256 * 10**6, 64 * 10**6
"""Bytes beyond which rows are not held in memory all at once: of text, and of compressed files. They take up to ten
times as much there."""
FITS_MODULE = 160 * 10**6
"""The same of packed columns in no order, where the compiled module matches them: they take about six times as much."""


class PlainFile(NamedTuple):
    """A file whose bytes are the text itself, from `start` on."""

    path: str
    start: int
    size: int


class Source:
    """One input: a path, or `-` for standard input. That and pipes, `<(zcat ...)`, are read once and kept, within the
    limits."""

    def __init__(self, path: str | os.PathLike[str], *, stdin: BinaryIO | None = None, limits: Limits = FILES) -> None:
        self.path = as_path("path", path)
        self.name = "standard input" if self.path == "-" else self.path
        self._kept: bytes | None = None
        self.done = 0
        """How many of the bytes that lie there `blocks` has read."""
        if self.path == "-":
            self._kept = self._all_of(stdin or sys.stdin.buffer, limits, None)
        elif not Path(self.path).exists():
            raise FormatError(self.path, ["there is no such file"])
        elif Path(self.path).is_dir():
            raise FormatError(self.path, ["this is a folder, not a file"])
        elif not Path(self.path).is_file():
            with self._raw() as pipe:
                self._kept = self._all_of(pipe, limits, None)

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
            begin = file.read(BEGINNING)
            file.seek(0)
            self._refuse_foreign(begin)
            damaged: tuple[type[Exception], ...] = (EOFError, gzip.BadGzipFile, zlib.error)
            try:
                if begin[:2] == _GZIP:
                    with gzip.open(file) as unpacked:
                        yield cast(IO[bytes], self._unpacking(cast(IO[bytes], unpacked), file))
                elif begin[:4] == _ZSTD:
                    zstd = _zstd()
                    damaged = (EOFError, zstd.ZstdError)
                    with zstd.open(file) as unpacked:
                        yield cast(IO[bytes], self._unpacking(unpacked, file))
                else:
                    yield file
            except damaged as error:
                raise FormatError(self.name, [f"the compressed data is damaged: {error}"]) from None

    def _unpacking(self, unpacked: IO[bytes], packed: IO[bytes]) -> _Unpacking:
        self._refuse_foreign(cast(Any, unpacked).peek(BEGINNING))
        return _Unpacking(unpacked, packed, self.name)

    def _refuse_foreign(self, begin: bytes) -> None:
        if foreign := foreign_kind(begin):
            import shlex

            raise FormatError(self.name, [foreign.replace("FILE", shlex.quote(self.path))])

    def _all_of(self, file: IO[bytes], limits: Limits, packed: int | None) -> bytes:
        """All that is left of it, if that is no more than the limit allows."""
        held, most, size = io.BytesIO(), limits.of(packed), 0
        while piece := file.read(_PIECE):
            size += held.write(piece)
            if size > most:
                raise FormatError(self.name, [limits.exceeded(packed)])
            if size == len(piece) == _PIECE and not any(piece):
                raise FormatError(self.name, ["it holds nothing but zero bytes"])
        return held.getvalue()

    def read(self, limits: Limits = FILES) -> bytes:
        """All decompressed bytes, without a byte-order mark. A plain file may be of any size, unless it is a record."""
        with self.open() as file:
            if isinstance(file, _Unpacking):
                data = self._all_of(file, limits, self.size)
            else:
                data = file.read() if limits is FILES else self._all_of(file, limits, None)
        return data.removeprefix(_BOM)

    @property
    def size(self) -> int:
        """Bytes as they lie there."""
        return len(self._kept) if self._kept is not None else os.path.getsize(self.path)

    @property
    def held(self) -> bool:
        """Whether it is in memory, as what can be read only once is."""
        return self._kept is not None

    @property
    def is_large(self) -> bool:
        """Whether rows of this text had better not be held in memory all at once."""
        with self.open() as file:
            return self.size > (LARGE_PACKED if isinstance(file, _Unpacking) else LARGE_TEXT)

    def head(self, size: int = 65536) -> bytes:
        """The first decompressed bytes, for detection."""
        with self.open() as file:
            parts, left = [], size
            while left > 0 and (part := file.read(left)):
                parts.append(part)
                left -= len(part)
            return b"".join(parts).removeprefix(_BOM)

    def plain_file(self) -> PlainFile | None:
        """Where the text lies on the disk, for those who read it themselves; None for pipes and compressed files."""
        if self._kept is not None or os.name != "posix":
            return None
        with self._raw() as file:
            begin = file.read(BEGINNING)
            self._refuse_foreign(begin)
            if begin[:2] == _GZIP or begin[:4] == _ZSTD:
                return None
            return PlainFile(self.path, len(_BOM) if begin.startswith(_BOM) else 0, os.fstat(file.fileno()).st_size)

    def samples(self, number: int, size: int) -> Iterator[list[bytes]]:
        """Some lines of each of several places of a plain file, evenly spread."""
        place = self.plain_file()
        if place is None:
            return
        with self._raw() as file:
            for start in range(place.start, place.size, max(1, place.size // number)):
                file.seek(start)
                yield file.read(size).split(b"\n")[1:-1]

    def text(self, limits: Limits = FILES) -> str:
        """All of it as text; bytes that are not UTF-8 are a fault with their line."""
        data = self.read(limits)
        try:
            return data.decode("utf-8")
        except UnicodeDecodeError as error:
            line = data.count(b"\n", 0, error.start) + 1
            raise FormatError(self.name, [not_utf8(data, f"line {line}: ")]) from None

    def blocks(
        self, size: int, *, line: str = "TREC text has a line for each document", longest: int = _LONGEST_LINE
    ) -> Iterator[bytes]:
        """Blocks of whole lines, about `size` bytes each, without a byte-order mark. A line has an end; `line` tells
        what one should be, `longest` is how far it may go beyond a block."""
        with self.open() as file:
            first, done = True, 0
            while block := file.read(size):
                if not block.endswith(b"\n"):
                    rest = file.readline(longest)
                    block += rest
                    if len(rest) == longest and not rest.endswith(b"\n"):
                        raise self._endless_line(done + block.rfind(b"\n") + 1, line, longest)
                done += len(block)
                self.done = file.packed_done if isinstance(file, _Unpacking) else done
                if first:
                    block, first = block.removeprefix(_BOM), False
                yield block

    def _endless_line(self, start: int, wanted: str, longest: int) -> FormatError:
        """The error for a line that begins after so many bytes."""
        lines = 1
        with self.open() as file:
            while start and (piece := file.read(min(start, _PIECE))):
                lines, start = lines + piece.count(b"\n"), start - len(piece)
        said = f"a line of more than {written(longest)}; {wanted}"
        return FormatError(self.name, [Fault(f"{said}: name the format if it is another, or split the line", lines)])

    def sha256(self) -> str:
        """Hash of the file as it lies there."""
        with self._raw() as file:
            import hashlib  # takes a while to load

            return hashlib.file_digest(cast(Any, file), "sha256").hexdigest()


class _Unpacking:
    """A decompressing file that ends what becomes much more than the compressed bytes read so far."""

    def __init__(self, unpacked: IO[bytes], packed: IO[bytes], name: str) -> None:
        self._unpacked, self._packed, self._name, self._made = unpacked, packed, name, 0

    def read(self, size: int) -> bytes:
        return self._counted(self._unpacked.read(size))

    def readline(self, size: int) -> bytes:
        return self._counted(self._unpacked.readline(size))

    @property
    def packed_done(self) -> int:
        """How many of the compressed bytes were read."""
        return self._packed.tell()

    def _counted(self, data: bytes) -> bytes:
        self._made += len(data)
        if self._made > PARTS.free and self._made > PARTS.of(packed := self._packed.tell()):
            raise FormatError(self._name, [PARTS.exceeded(packed)])
        return data


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
    name = Path(target).name
    remove_leftovers(folder, name)
    try:
        import tempfile

        handle, temporary = tempfile.mkstemp(dir=folder, prefix=temporary_prefix(name))
        try:
            with os.fdopen(handle, "wb") as file:
                lock_file(handle)  # while this process lives, nobody takes it for a leftover
                file.write(data)
                file.flush()
                if not is_private(target):  # a temporary file is
                    mask = os.umask(0)
                    os.umask(mask)
                    os.chmod(temporary, 0o666 & ~mask)
                if sys.platform != "win32":  # which renames no open file
                    os.replace(temporary, target)
            if sys.platform == "win32":
                os.replace(temporary, target)
        except BaseException:
            with suppress(FileNotFoundError):
                os.unlink(temporary)
            raise
    except OSError as error:
        raise FormatError(target, [f"cannot be written: {error.strerror or error}"]) from None
