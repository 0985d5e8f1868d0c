"""Every line of `trec_eval -q -m all_trec` on real runs, to the last digit.

Version 9 is pytrec_eval, whose scores of single queries are trec_eval's own; they are added here one by one in byte
order and printed as trec_eval prints them. What version 10 computes in another way is written out below, in its order
of operations. The order that version 10 gives a run is handed to pytrec_eval as scores that float32 tells apart.
"""

from __future__ import annotations

import gzip
import math
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

import numpy as np
import pytest
import pytrec_eval

from rankgauge.evaluation.reconcile import reconcile
from rankgauge.evaluation.trec_eval import CATALOGUE, TrecEval, TrecMeasure, trec_lines, trec_measures
from rankgauge.formats import load_qrels, open_run
from tests.cli.command import run_command

RUNS = {
    "robust03/qrels.txt.gz": [f"robust03/{name}.run.gz" for name in ("NLPR03vb10", "aplrob03a", "humR03dc")]
    + [f"robust03/{name}.run.gz" for name in ("rutcor03100", "uic0301")],
    "dl19/qrels.txt": [
        f"dl19/dl19.{name}.run"
        for name in ("BM25", "BM25_RM3", "D_BERT_KD_TASB", "OPEN_AI_ADA2", "SPLADE_P_P_ENSEMBLE_DISTIL")
    ],
    "noveleval/qrels.txt": ["noveleval/candidate_order.run"],
    "trec_eval/qrels.test": ["trec_eval/results.test", "trec_eval/results.trunc"],
    "trec_eval/qrels.rel_level": ["trec_eval/results.test"],
    "trec_eval/qrels-302.test": ["trec_eval/results-302.test"],
    "ir_measures/cwl.qrels": ["ir_measures/cwl.run"],
    "ir_measures/compat.qrels": ["ir_measures/compat.run"],
}
PAIRS = [(qrels, run) for qrels, runs in RUNS.items() for run in runs]
FLAGS = [
    {},
    {"complete": True, "level": 2},
    {"judged_only": True},
    {"complete": True, "level": 2, "depth": 100, "judged_only": True},
]
COUNTS = {"num_q", "num_ret", "num_rel", "num_rel_ret", "num_nonrel_judged_ret"}
ONLY_10 = {"rbp", "rbp_resid", "unj"}
LEVELS = [i / 10 for i in range(11)]
Lists = dict[str, dict[str, float]]


@cache
def lists(path: Path, value: int) -> Lists:
    text = gzip.decompress(path.read_bytes()).decode() if path.suffix == ".gz" else path.read_text()
    found: Lists = {}
    for row in map(str.split, text.splitlines()):
        if row:
            found.setdefault(row[0], {})[row[2]] = float(row[value])
    return found


@cache
def version_9(path: Path, level: int, judged_only: bool) -> pytrec_eval.RelevanceEvaluator:
    whole = {query: {doc: int(grade) for doc, grade in grades.items()} for query, grades in lists(path, 3).items()}
    names = set(CATALOGUE) - ONLY_10 - {"relstring"}
    return pytrec_eval.RelevanceEvaluator(whole, names, relevance_level=level, judged_docs_only_flag=judged_only)


def ranked(scores: Mapping[str, float], flags: TrecEval) -> list[str]:
    kind = np.float32 if flags.version == "trec_eval9" else np.float64
    values = np.array(list(scores.values()), dtype=kind).tolist()
    return [doc for _, doc in sorted(zip(values, scores, strict=True), reverse=True)][: flags.depth]


def relevance(docs: list[str], grades: Mapping[str, float], flags: TrecEval) -> list[int]:
    """Grades down the list; -1 where nobody judged."""
    found = [max(int(grades.get(doc, -1)), -1) for doc in docs]
    return [grade for grade in found if grade >= 0] if flags.judged_only else found


def version_10(grades: list[int], judged: list[int], level: int) -> dict[str, float]:
    """What version 10 computes differently, in its order of operations."""
    total, found = sum(grade >= level for grade in judged), 0
    reached = []
    for rank, grade in enumerate(grades, 1):
        if grade >= level:
            found += 1
            reached.append((found, found / rank))
    values = {}
    for recall in LEVELS:
        cut = math.floor(recall * total + 0.5)
        values[f"iprec_at_recall_{recall:.2f}"] = max([p for found, p in reached if found >= cut], default=0.0)
    sums = 0.0
    for recall in reversed(LEVELS):
        sums += values[f"iprec_at_recall_{recall:.2f}"]
    values["11pt_avg"] = sums / len(LEVELS)
    top, gain, open_, power = max(1, *judged), 0.0, 0.0, 1.0
    for grade in grades:
        gain += max(grade, 0) / top * power
        open_ += power if grade < 0 else 0.0
        power *= 0.9
    values["rbp"] = (1 - 0.9) * gain
    values["rbp_resid"] = power + (1 - 0.9) * open_ if min(grades, default=0) < 0 else 0.0
    for cut in (5, 10, 20):
        values[f"unj_{cut}"] = sum(grade < 0 for grade in grades[:cut]) / cut
    return values


