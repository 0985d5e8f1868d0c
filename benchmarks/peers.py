"""One tool over one pair of files, in a process of its own: `python -m benchmarks.peers TOOL QRELS RUN`.

With `--dictionaries` the files are read into dictionaries first, and only the scoring is timed, sorted and shuffled.
"""

from __future__ import annotations

import json
import os
import random
import sys
import time
from collections.abc import Callable
from typing import Any

MEASURES = ("nDCG@10", "AP", "RR", "R@100", "P@10")
TREC = ("ndcg_cut.10", "map", "recip_rank", "recall.100", "P.10")


def dictionary(path: str, column: int, kind: type) -> dict[str, dict[str, Any]]:
    result: dict[str, dict[str, Any]] = {}
    with open(path) as file:
        for line in file:
            fields = line.split()
            result.setdefault(fields[0], {})[fields[2]] = kind(fields[column])
    return result


def pytrec_eval(qrels: str, run: str) -> object:
    import pytrec_eval as tool

    scores = tool.RelevanceEvaluator(dictionary(qrels, 3, int), set(TREC)).evaluate(dictionary(run, 4, float))
    return {name: sum(s[name] for s in scores.values()) / len(scores) for name in next(iter(scores.values()))}


def ir_measures(qrels: str, run: str) -> object:
    import ir_measures as tool

    measures = [tool.parse_measure(name) for name in MEASURES]
    return tool.calc_aggregate(measures, tool.read_trec_qrels(qrels), tool.read_trec_run(run))


def ranx(qrels: str, run: str) -> object:
    from ranx import Qrels, Run, evaluate

    names = ["ndcg@10", "map", "mrr", "recall@100", "precision@10"]
    return evaluate(Qrels.from_file(qrels, kind="trec"), Run.from_file(run, kind="trec"), names, make_comparable=True)


def dictionaries(qrels_path: str, run_path: str) -> dict[str, dict[str, float]]:
    """Seconds of processor time of pytrec_eval and of rankgauge, with its compiled module and without, on the same
    dictionaries, best of nine each, taking turns. Each works in one thread, so that by the clock they would be the same
    on a machine at rest."""
    import pytrec_eval as tool

    from rankgauge import evaluate

    qrels, run = dictionary(qrels_path, 3, int), dictionary(run_path, 4, float)
    shuffler = random.Random(1)
    shuffled = {query: dict(shuffler.sample(list(docs.items()), len(docs))) for query, docs in run.items()}

    def without(lists: dict[str, Any]) -> None:
        os.environ["RANKGAUGE_NATIVE"] = "0"
        try:
            evaluate(qrels, lists, MEASURES)
        finally:
            del os.environ["RANKGAUGE_NATIVE"]

    contenders: dict[str, Callable[[dict[str, Any]], object]] = {
        "pytrec_eval": lambda lists: tool.RelevanceEvaluator(qrels, set(TREC)).evaluate(lists),
        "rankgauge": lambda lists: evaluate(qrels, lists, MEASURES),
        "no module": without,
    }
    result: dict[str, dict[str, float]] = {}
    for order, lists in (("sorted", run), ("shuffled", shuffled)):
        seconds: dict[str, list[float]] = {name: [] for name in contenders}
        for _ in range(9):
            for name, work in contenders.items():
                start = time.process_time()
                work(lists)
                seconds[name].append(time.process_time() - start)
        result[order] = {name: min(times) for name, times in seconds.items()}
    return result


if __name__ == "__main__":
    tool_name, qrels_file, run_file = sys.argv[1:4]
    if tool_name == "--dictionaries":
        print(json.dumps(dictionaries(qrels_file, run_file)))
    else:
        print(globals()[tool_name](qrels_file, run_file))
