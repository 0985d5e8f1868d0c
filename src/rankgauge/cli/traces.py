"""`rankgauge evaluate-traces`."""

from __future__ import annotations

from typing import Any

import click

from rankgauge.cli import options
from rankgauge.cli.compare import testing
from rankgauge.cli.evaluate import named_runs
from rankgauge.cli.keeping import Keeping, keeping
from rankgauge.cli.showing import chosen_format, format_option, latex_option, show
from rankgauge.words import Language

__all__ = ["evaluate_traces"]


@click.command("evaluate-traces")
@click.argument("test_set", metavar="TESTSET")
@click.argument("traces", metavar="[NAME=]TRACES...", nargs=-1, required=True)
@options.scoring
@options.conversations
@click.option(
    "--order",
    type=click.Choice(["calls", "ranks", "rrf"]),
    default="calls",
    show_default=True,
    help="How the lists of several calls are one: documents as first seen, by best rank, or by reciprocal rank fusion.",
)
@click.option(
    "--budget",
    "budgets",
    multiple=True,
    metavar="BUDGET",
    help="Also score what fits: calls<=2, documents<=20 or tokens<=4000; calls stands for each number of calls. May be "
    "given several times.",
)
@click.option("--query-id", metavar="ATTRIBUTE", help="Of spans: the attribute that holds the query's id.")
@testing
@format_option("How to show the result. Default: by the ending of --output, else for a terminal.", "json")
@latex_option
@options.json_flag
@keeping
@options.details
@options.digits
@options.lang
@options.output
def evaluate_traces(
    test_set: str,
    traces: tuple[str, ...],
    measures: tuple[str, ...],
    form: str | None,
    latex: str | None,
    as_json: bool,
    keep: bool,
    history: str | None,
    label: str | None,
    digits: int,
    language: Language,
    details: bool,
    output: str | None,
    **choices: Any,
) -> None:
    """Score traces of agents: several retrieval calls for one question, as one list, call by call, within budgets.

    TRACES is JSON Lines, one line for each question or each call, or spans of OpenTelemetry: OTLP JSON, or Phoenix's
    exports (JSON Lines, CSV, Parquet). Several are compared.
    """
    from rankgauge.comparison.traces import evaluate_traces as score_traces
    from rankgauge.evaluation import DEFAULT_MEASURES, make_plan

    form = chosen_format(form, as_json, output, latex=latex)
    named = named_runs(traces)
    options.refuse_overwriting(output, [test_set, *named.values()])
    for unused in ("ties", "duplicates"):
        if choices.pop(unused) is not None:
            raise click.UsageError(
                f"--{unused} has no use here: the order of calls decides, and no document counts twice"
            )
    kept = Keeping(keep, history, label)
    choices |= options.read_choices(choices)
    wanted = measures or DEFAULT_MEASURES
    make_plan(wanted, choices["contract"])
    found = score_traces(test_set, named, wanted, **choices)
    record = found.to_record(provenance=keep or form in ("json", "html"))
    show(record, form, digits=digits, language=language, output=output, details=details, latex=latex)
    kept.store(record, language)
