"""The kills of `make soak`, a few of each command."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.soak.kills import COMMANDS, kill_command


@pytest.mark.parametrize("command", COMMANDS)
def test_kills(tmp_path: Path, command: str) -> None:
    found = kill_command(command, tmp_path / "killed", 2)
    assert found.lost == []
    assert found.kills + found.ended >= 3
