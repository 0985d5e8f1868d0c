"""TREC runs against pytrec_eval to 1e-12, and figures published with the collections."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
import pytrec_eval

from rankgauge import evaluate
from tests.parts import DATA

TREC = [
    "ndcg_cut_10",
    "ndcg",
    "map",
    "map_cut_100",
    "recip_rank",
    "recall_100",
    "P_10",
    "bpref",
    "Rprec",
    "infAP",
    "success_5",
    "set_P",
    "set_relative_P",
    "set_recall",
    "set_map",
    "set_F",
    "iprec_at_recall_0.10",
    "iprec_at_recall_0.50",
    "iprec_at_recall_1.00",
    "11pt_avg",
    "binG",
    "G",
    "ndcg_rel",
    "Rndcg",
    "relative_P_100",
    "num_ret",
    "num_rel",
    "num_rel_ret",
    "num_q",
]
ASKED = {
    name.rsplit("_", 1)[0] + "." + name.rsplit("_", 1)[1] if name.rsplit("_", 1)[-1].isdigit() else name
    for name in TREC
    if not name.startswith("iprec")
} | {"iprec_at_recall"}
RUNS = [
    *(("robust03", "qrels.txt.gz", run) for run in ("NLPR03vb10", "aplrob03a", "humR03dc", "rutcor03100", "uic0301")),
    *(
        ("dl19", "qrels.txt", f"dl19.{run}")
        for run in ("BM25", "BM25_RM3", "D_BERT_KD_TASB", "OPEN_AI_ADA2", "SPLADE_P_P_ENSEMBLE_DISTIL")
    ),
]


def _rows(path: Path) -> list[list[str]]:
    raw = path.read_bytes()
    text = (gzip.decompress(raw) if path.suffix == ".gz" else raw).decode()
    return [line.split() for line in text.splitlines()]


def _dictionary(path: Path, column: int, kind: type) -> dict:
    result: dict = {}
    for fields in _rows(path):
        result.setdefault(fields[0], {})[fields[2]] = kind(fields[column])
    return result


def _run_path(folder: str, run: str) -> Path:
    return DATA / folder / (f"{run}.run.gz" if folder == "robust03" else f"{run}.run")


@pytest.mark.parametrize(("folder", "qrels", "run"), RUNS)
def test_equal_to_pytrec_eval(data: Path, folder: str, qrels: str, run: str) -> None:
    judgments, lists = _dictionary(data / folder / qrels, 3, int), _dictionary(_run_path(folder, run), 4, float)
    wanted = pytrec_eval.RelevanceEvaluator(judgments, ASKED).evaluate(lists)
    by_path = evaluate(data / folder / qrels, _run_path(folder, run), TREC, contract="trec_eval9")
    by_dict = evaluate(judgments, lists, TREC, contract="trec_eval9")
    assert by_path.per_query.sort("query").equals(by_dict.per_query.sort("query"))
    assert len(by_path.per_query) == len(wanted)
    for row in by_path.per_query.iter_rows():
        for name, value in zip(TREC, row[1:], strict=True):
            assert value == pytest.approx(wanted[row[0]][name], abs=1e-12), (row[0], name)


def test_tied_run_by_id_and_in_file_order(data: Path) -> None:
    """Published: .0737 with trec_eval's rule, .0582 in file order."""
    folder = data / "robust03"
    figures = {}
    for ties in ("trec", "given", "expected"):
        result = evaluate(folder / "qrels.txt.gz", folder / "rutcor03100.run.gz", "AP", ties=ties)
        figures[ties] = round(result.mean["AP"], 4)
        assert result.coverage.tied_documents > 20000
    assert figures["trec"] == 0.0737
    assert figures["given"] == 0.0582
    assert 0.0582 < figures["expected"] < 0.0737


def test_dl19_published_figures(data: Path) -> None:
    folder = data / "dl19"
    result = evaluate(folder / "qrels.txt", folder / "dl19.BM25.run", ["nDCG@10", "R(rel=2)@100"])
    assert round(result.mean["nDCG@10"], 4) == 0.5058
    assert round(result.mean["R(rel=2)@100"], 4) == 0.4910


def test_lists_stored_worst_first(data: Path) -> None:
    """LeCaRD stores BM25 lists worst first: read as they stand they score far below the reversed ones."""
    import json

    labels = json.loads((data / "lecard" / "label_top30_dict.json").read_text())
    lists = json.loads((data / "lecard" / "bm25_top100.json").read_text())
    as_stored = evaluate(labels, {q: list(map(str, docs)) for q, docs in lists.items()}, "nDCG@30")
    turned = evaluate(labels, {q: list(map(str, reversed(docs))) for q, docs in lists.items()}, "nDCG@30")
    assert turned.mean["nDCG@30"] > as_stored.mean["nDCG@30"] + 0.1


def test_reconcile_finds_file_order(data: Path) -> None:
    from rankgauge.evaluation.reconcile import reconcile
    from rankgauge.formats import load_qrels, load_run

    folder = data / "robust03"
    found = reconcile(load_qrels(folder / "qrels.txt.gz"), load_run(folder / "rutcor03100.run.gz"), "AP", "0.0582")
    assert found.matches
    assert {"ties=given", "ties=stable"} & {change for variant in found.matches for change in variant.changes}
