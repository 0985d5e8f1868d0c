"""`rankgauge monitor`."""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TextIO

import click

from rankgauge.cli import options
from rankgauge.cli.echo import echo, tell_imports
from rankgauge.cli.interrupt import Interrupted
from rankgauge.cli.keeping import print_json
from rankgauge.cli.streams import systems_apart
from rankgauge.words import Language, Note, say, tell

if TYPE_CHECKING:
    from rankgauge.history.store import History
    from rankgauge.monitoring.loop.log import LogFormat
    from rankgauge.monitoring.loop.monitor import Monitor
    from rankgauge.monitoring.loop.plan import MonitorPlan

__all__ = ["monitor"]

_GRACE = 5.0
"""Seconds after a signal to end, beyond those in which retrievers are called, before what hangs is left."""
_INSTANT = 0.1


@click.command()
@click.argument("plan", metavar="PLAN.toml")
@click.option("--once", is_flag=True, help="Check once and end: for cron and systemd timers.")
@click.option("--every", metavar="TIME", help="Check again and again: 15m, 1h, 1d. Default: the plan's.")
@click.option("--check", is_flag=True, help="Only check whether the plan is right.")
@click.option("--status", is_flag=True, help="Show what is watched and what is open; nothing is called.")
@click.option("--relearn", is_flag=True, help="Forget what was learned, after a change that was meant.")
@click.option("--history", "location", metavar="PATH|URL", help="Where the history is kept; default: the plan's.")
@click.option("--metrics-port", type=int, metavar="PORT", help="Serve /metrics for Prometheus on this port.")
@click.option("--metrics-host", default="127.0.0.1", show_default=True, help="Address to serve the metrics on.")
@click.option(
    "--log-format",
    type=click.Choice(["text", "json"]),
    default="text",
    show_default=True,
    help="How the log on standard error is written: lines for people, or JSON objects, one on each line.",
)
@options.json_flag
@options.lang
def monitor(
    plan: str,
    once: bool,
    every: str | None,
    check: bool,
    status: bool,
    relearn: bool,
    location: str | None,
    metrics_port: int | None,
    metrics_host: str,
    log_format: LogFormat,
    as_json: bool,
    language: Language,
) -> None:
    """Watch live retrievers: check them on schedule, keep every check, and raise one alert when something has changed.

    The plan is one for `rankgauge run`, with a table [monitor] and channels [[alert]]. Checking often does not raise
    false alarms: the evidence of all checks is weighed together, and how rarely chance alone can raise an alarm is
    stated by --status.

    \b
    Exit status of --once: 0 nothing is open, 1 an incident is open, 2 an error, 3 another monitor is running.
    """
    from rankgauge.errors import DataError
    from rankgauge.monitoring.loop.checking import check_monitor_plan
    from rankgauge.monitoring.loop.log import log_line
    from rankgauge.monitoring.loop.monitor import Monitor
    from rankgauge.monitoring.loop.opening import open_history
    from rankgauge.monitoring.loop.plan import load_monitor_plan, seconds_of

    log = _log_as(log_format)
    if check:
        tell_imports(plan, language)
        with systems_apart():
            loaded = check_monitor_plan(plan, history=location)
        systems = [system.name for system in loaded.run.systems]
        channels = [channel.name for channel in loaded.channels]
        fine = say("monitor.plan_fine", language, path=plan, name=loaded.name, systems=systems, channels=channels)
        echo(fine)
        return
    with systems_apart():
        asked = not (status or relearn)
        loaded = load_monitor_plan(plan, history=location, imports=asked)
    seconds = seconds_of(every) if every else loaded.every
    if seconds is None and not (once or status or relearn):
        raise DataError('say when to check: --once, --every 1h, or every = "1h" in [monitor]')
    if relearn or status:
        with open_history(loaded) as history:
            if relearn:
                _relearn(history, loaded, language, lambda note: log(log_line(note, language, log_format)))
            if status:
                _show(history, loaded, as_json, language)
        return
    served = (metrics_port, metrics_host)
    try:
        if once:
            made = Monitor(loaded, open_history(loaded), log, language, log_format=log_format)
            with _watching(made, *served) as watcher:
                sys.exit(_once(watcher, as_json))
        assert seconds is not None
        _forever(loaded, seconds, served, log, (language, log_format))
    except KeyboardInterrupt:  # which click would call an abort, with the status of an open incident
        raise Interrupted("interrupted") from None


@contextmanager
def _watching(watcher: Monitor, port: int | None, host: str) -> Iterator[Monitor]:
    """A monitor with its metrics; at the end both let go of what they have."""
    try:
        if port is None:
            yield watcher
            return
        from rankgauge.monitoring.loop.metrics import Metrics

        watcher.metrics = Metrics()
        watcher.begin_metrics()
        with watcher.metrics.serve(port, host) as server:
            watcher.say("metrics_at", host=server.host, port=server.port)
            yield watcher
    finally:
        watcher.history.close()


