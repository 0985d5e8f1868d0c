"""Shared fixtures. Without the real data, the tests that need it are skipped and say why."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
DATA = Path(os.environ.get("RANKGAUGE_DATA", ROOT.parent / "shared" / "data"))
# Tests that may be skipped even when everything is required, with the reason.
ALLOWED_SKIPS: dict[str, str] = {}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if "data" in getattr(item, "fixturenames", ()) and not DATA.is_dir():
            item.add_marker(pytest.mark.skip(reason=f"no real data at {DATA} (set RANKGAUGE_DATA)"))


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: pytest.Item):  # type: ignore[no-untyped-def]
    """Under RANKGAUGE_REQUIRE_ALL a skipped test is a failed one, unless it is on the list."""
    outcome = yield
    report = outcome.get_result()
    if report.skipped and os.environ.get("RANKGAUGE_REQUIRE_ALL") and item.name not in ALLOWED_SKIPS:
        report.outcome = "failed"
        report.longrepr = f"skipped although everything is required: {report.longrepr}"


@pytest.fixture(scope="session")
def data() -> Path:
    """The folder of real collections."""
    return DATA


@pytest.fixture(autouse=True)
def _plain_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """Results do not depend on the language of the machine."""
    for name in ("RANKGAUGE_LANG", "LC_ALL", "LC_MESSAGES", "LANG"):
        monkeypatch.delenv(name, raising=False)
