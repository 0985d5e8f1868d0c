"""`rankgauge measures`, `rankgauge explain` and `rankgauge contracts`."""

from __future__ import annotations

import click

from rankgauge.cli import options
from rankgauge.words import Language

__all__ = ["contracts", "explain", "measures"]


@click.command()
@options.lang
@options.json_flag
def measures(language: Language, as_json: bool) -> None:
    """List all measures, and which to use when."""
    from rankgauge.reports.explanation import measures_json, render_measures
    from rankgauge.reports.tables import terminal_width

    click.echo(measures_json() if as_json else render_measures(language, width=terminal_width()))


@click.command()
@click.argument("measure", metavar="MEASURE")
@options.lang
@options.json_flag
def explain(measure: str, language: Language, as_json: bool) -> None:
    """Explain a MEASURE, in any spelling: formula, worked example, range, use, spellings and scenario targets."""
    from rankgauge.measures import parse_measures
    from rankgauge.reports.explanation import explain as explained
    from rankgauge.reports.explanation import explanation_json
    from rankgauge.reports.tables import terminal_width, wrapped

    for parsed in parse_measures(measure):
        if as_json:
            click.echo(explanation_json(parsed))
        else:
            text = explained(parsed, language)
            click.echo("\n".join(wrapped(line, terminal_width(), "    ") for line in text.split("\n")))


@click.command()
@options.lang
@options.json_flag
def contracts(language: Language, as_json: bool) -> None:
    """List the contract presets: how other tools count."""
    from rankgauge.reports.explanation import contracts_json, render_contracts
    from rankgauge.reports.tables import terminal_width

    click.echo(contracts_json() if as_json else render_contracts(language, width=terminal_width()))
