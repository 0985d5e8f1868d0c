"""Seconds of processor time and memory of `rankgauge testset lint` on a synthetic collection.

python -m benchmarks.lint [QUERIES] [DOCUMENTS]
"""

from __future__ import annotations

import resource
import sys
import time

import numpy as np

from rankgauge import Query, TestSet, lint
from rankgauge.testsets.lint.registry import CHECKS


def collection(queries: int, documents: int, seed: int = 0) -> tuple[TestSet, dict[str, str]]:
    """Texts of Zipf's words; one document of a hundred is a copy, one query of a hundred is a repetition."""
    chance = np.random.default_rng(seed)
    words = np.array([f"w{number:x}" for number in range(50_000)], dtype=object)

    def texts(n: int, low: int, high: int) -> list[str]:
        sizes = chance.integers(low, high, n)
        drawn = words[np.minimum(chance.zipf(1.2, int(sizes.sum())), len(words)) - 1]
        ends = np.cumsum(sizes)
        return [" ".join(drawn[end - size : end]) for size, end in zip(sizes, ends, strict=True)]

    bodies = texts(documents, 30, 90)
    for copy in range(0, documents, 100):
        bodies[copy] = bodies[documents - 1 - copy]
    corpus = {f"d{number}": text for number, text in enumerate(bodies)}
    asked = texts(queries, 4, 10)
    for copy in range(0, queries, 100):
        asked[copy] = asked[queries - 1 - copy]
    gold = chance.integers(0, documents, (queries, 3))
    made = [
        Query(text, {f"d{a}": 2, f"d{b}": 1, f"d{c}": 0}, f"q{number}")
        for number, (text, (a, b, c)) in enumerate(zip(asked, gold.tolist(), strict=True))
    ]
    return TestSet(made, name="synthetic"), corpus


def main(queries: int = 100_000, documents: int = 1_000_000) -> None:
    test_set, corpus = collection(queries, documents)
    print(f"{queries} queries, {documents} documents; before: {_gigabytes():.2f} GB")
    for name in CHECKS:
        start = time.process_time()
        found = lint(test_set, corpus, only=[name])
        if found.made:
            counts = ", ".join(f"{one.kind} {one.count}" for one in found.findings) or "nothing"
            print(f"{name:20} {time.process_time() - start:7.1f} s  {_gigabytes():5.2f} GB  {counts}", flush=True)
    start = time.process_time()
    found = lint(test_set, corpus)
    print(f"{'all':20} {time.process_time() - start:7.1f} s  {_gigabytes():5.2f} GB  {found.counts}")


def _gigabytes() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
