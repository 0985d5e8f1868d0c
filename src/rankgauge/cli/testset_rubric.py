"""`rankgauge testset rubric`."""

from __future__ import annotations

import click

from rankgauge.cli import options
from rankgauge.words import Language

__all__ = ["rubric"]


@click.command()
@click.option(
    "--scale",
    type=click.Choice(["binary", "0-3", "0-10"]),
    default="0-3",
    show_default=True,
    help="The grades of the rubric.",
)
@click.option("--prompt", is_flag=True, help="Instead of the rubric: what the model is told around it.")
@click.option(
    "--prompt-lang",
    type=click.Choice(["en", "zh"]),
    default="en",
    show_default=True,
    help="Language of the rubric and the prompt.",
)
@click.option("-o", "--output", metavar="FILE", help="Write it to this file, instead of standard output.")
@options.lang
def rubric(scale: str, prompt: bool, prompt_lang: str, output: str | None, language: Language) -> None:
    """The built-in rubric or prompt of judges as TOML, to be changed and given to 'rankgauge testset judge' with
    --rubric or --prompt."""
    from rankgauge.cli.testset_showing import wrote
    from rankgauge.formats.sources import write_whole
    from rankgauge.testsets.rubric import built_in

    write_whole("-" if output is None else output, built_in(None if prompt else scale, prompt_lang).encode())
    if output is not None and output != "-":
        wrote(output, language)
