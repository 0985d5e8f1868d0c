"""`rankgauge testset queue`, `import-reviews` and `history`."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import Any

import click

from rankgauge.cli import options
from rankgauge.cli.testset_showing import next_step, show
from rankgauge.words import Language

__all__ = [
    "corpus_option",
    "history",
    "import_reviews",
    "labels_option",
    "measures_option",
    "queue",
    "read_all",
    "scale_of",
    "scale_option",
    "tell_ordering",
]


corpus_option = click.option("--corpus", metavar="FILE", help="Texts of the documents: JSON Lines or a BEIR folder.")
labels_option = click.option(
    "--labels", "label_files", multiple=True, metavar="FILE", help="Labels, JSON Lines; may be given several times."
)
measures_option = click.option(
    "-m",
    "--measure",
    "measures",
    multiple=True,
    metavar="MEASURE",
    help="What the runs are compared by; may be given several times. Default: nDCG@10.",
)
scale_option = click.option(
    "--scale",
    metavar="SCALE",
    help="The grades: 0-3, 0-1, 0-10, or 0,1,2,4. Default: 0-3, or from 0 to the highest grade there is, up to 10.",
)


def scale_of(text: str | None) -> tuple[float, ...] | None:
    """0-3 or 0,1,2,4 as grades; None where none was given."""
    from rankgauge.errors import DataError

    if text is None:
        return None
    first, dash, last = text.partition("-")
    try:
        if dash and first:
            low, high = int(first), int(last)
            if not 0 <= high - low <= 100:
                raise ValueError
            return tuple(float(grade) for grade in range(low, high + 1))
        return tuple(float(grade) for grade in text.split(","))
    except ValueError:
        raise DataError(f"--scale {text!r}: write the grades as 0-3 or as 0,1,2,4") from None


def tell_ordering(runs: dict[str, str], language: Language) -> None:
    """Say on a terminal what takes so long, where there are runs."""
    from rankgauge.cli.echo import echo
    from rankgauge.words import say

    if runs and sys.stderr.isatty():
        echo(say("review.ordering", language), err=True)


def read_all(files: Sequence[str]) -> Any:
    """The labels of several files as one."""
    from rankgauge.formats.labels import load_labels
    from rankgauge.model.labels import Labels

    read = [load_labels(path) for path in files if path == "-" or os.path.exists(path) or len(files) > 1]
    return read[0] if len(read) == 1 else Labels([label for labels in read for label in labels])


@click.command()
@click.argument("source", metavar="TESTSET")
@click.argument("runs", metavar="[NAME=]RUN...", nargs=-1)
@labels_option
@click.option("--pool", metavar="FILE", help="Only what is in this pool.")
@corpus_option
@click.option("-n", "--number", type=click.IntRange(1), default=50, show_default=True, help="How many documents.")
@click.option("--all", "everything", is_flag=True, help="All documents that wait, not only --number.")
@click.option("--conflicts", is_flag=True, help="Only documents whose labels disagree.")
@measures_option
@click.option("--depth", type=click.IntRange(1), default=20, show_default=True, help="How deep the runs are read.")
@scale_option
@click.option("--reviewers", metavar="NAMES", help="Share the work out, such as ana,bo,cho.")
@click.option(
    "--overlap", type=float, default=0.0, metavar="SHARE", help="Share that goes to two of them, such as 0.1."
)
@click.option("--reviewer", metavar="NAME", help="Write only what is for this one.")
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="Of the order within a query.")
@click.option(
    "--separator",
    type=click.Choice(["comma", "semicolon", "tab"]),
    help="Of a sheet: Excel in German or French wants semicolons. Default: comma, or tab for .tsv.",
)
@click.option("-o", "--output", metavar="FILE", help="Write a sheet (.csv, .tsv) to fill in, or a queue (.jsonl).")
@options.json_flag
@options.lang
def queue(
    source: str,
    runs: tuple[str, ...],
    label_files: tuple[str, ...],
    pool: str | None,
    corpus: str | None,
    number: int,
    everything: bool,
    conflicts: bool,
    measures: tuple[str, ...],
    depth: int,
    scale: str | None,
    reviewers: str | None,
    overlap: float,
    reviewer: str | None,
    seed: int,
    separator: str | None,
    output: str | None,
    as_json: bool,
    language: Language,
) -> None:
    """What people should review first: documents without a label, labels that disagree, judges that were uncertain.

    With runs, the order is by what a label is worth to their comparison. A sheet or queue holds the documents of one
    query together, in random order, without ranks, systems or grades. `testset label` takes the queue, and
    `testset import-reviews` the sheet when it is filled in.
    """
    from rankgauge.cli.evaluate import named_runs
    from rankgauge.errors import DataError
    from rankgauge.formats import load_testset
    from rankgauge.reports.review import queue_report
    from rankgauge.testsets.review.queue import review_queue
    from rankgauge.testsets.review.sheets import save_sheet

    ending = os.path.splitext(output or "")[1].lower()
    if output not in (None, "-") and ending not in (".csv", ".tsv", ".jsonl"):
        raise DataError(f"{output}: write a sheet as .csv or .tsv, or a queue as .jsonl")
    if separator is not None and ending not in (".csv", ".tsv"):
        raise click.UsageError("--separator goes with -o sheet.csv")
    named = named_runs(runs)
    inputs = [path for path in (source, *label_files, pool, corpus, *named.values()) if path]
    options.refuse_overwriting(output, inputs)
    tested = load_testset(source)
    tell_ordering(named, language)
    names = [name.strip() for name in (reviewers or "").split(",") if name.strip()]
    found = review_queue(
        tested,
        read_all(label_files),
        named,
        pool=pool,
        number=None if everything else number,
        measures=measures or ("nDCG@10",),
        depth=depth,
        scale=scale_of(scale),
        conflicts=conflicts,
        reviewers=names,
        overlap=overlap,
        seed=seed,
    )
    if reviewer is not None:
        found = found.of(reviewer)
    if output is not None and ending in (".csv", ".tsv"):
        save_sheet(found, output, tested, corpus=corpus, reviewer=reviewer, separator=separator, language=language)
    elif output is not None:
        found.save(output)
    show(queue_report(found, tested, listed=output is None), found.to_dict(), as_json, output, language)
    if output not in (None, "-") and not as_json:
        step = "sheet" if ending in (".csv", ".tsv") else "label"
        next_step(step, language, testset=source, queue=output, name=reviewer)


@click.command("import-reviews")
@click.argument("sheet", metavar="SHEET")
@click.option("--labels", required=True, metavar="FILE", help="Add the labels to this file (JSON Lines).")
@click.option("--judge", metavar="NAME", help="Who reviewed it, where the sheet has no column reviewer.")
@click.option("--scale", metavar="SCALE", help="The grades that may be given: 0-3, or 0,1,2,4. Default: any number.")
@click.option("--queue", "queue_file", metavar="FILE", help="The queue or pool: rows of anything else are refused.")
@click.option("--rubric", default="", metavar="TEXT", help="The version of what a grade means.")
@click.option("--adjudicate", is_flag=True, help="These labels settle what others disagree about.")
@options.json_flag
@options.lang
def import_reviews(
    sheet: str,
    labels: str,
    judge: str | None,
    scale: str | None,
    queue_file: str | None,
    rubric: str,
    adjudicate: bool,
    as_json: bool,
    language: Language,
) -> None:
    """Take labels over from a sheet that was filled in: all rows or none.

    Commas, semicolons or tabs, as the spreadsheet left them; 2, 2.0 and 2,0 are one grade, a blank is none yet, and a
    comment is kept as the reason. Ids that a spreadsheet changed are refused with their rows. The same sheet twice
    changes nothing.
    """
    from rankgauge.reports.review import import_report
    from rankgauge.testsets.review.importing import import_reviews as take_over
    from rankgauge.testsets.review.queued import load_queue

    options.refuse_overwriting(labels, [sheet])
    found = take_over(
        sheet,
        labels,
        judge=judge,
        scale=scale_of(scale),
        queue=None if queue_file is None else load_queue(queue_file),
        rubric=rubric,
        adjudicates=adjudicate,
    )
    show(import_report(found), found.to_dict(), as_json, None, language)
    if found.graded and not as_json:
        next_step("build", language, testset=None, labels=labels)


@click.command()
@click.argument("labels", metavar="LABELS")
@click.argument("query", required=False)
@click.argument("doc", required=False)
@options.json_flag
@options.lang
@click.pass_context
def history(
    ctx: click.Context, labels: str, query: str | None, doc: str | None, as_json: bool, language: Language
) -> None:
    """Who said what of a document, when and why, and what counts now.

    Exit status 1 if nothing was said.
    """
    from rankgauge.formats.label_items import item_of
    from rankgauge.formats.labels import load_labels
    from rankgauge.model.labels import LabelPolicy
    from rankgauge.reports.review import history_report

    known, policy = load_labels(labels), LabelPolicy()
    found = known.history(query, doc)
    pair = [name for name in (query, doc) if name is not None]
    voices = known.voices.get((query or "", doc or ""), [])
    grade = policy.grade(voices)
    data = {"format": "rankgauge.label-history", "version": 1, "labels": [item_of(label) for label in found]}
    data |= {"counts_now": grade} if len(pair) == 2 else {}
    show(history_report(found, policy, voices, pair), data, as_json, None, language)
    ctx.exit(0 if found else 1)
