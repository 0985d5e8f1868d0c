"""Sweeps: mistakes are told at once, a dead server ends them, and a sweep that is killed goes on where it was."""

from __future__ import annotations

import functools
import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

import msgspec
import pytest

from rankgauge import sweep
from rankgauge.errors import DataError, MissingExtraError, RetrieverError
from rankgauge.live.sweep import settings_of
from rankgauge.model.testset import TestSet
from rankgauge.retrievers.http import HttpRetriever
from rankgauge.words import tell

N = 12


@pytest.fixture(scope="module")
def test_set() -> TestSet:
    texts = [f"some text {i}" for i in range(N)]
    return TestSet.from_annotations(texts, [[f"{text}/1"] for text in texts])


class Shifted:
    """Finds the right document at rank `shift` + 1, and counts its calls."""

    asked: Counter[tuple[int, str]] = Counter()

    def __init__(self, shift: int, pause: float = 0.0) -> None:
        self.shift, self.pause = shift, pause

    def search(self, query: str, k: int) -> list[str]:
        type(self).asked[self.shift, query] += 1
        time.sleep(self.pause)
        return [f"{query}/{(1 + i - self.shift) % 100}" for i in range(k)]


@pytest.fixture(autouse=True)
def forget() -> None:
    Shifted.asked.clear()


def test_an_unknown_parameter_is_told_at_once(test_set: TestSet) -> None:
    with pytest.raises(DataError, match=r"'shfit'; it takes: shift, pause"):
        sweep(Shifted, {"shfit": [1, 2]}, test_set)
    with pytest.raises(DataError, match="has no parameter 'index'"):
        sweep(Shifted, {"shift": [1, 2]}, test_set, exact={"index": "exact"})
    with pytest.raises(DataError, match="needs 'shift', which the grid does not give"):
        sweep(Shifted, {"pause": [0.0]}, test_set)
    with pytest.raises(DataError, match="it takes: none"):
        sweep(lambda: None, {"shift": [1]}, test_set)
    assert not Shifted.asked
    anything = sweep(lambda **given: Shifted(given["shift"]), {"shift": [0], "other": [1]}, test_set)
    assert anything.best.label == "V1"
    assert sweep(functools.partial(Shifted, pause=0.0), {"shift": [0]}, test_set).best.label == "V1"


def test_a_retriever_is_no_factory(test_set: TestSet) -> None:
    with pytest.raises(DataError, match=r"needs a factory.*not a Shifted"):
        sweep(Shifted(0), {"shift": [1, 2]}, test_set)
    with pytest.raises(DataError, match="has no parameter 'shift'; it takes: query, k"):
        sweep(Shifted(0).search, {"shift": [1, 2]}, test_set)
    with pytest.raises(DataError, match="not a dict"):
        sweep({}, {"shift": [1, 2]}, test_set)
    with pytest.raises(DataError, match="not a int"):
        sweep(Shifted, {"shift": [1, 2]}, 3)


def test_a_value_that_is_listed_twice_is_tried_once(test_set: TestSet) -> None:
    assert settings_of({"a": [3, 1, 3, 1.0, True, "1", 1], "b": ["x", "x"]}) == [
        {"a": value, "b": "x"} for value in (3, 1, 1.0, True, "1")
    ]
    found = sweep(Shifted, {"shift": [0, 2, 0]}, test_set)
    assert [version.parameters["shift"] for version in found.versions] == [0, 2]
    one, two = object(), object()
    assert len(settings_of({"a": [one, two]})) == 2


def test_whatever_a_factory_raises_is_one_version(test_set: TestSet) -> None:
    def make(shift: int) -> Shifted:
        if shift == 1:
            raise OSError("the disk is gone")
        if shift == 2:
            raise KeyError("x")
        return Shifted(shift)

    found = sweep(make, {"shift": [0, 1, 2]}, test_set)
    line = make.__code__.co_firstlineno
    assert list(found.failed) == ["V2", "V3"]
    assert re.fullmatch(
        rf".*: OSError: the disk is gone \(.*test_sweep.py:{line + 2}\)", tell(found.failed["V2"], "en")
    )
    assert re.fullmatch(
        rf"{{'shift': 2}}: KeyError: 'x' \(.*test_sweep.py:{line + 4}\)", tell(found.failed["V3"], "en")
    )
    with pytest.raises(RetrieverError, match="the exact search failed: OSError: the disk is gone"):
        sweep(make, {"shift": [0]}, test_set, exact={"shift": 1})

    def lacking(shift: int) -> Shifted:
        raise MissingExtraError("it needs numbers: pip install numbers")

    with pytest.raises(MissingExtraError):
        sweep(lacking, {"shift": [0, 1]}, test_set)


