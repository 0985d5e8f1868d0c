"""Archives, checked and unpacked: nothing outside the folder is written, and no more than an archive can hold."""

from __future__ import annotations

import contextlib
import hashlib
import lzma
import os
import tarfile
import tempfile
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import IO

from rankgauge.arguments import as_path
from rankgauge.benchmarks.catalogue import Benchmark
from rankgauge.errors import FormatError
from rankgauge.formats.limits import Limits, written

__all__ = ["check_download", "opened_folder"]

_PIECE = 1 << 20
_LIMITS = Limits(most=400 * 10**9, ratio=60, free=64 * 10**6)
"""Texts compress to a fifth or a tenth; what unpacks to sixty times its size was made to fill the disk."""
_MOST_FILES = 200_000
_BROKEN = (tarfile.TarError, zipfile.BadZipFile, EOFError, OSError, zlib.error, lzma.LZMAError, NotImplementedError)


@contextmanager
def opened_folder(path: str | os.PathLike[str], benchmark: Benchmark, scratch: str | None = None) -> Iterator[Path]:
    """The folder itself, or what a zip or tar archive holds, unpacked into a folder that lasts as long as this does. An
    archive that the catalogue knows by its name is checked first."""
    place = Path(as_path("local", path))
    if place.is_dir():
        yield place
        return
    if not place.exists():
        raise FormatError(str(place), ["there is no such folder or archive"])
    if not place.is_file():
        raise FormatError(str(place), ["this is neither a folder nor an archive"])
    check_download(place, benchmark)
    with tempfile.TemporaryDirectory(dir=scratch, prefix=".rankgauge-benchmark-") as folder:
        _unpack(place, Path(folder))
        yield Path(folder)


def check_download(path: Path, benchmark: Benchmark) -> None:
    """Whether a file that the catalogue knows by its name is all there, and is the one it should be."""
    known = next((one for one in benchmark.downloads if one.file == path.name and one.md5), None)
    if known is None:
        return
    size = path.stat().st_size
    if known.bytes is not None and size < known.bytes:
        raise FormatError(
            str(path),
            [f"the download is not complete: it has {written(size)} of {written(known.bytes)}"],
            hint=f"download it again from {known.url}",
        )
    with path.open("rb") as file:
        found = hashlib.file_digest(file, lambda: hashlib.md5(usedforsecurity=False)).hexdigest()
    if found != known.md5:
        raise FormatError(
            str(path),
            [f"its checksum is {found}, not {known.md5}, which {known.file} has: it is damaged or another version"],
            hint=f"download it again from {known.url}; what it holds may also be given unpacked, as a folder",
        )


def _unpack(path: Path, target: Path) -> None:
    try:
        if zipfile.is_zipfile(path):
            with zipfile.ZipFile(path) as packed:
                _Unpacked(path, target).zip(packed)
        elif tarfile.is_tarfile(path):
            with tarfile.open(path) as archive:
                _Unpacked(path, target).tar(archive)
        else:
            said = "this is neither a folder nor a zip or tar archive that is complete"
            raise FormatError(str(path), [said], hint="download it again, or unpack it and give the folder")
    except _BROKEN as error:
        reason = str(error) or type(error).__name__
        raise FormatError(
            str(path),
            [f"the archive cannot be unpacked: {reason}"],
            hint="it may be half of a download: download it again",
        ) from None


class _Unpacked:
    """Members of an archive written one by one, counted and bounded."""

    def __init__(self, path: Path, target: Path) -> None:
        self._path, self._target, self._packed = path, target, path.stat().st_size
        self._written = self._files = 0
        self._most = _LIMITS.of(self._packed)

    def zip(self, packed: zipfile.ZipFile) -> None:
        for member in packed.infolist():
            if not member.is_dir():
                if member.flag_bits & 1:
                    raise FormatError(
                        str(self._path), [f"{member.filename} is encrypted: unpack it, and give the folder"]
                    )
                with packed.open(member) as file:
                    self._write(member.filename, file)

    def tar(self, archive: tarfile.TarFile) -> None:
        for member in archive:
            if member.isdir():
                continue
            if not member.isreg():
                raise self._refused(member.name, "is a link or a device")
            file = archive.extractfile(member)
            if file is not None:
                with contextlib.closing(file):
                    self._write(member.name, file)

    def _write(self, name: str, file: IO[bytes]) -> None:
        parts = PurePosixPath(name.replace("\\", "/")).parts
        if not parts or ".." in parts or parts[0] == "/" or ":" in parts[0]:
            raise self._refused(name, "lies outside of the archive's folder")
        self._files += 1
        if self._files > _MOST_FILES:
            raise FormatError(str(self._path), [f"it holds more than {_MOST_FILES} files"])
        target = self._target.joinpath(*parts)
        target.parent.mkdir(parents=True, exist_ok=True)
        with target.open("xb") as out:
            while piece := file.read(_PIECE):
                self._written += len(piece)
                if self._written > self._most:
                    raise FormatError(str(self._path), [_LIMITS.exceeded(self._packed)])
                out.write(piece)

    def _refused(self, name: str, why: str) -> FormatError:
        return FormatError(str(self._path), [f"{name!r} {why}: this archive is not unpacked"])
