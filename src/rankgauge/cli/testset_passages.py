"""`rankgauge testset anchor` and `drift`."""

from __future__ import annotations

from typing import Any

import click

from rankgauge.cli import options
from rankgauge.cli.testset_showing import show
from rankgauge.words import Language

__all__ = ["anchor", "drift"]


_corpus = click.option(
    "--corpus",
    metavar="FILE",
    help="Texts of the documents: JSON Lines, a BEIR folder, or a folder of .md and .txt files.",
)
_output = click.option(
    "-o", "--output", metavar="FILE", help="Write the new test set to this file; the old one is never changed."
)


@click.command()
@click.argument("source", metavar="TESTSET")
@_corpus
@click.option("--all", "every", is_flag=True, help="A passage that stands in several places means all of them.")
@click.option("--first", is_flag=True, help="A passage that stands in several places means the first.")
@click.option("--chunks", metavar="FILE", help="Labels that name these chunks become passages too.")
@click.option(
    "--chunk-ids",
    metavar="REGEX",
    help=r"The same, with places read from the ids: '^(?P<doc>.+)-(?P<start>\d+)-(?P<end>\d+)$'.",
)
@click.option("--from", "form", metavar="FORMAT", help="Format of TESTSET, if detection is wrong.")
@_output
@options.json_flag
@options.lang
@click.pass_context
def anchor(
    ctx: click.Context,
    source: str,
    corpus: str | None,
    every: bool,
    first: bool,
    chunks: str | None,
    chunk_ids: str | None,
    form: str | None,
    output: str | None,
    as_json: bool,
    language: Language,
) -> None:
    """Bind quoted passages and answers to the characters of the documents they stand in.

    What stands once is bound; what stands in several places, or nowhere, is listed, with the place that is most like
    it, and the exit status is 1. White space, quotation marks, dashes, soft hyphens and composed letters make no
    difference.
    """
    from rankgauge.errors import DataError
    from rankgauge.formats import load_testset
    from rankgauge.reports.testsets import anchor_report
    from rankgauge.testsets.anchoring import anchor as bind

    if every and first:
        raise click.UsageError("--all and --first exclude each other")
    if chunks is not None and chunk_ids is not None:
        raise DataError("--chunks and --chunk-ids exclude each other")
    options.refuse_overwriting(output, [path for path in (source, corpus, chunks) if path])
    tested = load_testset(source, form)
    known: Any = chunks
    if chunk_ids is not None:
        from rankgauge.model.chunks import Chunks

        known = Chunks.of_ids(dict.fromkeys(doc for query in tested for doc in query.relevant), chunk_ids)
    found = bind(tested, corpus, several="all" if every else "first" if first else None, chunks=known)
    if output is not None:
        found.test_set.save(output, "json" if output == "-" else None)
    show(anchor_report(found), found.to_dict(), as_json, output, language)
    ctx.exit(0 if found.complete else 1)


@click.command()
@click.argument("source", metavar="TESTSET")
@_corpus
@click.option("--old", metavar="FILE", help="The corpus that the labels were made for.")
@click.option("--chunks", metavar="FILE", help="The chunks of now: which passages do they cut, or hold together?")
@click.option("--mend", is_flag=True, help="Write a test set with moved passages at their new places, to --output.")
@_output
@options.json_flag
@options.lang
@click.pass_context
def drift(
    ctx: click.Context,
    source: str,
    corpus: str | None,
    old: str | None,
    chunks: str | None,
    mend: bool,
    output: str | None,
    as_json: bool,
    language: Language,
) -> None:
    """What became of the labels after the corpus was updated, or cut into other chunks.

    Each passage is valid, moved, in several places, or orphaned; documents are there, changed, without text
    or gone. The exit status is 1 if a label no longer holds; with --mend, if one could not be mended.
    """
    from rankgauge.errors import DataError
    from rankgauge.reports.testsets import drift_report
    from rankgauge.testsets.drift import label_drift

    if corpus is None:
        raise DataError("--corpus names the texts of the documents as they are now: give it")
    if mend != (output is not None):
        raise click.UsageError("--mend and --output go together: they write a new test set")
    options.refuse_overwriting(output, [path for path in (source, corpus, old, chunks) if path])
    found = label_drift(source, corpus, old=old, chunks=chunks)
    if output is not None:
        found.mended.save(output, "json" if output == "-" else None)
    show(drift_report(found), found.to_dict(), as_json, output, language)
    ctx.exit(0 if found.unchanged or (mend and not found.lost and not found.lost_documents) else 1)
