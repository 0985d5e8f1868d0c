"""How the commands of `rankgauge testset` that score runs count."""

from __future__ import annotations

import click

from rankgauge.cli.options import together

__all__ = ["counting", "measures"]

measures = click.option(
    "-m",
    "--measure",
    "measures",
    multiple=True,
    metavar="MEASURE",
    help="A measure that is a mean over queries; may be given several times. Default: nDCG@10.",
)
counting = together(
    click.option("--contract", metavar="PRESET", help="Count as another tool does: see 'rankgauge contracts'."),
    click.option("--rel", type=float, metavar="N", help="Least grade that counts as relevant. Default: 1."),
)
