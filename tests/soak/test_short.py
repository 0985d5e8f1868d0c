"""The kills of `make soak`, a few of each command."""

from __future__ import annotations

from pathlib import Path

import pytest

from rankgauge.history.sql import sa
from rankgauge.history.store import History
from tests.monitoring.workspace import Watch, Workspace
from tests.soak.kills import COMMANDS, faults_in, kill_command, promised_checks


@pytest.mark.parametrize("command", COMMANDS)
def test_kills(tmp_path: Path, command: str) -> None:
    found = kill_command(command, tmp_path / "killed", 2)
    assert found.lost == []
    assert found.kills == 2


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        ("DELETE FROM checks WHERE number = 4", "check 4 was told in the log, and is not stored"),
        ("DELETE FROM checks WHERE number = 2", "checks do not count once"),
        ("UPDATE checks SET record_id = NULL WHERE number = 4", "checks do not count once"),
        ("DELETE FROM deliveries", "incident 1 (down) has no alert"),
        ("UPDATE incidents SET opened_check = 3", "check 2 took no score, and no incident is open for it"),
        (
            "INSERT INTO incidents SELECT 9, monitor, kind, system, measure, tag, 2, opened_at, 2, began_at, NULL, "
            "NULL, finding FROM incidents",
            "two incidents of ('down', 'search') at once",
        ),
    ],
)
def test_what_is_lost_is_found(tmp_path: Path, damage: str, said: str) -> None:
    service = Workspace(tmp_path)
    with History.open(tmp_path / "history.db") as history:
        watch = Watch(service, history)
        watch.check()
        service.order(down=["search"])
        watch.check()
        service.order()
        watch.check(2)
        promised = promised_checks("".join(f" {line}\n" for line in watch.log))
        assert promised == {1: "1.0000", 3: "1.0000", 4: "1.0000"}
        assert list(faults_in(history, promised, service)) == []
        with history.begin() as connection:
            if "checks WHERE" in damage and damage.startswith("DELETE"):  # with its record, as if it had never been
                number = damage.split()[-1]
                where = f"id = (SELECT record_id FROM checks WHERE number = {number})"
                connection.execute(sa.text(f"DELETE FROM records WHERE {where}"))
            connection.execute(sa.text(damage))
        assert any(fault.startswith(said) for fault in faults_in(history, promised, service))