def _forever(
    plan: MonitorPlan,
    every: float,
    served: tuple[int | None, str],
    log: Callable[[str], None],
    form: tuple[Language, LogFormat],
) -> None:
    """Check on schedule until a signal comes. The first one ends it after the check at hand, the second at once; what
    is stored is whole either way."""
    import os
    import threading
    import time
    from contextlib import suppress

    from rankgauge.monitoring.loop.log import log_line
    from rankgauge.monitoring.loop.monitor import Monitor
    from rankgauge.monitoring.loop.opening import await_history

    stop = threading.Event()
    signals: list[int] = []
    watchers: list[Monitor] = []

    def say_in_log(note: Note) -> None:
        log(log_line(note, *form))

    def end(number: int, frame: object) -> None:
        signals.append(number)
        if len(signals) > 1:
            raise KeyboardInterrupt
        # In a thread: the one that is interrupted here may be holding the event's lock.
        threading.Thread(target=leave, daemon=True).start()
        with suppress(RuntimeError):  # it may be in the middle of a line of the log
            say_in_log(
                Note("monitor.stopping_check" if any(watcher.checking for watcher in watchers) else "monitor.stopping")
            )

    def leave() -> None:
        """End; by force where something hangs but the retrievers, which have their own limits. A check is spooled by
        then, and what is half written the history takes back."""
        stop.set()
        left = _GRACE
        while left > 0:
            time.sleep(_INSTANT)
            left -= 0 if any(watcher.watchdog.step == "calls" for watcher in watchers) else _INSTANT
        with suppress(RuntimeError):
            say_in_log(Note("monitor.left_hanging"))
        os._exit(0)

    signal.signal(signal.SIGTERM, end)
    signal.signal(signal.SIGINT, end)
    history = await_history(plan, every, say_in_log, stop)
    if history is not None:
        language, log_format = form
        made = Monitor(plan, history, log, language, log_format=log_format, stop=stop)
        with _watching(made, *served) as watcher:
            watchers.append(watcher)
            with systems_apart():
                watcher.forever(every)


def _log_as(form: LogFormat) -> Callable[[str], None]:
    """What writes a line of the log."""
    if form == "text":
        stream = sys.stderr  # a system may put another one into its place
        return lambda text: _log(text, stream)
    from rankgauge.cli.json_log import log_as_json

    return log_as_json().put


def _log(text: str, stream: TextIO) -> None:
    import datetime

    echo(f"{datetime.datetime.now(datetime.UTC):%Y-%m-%dT%H:%M:%SZ} {text}", file=stream)


def _relearn(history: History, plan: MonitorPlan, language: Language, log: Callable[[Note], None]) -> None:
    import datetime

    from rankgauge.errors import DataError
    from rankgauge.history.lease import Lease
    from rankgauge.monitoring.alerts.delivery import deliver_due
    from rankgauge.monitoring.loop.ingest import relearn

    lease = Lease(history, f"monitor {plan.name}")
    if not lease.acquire():
        raise DataError(f"a monitor is running {plan.name!r}: stop the monitor first, relearn, start it again")
    try:
        held, now = history.fenced(lease.fence), datetime.datetime.now(datetime.UTC)
        deliver_due(held, plan.channels, now, log, monitor=plan.name, language=plan.language, at_once=True)
        count = relearn(held, plan.name, now)
    finally:
        lease.release()
    echo(say("monitor.relearned", language, name=plan.name, count=count))


def _show(history: History, plan: MonitorPlan, as_json: bool, language: Language) -> None:
    from rankgauge.monitoring.loop.status import status_of

    state = status_of(history, plan)
    if as_json:
        print_json(state.to_dict())
        return
    from rankgauge.reports.monitoring import render_status
    from rankgauge.reports.tables import terminal_width

    click.echo(render_status(state, language=language, width=terminal_width()), nl=False)


def _once(watcher: Monitor, as_json: bool) -> int:
    """One check; the exit status."""
    from rankgauge.history.incidents import open_by_kind

    with systems_apart():
        done = watcher.once()
    if done is None:
        return 3 if watcher.stood_by else 2
    standing = open_by_kind(watcher.history, watcher.plan.name)
    if as_json:
        shown: dict[str, Any] = {"monitor": watcher.plan.name, "check": done.number, "status": done.status}
        changes = {"opened": done.opened, "closed": done.closed}
        shown |= {key: [tell(note, watcher.plan.language) for note in notes] for key, notes in changes.items()}
        shown["open"] = standing
        print_json(shown)
    return 1 if standing else 0
