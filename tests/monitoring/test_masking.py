"""What looks like a secret is masked wherever a retriever's words go; an entry of the log is one line."""

from __future__ import annotations

from pathlib import Path

from rankgauge.history.store import History
from rankgauge.words.visible import visible
from tests.monitoring.workspace import Watch, Workspace, rows

SECRET = "s3cr3t-V4lue"


def test_one_line() -> None:
    assert visible("a\nb\r\x1b[31mc\x00\u2028\u202e 好") == "a\\nb\\r\\x1b[31mc\\x00\\u2028\\u202e 好"


def test_a_retriever_that_tells_its_password(tmp_path: Path) -> None:
    """In the log, in the record of the check, in its row and in the alert."""
    service = Workspace(tmp_path)
    service.write_plan(systems=("search", "other"))
    told = f"no way\nto postgresql://me:{SECRET}@db?password={SECRET}\x1b[2J"
    service.order(down=["search"], reason=told)
    with History.open(":memory:") as history:
        watch = Watch(service, history)
        watch.check(1)
        assert any("gave no score" in line and "me:***@db" in line for line in watch.log)
        document = history.record("latest")
        assert "me:***@db" in repr(document.invalid["search"])
        places = [document.to_json(), *watch.log, repr(watch.channel.got), repr(rows(history, "checks"))]
        places += [repr(rows(history, "incidents")), repr(rows(history, "deliveries"))]
        assert watch.channel.got
    for place in places:
        assert SECRET not in place
    for line in watch.log:
        assert visible(line) == line


def test_errors_of_single_queries(tmp_path: Path) -> None:
    """A check that is valid keeps what was said to the queries that failed."""
    service = Workspace(tmp_path, queries=40)
    module = tmp_path / f"{service.module}.py"
    text = module.read_text().replace(
        "    documents = map",
        f'    if query == "word3":\n        raise ValueError("token={SECRET}")\n    documents = map',
    )
    module.write_text(text)
    with History.open(":memory:") as history:
        Watch(service, history).check(1)
        (system,) = history.record("latest").systems
    assert system.calls is not None
    assert system.calls.failed == ["q3"]
    assert SECRET not in repr(system)
    assert any("token=***" in error for error in system.calls.errors)
