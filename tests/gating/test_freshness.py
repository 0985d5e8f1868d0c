"""Answers that were not measured for a record are no proof: gate, baselines, monitor and pytest refuse them unless they
are proven to be current or somebody takes them knowingly."""

from __future__ import annotations

import hashlib
import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from rankgauge import evaluate_retriever
from rankgauge.errors import DataError, FormatError
from rankgauge.evaluation import hashed, signatures
from rankgauge.formats.json_values import dumps
from rankgauge.gating.baseline import baseline_of, export_baseline, load_baseline
from rankgauge.gating.gate import gate
from rankgauge.history.baselines import gate_baseline, promote_baseline, set_baseline
from rankgauge.history.store import History
from rankgauge.plans.plan import load_plan
from rankgauge.plans.running import run_plan
from rankgauge.pytest_plugin import Guard
from rankgauge.record import Calls, Record
from rankgauge.retrievers import BM25
from rankgauge.words import Note
from tests.cli.command import run_command
from tests.gating.test_gate import BASE, N, made, with_system
from tests.retrievers.servers import Asked, Reply, Service, calls

REFUSED = r"\d+ cached answers? of ours were not measured for it, .* --fresh, or .*`allow='cached'`"


def measured(**parts: Any) -> Record:
    return with_system(made({"RR": BASE}), calls=Calls(10, 1, None, None, **parts))


def asking(folder: Path, word: str, queries: int = 20) -> Path:
    """A test set whose queries are numbered words, each with one document."""
    path = folder / "testset.json"
    path.write_text(
        json.dumps([{"id": f"q{i}", "query": f"{word}{i}", "relevant_docs": [f"d{i}"]} for i in range(queries)])
    )
    return path


LIVE, CACHED, RESUMED = measured(), measured(cached=N), measured(resumed=3)


@pytest.mark.parametrize("record", [CACHED, RESUMED, measured(cached=1)])
def test_a_gate_refuses_them(record: Record) -> None:
    for options in ({"baseline": LIVE}, {"targets": "RR >= 0.1"}):
        with pytest.raises(DataError, match=f"^the record: {REFUSED}"):
            gate(record, **options)  # type: ignore[arg-type]
        result = gate(record, **options, allow="cached")  # type: ignore[arg-type]
        assert result.accepted
        assert "gate.cached" in [note.key for note in result.remarks]
        assert gate(with_system(record, calls=replace(record.systems[0].calls, proven=True)), **options).accepted  # type: ignore[arg-type, type-var]


def test_a_record_as_the_baseline_is_refused_too() -> None:
    with pytest.raises(DataError, match=f"^the baseline the baseline: {REFUSED}"):
        gate(LIVE, CACHED)
    assert [note.key for note in gate(LIVE, CACHED, allow="cached").remarks] == ["gate.cached_baseline"]
    older = json.loads(CACHED.to_json())
    for key in ("resumed", "proven"):  # a record of before there were such fields
        del older["systems"][0]["calls"][key]
    with pytest.raises(DataError, match=REFUSED):
        gate(Record.from_dict(older), LIVE)


def test_baselines_are_looked_at_when_they_are_made(tmp_path: Path) -> None:
    with History.open(tmp_path / "history.db") as history:
        with pytest.raises(DataError, match=REFUSED):
            set_baseline(history, "main", CACHED)
        set_baseline(history, "main", LIVE)
        with pytest.raises(DataError, match=REFUSED):
            promote_baseline(history, "main", CACHED, force=True, note="in haste")
        stored = set_baseline(history, "main", CACHED, allow="cached")
        assert stored.looser == ("allow=cached",)
        # Who set it knew; a gate against it need not allow the same for the record.
        against = gate_baseline(history, "main")
        assert [note.key for note in gate(LIVE, against).remarks] == ["gate.cached_baseline"]
        with pytest.raises(DataError, match=r"^the record: "):
            gate(CACHED, against)
        (tmp_path / "exported.json").write_bytes(dumps(export_baseline(against)))
    assert gate(LIVE, load_baseline(tmp_path / "exported.json")).accepted


