"""What is to be reviewed, what came of it, conflicts, and who said what when, as reports."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from rankgauge.model.labels import Label, LabelPolicy
from rankgauge.model.testset import TestSet
from rankgauge.reports.document import Block, Cell, Column, Notes, Paragraph, Report, Table
from rankgauge.testsets.review.agreement import ReviewerAgreement
from rankgauge.testsets.review.importing import Imported
from rankgauge.testsets.review.queued import Pair, ReviewQueue
from rankgauge.testsets.review.session import Progress
from rankgauge.testsets.review.standing import Standing
from rankgauge.words import Note
from rankgauge.words.numbers import score
from rankgauge.words.visible import clipped

__all__ = ["agreement_note", "conflicts_report", "history_report", "import_report", "queue_report", "session_report"]

_SHOWN = 8
_MOST_TEXT = 40


def queue_report(queue: ReviewQueue, tested: TestSet, *, listed: bool = True) -> Report:
    """How much there is to do and what it can still change, then the queries with the most at stake."""
    return Report(Note("review.title_queue"), list(_queue_blocks(queue, tested, listed)))


def _queue_blocks(queue: ReviewQueue, tested: TestSet, listed: bool) -> Iterator[Block]:
    if queue.items:
        about = {"n": len(queue), "all": queue.documents, "queries": len(queue.queries)}
        yield Paragraph(Note("review.queued_of" if queue.documents > len(queue) else "review.queued", about), "lead")
    else:
        yield Paragraph(Note("review.nothing"), "lead")
    compared = [one for one in queue.ranges if one.a]
    if compared:
        open_ = sum(one.changes_winner for one in compared)
        yield Notes([Note("review.open", {"n": open_, "all": len(compared)}) if open_ else Note("review.closed")])
    if listed and queue.items:
        yield from _queries(queue, tested)
    notes = []
    if queue.shares:
        shares = [Note("review.share", {"name": name, "n": n}) for name, n in queue.shares.items()]
        notes.append(Note("review.shares", {"shares": shares}))
    if queue.doubled:
        notes.append(Note("review.doubled", {"n": queue.doubled}))
    if queue.items and all(one.effect is None for one in queue):
        notes.append(Note("review.by_depth"))
    elif listed and queue.items:
        notes.append(Note("review.effect_is"))
    yield Notes([*notes, *queue.notes])


def _queries(queue: ReviewQueue, tested: TestSet) -> Iterator[Block]:
    """A row for each reason, then one for each query."""
    reasons: list[list[Cell]] = [[Note(f"review.{why}"), n] for why, n in queue.counts.items()]
    heads = [Column(Note("review.reasons")), Column(Note("review.number"), "count")]
    yield Table("reasons", heads, reasons)
    texts = {query.id: query.text for query in tested if query.text != query.id}
    known = any(one.effect is not None for one in queue)
    rows: list[list[Cell]] = []
    for query in queue.queries[:_SHOWN]:
        own = [one for one in queue if one.query == query]
        text: list[Cell] = [clipped(texts.get(query, ""), _MOST_TEXT)] if texts else []
        worth: list[Cell] = [score(sum(one.effect or 0.0 for one in own), 4)] if known else []
        rows.append([query, *text, len(own), *worth])
    columns = [Column(Note("review.query")), *([Column(Note("review.text"))] if texts else [])]
    columns += [Column(Note("review.number"), "count"), *([Column(Note("review.effect"), "score")] if known else [])]
    more = len(queue.queries) - len(rows)
    yield Table("queries", columns, rows, notes=[Note("review.more_queries", {"n": more})] if more else ())


def import_report(found: Imported) -> Report:
    """What a sheet brought, and what its labels disagree with."""
    about = {"rows": found.rows, "graded": found.graded, "new": found.new}
    blocks: list[Block] = [Paragraph(Note("review.imported", about), "lead")]
    notes = []
    if found.reviewers:
        shares = [Note("review.share", {"name": name, "n": n}) for name, n in found.reviewers.items()]
        notes.append(Note("review.imported_by", {"shares": shares}))
    if found.later:
        query, doc = found.later[0]
        notes.append(Note("review.later", {"n": len(found.later), "query": query, "doc": doc}, "warning"))
    blocks.append(Notes(notes))
    if found.conflicts:
        blocks += _conflicts(found.conflicts)
    return Report(Note("review.title_import"), blocks)


def conflicts_report(conflicts: Mapping[Pair, Sequence[Label]], agreement: ReviewerAgreement | None) -> Report:
    """Pairs whose labels disagree, with what each judge says."""
    blocks: list[Block] = _conflicts(conflicts) if conflicts else [Paragraph(Note("review.no_conflicts"), "lead")]
    if agreement is not None:
        blocks.append(Notes([agreement_note(agreement)]))
    return Report(Note("review.title_conflicts"), blocks)


def _conflicts(conflicts: Mapping[Pair, Sequence[Label]]) -> list[Block]:
    rows: list[list[Cell]] = []
    for (query, doc), labels in list(conflicts.items())[: 2 * _SHOWN]:
        grades = [f"{one.judge} {one.grade:g}" for one in labels]
        rows.append([query, doc, ", ".join(grades)])
    columns = [Column(Note(f"review.{name}")) for name in ("query", "doc", "grades")]
    more = [Note("review.more_conflicts", {"n": len(conflicts) - len(rows)})] if len(conflicts) > len(rows) else []
    said = Paragraph(Note("review.conflicts", {"n": len(conflicts)}), "lead")
    return [said, Table("conflicts", columns, rows, notes=more)]


def agreement_note(found: ReviewerAgreement) -> Note:
    """How far two people agree where both labelled."""
    about = {"n": found.items, "share": found.share}
    if found.alpha.value is None or found.alpha.interval is None:
        return Note("review.agreement", about)
    ends = [found.alpha.interval.low, found.alpha.interval.high]
    return Note("review.agreement_alpha", {**about, "alpha": found.alpha.value, "bounds": ends})


def history_report(
    labels: Sequence[Label], policy: LabelPolicy, voices: Sequence[Label], pair: Sequence[str]
) -> Report:
    """All that was said, first to last, and for a single document what counts now."""
    if len(pair) == 2:
        title = Note("review.title_history", {"query": pair[0], "doc": pair[1]})
    elif pair:
        title = Note("review.title_history_query", {"query": pair[0]})
    else:
        title = Note("review.title_history_all")
    blocks: list[Block] = []
    if not labels:
        return Report(title, [Paragraph(Note("review.nothing_said"), "lead")])
    if len(pair) == 2:
        blocks.append(Paragraph(_counts_now(policy, voices), "lead"))
    heads = ["when", *(["query"] if not pair else []), *(["doc"] if len(pair) < 2 else []), "who", "said", "reason"]
    rows: list[list[Cell]] = []
    graded: set[tuple[object, ...]] = set()
    for one in labels:
        cells: dict[str, Cell] = {"when": one.time, "query": one.query, "doc": one.doc, "reason": one.reason}
        cells["who"] = _who(one)
        if one.grade is not None:
            cells["said"] = f"{one.grade:g}"
        else:  # where there was no grade before there is nothing to take back
            cells["said"] = Note("review.took_back" if one.voice in graded else "review.remarked")
        (graded.add if one.grade is not None else graded.discard)(one.voice)
        rows.append([cells[head] for head in heads])
    blocks.append(Table("history", [Column(Note(f"review.{head}")) for head in heads], rows))
    return Report(title, blocks)


def _counts_now(policy: LabelPolicy, voices: Sequence[Label]) -> Note:
    grade = policy.grade(voices)
    if grade is None:
        return Note("review.counts_nothing")
    settled = [one for one in policy.counting(voices) if one.adjudicates]
    if settled:
        return Note("review.counts_now_settled", {"grade": grade, "judge": settled[-1].judge})
    return Note("review.counts_now", {"grade": grade})


def _who(label: Label) -> Cell:
    if label.adjudicates:
        return Note("review.adjudicated", {"judge": label.judge})
    return Note("review.by_kind", {"judge": label.judge, "kind": Note(f"review.kind_{label.kind}")})


def session_report(
    progress: Progress, path: str, standing: Standing | None, agreement: ReviewerAgreement | None, conflicts: int
) -> Report:
    """What a session came to."""
    about = {"n": progress.given, "done": progress.done, "total": progress.total}
    if not progress.total:
        return Report(Note("review.title_session"), [Paragraph(Note("review.nothing"), "lead")])
    key = "all_done" if progress.total == progress.done else "given" if progress.given > 0 else "none_given"
    blocks: list[Block] = [Paragraph(Note(f"review.{key}", {} if key == "all_done" else about), "lead")]
    notes = [Note("review.saved", {"path": path})]
    if progress.skipped:
        notes.append(Note("review.skipped", {"n": progress.skipped}))
    if standing is not None:
        notes += standing_notes(standing)
    if agreement is not None:
        notes.append(agreement_note(agreement))
    if conflicts:
        notes.append(Note("review.conflicts", {"n": conflicts}))
    return Report(Note("review.title_session"), [*blocks, Notes(notes)])


def standing_notes(standing: Standing) -> list[Note]:
    """Whether labels can turn the winners."""
    if standing.settled:
        return [Note("review.closed")]
    if standing.ranges:
        return [Note("review.open", {"n": len(standing.open), "all": len(standing.ranges)})]
    return [Note("review.no_range", {"reason": reason}) for reason in list(standing.reasons.values())[:1]]