def test_a_long_reason_is_cut_in_the_message_and_whole_in_the_record(test_set: TestSet) -> None:
    def make(shift: int) -> Any:
        def search(query: str, k: int) -> list[str]:
            if shift:
                raise ValueError("long " * 1000)
            return [query]

        return search

    found = sweep(make, {"shift": [0, 1]}, test_set, retries=0)
    assert tell(found.failed["V2"], "en").count("long") == 1000
    with pytest.raises(RetrieverError) as caught:
        sweep(make, {"shift": list(range(1, 30))}, test_set, retries=0)
    assert len(str(caught.value)) < 1500
    assert "and 26 more" in str(caught.value)


def free_port() -> int:
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        return int(server.getsockname()[1])


def test_a_dead_server_ends_the_sweep(test_set: TestSet) -> None:
    url, made, tried = f"http://127.0.0.1:{free_port()}/", [], []

    def make(size: int) -> Any:
        made.append(size)
        return HttpRetriever(url, body={"q": "{query}", "size": size}) if size else Shifted(0)

    found = sweep(make, {"size": [0, 1, 2, 3, 4]}, test_set, retries=0, progress=lambda n, total, text: tried.append(n))
    assert made == [0, 1, 2]
    assert tried == [1, 2, 3]
    assert [version.label for version in found.versions] == ["V1"]
    assert list(found.failed) == ["V2", "V3", "V4", "V5"]
    reasons = {label: note.parameters["reason"] for label, note in found.failed.items()}
    assert reasons["V3"].key == "live.unreachable"
    assert (reasons["V3"].parameters["failed"], reasons["V3"].parameters["rest"]) == (5, 7)
    for label in ("V4", "V5"):
        assert reasons[label].key == "live.not_tried"
        assert reasons[label].parameters["n"] == 2
        assert "the connection is refused" in reasons[label].parameters["error"]


def test_servers_that_are_not_the_same_are_all_asked(test_set: TestSet) -> None:
    urls = [f"http://127.0.0.1:{free_port()}/{i}" for i in range(3)]

    def make(url: str) -> Any:
        return HttpRetriever(url) if url else Shifted(0)

    found = sweep(make, {"url": [*urls, ""]}, test_set, retries=0)
    assert [version.label for version in found.versions] == ["V4"]
    assert "live.not_tried" not in [note.parameters["reason"].key for note in found.failed.values()]


def test_mistakes_are_no_dead_server(test_set: TestSet) -> None:
    def make(size: int) -> Any:
        def search(query: str, k: int) -> list[str]:
            if size < 3:
                raise ValueError("too small")
            return [query]

        return search

    found = sweep(make, {"size": [1, 2, 3]}, test_set, retries=0)
    assert [version.label for version in found.versions] == ["V3"]


def test_answers_are_kept_under_their_setting(tmp_path: Path, test_set: TestSet) -> None:
    def tried(grid: list[int], **more: Any) -> Any:
        Shifted.asked.clear()
        more = {"configuration": {"index": "old"}, **more}
        return sweep(lambda shift: Shifted(shift, 0.004), {"shift": grid}, test_set, cache=tmp_path, **more)

    first = tried([0, 1])
    assert Shifted.asked.total() == 2 * N
    assert [version.timed_before for version in first.versions] == [0, 0]
    again = tried([0, 1])
    assert Shifted.asked.total() == 0
    assert [version.timed_before for version in again.versions] == [N, N]
    for old, new in zip(first.versions, again.versions, strict=True):
        assert (old.mean, old.parameters) == (new.mean, new.parameters)
        assert new.p50 == pytest.approx(old.p50, abs=1e-5)  # the kept seconds, as they were measured
        assert new.p50 > 0.004
        assert new.throughput is None
    assert any(version.on_front for version in again.versions)
    grown = tried([5, 1, 0])  # whatever number a setting has, its answers are found again
    assert set(Shifted.asked) == {(5, query.text) for query in test_set}
    assert [version.timed_before for version in grown.versions] == [0, N, N]
    assert [version.mean for version in grown.versions[1:]] == [first.versions[1].mean, first.versions[0].mean]
    tried([0], concurrency=2)  # seconds at another concurrency are other seconds
    assert Shifted.asked.total() == N
    tried([0], configuration={"index": "new"})
    assert Shifted.asked.total() == N
    tried([0], corpus={"some text 1/1": "text"})
    assert Shifted.asked.total() == N
    tried([0], exact={"shift": 0})
    assert Shifted.asked.total() == N  # the exact search is kept too, apart from the version
    tried([0], exact={"shift": 0})
    assert Shifted.asked.total() == 0


