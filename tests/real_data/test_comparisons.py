"""Comparisons of TREC runs equal those of a plain script with pytrec_eval and scipy."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pytest
import pytrec_eval
from scipy import stats as scipy_stats

from rankgauge import compare

MEASURES = {"AP": "map", "nDCG@10": "ndcg_cut_10", "P@10": "P_10"}


def read(path: Path) -> str:
    return gzip.open(path, "rt").read() if path.suffix == ".gz" else path.read_text()


@pytest.mark.parametrize(
    ("folder", "qrels", "first", "second"),
    [
        ("robust03", "qrels.txt.gz", "NLPR03vb10.run.gz", "uic0301.run.gz"),
        ("robust03", "qrels.txt.gz", "aplrob03a.run.gz", "humR03dc.run.gz"),
        ("dl19", "qrels.txt", "dl19.BM25.run", "dl19.BM25_RM3.run"),
        ("dl19", "qrels.txt", "dl19.BM25.run", "dl19.D_BERT_KD_TASB.run"),
    ],
)
def test_equal_to_a_plain_script(data: Path, folder: str, qrels: str, first: str, second: str) -> None:
    paths = {"a": data / folder / first, "b": data / folder / second}
    judgments = pytrec_eval.parse_qrel(read(data / folder / qrels).splitlines())
    evaluator = pytrec_eval.RelevanceEvaluator(judgments, set(MEASURES.values()))
    scored = {name: evaluator.evaluate(pytrec_eval.parse_run(read(path).splitlines())) for name, path in paths.items()}
    for test in ("t", "wilcoxon", "randomization"):
        found = compare(
            data / folder / qrels, paths, list(MEASURES), contract="trec_eval9", test=test, correction="none"
        )
        queries = [query for query in judgments if all(query in scored[name] for name in scored)]
        for row in found.rows:
            a, b = (np.array([scored[name][q][MEASURES[row.measure]] for q in queries]) for name in ("a", "b"))
            assert row.queries == len(queries)
            assert row.difference == pytest.approx((b - a).mean(), abs=1e-12)
            if test == "t":
                theirs = scipy_stats.ttest_rel(b, a)
                assert row.p_value == pytest.approx(theirs.pvalue, rel=1e-8)
                bounds = theirs.confidence_interval()
                assert (row.interval.low, row.interval.high) == pytest.approx(tuple(bounds), abs=1e-10)
            elif test == "wilcoxon":
                difference = np.round(b - a, 12)
                theirs = scipy_stats.wilcoxon(difference, zero_method="wilcox", method="asymptotic")
                kept = np.abs(difference[difference != 0])
                if len(kept) > 50:
                    assert row.p_value == pytest.approx(theirs.pvalue, rel=1e-6)
            else:
                theirs = scipy_stats.permutation_test(
                    (b - a,),
                    lambda x, axis: x.mean(axis=axis),
                    permutation_type="samples",
                    n_resamples=20_000,
                    rng=0,
                    vectorized=True,
                )
                assert row.p_value == pytest.approx(theirs.pvalue, abs=0.012)
