"""Labels from the sheets that come back: all rows or none, and never under an id that a spreadsheet changed."""

from __future__ import annotations

import datetime
import math
import os
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rankgauge.arguments import as_path, check_text, named_arguments
from rankgauge.errors import DataError, Fault, FormatError
from rankgauge.formats.labels import LabelFile
from rankgauge.formats.sources import Source
from rankgauge.formats.spreadsheets import changed_by_spreadsheet, read_sheet, unguarded
from rankgauge.model.frames import ID_COLUMNS
from rankgauge.model.labels import Label, LabelPolicy
from rankgauge.model.pool import Pool
from rankgauge.testsets.review.judged import PathLike, check_scale
from rankgauge.testsets.review.queued import Pair, ReviewQueue, as_queue
from rankgauge.testsets.review.sheets import check_of
from rankgauge.words import LANGUAGES, template

__all__ = ["Imported", "import_reviews"]

_ALIASES: Mapping[str, Sequence[str]] = {
    "query_id": [name for name in (*ID_COLUMNS["query_id"], *ID_COLUMNS["query"]) if name not in ("_id", "id")],
    "doc_id": [name for name in ID_COLUMNS["doc"] if name != "id"],
    "grade": ID_COLUMNS["grade"],
    "comment": ("comments", "note", "notes", "reason", "remark", "remarks"),
    "reviewer": ("judge", "annotator", "rater", "assessor"),
}


@dataclass(frozen=True)
class Imported:
    """What came of a sheet."""

    rows: int
    graded: int
    """Rows with a grade; the others are not judged yet."""
    new: int
    """Labels that said something new."""
    later: tuple[Pair, ...]
    """Pairs of which the reviewer said something else after the sheet was saved: that stands."""
    reviewers: Mapping[str, int]
    """Graded rows by reviewer."""
    conflicts: Mapping[Pair, list[Label]]
    """Pairs of the sheet whose labels disagree now."""

    def to_dict(self) -> dict[str, Any]:
        return {
            "format": "rankgauge.reviews-imported",
            "version": 1,
            "rows": self.rows,
            "graded": self.graded,
            "new": self.new,
            "later": [{"query": query, "doc": doc} for query, doc in self.later],
            "reviewers": dict(self.reviewers),
            "conflicts": [
                {"query": query, "doc": doc, "grades": {label.judge: label.grade for label in labels}}
                for (query, doc), labels in self.conflicts.items()
            ],
        }


@named_arguments
def import_reviews(
    sheet: PathLike,
    labels: LabelFile | PathLike,
    *,
    judge: str | None = None,
    scale: Sequence[float] | None = None,
    queue: ReviewQueue | Pool | Iterable[Pair] | PathLike | None = None,
    rubric: str = "",
    adjudicates: bool = False,
    policy: LabelPolicy | None = None,
) -> Imported:
    """Labels from a sheet, all of it or none: added to a file of labels, by the reviewer that a row names, else by
    `judge`. A row without a grade is not judged yet. Reading a sheet twice changes nothing.

    `scale` lists the grades that may be given, `queue` the pairs that the sheet may hold.
    """
    for name, value in (("judge", judge), ("rubric", rubric)):
        check_text(name, value)
    source = Source(sheet)
    known = None if queue is None else {one.pair for one in as_queue(queue)}
    rows = _Rows(source, judge, None if scale is None else check_scale(scale), known)
    found = rows.labels(_saved(source), rubric, adjudicates)
    file = labels if isinstance(labels, LabelFile) else LabelFile(as_path("labels", labels))
    try:
        last = {label.voice: label for label in file.labels}
        later = [one for one in found if _is_later(last.get(one.voice), one)]
        standing = {one.voice for one in later}
        new = file.add([one for one in found if one.voice not in standing])
        conflicts = file.labels.conflicts(policy or LabelPolicy())
    finally:
        if file is not labels:
            file.close()
    reviewers: dict[str, int] = {}
    for one in found:
        reviewers[one.judge] = reviewers.get(one.judge, 0) + 1
    own = {pair: conflicts[pair] for pair in dict.fromkeys(one.pair for one in found) if pair in conflicts}
    return Imported(rows.count, len(found), new, tuple(one.pair for one in later), reviewers, own)


def _saved(source: Source) -> str:
    """When the sheet was saved, which is when its grades were given at the latest."""
    seconds = time.time()
    if source.path != "-" and os.path.isfile(source.path):
        seconds = min(seconds, os.path.getmtime(source.path))
    at = datetime.datetime.fromtimestamp(math.floor(seconds), datetime.UTC)
    return at.isoformat(timespec="seconds").replace("+00:00", "Z")


def _is_later(last: Label | None, label: Label) -> bool:
    """Whether the judge said something else after the sheet was saved."""
    if last is None or not label.is_new(last):
        return False
    before, now = last.moment, label.moment
    return before is not None and now is not None and before > now


