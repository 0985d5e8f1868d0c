"""`rankgauge monitor`."""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

from rankgauge.cli import options

if TYPE_CHECKING:
    from rankgauge.history.store import History
    from rankgauge.monitoring.monitor import Monitor
    from rankgauge.monitoring.plan import MonitorPlan

__all__ = ["monitor"]

_WORDS = {
    "en": {
        "fine": "{path}: monitor {name!r}, {systems}, alerts to {channels}: nothing wrong with it",
        "calls": "metrics at http://{host}:{port}/metrics",
        "relearned": "{name}: learned figures forgotten, {count} open incidents ended; the next look begins anew",
        "relearned_one": "{name}: learned figures forgotten, 1 open incident ended; the next look begins anew",
        "busy": "a monitor is at work on {name!r}: stop the monitor first, relearn, start it again",
        "every": 'say when to look: --once, --every 1h, or every = "1h" in [monitor]',
    },
    "zh": {
        "fine": "{path}：监测 {name!r}，{systems}，告警发往 {channels}：没有问题",
        "calls": "指标位于 http://{host}:{port}/metrics",
        "relearned": "{name}：已清除学到的参照，结束 {count} 个未恢复事件；下次检查重新开始学习",
        "busy": "{name!r} 正在监测中：请先停止监测进程，再执行 --relearn，然后重新启动",
        "every": '请说明何时检查：--once、--every 1h，或在 [monitor] 中写 every = "1h"',
    },
}


@click.command()
@click.argument("plan", metavar="PLAN.toml")
@click.option("--once", is_flag=True, help="Look once and end: for cron and systemd timers.")
@click.option("--every", metavar="TIME", help="Look again and again: 15m, 1h, 1d. Default: the plan's.")
@click.option("--check", is_flag=True, help="Only look whether the plan is right.")
@click.option("--status", is_flag=True, help="Show what is watched and what is open, without looking.")
@click.option("--relearn", is_flag=True, help="Forget what was learned, after a change that was meant.")
@click.option("--history", "location", metavar="PATH|URL", help="Where the history is kept; default: the plan's.")
@click.option("--metrics-port", type=int, metavar="PORT", help="Serve /metrics for Prometheus on this port.")
@click.option("--metrics-host", default="127.0.0.1", show_default=True, help="Address to serve the metrics on.")
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
    as_json: bool,
    language: str,
) -> None:
    """Watch live retrievers: ask them on schedule, keep every look, and raise one alert when something has changed.

    The plan is one for `rankgauge run`, with a table [monitor] and channels [[alert]]. Looking often does not raise
    false alarms: the evidence of all looks is weighed together, and how rarely chance alone can raise an alarm is
    stated by --status.

    \b
    Exit status of --once: 0 nothing is open, 1 an incident is open, 2 an error, 3 another monitor is at it.
    """
    from rankgauge.errors import DataError
    from rankgauge.monitoring.checking import check_monitor_plan
    from rankgauge.monitoring.monitor import Monitor
    from rankgauge.monitoring.opening import open_history
    from rankgauge.monitoring.plan import load_monitor_plan, seconds_of

    words = _WORDS[language]
    if check:
        loaded = check_monitor_plan(plan, history=location)
        systems = ", ".join(system.name for system in loaded.run.systems)
        channels = ", ".join(channel.name for channel in loaded.channels)
        click.echo(words["fine"].format(path=plan, name=loaded.name, systems=systems, channels=channels))
        return
    loaded = load_monitor_plan(plan, history=location)
    seconds = seconds_of(every) if every else loaded.every
    if seconds is None and not (once or status or relearn):
        raise DataError(words["every"])
    if relearn or status:
        with open_history(loaded) as history:
            if relearn:
                _relearn(history, loaded, words)
            if status:
                _show(history, loaded, as_json, language)
        return
    calls = (metrics_port, metrics_host, words["calls"])
    try:
        if once:
            with _watching(Monitor(loaded, open_history(loaded), _log, language), *calls) as watcher:
                sys.exit(_once(watcher, as_json))
        assert seconds is not None
        _forever(loaded, seconds, language, calls)
    except KeyboardInterrupt:  # which click would call an abort, with the status of an open incident
        click.echo("rankgauge: interrupted", err=True)
        sys.exit(130)


