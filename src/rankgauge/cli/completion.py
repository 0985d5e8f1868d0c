"""`rankgauge completion`."""

from __future__ import annotations

import click

__all__ = ["completion"]


@click.command()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def completion(shell: str) -> None:
    """Print the script that completes commands and options in a shell.

    For bash: eval "$(rankgauge completion bash)" in ~/.bashrc; for zsh and fish likewise.
    """
    from click.shell_completion import get_completion_class

    from rankgauge.cli.app import app

    kind = get_completion_class(shell)
    assert kind is not None
    click.echo(kind(app, {}, "rankgauge", "_RANKGAUGE_COMPLETE").source())
