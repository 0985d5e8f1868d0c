"""Bars that show how far long work has come."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rankgauge.words.visible import visible

__all__ = ["bars"]


@contextmanager
def bars(named: Callable[[str], str] = visible) -> Iterator[Callable[[str, int, int], None] | None]:
    """A bar for each name that is told of, with rate and remaining time, on a terminal; nothing elsewhere. `named` puts
    the name into words."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich import progress
    from rich.console import Console

    rate = progress.TextColumn("{task.fields[rate]}")
    about = progress.TextColumn("{task.description}", markup=False)
    columns = (about, progress.BarColumn(), progress.MofNCompleteColumn())
    with progress.Progress(*columns, rate, progress.TimeRemainingColumn(), console=Console(stderr=True)) as drawn:
        tasks: dict[str, progress.TaskID] = {}

        def tell(name: str, done: int, total: int) -> None:
            if name not in tasks:
                tasks[name] = drawn.add_task(named(name), total=total, rate="")
            task = drawn.tasks[tasks[name]]
            drawn.update(tasks[name], completed=done, total=total, rate=f"{task.speed:.1f}/s" if task.speed else "")

        yield tell
