"""`rankgauge power` and `rankgauge audit`."""

from __future__ import annotations

from typing import Any

import click

from rankgauge.cli import options
from rankgauge.cli.echo import echo
from rankgauge.words import Language

__all__ = ["audit", "power"]


@click.command()
@click.argument("files", metavar="[QRELS [NAME=]RUN [NAME=]RUN]", nargs=-1)
@options.scoring
@options.conversations
@click.option("--difference", type=float, metavar="D", help="The true difference to be found.")
@click.option("--queries", type=click.IntRange(2), metavar="N", help="How many queries there are to be.")
@click.option("--sd", type=float, metavar="S", help="Spread of the per-query differences, instead of data.")
@click.option("--power", "chance", type=float, default=0.8, show_default=True, help="Chance to find the difference.")
@click.option("--alpha", type=float, default=0.05, show_default=True, help="Level of the test.")
@options.json_flag
@options.lang
def power(
    files: tuple[str, ...],
    measures: tuple[str, ...],
    difference: float | None,
    queries: int | None,
    sd: float | None,
    chance: float,
    alpha: float,
    as_json: bool,
    language: Language,
    **choices: Any,
) -> None:
    """How many queries find a difference, or what difference so many queries find.

    The spread of the per-query differences comes from two runs, or from --sd. With --difference the number of queries
    follows, with --queries the smallest difference, with both the chance to find it. It is the power of the paired t
    test, which the randomization test shares for all but the smallest test sets.
    """
    from rankgauge.cli.evaluate import named_runs
    from rankgauge.comparison.power import power as find_sizes
    from rankgauge.evaluation import DEFAULT_MEASURES
    from rankgauge.formats.json_values import dumps

    choices |= options.read_choices(choices)
    sizes = find_sizes(
        files[0] if files else None,
        named_runs(files[1:]) if files else None,
        measures or DEFAULT_MEASURES,
        difference=difference,
        queries=queries,
        power=chance,
        alpha=alpha,
        sd=sd,
        **choices,
    )
    if as_json:
        click.echo(dumps([size.to_dict() for size in sizes]).decode())
        return
    for size in sizes:
        echo(size.sentence(language))


@click.command()
@click.option("--n", "n", type=int, required=True, help="How many queries the figures are means of.")
@click.option("--value", type=float, required=True, help="The published mean, between 0 and 1.")
@click.option("--baseline", type=float, help="The mean it was compared with.")
@click.option("--alpha", type=float, default=0.05, show_default=True, help="Level of test and interval.")
@options.json_flag
@options.lang
def audit(n: int, value: float, baseline: float | None, alpha: float, as_json: bool, language: Language) -> None:
    """What a published table can mean when only the number of queries and the means are known."""
    from rankgauge.comparison.power import audit as look_at
    from rankgauge.formats.json_values import dumps

    found = look_at(n, value, baseline, alpha=alpha)
    if as_json:
        click.echo(dumps(found.to_dict()).decode())
        return
    for line in found.sentences(language):
        echo(line)