def test_a_system_that_is_left_out_does_not_make_another_one_the_baseline(tmp_path: Path) -> None:
    partly = replace(LIVE, invalid={"search": Note("live.error", {"error": "down"}, "warning")})
    with History.open(tmp_path / "history.db") as history:
        with pytest.raises(DataError, match=r"lacks 'search', which could not be evaluated.* with `system=`"):
            set_baseline(history, "main", partly)
        assert set_baseline(history, "main", partly, system=LIVE.systems[0].name).version == 1


def test_on_the_command_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    CACHED.save("cached.json")
    LIVE.save("live.json")
    said = run_command("gate", "cached.json", "--baseline", "live.json", "--junit", "gate.xml", status=2).stderr
    assert f"{N} cached answers of ours" in said
    assert "knowingly with --allow cached" in said
    assert "cached answers" in Path("gate.xml").read_text()
    run_command("gate", "cached.json", "--baseline", "live.json", "--allow", "cached")
    Path("rules.toml").write_text('[gate]\nallow = ["cached"]\n')
    run_command("gate", "cached.json", "--baseline", "live.json", "--rules", "rules.toml")
    assert "--allow cached" in run_command("baseline", "set", "main", "cached.json", status=2).stderr
    run_command("baseline", "set", "main", "live.json")
    assert "--allow cached" in run_command("baseline", "promote", "main", "cached.json", status=2).stderr
    assert "--note" in run_command("baseline", "promote", "main", "cached.json", "--allow", "cached", status=2).stderr
    run_command("baseline", "promote", "main", "cached.json", "--allow", "cached", "--note", "the server is gone")
    run_command("baseline", "set", "main", "cached.json", "--allow", "cached")
    assert "[allow=cached]" in run_command("baseline", "list").stdout


def test_the_monitor_refuses_a_baseline_of_them(tmp_path: Path) -> None:
    (tmp_path / "watched_module_of_freshness.py").write_text("def search(query, k):\n    return [query]\n")
    asking(tmp_path, "d", N)
    plan = (
        'testset = "testset.json"\nmeasures = ["RR"]\n[calls]\ncache = true\n[[system]]\nname = "ours"\n'
        'use = "watched_module_of_freshness:search"\n[monitor]\nbaseline = "base.json"\nevery = "1h"\n'
    )
    record = replace(CACHED, provenance=replace(CACHED.provenance, inputs={}))
    (tmp_path / "base.json").write_bytes(dumps(export_baseline(baseline_of(record, "base"))))
    (tmp_path / "plan.toml").write_text(plan)
    said = run_command("monitor", tmp_path / "plan.toml", "--once", status=2).stderr
    assert "monitor.baseline: the baseline base: 80 cached answers of ours" in said
    (tmp_path / "plan.toml").write_text(f'{plan}allow = "cached"\n')
    run_command("monitor", tmp_path / "plan.toml", "--once")
    run_command("monitor", tmp_path / "plan.toml", "--once")  # its own checks never take kept answers
    with History.open(tmp_path / ".rankgauge" / "history.db") as history:
        found = [history.record(stored.id).systems[0].calls for stored in history.records()]
    assert [(one.kept, one.latency.count) for one in found if one and one.latency] == [(0, N), (0, N)]


def test_a_test_refuses_them(tmp_path: Path) -> None:
    test_set = asking(tmp_path, "d")
    guard = Guard(tmp_path / "history.db")
    options: dict[str, Any] = {"cache": tmp_path / "kept", "configuration": {}, "measures": "RR"}
    guard.assert_targets(lambda query, k: [query], test_set, ["RR >= 0.9"], name="ours", **options)
    with pytest.raises(pytest.fail.Exception, match="20 cached answers of ours"):
        guard.assert_targets(lambda query, k: ["rubbish"], test_set, ["RR >= 0.9"], name="ours", **options)
    guard.assert_targets(lambda query, k: [query], test_set, ["RR >= 0.9"], name="ours", allow="cached", **options)
    setting = Guard(tmp_path / "history.db", set_baseline=True)
    for baseline in ("main", tmp_path / "base.json"):
        with pytest.raises(pytest.fail.Exception, match="20 cached answers of ours"):
            setting.assert_no_regression(lambda q, k: [q], test_set, baseline=baseline, name="ours", **options)
    assert not (tmp_path / "base.json").exists()