def test_a_version_that_was_begun_before(tmp_path: Path, test_set: TestSet) -> None:
    """Calls of both starts are timed once each, and the version says how many are older."""
    part = TestSet(list(test_set)[:5], name="part")
    kept = {"cache": tmp_path, "configuration": {}}
    sweep(lambda shift: Shifted(shift, 0.01), {"shift": [0]}, part, **kept)
    found = sweep(lambda shift: Shifted(shift, 0.0), {"shift": [0]}, test_set, **kept)
    (version,) = found.versions
    assert version.timed_before == 5
    assert Shifted.asked.total() == N
    assert version.p50 < 0.01 < version.p95
    assert version.throughput is not None


def test_values_that_cannot_be_written_down_are_not_kept(tmp_path: Path, test_set: TestSet) -> None:
    def make(shift: Any) -> Shifted:
        return Shifted(shift())

    grid = {"shift": [lambda: 0, lambda: 1]}
    with pytest.raises(DataError, match="leave cache out"):
        sweep(make, grid, test_set, cache=tmp_path, configuration={})
    found = sweep(make, grid, test_set)
    assert msgspec.json.encode(found.result)
    assert found.settings == [{"shift": shift} for shift in grid["shift"]]


def test_a_folder_that_cannot_keep_answers(tmp_path: Path, test_set: TestSet) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(RetrieverError, match=r"cannot be kept in .*file/cache.*cache = false"):
        sweep(Shifted, {"shift": [0]}, test_set, cache=tmp_path / "file" / "cache", configuration={})


PLAN = """
testset = "testset.json"
measures = ["R@5"]
[calls]
k = 5
concurrency = 2
[[system]]
name = "slow"
factory = "slow_sweep_module:make"
[sweep]
system = "slow"
measure = "R@5"
grid = { shift = [1, 2, 3] }
[outputs]
record = "record.json"
"""
SEARCH = """
import pathlib, time
log = pathlib.Path(__file__).with_name("asked.txt")
def make(shift=0):
    def search(query, k):
        with log.open("a") as file:
            file.write(f"{shift} {query}\\n")
        time.sleep(0.02)
        return [f"{query}-{i + shift}" for i in range(k)]
    return search
"""


def test_a_sweep_that_is_killed_goes_on(tmp_path: Path) -> None:
    queries = [{"id": f"q{i}", "query": f"text {i}", "relevant_docs": [f"text {i}-2"]} for i in range(30)]
    (tmp_path / "testset.json").write_text(json.dumps(queries))
    (tmp_path / "slow_sweep_module.py").write_text(SEARCH)
    (tmp_path / "plan.toml").write_text(PLAN)

    def asked() -> list[str]:
        log = tmp_path / "asked.txt"
        return log.read_text().splitlines() if log.exists() else []

    command = [sys.executable, "-m", "rankgauge", "run", "--details", str(tmp_path / "plan.toml")]
    for until in (40, 65):  # in the first version, and in the second
        child = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        deadline = time.monotonic() + 30
        while len(asked()) < until and time.monotonic() < deadline:
            time.sleep(0.01)
        os.kill(child.pid, signal.SIGKILL)
        child.wait()
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    everything = asked()
    assert set(everything) == {f"{shift} text {i}" for shift in range(4) for i in range(30)}
    assert len(everything) <= 4 * 30 + 2 * 2  # only what was in flight at a kill is asked again
    (found,) = json.loads((tmp_path / "record.json").read_text())["sweeps"]
    assert [version["mean"] for version in found["versions"]] == [1.0, 1.0, 0.0]
    before = [version["timed_before"] for version in found["versions"]]
    assert before[0] == 30
    assert 0 < before[1] < 30
    assert before[2] == 0
    assert all(version["p50"] > 0.02 for version in found["versions"])
    assert "Timed in an earlier start, at the same concurrency: V1, V2." in done.stdout
