"""`rankgauge evaluate`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from rankgauge.cli import options
from rankgauge.cli.keeping import Keeping, keeping

__all__ = ["check_standard_input", "evaluate", "evaluate_files", "named_runs"]

_FORMATS = ("table", "json", "csv", "markdown", "latex", "trec_eval")


@click.command()
@click.argument("qrels", metavar="QRELS")
@click.argument("runs", metavar="[NAME=]RUN...", nargs=-1, required=True)
@options.scoring
@click.option("-q", "--per-query", is_flag=True, help="Show every query too.")
@click.option(
    "-f",
    "--format",
    "form",
    type=click.Choice(_FORMATS),
    help="How to show the result; trec_eval prints its own lines under its own contract. Default: by the ending of "
    "--output, else a table.",
)
@options.json_flag
@click.option(
    "--stream", is_flag=True, help="Never hold a whole run in memory: only for TREC text in files, grouped by query."
)
@options.input_formats
@keeping
@options.digits
@options.lang
@options.output
def evaluate(
    qrels: str,
    runs: tuple[str, ...],
    measures: tuple[str, ...],
    form: str | None,
    as_json: bool,
    per_query: bool,
    qrels_format: str | None,
    run_format: str | None,
    keep: bool,
    history: str | None,
    label: str | None,
    digits: int,
    language: str,
    output: str | None,
    **choices: Any,
) -> None:
    """Score runs against judgments: mean and 95 % interval of each measure, and what a careful reader must know.

    QRELS holds the judgments: TREC text, a test-set JSON, CSV, TSV, Parquet or a BEIR folder. A RUN is TREC text, JSON,
    JSON Lines, CSV, TSV or Parquet. Each may be compressed (.gz, .zst), and one may be - for standard input.
    """
    form = options.chosen_form(form, as_json, output, _FORMATS)
    options.refuse_overwriting(
        output, [qrels, *(run for text in runs for run in (text, text.partition("=")[2]) if run)]
    )
    if form == "trec_eval" and choices["contract"] is None:
        choices["contract"] = "trec_eval"
    kept = Keeping(keep, history, label)
    choices |= options.read_choices(choices)
    whole = keep or form == "json"
    record = evaluate_files(
        qrels, runs, measures, qrels_format, run_format, keep=whole, per_query=whole or per_query, **choices
    )
    show(record, form, per_query=per_query, digits=digits, language=language, output=output)
    kept.store(record, language)


def evaluate_files(
    qrels: str,
    runs: tuple[str, ...],
    measures: tuple[str, ...],
    qrels_format: str | None = None,
    run_format: str | None = None,
    *,
    keep: bool = False,
    per_query: bool = False,
    **choices: Any,
) -> dict[str, Any]:
    """The record of an evaluation of files; `keep` adds what identifies the inputs later."""
    from rankgauge.evaluation import DEFAULT_MEASURES, make_plan
    from rankgauge.evaluation import evaluate as score_run
    from rankgauge.evaluation.old_record import record_of
    from rankgauge.formats import Source, load_judgments, load_qrels, open_run

    wanted = measures or DEFAULT_MEASURES
    make_plan(wanted, choices.get("contract"))  # a misspelled measure should not cost the time to read the files
    named = named_runs(runs)
    check_standard_input([qrels, *named.values()], stream=bool(choices.get("stream")))
    whole = keep and Path(qrels).is_file()  # a record keeps the tags of a test set
    judgments = load_judgments(qrels, qrels_format) if whole else load_qrels(qrels, qrels_format)
    sources = {name: Source(path) for name, path in named.items()}
    results = [
        score_run(judgments, open_run(source, run_format), wanted, name=name, **choices)
        for name, source in sources.items()
    ]
    inputs: dict[str, dict[str, Any]] = {}
    if keep:
        if Path(qrels).is_file():
            inputs["judgments"] = {"path": qrels, "sha256": Source(qrels).sha256()}
        inputs |= {f"run:{name}": {"path": source.name, "sha256": source.sha256()} for name, source in sources.items()}
    return record_of(results, inputs=inputs, per_query=per_query, provenance=keep, test_set=judgments)


def show(record: dict[str, Any], form: str, *, per_query: bool, digits: int, language: str, output: str | None) -> None:
    """Print a record, or write it whole."""
    from rankgauge.formats.json_values import dumps
    from rankgauge.formats.sources import write_whole
    from rankgauge.reports.evaluation import cautions, render
    from rankgauge.reports.tables import terminal_width
    from rankgauge.words import check_language

    if form == "json":
        data = dumps(record)
    else:
        data = render(
            record,
            form,
            digits=digits,
            language=check_language(language),
            per_query=per_query,
            width=terminal_width(to_file=output is not None),
            color=output is None and sys.stdout.isatty(),
        ).encode()
    write_whole(output or "-", data)
    if form in ("csv", "latex", "trec_eval"):  # these have no place for remarks
        for warning in cautions(record, check_language(language)):
            click.echo(f"rankgauge: {warning}", err=True)


def named_runs(runs: tuple[str, ...]) -> dict[str, str]:
    """Runs by name: NAME=FILE, or a file's own name."""
    from rankgauge.errors import DataError

    named: dict[str, str] = {}
    for text in runs:
        name, equals, path = text.partition("=")
        if not equals or Path(text).exists():
            path = text
            name = Path(text).name if text != "-" else "stdin"
        if not name or not path:
            raise DataError(f"{text!r}: write a run as FILE or NAME=FILE")
        if name in named:
            raise DataError(f"two runs are named {name!r}; name them apart, such as a={named[name]} b={path}")
        named[name] = path
    return named


def check_standard_input(paths: list[str], *, stream: bool) -> None:
    from rankgauge.errors import DataError

    if stream and "-" in paths[1:]:
        raise DataError("standard input is held in memory and cannot be streamed; give the run as a file")
    if paths.count("-") > 1:
        raise DataError("standard input (-) can be given only once")
