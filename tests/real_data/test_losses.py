"""Where real runs lost relevant documents, against a script of a few lines and pytrec_eval's recall."""

from __future__ import annotations

import gzip
from collections import Counter
from pathlib import Path

import pytest
import pytrec_eval

from rankgauge import losses

Ranks = dict[str, dict[str, int]]


def read(path: Path) -> list[str]:
    return (gzip.open(path, "rt").read() if path.suffix == ".gz" else path.read_text()).splitlines()


def ranks_of(path: Path) -> Ranks:
    """Ranks as trec_eval orders: by score, then by id, both descending."""
    run = pytrec_eval.parse_run(read(path))
    ordered = {query: sorted(docs, key=lambda doc: (docs[doc], doc), reverse=True) for query, docs in run.items()}
    return {query: {doc: i + 1 for i, doc in enumerate(docs)} for query, docs in ordered.items()}


def counted(qrels: dict[str, dict[str, int]], stages: dict[str, Ranks], k: int, rel: int) -> dict[str, Counter[str]]:
    names, last = list(stages), list(stages)[-1]
    found: dict[str, Counter[str]] = {}
    for query, grades in qrels.items():
        found[query] = Counter()
        for doc in (doc for doc, grade in grades.items() if grade >= rel):
            rank = stages[last].get(query, {}).get(doc)
            if rank is not None:
                found[query]["found" if rank <= k else "rank"] += 1
                continue
            held = [i for i, name in enumerate(names) if doc in stages[name].get(query, {})]
            found[query][f"stage:{names[held[-1] + 1 if held else 0]}"] += 1
    return found


@pytest.mark.parametrize(
    ("folder", "qrels", "first", "second", "k", "rel"),
    [
        ("dl19", "qrels.txt", "dl19.BM25.run", "dl19.D_BERT_KD_TASB.run", 10, 2),
        ("dl19", "qrels.txt", "dl19.SPLADE_P_P_ENSEMBLE_DISTIL.run", "dl19.OPEN_AI_ADA2.run", 20, 2),
        ("robust03", "qrels.txt.gz", "uic0301.run.gz", "NLPR03vb10.run.gz", 100, 1),
    ],
)
def test_equal_to_a_plain_script(
    data: Path, tmp_path: Path, folder: str, qrels: str, first: str, second: str, k: int, rel: int
) -> None:
    """The second system's order of the first one's list, its first half kept: a simple second stage."""
    before, other = ranks_of(data / folder / first), ranks_of(data / folder / second)
    after = {}
    for query, docs in before.items():
        theirs = other.get(query, {})
        after[query] = sorted(docs, key=lambda doc: (theirs.get(doc, 10_000), docs[doc]))[: max(1, len(docs) // 2)]
    lines = [f"{q} Q0 {doc} {i} {len(docs) - i} after" for q, docs in after.items() for i, doc in enumerate(docs)]
    (tmp_path / "after.run").write_text("\n".join(lines) + "\n")
    judged = pytrec_eval.parse_qrel(read(data / folder / qrels))
    stages = {"before": data / folder / first, "after": tmp_path / "after.run"}
    found = losses(data / folder / qrels, stages, k, rel=rel)
    expected = counted(judged, {name: ranks_of(path) for name, path in stages.items()}, k, rel)
    rows = {row["query"]: row for row in found.per_query.to_dicts()}
    for query, own in expected.items():
        assert {key: n for key, n in rows[query].items() if key != "query" and n} == dict(own)
    total = sum(expected.values(), Counter())
    assert all(place.documents == total[place.key] > 0 for place in found.places)
    evaluator = pytrec_eval.RelevanceEvaluator(judged, {f"recall.{k}"}, relevance_level=rel)
    scored = evaluator.evaluate(pytrec_eval.parse_run(read(stages["after"])))
    for query, scores in scored.items():
        relevant = sum(expected[query].values())
        assert relevant == 0 or rows[query]["found"] / relevant == pytest.approx(scores[f"recall_{k}"], abs=1e-12)


def test_candidates_of_noveleval(data: Path) -> None:
    """All judged documents are candidates there, so nothing but the order can lose any."""
    found = losses(data / "noveleval" / "qrels.txt", {"candidates": data / "noveleval" / "candidate_order.run"}, 10)
    assert found.result.place("stage:candidates").documents == 0
    (order,) = [mend for mend in found.headroom if mend.kind == "order"]
    assert order.documents == found.result.missed > 0
    assert found.result.mean + order.gain == pytest.approx(found.result.ceiling)
