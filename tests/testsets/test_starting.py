"""From a folder of documents to a test set that runs, in one command."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from rankgauge import ChatModel, Judge, RankgaugeError, TestSet, init_from_documents, load_pool, load_testset
from rankgauge.formats import load_corpus
from tests.cli.command import run_command
from tests.parts import ROOT
from tests.testsets.chat_server import model
from tests.testsets.test_asked_queries import KEY, QUICK, author, documents, said, subject
from tests.testsets.test_queries import made_up

FILES = ["corpus.jsonl", "plan.toml", "pool.jsonl", "testset.json"]


@pytest.fixture
def docs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of made-up documents in two others; its own is the working folder."""
    folder = tmp_path / "docs"
    for doc, text in made_up(24, folders=2).items():
        path = folder / f"{doc}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    return folder


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_the_walk_from_nothing(docs: Path, tmp_path: Path) -> None:
    (docs / "copy.md").write_text((docs / "f0" / "d0.md").read_text() + "\nand more")
    (docs / "empty.md").write_text("")
    done = run_command("init", "--from-docs", docs, "-o", "new", "-n", "20")
    assert "new: 25 documents, 20 queries, a plan for bm25, dense, hybrid" in done.stdout
    assert "1 file without text" in done.stdout
    assert "rankgauge run new/plan.toml" in done.stdout
    assert len(done.stdout.splitlines()) <= 25
    assert max(map(len, done.stdout.splitlines())) <= 80
    folder = tmp_path / "new"
    assert names(folder) == FILES
    corpus, tested = load_corpus(folder / "corpus.jsonl"), load_testset(folder / "testset.json")
    assert set(corpus) == {"copy.md", *(f"{doc}.md" for doc in made_up(24, folders=2))}
    assert {doc for query in tested for doc in query.relevant} <= set(corpus)
    assert {query.synthetic for query in tested} == {"known-item"}
    assert all(("copy.md" in query.grades) == ("f0/d0.md" in query.grades) for query in tested)
    grades = {query.id: set(query.grades) for query in tested}
    pool = load_pool(folder / "pool.jsonl")
    assert len(pool) > 100
    assert {name for pair in pool for name in pair.systems} == {"bm25", "dense", "hybrid"}
    assert not any(pair.doc in grades[pair.query] for pair in pool)
    run_command("run", "--check", "new/plan.toml")
    ran = run_command("run", "new/plan.toml")
    assert ran.stdout.startswith(("Keep bm25", "Take ", "Use ")) or "bm25" in ran.stdout.splitlines()[0]
    assert "all synthetic (known-item)" in " ".join(ran.stdout.split())
    record = json.loads((folder / "record.json").read_text())
    assert [system["name"] for system in record["systems"]] == ["bm25", "dense", "hybrid"]
    again = run_command("init", "--from-docs", docs, "-o", "new", status=2)
    assert "exists already and is not empty" in again.stderr
    assert "--force" in again.stderr
    (folder / "notes.txt").write_text("mine")
    run_command("init", "--from-docs", docs, "-o", "new", "-n", "5", "--force", "--lang", "zh")
    assert len(load_testset(folder / "testset.json")) == 5
    assert {"notes.txt", "record.json"} <= set(names(folder))
    assert names(tmp_path) == ["docs", "new"]


def test_few_documents_flatter_every_retriever(docs: Path, tmp_path: Path) -> None:
    for n, told in ((19, True), (20, False)):
        shutil.rmtree(docs)
        docs.mkdir()
        for doc, text in made_up(n).items():
            (docs / f"{doc}.md").write_text(text)
        found = init_from_documents(docs, tmp_path / f"new{n}", n=4)
        assert len(found.documents.corpus) == n
        assert ("started.few_documents" in [note.key for note in found.notes]) == told


def test_a_run_says_once_that_its_depth_takes_in_all_documents(docs: Path) -> None:
    shutil.rmtree(docs)
    docs.mkdir()
    for doc, text in made_up(6).items():
        (docs / f"{doc}.md").write_text(text)
    run_command("init", "--from-docs", docs, "-o", "new", "-n", "6")
    told = " ".join(run_command("run", "new/plan.toml").stdout.split())
    assert told.count("the corpus has 6 documents, no more than nDCG@10, R@10 look at") == 1


def test_json_and_python_agree(docs: Path, tmp_path: Path) -> None:
    seen: dict[str, tuple[int, int]] = {}
    found = init_from_documents(
        docs, tmp_path / "a", n=8, progress=lambda what, done, total: seen.__setitem__(what, (done, total))
    )
    told = json.loads(run_command("init", "--from-docs", docs, "-o", "b", "-n", "8", "--json").stdout)
    assert told["files"] == found.files
    assert told["generated"]["made"] == found.generated.made
    assert {*seen} == {"files", "reading", "queries", "indexes", "pooling"}
    assert all(done == total for done, total in seen.values())
    assert (tmp_path / "a" / "testset.json").read_bytes() == (tmp_path / "b" / "testset.json").read_bytes()


