"""Labels as JSON Lines, one label a line: read as a whole, and written line by line as they are given.

A line is handed to the disk before the next label is asked for, so that whatever ends the process costs no label. A
last line that was cut short is no label; the next process takes it away.
"""

from __future__ import annotations

import json
import os
import weakref
from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import Final

from rankgauge.arguments import check_text, named_arguments
from rankgauge.errors import DataError, Fault, FormatError, RankgaugeError
from rankgauge.formats.detect import Format, detect
from rankgauge.formats.json_values import dump_lines, no_repeats, read_json
from rankgauge.formats.label_items import item_of, label_of
from rankgauge.formats.leftovers import lock_file
from rankgauge.formats.private import PRIVATE
from rankgauge.formats.sources import Source, write_whole
from rankgauge.model.labels import Label, Labels

__all__ = ["LabelFile", "load_labels", "save_labels"]

_BEGIN: Final = b'{"query": '


def _labels_in(text: str, name: str) -> list[Label]:
    """The labels of all whole lines; faults of all lines are raised together."""
    found, faults = [], list[str | Fault]()
    lines = text.split("\n")
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            found.append(label_of(json.loads(line, object_pairs_hook=no_repeats)))
        except (ValueError, RecursionError) as error:
            if number < len(lines):  # else it was cut short
                faults.append(Fault(f"this is no JSON: {error}", number))
        except DataError as error:
            faults.append(Fault(str(error), number))
    if faults:
        raise FormatError(name, faults)
    return found


def _cut_short(line: bytes) -> bool:
    """Whether it is the beginning of a line as they are written here."""
    try:
        json.loads(line)
    except (ValueError, RecursionError):
        return line[: len(_BEGIN)] == _BEGIN[: len(line)]
    return False


@named_arguments
def load_labels(path: str | os.PathLike[str], *, judge: str | None = None) -> Labels:
    """Labels from JSON Lines, from a test set that has labels, or from a table with columns for query, document and
    grade. Where a table does not say who judged, it is `judge`; without it, the name of the file."""
    check_text("judge", judge, "a name")
    source = Source(path)
    form = detect(source)
    if form in ("csv", "tsv", "parquet"):
        from rankgauge.formats.label_tables import read_label_table  # takes polars

        return Labels(read_label_table(source, form, judge or source.bare_name), name=source.name)
    if form == "json":
        value = read_json(source)
        if isinstance(value, Mapping) and "labels" in value:
            from rankgauge.formats.testset_json import testset_of  # which reads labels too

            return testset_of(value, source.name).labels
    try:
        return Labels(_labels_in(source.text(), source.name), name=source.name)
    except FormatError:
        kind = _other_kind(source, form)
        if not kind:
            raise
    hint = (
        "its documents get labels by rankgauge testset pool, then rankgauge testset label or judge"
        if kind == "a run"
        else "give it as the test set, whose grades become labels; or join it to one: "
        "rankgauge testset merge TESTSET FILE --conflicts labels"
    )
    raise FormatError(source.name, [f"this seems to be {kind}, not labels"], hint=hint)


def _other_kind(source: Source, form: Format) -> str:
    """What a file is that holds no labels; empty where it is nothing else either. Line by line it would be nothing but
    faults."""
    from rankgauge.formats.loading import load_judgments, load_run  # which reads test sets, and these labels
    from rankgauge.model.testset import TestSet

    with suppress(RankgaugeError):
        if isinstance(load_judgments(source, form), TestSet):
            return "a test set"
        if form == "jsonl":  # a label without its judge reads as a judgment
            return ""
        return "TREC judgments" if form == "trec" else "judgments"
    with suppress(RankgaugeError):
        if form == "trec" and load_run(source, form):
            return "a run"
    return ""


@named_arguments
def save_labels(labels: Labels, path: str | os.PathLike[str]) -> None:
    """Write labels as JSON Lines, whole or not at all."""
    write_whole(path, dump_lines([item_of(label) for label in labels]))


class LabelFile:
    """A file of labels that grows: what is added is on the disk when `add` returns. One process at a time has it."""

    @named_arguments
    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = os.fspath(path)
        try:
            self._file = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_APPEND | getattr(os, "O_BINARY", 0), PRIVATE)
        except OSError as error:
            raise FormatError(self.path, [f"cannot be opened: {error.strerror}"]) from None
        self._closing = weakref.finalize(self, os.close, self._file)
        try:
            if not lock_file(self._file):
                raise FormatError(self.path, ["another process writes labels to it; wait for its end"])
            self._given = list(Labels(self._read(), name=self.path))
            self._last: dict[tuple[str | bool, ...], Label] = {label.voice: label for label in self._given}
        except BaseException:
            self.close()
            raise

    @property
    def labels(self) -> Labels:
        return Labels(self._given, name=self.path)

    def add(self, labels: Iterable[Label]) -> int:
        """Write labels; how many said something new."""
        new, last = [], dict[tuple[str | bool, ...], Label]()
        for label in labels:
            if label.is_new(last.get(label.voice) or self._last.get(label.voice)):
                last[label.voice] = label
                new.append(label)
        if new:
            self._write(dump_lines([item_of(label) for label in new]))
        self._given += new
        self._last |= last
        return len(new)

    def close(self) -> None:
        """Give the file free for others."""
        self._closing()

    def __enter__(self) -> LabelFile:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _read(self) -> list[Label]:
        with open(self._file, "rb", closefd=False) as file:
            data = file.read()
        whole = data.rfind(b"\n") + 1
        try:
            found = _labels_in(data[:whole].decode("utf-8-sig"), self.path)
        except UnicodeDecodeError:
            raise FormatError(self.path, ["it holds bytes that are not UTF-8"]) from None
        if data[whole:].strip():
            try:  # a last line without its end may be a whole label
                last = label_of(json.loads(data[whole:], object_pairs_hook=no_repeats))
            except (ValueError, RecursionError, DataError) as error:
                if not _cut_short(data[whole:]):  # a file of something else, which must not lose its last line
                    line = data.count(b"\n", 0, whole) + 1
                    raise FormatError(self.path, [Fault(f"this is no label: {error}", line)]) from None
                os.ftruncate(self._file, whole)
            else:
                found.append(last)
                self._write(b"\n")
        return found

    def _write(self, data: bytes) -> None:
        """All of it, or the file is as it was: what is added later must not follow half a line."""
        before = os.fstat(self._file).st_size
        try:
            while data:
                data = data[os.write(self._file, data) :]
            os.fsync(self._file)
        except OSError as error:
            with suppress(OSError):
                os.ftruncate(self._file, before)
            raise FormatError(self.path, [f"cannot be written: {error.strerror}"]) from None
