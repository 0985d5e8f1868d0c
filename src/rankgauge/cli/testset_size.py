"""`rankgauge testset size`."""

from __future__ import annotations

from typing import Any

import click

from rankgauge.cli import options, testset_measuring
from rankgauge.cli.testset_showing import show
from rankgauge.words import Language

__all__ = ["size"]


@click.command()
@click.argument("judgments", metavar="LABELS")
@click.argument("runs", metavar="[NAME=]RUN...", nargs=-1, required=True)
@click.option(
    "-m", "--measure", metavar="MEASURE", default="nDCG@10", show_default=True, help="The measure that decides."
)
@click.option("--difference", type=float, metavar="D", help="The difference to be found. Default: the one seen.")
@click.option("--budget", type=float, metavar="COST", help="What may be spent: show what it finds.")
@click.option("--judge", metavar="FILE", help="A model's labels of the same queries: it may label, and people check.")
@click.option("--label-price", type=float, metavar="PRICE", help="Price of a label by people. Default: 1.")
@click.option("--call-price", type=float, metavar="PRICE", help="Price of a label by the model. Default: 0.")
@click.option("--power", type=float, default=0.8, show_default=True, help="Chance to find the difference.")
@click.option("--alpha", type=float, default=0.05, show_default=True, help="Level of the test.")
@click.option(
    "--most-queries", type=click.IntRange(10), default=1000, show_default=True, help="Queries that there can be."
)
@testset_measuring.counting
@options.details
@options.json_flag
@options.lang
@click.pass_context
def size(
    ctx: click.Context,
    /,
    judgments: str,
    runs: tuple[str, ...],
    measure: str,
    details: bool,
    as_json: bool,
    language: Language,
    **choices: Any,
) -> None:
    """How many queries, and labels for each, the decision between two runs takes, and what that costs.

    LABELS are people's labels that there are, in which the spread of the differences is seen; labels of fewer documents
    are tried by leaving out those deeper in the lists. The recommended option comes first; the exit status is 1 if no
    option finds the difference.
    """
    from rankgauge.cli.evaluate import named_runs
    from rankgauge.reports.sizing import size_report
    from rankgauge.testsets.sizing import plan_size

    found = plan_size(judgments, named_runs(runs), measure, **choices)
    show(size_report(found), found.to_dict(), as_json, None, language, details=details)
    ctx.exit(0 if found.recommended is not None else 1)
