"""`rankgauge evaluate`."""

from __future__ import annotations

import glob
from pathlib import Path
from typing import Any

import click

from rankgauge.cli import options
from rankgauge.cli.bars import watched
from rankgauge.cli.keeping import Keeping, keeping
from rankgauge.cli.quick import begin_quickly
from rankgauge.cli.showing import chosen_format, format_option, latex_option, scenario_option, show
from rankgauge.formats.names import own_name, short_names
from rankgauge.words import Language

__all__ = ["check_standard_input", "evaluate", "input_paths", "named_runs"]


@click.command()
@click.argument("qrels", metavar="QRELS")
@click.argument("runs", metavar="[NAME=]RUN...", nargs=-1, required=True)
@options.scoring
@options.threshold
@options.passages
@options.conversations
@click.option("-q", "--per-query", is_flag=True, help="Show every query too.")
@format_option(
    "How to show the result; trec_eval prints its own lines under its own contract. Default: by the ending of "
    "--output, else for a terminal.",
    "json",
)
@latex_option
@options.json_flag
@click.option(
    "--stream", is_flag=True, help="Never hold a whole run in memory, however small; large ones never are. Not JSON."
)
@options.input_formats
@click.option(
    "--engine",
    type=click.Choice(["local", "spark"]),
    default="local",
    show_default=True,
    help="Where the runs are read and matched; spark reads Parquet, CSV, TSV and TREC text on its executors.",
)
@keeping
@options.details
@scenario_option
@options.digits
@options.lang
@options.output
def evaluate(
    qrels: str,
    runs: tuple[str, ...],
    measures: tuple[str, ...],
    form: str | None,
    latex: str | None,
    as_json: bool,
    per_query: bool,
    qrels_format: str | None,
    run_format: str | None,
    engine: str,
    keep: bool,
    history: str | None,
    label: str | None,
    digits: int,
    language: Language,
    details: bool,
    scenario: str | None,
    output: str | None,
    **choices: Any,
) -> None:
    """Score runs against judgments: mean and 95 % confidence interval of each measure, and notes on what to mind.

    QRELS holds the judgments: TREC text, a test-set JSON, CSV, TSV, Parquet, Arrow or a BEIR folder. A RUN is TREC
    text, JSON, JSON Lines, CSV, TSV, Parquet or Arrow. Each may be compressed (.gz, .zst), and one may be - for
    standard input. A folder, a pattern in quotes ('runs/*.parquet') or a URL such as s3://... stands for all its part
    files.
    """
    if engine == "local" and not choices["stream"]:
        begin_quickly(qrels, list(named_runs(runs).values()), choices["ties"] or "trec")
    from rankgauge.evaluation import DEFAULT_MEASURES, hashed, make_plan, record_of, signatures
    from rankgauge.evaluation import evaluate as score_run
    from rankgauge.formats import load_judgments, load_qrels, open_run
    from rankgauge.model.judgments import Qrels
    from rankgauge.model.testset import TestSet

    paths = input_paths(qrels, runs, output, stream=choices["stream"])
    form = chosen_format(form, as_json, output, latex=latex)
    if form == "trec_eval" and choices["contract"] is None:
        choices["contract"] = "trec_eval"
    kept = Keeping(keep, history, label)
    choices |= options.read_choices(choices)
    wanted = measures or DEFAULT_MEASURES
    make_plan(wanted, choices["contract"])  # a misspelled measure should not cost the time to read the files
    whole = keep or form in ("json", "html")
    named = {**paths, **options.chunk_paths(choices["chunks"])}
    before = signatures(named if whole else {})
    told = not Path(qrels).is_dir()  # a test set tells of conversations and passages, and a record keeps its tags
    choices["chunks"] = options.read_chunks(choices["chunks"])
    judgments = load_judgments(qrels, qrels_format) if told else load_qrels(qrels, qrels_format)
    stream, on_spark = choices["stream"], engine == "spark"
    opened: dict[str, Any] = {}
    if on_spark:
        results = _on_spark(judgments, named_runs(runs), run_format, wanted, choices)
    else:
        opened = {name: open_run(path, run_format, stream=stream) for name, path in named_runs(runs).items()}
        with watched(opened, language):
            results = [score_run(judgments, run, wanted, name=name, **choices) for name, run in opened.items()]
    inputs = hashed(named if whole else {}, before)
    tags = judgments if whole else None
    record = record_of(results, inputs=inputs, per_query=whole or per_query or details, provenance=whole, test_set=tags)
    merged = any(choices.get(key) for key in ("chunks", "chunk_ids", "collapse_chunks"))  # its lists are not the run's
    if form == "html" and not merged and not on_spark and isinstance(judgments, TestSet | Qrels):
        from rankgauge.comparison.recording import with_lists

        known = judgments if isinstance(judgments, TestSet) else None
        grades = judgments if isinstance(judgments, Qrels) else judgments.qrels
        record = with_lists(record, results, opened, grades, known, choices["corpus"])
    show(
        record,
        form,
        per_query=per_query,
        digits=digits,
        language=language,
        output=output,
        details=details,
        scenario=scenario,
        latex=latex,
    )
    kept.store(record, language)


def _on_spark(
    judgments: Any, runs: dict[str, str], form: str | None, measures: Any, choices: dict[str, Any]
) -> list[Any]:
    """The runs scored by Spark, which needs the lists alone."""
    from rankgauge.errors import DataError
    from rankgauge.spark import evaluate as score_on_spark
    from rankgauge.spark import read_run
    from rankgauge.spark.session import session

    kept = dict(choices)
    for name in ("stream", "chunks", "collapse_chunks", "corpus", "overlap"):
        if kept.pop(name, None):
            raise DataError(f"--engine spark has no --{name.replace('_', '-')}: leave it out, or score locally")
    started = session()
    return [
        score_on_spark(read_run(started, path, form), judgments, measures, name=name, **kept)
        for name, path in runs.items()
    ]


def named_runs(runs: tuple[str, ...]) -> dict[str, str]:
    """Runs by name: NAME=FILE, or a file's own name without its ending and without what all of them begin with."""
    from rankgauge.errors import DataError

    named: dict[str, str] = {}
    own = short_names([own_name(text) for text in runs if _is_path(text)])
    for text in runs:
        name, _, path = text.partition("=")
        if _is_path(text):
            path = text
            name = own[own_name(text)] if text != "-" else "stdin"
        if not name or not path:
            raise DataError(f"{text!r}: write a run as FILE or NAME=FILE")
        if name in named:
            raise DataError(f"two runs are named {name!r}; name them apart, such as a={named[name]} b={path}")
        named[name] = path
    return named


def _is_path(text: str) -> bool:
    """Whether all of it is a path, which may hold a = too: s3://bucket/date=3, runs/date=*."""
    before, equals, _ = text.partition("=")
    return not equals or "://" in before or Path(text).exists() or bool(glob.glob(text))


def input_paths(qrels: str, runs: tuple[str, ...], output: str | None, *, stream: bool = False) -> dict[str, str]:
    """The input files by what they are, if they can be read beside one another and the output is none of them."""
    paths = {"judgments": qrels, **{f"run:{name}": path for name, path in named_runs(runs).items()}}
    options.refuse_overwriting(output, paths.values())
    check_standard_input(list(paths.values()), stream=stream)
    return paths


def check_standard_input(paths: list[str], *, stream: bool) -> None:
    from rankgauge.errors import DataError

    if stream and "-" in paths[1:]:
        raise DataError("standard input is held in memory and cannot be streamed; give the run as a file")
    if paths.count("-") > 1:
        raise DataError("standard input (-) can be given only once")
