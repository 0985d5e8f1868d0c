"""`rankgauge testset draw` and `correct`."""

from __future__ import annotations

from typing import Any

import click

from rankgauge.cli import options, testset_measuring
from rankgauge.cli.echo import echo
from rankgauge.cli.testset_showing import next_step, show
from rankgauge.words import Language, say

__all__ = ["correct", "draw"]

@click.command()
@click.argument("labels", metavar="LABELS")
@click.argument("runs", metavar="[[NAME=]RUN...]", nargs=-1)
@click.option("-n", "n", type=click.IntRange(1), default=40, show_default=True, help="How many queries to draw.")
@click.option("--depth", type=click.IntRange(1), metavar="N", help="Only documents among the first N of a run.")
@click.option(
    "--strata",
    type=click.Choice(["score", "tag", "none"]),
    help="Draw from queries on which the runs score alike (score, the default with runs), from those of each tag, or "
    "from all together.",
)
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="Of the draw.")
@testset_measuring.measures
@testset_measuring.counting
@options.conversations
@click.option("--sample", metavar="FILE", required=True, help="Write what was drawn to this file, for 'correct'.")
@click.option("-o", "--output", metavar="FILE", help="Write the documents to be labelled to this file, as a pool.")
@options.json_flag
@options.lang
def draw(
    labels: str,
    runs: tuple[str, ...],
    n: int,
    depth: int | None,
    strata: str | None,
    seed: int,
    measures: tuple[str, ...],
    contract: str | None,
    rel: float | None,
    conversations: str | None,
    sample: str,
    output: str | None,
    as_json: bool,
    language: Language,
) -> None:
    """Draw queries at random for people to check.

    LABELS are the judge's: a file of labels, a test set or judgments. All documents of a drawn query that the judge
    labelled are to be labelled by people, since nDCG and AP of a query need all of them. The order is random too: if
    people stop early, the queries they finished are a random sample as well.
    """
    from rankgauge.cli.evaluate import named_runs
    from rankgauge.errors import DataError
    from rankgauge.formats.pool import save_pool
    from rankgauge.reports.correction import sample_report
    from rankgauge.testsets.sampling import draw_sample

    named = named_runs(runs)
    for path in (sample, output):
        options.refuse_overwriting(path, [labels, *named.values()])
    if sample == output:
        raise DataError("--sample and --output are one file; name two")
    choices = options.read_choices({"conversations": conversations})
    found = draw_sample(
        labels,
        n,
        named or None,
        measures or "nDCG@10",
        depth=depth,
        strata=strata,
        seed=seed,
        contract=contract,
        rel=rel,
        conversations=choices.get("conversations", conversations),
    )
    found.save(sample)
    if output is not None:
        save_pool(found.pool, output)
    show(sample_report(found), found.to_dict(), as_json, output, language)
    echo(say("spans.wrote", language, path=sample), err=True)
    if output not in (None, "-") and not as_json:
        more = [word for measure in measures for word in ("-m", measure)]
        next_step("draw", language, testset=None, pool=output, judge=labels, runs=[*runs, "--sample", sample, *more])


@click.command()
@click.argument("judge", metavar="JUDGE")
@click.argument("people", metavar="PEOPLE")
@click.argument("runs", metavar="[NAME=]RUN...", nargs=-1, required=True)
@click.option("--sample", metavar="FILE", help="What 'draw' wrote.")
@click.option(
    "--incomplete",
    type=click.Choice(["error", "skip"]),
    default="error",
    show_default=True,
    help="A drawn query that people labelled in part, or not yet.",
)
@testset_measuring.measures
@testset_measuring.counting
@options.conversations
@click.option("--alpha", type=float, default=0.05, show_default=True, help="Level of the intervals.")
@click.option(
    "--equivalence-margin", type=float, default=0.01, show_default=True, help="A difference that would not matter."
)
@options.details
@options.json_flag
@options.lang
@click.pass_context
def correct(
    ctx: click.Context,
    /,
    judge: str,
    people: str,
    runs: tuple[str, ...],
    sample: str | None,
    measures: tuple[str, ...],
    conversations: str | None,
    details: bool,
    as_json: bool,
    language: Language,
    **choices: Any,
) -> None:
    """Means and differences by people's labels, from a judge's on all queries and people's on a sample.

    JUDGE holds the judge's labels, PEOPLE those of people on all documents of the drawn queries; both may be one file
    of labels. What the judge was off on the sample corrects all of its scores, and widens their intervals. The exit
    status is 1 if the verdict of a difference is inconclusive, or another one than by the judge's labels alone.
    """
    from rankgauge.cli.evaluate import named_runs
    from rankgauge.reports.correction import corrected_report
    from rankgauge.testsets.correction import corrected

    rules = options.read_choices({"conversations": conversations})
    found = corrected(
        judge,
        people,
        named_runs(runs),
        measures or "nDCG@10",
        sample=sample,
        conversations=rules.get("conversations", conversations),
        **choices,
    )
    show(corrected_report(found), found.to_dict(), as_json, None, language, details=details)
    ctx.exit(0 if found.confirmed else 1)
