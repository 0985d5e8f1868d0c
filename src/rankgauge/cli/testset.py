"""`rankgauge testset`: each of its commands lives in a module of its own."""

from __future__ import annotations

import click

from rankgauge.cli.groups import LazyGroup, Table

__all__ = ["testset"]

_COMMANDS: Table = {
    "build": ("rankgauge.cli.testset_building", "build", "A test set from annotations and files of labels."),
    "show": ("rankgauge.cli.testset_building", "show_testset", "What a test set holds, and who labelled it."),
    "diff": ("rankgauge.cli.testset_building", "diff", "What changed from one version to another."),
    "merge": ("rankgauge.cli.testset_building", "merge", "Test sets put together."),
    "split": ("rankgauge.cli.testset_parts", "split", "Two parts that are alike, to tune on and to test on."),
    "sample": ("rankgauge.cli.testset_parts", "sample", "Some of the queries, by tag and by how often they are asked."),
    "pool": ("rankgauge.cli.testset_pool", "pool", "Documents of several systems that are worth a judgment."),
    "candidates": ("rankgauge.cli.testset_candidates", "candidates", "Queries from logs and incidents to judge."),
    "anchor": ("rankgauge.cli.testset_passages", "anchor", "Bind passages and answers to their places."),
    "drift": ("rankgauge.cli.testset_passages", "drift", "What became of the labels in a changed corpus."),
    "generate": ("rankgauge.cli.testset_generate", "generate", "Make a test set of documents."),
    "judge": ("rankgauge.cli.testset_judge", "judge", "Let language models grade documents, within a budget."),
}


@click.group(cls=LazyGroup, table=_COMMANDS)
def testset() -> None:
    """Build a test set from nothing, judge it, check it, and care for it."""
