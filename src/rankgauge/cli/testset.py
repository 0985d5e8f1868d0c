"""`rankgauge testset`: each of its commands lives in a module of its own."""

from __future__ import annotations

import click

from rankgauge.cli.groups import LazyGroup, Table

__all__ = ["testset"]

_COMMANDS: Table = {
    "anchor": ("rankgauge.cli.testset_passages", "anchor", "Bind passages and answers to their places."),
    "drift": ("rankgauge.cli.testset_passages", "drift", "What became of the labels in a changed corpus."),
    "queue": ("rankgauge.cli.testset_review", "queue", "What people should review first; sheets to do it in."),
    "label": ("rankgauge.cli.testset_label", "label", "Label documents in the terminal, one key each."),
    "import-reviews": ("rankgauge.cli.testset_review", "import_reviews", "Take labels over from a filled-in sheet."),
    "adjudicate": ("rankgauge.cli.testset_label", "adjudicate", "Settle labels that disagree."),
    "history": ("rankgauge.cli.testset_review", "history", "Who said what of a document, and when."),
}


@click.group(cls=LazyGroup, table=_COMMANDS)
def testset() -> None:
    """Build a test set from nothing, judge it, check it, and care for it."""
