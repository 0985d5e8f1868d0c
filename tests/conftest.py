"""Shared fixtures; and tests that need more than Python and make, which are skipped where that is absent."""

from __future__ import annotations

import gc
import os
import signal
import string
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from rankgauge import words
from rankgauge.formats.secrets import forget_secrets
from rankgauge.words import LANGUAGES, Note, template
from tests import parts

TESTS = Path(__file__).parent
GROUPS = {path.stem for path in (Path(words.__file__).parent / "texts" / "en").glob("*.json")}
SLOW = (
    "browser",
    "cli",
    "demo",
    "docs",
    "engine/test_match_text.py",
    "comparison/test_aggregates.py",
    "evaluation/test_caveats.py",
    "comparison/test_groups.py",
    "sensitivity/test_judge_next.py",
    "comparison/test_rerank_ceiling.py",
    "live/test_sweep.py",
    "sensitivity/test_tied_orders.py",
    "sensitivity/test_unjudged.py",
    "formats/test_bounded_files.py",
    "formats/test_fuzz.py",
    "gating/test_freshness.py",
    "history",
    "monitoring",
    "oracles/test_ties.py",
    "packaging",
    "peers",
    "plans/test_extras.py",
    "real_data",
    "reports",
    "retrievers/test_bm25.py",
    "retrievers/test_dense.py",
    "retrievers/test_configuration.py",
    "retrievers/test_fusion.py",
    "retrievers/test_fusion_extremes.py",
    "retrievers/test_hostile_servers.py",
    "retrievers/test_hybrid.py",
    "retrievers/test_resume.py",
    "retrievers/test_runner.py",
    "soak",
    "spark/test_cluster.py",
    "stats/test_calibration.py",
    "stats/test_corrections.py",
    "stats/test_grids.py",
    "stats/test_noninferiority.py",
    "stats/test_paired_tests.py",
    "stats/test_power.py",
    "stats/test_selection.py",
    "stats/test_sequential.py",
    "test_parts.py",
    "test_pytest_plugin.py",
)
"""These simulate, draw, start processes and servers, or ask other libraries. `--quick` goes without them, and without
all that needs more than Python and make."""


def _check_parameters() -> None:
    """Every note that any test makes must have what its text needs, in every language."""
    made = Note.__post_init__

    def checked(note: Note) -> None:
        made(note)
        for language in () if checked.paused else LANGUAGES:  # type: ignore[attr-defined]
            try:
                text = template(note.key, language)
            except KeyError:
                assert note.key.split(".")[0] not in GROUPS, f"no text {note.key!r} in {language!r}"
                continue
            needed = {name for _, name, _, _ in string.Formatter().parse(text) if name}
            assert needed <= note.parameters.keys(), (note, language)

    checked.paused = False  # type: ignore[attr-defined]
    Note.__post_init__ = checked  # type: ignore[method-assign]


_check_parameters()

# A shell starts what runs in its background with SIGINT ignored, and every child would inherit that.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@contextmanager
def unchecked_notes() -> Iterator[None]:
    """For tests that make notes which no text is meant for."""
    Note.__post_init__.paused = True  # type: ignore[attr-defined]
    try:
        yield
    finally:
        Note.__post_init__.paused = False  # type: ignore[attr-defined]


def pytest_collection_finish() -> None:
    """What was loaded until now stays: no search for garbage needs to go through it again. Some libraries start one in
    every call, which in the midst of 9,000 tests takes seconds."""
    gc.collect()
    gc.freeze()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--quick", action="store_true", help="the core alone, in under a minute")


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    return True if config.getoption("quick") and collection_path in {TESTS / place for place in SLOW} else None


def _needs(item: pytest.Item) -> set[str]:
    return {part for mark in item.iter_markers("needs") for part in mark.args}


@pytest.hookimpl(tryfirst=True)  # before tests are chosen by marker
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    for item in items:
        if "data" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.needs("data"))
    if config.getoption("quick"):
        items[:] = [item for item in items if not _needs(item)]


@pytest.hookimpl(tryfirst=True)  # before fixtures are made
def pytest_runtest_setup(item: pytest.Item) -> None:
    lacking = parts.absent(_needs(item))
    if lacking:
        pytest.skip("; ".join(f"no {part}: {parts.PARTS[part].without}" for part in lacking))


def _refuse(report: Any) -> None:
    report.outcome = "failed"
    report.longrepr = f"skipped although everything is required: {report.longrepr}"


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Iterator[None]:
    """Under RANKGAUGE_REQUIRE_ALL a skipped test is a failed one, unless all that it lacks may be absent."""
    outcome: Any = yield
    report = outcome.get_result()
    if report.skipped and os.environ.get("RANKGAUGE_REQUIRE_ALL"):
        lacking = parts.absent(_needs(item))
        if not lacking or not parts.MAY_BE_ABSENT.keys() >= set(lacking):
            _refuse(report)


@pytest.hookimpl(hookwrapper=True)
def pytest_make_collect_report() -> Iterator[None]:
    """The same for a whole file."""
    outcome: Any = yield
    report = outcome.get_result()
    if report.skipped and os.environ.get("RANKGAUGE_REQUIRE_ALL"):
        _refuse(report)


@pytest.fixture(scope="session")
def data() -> Path:
    """The folder of real collections."""
    return parts.here("data")


@pytest.fixture(autouse=True)
def _no_secrets_known() -> Iterator[None]:
    """What one test registered as a secret is not masked in the next."""
    yield
    forget_secrets()


@pytest.fixture(autouse=True)
def _plain_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """Results depend neither on the language of the machine nor on the width of its terminal."""
    for name in ("RANKGAUGE_LANG", "LC_ALL", "LC_MESSAGES", "LANG", "COLUMNS"):
        monkeypatch.delenv(name, raising=False)
