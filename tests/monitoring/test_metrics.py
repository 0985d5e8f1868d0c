"""Metrics, as Prometheus reads them from the port."""

from __future__ import annotations

import datetime
import re
import socket
import subprocess
import sys
import urllib.request
from pathlib import Path
from typing import Any

import pytest
import yaml
from prometheus_client.parser import text_string_to_metric_families

from rankgauge.errors import DataError, MissingExtraError
from rankgauge.history.store import History
from rankgauge.model.series import SeriesKey
from rankgauge.monitoring.loop.metrics import Metrics
from rankgauge.monitoring.loop.status import SeriesStatus
from tests.monitoring.workspace import Watch, Workspace
from tests.parts import here

MINUTE = datetime.timedelta(minutes=1)
AT = datetime.datetime(2026, 3, 1, 12, tzinfo=datetime.UTC)
RULES = Path(__file__).parents[2] / "docs" / "monitoring" / "rankgauge-alerts.yml"
Samples = dict[tuple[str, tuple[tuple[str, str], ...]], float]


def parsed(text: str) -> Samples:
    return {
        (sample.name, tuple(sorted(sample.labels.items()))): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def value(samples: Samples, name: str, **labels: str) -> float | None:
    return samples.get((f"rankgauge_{name}", tuple(sorted(labels.items()))))


def checked(metrics: Metrics) -> None:
    found = [
        seen("nDCG@10", queries=100, value=0.431, reference=0.512, evidence=400.5),
        seen("R@10", 'tag "a\\b"', queries=50, value=0.6),
        seen("p95", queries=100, value=0.12),
        seen("errors", value=0.02, queries=100),
    ]
    metrics.check("搜索", status="done", finished=AT, series=found, open_incidents={"quality": 1})


def seen(measure: str, tag: str | None = None, system: str = "bm25", **figures: Any) -> SeriesStatus:
    return SeriesStatus(SeriesKey(system, measure, tag), "watching", False, **figures)


def test_over_http() -> None:
    metrics = Metrics()
    checked(metrics)
    metrics.alerts({("ops", "sent"): 2, ("ops", "failed"): 1})
    metrics.alerts({("ops", "sent"): 1})
    with metrics.serve(0) as server:
        with urllib.request.urlopen(f"http://{server.host}:{server.port}/metrics", timeout=5) as answer:
            assert answer.status == 200
            samples = parsed(answer.read().decode("utf-8"))
        port = server.port
    one = {"monitor": "搜索", "system": "bm25"}
    series = {**one, "measure": "nDCG@10", "tag": ""}
    assert value(samples, "score", **series) == 0.431
    assert value(samples, "score", **one, measure="R@10", tag='tag "a\\b"') == 0.6
    assert value(samples, "score_reference", **series) == 0.512
    assert value(samples, "evidence", **series) == 400.5
    assert value(samples, "latency_seconds", **one, percentile="95") == 0.12
    assert value(samples, "failed_queries", **one) == 2
    assert value(samples, "incidents_open", monitor="搜索", kind="quality") == 1
    assert value(samples, "last_check_timestamp_seconds", monitor="搜索") == AT.timestamp()
    assert value(samples, "last_valid_check_timestamp_seconds", monitor="搜索") == AT.timestamp()
    assert value(samples, "checks_total", monitor="搜索", status="done") == 1
    assert value(samples, "alerts_total", channel="ops", outcome="sent") == 3
    assert value(samples, "alerts_total", channel="ops", outcome="failed") == 1
    with socket.socket() as probe:  # stopped: the port is free again
        assert probe.connect_ex(("127.0.0.1", port)) != 0


def test_an_invalid_check_keeps_the_last_scores() -> None:
    metrics = Metrics()
    checked(metrics)
    metrics.check("搜索", status="invalid", finished=AT + MINUTE, open_incidents={"down": 1})
    samples = parsed(metrics.text())
    assert value(samples, "last_check_timestamp_seconds", monitor="搜索") == AT.timestamp() + 60
    assert value(samples, "last_valid_check_timestamp_seconds", monitor="搜索") == AT.timestamp()
    assert value(samples, "checks_total", monitor="搜索", status="invalid") == 1
    assert value(samples, "score", monitor="搜索", system="bm25", measure="nDCG@10", tag="") == 0.431
    assert value(samples, "incidents_open", monitor="搜索", kind="quality") == 0
    assert value(samples, "incidents_open", monitor="搜索", kind="down") == 1


def test_series_that_are_gone_disappear_and_other_monitors_stay() -> None:
    metrics = Metrics()
    checked(metrics)
    metrics.check("other", status="done", finished=AT, series=[seen("AP", system="hybrid", value=0.3, queries=5)])
    metrics.check("搜索", status="done", finished=AT, series=[seen("AP", value=0.2, queries=5), seen("RR")])
    scores = {labels: v for (name, labels), v in parsed(metrics.text()).items() if name == "rankgauge_score"}
    assert sorted(scores.values()) == [0.2, 0.3]


def test_a_start_sets_counters_to_zero_and_remembers_the_last_checks() -> None:
    metrics = Metrics()
    metrics.begin("search", ["ops"], last_check=AT, last_valid_check=AT - MINUTE)
    samples = parsed(metrics.text())
    assert value(samples, "checks_total", monitor="search", status="done") == 0
    assert value(samples, "checks_total", monitor="search", status="invalid") == 0
    assert [value(samples, "alerts_total", channel="ops", outcome=o) for o in ("sent", "failed", "given_up")] == [0] * 3
    assert value(samples, "last_check_timestamp_seconds", monitor="search") == AT.timestamp()
    assert value(samples, "last_valid_check_timestamp_seconds", monitor="search") == AT.timestamp() - 60


def test_two_registries_do_not_meet() -> None:
    checked(Metrics())
    assert "nDCG" not in Metrics().text()


def test_a_port_that_is_taken() -> None:
    with Metrics().serve(0) as server, pytest.raises(DataError, match=rf"port {server.port} of 127.0.0.1 is in use; "):
        Metrics().serve(server.port)


@pytest.mark.parametrize(("port", "host"), [(-1, "127.0.0.1"), (65536, "127.0.0.1"), (0, "192.0.2.1")])
def test_a_port_that_cannot_be(port: int, host: str) -> None:
    with pytest.raises(DataError, match=r"port"):
        Metrics().serve(port, host)


def test_without_the_library(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "prometheus_client", None)
    with pytest.raises(MissingExtraError, match=re.escape("it is in the extra rankgauge[guard]")):
        Metrics()


def test_the_rules_use_metrics_that_there_are() -> None:
    metrics = Metrics()
    checked(metrics)
    metrics.alerts({("ops", outcome): 1 for outcome in ("sent", "failed", "given_up")})
    samples = parsed(metrics.text())
    known = {name for name, _ in samples}
    labels = {name for _, pairs in samples for name, _ in pairs}
    (group,) = yaml.safe_load(RULES.read_text(encoding="utf-8"))["groups"]
    assert len(group["rules"]) == 6
    for rule in group["rules"]:
        assert set(re.findall(r"rankgauge_\w+", rule["expr"])) <= known
        assert set(re.findall(r"\$labels\.(\w+)", str(rule["annotations"]))) <= labels


@pytest.mark.needs("promtool")
def test_prometheus_takes_the_rules() -> None:
    subprocess.run([here("promtool"), "check", "rules", str(RULES)], check=True, capture_output=True)


_TYPES = ("counter", "gauge", "histogram", "summary")
# Units and their abbreviations, with the base units that belong into a name.
_UNITS = {
    **dict.fromkeys(("milliseconds", "microseconds", "nanoseconds", "minutes", "hours", "days", "weeks"), "seconds"),
    **dict.fromkeys(("kilobytes", "megabytes", "gigabytes", "bits", "kibibytes", "mebibytes"), "bytes"),
    **dict.fromkeys(("percent", "percents", "percentage"), "ratio"),
}
_ABBREVIATED = {"s", "ms", "us", "ns", "sec", "b", "kb", "mb", "gb", "tb", "pb", "m", "h", "d"}


def linted(text: str) -> list[str]:
    """What `promtool check metrics` would say of names, types, helps and labels, by the rules of its linter."""
    found = []
    for family in text_string_to_metric_families(text):
        kind = family.type
        for name in {sample.name for sample in family.samples}:
            words = name.lower().split("_")
            found += [] if family.documentation else [f"{name}: no help"]
            found += [f"{name}: counters end in _total"] if (kind == "counter") != name.endswith("_total") else []
            found += [f"{name}: the unit is {_UNITS[word]}" for word in words if word in _UNITS]
            found += [f"{name}: abbreviates {word}" for word in words if word in _ABBREVIATED]
            found += [f"{name}: names its type" for word in words if word in _TYPES]
            found += (
                [f"{name}: reserved for histograms and summaries"] if words[-1] in ("bucket", "count", "sum") else []
            )
            found += [f"{name}: written otherwise"] if not re.fullmatch(r"[a-z][a-z0-9_]*", name) else []
        labels = {label for sample in family.samples for label in sample.labels}
        found += [f"{family.name}: label {label}" for label in labels if not re.fullmatch(r"[a-z][a-z0-9_]*", label)]
        found += [f"{family.name}: the label {label} is reserved" for label in labels & {"le", "quantile"}]
    return found


def test_what_is_served_passes_the_linter() -> None:
    metrics = Metrics()
    metrics.begin("搜索", ["ops"], last_check=AT, last_valid_check=AT)
    checked(metrics)
    metrics.alerts({("ops", "sent"): 1})
    text = metrics.text()
    names = {line.split()[2] for line in text.splitlines() if line.startswith("# TYPE")}
    assert len(names) >= 10
    assert names == {line.split()[2] for line in text.splitlines() if line.startswith("# HELP")}
    assert linted(text) == []


@pytest.mark.needs("promtool")
def test_prometheus_takes_the_metrics() -> None:
    metrics = Metrics()
    checked(metrics)
    subprocess.run([here("promtool"), "check", "metrics"], input=metrics.text().encode(), check=True)


def test_a_new_start_begins_where_the_last_one_ended(tmp_path: Path) -> None:
    """Scores and open incidents are there before the first check; a monitor that never gets a score is found."""
    service = Workspace(tmp_path, thresholds=["nDCG@10 < 0.5"])
    everywhere = {"quality", "slice", "latency", "errors", "threshold", "down", "drift"}
    with History.open(":memory:") as history:
        watch = Watch(service, history)
        watch.clock.wall = AT
        first = watch.monitor()
        first.metrics = Metrics()
        first.begin_metrics()
        samples = parsed(first.metrics.text())
        assert value(samples, "last_valid_check_timestamp_seconds", monitor="plan") == AT.timestamp()
        assert value(samples, "last_check_timestamp_seconds", monitor="plan") is None
        opened = {kind: value(samples, "incidents_open", monitor="plan", kind=kind) for kind in everywhere}
        assert opened == dict.fromkeys(everywhere, 0.0)
        service.order(broken=[f"word{i}" for i in range(6)])
        watch.check(2)
        again = watch.monitor()
        again.metrics = Metrics()
        again.begin_metrics()
        samples = parsed(again.metrics.text())
    series = {"monitor": "plan", "system": "search", "measure": "nDCG@10", "tag": ""}
    assert value(samples, "score", **series) == 0.4
    assert value(samples, "failed_queries", monitor="plan", system="search") == 0
    assert value(samples, "incidents_open", monitor="plan", kind="threshold") == 1
    assert value(samples, "incidents_open", monitor="plan", kind="down") == 0
    assert value(samples, "checks_total", monitor="plan", status="done") == 0
    assert value(samples, "last_valid_check_timestamp_seconds", monitor="plan") > AT.timestamp()
    assert all(number >= 0 for (name, _), number in samples.items() if name == "rankgauge_evidence")
