"""`rankgauge testset split` and `sample`."""

from __future__ import annotations

import click

from rankgauge.cli import options
from rankgauge.cli.testset_showing import show, wrote
from rankgauge.words import Language

__all__ = ["sample", "split"]

_seed = click.option("--seed", type=int, default=0, show_default=True, help="Another number draws others.")


@click.command()
@click.argument("source", metavar="TESTSET")
@click.option("--tune", required=True, metavar="FILE", help="Write the part to tune on to this file.")
@click.option("--test", required=True, metavar="FILE", help="Write the part to test on to this file.")
@click.option("--share", type=float, default=0.5, show_default=True, help="Share of the queries to tune on.")
@click.option(
    "--by",
    multiple=True,
    type=click.Choice(["tag", "difficulty"]),
    help="Make the parts alike in this; may be given twice. Difficulty takes --run.",
)
@click.option("--run", metavar="FILE", help="A run whose scores tell how difficult each query is.")
@click.option("-m", "--measure", default="nDCG@10", show_default=True, help="The measure of these scores.")
@_seed
@options.json_flag
@options.lang
def split(
    source: str,
    tune: str,
    test: str,
    share: float,
    by: tuple[str, ...],
    run: str | None,
    measure: str,
    seed: int,
    as_json: bool,
    language: Language,
) -> None:
    """Two parts of a test set: one to tune on, and one to test on that tuning has not seen.

    Turns of one conversation, and queries that are nearly the same, stay in one part.
    """
    from rankgauge.errors import DataError
    from rankgauge.formats import load_testset
    from rankgauge.model.splitting import check_by, strata_of
    from rankgauge.reports.building import split_report
    from rankgauge.testsets.difficulty import difficulty_of

    if "difficulty" in by and run is None:
        raise DataError("how difficult a query is shows in the scores of a system: give --run")
    inputs = [source, *([run] if run else [])]
    for path in (tune, test):
        options.refuse_overwriting(path, inputs)
    if tune == test:
        raise DataError(f"--tune and --test both name {tune}")
    whole = load_testset(source)
    scores = None if run is None or "difficulty" not in by else difficulty_of(whole, run, measure)
    first, second = whole.split(share, seed=seed, by=by, scores=scores)
    for part, path in ((first, tune), (second, test)):
        part.save(path)
    strata = dict(zip((query.id for query in whole), strata_of(whole, check_by(by), scores), strict=True))
    parts = {"tune": first, "test": second}
    listed = {name: [strata[query.id] for query in part] for name, part in parts.items()}
    data = {"format": "rankgauge.split", "tune": [query.id for query in first], "test": [query.id for query in second]}
    show(split_report(parts, listed), data, as_json, None, language)
    wrote(tune, language)
    wrote(test, language)


@click.command()
@click.argument("source", metavar="TESTSET")
@click.option("-n", "--number", type=click.IntRange(1), required=True, help="How many queries to draw.")
@click.option("--by", type=click.Choice(["tag"]), help="Let the tags take turns, so that rare ones are there too.")
@click.option(
    "--weights",
    metavar="FILE",
    help="How likely each query is: a JSON object by id or text, or a log with a column of queries and one of counts.",
)
@_seed
@click.option("-o", "--output", required=True, metavar="FILE", help="Write the drawn queries to this file.")
@options.json_flag
@options.lang
def sample(
    source: str,
    number: int,
    by: str | None,
    weights: str | None,
    seed: int,
    output: str,
    as_json: bool,
    language: Language,
) -> None:
    """Some queries of a test set, at random; those that are asked often are likelier with --weights."""
    from rankgauge.formats import load_testset
    from rankgauge.reports.building import summary_report
    from rankgauge.testsets.difficulty import read_weights
    from rankgauge.words import Note

    options.refuse_overwriting(output, [source, *([weights] if weights else [])])
    whole = load_testset(source)
    drawn = whole.sample(number, seed=seed, by=by, weights=None if weights is None else read_weights(weights))
    drawn.save(output, "json" if output == "-" else None)
    found = drawn.summary
    told = [Note("testsets.sampled", {"n": len(drawn), "all": len(whole)})]
    show(summary_report(found, told), found.to_dict(), as_json, output, language)