def test_an_empty_folder_and_others_for_the_output(docs: Path, tmp_path: Path) -> None:
    (tmp_path / "ready").mkdir()
    run_command("init", "--from-docs", docs, "-o", "ready", "-n", "4")
    assert names(tmp_path / "ready") == FILES
    (tmp_path / "file").write_text("x")
    (tmp_path / "lost").symlink_to(tmp_path / "nowhere")
    for output, said_so in (
        ("file", "is a file; name a folder"),
        ("gone/deep", "does not exist; make it first"),
        ("lost", "leads nowhere"),
        ("docs", "exists already and is not empty"),
    ):
        assert said_so in run_command("init", "--from-docs", docs, "-o", output, status=2).stderr
    assert names(tmp_path) == ["docs", "file", "lost", "ready"]


def test_a_folder_that_cannot_be_written(docs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(**_: object) -> str:  # root may write everywhere
        raise PermissionError(13, "Permission denied")

    (tmp_path / "closed").mkdir(mode=0o500)
    monkeypatch.setattr("rankgauge.testsets.starting_files.tempfile.mkdtemp", refused)
    assert "cannot be written" in run_command("init", "--from-docs", docs, "-o", "closed/new", status=2).stderr


def test_wrong_calls(docs: Path) -> None:
    for arguments, told in (
        (("--from-docs", "docs", "plan.toml"), "leave PLAN.toml out"),
        (("-n", "5"), "-n goes with --from-docs"),
        (("plan.toml", "--force"), "--force goes with --from-docs"),
        (("--from-docs", "gone"), "there is no such folder"),
        (("--from-docs", "docs", "--model", "m"), "--endpoint and --model go together"),
        (("--from-docs", "docs", "--judge-model", "m"), "go with --endpoint and --model"),
        (("--from-docs", "docs", "--encoding", "klingon"), "is not known"),
        (("--from-docs", "docs", "--kinds", "riddle"), "'riddle' is none of"),
    ):
        assert told in run_command("init", *arguments, status=2).stderr, arguments
    run_command("init", "plain.toml")
    assert not Path("rankgauge-testset").exists()


def test_folders_that_give_no_test_set(tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    with pytest.raises(RankgaugeError, match="no document to read: it has no files"):
        init_from_documents(tmp_path / "docs", tmp_path / "new")
    (tmp_path / "docs" / "a.png").write_bytes(b"x")
    (tmp_path / "docs" / "b.md").write_bytes(b"")
    with pytest.raises(RankgaugeError, match="no document to read: 1 empty, 1 other kind"):
        init_from_documents(tmp_path / "docs", tmp_path / "new")
    (tmp_path / "docs" / "c.md").write_text("1 2 3")
    with pytest.raises(RankgaugeError, match="no query could be made"):
        init_from_documents(tmp_path / "docs", tmp_path / "new")
    assert names(tmp_path) == ["docs"]


def test_one_document(tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "only.md").write_text("# Reset the valve\n\nTurn the boiler valve until the boiler stops.")
    found = init_from_documents(tmp_path / "docs", tmp_path / "new", n=5)
    assert all(query.relevant == ["only.md"] for query in found.test_set)
    run_command("run", tmp_path / "new" / "plan.toml")


def test_chinese_documents(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "docs" / "zh" / "how-to", tmp_path / "文档")
    (tmp_path / "文档" / "旧 编码.txt").write_bytes("旧编码的文件".encode("gb18030"))
    found = init_from_documents(tmp_path / "文档", tmp_path / "新", n=15)
    assert found.documents.left_out == {"encoding": ["旧 编码.txt"]}
    assert len(found.test_set) == 15
    assert sum(bool(re.search(r"[\u4e00-\u9fff]", query.text)) for query in found.test_set) >= 12
    run_command("run", "--check", tmp_path / "新" / "plan.toml")


def test_without_the_extra_for_retrievers(docs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The test set is there all the same, with the retrievers that are."""
    monkeypatch.setitem(sys.modules, "bm25s", None)
    found = init_from_documents(docs, tmp_path / "new", n=6)
    assert found.systems == ["dense"]
    assert found.pooled > 0
    assert len(load_testset(tmp_path / "new" / "testset.json")) == 6
    told = [note.sentence() for note in found.notes if note.key == "started.lacking"]
    assert any("pip install bm25s" in text for text in told)
    plan = (tmp_path / "new" / "plan.toml").read_text()
    assert 'use = "dense"' in plan
    assert '# baseline = "dense"' in plan


def judging(asked: Any) -> Any:
    """Writes, verifies, and grades: a document is relevant if the query names its subject."""
    text = said(asked)
    if "You write search queries" in text or "You check a test collection" in text:
        return author(asked)
    query = re.search(r"what is (\w+) good for", text)
    shown = documents(asked)
    grades = [int(query is not None and subject(own) == query[1]) for own in shown.values()]
    return {"grade": grades[0]} if len(grades) == 1 else {"grades": grades}


def test_a_model_writes_verifies_and_judges(docs: Path, tmp_path: Path) -> None:
    with model(judging) as server:
        writer = ChatModel(server.endpoint, "writer-1")
        judge = Judge(server.endpoint, "judge-1", scale="binary", reasons=False)
        found = init_from_documents(
            docs, tmp_path / "new", n=6, kinds={"question": 1}, model=writer, judge=judge, calls=QUICK, depth=3
        )
    assert found.judged is not None
    assert found.judged.complete
    tested = load_testset(tmp_path / "new" / "testset.json")
    assert {query.synthetic for query in tested} == {"llm:writer-1"}
    assert {(kind, name) for kind, name in tested.labels.sources} == {("import", "llm:writer-1"), ("model", "judge-1")}
    for query in tested:
        assert len(query.grades) >= 3
        assert len(query.relevant) == 1
        assert f"{query.relevant[0]}" in query.grades
    assert found.files == ["corpus.jsonl", "testset.json", "plan.toml"]
    assert sorted(found.files) == names(tmp_path / "new")
    assert "judge-1 calls relevant" in (tmp_path / "new" / "plan.toml").read_text()


def test_queries_that_the_judge_finds_nothing_for(docs: Path, tmp_path: Path) -> None:
    def stern(asked: Any) -> Any:
        made = judging(asked)
        return {"grade": 0} if "grade" in made else made

    with model(stern) as server:
        writer, judge = (ChatModel(server.endpoint, "w"), Judge(server.endpoint, "j", scale="binary", reasons=False))
        with pytest.raises(RankgaugeError, match="the judge j calls no document relevant"):
            init_from_documents(docs, tmp_path / "new", n=4, kinds={"question": 1}, model=writer, judge=judge, depth=2)
    assert names(tmp_path) == ["docs"]


@pytest.mark.parametrize(
    ("answer", "budget", "words"),
    [
        ({"query": ""}, None, "no query of w passed its checks: [0-9]+ that the model left empty"),
        ("I would rather not", None, "no query of w passed its checks: [0-9]+ calls without a usable answer: no JSON"),
        ({"query": "a query"}, {"calls": 0}, "the budget ends before there is a query .* [0-9]+ calls were not made"),
    ],
)
def test_why_a_model_gives_no_query(answer: Any, budget: Any, words: str, docs: Path, tmp_path: Path) -> None:
    with model(lambda asked: answer) as server:
        writer = ChatModel(server.endpoint, "w")
        with pytest.raises(RankgaugeError, match=words):
            init_from_documents(docs, tmp_path / "new", n=4, kinds={"question": 1}, model=writer, budget=budget)
    assert names(tmp_path) == ["docs"]


def test_killed_at_any_time_it_leaves_no_half_folder_and_pays_once(docs: Path, tmp_path: Path) -> None:
    """Killed while the model answers slowly: then the rest is asked, and the folder is whole."""

    def slow(asked: Any) -> Any:
        time.sleep(0.03)
        return author(asked)

    environment = {**os.environ, "WRITER_KEY": KEY}
    with model(slow) as server:
        command = [sys.executable, "-m", "rankgauge", "init", "--from-docs", str(docs), "-o", "new", "-n", "16"]
        command += ["--endpoint", server.endpoint, "--model", "w", "--api-key-env", "WRITER_KEY", "--kinds", "question"]
        for after in (9,):
            begun = len(server.asked)
            process = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            while len(server.asked) < begun + after and process.poll() is None:
                time.sleep(0.01)
            process.send_signal(signal.SIGKILL)
            process.wait()
            assert not (tmp_path / "new").exists() or names(tmp_path / "new") == FILES
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        asked = len(server.asked)
    assert done.returncode in (0, 2), done.stderr
    assert isinstance(load_testset(tmp_path / "new" / "testset.json"), TestSet)
    assert asked <= 32 + 4, "calls under way when it was killed are lost, no others"
    for path in [*tmp_path.glob("new*/*"), *tmp_path.glob("new.*")]:
        assert KEY not in path.read_text()


def test_many_files_take_seconds(tmp_path: Path) -> None:
    for doc, text in made_up(500, folders=20).items():
        path = tmp_path / "docs" / f"{doc}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    began = time.process_time()
    init_from_documents(tmp_path / "docs", tmp_path / "new", n=60)
    assert time.process_time() - began < 25
