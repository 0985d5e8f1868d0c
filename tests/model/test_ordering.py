"""The one ranking rule, in every form that data comes in: score descending, ties by document id descending."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rankgauge
from rankgauge.model.contract import Contract
from rankgauge.model.ordering import best_first, ids_descending, places, rank_lists
from tests.oracles.cases import fast

IDS = ("a", "b", "é", "中", "\U0001f600", "\ue000", "Z", "10", "9")
SCORES = st.sampled_from((0.0, -0.0, 1.0, 1.0 + 2**-40, -2.5))
LISTS = st.lists(st.dictionaries(st.sampled_from(IDS), SCORES), min_size=1, max_size=4)


def by_the_rule(documents: dict[str, float]) -> list[str]:
    return sorted(documents, key=lambda doc: (documents[doc], doc.encode()), reverse=True)


def flat(lists: list[dict[str, float]]) -> tuple[np.ndarray, np.ndarray, pl.Series]:
    docs = [doc for documents in lists for doc in documents]
    scores = np.array([score for documents in lists for score in documents.values()], dtype=np.float64)
    return scores, np.cumsum([0, *map(len, lists)]), pl.Series(docs, dtype=pl.String)


@fast(100)
@given(lists=LISTS)
def test_pairs_and_columns_are_ranked_alike(lists: list[dict[str, float]]) -> None:
    scores, starts, docs = flat(lists)
    order = rank_lists(scores, starts, docs, Contract())
    for number, documents in enumerate(lists):
        ranked = by_the_rule(documents)
        assert [doc for doc, _ in best_first(documents.items())] == ranked
        assert docs.gather(order[starts[number] : starts[number + 1]]).to_list() == ranked
        assert ids_descending(documents) == sorted(documents, key=str.encode, reverse=True)


@pytest.mark.parametrize("as_text", [True, False])
@pytest.mark.parametrize("ties", ["trec", "stable", "given", "expected"])
@fast(40)
@given(lists=LISTS, data=st.data())
def test_places_of_some_rows(as_text: bool, ties: str, lists: list[dict[str, float]], data: st.DataObject) -> None:
    scores, starts, docs = flat(lists)
    number = np.repeat(np.arange(len(lists)), np.diff(starts))
    row = np.array(data.draw(st.lists(st.sampled_from(range(len(scores))), unique=True)) if len(scores) else [], int)
    contract = Contract().with_changes(ties=ties)

    def ids(rows: np.ndarray) -> list[bytes] | pl.Series:
        found = docs.gather(rows)
        return [doc.encode() for doc in found.to_list()] if as_text else found

    above, tied, met = places(scores, starts, row, number[row], ids, contract)
    for at, place, size, shared in zip(row.tolist(), above.tolist(), tied.tolist(), met.tolist(), strict=True):
        documents, doc = lists[number[at]], docs[at]
        equal = [other for other in documents if documents[other] == documents[doc]]
        assert shared == (len(equal) > 1)
        assert size == (len(equal) if ties == "expected" else 1)
        listed = list(documents)
        ranked = {
            "trec": by_the_rule(documents),
            "given": listed,
            "stable": sorted(listed, key=lambda other: -documents[other]),
            "expected": sorted(listed, key=lambda other: (-documents[other], other != doc)),
        }[ties]
        assert place == ranked.index(doc)


def test_the_rule_stands_in_one_module() -> None:
    """Documents are sorted by id nowhere else."""
    source = Path(rankgauge.__file__).parent
    pattern = re.compile(r"""descending=\[False\b|\.id\.encode\(""")
    found = [path.name for path in source.rglob("*.py") if pattern.search(path.read_text())]
    assert found == ["ordering.py"]
