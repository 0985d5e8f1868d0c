"""`rankgauge testset judge` as a user runs it: decision first, exit status, cost, and keys that are nowhere."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from rankgauge.formats.labels import load_labels
from rankgauge.formats.secrets import forget_secrets
from rankgauge.testsets.rubric import load_prompt, load_rubric
from tests.cli.command import run_command
from tests.retrievers.servers import Asked, Reply
from tests.testsets.chat_server import completion, model, said
from tests.testsets.judged import answered, collection, documents_of, right_judge, true_grade


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    test_set, corpus = collection(3, 4)
    test_set.save("testset.json")
    Path("docs.jsonl").write_text("".join(json.dumps({"id": d, "text": t}) + "\n" for d, t in corpus.items()))
    Path("a.run").write_text("".join(f"q{q} Q0 d{q}-{d} {d + 1} {9 - d} a\n" for q in range(3) for d in range(4)))
    return tmp_path


def asked(endpoint: str, *more: str, labels: str = "labels.jsonl") -> list[str]:
    about = ["testset", "judge", "testset.json", "--corpus", "docs.jsonl", "--endpoint", endpoint, "--model", "m"]
    return [*about, "--labels", labels, *more]


def test_a_run_from_estimate_to_labels(files: Path) -> None:
    priced = ["--prices", "1,2", "--currency", "EUR"]
    with right_judge() as server:
        done = run_command(*asked(server.endpoint, "--estimate", *priced), status=None)
        assert done.status == 0
        assert done.stdout.startswith("12 calls, about ")
        assert "EUR" in done.stdout
        assert not server.asked
        assert not Path("labels.jsonl").exists()
        done = run_command(*asked(server.endpoint, *priced, "--max-calls", "5"), status=None)
        assert done.status == 1
        assert done.stdout.startswith("5 of 12 pairs judged; 0 failed, 7 left.")
        assert "the next run goes on from here" in done.stdout
        assert done.stderr.startswith("12 calls, about ")  # what it will cost, before it is spent
        assert "at most" in done.stderr.splitlines()[1]
        done = run_command(*asked(server.endpoint, *priced, "--lang", "zh"), status=None)
        assert done.status == 0
        assert done.stdout.startswith("已评判 12 对（其中 5 对来自以前的运行）。")
        assert max(map(len, done.stdout.splitlines())) <= 80
        assert len(done.stdout.splitlines()) <= 25
        done = run_command(*asked(server.endpoint, "--json"), status=None)
        assert json.loads(done.stdout)["spent"]["calls"] == 0
        assert len(server.asked) == 12
        assert run_command(*asked(server.endpoint, "--estimate"), status=None).stdout.startswith("Nothing is open")
    assert len(load_labels("labels.jsonl")) == 12


@pytest.mark.parametrize("language", ["en", "zh"])
def test_what_comes_with_it_can_be_changed(files: Path, language: str) -> None:
    """What `testset rubric` writes is what judges are told; changed, it is another version."""
    for scale in ("binary", "0-3", "0-10"):
        run_command("testset", "rubric", "--scale", scale, "--prompt-lang", language, "-o", f"{scale}.toml")
        assert load_rubric(f"{scale}.toml") == load_rubric(None, scale, language)
    shown = run_command("testset", "rubric", "--prompt", "--prompt-lang", language).stdout
    Path("prompt.toml").write_text(shown)
    assert load_prompt("prompt.toml") == load_prompt(None, language)
    Path("own.toml").write_text(Path("0-3.toml").read_text().replace("3 = ", '3 = "Buy it. " # ', 1))
    with right_judge() as server:
        run_command(
            *asked(server.endpoint, "--rubric", "own.toml", "--prompt", "prompt.toml", "--max-calls", "1"), status=1
        )
        assert "3: Buy it." in said(server.asked[0])


def test_pairs_of_runs_and_pools(files: Path) -> None:
    with right_judge() as server:
        assert run_command(*asked(server.endpoint, "--run", "a.run", "--depth", "2"), status=None).status == 0
        assert {label.doc for label in load_labels("labels.jsonl")} == {f"d{q}-{d}" for q in range(3) for d in range(2)}
        Path("pool.jsonl").write_text('{"query": "q1", "doc": "d1-3", "systems": ["a"], "rank": 4}\n')
        assert run_command(*asked(server.endpoint, "--pool", "pool.jsonl", labels="b.jsonl"), status=None).status == 0
        assert [label.doc for label in load_labels("b.jsonl")] == ["d1-3"]
        Path("aspects.json").write_text('{"q0": ["price"]}')
        assert (
            run_command(
                *asked(server.endpoint, "--pool", "pool.jsonl", "--aspects", "aspects.json"), status=None
            ).status
            == 0
        )


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (["--pool", "a.run", "--run", "a.run"], "exclude each other"),
        (["--prices", "1"], "no pair of numbers"),
        (["--max-cost", "1"], "needs the prices of the model: give --prices"),
        (["--api-key-env", "NO_SUCH_KEY"], "NO_SUCH_KEY"),
        (["--rubric", "testset.json"], "no TOML"),
        (["--aspects", "a.run"], "no JSON"),
        (["--anchors", "nowhere.jsonl"], "nowhere.jsonl"),
        (["--corpus", "nowhere.jsonl"], "nowhere.jsonl"),
        (["--samples", "0"], "--samples"),
        ([], "the connection is refused; is the server running?"),
    ],
)
def test_what_is_wrong_is_told_in_one_line(files: Path, more: list[str], said: str) -> None:
    done = run_command(*asked("http://127.0.0.1:9/v1", *more), status=None)
    assert done.status == 2
    assert said in done.stderr
    assert "Traceback" not in done.stderr


def test_a_file_of_labels_in_use(files: Path) -> None:
    from rankgauge.formats.labels import LabelFile

    held = LabelFile("labels.jsonl")
    done = run_command(*asked("http://127.0.0.1:9/v1"), status=None)
    held.close()
    assert done.status == 2
    assert "another process writes labels to it" in done.stderr
    Path("labels.jsonl").write_text("{}\n")
    assert run_command(*asked("http://127.0.0.1:9/v1"), status=None).status == 2


def test_a_budget_for_no_call_at_all(files: Path) -> None:
    """The same command would end the same way, so it is not said to go on."""
    with right_judge() as server:
        done = run_command(*asked(server.endpoint, "--max-tokens-total", "10"), status=None)
    assert done.status == 1
    assert not server.asked
    assert "the budget does not allow a single call" in done.stdout
    assert "--max-tokens" in done.stdout
    assert "goes on from here" not in done.stdout


def test_it_says_how_to_go_on(files: Path) -> None:
    """After an end by the server what was paid for is kept, and after the last grade there is a command to paste."""
    failing = {"from": 5}

    def answer(request: Asked) -> Any:
        if len(server.asked) > failing["from"]:
            return Reply({"error": "no money"}, 402)
        return answered([true_grade(text) for text in documents_of(request)])

    with model(answer) as server:
        done = run_command(*asked(server.endpoint, "--concurrency", "1"), status=None)
        assert done.status == 1
        assert "the next run goes on from here" in done.stdout
        assert "Next:" not in done.stderr
        assert len(load_labels("labels.jsonl")) == 5
        failing["from"] = 100
        done = run_command(*asked(server.endpoint), status=None)
        assert done.stdout.startswith("12 pairs judged, 5 of them in earlier runs.")
        last = done.stderr.splitlines()[-1]
        assert last == "Next: rankgauge testset build testset.json --labels labels.jsonl -o labelled.json"
    run_command(*last.split()[2:])
    assert Path("labelled.json").exists()


def test_a_key_is_in_no_file_and_no_output(files: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where the server repeats it: in errors, in answers, in reasons."""
    key = "canary-0f2a77c1b9d4"
    monkeypatch.setenv("JUDGE_KEY", key)
    forget_secrets()

    def answer(request: Asked) -> Any:
        held = next(value for name, value in request.headers.items() if name.lower() == "authorization")
        texts = documents_of(request)
        if "0 1" in texts[0]:
            return f"your key is {held}"
        if "0 2" in texts[0]:
            return Reply({"error": {"message": f"bad request of {held}"}}, 400)
        return Reply(completion(json.dumps({**answered([true_grade(texts[0])]), "reason": f"I saw {key}"})))

    with model(answer) as server:
        for more in (["--json"], [], ["--lang", "zh", "--probe", "3"]):
            done = run_command(*asked(server.endpoint, "--api-key-env", "JUDGE_KEY", *more), status=None)
            assert done.status == 1
            assert key not in done.stdout + done.stderr
    written = [path for path in files.rglob("*") if path.is_file()]
    assert {path.name for path in written} >= {"labels.jsonl", "labels.answers.jsonl"}
    assert not [path.name for path in written if key in path.read_text("utf-8")]
    assert any("***" in label.reason for label in load_labels("labels.jsonl"))