@contextmanager
def _watching(watcher: Monitor, port: int | None, host: str, calls: str) -> Iterator[Monitor]:
    """A monitor with its metrics; at the end both let go of what they have."""
    server = None
    try:
        if port is not None:
            from rankgauge.monitoring.metrics import Metrics

            watcher.metrics = Metrics()
            watcher.begin_metrics()
            server = watcher.metrics.serve(port, host)
            watcher.log(calls.format(host=server.host, port=server.port))
        yield watcher
    finally:
        if server is not None:
            server.stop()
        watcher.history.close()


def _forever(plan: MonitorPlan, every: float, language: str, calls: tuple[int | None, str, str]) -> None:
    """Look on schedule until a signal comes. The first one ends it after the look at hand; the second at once. What is
    stored is whole either way."""
    import threading
    from contextlib import suppress

    from rankgauge.monitoring.masking import masked, one_line
    from rankgauge.monitoring.monitor import Monitor
    from rankgauge.monitoring.opening import await_history
    from rankgauge.monitoring.words import WORDS

    stop = threading.Event()
    signals: list[int] = []
    watchers: list[Monitor] = []

    def say(key: str, **values: Any) -> None:
        _log(one_line(masked(WORDS[language][key].format(**values))))

    def end(number: int, frame: object) -> None:
        signals.append(number)
        if len(signals) > 1:
            raise KeyboardInterrupt
        # In a thread: the one that is interrupted here may be holding the event's lock.
        threading.Thread(target=stop.set).start()
        with suppress(RuntimeError):  # it may be in the middle of a line of the log
            say("stopping_look" if any(watcher.looking for watcher in watchers) else "stopping")

    signal.signal(signal.SIGTERM, end)
    signal.signal(signal.SIGINT, end)
    history = await_history(plan, every, say, stop)
    if history is not None:
        with _watching(Monitor(plan, history, _log, language, stop=stop), *calls) as watcher:
            watchers.append(watcher)
            watcher.forever(every)


def _log(text: str) -> None:
    import datetime

    click.echo(f"{datetime.datetime.now(datetime.UTC):%Y-%m-%dT%H:%M:%SZ} {text}", err=True)


def _relearn(history: History, plan: MonitorPlan, words: dict[str, str]) -> None:
    import datetime

    from rankgauge.errors import DataError
    from rankgauge.history.lease import Lease
    from rankgauge.monitoring.ingest import relearn

    lease = Lease(history, f"monitor {plan.name}")
    if not lease.acquire():
        raise DataError(words["busy"].format(name=plan.name))
    try:
        count = relearn(history, plan.name, datetime.datetime.now(datetime.UTC))
    finally:
        lease.release()
    said = words["relearned_one" if count == 1 and "relearned_one" in words else "relearned"]
    click.echo(said.format(name=plan.name, count=count))


def _show(history: History, plan: MonitorPlan, as_json: bool, language: str) -> None:
    from rankgauge.monitoring.status import status_of

    state = status_of(history, plan)
    if as_json:
        from rankgauge.formats.json_values import dumps

        click.echo(dumps(state).decode(), nl=False)
        return
    from rankgauge.reports.monitoring import render_status
    from rankgauge.reports.tables import terminal_width

    click.echo(render_status(state, language=language, width=terminal_width()), nl=False)


def _once(watcher: Monitor, as_json: bool) -> int:
    """One look; the exit status."""
    from rankgauge.monitoring.incidents import open_incidents

    taken = watcher.once()
    if taken is None:
        return 3 if watcher.stood_by else 2
    standing = open_incidents(watcher.history, watcher.plan.name)
    if as_json:
        from rankgauge.formats.json_values import dumps

        shown = {"monitor": watcher.plan.name, "look": taken.number, "status": taken.status}
        shown |= {"opened": taken.opened, "closed": taken.closed, "open": standing}
        click.echo(dumps(shown).decode(), nl=False)
    return 1 if standing else 0