def theirs(path: Path, run: Lists, flags: TrecEval) -> dict[str, dict[str, float]]:
    level, qrels = int(flags.level or 1), lists(path, 3)
    order = {query: ranked(run[query], flags) for query in qrels if query in run}
    plain = {query: {doc: -float(i) for i, doc in enumerate(docs)} for query, docs in order.items()}
    peer: dict[str, dict[str, float]] = version_9(path, level, flags.judged_only).evaluate(plain)
    if flags.version != "trec_eval9":
        for query, docs in order.items():
            judged = list(map(int, qrels[query].values()))
            peer[query] |= version_10(relevance(docs, qrels[query], flags), judged, level)
        if flags.complete:  # a query that the run lacks gets lines of its own
            zeros = dict.fromkeys(next(iter(peer.values())), 0.0)
            peer |= {query: {**zeros, "num_rel": in_all(grades, level)} for query, grades in qrels.items()} | peer
    return peer


def in_all(grades: Mapping[str, float], level: int) -> int:
    return sum(grade >= level for grade in grades.values())


def relstring(docs: list[str], grades: Mapping[str, float], flags: TrecEval) -> str:
    kept = [doc for doc in docs if not flags.judged_only or grades.get(doc, -1) >= 0][:10]
    marks = ["-" if doc not in grades else ".0123456789>"[min(max(int(grades[doc]), -1), 10) + 1] for doc in kept]
    return "'" + "".join(marks) + "'"


def printed(name: str, value: float) -> str:
    return str(int(value)) if name in COUNTS else f"{value:6.4f}"


def expected(path: Path, run: Lists, flags: TrecEval) -> Iterator[str]:
    peer, qrels = theirs(path, run, flags), lists(path, 3)
    lines, _ = trec_measures(["all_trec"], flags)
    for query in sorted(peer, key=str.encode):
        for line in lines:
            if line.measure is None:
                shown = relstring(ranked(run.get(query, {}), flags), qrels[query], flags)
            elif not line.summary_only:
                shown = printed(line.name, peer[query][line.name])
            else:
                continue
            yield f"{line.name:<22}\t{query}\t{shown}"
    for line in lines:
        if line.measure is not None:
            yield f"{line.name:<22}\tall\t{printed(line.name, summary(line, peer, qrels, run, flags))}"


def summary(line: TrecMeasure, peer: dict[str, dict[str, float]], qrels: Lists, run: Lists, flags: TrecEval) -> float:
    found = sorted(peer, key=str.encode)
    n = len(qrels) if flags.complete else len(found)
    if line.name == "num_q":
        return n
    if line.name == "num_rel" and flags.complete:  # trec_eval counts grades above 0 here, whatever -l says
        return sum(in_all(grades, int(flags.level or 1)) for grades in qrels.values())
    total = 0.0
    for query in found:
        total += peer[query][line.name]
    if line.name.startswith("gm_"):
        missing = len(set(qrels) - set(run)) if flags.complete else 0
        return math.exp((total + missing * math.log(0.00001)) / n)
    return total if line.name in COUNTS else total / n


@pytest.mark.parametrize("version", ["trec_eval9", "trec_eval"])
@pytest.mark.parametrize("options", FLAGS, ids=lambda options: "-".join(options) or "plain")
@pytest.mark.parametrize(("qrels", "run"), PAIRS)
def test_every_line(data: Path, qrels: str, run: str, options: dict, version: str) -> None:
    flags = TrecEval(per_query=True, version=version, **options)
    ours = trec_lines(load_qrels(data / qrels), open_run(data / run), ["all_trec"], flags, tag="tag")
    wanted = list(expected(data / qrels, lists(data / run, 4), flags))
    assert [line for line in ours if not line.startswith("runid")] == wanted


def test_a_mean_half_way_between_two_figures(data: Path) -> None:
    """100 values of P_200 whose sum is 4.015: adding them in pairs ends one bit above it, and prints .0402."""
    files = (data / "robust03" / "qrels.txt.gz", data / "robust03" / "rutcor03100.run.gz")
    line = "P_200                 \tall\t0.0401\n"
    assert run_command("trec_eval", "-m", "P.200", *files).stdout == line
    assert run_command("evaluate", *files, "--format", "trec_eval", "-m", "P@200").stdout == line
    found = reconcile(load_qrels(files[0]), open_run(files[1]), "P@200", ".0401")
    assert any("trec_eval" in variant.presets for variant in found.matches)
