"""`rankgauge run` and `init` as a user runs them; a run that is killed goes on where it was."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import click
import pytest

from tests.cli.command import run_command, run_process

PLAN = """
testset = "testset.json"
measures = ["R@5"]
[calls]
k = 5
concurrency = 2
[[system]]
name = "slow"
use = "slow_search_module:search"
[outputs]
record = "record.json"
"""

SEARCH = """
import pathlib, time
log = pathlib.Path(__file__).with_name("asked.txt")
def search(query, k):
    with log.open("a") as file:
        file.write(query + "\\n")
    time.sleep(0.03)
    return [f"{query}-{i}" for i in range(k)]
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    queries = [{"id": f"q{i}", "query": f"text {i}", "relevant_docs": [f"text {i}-1"]} for i in range(60)]
    (tmp_path / "testset.json").write_text(json.dumps(queries))
    (tmp_path / "slow_search_module.py").write_text(SEARCH)
    (tmp_path / "plan.toml").write_text(PLAN)
    return tmp_path


def asked(folder: Path) -> list[str]:
    log = folder / "asked.txt"
    return log.read_text().splitlines() if log.exists() else []


def test_killed_and_started_again(folder: Path) -> None:
    command = [sys.executable, "-m", "rankgauge", "run", str(folder / "plan.toml")]
    for _ in range(2):
        child = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        before, deadline = len(asked(folder)), time.monotonic() + 30
        while len(asked(folder)) < before + 12 and time.monotonic() < deadline:
            time.sleep(0.02)
        os.kill(child.pid, signal.SIGKILL)
        child.wait()
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    everything = asked(folder)
    assert set(everything) == {f"text {i}" for i in range(60)}
    assert len(everything) <= 60 + 2 * 2  # only what was in flight at a kill is asked again
    record = json.loads((folder / "record.json").read_text())
    assert record["systems"][0]["means"]["R@5"]["value"] == 1.0
    calls = record["systems"][0]["calls"]
    assert (calls["cached"], calls["proven"]) == (0, False)
    assert 20 <= calls["resumed"] == 60 - calls["latency"]["count"]
    assert "kept from an earlier start" in done.stdout
    assert list((folder / ".rankgauge").rglob("*.jsonl")) == []
    run_command("run", folder / "plan.toml")  # what has finished is measured anew
    assert len(asked(folder)) == len(everything) + 60


def test_two_plans_in_one_folder_keep_their_answers_apart(folder: Path) -> None:
    """Plan A is killed; plan B, with a system of the same name and settings, finishes; A goes on where it was."""
    (folder / "other.toml").write_text(PLAN.replace("record.json", "other.json"))
    command = [sys.executable, "-m", "rankgauge", "run", str(folder / "plan.toml")]
    child = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    deadline = time.monotonic() + 30
    while len(asked(folder)) < 20 and time.monotonic() < deadline:
        time.sleep(0.02)
    os.kill(child.pid, signal.SIGKILL)
    child.wait()
    first = len(asked(folder))
    for options in ((), ("--fresh",)):
        before = len(asked(folder))
        assert run_process("run", folder / "other.toml", *options).status == 0
        assert len(asked(folder)) == before + 60  # none of A's answers is taken
        calls = json.loads((folder / "other.json").read_text())["systems"][0]["calls"]
        assert (calls["resumed"], calls["cached"], calls["latency"]["count"]) == (0, 0, 60)
    before = len(asked(folder))
    assert run_process("run", folder / "plan.toml").status == 0
    assert 60 <= first + len(asked(folder)) - before <= 60 + 2  # only what was in flight is asked again
    assert json.loads((folder / "record.json").read_text())["systems"][0]["calls"]["resumed"] >= 18
    assert list((folder / ".rankgauge").rglob("*.jsonl")) == []


def test_check_only_looks(folder: Path) -> None:
    done = run_command("run", "--check", folder / "plan.toml")
    assert "plan.toml: 1 system, R@5: no faults" in done.stdout
    assert asked(folder) == []
    assert not (folder / "record.json").exists()