class _Rows:
    """The rows of a sheet, and what is wrong with them."""

    def __init__(
        self, source: Source, judge: str | None, scale: tuple[float, ...] | None, known: set[Pair] | None
    ) -> None:
        self.name, self.judge, self.scale, self.known = source.name, judge, scale, known
        header, self.rows = read_sheet(source)
        self.columns = _columns(header, source.name)
        self.width, self.count = len(header), len(self.rows)

    def labels(self, at: str, rubric: str, adjudicates: bool) -> list[Label]:
        faults: list[str | Fault] = []
        found: dict[tuple[Any, ...], tuple[int, Label]] = {}
        for number, cells in self.rows:
            try:
                label = self._label(cells, at, rubric, adjudicates)
                if label is None:
                    continue
                row, before = found.setdefault(label.voice, (number, label))
                if before.grade != label.grade:
                    raise DataError(
                        f"{label.judge} gives this document {label.grade:g}, and {before.grade:g} in row {row}"
                    )
            except DataError as error:
                faults.append(Fault(str(error), number))
        if faults:
            raise FormatError(self.name, faults, hint="the numbers are rows of the sheet; nothing was imported")
        return [label for _, label in found.values()]

    def _label(self, cells: list[str], at: str, rubric: str, adjudicates: bool) -> Label | None:
        if any(cell.strip() for cell in cells[self.width :]):
            raise DataError(f"the row has {len(cells)} cells, the header {self.width}; is the separator within a text?")
        cell = {name: cells[i] if i < len(cells) else "" for name, i in self.columns.items()}
        query, doc = self._pair(cell)
        grade = self._grade(cell["grade"])
        if grade is None:
            return None
        judge = unguarded(cell.get("reviewer", "")).strip() or self.judge
        if not judge:
            raise DataError("nobody says who reviewed it; fill in the column reviewer, or give `judge=NAME`")
        reason = " ".join(unguarded(cell.get("comment", "")).split())
        return Label(query, doc, grade, judge, "person", at, rubric, reason, adjudicates=adjudicates)

    def _pair(self, cell: Mapping[str, str]) -> Pair:
        """The ids of a row as they were before a spreadsheet had them."""
        if check := cell.get("check", "").strip().lower():
            for query in _readings(cell["query_id"]):
                for doc in _readings(cell["doc_id"]):
                    if check_of(query, doc) == check:
                        return query, doc
            raise DataError(
                f"the ids {cell['query_id']!r} and {cell['doc_id']!r} are not those that the sheet was written with: "
                f"{_what_happened(cell)}; take them from the sheet as it was written"
            )
        pair = unguarded(cell["query_id"]), unguarded(cell["doc_id"])
        for what, name, raw in zip(("query", "document"), pair, (cell["query_id"], cell["doc_id"]), strict=True):
            if not name:
                raise DataError(f"the {what} id is missing")
            changed = None if raw.startswith("'") or self.known is not None else changed_by_spreadsheet(raw)
            if changed is not None:
                raise DataError(
                    f"the {what} id {name!r} looks like a {changed} that a spreadsheet made; take the ids from the "
                    "sheet as it was written, or give the `queue=FILE` that holds them"
                )
        if self.known is not None and pair not in self.known:
            raise DataError(f"document {pair[1]!r} of query {pair[0]!r} is not in the queue; was an id changed?")
        return pair

    def _grade(self, cell: str) -> float | None:
        said = unguarded(cell).strip()
        if not said:
            return None
        try:
            grade = float(said.replace(",", ".") if said.count(",") == 1 and "." not in said else said)
        except ValueError:
            grade = math.nan
        if not math.isfinite(grade) or "_" in said:
            raise DataError(f"the grade {said!r} is no number; leave it blank where the document is not judged")
        if self.scale is not None and grade not in self.scale:
            raise DataError(f"the grade {said!r} is none of {', '.join(f'{one:g}' for one in self.scale)}")
        return grade


def _readings(cell: str) -> list[str]:
    """What a cell may have been before: guarded, as it is, or with blanks that a spreadsheet added."""
    return list(dict.fromkeys((unguarded(cell), cell, cell.strip())))


def _what_happened(cell: Mapping[str, str]) -> str:
    for name in ("query_id", "doc_id"):
        if changed := changed_by_spreadsheet(cell[name]):
            return f"a spreadsheet made a {changed} of one"
    return "an id was changed, or a column was sorted without the others"


def _columns(header: Sequence[str], name: str) -> dict[str, int]:
    """The place of each column that there is, by the names it may have; a head may say more behind a bracket."""
    heads = [unguarded(head).split("(")[0].strip().casefold() for head in header]
    found: dict[str, int] = {}
    for role in ("check", "reviewer", "comment", "grade", "query_id", "doc_id"):
        own = [template(f"review.column_{role}", language).split("(")[0].strip() for language in LANGUAGES]
        for alias in (*own, role, *_ALIASES.get(role, ())):
            places = [i for i, head in enumerate(heads) if head == alias.casefold() and i not in found.values()]
            if len(places) > 1:
                raise FormatError(name, [Fault(f"two columns are named {header[places[0]]!r}", 1)])
            if places:
                found[role] = places[0]
                break
    if missing := [role for role in ("query_id", "doc_id", "grade") if role not in found]:
        raise FormatError(
            name,
            [Fault(f"no column for {missing[0]} among {', '.join(map(repr, header))}; name one {missing[0]}", 1)],
        )
    return found
