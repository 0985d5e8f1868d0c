"""`rankgauge testset lint`."""

from __future__ import annotations

from typing import Any

import click

from rankgauge.cli import options
from rankgauge.words import Language, say

__all__ = ["lint"]

_FAIL_ON = ("error", "warning", "info", "never")


@click.command()
@click.argument("source", metavar="TESTSET")
@click.argument("runs", metavar="[[NAME=]RUN]...", nargs=-1)
@click.option(
    "--corpus",
    metavar="FILE",
    help="Texts of the documents: JSON Lines, a BEIR folder, or a folder of .md and .txt files.",
)
@click.option("--queries", metavar="FILE", help="Texts of the queries, where TESTSET holds judgments alone.")
@click.option("--labels", metavar="FILE", help="Labels with their judges: who gave the grades.")
@click.option("--against", metavar="OTHER", help="Another test set: queries of both leak from one to the other.")
@click.option("--scale", type=(float, float), metavar="LOW HIGH", help="The lowest and the highest grade there is.")
@click.option(
    "--probe", metavar="FILE", help="What 'testset judge --probe N --json' printed: how far documents lead the judge."
)
@click.option("--difference", type=float, metavar="D", help="The difference between systems that has to be found.")
@click.option("-m", "--measure", default="nDCG@10", show_default=True, help="What runs are scored by.")
@click.option("--only", multiple=True, metavar="CHECK", help="Make this check alone; may be given several times.")
@click.option("--skip", multiple=True, metavar="CHECK", help="Leave this check out; may be given several times.")
@click.option(
    "--fail-on",
    type=click.Choice(_FAIL_ON),
    default="error",
    show_default=True,
    help="The exit status is 1 if there is such a finding, or a more severe one.",
)
@click.option("--mend", is_flag=True, help="Write a test set with what needs no judgment mended, to --output.")
@click.option(
    "--drop",
    is_flag=True,
    help="Write a test set without the queries of findings that go with them, to --output: one of two that are nearly "
    "the same, those that hold their answer or have nothing relevant. Choose with --only.",
)
@click.option(
    "-o", "--output", metavar="FILE", help="Write the mended test set to this file; the old one is never changed."
)
@click.option(
    "--to-judge",
    metavar="FILE",
    help="Write the documents that a person's label would mend to this file, as a pool for 'testset label'.",
)
@click.option("--from", "form", metavar="FORMAT", help="Format of TESTSET, if detection is wrong.")
@click.option("--details", is_flag=True, help="Show all findings with more examples, and what each check lacks.")
@options.json_flag
@options.lang
@click.pass_context
def lint(
    ctx: click.Context,
    source: str,
    runs: tuple[str, ...],
    corpus: str | None,
    queries: str | None,
    labels: str | None,
    against: str | None,
    scale: tuple[float, float] | None,
    probe: str | None,
    difference: float | None,
    measure: str,
    only: tuple[str, ...],
    skip: tuple[str, ...],
    fail_on: Any,
    mend: bool,
    drop: bool,
    output: str | None,
    to_judge: str | None,
    form: str | None,
    details: bool,
    as_json: bool,
    language: Language,
) -> None:
    """Check a test set before it is trusted: queries, documents, grades, labels, and what runs tell of it.

    Each finding comes with an example and what mends it. More is checked with --corpus, runs, --labels, --against
    and --probe.
    The exit status is 1 if there are errors; with --mend or --drop, if some are left.
    """
    from rankgauge.cli.bars import bars
    from rankgauge.cli.evaluate import named_runs
    from rankgauge.cli.testset_showing import show, wrote
    from rankgauge.formats.pool import save_pool
    from rankgauge.reports.lint import lint_report
    from rankgauge.testsets.lint.findings import Mended
    from rankgauge.testsets.lint.linting import lint as check

    if mend and drop:
        raise click.UsageError("--mend and --drop write a test set each: give them one after the other")
    if (mend or drop) != (output is not None):
        raise click.UsageError("--mend and --output go together, or --drop and --output: they write a new test set")
    named = named_runs(runs) if runs else {}
    inputs = (source, *named.values(), corpus, queries, labels, against, probe)
    for written in (output, to_judge):
        options.refuse_overwriting(written, [path for path in inputs if path])
    with bars(lambda _: say("lint.comparing", language)) as tell:
        found = check(
            source,
            corpus,
            named or None,
            labels,
            queries=queries,
            against=against,
            scale=scale,
            probe=probe,
            difference=difference,
            measure=measure,
            only=only,
            skip=skip,
            format=form,
            progress=tell,
        )
    data, mends = found.to_dict(), None
    if output is not None:
        mends = [Mended("dropped", query) for query in found.dropped] if drop else found.mends
        (found.kept if drop else found.mended).save(output, "json" if output == "-" else None)
        data["mended"] = [{"kind": one.kind, "query": one.query, "doc": one.doc, "to": one.to} for one in mends]
    if to_judge is not None:
        save_pool(found.to_judge, to_judge)
    show(
        lint_report(found, mends, whole=details),
        data,
        as_json,
        output,
        language,
        details=details,
    )
    if to_judge is not None:
        wrote(to_judge, language)
    ctx.exit(1 if found.fails(fail_on, mended=mend, dropped=drop) else 0)
