"""`rankgauge testset`: each of its commands lives in a module of its own."""

from __future__ import annotations

import click

from rankgauge.cli.groups import LazyGroup, Table

__all__ = ["testset"]

_COMMANDS: Table = {
    "agreement": ("rankgauge.cli.testset_agreement", "agreement", "How far judges agree, and what that changes."),
    "anchor": ("rankgauge.cli.testset_passages", "anchor", "Bind passages and answers to their places."),
    "correct": ("rankgauge.cli.testset_correct", "correct", "Measures and differences by people's labels on a sample."),
    "draw": ("rankgauge.cli.testset_correct", "draw", "Draw queries at random for people to check."),
    "drift": ("rankgauge.cli.testset_passages", "drift", "What became of the labels in a changed corpus."),
    "size": ("rankgauge.cli.testset_size", "size", "How many queries and labels a decision takes, and their cost."),
}


@click.group(cls=LazyGroup, table=_COMMANDS)
def testset() -> None:
    """Build a test set from nothing, judge it, check it, and care for it."""
