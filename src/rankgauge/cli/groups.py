"""Groups of commands that live in modules of their own."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any

import click

__all__ = ["LazyGroup", "Table"]

Table = Mapping[str, tuple[str, str, str]]
"""Module, attribute and summary of each command, by its name."""


class LazyGroup(click.Group):
    """A group that knows its commands by name and loads only the one that is called."""

    def __init__(self, *args: Any, table: Table, **options: Any) -> None:
        super().__init__(*args, **options)
        self.table = table

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self.table)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        if name not in self.table:
            return None
        module, attribute, _ = self.table[name]
        command = getattr(import_module(module), attribute)
        assert isinstance(command, click.Command)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] not in self.table and not args[0].startswith("-"):
            import difflib

            close = difflib.get_close_matches(args[0], self.table, n=1, cutoff=0.5)
            nearby = f" Did you mean {close[0]!r}?" if close else f" Commands: {', '.join(self.table)}."
            raise click.UsageError(f"no such command {args[0]!r}.{nearby}", ctx)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, summary) for name, (_, _, summary) in self.table.items()])
