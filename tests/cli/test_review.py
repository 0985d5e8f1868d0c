"""Reviews on the command line: sheets, lines, and real terminals, interrupted and killed."""

from __future__ import annotations

import json
import os
import re
import select
import signal
import struct
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from rankgauge import Query, TestSet, load_labels
from rankgauge.cli.review_screen import page_of, pages_of, text_lines
from rankgauge.reports.tables import width_of
from rankgauge.testsets.review.session import Said, Shown
from rankgauge.words import LANGUAGES, Language
from tests.cli.command import run_command, run_process

QUERIES = {"q1": "how do I reset it", "q2": "退款需要多长时间"}
DOCS = {f"d{i}": f"Document {i}. " + "Hold the button for ten seconds. " * 20 * (i % 3) for i in range(20)}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    test_set = [{"id": query, "query": text, "relevant_docs": []} for query, text in QUERIES.items()]
    Path("t.json").write_text(json.dumps(test_set))
    lines = [json.dumps({"_id": doc, "text": text}) for doc, text in DOCS.items()]
    Path("c.jsonl").write_text("\n".join(lines))
    for name, step in (("a", 1), ("b", 3)):
        listed = [f"{q} Q0 d{i * step % 20} {i + 1} {20 - i} {name}" for q in QUERIES for i in range(10)]
        Path(f"{name}.run").write_text("\n".join(listed))
    return tmp_path


# The order, sheets, conflicts -----------------------------------------------------------------------------------------


def test_the_walk(folder: Path) -> None:
    """Shared out, filled in, taken over, settled, and told."""
    done = run_command(
        *("testset", "queue", "t.json", "a.run", "b.run", "--all", "--corpus", "c.jsonl"),
        *("--reviewers", "ana,bo", "--overlap", "0.2", "-o", "sheet.csv"),
    )
    assert done.stdout.splitlines()[0] == "26 documents to review, of 2 queries"
    assert "shared out: ana 16, bo 15" in done.stdout
    told = "rankgauge testset import-reviews sheet.csv --labels labels.jsonl --judge NAME"
    assert done.stderr.splitlines()[-1] == told
    text = Path("sheet.csv").read_text(encoding="utf-8-sig")
    lines = text.splitlines()
    assert len(lines) == 32
    assert not [word for word in ("a.run", "b.run", "unjudged") if word in text]
    filled = [
        lines[0],
        *(line.replace(",,,ana,", ",0,,ana,").replace(",,,bo,", ",2,not all,bo,") for line in lines[1:]),
    ]
    Path("sheet.csv").write_text("\n".join(filled), encoding="utf-8")
    done = run_command("testset", "import-reviews", "sheet.csv", "--labels", "l.jsonl", "--scale", "0-3")
    assert "31 of 31 rows with a grade; 31 labels are new" in done.stdout
    assert "5 documents with labels that disagree" in done.stdout
    assert "0 labels are new" in run_command("testset", "import-reviews", "sheet.csv", "--labels", "l.jsonl").stdout
    listing = run_command("testset", "adjudicate", "t.json", "--labels", "l.jsonl", "--list", status=1)
    assert "5 documents have the labels of two people or more: 0 % the same grade" in listing.stdout
    again = run_command("testset", "queue", "t.json", "--labels", "l.jsonl", "--conflicts", "--json")
    conflicts = json.loads(again.stdout)["items"]
    assert {one["why"] for one in conflicts} == {"conflict"}
    done = run_command(
        *("testset", "adjudicate", "t.json", "--labels", "l.jsonl", "--judge", "cho", "--corpus", "c.jsonl"),
        stdin=b"1 between\n" * 5,
    )
    assert "others said: 2 (not all), 0" in done.stderr
    assert "ana" not in done.stderr
    assert "All documents have your label." in done.stdout
    assert run_command("testset", "adjudicate", "t.json", "--labels", "l.jsonl", "--list").stdout.startswith(
        "No labels"
    )
    pair = conflicts[0]["query"], conflicts[0]["doc"]
    done = run_command("testset", "history", "l.jsonl", *pair)
    assert "counts now: 1, by adjudication of cho" in done.stdout
    assert [name in done.stdout for name in ("ana (person)", "bo (person)", "cho (adjudicates)")] == [True] * 3
    assert json.loads(run_command("testset", "history", "l.jsonl", *pair, "--json").stdout)["counts_now"] == 1.0
    assert "Nothing was said" in run_command("testset", "history", "l.jsonl", "q1", "none", status=1).stdout


