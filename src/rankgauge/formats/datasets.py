"""Many files that are one run, or one set of judgments: a folder, a pattern such as `runs/date=*/*.parquet`, or either
as a URL. Folders named KEY=VALUE (Hive, Spark) tell a column that the files in them lack."""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote

from rankgauge.errors import FormatError, counted
from rankgauge.formats.detect import COLUMNAR, format_of_name
from rankgauge.formats.remote import is_url, local_file, remote_files
from rankgauge.formats.run_parts import Pair, Place, RunParts
from rankgauge.formats.sources import FITS_MODULE, LARGE_PACKED, Source

if TYPE_CHECKING:
    import polars as pl

__all__ = ["DatasetRun", "PartFile", "is_dataset", "open_source", "part_files"]

_MAGIC = re.compile(r"[*?\[]")
_PARTS = re.compile(r"[/\\]")
_NULL = "__HIVE_DEFAULT_PARTITION__"


@dataclass(frozen=True)
class PartFile:
    """One of the files, and the columns that the folders above it tell."""

    source: Source
    fixed: dict[str, str]


def open_source(path: str | os.PathLike[str] | Source) -> Source:
    """One file, here or on another machine."""
    if isinstance(path, Source):
        return path
    text = os.fspath(path) if isinstance(path, str | os.PathLike) else path
    if isinstance(text, str) and is_url(text):
        text = local_file(text)
        if is_url(text):
            _, files = remote_files(text)
            if len(files) != 1:
                raise FormatError(text, ["this is a folder, not a file"])
            return next(iter(files.values()))
    return Source(text)


def is_dataset(path: object) -> bool:
    """Whether a path may stand for several files. A file of that very name is one file."""
    if not isinstance(path, str | os.PathLike):
        return False
    text = os.fspath(path)
    if not isinstance(text, str):
        return False
    if is_url(text):
        text = local_file(text)
        if is_url(text):
            return True
    if os.path.isdir(text):
        return True
    return _MAGIC.search(text) is not None and not os.path.lexists(text)


def part_files(path: str | os.PathLike[str]) -> list[PartFile]:
    """The files of a dataset, in the order of their paths. Hidden ones are none of them, nor those whose names begin
    with an underscore, as Spark's marks do; where some are Parquet or Arrow, the others are not either."""
    text = local_file(os.fspath(path))
    asked, files = remote_files(text) if is_url(text) else _local(text)
    if len(files) > 1 or not any(place == asked for place in files):
        base = _MAGIC.split(asked)[0]
        files = {place: source for place, source in files.items() if not _is_hidden(place[len(base) :])}
        columnar = {place: source for place, source in files.items() if format_of_name(place) in COLUMNAR}
        files = columnar or files
    if not files:
        wanted = "matches this pattern" if _MAGIC.search(text) else "is in this folder"
        raise FormatError(text, [f"no file {wanted}"])
    return [PartFile(source, _fixed(_PARTS.split(place)[:-1])) for place, source in files.items()]


def _local(text: str) -> tuple[str, dict[str, Source]]:
    """The files on this machine, by their paths, in their order."""
    matched = [text] if os.path.isdir(text) else glob.glob(text, recursive=True)
    files: set[str] = set()
    for one in matched:
        if os.path.isdir(one):
            files |= {str(file) for file in Path(one).rglob("*") if file.is_file()}
        else:
            files.add(one)
    return str(Path(text)), {file: Source(file) for file in sorted(files)}


def _is_hidden(path: str) -> bool:
    """Whether a path below the dataset's own folder has a part that begins as hidden ones do. A column's name may."""
    return any(part.startswith(".") or (part.startswith("_") and "=" not in part) for part in _PARTS.split(path))


def _fixed(folders: Iterable[str]) -> dict[str, str]:
    """The columns that folders named KEY=VALUE tell; a null is the empty text, which is no id."""
    pairs = (folder.partition("=") for folder in folders)
    return {unquote(key): "" if value == _NULL else unquote(value) for key, equals, value in pairs if key and equals}


class DatasetRun(RunParts):
    """A run in many files."""

    def __init__(self, path: str | os.PathLike[str], members: Sequence[RunParts]) -> None:
        super().__init__(os.fspath(path), sum(member.size for member in members))
        self._members = members
        self._before = 0
        self._now: RunParts | None = None
        self.repeats = all(member.repeats for member in members)

    def parts(self) -> Iterator[pl.DataFrame]:
        self._before = 0
        ranked: dict[bool, str] = {}
        for member in self._members:
            self._now = member
            for part in member.parts():
                ranked.setdefault(bool(getattr(member, "ranked", False)), member.name)
                if len(ranked) > 1:
                    raise FormatError(
                        self.name,
                        [f"{ranked[True]} has ranks in the place of scores, {ranked[False]} has scores"],
                        hint="give all part files scores",
                    )
                yield part
            self._before, self._now = self._before + member.size, None

    def places(self, wanted: set[Pair]) -> Iterator[tuple[Pair, Place]]:
        for member in self._members:
            for pair, place in member.places(wanted):
                yield pair, place._replace(file=member.name)

    @property
    def empty(self) -> Iterable[str]:
        return {query: None for member in self._members for query in member.empty}

    @property
    def done(self) -> int:
        return self._before + (self._now.done if self._now is not None else 0)

    @property
    def is_large(self) -> bool:
        return self.size > LARGE_PACKED or any(member.is_large for member in self._members)

    @property
    def fits_module(self) -> bool:
        return self.size <= FITS_MODULE and all(member.fits_module for member in self._members)

    def __repr__(self) -> str:
        return f"DatasetRun({self.name!r}: {counted(len(self._members), 'file')})"
