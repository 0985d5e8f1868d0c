"""Labels from clicks as a report: how many of which grade, which model predicted clicks best, what was left out."""

from __future__ import annotations

from collections.abc import Iterator

from rankgauge.reports.document import Block, Cell, Column, Notes, Paragraph, Report, Table
from rankgauge.testsets.click_choice import TriedModel
from rankgauge.testsets.click_labels import ClickLabels
from rankgauge.words import Note
from rankgauge.words.numbers import percent

__all__ = ["click_report"]

_RANKS = (1, 2, 3, 5, 10)
_EXAMINED = 10
_USELESS = ("clicks.no_labels", "clicks.uninformative")
"""What makes the rest hardly worth reading, and so comes first."""


def click_report(found: ClickLabels) -> Report:
    """What came of it first."""
    return Report(Note("clicks.title"), list(_blocks(found)))


def _blocks(found: ClickLabels) -> Iterator[Block]:
    about = {
        "n": len(found.labels),
        "queries": len({label.query for label in found.labels}),
        "impressions": round(found.impressions),
        "clicks": round(found.clicks),
        "lists": found.lists,
    }
    first = [Note("clicks.labels" if found.lists is None else "clicks.labels_lists", about)]
    if found.refused and found.labels:
        parameters = {"n": found.refused, "pairs": found.pairs, "least": found.least_impressions}
        first.append(Note("clicks.refused", parameters))
    if found.left_out:
        entries = [Note("clicks.reason", {"what": Note(f"clicks.left_{reason}"), "n": n})
                   for reason, n in found.left_out.items()]  # fmt: skip
        first.append(Note("clicks.left_out", {"entries": entries}))
    useless = [note for note in found.notes if note.key in _USELESS]
    yield Notes([first[0], *useless, *first[1:]])
    if found.labels:
        yield _grades(found)
    if found.tried:
        yield _models(found)
        if found.model != found.tried[0].model:
            yield Notes([Note("clicks.simplest", {"model": found.model, "best": found.tried[0].model})])
    else:
        yield Paragraph(Note("clicks.not_tried", {"model": Note(f"clicks.model_{found.model}")}))
    yield Notes([*_agreement(found), *(note for note in found.notes if note not in useless)])
    shares = [percent(min(share, 1.0), 0) for share in found.examination[:_EXAMINED]]
    shrinkage = Note("clicks.shrinkage", {"mean": found.prior_mean, "strength": found.prior_strength})
    yield Notes([Note("clicks.examined", {"shares": shares}), shrinkage], detail="evidence")


def _grades(found: ClickLabels) -> Table:
    columns = [
        Column(Note("clicks.grade"), "count"),
        Column(Note("clicks.from"), "figure"),
        Column(Note("clicks.count"), "count"),
        Column(Note("clicks.share"), "share"),
    ]
    rows: list[list[Cell]] = [
        [grade, (0.0, *found.cuts)[grade], n, n / len(found.labels)] for grade, n in found.grades.items()
    ]
    title = Note("clicks.grades_of" if found.by_attraction else "clicks.grades_of_dbn")
    return Table("grades", columns, rows, title=title, light=True)


def _models(found: ClickLabels) -> Table:
    depth = len(found.tried[0].by_rank)
    ranks = [rank for rank in _RANKS if rank <= depth]
    heads = [Column(Note("clicks.rank", {"rank": rank}), "score", drop=rank) for rank in ranks]
    columns = [Column(Note("clicks.model")), Column(Note("clicks.perplexity"), "score"), *heads]
    rows = [_row(one, ranks, one.model == found.model) for one in found.tried]
    return Table("models", columns, rows, title=Note("clicks.tried"), light=True)


def _row(one: TriedModel, ranks: list[int], chosen: bool) -> list[Cell]:
    name = Note(f"clicks.model_{one.model}")
    head = Note("clicks.chosen", {"model": name}) if chosen else name
    return [head, one.perplexity, *(one.by_rank[rank - 1] for rank in ranks)]


def _agreement(found: ClickLabels) -> list[Note]:
    own = found.agreement
    if own is None:
        return []
    key = "clicks.agreement" if own.tau is not None else "clicks.agreement_open"
    return [Note(key, {"tau": own.tau, "queries": own.queries, "pairs": own.pairs})]
