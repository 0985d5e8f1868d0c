"""Judges in a process that is killed: for each line of its input a child that judges, and whose number it prints."""

from __future__ import annotations

import json
import os
import sys

from rankgauge import Corpus, Judge, Query, TestSet, estimate_judging, judge


def main(endpoint: str, folder: str, pairs: int, listwise: int) -> None:
    corpus = Corpus({f"d{i}": f"text {i} worth {i % 4}" for i in range(pairs)})
    queries = [
        Query(f"query {q}", {f"d{i}": 0 for i in range(q * 10, q * 10 + 10)}, f"q{q}") for q in range(pairs // 10)
    ]
    test_set = TestSet(queries)
    estimate_judging(None, test_set, corpus, judge=Judge(endpoint, "m"))  # all is loaded before there are children
    Judge(endpoint, "m").chat.ask([{"role": "user", "content": "[[document 1 0 begins]]"}])
    child = 0
    for _go in sys.stdin:
        if child:
            os.waitpid(child, 0)  # it was killed: until it is gone it holds the lock on its labels
        child = os.fork()
        if not child:
            asking = Judge(endpoint, "m", samples=2, listwise=listwise, concurrency=4, timeout=5)
            found = judge(None, test_set, corpus, judge=asking, labels=f"{folder}/labels.jsonl")
            os.write(1, (json.dumps({"complete": found.complete, "calls": found.spent.calls}) + "\n").encode())
            os._exit(0)
        os.write(1, f"{child}\n".encode())
    os.waitpid(child, 0)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
