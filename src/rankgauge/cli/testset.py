"""`rankgauge testset`: each of its commands lives in a module of its own."""

from __future__ import annotations

import click

from rankgauge.cli.groups import LazyGroup, Table

__all__ = ["testset"]

_COMMANDS: Table = {
    "build": ("rankgauge.cli.testset_building", "build", "A test set from annotations and files of labels."),
    "generate": ("rankgauge.cli.testset_generate", "generate", "Make a test set of documents."),
    "candidates": ("rankgauge.cli.testset_candidates", "candidates", "Queries from logs and incidents to judge."),
    "pool": ("rankgauge.cli.testset_pool", "pool", "Documents of several systems that are worth a judgment."),
    "judge": ("rankgauge.cli.testset_judge", "judge", "Let language models grade documents, within a budget."),
    "rubric": ("rankgauge.cli.testset_rubric", "rubric", "The built-in rubric or prompt of judges, to be changed."),
    "clicks": ("rankgauge.cli.testset_clicks", "clicks", "Labels with intervals from what people clicked."),
    "queue": ("rankgauge.cli.testset_review", "queue", "What people should review first; sheets to do it in."),
    "label": ("rankgauge.cli.testset_label", "label", "Label documents in the terminal, one key each."),
    "import-reviews": ("rankgauge.cli.testset_review", "import_reviews", "Take labels over from a filled-in sheet."),
    "adjudicate": ("rankgauge.cli.testset_label", "adjudicate", "Settle labels that disagree."),
    "history": ("rankgauge.cli.testset_review", "history", "Who said what of a document, and when."),
    "show": ("rankgauge.cli.testset_building", "show_testset", "What a test set holds, and who labelled it."),
    "diff": ("rankgauge.cli.testset_building", "diff", "What changed from one version to another."),
    "merge": ("rankgauge.cli.testset_building", "merge", "Test sets put together."),
    "split": ("rankgauge.cli.testset_parts", "split", "Two parts that are alike, to tune on and to test on."),
    "sample": ("rankgauge.cli.testset_parts", "sample", "Some of the queries, by tag and by how often they are asked."),
    "agreement": ("rankgauge.cli.testset_agreement", "agreement", "How far judges agree, and what that changes."),
    "draw": ("rankgauge.cli.testset_correct", "draw", "Draw queries at random for people to check."),
    "correct": ("rankgauge.cli.testset_correct", "correct", "Measures and differences by people's labels on a sample."),
    "size": ("rankgauge.cli.testset_size", "size", "How many queries and labels a decision takes, and their cost."),
    "lint": ("rankgauge.cli.testset_lint", "lint", "What is wrong with a test set."),
    "anchor": ("rankgauge.cli.testset_passages", "anchor", "Bind passages and answers to their places."),
    "drift": ("rankgauge.cli.testset_passages", "drift", "What became of the labels in a changed corpus."),
}


@click.group(cls=LazyGroup, table=_COMMANDS)
def testset() -> None:
    """Build a test set from nothing, judge it, check it, and care for it."""
