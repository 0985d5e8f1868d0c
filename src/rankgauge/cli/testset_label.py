"""`rankgauge testset label` and `adjudicate`: a session drawn on a terminal, or over lines where there is none."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from rankgauge.cli import options
from rankgauge.cli.testset_review import (
    corpus_option,
    labels_option,
    measures_option,
    read_all,
    scale_of,
    scale_option,
    tell_ordering,
)
from rankgauge.cli.testset_showing import next_step, show
from rankgauge.words import Language

if TYPE_CHECKING:
    from rankgauge.testsets.review.session import ReviewSession

__all__ = ["adjudicate", "label"]

_judge = click.option("--judge", required=True, metavar="NAME", help="Your name, as the labels are to have it.")
_rubric = click.option("--rubric", default="", metavar="TEXT", help="The version of what a grade means.")


@click.command()
@click.argument("source", metavar="TESTSET")
@click.argument("runs", metavar="[NAME=]RUN...", nargs=-1)
@click.option("--labels", "labels", required=True, metavar="FILE", help="Where the labels go (JSON Lines).")
@_judge
@corpus_option
@click.option("--queue", "queue_file", metavar="FILE", help="The queue that `testset queue -o queue.jsonl` wrote.")
@click.option("--pool", metavar="FILE", help="A pool of documents instead: the order is made here.")
@click.option(
    "--batch",
    type=click.IntRange(1),
    default=50,
    show_default=True,
    help="Without --queue: the most important documents come first, in batches of so many, each query by query.",
)
@measures_option
@scale_option
@_rubric
@options.json_flag
@options.lang
def label(
    source: str,
    runs: tuple[str, ...],
    labels: str,
    judge: str,
    corpus: str | None,
    queue_file: str | None,
    pool: str | None,
    batch: int,
    measures: tuple[str, ...],
    scale: str | None,
    rubric: str,
    as_json: bool,
    language: Language,
) -> None:
    """Label documents, one key each: a grade, s to skip, u to undo, n for a note, q to end, ? for help.

    Every key is saved at once; the next time goes on where this one ended, whatever ended it. With runs it says when no
    label can turn the winner of their comparison any more. Without a terminal it reads a line for each key.
    """
    from rankgauge.cli.evaluate import named_runs
    from rankgauge.errors import DataError
    from rankgauge.formats import load_testset
    from rankgauge.formats.labels import LabelFile
    from rankgauge.model.labels import Labels
    from rankgauge.testsets.review.judged import usual_scale
    from rankgauge.testsets.review.queue import review_queue
    from rankgauge.testsets.review.queued import load_queue
    from rankgauge.testsets.review.session import ReviewSession
    from rankgauge.testsets.review.standing import VerdictWatch

    if queue_file is not None and pool is not None:
        raise DataError("--queue and --pool exclude each other")
    named, grades = named_runs(runs), scale_of(scale)
    options.refuse_overwriting(labels, [path for path in (source, corpus, queue_file, pool, *named.values()) if path])
    tested, asked = load_testset(source), measures or ("nDCG@10",)
    with LabelFile(labels) as file:
        grades = grades or usual_scale(tested, file.labels)
        if queue_file is not None:
            queue = load_queue(queue_file)
        else:
            tell_ordering(named, language)
            # As if this judge had said nothing, so that the queue stays the same from one session to the next.
            others = [one for one in file.labels if (one.judge, one.kind, one.adjudicates) != (judge, "person", False)]
            choices: dict[str, Any] = {"number": None, "batch": batch, "measures": asked, "scale": grades}
            queue = review_queue(tested, Labels(others), named, pool=pool, **choices)
        watch = VerdictWatch(tested, named, asked, scale=grades) if len(named) > 1 else None
        session = ReviewSession(queue, tested, file, judge=judge, corpus=corpus, scale=grades, rubric=rubric)
        _work(session, watch, source, as_json, language)


@click.command()
@click.argument("source", metavar="TESTSET")
@labels_option
@click.option("--judge", metavar="NAME", help="Your name, as the labels are to have it.")
@corpus_option
@click.option("--list", "listing", is_flag=True, help="Only list the conflicts; exit status 1 if there are any.")
@scale_option
@_rubric
@options.json_flag
@options.lang
@click.pass_context
def adjudicate(
    ctx: click.Context,
    source: str,
    label_files: tuple[str, ...],
    judge: str | None,
    corpus: str | None,
    listing: bool,
    scale: str | None,
    rubric: str,
    as_json: bool,
    language: Language,
) -> None:
    """Settle labels that disagree: yours decides from then on.

    What others said and why is shown, without their names. With several files of --labels yours go into the first.
    """
    from rankgauge.errors import DataError
    from rankgauge.formats import load_testset
    from rankgauge.formats.label_items import item_of
    from rankgauge.formats.labels import LabelFile
    from rankgauge.reports.review import conflicts_report
    from rankgauge.testsets.review.agreement import reviewer_agreement
    from rankgauge.testsets.review.queue import review_queue
    from rankgauge.testsets.review.session import ReviewSession

    if not label_files:
        raise DataError("give the labels that may disagree with --labels")
    tested = load_testset(source)
    if listing:
        from rankgauge.model.labels import LabelPolicy

        known = read_all(label_files)
        found = known.conflicts(tested.policy or LabelPolicy())
        agreement = reviewer_agreement(known)
        data = {
            "format": "rankgauge.conflicts",
            "version": 1,
            "conflicts": [
                {"query": query, "doc": doc, "labels": [item_of(one) for one in own]}
                for (query, doc), own in found.items()
            ],
            "agreement": None if agreement is None else agreement.to_dict(),
        }
        show(conflicts_report(found, agreement), data, as_json, None, language)
        ctx.exit(1 if found else 0)
    if judge is None:
        raise DataError("--judge is the name of who decides: give it, or --list")
    options.refuse_overwriting(label_files[0], [path for path in (source, corpus, *label_files[1:]) if path])
    others = read_all(label_files[1:]) if label_files[1:] else None
    with LabelFile(label_files[0]) as file:
        known = file.labels if others is None else others.added(file.labels)
        queue = review_queue(tested, known, conflicts=True, number=None, scale=scale_of(scale))
        session = ReviewSession(
            queue,
            tested,
            file,
            judge=judge,
            corpus=corpus,
            scale=scale_of(scale),
            rubric=rubric,
            adjudicates=True,
            others=others,
        )
        _work(session, None, source, as_json, language)


def _work(session: ReviewSession, watch: Any, source: str, as_json: bool, language: Language) -> None:
    """The session from its first document to its end, and what it came to."""
    from rankgauge.cli.interrupt import Interrupted
    from rankgauge.cli.keys import is_interactive
    from rankgauge.cli.review_lines import work_by_lines
    from rankgauge.cli.review_terminal import Pace, work_on_terminal
    from rankgauge.model.labels import LabelPolicy
    from rankgauge.reports.review import session_report
    from rankgauge.testsets.review.agreement import reviewer_agreement
    from rankgauge.words import say

    pace = Pace(session, watch)
    try:
        if is_interactive() and not as_json:
            work_on_terminal(session, pace, language)
        else:
            work_by_lines(session, pace, language, quiet=as_json)
    except KeyboardInterrupt:
        raise Interrupted(say("review.interrupted", language, path=session.file.path)) from None
    labels, progress = session.file.labels, session.progress
    standing, agreement = pace.final(), reviewer_agreement(labels)
    conflicts = labels.conflicts(LabelPolicy())
    data = {
        "format": "rankgauge.review-session",
        "version": 1,
        "judge": session.judge,
        "given": progress.given,
        "done": progress.done,
        "skipped": progress.skipped,
        "total": progress.total,
        "conflicts": len(conflicts),
        "standing": None if standing is None else standing.to_dict(),
        "agreement": None if agreement is None else agreement.to_dict(),
    }
    built = session_report(progress, session.file.path, standing, agreement, len(conflicts))
    show(built, data, as_json, None, language)
    if progress.done and not as_json:
        next_step("build", language, testset=source, labels=session.file.path)
