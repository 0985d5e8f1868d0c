"""`rankgauge history trend`."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

from rankgauge.cli import options
from rankgauge.cli.history_shared import WORDS, counted, moment, opened_history, to_json
from rankgauge.cli.keeping import history_option

if TYPE_CHECKING:
    from rankgauge.history.rows import Point

__all__ = ["trend"]

_TRENDS = {".svg": "svg", ".png": "png", ".html": "html", ".htm": "html", ".csv": "csv", ".json": "json"}
_SHOWN = 30


@click.command()
@click.argument("measure", metavar="MEASURE")
@click.option("--system", metavar="NAME", help="Only this system.")
@click.option("--label", metavar="TEXT", help="Only records with this label.")
@click.option("--since", metavar="TIME", help="A date, a time, or so long ago: 12h, 7d, 4w.")
@click.option(
    "--limit",
    type=click.IntRange(1),
    metavar="N",
    help="The newest so many records. Default: 30 in the terminal, all in a file.",
)
@history_option
@options.json_flag
@options.digits
@options.lang
@click.option("-o", "--output", metavar="FILE", help="Write a chart (.svg .png .html) or the points (.csv .json).")
def trend(
    measure: str,
    system: str | None,
    label: str | None,
    since: str | None,
    limit: int | None,
    history: str | None,
    as_json: bool,
    digits: int,
    language: str,
    output: str | None,
) -> None:
    """Show a measure's mean with its interval over time, and where the test set or the contract changed."""
    from rankgauge.formats.sources import write_whole

    form = "json" if as_json else _trend_form(output)
    wanted = limit or (_SHOWN if form == "table" else None)
    with opened_history(history) as opened:
        points = opened.trend(measure, system=system, label=label, since=moment(since), limit=wanted)
    write_whole(output or "-", _trend(points, form, digits, language))
    words = WORDS[language]
    if output:
        click.echo(words["written"].format(path=output, n=counted(len(points), "point", language)), err=True)
    elif form == "table" and limit is None and len({point.record_id for point in points}) == _SHOWN:
        click.echo(words["more"].format(n=_SHOWN))


def _trend_form(output: str | None) -> str:
    if output is None:
        return "table"
    name = output.lower().removesuffix(".gz").removesuffix(".zst")
    form = next((kind for ending, kind in _TRENDS.items() if name.endswith(ending)), None)
    if form is None:
        raise click.UsageError(f"{output}: the ending tells what to write: {' '.join(_TRENDS)}")
    return form


def _trend(points: list[Point], form: str, digits: int, language: str) -> bytes:
    from rankgauge.reports import trend as reports
    from rankgauge.reports.tables import terminal_width
    from rankgauge.words import check_language

    chosen = check_language(language)
    if form == "json":
        return to_json(reports.trend_data(points)).encode()
    if form == "csv":
        return reports.trend_csv(points).encode()
    if form == "table":
        looks: dict[str, Any] = {"width": terminal_width(), "color": sys.stdout.isatty()}
        return reports.render_trend(points, digits=digits, language=chosen, **looks).encode()
    from rankgauge.reports.charts import drawn
    from rankgauge.reports.trend_chart import trend_chart

    drawing = drawn(trend_chart(points, chosen), chosen, ["png" if form == "png" else "svg"])
    if form == "html":
        return reports.trend_html(points, drawing["svg"].decode(), digits=digits, language=chosen).encode()
    return drawing[form]
