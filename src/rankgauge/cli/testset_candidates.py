"""`rankgauge testset candidates`."""

from __future__ import annotations

from typing import Any

import click

from rankgauge.cli import options
from rankgauge.cli.keeping import history_option, opened_history
from rankgauge.cli.testset_showing import show
from rankgauge.words import Language

__all__ = ["candidates"]


@click.command()
@click.argument("source", metavar="[LOG]", required=False)
@click.option(
    "-n", "--number", type=click.IntRange(1), help="How many queries at most. Default: 200; 20 of an incident."
)
@click.option(
    "--reason",
    "reasons",
    multiple=True,
    type=click.Choice(["failed", "no-results", "low-score", "abandoned"]),
    help="Why a query is a candidate; may be given several times. Default: all of them.",
)
@click.option(
    "--low-score", type=float, metavar="SCORE", help="A mean first score below it is low. Default: the lowest tenth."
)
@click.option(
    "--least", type=click.IntRange(1), default=2, show_default=True, help="Searches without a click that are abandoned."
)
@click.option("--testset", "known", metavar="FILE", help="Leave out what this test set asks already.")
@click.option("--column", "columns", multiple=True, metavar="ROLE=NAME", help="A column's own name: text=phrase.")
@click.option("--monitor", metavar="NAME", help="Instead of a log: the queries behind the incidents of this monitor.")
@click.option("--incident", type=int, metavar="ID", help="With --monitor: of this incident alone.")
@history_option
@click.option("-o", "--output", metavar="FILE", help="Write the candidates to this file, as a test set without labels.")
@options.json_flag
@options.lang
def candidates(
    source: str | None,
    number: int | None,
    reasons: tuple[str, ...],
    low_score: float | None,
    least: int,
    known: str | None,
    columns: tuple[str, ...],
    monitor: str | None,
    incident: int | None,
    history: str | None,
    output: str | None,
    as_json: bool,
    language: Language,
) -> None:
    """Queries from production that are worth a judgment: they failed, found nothing, scored low or were given up.

    LOG is a table or lines of JSON with a column of queries and, where they are there, the number of results and
    clicks, the first score, errors, feedback and time; or traces. The most frequent come first, near-duplicates are
    left out, and secrets, e-mail addresses and telephone numbers are masked. Candidates have no labels: judge them,
    then add them with 'rankgauge testset merge'.
    """
    from rankgauge.errors import DataError
    from rankgauge.formats import load_testset

    if (source is None) == (monitor is None):
        raise DataError("give a log, or --monitor for the incidents of one")
    if monitor is None and (incident is not None or history is not None):
        raise DataError("--incident and --history go with --monitor")
    options.refuse_overwriting(output, [path for path in (source, known) if path])
    test_set = None if known is None else load_testset(known)
    if monitor is not None:
        built, found = _of_incidents(monitor, incident, history, number, test_set)
    else:
        built, found = _of_log(source, number, reasons, low_score, least, test_set, columns)
    if output is not None:
        found.test_set.save(output, "json" if output == "-" else None)
    show(built, found.to_dict(), as_json, output, language)


def _of_incidents(monitor: str, incident: int | None, history: str | None, number: int | None, test_set: Any) -> Any:
    from rankgauge.reports.building import incidents_report
    from rankgauge.testsets.incident_queries import incident_queries

    with opened_history(history) as opened:
        found = incident_queries(opened, monitor, incident=incident, n=number or 20, test_set=test_set)
    return incidents_report(found), found


def _of_log(
    source: Any,
    number: int | None,
    reasons: tuple[str, ...],
    low_score: float | None,
    least: int,
    known: Any,
    columns: tuple[str, ...],
) -> Any:
    from rankgauge.errors import DataError
    from rankgauge.reports.building import candidates_report
    from rankgauge.testsets.candidates import REASONS
    from rankgauge.testsets.candidates import candidates as find

    named = dict(text.partition("=")[::2] for text in columns)
    if odd := [text for text in columns if "=" not in text]:
        raise DataError(f"--column {odd[0]!r} is no ROLE=NAME, such as text=phrase")
    found = find(
        source,
        n=number or 200,
        reasons=reasons or REASONS,
        low_score=low_score,
        least=least,
        known=known,
        columns=named or None,
    )
    return candidates_report(found), found
