"""`rankgauge testset clicks`."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import click

from rankgauge.cli import options
from rankgauge.cli.testset_showing import next_step, show
from rankgauge.words import Language, say

__all__ = ["clicks"]


@click.command()
@click.argument("logs", metavar="LOG...", nargs=-1, required=True)
@click.option("-f", "--format", "form", metavar="FORMAT", help="csv, tsv, jsonl, parquet or ubi; default: by content.")
@click.option(
    "--model",
    type=click.Choice(["auto", "pbm", "cascade", "dbn", "coec"]),
    default="auto",
    show_default=True,
    help="The click model: position-based, cascade, dynamic Bayesian network, clicks over expected clicks; auto takes "
    "the one that predicts held-out clicks best.",
)
@click.option("--scale", type=int, default=3, show_default=True, help="The highest grade.")
@click.option(
    "--cuts",
    metavar="N,N,...|quantiles",
    help="The least relevance of grades 1, 2, ..., or quantiles for grades that are equally frequent. Default: by the "
    "chances of expected reciprocal rank.",
)
@click.option(
    "--least-impressions",
    type=int,
    default=10,
    show_default=True,
    metavar="N",
    help="Pairs of query and document that were shown less often get no label.",
)
@click.option("--testset", "test_set", metavar="FILE", help="Labels for its queries, found by id or by text.")
@click.option(
    "--columns",
    multiple=True,
    metavar="WHAT=NAME",
    help="Which column holds the list, query, query_id, doc, rank, clicked, action, dwell, session, shows, clicks or "
    "docs, where its name does not tell; may be given several times.",
)
@click.option(
    "--click-actions", multiple=True, metavar="NAME", help="Events that count as a click; may be given several times."
)
@click.option(
    "--least-dwell",
    type=float,
    default=0.0,
    show_default=True,
    metavar="SECONDS",
    help="Clicks with a shorter visit do not count.",
)
@click.option("--most-per-session", type=int, metavar="N", help="Leave out sessions with more lists: robots, tests.")
@click.option("--depth", type=int, default=50, show_default=True, help="Ranks that are read.")
@click.option("--seed", type=int, default=0, show_default=True, help="Of the choice of held-out lists.")
@click.option("-o", "--output", metavar="FILE", help="Write the labels to this file, as JSON Lines.")
@options.json_flag
@options.lang
def clicks(
    logs: tuple[str, ...],
    form: Any,
    cuts: str | None,
    test_set: str | None,
    columns: tuple[str, ...],
    click_actions: tuple[str, ...],
    output: str | None,
    as_json: bool,
    language: Language,
    **choices: Any,
) -> None:
    """Labels with intervals from what people clicked.

    A log has a row for each document that was shown (query, doc, position, clicked, session), for each list (query,
    docs, clicks), for each event (action, list, doc, position), or counts of impressions and clicks; or it is in the
    format of User Behavior Insights. The exit status is 1 if no label could be given, or if the clicks tell no more
    than their ranks do.
    """
    from rankgauge.reports.click_labels import click_report
    from rankgauge.testsets.click_labels import click_labels

    if "-" in logs and len(logs) > 1:
        raise click.UsageError("standard input cannot be read beside files")
    options.refuse_overwriting(output, [*logs, *([test_set] if test_set else [])])
    if click_actions:
        choices["click_actions"] = click_actions
    with _progress(language) as progress:
        found = click_labels(
            list(logs),
            format=form,
            cuts=_cuts(cuts),
            test_set=test_set,
            columns=_columns(columns),
            progress=progress,
            **choices,
        )
    if output is not None:
        found.save(output)
    show(click_report(found), found.to_dict(), as_json, output, language)
    useful = bool(found.labels) and found.informative is not False
    if output not in (None, "-") and useful and not as_json:
        next_step("build", language, testset=test_set, labels=output)
    click.get_current_context().exit(0 if useful else 1)


def _cuts(text: str | None) -> Any:
    if text is None or text == "quantiles":
        return text
    try:
        return [float(part) for part in text.split(",")]
    except ValueError:
        raise click.UsageError(f"--cuts {text}: give rising numbers such as 0.05,0.2,0.5, or quantiles") from None


def _columns(given: tuple[str, ...]) -> dict[str, str]:
    parted = [text.partition("=") for text in given]
    if bad := [what for what, equals, name in parted if not equals or not name]:
        raise click.UsageError(f"--columns {bad[0]}: give what it holds and its name, such as doc=item")
    return {what: name for what, _, name in parted}


@contextmanager
def _progress(language: Language) -> Iterator[Any]:
    """How much was read, on a terminal's standard error."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console

    console = Console(stderr=True)
    with console.status("") as status:
        yield lambda n: status.update(say("clicks.reading", language, n=n))
