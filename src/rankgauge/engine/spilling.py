"""Rows put together by query in bounded memory: they go to the disk, and come back part by part, each of whole queries.

A hash of the query tells the part. The file on the disk has no name (on Windows the system deletes it when it is
closed), so nobody else can open it, and nothing is left behind however the process ends.
"""

from __future__ import annotations

import io
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import IO, TYPE_CHECKING, NamedTuple

import numpy as np
import polars as pl

from rankgauge.errors import DataError

if TYPE_CHECKING:
    from rankgauge.formats import RunParts

__all__ = ["Long", "Spill", "by_query", "room_for"]

_ROWS = 1_000_000
"""Rows that are put in order in memory at once, if they are of more than one query."""
_ROW = 12  # bytes of a row on the disk, at least, so that parts are rather too small than too large
_FEWEST, _MOST = 8, 512
_GATHERED = 400_000  # rows that are divided at once


def by_query(parts: Iterable[pl.DataFrame], run: RunParts) -> Iterator[pl.DataFrame]:
    """The same rows in parts of whole queries; within each query they keep their order."""
    number = min(_MOST, max(_FEWEST, run.size // (_ROWS * _ROW)))
    with room_for(run.name), Spill(number, _ROWS) as spill:
        for part in parts:
            spill.add(part)
        spill.flush()
        for done in range(number):
            run.tell("scored", done, number)
            yield from spill.part(done)
        run.tell("scored", number, number)


class Long(NamedTuple):
    """The rows of one query: how many, and how to read them, as often as asked."""

    rows: int
    read: Callable[[], Iterator[pl.DataFrame]]


class Spill:
    """Rows on the disk, divided into parts by a hash of their queries, or of another column. `depth` makes it another
    hash; `long` takes the rows of a query that alone has more than `most`, instead of their coming back as one part."""

    def __init__(
        self, number: int, most: int, depth: int = 0, *, by: str = "query", long: Callable[[Long], None] | None = None
    ) -> None:
        self._number, self._most, self._depth, self._by, self._long = number, most, depth, by, long
        self._file: IO[bytes] = tempfile.TemporaryFile(prefix="rankgauge-")  # noqa: SIM115
        self._end = 0
        self._chunks: list[list[tuple[int, int]]] = [[] for _ in range(number)]
        """Where the chunks of each part stand in the file, and how long they are."""
        self._rows = np.zeros(number, dtype=np.int64)
        self._lowest = np.full(number, np.iinfo(np.uint64).max, dtype=np.uint64)
        self._highest = np.zeros(number, dtype=np.uint64)
        """Of the hashes: where they are equal, the part is of one query."""
        self._waiting: list[pl.DataFrame] = []

    def __enter__(self) -> Spill:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def add(self, frame: pl.DataFrame) -> None:
        """Further rows."""
        self._waiting.append(frame)
        if sum(map(len, self._waiting)) >= _GATHERED:
            self.flush()

    def flush(self) -> None:
        """Write what is gathered."""
        if not self._waiting:
            return
        frame = pl.concat(self._waiting)
        self._waiting = []
        hashes = frame[self._by].hash(seed=self._depth).to_numpy()
        owner = (hashes % np.uint64(self._number)).astype(np.int64)
        order = np.argsort(owner, kind="stable")
        hashes, frame = hashes[order], frame[order]
        cuts = np.searchsorted(owner[order], np.arange(self._number + 1))
        for part in np.flatnonzero(np.diff(cuts)).tolist():
            first, end = int(cuts[part]), int(cuts[part + 1])
            own = hashes[first:end]
            self._lowest[part] = min(self._lowest[part], own.min())
            self._highest[part] = max(self._highest[part], own.max())
            self._rows[part] += end - first
            self._write(part, frame.slice(first, end - first))

    def _write(self, part: int, frame: pl.DataFrame) -> None:
        held = io.BytesIO()
        frame.write_ipc_stream(held, compression="lz4")
        self._file.write(held.getbuffer())
        self._chunks[part].append((self._end, held.tell()))
        self._end += held.tell()

    def parts(self) -> Iterator[pl.DataFrame]:
        """The rows of all parts."""
        for number in range(self._number):
            yield from self.part(number)

    def part(self, number: int) -> Iterator[pl.DataFrame]:
        """The rows of a part, query by query; one that is too large is divided once more."""
        if not self._chunks[number]:
            return
        one = self._lowest[number] == self._highest[number]
        if one and self._rows[number] > self._most and self._long is not None:
            self._long(Long(int(self._rows[number]), lambda: self._read(number)))
            return
        if one or self._rows[number] <= self._most:
            frame = pl.concat(self._read(number))
            # By hash, which takes an eighth of the time that comparing texts takes.
            yield frame[np.argsort(frame[self._by].hash().to_numpy(), kind="stable")]
            return
        again = int(self._rows[number] // self._most) + 1
        inside = min(_MOST, max(_FEWEST, 2 * again))
        with Spill(inside, self._most, self._depth + 1, by=self._by, long=self._long) as spill:
            for frame in self._read(number):
                spill.add(frame)
            spill.flush()
            yield from spill.parts()

    def _read(self, number: int) -> Iterator[pl.DataFrame]:
        for start, length in self._chunks[number]:
            self._file.seek(start)
            yield pl.read_ipc_stream(io.BytesIO(self._file.read(length)))


@contextmanager
def room_for(name: str) -> Iterator[None]:
    """Say what to do where the disk cannot hold the rows."""
    try:
        yield
    except OSError as error:
        folder = tempfile.tempdir or "the disk"
        raise DataError(
            f"{name}: its rows are not grouped by query and are put in order on the disk, but {folder} cannot take "
            f"them: {error.strerror or error}; name a folder with room in the environment variable TMPDIR, or group "
            "the rows beforehand"
        ) from None
