"""The tables [monitor] and [[alert]]: all faults together, and no secret in any of them."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from rankgauge.errors import DataError, FormatError
from rankgauge.history.location import VARIABLE
from rankgauge.measures.registry import all_definitions
from rankgauge.monitoring.detection.figures import Limit
from rankgauge.monitoring.loop.plan import load_monitor_plan, seconds_of
from tests.monitoring.workspace import Workspace

SECRET = "T0p-s3cret!"


@pytest.fixture
def service(tmp_path: Path) -> Workspace:
    return Workspace(tmp_path, every="15m")


def faults(service: Workspace) -> list[str]:
    with pytest.raises(FormatError) as found:
        load_monitor_plan(service.plan)
    return [str(fault) for fault in found.value.faults]


def test_a_plan_and_its_defaults(service: Workspace) -> None:
    plan = load_monitor_plan(service.plan)
    assert (plan.name, plan.every, plan.language) == ("plan", 900.0, "en")
    assert (plan.lease, plan.unhealthy_after) == (30.0, None)
    assert plan.history == str(service.folder / ".rankgauge" / "history.db")
    assert plan.spool == service.folder / ".rankgauge" / "spool"
    assert [channel.name for channel in plan.channels] == ["console"]
    assert plan.run.calls.cache is False  # each check asks anew
    assert (plan.watching.tolerance, plan.watching.reference, plan.watching.stream) == (0.02, 20, False)


def test_times_of_the_monitor_itself(service: Workspace) -> None:
    service.write_plan(lease="10s", unhealthy_after="2m")
    plan = load_monitor_plan(service.plan)
    assert (plan.lease, plan.unhealthy_after) == (10.0, 120.0)
    service.write_plan(lease="2m", unhealthy_after="never")
    assert faults(service) == [
        "monitor.lease: '2m' is no time from 1s to 60s",
        "monitor.unhealthy_after: 'never' is no time from 1s to 1d",
    ]


def test_limits(service: Workspace) -> None:
    service.write_plan(thresholds=["nDCG@10 < 0.75", "ndcg_cut_10 <= 70 %", "p95 > 200ms"])
    assert load_monitor_plan(service.plan).watching.limits == (
        Limit("nDCG@10 < 0.75", "nDCG@10", "<", 0.75),
        Limit("ndcg_cut_10 <= 70 %", "nDCG@10", "<=", 0.7),
        Limit("p95 > 200ms", "p95", ">", 0.2),
    )


def test_a_stream_has_means_only(service: Workspace) -> None:
    service.write_plan(measures='["nDCG@10", "GMAP", "NumRet"]', kind="stream")
    assert faults(service) == ["measures: a stream is watched score by score, so only means can be, not GMAP, NumRet"]
    service.write_plan(measures='["nDCG@10", "GMAP", "NumRet"]')
    assert not load_monitor_plan(service.plan).watching.stream


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("nDCG@10 ~ 3", 'is no threshold; write "R@10 < 0.75" or "p95 > 200ms"'),
        ("nDCG@10", 'is no threshold; write "R@10 < 0.75" or "p95 > 200ms"'),
        ("p95 > 3", "with the unit ms or s"),
        ("nDCG@10 >= 0.5", "would alert when it is good: a threshold says when to alert; did you mean nDCG@10 < 0.5?"),
        ("nDCG@10 > 50%", "did you mean nDCG@10 <= 50%?"),
        ("p95 < 200ms", "would alert when it is fast enough: a threshold says when to alert; did you mean p95 >= 200"),
        ("search_length < 3", "less is better"),
        ("nDCG@10 < 75", "nDCG@10 lies between 0 and 1; 75 % is 0.75"),
        ("nDCG@10 < 7500", "nDCG@10 lies between 0 and 1"),
        ("nDCG@10 <= 1", "always holds"),
        ("nDCG@10 < 0", "never holds"),
        ("tag:billing nDCG@10 < 0.5", "thresholds are for all queries"),
        ("nDCG@10 < baseline - 5%", "a threshold is a number"),
    ],
)
def test_limits_that_are_none(service: Workspace, text: str, said: str) -> None:
    if text.startswith("search_length"):
        lower = next(d for d in all_definitions() if d.lower_is_better and not d.at_required and not d.needs)
        text = f"{lower.name} < 0.5"
    service.write_plan(thresholds=[text])
    (found,) = faults(service)
    assert found.startswith(f"monitor.thresholds: {text!r}")
    assert said in found


def test_all_faults_at_once(service: Workspace) -> None:
    service.write_plan(
        measures='["nDCG@10", "nonsense@x"]',
        every="soon",
        tolerance=2,
        reference=1,
        allowed_errors=0.9,
        false_alarm_every=1,
        latency_tolerance=-1,
        kind="flow",
        lang="fr",
        documents="nothing",
        name="two\nlines",
        thresholds=["nDCG@10 ~ 3", 7, "nDCG@10 vs baseline > -1%"],
        tolerence=0.1,
        slices="yes",
        baseline="absent.json",
        extra='[[alert]]\nname = "ops"\nurl = "${NOT_SET_ANYWHERE}"\n\n[[alert]]\nurl = "gopher"\n',
    )
    said = faults(service)
    for place in (
        "nonsense",
        "monitor.every: 'soon' is no time between checks",
        "monitor.tolerance: must be a number between 0 and 1, not 2",
        "monitor.reference: must be a whole number between 5 and 1000",
        "monitor.allowed_errors",
        "monitor.false_alarm_every",
        "monitor.latency_tolerance",
        'monitor.kind: must be "fixed"',
        "monitor.lang: must be one of en, zh",
        "monitor.documents: must be module:function",
        "monitor.name",
        "monitor.thresholds: 'nDCG@10 ~ 3'",
        "monitor.thresholds: 7",
        "monitor.tolerence: unknown; did you mean tolerance?",
        "monitor.slices: must be true or false",
        "monitor.baseline",
        "alert ops: the environment variable NOT_SET_ANYWHERE is not set",
        "alert 2: name is missing",
    ):
        assert any(place in fault for fault in said), (place, said)


def test_a_plan_without_a_monitor_says_how_to_begin(service: Workspace) -> None:
    text = service.plan.read_text()
    service.plan.write_text(text[: text.index("[monitor]")])
    assert faults(service) == ['monitor: missing; begin with [monitor] and every = "1h"']
    service.plan.write_text("monitor = 3\n" + text[: text.index("[monitor]")])
    assert faults(service) == ["monitor: must be a table, [monitor], not 3"]
    service.plan.write_text("[monitor\n")
    assert "no TOML" in faults(service)[0]
    service.plan.unlink()
    assert faults(service) == ["there is no such file"]


def test_limits_for_measures_that_are_not_computed(service: Workspace) -> None:
    service.write_plan(thresholds=["R@10 < 0.75", "p90 > 1s"])
    assert any("R@10 is not among the plan's measures" in fault for fault in faults(service))


@pytest.mark.parametrize(("text", "seconds"), [("30s", 30), (" 15m ", 900), ("1h", 3600), ("1d", 86400), ("0.5s", 0.5)])
def test_times(text: str, seconds: float) -> None:
    assert seconds_of(text) == seconds


@pytest.mark.parametrize(
    "text", ["", "5", "1w", "-1h", "0s", "0.001s", "1 h 5 m", "inf", "1e3s", "400d", "9" * 400 + "d"]
)
def test_no_times(text: str) -> None:
    with pytest.raises(DataError, match="is no time between checks") as found:
        seconds_of(text)
    assert len(str(found.value)) < 150


def test_where_the_history_is(service: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    """The option, else the plan, else the environment, else a file beside the plan."""
    monkeypatch.setenv(VARIABLE, "elsewhere.db")
    assert load_monitor_plan(service.plan).history == "elsewhere.db"
    service.write_plan(history="kept/here.db")
    assert load_monitor_plan(service.plan).history == str(service.folder / "kept" / "here.db")
    assert load_monitor_plan(service.plan, history="this.db").history == "this.db"
    monkeypatch.setenv("MY_DB", f"postgresql://me:{SECRET}@db/x")
    service.write_plan(history="${MY_DB}")
    assert load_monitor_plan(service.plan).history == os.environ["MY_DB"]
    monkeypatch.setenv("MY_PASSWORD", SECRET)
    service.write_plan(history="postgresql://me:${MY_PASSWORD}@db/x")
    assert load_monitor_plan(service.plan).history == f"postgresql://me:{SECRET}@db/x"
    service.write_plan(history="host=db dbname=x password=${MY_PASSWORD}")
    assert load_monitor_plan(service.plan).history == f"host=db dbname=x password={SECRET}"
    service.write_plan(history="host=${NOT_SET_ANYWHERE} dbname=${NOR_THIS}")
    assert [fault.partition("variable ")[2] for fault in faults(service)] == [
        "NOT_SET_ANYWHERE is not set",
        "NOR_THIS is not set",
    ]


@pytest.mark.parametrize(
    "history",
    [
        f"postgresql://me:{SECRET}@db/x",
        f"postgresql://me:{SECRET}@${{MY_HOST}}/x",
        f"postgresql://${{MY_HOST}}/x?password={SECRET}",
        f"host=db dbname=x password='{SECRET}'",
        "postgresql://me@db/x",
        "${NOT_SET_ANYWHERE}",
        [f"postgresql://me:{SECRET}@db/x"],
        {"url": f"postgresql://me:{SECRET}@db/x"},
    ],
)
def test_no_secret_stands_in_a_plan_or_in_a_fault(
    service: Workspace, history: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MY_HOST", "db")
    service.write_plan()
    table = f'history = {{url = "postgresql://me:{SECRET}@db/x"}}' if isinstance(history, dict) else ""
    text = service.plan.read_text()
    line = table or f"history = {json.dumps(history)}"
    service.plan.write_text(text.replace("[monitor]\n", f"[monitor]\n{line}\n"))
    (said,) = faults(service)
    assert said.startswith("monitor.history: ")
    assert SECRET not in said


def test_an_address_that_is_written_out_is_refused_and_not_shown(service: Workspace) -> None:
    service.write_plan(extra=f'[[alert]]\nname = "ops"\nurl = "https://hooks.example/{SECRET}"\n')
    (said,) = faults(service)
    assert "it may hold a secret" in said
    assert SECRET not in said
    service.write_plan(extra=f'[[alert]]\nname = "https://hooks.example/{SECRET}"\nurl = "console"\n')
    (said,) = faults(service)
    assert SECRET not in said


def test_names_of_monitors(service: Workspace) -> None:
    service.write_plan(name="每晚 / 检索")
    assert load_monitor_plan(service.plan).name == "每晚 / 检索"
    for name in ("", "  ", "a\tb", "x" * 101, "\u202e"):
        service.write_plan(name=name)
        assert faults(service)[0].startswith("monitor.name: ")


def test_a_baseline_in_a_file_is_looked_at(service: Workspace) -> None:
    service.write_plan(baseline="means.json")
    assert "means.json" in faults(service)[0]
    (service.folder / "means.json").write_text('{"nDCG@10": 0.7}')
    assert faults(service) == ["monitor.baseline: means.json has only means; a record with its scores is needed here"]
    (service.folder / "means.json").write_text("?")
    assert faults(service)[0].startswith("monitor.baseline: ")
    service.write_plan(baseline="a-name")
    assert load_monitor_plan(service.plan).baseline == "a-name"