@pytest.mark.parametrize("language", LANGUAGES)
def test_screens_fit(folder: Path, language: Language, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    commands = [
        ("queue", "t.json", "a.run", "b.run", "--reviewers", "ana,bo"),
        ("queue", "t.json"),
        ("label", "t.json", "a.run", "b.run", "--labels", "l.jsonl", "--judge", "ana"),
        ("history", "l.jsonl"),
        ("history", "l.jsonl", "q1"),
        ("adjudicate", "t.json", "--labels", "l.jsonl", "--list"),
    ]
    for command in commands:
        done = run_command("testset", *command, "--lang", language, stdin=b"2 x\n1\nn why\ns\nu\n3\n", status=None)
        assert done.status in (0, 1), done
        lines = done.stdout.splitlines()
        assert lines
        assert len(lines) <= 25
        assert max(map(width_of, lines)) <= 80, done.stdout


@pytest.mark.parametrize(
    ("command", "words"),
    [
        (("queue", "t.json", "-o", "queue.txt"), "write a sheet as .csv or .tsv, or a queue as .jsonl"),
        (("queue", "t.json", "-o", "t.json"), "write a sheet"),
        (("queue", "t.json", "--scale", "high"), "write the grades as 0-3 or as 0,1,2,4"),
        (("queue", "t.json", "--overlap", "0.1"), "name them with --reviewers"),
        (("queue", "t.json", "a.run", "--reviewers", "a,b", "--reviewer", "c"), "nothing here is for 'c'"),
        (("label", "t.json", "--labels", "t.json", "--judge", "a"), "is an input too"),
        (("label", "t.json", "--labels", "l", "--judge", " "), "must not be empty"),
        (("label", "t.json", "--labels", "l", "--judge", "a", "--queue", "x", "--pool", "y"), "exclude each other"),
        (("label", "t.json", "--labels", "nowhere/l", "--judge", "a"), "cannot be opened"),
        (("adjudicate", "t.json"), "--labels"),
        (("adjudicate", "t.json", "--labels", "l"), "--judge is the name of who decides"),
        (("import-reviews", "t.json", "--labels", "l", "--judge", "a"), "no column for"),
        (("history", "nowhere"), "no such file"),
    ],
)
def test_mistakes(folder: Path, command: tuple[str, ...], words: str) -> None:
    done = run_command("testset", *command, status=2)
    assert words in done.stderr
    assert not Path("l").exists() or not Path("l").read_bytes()


# Lines ----------------------------------------------------------------------------------------------------------------


def test_the_scale_goes_as_far_as_the_grades(folder: Path) -> None:
    """A test set with grades up to 4, and labels of 4: who labels and who adjudicates must be able to say 4."""
    TestSet([Query(text, {"d0": 4}, query) for query, text in QUERIES.items()]).save("four.json")
    label = ("testset", "label", "four.json", "a.run", "--judge", "ana", "--labels")
    done = run_command(*label, "ana.jsonl", stdin=b"4\n5\nx\n4.5 or so\n")
    assert "type a grade (0-4)" in done.stderr
    assert "1 label given" in done.stdout
    assert "'5' is no grade here (0-4); for another scale end, and give --scale" in " ".join(done.stderr.split())
    assert "'4.5 or so' is no grade here" in done.stderr
    assert "'x' is no grade and no key here" in done.stderr
    given = run_command(*label, "b.jsonl", "--scale", "0-1", stdin=b"4\n")
    assert "type a grade (0, 1)" in given.stderr
    # The test set says nothing here: the labels do.
    labels = [{"query": "q1", "doc": "d1", "grade": g, "judge": j} for j, g in (("ana", 4), ("bo", 0))]
    Path("l.jsonl").write_text("".join(json.dumps(one) + "\n" for one in labels))
    done = run_command("testset", "adjudicate", "t.json", "--labels", "l.jsonl", "--judge", "cho", stdin=b"4\n")
    assert "others said: 4, 0" in done.stderr
    assert "type a grade (0-4)" in done.stderr
    assert "All documents have your label." in done.stdout


def test_over_a_pipe(folder: Path) -> None:
    label = ("testset", "label", "t.json", "a.run", "b.run", "--corpus", "c.jsonl", "--labels", "l", "--judge", "ana")
    done = run_command(*label, stdin=b"\xef\xbb\xbf2\r\n\n 1  partly \nwhat\ns\nu\nu\n0\nn later\nq\n3\n")
    assert "'what' is no grade and no key here" in done.stderr
    assert "2 labels given; 2 of 26 documents have yours" in done.stdout
    labels = load_labels("l")
    assert sorted(grade for docs in labels.grades().values() for grade in docs.values()) == [0.0, 2.0]
    assert [one.reason for one in labels][-1] == "later"
    rest = json.loads(run_command(*label, "--json", stdin=b"1\n" * 40).stdout)
    assert (rest["given"], rest["done"], rest["total"]) == (24, 26, 26)
    assert rest["standing"]["settled"]


def test_a_real_pipe_that_ends(folder: Path) -> None:
    done = run_process("testset", "label", "t.json", "a.run", "--labels", "l", "--judge", "ana", stdin=b"1\n2")
    assert done.status == 0
    assert len(load_labels("l")) == 2
    assert "(no text of document" in done.stderr


# A terminal -----------------------------------------------------------------------------------------------------------


class Terminal:
    """A labelling process in a terminal of 80 x 24."""

    def __init__(self, process: subprocess.Popen[bytes], handle: int) -> None:
        self.process, self.handle, self.seen = process, handle, ""

    def type(self, keys: str) -> None:
        os.write(self.handle, keys.encode())

    def wait_for(self, words: str) -> str:
        """What was drawn until the words came."""
        end = time.monotonic() + 20
        while not re.search(words, self.seen):
            assert time.monotonic() < end, f"no {words!r} in {self.seen!r}"
            if select.select([self.handle], [], [], 0.1)[0]:
                try:
                    self.seen += os.read(self.handle, 65536).decode("utf-8", "replace")
                except OSError:
                    assert re.search(words, self.seen), self.seen
        drawn, self.seen = self.seen, ""
        return drawn


@contextmanager
def terminal(*more: str) -> Iterator[Terminal]:
    import fcntl
    import pty
    import termios

    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    modes = termios.tcgetattr(theirs)
    command = [sys.executable, "-m", "rankgauge", "testset", "label", "t.json", "--pool", "pool.jsonl", "--labels", "l"]
    environment = {**os.environ, "TERM": "xterm"}
    process = subprocess.Popen(
        [*command, "--judge", "ana", "--corpus", "c.jsonl", *more],
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        env=environment,
        start_new_session=True,
        preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
    )
    try:
        yield Terminal(process, ours)
        process.wait(timeout=10)
        assert termios.tcgetattr(theirs) == modes, "the terminal is left as it was found"
    finally:
        process.kill()
        process.wait()
        os.close(ours)
        os.close(theirs)


@pytest.fixture
def pool(folder: Path) -> list[tuple[str, str]]:
    pairs = [(query, doc) for query in QUERIES for doc in list(DOCS)[:15]]
    Path("pool.jsonl").write_text("\n".join(json.dumps({"query": q, "doc": d, "rank": 1}) for q, d in pairs))
    return pairs


def test_keys_of_a_terminal(pool: list[tuple[str, str]]) -> None:
    with terminal() as one:
        one.wait_for("0 of 30 labelled")
        one.type("2")
        one.wait_for("1 of 30 labelled")
        one.type("123")  # typed ahead of the drawing
        one.wait_for("4 of 30 labelled")
        one.type("u")
        one.wait_for("taken back")
        one.type("n")
        one.wait_for("note .Enter")
        one.type("不错 x\x7fy\x1b[Dz\r")
        assert "your note: 不错 yz" in one.wait_for("noted")
        one.type("3")
        one.wait_for("4 of 30 labelled")
        one.type("s")
        one.wait_for("skipped: it comes again")
        one.type("z")
        one.wait_for("'z' is no grade")
        one.type("?")
        assert "3 answers it" in one.wait_for("any key goes on")
        one.type("x q")
        drawn = one.wait_for("saved in l")
        assert "4 labels given; 4 of 30 documents have yours" in drawn
    grades = [grade for docs in load_labels("l").grades().values() for grade in docs.values()]
    assert grades == [2.0, 1.0, 2.0, 3.0]
    with terminal() as two:
        two.wait_for("4 of 30 labelled")
        two.type("u")
        two.wait_for("3 of 30 labelled")
        two.type("\x04")
        two.wait_for("3 of 30 documents have yours")


def test_ctrl_c_keeps_all(pool: list[tuple[str, str]]) -> None:
    with terminal() as one:
        one.wait_for("0 of 30 labelled")
        one.type("1")
        one.wait_for("1 of 30 labelled")
        one.type("\x03")
        one.wait_for("interrupted; every label given is saved in l")
        assert one.process.wait(timeout=10) == 130
    assert len(load_labels("l")) == 1


def test_another_size_and_a_hung_up_line(pool: list[tuple[str, str]]) -> None:
    import fcntl
    import termios

    with terminal("--lang", "zh") as one:
        one.wait_for("已标注 0/30")
        fcntl.ioctl(one.handle, termios.TIOCSWINSZ, struct.pack("HHHH", 12, 40, 0, 0))
        os.kill(one.process.pid, signal.SIGWINCH)
        drawn = one.wait_for("─{40}[^─][^\x07]*帮助").split("\x1b[H")[-1]
        lines = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", drawn.replace("\r\n", "\n")).split("\n")
        assert max(map(width_of, lines)) <= 40
        one.type("1q")
        one.wait_for("已保存到 l")
    assert len(load_labels("l")) == 1


def test_killed_at_thirty_moments(pool: list[tuple[str, str]]) -> None:
    """Nothing that was shown as labelled is lost, nothing counts twice, and each key went to the document it was typed
    for: the file holds a beginning of what was typed."""
    pairs = [(q, d) for q in ("q1", "q2") for d in (f"x{i}" for i in range(300))]
    Path("queue.jsonl").write_text("\n".join(json.dumps({"query": q, "doc": d}) for q, d in pairs))
    script = Path(__file__).with_name("killed_labelling.py")
    arguments = ["testset", "label", "t.json", "--queue", "queue.jsonl", "--labels", "l", "--judge", "ana"]
    environment = {**os.environ, "TERM": "xterm", "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(
        [sys.executable, str(script), "30", "7", *arguments],
        capture_output=True,
        text=True,
        timeout=60,
        env=environment,
    )
    assert done.returncode == 0, done.stderr
    rounds = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(rounds) == 30
    labels = load_labels("l")
    said = [(label.pair, label.grade) for label in labels]
    assert len({pair for pair, _ in said}) == len(said) == len(labels)
    assert [pair for pair, _ in said] == pairs[: len(said)]
    grades, at = [f"{grade:g}" for _, grade in said], 0
    starts = [one["first"] for one in rounds[1:]] + [len(said)]
    for one, after in zip(rounds, starts, strict=True):
        assert one["first"] == at, "it goes on where it was"
        assert one["last"] <= after <= at + len(one["typed"])
        assert "".join(grades[at:after]) == one["typed"][: after - at]
        at = after
    assert at > 30


# What is drawn --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("width", [20, 40, 80, 132])
@pytest.mark.parametrize("height", [10, 24, 50])
@pytest.mark.parametrize("language", LANGUAGES)
def test_a_page_fits_any_screen(width: int, height: int, language: Language) -> None:
    texts = ["word " * 500, "没有空格的中文，" * 300, "x" * 3000, "\x1b[31m\x07\ttab\r\n\n\n\nend", "", None]
    for text in texts:
        shown = Shown("q", "d", "a query " * 40, text, ("before",), "a note", 2.0, (Said(1.0, "why"), Said(0.0, "")))
        pages = pages_of(shown, width, height, language)
        lines = [line for page in pages for line in page]
        if text is not None and "\x1b" not in text:
            assert "".join("".join(lines).split()) == "".join(text.split()) or not text
        for number in (0, len(pages) - 1, 99):
            drawn = page_of(
                shown,
                number,
                "place " * 30,
                (0.0, 1.0, 2.0, 3.0),
                "answer " * 30,
                width=width,
                height=height,
                language=language,
                color=False,
            )
            assert len(drawn.split("\n")) == height
            assert max(map(width_of, drawn.split("\n"))) <= width
            assert "\x1b" not in drawn


def test_lines_of_a_text() -> None:
    assert text_lines("a\n\n\n\nb\n\n", 10) == ["a", "", "b"]
    assert text_lines("中文中文中", 4) == ["中文", "中文", "中"]
    assert text_lines("", 10) == []
