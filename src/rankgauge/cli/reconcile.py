"""`rankgauge reconcile`."""

from __future__ import annotations

import click

from rankgauge.cli import options
from rankgauge.words import Language

__all__ = ["reconcile"]


@click.command()
@click.argument("qrels", metavar="QRELS")
@click.argument("run", metavar="RUN")
@click.option("-m", "--measure", required=True, metavar="MEASURE", help="The measure, such as nDCG@10.")
@click.option(
    "--value", required=True, metavar="FIGURE", help="The figure to be explained, with the digits it was shown with."
)
@options.json_flag
@options.lang
def reconcile(qrels: str, run: str, measure: str, value: str, as_json: bool, language: Language) -> None:
    """Why does my number differ from theirs? Try every contract and variant of a measure, and list what fits.

    Exit status 0 if a variant gives the figure to its shown digits, 1 if none does.
    """
    from rankgauge.evaluation.reconcile import reconcile as search
    from rankgauge.reports import reconciliation
    from rankgauge.reports.tables import terminal_width

    found = search(qrels, run, measure, value)
    if as_json:
        click.echo(reconciliation.as_json(found))
    else:
        click.echo(reconciliation.render(found, language, width=terminal_width()), nl=False)
    if not found.matches:
        raise SystemExit(1)
