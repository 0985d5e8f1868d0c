"""`rankgauge fuse`."""

from __future__ import annotations

import click

from rankgauge.cli import options

__all__ = ["fuse"]

_FORMATS = ("trec", "json", "jsonl", "csv", "tsv", "parquet")


@click.command()
@click.argument("runs", metavar="[NAME=]RUN...", nargs=-1, required=True)
@click.option(
    "--method",
    type=click.Choice(["rrf", "weighted"]),
    default="rrf",
    show_default=True,
    help="Sum of reciprocal ranks, or weighted sum of scores.",
)
@click.option(
    "--weights",
    metavar="W,W,...",
    help="A weight for each run, in their order or as NAME=W. Default: equal weights.",
)
@click.option(
    "--norm",
    type=click.Choice(["min-max", "z-score", "none"]),
    help="For weighted: how scores are made comparable first. Default: min-max.",
)
@click.option("--rrf-k", type=float, metavar="N", help="For rrf: the constant added to ranks. Default: 60.")
@click.option("-k", "--depth", "k", type=click.IntRange(1), default=1000, show_default=True, help="Documents kept.")
@click.option("--tag", metavar="NAME", help="Name of the fused run. Default: the names of the runs.")
@click.option("--from", "form", metavar="FORMAT", help="Format of the runs, if detection is wrong.")
@click.option("--to", type=click.Choice(_FORMATS), help="Format of the output, if its ending does not tell.")
@options.output
def fuse(
    runs: tuple[str, ...],
    method: str,
    weights: str | None,
    norm: str | None,
    rrf_k: float | None,
    k: int,
    tag: str | None,
    form: str | None,
    to: str | None,
    output: str | None,
) -> None:
    """Fuse runs into one, query by query.

    A RUN is TREC text, JSON, JSON Lines, CSV, TSV or Parquet; one may be - for standard input. The ending of the
    output tells its format; standard output is TREC text.
    """
    from rankgauge.cli.evaluate import check_standard_input, named_runs
    from rankgauge.errors import DataError
    from rankgauge.formats import load_run
    from rankgauge.formats.convert import save
    from rankgauge.formats.detect import format_of_name
    from rankgauge.retrievers import fusion

    named = named_runs(runs)
    if len(named) < 2:
        raise DataError("fusing needs at least two runs")
    for option, value, needed in (("--norm", norm, "weighted"), ("--rrf-k", rrf_k, "rrf")):
        if value is not None and method != needed:
            raise DataError(f"{option} is for --method {needed}, but the method is {method}")
    shares = None if weights is None else _weights(weights)
    check_standard_input(list(named.values()), stream=False)
    options.refuse_overwriting(output, named.values())
    loaded = {name: load_run(path, form) for name, path in named.items()}
    fused = fusion.fuse(loaded, method, shares, 60 if rrf_k is None else rrf_k, norm or "min-max", k, name=tag)
    target = output or "-"
    save(fused, target, to or format_of_name(target) or "trec")


def _weights(text: str) -> list[float] | dict[str, float]:
    """Weights as `0.3,0.7` in the order of the runs, or as `bm25=0.3,dense=0.7`."""
    from rankgauge.errors import DataError

    weights: list[tuple[str, float]] = []
    for part in text.split(","):
        name, _, number = part.rpartition("=")
        try:
            weights.append((name.strip(), float(number)))
        except ValueError:
            raise DataError(f"--weights {text}: {part!r} is no weight; write numbers such as 0.3,0.7") from None
    names = [name for name, _ in weights if name]
    if names and len(set(names)) < len(weights):
        raise DataError(f"--weights {text}: give a name to all weights or to none, and each name once")
    return dict(weights) if names else [weight for _, weight in weights]
