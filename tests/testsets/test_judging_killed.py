"""`kill -9` at many moments: what was paid for is not lost, beyond the calls under way, and nothing counts twice."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from rankgauge.formats.labels import load_labels
from tests.retrievers.servers import Asked, Reply
from tests.testsets.chat_server import completion, model
from tests.testsets.judged import answered, documents_of, true_grade

PAIRS, KILLS, CONCURRENCY = 100, 15, 4


@pytest.mark.skipif(sys.platform == "win32", reason="no fork")
@pytest.mark.parametrize("listwise", [1, 4])
def test_killed_at_many_moments(listwise: int, tmp_path: Path) -> None:
    asked_for = Counter[str]()
    lock = threading.Lock()

    def answer(asked: Asked) -> Any:
        grades = [true_grade(text) for text in documents_of(asked)]
        with lock:
            if grades:  # else it is the child's first word
                asked_for["|".join(documents_of(asked))] += 1
        return Reply(completion(json.dumps(answered(grades or [0]))), delay=0.012)

    moments = random.Random(listwise)
    with model(answer) as server:
        child = subprocess.Popen(
            [
                sys.executable,
                "-m",
                "tests.testsets.judging_child",
                server.endpoint,
                str(tmp_path),
                str(PAIRS),
                str(listwise),
            ],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            cwd=Path(__file__).parents[2],
            text=True,
        )
        assert child.stdin is not None
        assert child.stdout is not None
        try:
            for _ in range(KILLS):
                before = len(kept(tmp_path))
                child.stdin.write("go\n")
                child.stdin.flush()
                number = int(child.stdout.readline())
                wanted, until = len(server.asked) + moments.randint(1, 12 // listwise), time.monotonic() + 2
                while len(server.asked) < wanted and time.monotonic() < until:
                    time.sleep(0.001)
                time.sleep(moments.uniform(0.0, 0.02))  # before, while or after the answer is kept
                os.kill(number, signal.SIGKILL)
                assert len(kept(tmp_path)) >= before
            child.stdin.write("go\n")
            child.stdin.close()  # and no child after this one, which ends by itself
            child.stdout.readline()
            end = json.loads(child.stdout.readline())
        finally:
            child.stdin.close()
            child.stdout.close()
            child.wait(10)
    assert end["complete"]
    labels = load_labels(tmp_path / "labels.jsonl")
    assert len(labels) == PAIRS == len(labels.voices)
    assert all(label.grade == int(label.doc[1:]) % 4 for label in labels)
    answers = kept(tmp_path)
    assert len(answers) == len(set(answers))  # none is there twice
    lost = sum(asked_for.values()) - len(answers)
    assert 0 <= lost <= KILLS * CONCURRENCY
    assert end["calls"] < sum(asked_for.values())  # the kills came in the middle


def kept(folder: Path) -> list[str]:
    """The keys of the answers in the file, without a last line that was cut short."""
    try:
        data = (folder / "labels.answers.jsonl").read_bytes()
    except FileNotFoundError:
        return []
    lines = data[: data.rfind(b"\n") + 1].splitlines()[1:]
    return [json.loads(line)["key"] for line in lines]
