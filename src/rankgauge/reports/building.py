"""Test sets that are built, split, merged and compared; pools and candidates: as reports."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePath
from typing import TYPE_CHECKING

from rankgauge.model.differences import GradeChange, TestSetDifference
from rankgauge.model.labels import Label
from rankgauge.model.summary import TestSetSummary
from rankgauge.model.testset import TestSet
from rankgauge.reports.document import Block, Cell, Column, Notes, Report, Table, Text
from rankgauge.reports.labels import source_note
from rankgauge.testsets.pooling import Pooled
from rankgauge.words import Note
from rankgauge.words.visible import clipped

if TYPE_CHECKING:  # the second takes the database
    from rankgauge.testsets.candidates import Candidates
    from rankgauge.testsets.incident_queries import IncidentQueries

__all__ = [
    "candidates_report",
    "difference_report",
    "incidents_report",
    "pool_report",
    "split_report",
    "summary_report",
]

_SHOWN = 10
_FEW = 5
_MOST_TEXT = 40
_MOST_STRATA = 14


def _word(name: str, /, **parameters: object) -> Note:
    return Note(f"testsets.{name}", dict(parameters))


def summary_report(found: TestSetSummary, notes: Sequence[Note] = ()) -> Report:
    """What a test set holds, and what to mind."""
    return Report(_word("title_show"), [_facts(found), *_remarks([*notes, *found.notes])])


def _remarks(notes: Sequence[Note]) -> Iterator[Block]:
    if notes:
        yield Notes(notes)


def _named(name: str) -> str:
    """Of a long path the file, whose name says more than its first folders."""
    return clipped(name if len(name) <= _MOST_TEXT else PurePath(name).name, _MOST_TEXT)


def _facts(found: TestSetSummary) -> Table:
    parts = {"judged": found.judged, "unlabelled": found.unlabelled, "no_answer": found.no_answer}
    rows: list[tuple[Text, Cell]] = [
        (_word("queries"), found.queries),
        ("", _word("of_these", **parts)),
        (_word("judgments"), found.judgments),
    ]
    grades = [_word("grade", grade=grade, n=n) for grade, n in found.grades.items()]
    rows += [("", _few(grades))] if grades else []
    rows += [(_word("synthetic_queries"), found.synthetic)] if found.synthetic else []
    rows += [(_word("conversations"), found.conversations)] if found.conversations else []
    tags = [_word("tag", tag=clipped(tag, _MOST_TEXT), n=n) for tag, n in found.tags.items()]
    rows += [(_word("tags"), _few(tags))] if tags else []
    most = sorted(found.sources, key=lambda one: -one.labels)
    sources = [source_note(one.kind, clipped(one.judge, _MOST_TEXT), one.labels) for one in most]
    rows += [(_word("labels_by") if i == 0 else "", source) for i, source in enumerate(sources[:_SHOWN])]
    rows += [("", _word("more", n=len(sources) - _SHOWN))] if len(sources) > _SHOWN else []
    rows.append((_word("policy"), _word("no_policy") if found.policy is None else found.policy.note))
    rows.append((_word("version"), found.version[:12]))
    return Table("summary", [Column(_word("title_show")), Column(_named(found.name))], rows, light=True)


def _few(notes: Sequence[Note]) -> Note:
    shown = list(notes[:6])
    if len(notes) > 6:
        shown.append(_word("more", n=len(notes) - 6))
    return Note("labels.listed", {"sources": shown})


def difference_report(found: TestSetDifference) -> Report:
    """The changes counted, then the first grades and texts that are others."""
    return Report(_word("title_diff"), list(_difference(found)))


def _difference(found: TestSetDifference) -> Iterator[Block]:
    yield Notes(found.notes)
    named = [("added_item", found.added), ("removed_item", found.removed)]
    items = [_word(key, names=[clipped(name, _MOST_TEXT) for name in names]) for key, names in named if names]
    for query, (before, after) in list(found.reworded.items())[:_SHOWN]:
        texts = {"before": clipped(before, _MOST_TEXT), "after": clipped(after, _MOST_TEXT)}
        items.append(_word("reworded_item", query=clipped(query, _MOST_TEXT), **texts))
    for key, labels in (("label_added", found.labels_added), ("label_removed", found.labels_removed)):
        items += [_label(key, label) for label in labels[:_FEW]]
    yield from _remarks(items)
    if found.grades:
        heads = [Column(_word(name)) for name in ("query", "doc")]
        heads += [Column(_word(name), "plain") for name in ("before", "after")]
        rows = [_change(one) for one in found.grades[:_SHOWN]]
        more = [_word("more", n=len(found.grades) - _SHOWN)] if len(found.grades) > _SHOWN else []
        yield Table("grades", [*heads, Column(_word("by"))], rows, notes=more)


def _label(key: str, label: Label) -> Note:
    grade = _word("taken_back") if label.grade is None else Note("testsets.graded", {"grade": label.grade})
    named = {"query": clipped(label.query, _MOST_TEXT), "doc": clipped(label.doc, _MOST_TEXT), "who": _who([label])}
    return _word(key, grade=grade, **named)


def _change(one: GradeChange) -> list[Cell]:
    unjudged = _word("unjudged")
    ends: list[Cell] = [unjudged if grade is None else grade for grade in (one.before, one.after)]
    return [clipped(one.query, _MOST_TEXT), clipped(one.doc, _MOST_TEXT), *ends, _who(one.labels)]


def _who(labels: Sequence[Label]) -> Note | str:
    if not labels:
        return ""
    named = {
        (one.kind, one.judge): _word("who", judge=clipped(one.judge, _MOST_TEXT), kind=Note(f"labels.kind_{one.kind}"))
        for one in labels
    }
    return _few(list(named.values()))


def pool_report(found: Pooled) -> Report:
    """How much there is to judge, and what each system brought."""
    heads = [Column(_word("system")), *(Column(_word(name), "count") for name in ("pooled", "alone"))]
    rows: list[list[Cell]] = [[name, every, alone] for name, (every, alone) in found.shares.items()]
    table = [Table("systems", heads, rows)] if len(found.pool) else []
    return Report(_word("title_pool"), [Notes(found.notes), *table])


def split_report(parts: Mapping[str, TestSet], strata: Mapping[str, Sequence[frozenset[str]]]) -> Report:
    """How many queries of each stratum came into each part, the largest strata first."""
    heads = [Column(_word("stratum")), *(Column(name, "count") for name in parts)]
    counts: dict[str, list[int]] = {}
    for i, own in enumerate(strata.values()):
        for names in own:
            for name in names:
                counts.setdefault(name, [0] * len(parts))[i] += 1
    ordered = sorted(counts.items(), key=lambda item: (-sum(item[1]), item[0]))
    rows: list[list[Cell]] = [[_word("all_queries"), *(len(part) for part in parts.values())]]
    for name, numbers in ordered[:_MOST_STRATA]:
        rows.append([_stratum(name), *numbers])
    more = [_word("more", n=len(ordered) - _MOST_STRATA)] if len(ordered) > _MOST_STRATA else []
    return Report(_word("title_split"), [Table("strata", heads, rows, notes=more)])


def _stratum(name: str) -> Text:
    kind, _, rest = name.partition(" ")
    if kind == "third":
        return _word(f"third_{rest}")
    return _word("no_tag") if name == "no tag" else clipped(rest, _MOST_TEXT)


def candidates_report(found: Candidates) -> Report:
    """The first candidates, with why and how often."""
    blocks: list[Block] = [Notes(found.notes[:1])]
    if found.listed:
        heads = [Column(Note("candidates.query")), Column(Note("candidates.why"))]
        rows: list[list[Cell]] = [
            [clipped(one.text, _MOST_TEXT), _few([_reason(reason) for reason in one.reasons]), one.searches]
            for one in found.listed[:_SHOWN]
        ]
        more = [_word("more", n=len(found.listed) - _SHOWN)] if len(found.listed) > _SHOWN else []
        columns = [*heads, Column(Note("candidates.searches"), "count")]
        blocks.append(Table("candidates", columns, rows, notes=more))
    blocks += _remarks(found.notes[1:])
    return Report(_word("title_candidates"), blocks)


def _reason(reason: str) -> Note:
    return Note(f"candidates.reason_{reason.replace('-', '_')}")


def incidents_report(found: IncidentQueries) -> Report:
    """The queries of incidents, the first of them by name."""
    blocks: list[Block] = [Notes(found.notes)]
    if found.listed:
        heads = [Column(Note("candidates.query")), Column(Note("candidates.incident"))]
        rows: list[list[Cell]] = []
        for one in found.listed[:_SHOWN]:
            incident = Note("candidates.incident_of", {"id": one.incident, "kind": one.kind})
            rows.append([clipped(one.text, _MOST_TEXT), incident, one.fell])
        blocks.append(Table("queries", [*heads, Column(Note("candidates.fell"), "score")], rows))
    return Report(_word("title_candidates"), blocks)
