"""What a monitor sees, as numbers for Prometheus."""

from __future__ import annotations

import datetime
import errno
from collections.abc import Iterable, Mapping
from typing import Any, Self

from rankgauge.errors import DataError
from rankgauge.extras import optional
from rankgauge.history.monitored import KINDS
from rankgauge.monitoring.detection.watch import ERRORS, LATENCY
from rankgauge.monitoring.loop.status import SeriesStatus
from rankgauge.visible import visible

__all__ = ["Metrics", "MetricsServer"]

_HIGHEST_PORT = 65535
_STATUSES = ("done", "invalid")
_OUTCOMES = ("sent", "failed", "given_up")
Moment = datetime.datetime


class Metrics:
    """Gauges and counters of the monitors in this process, in a registry of their own."""

    def __init__(self) -> None:
        library = optional("prometheus_client", "serving metrics", "prometheus-client", "guard")
        self._library = library
        self.registry = library.CollectorRegistry()

        def gauge(name: str, text: str, *labels: str) -> Any:
            return library.Gauge(f"rankgauge_{name}", text, ("monitor", *labels), registry=self.registry)

        def counter(name: str, text: str, *labels: str) -> Any:
            return library.Counter(f"rankgauge_{name}", text, labels, registry=self.registry)

        series = ("system", "measure", "tag")
        self._score = gauge("score", "Mean of a measure at the last valid check.", *series)
        self._reference = gauge("score_reference", "Mean that the score is compared with.", *series)
        self._evidence = gauge("evidence", "log10 of the detector's evidence of a loss.", *series)
        self._latency = gauge("latency_seconds", "Percentile of the time of one query.", "system", "percentile")
        self._failed = gauge("failed_queries", "Queries without an answer at the last check.", "system")
        self._open = gauge("incidents_open", "Incidents that are open.", "kind")
        self._last = gauge("last_check_timestamp_seconds", "When the last check ended.")
        self._last_valid = gauge("last_valid_check_timestamp_seconds", "When the last check that gave scores ended.")
        self._checks = counter("checks", "Checks since the start, by how they ended.", "monitor", "status")
        self._alerts = counter("alerts", "Alert messages since the start, by outcome.", "channel", "outcome")

    def begin(
        self,
        monitor: str,
        channels: Iterable[str] = (),
        *,
        last_check: Moment | None = None,
        last_valid_check: Moment | None = None,
        open_incidents: Mapping[str, int] | None = None,
    ) -> None:
        """A monitor starts: counters stand at 0, and its last checks and open incidents are those of earlier starts.

        Without the zeros Prometheus would not see the first increase of a counter.
        """
        for status in _STATUSES:
            self._checks.labels(monitor, status)
        for channel in channels:
            for outcome in _OUTCOMES:
                self._alerts.labels(channel, outcome)
        for gauge, moment in ((self._last, last_check), (self._last_valid, last_valid_check)):
            if moment is not None:
                gauge.labels(monitor).set(moment.timestamp())
        self.incidents(monitor, dict.fromkeys(KINDS, 0) | dict(open_incidents or {}))

    def check(
        self,
        monitor: str,
        *,
        status: str,
        finished: Moment,
        series: Iterable[SeriesStatus] | None = None,
        open_incidents: Mapping[str, int] | None = None,
    ) -> None:
        """One check has ended, with status `done` or `invalid`. `open_incidents` counts by kind. What is None stays as
        it was."""
        moment = finished.timestamp()
        self._checks.labels(monitor, status).inc()
        self._last.labels(monitor).set(moment)
        if status == "done":
            self._last_valid.labels(monitor).set(moment)
        if series is not None:
            self.figures(monitor, series)
        if open_incidents is not None:
            self.incidents(monitor, open_incidents)

    def figures(self, monitor: str, found: Iterable[SeriesStatus]) -> None:
        """What was seen last. Series that are not in it disappear; a value of None is as good as none."""
        gauges = (self._score, self._reference, self._evidence, self._latency, self._failed)
        values: dict[Any, dict[tuple[str, ...], float | None]] = {gauge: {} for gauge in gauges}
        for one in found:
            key = one.key
            system = visible(key.system)
            labels = (system, visible(key.measure), visible(key.tag or ""))
            if one.value is None or one.queries is None:
                continue
            if key.measure == ERRORS:
                values[self._failed][system,] = round(one.value * one.queries)
            elif key.measure == LATENCY:
                values[self._latency][system, "95"] = one.value
            else:
                values[self._score][labels] = one.value
                values[self._reference][labels] = one.reference
                values[self._evidence][labels] = one.evidence
        for gauge, new in values.items():
            self._replace(gauge, monitor, new)

    def incidents(self, monitor: str, open_by_kind: Mapping[str, int]) -> None:
        """How many incidents of each kind are open now. A kind that was counted before stays, with 0."""
        for values in self._labels(self._open, monitor):
            self._open.labels(*values).set(0)
        for kind, count in open_by_kind.items():
            self._open.labels(monitor, kind).set(count)

    def alerts(self, outcomes: Mapping[tuple[str, str], int]) -> None:
        """Messages by (channel, outcome), as `Delivered.outcomes` has them."""
        for (channel, outcome), count in outcomes.items():
            self._alerts.labels(channel, outcome).inc(count)

    def text(self) -> str:
        """All of it in Prometheus' text format."""
        text: bytes = self._library.generate_latest(self.registry)
        return text.decode("utf-8")

    def serve(self, port: int, host: str = "127.0.0.1") -> MetricsServer:
        """Serve /metrics until the context of the result ends. Port 0 takes a free one."""
        if not 0 <= port <= _HIGHEST_PORT:
            raise DataError(f"the metrics' port must be between 0 and {_HIGHEST_PORT}, not {port}")
        try:
            server, thread = self._library.start_http_server(port, addr=host, registry=self.registry)
        except OSError as error:
            if error.errno == errno.EADDRINUSE:
                why = "is in use; choose another one, or end the program that has it"
            elif error.errno in (errno.EACCES, errno.EPERM):
                why = "needs more rights; choose one above 1023"
            else:
                why = f"cannot be listened on: {error.strerror or error}"
            raise DataError(f"metrics: port {port} of {host} {why}") from None
        return MetricsServer(server, thread)

    def _replace(self, gauge: Any, monitor: str, values: Mapping[tuple[str, ...], float | None]) -> None:
        """Set a monitor's series. Those without a value disappear: an old number would look like a new one."""
        new = {(monitor, *key): value for key, value in values.items() if value is not None}
        for labels, value in new.items():
            gauge.labels(*labels).set(value)
        for labels in self._labels(gauge, monitor):
            if labels not in new:
                gauge.remove(*labels)

    @staticmethod
    def _labels(gauge: Any, monitor: str) -> list[tuple[str, ...]]:
        """Label values of a monitor's series."""
        samples = [sample.labels for metric in gauge.collect() for sample in metric.samples]
        return [tuple(labels.values()) for labels in samples if labels["monitor"] == monitor]


class MetricsServer:
    """A server of metrics in a thread of its own, until the context ends."""

    def __init__(self, server: Any, thread: Any) -> None:
        self._server, self._thread = server, thread
        self.host, self.port = server.server_address[:2]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        """Stop serving and give the port back."""
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()
