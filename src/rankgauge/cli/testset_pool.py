"""`rankgauge testset pool`."""

from __future__ import annotations

import click

from rankgauge.cli import options
from rankgauge.cli.testset_showing import next_step, show
from rankgauge.words import Language

__all__ = ["pool"]


@click.command()
@click.argument("runs", metavar="[NAME=]RUN...", nargs=-1, required=True)
@click.option("-k", type=click.IntRange(1), default=20, show_default=True, help="How many documents of each system.")
@click.option(
    "--testset",
    "source",
    metavar="FILE",
    help="The queries to judge; documents that the test set judges already are left out.",
)
@click.option(
    "--labels",
    multiple=True,
    metavar="FILE",
    help="Documents with a label in this file are left out too; may be given several times.",
)
@click.option(
    "--shuffle", type=click.IntRange(0), metavar="SEED", help="Put the documents of each query in a random order."
)
@click.option("-o", "--output", required=True, metavar="FILE", help="Write the pool to this file, as JSON Lines.")
@options.json_flag
@options.lang
def pool(
    runs: tuple[str, ...],
    k: int,
    source: str | None,
    labels: tuple[str, ...],
    shuffle: int | None,
    output: str,
    as_json: bool,
    language: Language,
) -> None:
    """The documents that several systems have among their first k: those are worth a judgment.

    Each line of the pool names a query, a document, the systems that retrieved it and its best rank. What no system
    retrieves stays unjudged, so take systems of different kinds.
    """
    from rankgauge.cli.evaluate import named_runs
    from rankgauge.formats import load_testset, open_run
    from rankgauge.formats.labels import load_labels
    from rankgauge.formats.pool import save_pool
    from rankgauge.reports.building import pool_report
    from rankgauge.testsets.pooling import pooled

    named = named_runs(runs)
    options.refuse_overwriting(output, [*named.values(), *labels, *([source] if source else [])])
    test_set = None if source is None else load_testset(source)
    judged = [load_labels(path) for path in labels] + ([] if test_set is None else [test_set])
    opened = {name: open_run(path) for name, path in named.items()}
    found = pooled(opened, k, judged=judged, queries=test_set, shuffle=shuffle)
    save_pool(found.pool, output)
    show(pool_report(found), found.to_dict(), as_json, output, language)
    if output != "-" and not as_json:
        next_step("pool", language, testset=source, pool=output)
