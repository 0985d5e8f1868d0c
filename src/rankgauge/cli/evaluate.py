"""`rankgauge evaluate`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from rankgauge.cli import options

__all__ = ["evaluate", "evaluate_files"]

_CHOICES = {
    "missing": ("zero", "skip", "error"),
    "ties": ("trec", "given", "stable", "expected"),
    "no_relevant": ("count", "skip"),
    "duplicates": ("error", "first"),
}
_FORMATS = ("table", "json", "csv", "markdown", "latex", "trec_eval")


@click.command()
@click.argument("qrels", metavar="QRELS")
@click.argument("runs", metavar="[NAME=]RUN...", nargs=-1, required=True)
@click.option(
    "-m",
    "--measure",
    "measures",
    multiple=True,
    metavar="MEASURE",
    help="A measure, such as nDCG@10 or R@5,10,20; may be given several times. Default: nDCG@10, AP, RR, R@10, P@10.",
)
@click.option("--contract", metavar="PRESET", help="Count as another tool does: see 'rankgauge contracts'.")
@click.option(
    "--missing",
    type=click.Choice(_CHOICES["missing"]),
    help="A judged query that the run lacks counts zero (default), is skipped, or is an error.",
)
@click.option(
    "--ties",
    type=click.Choice(_CHOICES["ties"]),
    help="Order: by score, ties by document id descending (trec, default); as given; by score, ties as listed "
    "(stable); or the expected value over all tied orders.",
)
@click.option(
    "--no-relevant",
    type=click.Choice(_CHOICES["no_relevant"]),
    help="A query without relevant documents counts (default), or is skipped.",
)
@click.option(
    "--duplicates",
    type=click.Choice(_CHOICES["duplicates"]),
    help="A document twice in one list is an error (default), or the better one is kept.",
)
@click.option("--rel", type=float, metavar="N", help="Least grade that counts as relevant. Default: 1.")
@click.option("--depth", type=click.IntRange(1), metavar="N", help="Cut every list after N documents first.")
@click.option(
    "--collapse-chunks",
    metavar="REGEX",
    help="Merge chunks into documents first: the expression's first group is the document's id; or a JSON file of "
    "chunk ids and their documents.",
)
@click.option("--corpus", metavar="FILE", help="Texts of the documents (JSON Lines or a BEIR folder), for R(budget=N).")
@click.option("-q", "--per-query", is_flag=True, help="Show every query too.")
@click.option(
    "-f",
    "--format",
    "form",
    type=click.Choice(_FORMATS),
    default="table",
    show_default=True,
    help="How to show the result; trec_eval prints its own lines under its own contract.",
)
@options.json_flag
@click.option(
    "--stream", is_flag=True, help="Never hold a whole run in memory: only for TREC text in files, grouped by query."
)
@click.option(
    "--qrels-format", metavar="FORMAT", help="trec, json, jsonl, csv, tsv, parquet or beir, if detection is wrong."
)
@click.option("--run-format", metavar="FORMAT", help="The same for the runs.")
@options.digits
@options.lang
@options.output
def evaluate(
    qrels: str,
    runs: tuple[str, ...],
    measures: tuple[str, ...],
    form: str,
    as_json: bool,
    per_query: bool,
    qrels_format: str | None,
    run_format: str | None,
    digits: int,
    language: str,
    output: str | None,
    corpus: str | None,
    **choices: Any,
) -> None:
    """Score runs against judgments: mean and 95 % interval of each measure, and what a careful reader must know.

    QRELS holds the judgments: TREC text, a test-set JSON, CSV, TSV, Parquet or a BEIR folder. A RUN is TREC text, JSON,
    JSON Lines, CSV, TSV or Parquet. Each may be compressed (.gz, .zst), and one may be - for standard input.
    """
    if as_json and form not in ("table", "json"):
        raise click.UsageError(f"--json and --format {form} exclude each other")
    if as_json:
        form = "json"
    options.refuse_overwriting(
        output, [qrels, *(run for text in runs for run in (text, text.partition("=")[2]) if run)]
    )
    if form == "trec_eval" and choices["contract"] is None:
        choices["contract"] = "trec_eval"
    if corpus:
        from rankgauge.formats import load_corpus

        choices["corpus"] = load_corpus(corpus)
    if choices["collapse_chunks"] and Path(choices["collapse_chunks"]).is_file():
        from rankgauge.formats import load_chunk_mapping

        choices["collapse_chunks"] = load_chunk_mapping(choices["collapse_chunks"])
    keep = form == "json"
    record = evaluate_files(
        qrels, runs, measures, qrels_format, run_format, keep=keep, per_query=keep or per_query, **choices
    )
    show(record, form, per_query=per_query, digits=digits, language=language, output=output)


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
    from rankgauge.experiments.evaluation import DEFAULT_MEASURES, make_plan
    from rankgauge.experiments.evaluation import evaluate as score_run
    from rankgauge.experiments.record import record_of
    from rankgauge.formats import Source, load_qrels, open_run

    wanted = measures or DEFAULT_MEASURES
    make_plan(wanted, choices.get("contract"))  # a misspelled measure should not cost the time to read the files
    named = _named(runs)
    _check_standard_input([qrels, *named.values()], stream=bool(choices.get("stream")))
    judgments = load_qrels(qrels, qrels_format)
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
    return record_of(results, inputs=inputs, per_query=per_query, provenance=keep)


def show(record: dict[str, Any], form: str, *, per_query: bool, digits: int, language: str, output: str | None) -> None:
    """Print a record, or write it whole."""
    from rankgauge.formats.json_values import dumps
    from rankgauge.formats.sources import write_whole
    from rankgauge.measures.explanations import check_language
    from rankgauge.reports.evaluation import cautions, render
    from rankgauge.reports.tables import terminal_width

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


def _named(runs: tuple[str, ...]) -> dict[str, str]:
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


def _check_standard_input(paths: list[str], *, stream: bool) -> None:
    from rankgauge.errors import DataError

    if stream and "-" in paths[1:]:
        raise DataError("standard input is held in memory and cannot be streamed; give the run as a file")
    if paths.count("-") > 1:
        raise DataError("standard input (-) can be given only once")
