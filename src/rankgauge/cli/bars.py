"""Bars that show how far long work has come."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from typing import Any

from rankgauge.words import Language, say
from rankgauge.words.visible import visible

__all__ = ["bars", "watched"]

_LONG = 100 * 10**6  # bytes of a run whose reading takes a while


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
    look: dict[str, Any] = {"console": Console(stderr=True), "transient": True}  # what is left to see is the result
    with progress.Progress(*columns, rate, progress.TimeRemainingColumn(), **look) as drawn:
        tasks: dict[str, progress.TaskID] = {}

        def tell(name: str, done: int, total: int) -> None:
            if name not in tasks:
                tasks[name] = drawn.add_task(named(name), total=total, rate="")
            task = drawn.tasks[tasks[name]]
            drawn.update(tasks[name], completed=done, total=total, rate=f"{task.speed:.1f}/s" if task.speed else "")

        yield tell


@contextmanager
def watched(runs: Mapping[str, Any], language: Language) -> Iterator[None]:
    """Bars for the reading of large runs."""
    large = {name: run for name, run in runs.items() if getattr(run, "size", 0) > _LONG}
    if not large:
        yield
        return
    with bars() as tell:
        for name, run in large.items():
            run.progress = None if tell is None else partial(_told, tell, name, language)
        try:
            yield
        finally:
            for run in large.values():
                run.progress = None


def _told(
    tell: Callable[[str, int, int], None], run: str, language: Language, what: str, done: int, total: int
) -> None:
    """The bytes that were read in megabytes; parts as they are."""
    unit = 10**6 if what == "read" else 1
    tell(say(f"evaluation.bar_{what}", language, run=run), done // unit, total // unit)