def test_what_a_look_at_a_plan_imports_is_said(folder: Path) -> None:
    """A plan is code: looking at one runs what its modules do when they are imported."""
    code = "import pathlib\npathlib.Path(__file__).with_name('ran').touch()\ndef search(query, k): return []\n"
    (folder / "loud.py").write_text(code)
    (folder / "plan.toml").write_text(
        'testset = "testset.json"\nmeasures = ["R@5"]\n[[system]]\nuse = "loud:search"\n[monitor]\nevery = "1h"\n'
    )
    done = run_command("monitor", folder / "plan.toml", "--status")
    assert "no check yet" in done.stdout
    assert not (folder / "ran").exists()
    said = "importing loud, whose code runs now; nothing is asked"
    assert run_command("run", folder / "plan.toml", "--check").stderr.startswith(said)
    assert (folder / "ran").exists()
    assert run_command("monitor", folder / "plan.toml", "--check").stderr.startswith(said)
    (folder / "plan.toml").write_text('testset = "testset.json"\n[[system]]\nuse = "bm25"\n')
    assert "importing" not in run_command("run", folder / "plan.toml", "--check", status=None).stderr


def test_init_writes_a_plan_and_never_over_one(folder: Path) -> None:
    path = folder / "new.toml"
    run_command("init", path)
    assert "[[system]]" in path.read_text()
    assert "exists already" in run_command("init", path, status=2).stderr


def test_faults_are_named(folder: Path) -> None:
    (folder / "plan.toml").write_text(PLAN.replace("measures", "mesures").replace("k = 5", "k = -5"))
    done = run_command("run", folder / "plan.toml", status=2)
    assert "did you mean measures?" in done.stderr
    assert "calls.k" in done.stderr
    assert "there is no such file" in run_command("run", folder / "none.toml", status=2).stderr


def test_a_system_that_fails_too_often_is_no_low_score(folder: Path) -> None:
    (folder / "broken_search_module.py").write_text("def search(query, k):\n    raise OSError('down')\n")
    (folder / "plan.toml").write_text(PLAN.replace("slow_search_module", "broken_search_module") + "\n")
    done = run_command("run", folder / "plan.toml", status=2)
    assert "calls failed by the same mistake, so the other 5" in done.stderr  # 3, or some more at the same time
    assert "down" in done.stderr
    assert not (folder / "record.json").exists()


def test_changed_code_is_asked_again(folder: Path) -> None:
    def run() -> float:
        command = [sys.executable, "-m", "rankgauge", "run", str(folder / "plan.toml")]
        subprocess.run(command, capture_output=True, check=True, timeout=60)
        return json.loads((folder / "record.json").read_text())["systems"][0]["means"]["R@5"]["value"]

    (folder / "plan.toml").write_text(PLAN.replace("slow_search_module", "edited_module"))
    (folder / "edited_module.py").write_text("def search(query, k):\n    return ['nothing']\n")
    assert run() == 0.0
    (folder / "edited_module.py").write_text("def search(query, k):\n    return [query + '-1']\n")
    assert run() == 1.0


def test_ids_with_blanks_are_written_as_json(folder: Path) -> None:
    (folder / "plan.toml").write_text(PLAN + 'runs = "runs"\n')
    run_command("run", folder / "plan.toml")
    assert [path.name for path in (folder / "runs").iterdir()] == ["slow.json"]
    assert (
        "1.0000" in run_command("evaluate", folder / "testset.json", folder / "runs" / "slow.json", "-m", "R@5").stdout
    )


def started(folder: Path, *options: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "rankgauge", "run", str(folder / "plan.toml"), *options]
    return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)


@pytest.mark.parametrize(
    ("cache", "language", "said"),
    [
        (
            "",
            "en",
            "the answers so far are kept in {folder}/.rankgauge/answers/plan.toml; the same command continues",
        ),
        ("", "zh", "已得到的结果保存在 {folder}/.rankgauge/answers/plan.toml 中；再次运行同一命令即可继续"),
        ("cache = false\n", "en", "no answers are kept (cache = false)"),
    ],
)
def test_ctrl_c_says_that_the_answers_are_kept(folder: Path, cache: str, language: str, said: str) -> None:
    second = '[[system]]\nname = "second"\nuse = "slow_search_module:second"\n'
    (folder / "plan.toml").write_text(
        PLAN.replace("k = 5\n", f"k = 5\n{cache}").replace("[outputs]", second + "[outputs]")
    )
    (folder / "slow_search_module.py").write_text(SEARCH + "second = lambda query, k: search('second ' + query, k)\n")
    child, deadline = started(folder, "--lang", language), time.monotonic() + 30
    while len(asked(folder)) < 10 and time.monotonic() < deadline:
        time.sleep(0.01)
    child.send_signal(signal.SIGINT)
    _, err = child.communicate(timeout=30)
    assert child.returncode == 130, err
    assert said.format(folder=folder) in err
    assert len(err.splitlines()) == 1
    assert not any(line.startswith("second") for line in asked(folder))  # the other system is not begun
    if not cache:
        assert run_process("run", folder / "plan.toml").status == 0
        assert len(asked(folder)) <= 120 + 2