def test_retrievers_that_say_all_their_answers_depend_on_are_proven(tmp_path: Path) -> None:
    corpus = {f"d{i}": f"word{i} text" for i in range(20)}
    test_set = asking(tmp_path, "word")
    for kept in (0, 20):
        found = evaluate_retriever(BM25(corpus), test_set, measures="RR", cache=tmp_path).calls
        assert (found.cached, found.proven) == (kept, kept > 0)


@pytest.fixture
def slow(tmp_path: Path) -> Any:
    """A plan on a server that answers slowly until it is told to go on."""

    def answer(asked: Asked) -> Reply:
        number = int(asked.body["query"])
        return Reply({"hits": [{"id": f"d{number}"}]}, delay=0 if number < 20 or (tmp_path / "go").exists() else 30)

    asking(tmp_path, "", 40)
    with calls(answer) as service:
        (tmp_path / "plan.toml").write_text(
            'testset = "testset.json"\nmeasures = ["RR"]\n[[system]]\nname = "ours"\nuse = "http"\n'
            f'parameters = {{ url = "{service.url}" }}\n[outputs]\nrecord = "record.json"\n'
        )
        yield service


def test_what_a_server_answered_before_a_kill_is_not_proven(slow: Service, tmp_path: Path) -> None:
    """Between the kill and the next start the server may have been another one."""
    command = [sys.executable, "-m", "rankgauge", "run", str(tmp_path / "plan.toml")]
    child = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    deadline = time.monotonic() + 60
    while len(slow.asked) < 21 and time.monotonic() < deadline:
        time.sleep(0.02)
    os.kill(child.pid, signal.SIGKILL)
    child.wait()
    (tmp_path / "go").touch()
    outcome = run_plan(load_plan(tmp_path / "plan.toml"))
    found = outcome.record.systems[0].calls
    assert found is not None
    assert (found.cached, found.resumed, found.proven) == (0, 20, False)
    assert found.latency is not None
    assert found.latency.count == 20
    with pytest.raises(DataError, match="20 cached answers of ours"):
        gate(outcome.record, targets="RR >= 0.9")
    again = run_plan(load_plan(tmp_path / "plan.toml"))
    assert again.record.systems[0].calls is not None
    assert again.record.systems[0].calls.kept == 0
    assert gate(again.record, targets="RR >= 0.9").accepted


def test_answers_stay_until_the_outputs_are_written(tmp_path: Path) -> None:
    (tmp_path / "kept_module_of_freshness.py").write_text("def search(query, k):\n    return [query]\n")
    asking(tmp_path, "d", 1)
    system = '[[system]]\nname = "ours"\nuse = "kept_module_of_freshness:search"\n'
    (tmp_path / "plan.toml").write_text(f'testset = "testset.json"\nmeasures = ["RR"]\n{system}')
    plan = load_plan(tmp_path / "plan.toml")

    def full(_: Any) -> None:
        raise DataError("no space left on device")

    with pytest.raises(DataError, match="no space"):
        run_plan(plan, write=full)
    found = run_plan(plan).record.systems[0].calls
    assert found is not None
    assert (found.resumed, found.proven) == (1, True)  # pure code, which has not changed
    assert list((tmp_path / ".rankgauge").rglob("*.jsonl")) == []


