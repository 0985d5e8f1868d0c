"""`rankgauge testset`: each of its commands lives in a module of its own."""

from __future__ import annotations

import click

from rankgauge.cli.groups import LazyGroup, Table

__all__ = ["testset"]

_COMMANDS: Table = {
    "anchor": ("rankgauge.cli.testset_passages", "anchor", "Bind passages and answers to their places."),
    "drift": ("rankgauge.cli.testset_passages", "drift", "What became of the labels in a changed corpus."),
    "generate": ("rankgauge.cli.testset_generate", "generate", "Make a test set of documents."),
    "judge": ("rankgauge.cli.testset_judge", "judge", "Let language models grade documents, within a budget."),
}


@click.group(cls=LazyGroup, table=_COMMANDS)
def testset() -> None:
    """Build a test set from nothing, judge it, check it, and care for it."""
