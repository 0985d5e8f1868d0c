"""A run in JSON Lines, read part by part."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from rankgauge.errors import DataError, Fault, FormatError
from rankgauge.formats.json_lists import scored_entry
from rankgauge.formats.json_values import parse_line
from rankgauge.formats.run_parts import Pair, Place, RunParts
from rankgauge.formats.sources import Source, not_utf8

if TYPE_CHECKING:
    import polars as pl

__all__ = ["JsonLinesRun"]

_BLOCK = 4 << 20
_LONGEST = 64 << 20  # bytes of a line
_SHOWN = 20

Entry = tuple[int, str, dict[str, float]]
"""A line's number, its query and the scores of its documents."""


class JsonLinesRun(RunParts):
    """One JSON object on each line: a query with its results, or a row."""

    repeats = False

    def __init__(self, source: Source) -> None:
        super().__init__(source.name, source.size)
        self._source = source
        self._empty: dict[str, None] = {}

    def parts(self) -> Iterator[pl.DataFrame]:
        import polars as pl

        schema = {"query": pl.String, "doc": pl.String, "score": pl.Float64}
        self._empty = {}
        for entries in self._blocks():
            queries: list[str] = []
            docs: list[str] = []
            scores: list[float] = []
            for _, query, found in entries:
                if not found:
                    self._empty[query] = None
                queries += [query] * len(found)
                docs += found
                scores += found.values()
            yield pl.DataFrame({"query": queries, "doc": docs, "score": scores}, schema=schema)

    def _blocks(self) -> Iterator[list[Entry]]:
        """The entries, block by block. Once a line has a fault no more come, and the faults of all are raised."""
        faults: list[Fault] = []
        total = lines = found = 0
        for block in self._source.blocks(_BLOCK, line="JSON Lines has an object on each", longest=_LONGEST):
            entries: list[Entry] = []
            for line in block.removesuffix(b"\n").split(b"\n"):
                lines += 1
                read = _read(lines, line)
                if isinstance(read, Fault):
                    total += 1
                    faults += [read][: _SHOWN - len(faults)]
                elif read is not None:
                    entries.append(read)
            found += len(entries)
            if not total and entries:
                yield entries
        if faults:
            raise FormatError(self.name, faults, total=total)
        if not found:
            raise FormatError(self.name, ["the file is empty"])

    def places(self, wanted: set[Pair]) -> Iterator[tuple[Pair, Place]]:
        for entries in self._blocks():
            for number, query, found in entries:
                yield from (((query, doc), Place(number)) for doc in found if (query, doc) in wanted)

    @property
    def empty(self) -> Iterable[str]:
        return self._empty

    @property
    def done(self) -> int:
        return self._source.done

    @property
    def is_large(self) -> bool:
        return self._source.is_large


def _read(number: int, line: bytes) -> Entry | Fault | None:
    """What a line holds; None of a blank one."""
    if not line.strip():
        return None
    try:
        value: Any = parse_line(line.decode("utf-8"))
    except UnicodeDecodeError:
        return Fault(not_utf8(line), number)
    if isinstance(value, Fault):
        return replace(value, line=number)
    try:
        return number, *scored_entry(value, "score")
    except DataError as error:
        return Fault(str(error), number)