def test_errors_of_the_system_name_the_file(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied", str(folder / "somewhere.json"))

    monkeypatch.setattr("rankgauge.plans.running.run_plan", refuse)
    done = run_command("run", folder / "plan.toml", status=2)
    assert done.stderr == f"rankgauge: {folder / 'somewhere.json'}: Permission denied\n"


def test_a_folder_that_became_a_file_meanwhile(folder: Path) -> None:
    """The check saw nothing wrong; the message names what is in the way."""
    (folder / "plan.toml").write_text(PLAN.replace("record.json", "out/record.json").replace("slow_s", "blocking_s"))
    (folder / "blocking_search_module.py").write_text(
        "import pathlib\ndef search(query, k):\n"
        "    pathlib.Path(__file__).with_name('out').write_text('')\n    return [query + '-1']\n"
    )
    done = run_command("run", folder / "plan.toml", status=2)
    assert f"{folder / 'out' / 'record.json'}: cannot be written" in done.stderr
    assert f"{folder / 'out'}: File exists" in done.stderr


def test_a_damaged_journal_and_a_fresh_start(folder: Path) -> None:
    (folder / "plan.toml").write_text(PLAN.replace("k = 5", 'k = 5\ncache = "."'))
    (folder / "corpus.jsonl").write_text('{"_id": "text 1-1", "text": "x"}\n')
    assert run_process("run", folder / "plan.toml").status == 0
    (journal,) = folder.glob("slow-*.jsonl")
    journal.write_bytes(b"\x00" + journal.read_bytes()[1:])
    done = run_command("run", folder / "plan.toml", status=2)
    assert str(journal) in done.stderr
    assert "--fresh" in done.stderr
    assert run_process("run", folder / "plan.toml", "--fresh").status == 0
    assert len(asked(folder)) == 120
    assert (folder / "corpus.jsonl").exists()  # only journals are forgotten, whatever else the folder holds


def test_long_reasons_are_cut_and_whole_in_the_record(folder: Path) -> None:
    (folder / "long_search_module.py").write_text(
        "def search(query, k):\n    raise ValueError('trouble\\n' * 500)\n"
        "def make():\n    raise ValueError('misery ' * 500)\n"
    )
    more = '[[system]]\nname = "long"\nuse = "long_search_module:search"\n'
    more += '[[system]]\nname = "made"\nfactory = "long_search_module:make"\n'
    (folder / "plan.toml").write_text(
        PLAN.replace("[outputs]", f"{more}[outputs]").replace("k = 5", "k = 5\nretries = 0")
    )
    done = run_command("run", folder / "plan.toml", status=2)
    assert re.search(r"left out: long: the first \d+ calls failed by the same mistake", done.stderr)
    assert "characters in all" in done.stderr
    assert max(map(len, done.stderr.splitlines())) < 420
    assert "trouble " * 60 not in done.stdout.replace("\n", " ")
    invalid = json.loads((folder / "record.json").read_text())["invalid"]
    assert invalid["long"]["key"] == "asking.mistake"
    assert invalid["long"]["parameters"]["error"].count("trouble") == 500
    assert invalid["made"]["parameters"]["error"].count("misery") == 500


def test_no_hint_to_the_check_after_the_check(folder: Path) -> None:
    (folder / "plan.toml").write_text(PLAN.replace("k = 5", "k = 0"))
    assert "rankgauge run --check" in run_command("run", folder / "plan.toml", status=2).stderr
    assert "--check" not in run_command("run", "--check", folder / "plan.toml", status=2).stderr


def test_what_a_system_prints_is_no_result(folder: Path) -> None:
    """From its threads too, and when its module is imported."""
    (folder / "printing_search_module.py").write_text(
        "print('imported')\ndef search(query, k):\n    print(f'asked {query}\\n', end='')\n    return [query + '-1']\n"
    )
    (folder / "plan.toml").write_text(PLAN.replace("slow_search_module", "printing_search_module"))
    assert "no faults" in (checked := run_process("run", "--check", folder / "plan.toml")).stdout
    said = "importing printing_search_module, whose code runs now; nothing is asked\nimported\n"
    assert (checked.stderr, "imported" in checked.stdout) == (said, False)
    done = run_process("run", "--json", folder / "plan.toml")
    assert json.loads(done.stdout)["systems"][0]["means"]["R@5"]["value"] == 1.0
    assert done.stderr.count("asked text") == 60


def test_a_second_start_is_refused_at_once(folder: Path) -> None:
    second = '[[system]]\nname = "second"\nuse = "slow_search_module:second"\n'
    (folder / "plan.toml").write_text(
        PLAN.replace("k = 5\n", "k = 5\ncache = true\n").replace("[outputs]", second + "[outputs]")
    )
    (folder / "slow_search_module.py").write_text(
        SEARCH.replace("time.sleep(0.03)", "while not log.with_name('go').exists(): time.sleep(0.01)")
        + "second = lambda query, k: search('second ' + query, k)\n"
    )
    first, deadline = started(folder), time.monotonic() + 30
    while len(asked(folder)) < 2 and time.monotonic() < deadline:
        time.sleep(0.01)
    for options in ([], ["--fresh"]):  # which must not take the answers of the first one away either
        done = run_process("run", folder / "plan.toml", *options)
        assert done.status == 2
        assert "another rankgauge run keeps its answers in" in done.stderr
        assert 'cache = "..." under [calls]' in done.stderr
        assert done.stdout == ""
    (folder / "go").touch()
    first.communicate(timeout=60)
    assert first.returncode == 0
    assert len(asked(folder)) == 120
    record = json.loads((folder / "record.json").read_text())
    assert [system["name"] for system in record["systems"]] == ["slow", "second"]
    assert record["invalid"] == {}
    again = run_process("run", folder / "plan.toml")
    kept = json.loads((folder / "record.json").read_text())["systems"][0]["calls"]
    assert (kept["cached"], kept["latency"]) == (60, None)
    assert [note["key"] for note in kept["notes"]] == ["live.cached"]
    assert "fresh" in again.stdout
    assert len(asked(folder)) == 120


def test_reasons_in_chinese(folder: Path) -> None:
    (folder / "failing_search_module.py").write_text("def search(query, k):\n    raise ValueError('down')\n")
    more = '[[system]]\nname = "broken"\nuse = "failing_search_module:search"\n'
    (folder / "plan.toml").write_text(PLAN.replace("[outputs]", f"{more}[outputs]"))
    done = run_command("run", folder / "plan.toml", "--lang", "zh", status=2)
    for text in (done.stderr, done.stdout):
        assert re.search(r"broken：前 \d+ 次调用因同一错误失败，因此其余 5\d 个查询未再发送：ValueError: down \(", text)
    assert "failing_search_module.py:2)" in done.stderr


INTERRUPTED = """
import os, signal
os.kill(os.getpid(), signal.SIGINT)
def search(query, k):
    return [query]
"""


def test_ctrl_c_at_the_start(folder: Path) -> None:
    (folder / "interrupted_search_module.py").write_text(INTERRUPTED)
    (folder / "plan.toml").write_text(PLAN.replace("slow_search_module", "interrupted_search_module"))
    done = run_process("run", folder / "plan.toml")
    assert (done.status, done.stdout, done.stderr) == (130, "", "rankgauge: interrupted\n")


@pytest.mark.parametrize(
    "place",
    [
        "rankgauge.cli.run._written",  # while outputs are written
        "rankgauge.plans.plan.load_plan",
        "rankgauge.cli.groups.import_module",  # while the command is loaded
        "click.Context.__init__",  # while its arguments are read
        "rankgauge.plans.running.plan_record",
    ],
)
@pytest.mark.parametrize("error", [KeyboardInterrupt, click.Abort])
def test_ctrl_c_anywhere(folder: Path, monkeypatch: pytest.MonkeyPatch, place: str, error: type[BaseException]) -> None:
    def interrupt(*_: object, **__: object) -> None:
        raise error

    if place.startswith("click"):  # there click itself cannot have turned it into its own
        error = KeyboardInterrupt
    monkeypatch.setattr(place, interrupt)
    done = run_command("run", folder / "plan.toml", status=130)
    assert done.stderr.startswith("rankgauge: interrupted")
    assert len(done.stderr.splitlines()) == 1


def test_ctrl_c_several_times(folder: Path) -> None:
    child, deadline = started(folder), time.monotonic() + 30
    while len(asked(folder)) < 10 and time.monotonic() < deadline:
        time.sleep(0.01)
    while child.poll() is None and time.monotonic() < deadline:
        child.send_signal(signal.SIGINT)
        time.sleep(0.01)
    _, err = child.communicate(timeout=30)
    assert child.returncode == 130, err
    assert len(err.splitlines()) == 1


@pytest.mark.parametrize("closed", [">&-", "2>&-", ">&- 2>&-"])
def test_closed_streams(folder: Path, closed: str) -> None:
    (folder / "plan.toml").write_text(PLAN.replace("k = 5\n", 'k = 5\ncache = "kept"\n'))
    command = f'"$0" -m rankgauge run "$1" {closed}'
    done = subprocess.run(
        ["sh", "-c", command, sys.executable, str(folder / "plan.toml")], capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done
    assert "Traceback" not in done.stderr
    assert json.loads((folder / "record.json").read_text())["systems"][0]["means"]["R@5"]["value"] == 1.0
    (journal,) = (folder / "kept").glob("*.jsonl")
    assert len(journal.read_text().splitlines()) == 61
    assert all(json.loads(line) for line in journal.read_text().splitlines())


def test_verify_a_record_of_live_retrievers(folder: Path) -> None:
    run_command("run", folder / "plan.toml")
    done = run_command("verify", folder / "record.json", status=2)
    assert "live retrievers (slow), which cannot be computed again" in done.stderr
    assert "rankgauge evaluate" in done.stderr


def test_what_earlier_starts_left_among_the_runs_goes(folder: Path) -> None:
    """A half-written file of a killed start, and the list of a system in the other form."""
    (folder / "plan.toml").write_text(PLAN + 'runs = "runs"\n')
    run_command("run", folder / "plan.toml")
    (lists,) = (folder / "runs").iterdir()
    assert lists.name == "slow.json"  # its ids have blanks in them
    (folder / "runs" / "slow.run").write_text("q1 Q0 d1 1 1 slow\n")
    half = lists.with_name(".slow.json.abcd1234")
    half.write_text("half of it")
    os.utime(half, (time.time() - 3600,) * 2)
    run_command("run", folder / "plan.toml")
    assert [*(folder / "runs").iterdir()] == [lists]


def test_a_retriever_that_changes_the_folder_moves_nothing(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Outputs, answers and the history are where they were asked for, though named by relative paths."""
    elsewhere = folder / "elsewhere"
    elsewhere.mkdir()
    code = f"import os\ndef search(query, k):\n    os.chdir({str(elsewhere)!r})\n    return ['d1']\n"
    (folder / "wandering_module.py").write_text(code)
    (folder / "plan.toml").write_text(PLAN.replace("slow_search_module", "wandering_module"))
    monkeypatch.chdir(folder)
    done = run_command("run", "plan.toml", "--keep", "--history", "kept.db")
    assert "wrote record.json" in done.stderr
    assert "kept as record 1 of kept.db" in done.stderr
    assert list(elsewhere.iterdir()) == []
    record = json.loads((folder / "record.json").read_text())
    inputs = record["provenance"]["inputs"]
    assert {role: file["path"] for role, file in inputs.items()} == {"plan": "plan.toml", "judgments": "testset.json"}
    assert (folder / "kept.db").exists()
    assert (folder / ".rankgauge").is_dir()


def test_on_a_terminal_progress_goes_and_the_next_step_is_last(folder: Path) -> None:
    (folder / "slow_search_module.py").write_text(SEARCH.replace("time.sleep(0.03)", ""))
    (folder / "plan.toml").write_text(PLAN + 'runs = "runs"\n')
    terminal, its_end = os.openpty()
    command = [sys.executable, "-m", "rankgauge", "run", "plan.toml", "--lang", "en"]
    env = {**os.environ, "COLUMNS": "80", "TERM": "xterm", "NO_COLOR": "1"}
    with subprocess.Popen(command, stdout=its_end, stderr=its_end, env=env, cwd=folder):
        os.close(its_end)
        shown = b""
        with suppress(OSError):  # which says on Linux that the other side is closed
            while part := os.read(terminal, 65536):
                shown += part
    os.close(terminal)
    _, erased, rest = shown.decode().rpartition("\x1b[2K")
    assert erased
    assert "━" not in rest
    assert "wrote record.json, runs/slow.json" in rest.splitlines()
    assert rest.rstrip().splitlines()[-1].startswith("Next: rankgauge compare ")
