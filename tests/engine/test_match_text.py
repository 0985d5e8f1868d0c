"""Plain text is scored without data frames, and scores the same; what is not plain goes to the other readers."""

from __future__ import annotations

import tempfile
from pathlib import Path
from unittest import mock

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rankgauge import evaluate
from rankgauge.engine import matching
from rankgauge.formats import trec_rows
from rankgauge.formats.sources import Source
from rankgauge.model.text_rows import IrregularTextError, keys_of

MEASURES = ["nDCG@10", "AP", "RR", "R@3", "P@2", "Bpref", "NumRet", "Judged@3", "ERR@5"]
# Ids that share beginnings and ends, shorter and longer than one and two words, and in other scripts.
IDS = st.one_of(
    st.sampled_from(
        [
            "a",
            "b",
            "aa",
            "document",
            "document1",
            "document10",
            "documents-1234567",
            "documents-1234568",
            "文档",
            "文档二",
            "é" * 9,
        ]
    ),
    st.text("ab0", min_size=1, max_size=20),
)
SCORES = st.one_of(
    st.sampled_from(["1", "1.0", "2.5", "-3", "0", ".5", "7."]),
    st.decimals(-1000, 1000, allow_nan=False, places=6).map(lambda d: f"{d:f}"),
    st.integers(0, 10**15 - 1).map(str),
)
RUNS = st.dictionaries(IDS, st.dictionaries(IDS, SCORES, min_size=1, max_size=6), min_size=1, max_size=5)
GRADES = st.dictionaries(IDS, st.dictionaries(IDS, st.integers(-1, 4), min_size=1, max_size=6), min_size=1, max_size=5)


@given(
    RUNS,
    GRADES,
    st.sampled_from(["trec", "given", "stable", "expected"]),
    st.sampled_from(["float64", "float32"]),
    st.integers(20, 400),
)
@settings(deadline=None, derandomize=True, max_examples=150)
def test_same_as_dictionaries(run: dict, qrels: dict, ties: str, precision: str, block: int) -> None:
    from rankgauge import Contract

    shared = [query for query in qrels if query in run and set(qrels[query]) & set(run[query])]
    if not shared:
        return
    contract = Contract(ties=ties, scores=precision)
    with tempfile.TemporaryDirectory() as folder, mock.patch.object(trec_rows, "_BLOCK", block):
        paths = Path(folder) / "qrels", Path(folder) / "run"
        paths[0].write_text("".join(f"{q} 0 {d} {g}\n" for q, docs in qrels.items() for d, g in docs.items()))
        paths[1].write_text("".join(f"{q} Q0 {d} 0 {s} t\n" for q, docs in run.items() for d, s in docs.items()))
        with mock.patch.object(matching, "_match_frames", side_effect=AssertionError("data frames were used")):
            by_text = evaluate(*paths, MEASURES, contract=contract)
    numbers = {query: {doc: float(score) for doc, score in docs.items()} for query, docs in run.items()}
    by_dict = evaluate(qrels, numbers, MEASURES, contract=contract)
    assert by_text.per_query.equals(by_dict.per_query)
    assert by_text.mean == by_dict.mean
    assert by_text.coverage == by_dict.coverage


@given(st.lists(st.from_regex(r"-?[0-9]{0,15}\.?[0-9]{0,15}", fullmatch=True), min_size=1, max_size=20))
@settings(deadline=None, derandomize=True, max_examples=300)
def test_numbers_are_read_as_python_reads_them(texts: list[str]) -> None:
    text, starts, ends = b"\n" * trec_rows._MARGIN, [], []
    for number in texts:
        starts.append(len(text))
        text += number.encode()
        ends.append(len(text))
        text += b" "
    try:
        found = trec_rows._numbers(text + b"\0" * 8, np.array(starts), np.array(ends))
    except IrregularTextError:
        assert any(sum(c.isdigit() for c in t) not in range(1, 16) or len(t.lstrip("-")) > 16 for t in texts)
        return
    assert found.tolist() == [float(number) for number in texts]


@pytest.mark.parametrize(
    "number", ["", "-", ".", "-.", "1e5", "+1", "1..2", "1.2.3", "nan", "inf", "1_0", "0x1", "--1", "1-", "１"]
)
def test_other_numbers_are_left_to_other_readers(number: str) -> None:
    start = trec_rows._MARGIN
    text = b"\n" * start + number.encode() + b" " + b"\0" * 8
    with pytest.raises(IrregularTextError):
        trec_rows._numbers(text, np.array([start]), np.array([start + len(number.encode())]))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "\n",
        " q Q0 d 1 2 t\n",
        "q  Q0 d 1 2 t\n",
        "q\tQ0 d 1 2 t\n",
        "q Q0 d 1 2 t\r\n",
        "# a b c d e\n",
        "q Q0 d 1 2 t\n#\n",
        "q Q0 d 1 2 t\nq Q0 d 1 2\n",
        "q Q0 d 1 2 t\nq Q0 d 1 2 t u\n",
        "q Q0 d 1 2\nq Q0 e 1 2 t u\n",
        "q Q0 d 1 2 t\n\nq Q0 e 1 2 t\n",
        "q Q0 d 1 1e3 t\n",
        "q Q0 d 1 2 t\n# Q0 e 1 2 t\n",
    ],
)
def test_other_lines_are_left_to_other_readers(tmp_path: Path, text: str) -> None:
    path = tmp_path / "run"
    path.write_bytes(text.encode())
    if not text:
        assert list(trec_rows.read_run_rows(Source(path))) == []
        return
    with pytest.raises(IrregularTextError):
        list(trec_rows.read_run_rows(Source(path)))


def test_keys_do_not_depend_on_their_neighbours() -> None:
    text = b"x" * 40 + b"document-0001" + b"y" * 40 + b"\0" * 8
    alone = keys_of(text, np.array([40]), np.array([13]))
    among = keys_of(text, np.array([0, 40, 41]), np.array([40, 13, 3]))
    assert alone[0] == among[1]
    assert len(set(among.tolist())) == 3
    every = [b"%d" % i for i in range(100_000)] + [b"prefix-%d" % i for i in range(100_000)]
    joined = b" ".join(every) + b"\0" * 8
    lengths = np.array([len(part) for part in every])
    starts = np.concatenate(([0], np.cumsum(lengths + 1)[:-1]))
    assert len(np.unique(keys_of(joined, starts, lengths))) == len(every)
