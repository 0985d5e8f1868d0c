"""`rankgauge compare` and `rankgauge compare-scores`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from rankgauge.cli import options
from rankgauge.cli.evaluate import input_paths, named_runs
from rankgauge.cli.keeping import Keeping, keeping
from rankgauge.cli.showing import charts_option, chosen_format, format_option, latex_option, show
from rankgauge.stats.significance import CORRECTIONS, TESTS
from rankgauge.words import Language

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rankgauge.comparison import Comparison
    from rankgauge.record import Record

__all__ = ["compare", "compare_scores", "testing"]


testing = options.together(
    click.option("--baseline", metavar="NAME", help="Compare all others with this system, instead of all pairs."),
    click.option(
        "--test",
        type=options.PartOf(TESTS),
        default="randomization",
        show_default=True,
        help="Randomization, t and bootstrap are about the mean difference; wilcoxon and sign are not.",
    ),
    click.option(
        "--correction",
        type=click.Choice(CORRECTIONS),
        default="holm",
        show_default=True,
        help="For the comparisons shown: holm and max-t bound the chance of any false alarm, bh the share of them.",
    ),
    click.option("--alpha", type=float, default=0.05, show_default=True, help="Level of tests and intervals."),
    click.option(
        "--equivalence-margin",
        type=float,
        default=0.01,
        show_default=True,
        help="A difference below this would not matter.",
    ),
    click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="Of the random draws."),
    click.option(
        "--samples",
        type=int,
        metavar="N",
        help="Random draws. Default: 100000, bootstrap 10000; fewer beyond 7000 queries.",
    ),
)

_showing = options.together(
    format_option("How to show the result. Default: by the ending of --output, else for a terminal.", "json"),
    latex_option,
    options.json_flag,
    charts_option,
    options.details,
    options.digits,
    options.lang,
    options.output,
)


@click.command()
@click.argument("qrels", metavar="QRELS")
@click.argument("runs", metavar="[NAME=]RUN...", nargs=-1, required=True)
@options.scoring
@options.threshold
@options.passages
@options.conversations
@testing
@click.option("--rerank", is_flag=True, help="Two runs, before=CANDIDATES after=RERANKED: split the change.")
@click.option(
    "--stage",
    "stages",
    metavar="NAME=RUN",
    multiple=True,
    help="An earlier list that all runs were made from; may be given several times, first to last. Then it is told "
    "where each run lost relevant documents, as 'rankgauge losses' does.",
)
@click.option("--ablation", metavar="NAME", help="The full system; all others are it with a part taken away.")
@click.option("--by", type=click.Choice(["tag"]), help="Also compare within each tag of the test set.")
@click.option(
    "--quick", is_flag=True, help="Leave out the ranges over unjudged documents and tied orders, and result lists."
)
@options.input_formats
@keeping
@_showing
def compare(
    qrels: str,
    runs: tuple[str, ...],
    measures: tuple[str, ...],
    rerank: bool,
    stages: tuple[str, ...],
    ablation: str | None,
    by: str | None,
    quick: bool,
    qrels_format: str | None,
    run_format: str | None,
    keep: bool,
    history: str | None,
    label: str | None,
    form: str | None,
    latex: str | None,
    as_json: bool,
    charts: str | None,
    digits: int,
    language: Language,
    details: bool,
    output: str | None,
    **choices: Any,
) -> None:
    """Compare runs on the same judgments: which differences are statistically significant, which are inconclusive.

    Each row is one measure and pair: the difference with a confidence interval, a p-value corrected for all rows
    shown, and a verdict: better, worse, equivalent (within the equivalence margin), or inconclusive.
    """
    from rankgauge.comparison import compare as compare_runs
    from rankgauge.errors import DataError
    from rankgauge.evaluation import DEFAULT_MEASURES, make_plan, signatures
    from rankgauge.formats import load_judgments, open_run

    paths: dict[str, str | None] = {**input_paths(qrels, runs, output)}
    form = chosen_format(form, as_json, output, latex=latex)
    earlier = named_runs(stages)
    paths |= {f"stage:{name}": path for name, path in earlier.items()}
    paths |= {key: choices[key] for key in ("corpus", "collapse_chunks")}
    choices["chunks"] = options.given_chunks(choices["chunks"], choices.pop("chunk_ids"))
    paths |= options.chunk_paths(choices["chunks"])
    before = signatures(paths)
    if rerank and len(runs) != 2:
        raise DataError("--rerank compares exactly two runs: before=CANDIDATES after=RERANKED")
    if ablation is not None:
        if choices["baseline"] not in (None, ablation):
            raise DataError("--ablation names the baseline; leave out --baseline")
        choices["baseline"] = ablation
    kept = Keeping(keep, history, label)
    wanted = measures or DEFAULT_MEASURES
    make_plan(wanted, choices.get("contract"))
    choices |= options.read_choices(choices)
    opened = {name: open_run(path, run_format) for name, path in named_runs(runs).items()}
    choices["stages"] = {name: open_run(path, run_format) for name, path in earlier.items()}
    comparison = compare_runs(load_judgments(qrels, qrels_format), opened, wanted, **choices)
    whole = not quick
    parts: dict[str, Any] = {"slices": by == "tag", "uncertainty": whole, "lists": whole, "rerank": None}
    if rerank:
        from rankgauge.comparison.rerank import rerank_of

        parts["rerank"] = rerank_of(comparison)
    identified = keep or form in ("json", "html")
    record = _record(comparison, paths, before, identified, **parts)
    show(record, form, charts=charts, digits=digits, language=language, output=output, details=details, latex=latex)
    kept.store(record, language)


@click.command("compare-scores")
@click.argument("files", metavar="FILE...", nargs=-1, required=True)
@options.conversations
@testing
@click.option("--lower-is-better", is_flag=True, help="Smaller scores are better, such as latency.")
@click.option("-m", "--measure", metavar="NAME", help="Which measure, where the file holds several.")
@click.option(
    "--force", is_flag=True, help="Compare records although their contracts or test sets differ; the result is on you."
)
@_showing
def compare_scores(
    files: tuple[str, ...],
    lower_is_better: bool,
    measure: str | None,
    force: bool,
    form: str | None,
    latex: str | None,
    as_json: bool,
    charts: str | None,
    digits: int,
    language: Language,
    details: bool,
    output: str | None,
    **choices: Any,
) -> None:
    """Compare per-query scores that were computed before: a CSV, or records.

    A CSV has one column for each system and one row for each query (a column `query` names it), or the columns query,
    system, value and perhaps measure. Records are those that `evaluate -o record.json` writes.
    """
    from rankgauge.comparison.stored_scores import compare_stored
    from rankgauge.evaluation import signatures

    form = chosen_format(form, as_json, output, latex=latex)
    options.refuse_overwriting(output, files)
    paths = {f"scores:{i}": path for i, path in enumerate(files, start=1)}
    before = signatures(paths)
    choices |= options.read_choices(choices)
    comparison = compare_stored(files, measure=measure, force=force, lower_is_better=lower_is_better, **choices)
    record = _record(comparison, paths, before, form in ("json", "html"))
    show(record, form, charts=charts, digits=digits, language=language, output=output, details=details, latex=latex)


def _record(
    comparison: Comparison,
    paths: Mapping[str, str | None],
    before: Mapping[str, tuple[int, ...]],
    identified: bool,
    *,
    lists: bool = True,
    **parts: Any,
) -> Record:
    """The record; an `identified` one has what identifies its inputs later, and result lists."""
    from rankgauge.evaluation import hashed

    inputs = hashed(paths if identified else {}, before)
    return comparison.to_record(inputs=inputs, provenance=identified, lists=identified and lists, **parts)
