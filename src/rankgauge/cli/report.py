"""`rankgauge report`."""

from __future__ import annotations

import click

from rankgauge.cli import options
from rankgauge.cli.echo import echo
from rankgauge.cli.showing import charts_option, chosen_format, format_option, latex_option, show
from rankgauge.words import Language

__all__ = ["report"]


@click.command()
@click.argument("source", metavar="RECORD.json")
@format_option("How to show the record. Default: by the ending of --output (.html .md .tex .csv), else for a terminal.")
@latex_option
@charts_option
@click.option("-m", "--measure", metavar="MEASURE", help="Measure of the charts of single queries. Default: the first.")
@click.option("--pair", nargs=2, metavar="A B", help="Systems of the charts of single queries. Default: every pair.")
@click.option("--open", "open_page", is_flag=True, help="Open the HTML file in the browser; needs --output.")
@options.details
@options.digits
@options.lang
@options.output
def report(
    source: str,
    form: str | None,
    latex: str | None,
    charts: str | None,
    measure: str | None,
    pair: tuple[str, str] | None,
    open_page: bool,
    details: bool,
    digits: int,
    language: Language,
    output: str | None,
) -> None:
    """Show a record that `evaluate --json` or `compare --json` wrote: as a page, a table or charts.

    The HTML page is one file that works offline: verdicts, confidence intervals, charts, and every query with its
    result lists. RECORD.json may be compressed, or - for standard input.
    """
    from rankgauge.record import Record

    form = chosen_format(form, False, output, latex=latex)
    if open_page and (form != "html" or output in (None, "-")):
        raise click.UsageError("--open needs an HTML file: -o report.html")
    options.refuse_overwriting(output, [source])
    record = Record.load(source)
    if charts:
        from rankgauge.reports.drawing import save_charts

        written = save_charts(record, charts, language, measure=measure, pair=pair, digits=digits)
        echo(f"{charts}: {len(written)} files", err=True)
    per_query = form == "trec_eval"
    show(
        record,
        form,
        digits=digits,
        language=language,
        output=output,
        per_query=per_query,
        details=details,
        latex=latex,
    )
    if open_page and output is not None:
        click.launch(output)
