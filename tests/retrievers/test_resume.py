"""A pass that was killed goes on where it was: nothing finished is asked again, and nothing is lost."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import textwrap
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from rankgauge.errors import RetrieverError
from rankgauge.retrievers.hits import Hit
from rankgauge.retrievers.journal import Journal
from rankgauge.retrievers.runner import run_queries

KEY = {"system": {"name": "bm25", "k1": 0.9}, "corpus": "sha256:1234"}
QUERIES = {f"q{number}": f"text {number}" for number in range(30)}


class Counting:
    def __init__(self) -> None:
        self.asked: list[str] = []

    def search(self, query: str, k: int) -> list[tuple[str, float]]:
        self.asked.append(query)
        return [(f"{query}/{number}", 1 / (number + 3)) for number in range(k)]


def finished(journal: Path) -> set[str]:
    """Texts of the queries that stand in a journal as whole lines, read without the code under test."""
    texts = set()
    for line in journal.read_bytes().split(b"\n")[1:-1] if journal.exists() else ():
        texts.add(json.loads(line)["text"])
    return texts


def test_answers_are_taken_from_the_journal(tmp_path: Path) -> None:
    path = tmp_path / "answers.jsonl"
    first, second = Counting(), Counting()
    with Journal(path, KEY) as journal:
        before = run_queries(first, QUERIES, 3, journal=journal, concurrency=3)
    assert sorted(first.asked) == sorted(QUERIES.values())
    assert not any(answer.cached for answer in before.answers)
    with Journal(path, KEY) as journal:
        assert len(journal) == 30
        after = run_queries(second, {**QUERIES, "new": "another"}, 3, journal=journal)
    assert second.asked == ["another"]
    assert [answer.cached for answer in after.answers] == [True] * 30 + [False]
    assert [answer.hits for answer in after.answers[:-1]] == [answer.hits for answer in before.answers]
    assert all(isinstance(hit, Hit) for answer in after.answers for hit in answer.hits)
    assert after.cached == 30
    assert after.latency.count == 1  # what was not asked is not timed
    assert after.run.to_dict() == {**before.run.to_dict(), "new": dict(after.answers[-1].hits)}
    with Journal(path, KEY) as journal:
        again = run_queries(second, QUERIES, 3, journal=journal)
    assert again.latency.count == 0
    assert again.throughput == 0
    assert again.valid


def test_the_key_is_the_content(tmp_path: Path) -> None:
    path = tmp_path / "answers.jsonl"

    def asked(key: dict[str, Any], queries: dict[str, str], k: int) -> list[str]:
        counting = Counting()
        with Journal(path, key) as journal:
            assert run_queries(counting, queries, k, journal=journal).valid
        return counting.asked

    assert asked(KEY, {"a": "x"}, 3) == ["x"]
    assert asked(KEY, {"a": "x"}, 3) == []
    assert asked(KEY, {"renamed": "x"}, 3) == []
    assert asked({"corpus": KEY["corpus"], "system": {"k1": 0.9, "name": "bm25"}}, {"a": "x"}, 3) == []
    assert asked(KEY, {"a": "x "}, 3) == ["x "]
    assert asked(KEY, {"a": "x"}, 4) == ["x"]
    assert asked({**KEY, "corpus": "sha256:5678"}, {"a": "x"}, 3) == ["x"]
    assert asked({**KEY, "system": {"name": "bm25", "k1": 1.2}}, {"a": "x"}, 3) == ["x"]
    assert asked(KEY, {"a": "x"}, 3) == []  # still there beside the others
    odd = "\u4e2d\u6587 \ud800 \u2028 \n \x00"
    assert asked(KEY, {"a": odd}, 3) == [odd]
    assert asked(KEY, {"a": odd}, 3) == []


def test_failures_are_asked_again(tmp_path: Path) -> None:
    path = tmp_path / "answers.jsonl"

    def broken(query: str, k: int) -> list[str]:
        if query == "text 3":
            raise ValueError("broken")
        return [query, query, query]

    with Journal(path, KEY) as journal:
        assert run_queries(broken, QUERIES, 2, journal=journal).failed == ["q3"]
    assert "ValueError: broken" in path.read_text()
    counting = Counting()
    with Journal(path, KEY) as journal:
        result = run_queries(counting, QUERIES, 2, journal=journal)
    assert counting.asked == ["text 3"]
    assert result.faults == {"duplicate": 29}  # faults are kept too


def test_a_torn_line_is_ignored_wherever_it_was_torn(tmp_path: Path) -> None:
    path = tmp_path / "answers.jsonl"
    queries = {"a": "x", "b": "y"}
    with Journal(path, KEY) as journal:
        whole = run_queries(Counting(), queries, 2, journal=journal)
    data = path.read_bytes()
    ends = [number + 1 for number, byte in enumerate(data) if byte == 10]
    for cut in range(len(data) + 1):
        path.write_bytes(data[:cut])
        counting = Counting()
        with Journal(path, KEY) as journal:
            result = run_queries(counting, queries, 2, journal=journal)
            assert journal.damaged == 0
        kept = sum(end <= cut for end in ends[1:])
        assert counting.asked == ["x", "y"][kept:], cut
        assert result.run.to_dict() == whole.run.to_dict()
        assert finished(path) == {"x", "y"}


def test_damaged_lines_are_counted_and_asked_again(tmp_path: Path) -> None:
    path = tmp_path / "answers.jsonl"
    with Journal(path, KEY) as journal:
        run_queries(Counting(), QUERIES, 2, journal=journal)
    lines = path.read_bytes().split(b"\n")
    lines[5] = lines[5][:20] + b"\x00" * 30
    lines[9] = b"[]"
    lines[12] = b"{}"
    path.write_bytes(b"\n".join(lines))
    counting = Counting()
    with Journal(path, KEY) as journal:
        assert journal.damaged == 3
        assert run_queries(counting, QUERIES, 2, journal=journal).valid
    assert counting.asked == ["text 4", "text 8", "text 11"]


def test_another_file_is_left_as_it_is(tmp_path: Path) -> None:
    for text in ("q1 Q0 d1 1 0.5 x\n", "q1 Q0 d1 1 0.5 x", "{}\n", "{"):
        path = tmp_path / "run.txt"
        path.write_text(text)
        if text == "{":  # may be a first line cut short
            Journal(path, KEY).close()
            continue
        with pytest.raises(RetrieverError, match="no journal"):
            Journal(path, KEY)
        assert path.read_text() == text
    with pytest.raises(RetrieverError, match="cannot be opened"):
        Journal(tmp_path / "none" / "x.jsonl", KEY)
    with pytest.raises(RetrieverError, match="texts, numbers, lists"):
        Journal(tmp_path / "x.jsonl", {"system": object()})


CHILD = textwrap.dedent(
    """
    import os, sys, time, random
    from rankgauge.retrievers.journal import Journal
    from rankgauge.retrievers.runner import run_queries

    path, log, count, concurrency = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
    written = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND)

    def search(query, k):
        os.write(written, (query + "\\n").encode())
        time.sleep(random.uniform(0.001, 0.01))
        return [(f"{query}/{number}", 1 / (number + 3)) for number in range(k)]

    async def asearch(query, k):
        import asyncio
        os.write(written, (query + "\\n").encode())
        await asyncio.sleep(random.uniform(0.001, 0.01))
        return [(f"{query}/{number}", 1 / (number + 3)) for number in range(k)]

    queries = {f"q{number}": f"text {number}" for number in range(count)}
    with Journal(path, {"system": "s", "corpus": "c"}) as journal:
        os.write(1, b"ready\\n")
        asked = asearch if "async" in sys.argv else search
        result = run_queries(asked, queries, 3, concurrency=concurrency, journal=journal)
    assert result.valid, result.reason
    print(result.cached, result.latency.count)
    """
)


@pytest.mark.parametrize(("concurrency", "kind"), [(1, "threads"), (4, "threads"), (4, "async")])
def test_killed_again_and_again(tmp_path: Path, concurrency: int, kind: str) -> None:
    journal, count, kills = tmp_path / "answers.jsonl", 200, 6
    command = [sys.executable, "-c", CHILD, str(journal)]
    chance = random.Random(concurrency)
    asked: Counter[str] = Counter()
    for round_number in range(kills + 1):
        log = tmp_path / f"asked-{round_number}"
        known = finished(journal)
        arguments = [*command, str(log), str(count), str(concurrency), kind]
        with subprocess.Popen(arguments, stdout=subprocess.PIPE, text=True) as child:
            assert child.stdout is not None
            assert child.stdout.readline() == "ready\n"
            if round_number < kills:
                time.sleep(chance.uniform(0.02, 0.12) / (1 if concurrency > 1 else 0.8))
                os.kill(child.pid, signal.SIGKILL)
                child.wait()
                assert child.returncode == -signal.SIGKILL
            else:
                summary = child.stdout.read()
                assert child.wait() == 0
        now = log.read_text().split("\n")[:-1] if log.exists() else []
        assert not known & set(now), "what is finished is not asked again"
        assert known <= finished(journal), "what is finished is not lost"
        # Only what was in flight when the process died may be missing from the journal.
        assert len(set(now) - finished(journal)) <= concurrency
        assert len(now) == len(set(now))
        asked.update(now)
    assert set(asked) == {f"text {number}" for number in range(count)}
    assert sum(asked.values()) <= count + kills * concurrency
    cached, timed = map(int, summary.split())
    assert cached == len(known) > 0
    assert cached + timed == count
    with Journal(journal, {"system": "s", "corpus": "c"}) as opened:
        nobody = Counting()
        result = run_queries(nobody, {f"q{n}": f"text {n}" for n in range(count)}, 3, journal=opened)
    assert nobody.asked == []
    for answer in result.answers:
        text = f"text {answer.query[1:]}"
        assert answer.hits == [Hit(f"{text}/{number}", 1 / (number + 3)) for number in range(3)]


def test_one_process_at_a_time(tmp_path: Path) -> None:
    path = tmp_path / "answers.jsonl"
    holder = textwrap.dedent(
        """
        import sys
        from rankgauge.retrievers.journal import Journal
        journal = Journal(sys.argv[1], {})
        print("held", flush=True)
        sys.stdin.read()
        """
    )
    with subprocess.Popen(
        [sys.executable, "-c", holder, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == "held\n"
        with pytest.raises(RetrieverError, match="is in use by another process"):
            Journal(path, KEY)
        os.kill(child.pid, signal.SIGKILL)
        child.wait()
    held = Journal(path, KEY)  # a process that was killed holds nothing
    with pytest.raises(RetrieverError, match="in use"):
        Journal(path, KEY)
    held.close()
    kept = Journal(path, KEY)
    del kept  # one that nobody uses any more is free too
    Journal(path, KEY).close()


def test_an_interrupted_pass_goes_on(tmp_path: Path) -> None:
    path = tmp_path / "answers.jsonl"
    counting = Counting()

    def interrupt(done: int, total: int) -> None:
        if done >= 5:
            raise KeyboardInterrupt

    def slow(query: str, k: int) -> Any:
        time.sleep(0.02)
        return counting.search(query, k)

    with Journal(path, KEY) as journal:
        result = run_queries(slow, QUERIES, 2, journal=journal, progress=interrupt)
    assert result.interrupted
    assert not result.valid
    assert 5 <= len(result.answers) < 30
    assert finished(path) == {QUERIES[answer.query] for answer in result.answers}
    rest = Counting()
    with Journal(path, KEY) as journal:
        assert run_queries(rest, QUERIES, 2, journal=journal).valid
    assert len(rest.asked) == 30 - len(result.answers)


def test_a_journal_that_cannot_be_written_ends_the_pass(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "answers.jsonl", KEY)
    journal.close()
    spare = os.open(tmp_path / "answers.jsonl", os.O_RDONLY)
    journal._file = spare
    try:
        with pytest.raises(RetrieverError, match="cannot be written"):
            run_queries(Counting(), QUERIES, 2, journal=journal)
    finally:
        os.close(spare)