def test_code_that_is_edited_while_its_index_is_built(tmp_path: Path) -> None:
    """What answers is the code that was loaded. Its answers must not be kept as those of the file that is there now."""
    broken = "def rank(query, k):\n    return ['rubbish']\n"
    modules = {
        "edited_ranking_of_freshness": "def rank(query, k):\n    return [query]\n",
        "edited_factory_of_freshness": "from edited_ranking_of_freshness import rank\ndef make():\n    return rank\n",
    }
    for name, source in modules.items():
        (tmp_path / f"{name}.py").write_text(source)
    asking(tmp_path, "d", 1)
    (tmp_path / "plan.toml").write_text(
        'testset = "testset.json"\nmeasures = ["RR"]\n[calls]\ncache = true\n'
        '[[system]]\nname = "ours"\nfactory = "edited_factory_of_freshness:make"\n[outputs]\nrecord = "record.json"\n'
    )
    code = (
        "import sys; from pathlib import Path; from rankgauge import load_plan, run_plan;"
        "plan = load_plan('plan.toml');"
        "change = sys.argv[1:] and Path('edited_ranking_of_freshness.py').write_text(sys.argv[1]);"
        "calls = run_plan(plan).record.systems[0].calls; print(calls.cached, calls.proven)"
    )

    def measured(*change: str) -> str:
        command = [sys.executable, "-c", code, *change]
        return subprocess.run(command, cwd=tmp_path, check=True, capture_output=True, text=True).stdout.strip()

    assert measured(broken) == "0 False"
    assert measured() == "0 False"


def test_a_record_names_the_files_that_were_measured_with(tmp_path: Path) -> None:
    """Not those that lie there hours later, when all was asked: a gate goes by their hashes, and by the commit."""
    git = ["git", "-c", "user.name=me", "-c", "user.email=me@example.org", "-C", str(tmp_path)]
    source = """
import subprocess
from pathlib import Path
here = Path(__file__).parent
def search(query, k):
    for name in ("testset.json", "corpus.jsonl", "plan.toml"):
        (here / name).write_text((here / name).read_text() + "\\n")
    subprocess.run(COMMAND, check=True)
    return ["d0"]
"""
    commit = [*git, "commit", "--quiet", "--allow-empty", "--message", "x"]
    (tmp_path / "editing_module_of_freshness.py").write_text(source.replace("COMMAND", repr(commit)))
    asking(tmp_path, "d", 1)
    (tmp_path / "corpus.jsonl").write_text('{"_id": "d0", "text": "d0"}\n')
    (tmp_path / "plan.toml").write_text(
        'testset = "testset.json"\ncorpus = "corpus.jsonl"\nmeasures = ["RR"]\n[calls]\ncache = false\n'
        '[[system]]\nname = "ours"\nuse = "editing_module_of_freshness:search"\n'
    )
    for command in ([*git, "init", "--quiet"], commit):
        subprocess.run(command, check=True)
    head = subprocess.run([*git, "rev-parse", "HEAD"], check=True, capture_output=True, text=True).stdout.strip()
    names = {"judgments": "testset.json", "corpus": "corpus.jsonl", "plan": "plan.toml"}
    before = {role: hashlib.sha256((tmp_path / name).read_bytes()).hexdigest() for role, name in names.items()}
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path)
        found = run_plan("plan.toml").record.provenance
    assert {role: file.sha256 for role, file in found.inputs.items()} == before
    assert found.git == head


def test_so_does_the_record_of_a_retriever(tmp_path: Path) -> None:
    asking(tmp_path, "d", 1)
    path = tmp_path / "testset.json"
    before = hashlib.sha256(path.read_bytes()).hexdigest()

    def search(query: str, k: int) -> list[str]:
        path.write_text(path.read_text() + "\n")
        return ["d0"]

    assert evaluate_retriever(search, path, measures="RR").record.provenance.inputs["judgments"].sha256 == before


def test_files_that_change_while_they_are_read_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "run.txt"
    path.write_text("one")
    before = signatures({"run:a": path, "corpus": None, "judgments": "-"})
    assert list(hashed({"run:a": path}, before)) == ["run:a"]
    path.write_text("longer")
    with pytest.raises(FormatError, match="changed while it was read"):
        hashed({"run:a": path}, before)
    path.unlink()
    with pytest.raises(FormatError, match="changed while it was read"):
        hashed({"run:a": path}, before)
    assert hashed({}, before) == {}
