"""Files that are matched while modules are loaded: the same arrays, or none where something is another."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from rankgauge import ahead
from rankgauge.engine.match_native import NativeMatch, match_native
from rankgauge.formats.sources import Source
from rankgauge.formats.trec_rows import read_judgment_rows
from rankgauge.model.contract import Contract
from rankgauge.native import native, rules

pytestmark = pytest.mark.needs("native")
QRELS, RUN = "q 0 d1 1\nq 0 d2 2\np 0 d1 0\n", "q Q0 d2 1 3 t\nq Q0 d3 2 3 t\nq Q0 d1 3 1 t\np Q0 d1 1 1 t\n"
TREC = rules("trec", single=False)


@pytest.fixture
def files(tmp_path: Path) -> Iterator[tuple[Path, Path]]:
    (tmp_path / "q").write_text(QRELS)
    (tmp_path / "r").write_text(RUN)
    yield tmp_path / "q", tmp_path / "r"
    ahead._begun = None


class Counted:
    """The module, with the calls that read and match counted."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        module = native()
        assert module is not None
        self.calls: list[str] = []
        for name in ("read_judgments", "match_run"):
            monkeypatch.setattr(module, name, self._counting(name, getattr(module, name)))

    def _counting(self, name: str, function: object) -> object:
        def counting(*arguments: object) -> object:
            self.calls.append(name)
            return function(*arguments)  # type: ignore[operator]

        return counting


def matched(files: tuple[Path, Path], contract: Contract) -> NativeMatch:
    found = match_native(read_judgment_rows(Source(files[0])), Source(files[1]), contract)
    assert found is not None
    return found


def begin(files: tuple[Path, Path]) -> None:
    ahead.begin_matching(str(files[0]), str(files[1]), TREC)
    begun = ahead._begun
    assert begun is not None
    begun.join()


@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_what_was_begun_is_taken(files: tuple[Path, Path], mark: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for path in files:
        path.write_text(mark + path.read_text())
    expected = matched(files, Contract())
    counted = Counted(monkeypatch)
    begin(files)
    found = matched(files, Contract())
    assert counted.calls == ["read_judgments", "match_run"]
    np.testing.assert_array_equal(found.ranked.above, expected.ranked.above)
    np.testing.assert_array_equal(found.ranked.grades, expected.ranked.grades)
    assert list(found.ranked.queries) == list(expected.ranked.queries) == ["q", "p"]
    matched(files, Contract())
    assert counted.calls[2:] == ["read_judgments", "match_run"], "it is taken once"


@pytest.mark.parametrize("which", [0, 1])
def test_a_file_that_was_changed(files: tuple[Path, Path], which: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also one that has the same size afterwards."""
    begin(files)
    changed = files[which].read_text().replace("d2", "d9")
    files[which].write_text(changed)
    os.utime(files[which], ns=(1, 1))
    counted = Counted(monkeypatch)
    found = matched(files, Contract())
    assert "match_run" in counted.calls
    assert found.ranked.above.tolist() == [2, 0]
    assert found.ranked.grades.tolist() == [1.0, 0.0]


def test_another_file_takes_its_name(files: tuple[Path, Path]) -> None:
    begin(files)
    (files[1].parent / "new").write_text(RUN.replace("d2", "d8"))
    (files[1].parent / "new").replace(files[1])
    assert matched(files, Contract()).ranked.grades.tolist() == [1.0, 0.0]


def test_other_rules(files: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    begin(files)
    counted = Counted(monkeypatch)
    assert matched(files, Contract(ties="expected")).ranked.tied.tolist() == [2, 1, 1]
    assert counted.calls == ["match_run"], "the judgments are the same"


@pytest.mark.parametrize("run", ["", "no run\n", "q Q0 d1 1 nan t\n", '{"q": {"d1": 1}}'])
def test_what_is_not_plain(files: tuple[Path, Path], run: str) -> None:
    files[1].write_text(run)
    begin(files)
    assert match_native(read_judgment_rows(Source(files[0])), Source(files[1]), Contract()) is None


def test_only_ordinary_files_are_begun(
    files: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A pipe can be read only once."""
    if hasattr(os, "mkfifo"):
        os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", tmp_path, tmp_path / "absent", Path("-"), Path("/dev/null"), Path("a\0b")):
        ahead.begin_matching(str(files[0]), str(path), TREC)
        ahead.begin_matching(str(path), str(files[1]), TREC)
        assert ahead._begun is None, path
    monkeypatch.setattr(ahead, "_MOST_RUN", 3)
    ahead.begin_matching(str(files[0]), str(files[1]), TREC)
    assert ahead._begun is None, "it may have to be sorted first"


def test_no_more_threads(files: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    """What was not begun is not waited for."""

    def refuse(thread: object) -> None:
        raise RuntimeError("can't start new thread")

    with monkeypatch.context() as patch:
        patch.setattr(ahead._Matching, "start", refuse)
        ahead.begin_matching(str(files[0]), str(files[1]), TREC)
    assert ahead._begun is None
    assert matched(files, Contract()).ranked.above.tolist() == [1, 2, 0]


def test_the_command_line_begins_it(files: tuple[Path, Path]) -> None:
    """And leaves the environment as it was."""
    code = (
        "import os, sys\nfrom rankgauge import ahead\nfrom rankgauge.cli import main, quick\n"
        "begun, taken = [], []\nbegin, match = ahead.begin_matching, ahead.begun_match\n"
        "quick.begin_matching = lambda *given: (begun.append('numpy' in sys.modules), begin(*given))\n"
        "ahead.begun_match = lambda *given: (taken.append(match(*given)), taken[-1])[1]\n"
        "try:\n    main()\nexcept SystemExit:\n    pass\n"
        "print(begun, [one is not None for one in taken], 'OPENBLAS_NUM_THREADS' in os.environ)"
    )
    for command in (["evaluate"], ["trec_eval"]):
        asked = [sys.executable, "-c", code, *command, str(files[0]), str(files[1])]
        done = subprocess.run(asked, capture_output=True, text=True, check=True)
        assert done.stdout.splitlines()[-1] == "[False] [True] False", done.stdout + done.stderr
