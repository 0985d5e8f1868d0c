"""`rankgauge history trend`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from rankgauge.cli import options
from rankgauge.cli.echo import echo
from rankgauge.cli.keeping import history_option, moment, opened_history
from rankgauge.cli.showing import terminal_look
from rankgauge.words import say

if TYPE_CHECKING:
    from rankgauge.history.rows import Point
    from rankgauge.history.store import History
    from rankgauge.reports.series import Marks
    from rankgauge.words import Language

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
@click.option("--baseline", metavar="NAME", help="Draw this baseline. Default: those of the systems shown.")
@click.option(
    "--target",
    "targets",
    multiple=True,
    metavar="TARGET",
    help="Draw this target too, such as 'nDCG@10 >= 0.7'; may be repeated. Those of the baselines are drawn anyway.",
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
    baseline: str | None,
    targets: tuple[str, ...],
    history: str | None,
    as_json: bool,
    digits: int,
    language: Language,
    output: str | None,
) -> None:
    """Show a measure's mean with its confidence interval over time, and where the test set or the contract changed.

    A chart shows baselines and targets as lines, and marks significant changes from record to record.
    """
    from rankgauge.formats.sources import write_whole

    form = "json" if as_json else _trend_form(output)
    wanted = limit or (_SHOWN if form == "terminal" else None)
    with opened_history(history) as opened:
        points = opened.trend(measure, system=system, label=label, since=moment(since), limit=wanted)
        marks = _marks(opened, points, form, baseline, targets)
    write_whole(output or "-", _trend(points, marks, form, digits, language))
    if output:
        echo(say("history.written_points", language, path=output, n=len(points)), err=True)
    elif form == "terminal" and limit is None and len({point.record_id for point in points}) == _SHOWN:
        echo(say("history.more", language, n=_SHOWN))


def _trend_form(output: str | None) -> str:
    if output is None:
        return "terminal"
    name = output.lower().removesuffix(".gz").removesuffix(".zst")
    form = next((kind for ending, kind in _TRENDS.items() if name.endswith(ending)), None)
    if form is None:
        raise click.UsageError(f"{output}: the ending tells what to write: {' '.join(_TRENDS)}")
    return form


def _marks(
    opened: History, points: list[Point], form: str, baseline: str | None, targets: tuple[str, ...]
) -> Marks | None:
    """What is read from whole records, where it is shown."""
    if form in ("terminal", "csv"):
        if baseline is not None or targets:
            raise click.UsageError("--baseline and --target go with a chart (-o trend.html, .svg or .png) or --json")
        return None
    from rankgauge.reports.trend_marks import marks_of

    return marks_of(opened, points, baseline=baseline, targets=targets)


def _trend(points: list[Point], marks: Marks | None, form: str, digits: int, language: Language) -> bytes:
    from rankgauge.reports import report
    from rankgauge.reports.trend import trend_report

    if form == "json":
        from rankgauge.formats.json_values import dumps
        from rankgauge.reports.series import trend_data

        return dumps(trend_data(points, marks))
    if form in ("svg", "png"):
        from rankgauge.reports.drawing import drawn
        from rankgauge.reports.trend_chart import trend_chart

        return drawn(trend_chart(points, language, digits, marks), language, [form])[form]
    look = terminal_look()
    return report(trend_report(points, marks), format=form, digits=digits, language=language, **look).encode()
