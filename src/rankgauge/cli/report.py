"""`rankgauge report`."""

from __future__ import annotations

import sys
from typing import Any

import click

from rankgauge.cli import options

__all__ = ["report"]

_FORMATS = ("html", "table", "markdown", "latex", "csv")


@click.command()
@click.argument("source", metavar="RECORD.json")
@click.option(
    "-f",
    "--format",
    "form",
    type=click.Choice(_FORMATS),
    help="How to show the record. Default: by the ending of --output (.html .md .tex .csv), else a table.",
)
@click.option("--charts", metavar="DIR", help="Write every chart as PNG and SVG into this folder.")
@click.option("-m", "--measure", metavar="MEASURE", help="Measure of the charts of single queries. Default: the first.")
@click.option("--pair", nargs=2, metavar="A B", help="Systems of the charts of single queries. Default: the first two.")
@click.option("--open", "open_page", is_flag=True, help="Open the HTML file in the browser; needs --output.")
@options.digits
@options.lang
@options.output
def report(
    source: str,
    form: str | None,
    charts: str | None,
    measure: str | None,
    pair: tuple[str, str] | None,
    open_page: bool,
    digits: int,
    language: str,
    output: str | None,
) -> None:
    """Show a record that `evaluate --json` or `compare --json` wrote: as a page, a table or charts.

    The HTML page is one file that works offline: verdicts, intervals, charts, and every query with its result lists.
    RECORD.json may be compressed, or - for standard input.
    """
    from rankgauge.evaluation.old_record import check_record
    from rankgauge.formats import Source
    from rankgauge.formats.json_values import read_json
    from rankgauge.formats.sources import write_whole
    from rankgauge.words import check_language

    form = options.chosen_form(form, False, output, _FORMATS)
    if open_page and (form != "html" or output in (None, "-")):
        raise click.UsageError("--open needs an HTML file: -o report.html")
    options.refuse_overwriting(output, [source])
    opened = Source(source)
    record = check_record(read_json(opened), opened.name)
    chosen = check_language(language)
    if charts:
        from rankgauge.reports.charts import save_charts

        written = save_charts(record, charts, chosen, measure=measure, pair=pair)
        click.echo(f"{charts}: {len(written)} files", err=True)
    write_whole(output or "-", _rendered(record, form, digits, chosen, to_file=output is not None).encode())
    if form == "csv" and output not in (None, "-"):
        from rankgauge.reports.calls import calls_files

        for name, text in calls_files(record, str(output)).items():  # a spreadsheet reads one table from a file
            write_whole(name, text.encode())
    if open_page and output is not None:
        click.launch(output)


def _rendered(record: dict[str, Any], form: str, digits: int, language: Any, *, to_file: bool) -> str:
    if form == "html":
        from rankgauge.reports.html import render_html

        return render_html(record, language)
    from rankgauge.reports.tables import terminal_width

    looks: dict[str, Any] = {"digits": digits, "language": language, "width": terminal_width(to_file=to_file)}
    looks["color"] = not to_file and sys.stdout.isatty()
    if record.get("kind") == "comparison":
        from rankgauge.reports.comparison import render as render_comparison

        return render_comparison(record, form, **looks)
    from rankgauge.reports.evaluation import render

    return render(record, form, **looks)
