"""`rankgauge testset agreement`."""

from __future__ import annotations

from typing import Any

import click

from rankgauge.cli import options, testset_measuring
from rankgauge.cli.testset_showing import show
from rankgauge.words import Language

__all__ = ["agreement", "read_scale"]


@click.command()
@click.argument("sets", metavar="[NAME=]LABELS...", nargs=-1, required=True)
@click.option(
    "--run",
    "runs",
    multiple=True,
    metavar="[NAME=]RUN",
    help="Compare these runs under each set of labels; give two or more.",
)
@click.option("--scale", metavar="LOW-HIGH", help="The grades there are. Default: from 0 to the first set's highest.")
@testset_measuring.measures
@testset_measuring.counting
@click.option("--alpha", type=float, default=0.05, show_default=True, help="Level of the comparisons.")
@options.details
@options.json_flag
@options.lang
@click.pass_context
def agreement(
    ctx: click.Context,
    /,
    sets: tuple[str, ...],
    runs: tuple[str, ...],
    scale: str | None,
    measures: tuple[str, ...],
    alpha: float,
    details: bool,
    as_json: bool,
    language: Language,
    **choices: Any,
) -> None:
    """How far judges agree, and whether that changes a verdict.

    LABELS are files of labels, test sets or judgments, each held against the first; or one file of labels, whose judges
    are compared. With --run, the runs are compared under each set, on the pairs of query and document that it shares
    with the first; the exit status is 1 if a verdict changes. Intervals take queries for independent, not pairs.
    """
    from rankgauge.cli.evaluate import check_standard_input, named_runs
    from rankgauge.reports.agreement import agreement_report
    from rankgauge.testsets.agreement import agreement as hold

    if choices["rel"] is None:
        del choices["rel"]
    named = named_runs(sets)
    systems = named_runs(runs)
    check_standard_input([*named.values(), *systems.values()], stream=False)
    found = hold(
        next(iter(named.values())) if len(named) == 1 else named,
        systems or None,
        measures or "nDCG@10",
        scale=read_scale(scale),
        alpha=alpha,
        **choices,
    )
    show(agreement_report(found), found.to_dict(), as_json, None, language, details=details, digits=2)
    ctx.exit(1 if found.changed else 0)


def read_scale(text: str | None) -> tuple[float, float] | None:
    """0-3, or -1..2 where a grade is negative."""
    from rankgauge.errors import DataError

    if text is None:
        return None
    low, _, high = text.partition(".." if ".." in text else "-")
    try:
        return float(low), float(high)
    except ValueError:
        raise DataError(f"--scale {text}: write the least and the highest grade, such as 0-3 or -1..2") from None
