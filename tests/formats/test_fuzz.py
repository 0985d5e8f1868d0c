"""Any bytes give a result or a `RankgaugeError`, never another exception; what is written reads back the same."""

from __future__ import annotations

import contextlib
import json
import tempfile
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from rankgauge import Qrels, Query, RankgaugeError, Run, TestSet, load_qrels, load_run, load_testset
from rankgauge.formats.convert import convert, load_any
from rankgauge.formats.detect import FORMATS

quick = settings(deadline=None, derandomize=True, max_examples=150)

# Fragments that lead the readers into their corners.
PIECES = st.sampled_from(
    [
        b"q1 Q0 d1 1 2.5 t\n",
        b"q1 0 d1 1\n",
        b" ",
        b"\t",
        b"\r\n",
        b"\n\n",
        b"#",
        b"\x00",
        b"\xff",
        b"\xef\xbb\xbf",
        b'"',
        b",",
        b"nan",
        b"1e999",
        b"{",
        b"}",
        b"[",
        b"]",
        b'{"q1": {"d1": 1}}',
        b'{"q1": ["d1", "d1"]}',
        b"query_id,doc_id,score\n",
        b"q,d,1\n",
        b"query-id\tcorpus-id\tscore\n",
        b"PAR1",
        b"\x1f\x8b",
        b"\x28\xb5\x2f\xfd",
        b'[{"query": "a", "relevant_docs": ["d"]}]',
        b'{"query": "a", "results": [1, 2]}\n',
        "文档".encode(),
        "é".encode("latin-1"),
        b"1" * 400,
    ]
)
DATA = st.one_of(st.binary(max_size=200), st.lists(PIECES, max_size=12).map(b"".join))
NAMES = st.sampled_from(["x", "x.json", "x.jsonl", "x.csv", "x.tsv", "x.parquet", "x.txt", "x.gz", "x.zst"])


@given(DATA, NAMES, st.sampled_from([None, *FORMATS]))
@quick
def test_any_bytes(data: bytes, name: str, form: str | None) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / name
        path.write_bytes(data)
        for read in (load_qrels, load_run, load_testset):
            with contextlib.suppress(RankgaugeError):
                read(path, form)
        with contextlib.suppress(RankgaugeError):
            load_any(str(path), form=form)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.sampled_from(["q1", "d1", "", "query", "id", "score"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                [
                    "q1",
                    "query",
                    "id",
                    "relevant_docs",
                    "relevance_scores",
                    "results",
                    "tags",
                    "texts",
                    "doc_id",
                    "score",
                    "",
                ]
            ),
            inner,
            max_size=5,
        )
    ),
    max_leaves=12,
)


@given(JSON)
@quick
def test_any_json(value: object) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "x.json"
        path.write_text(json.dumps(value))
        for read in (load_qrels, load_run, load_testset):
            with contextlib.suppress(RankgaugeError):
                read(path)


# Characters of all sorts, but neither white space nor surrogates, which no text format can hold in an id.
IDS = st.text(st.characters(exclude_categories=["Cs", "Cc", "Zs", "Zl", "Zp"]), min_size=1, max_size=6).filter(
    lambda text: not text.startswith(("#", "\ufeff"))
)
SCORES = st.floats(allow_nan=False, allow_infinity=False)
RUNS = st.dictionaries(IDS, st.dictionaries(IDS, SCORES, min_size=1, max_size=4), min_size=1, max_size=3)
GRADES = st.dictionaries(IDS, st.dictionaries(IDS, st.integers(-1, 4), min_size=1, max_size=4), min_size=1, max_size=3)


@pytest.mark.parametrize("name", ["x.run", "x.run.gz", "x.json", "x.jsonl.zst", "x.csv", "x.tsv", "x.parquet"])
@given(RUNS)
@example({"{": {"0": 0.0}})  # ids that begin like JSON
@example({"{}": {"[]": 1.0, "{}": 0.5}})
@settings(quick, max_examples=40)
def test_runs_come_back(name: str, lists: dict) -> None:
    with tempfile.TemporaryDirectory() as folder:
        first, second, back = (Path(folder) / part for part in ("first.parquet", name, "back.parquet"))
        from rankgauge.formats.sources import write_whole
        from rankgauge.formats.tables import render_table

        write_whole(first, render_table(Run(lists).frame, "parquet"))
        convert(str(first), str(second), kind="run")
        convert(str(second), str(back), kind="run")
        assert load_run(second).to_dict() == lists
        assert load_run(back).to_dict() == lists


@pytest.mark.parametrize("name", ["x.qrels", "x.qrels.zst", "x.csv", "x.tsv.gz", "x.parquet"])
@given(GRADES)
@example({"{": {"0": 0}, "[]": {"{}": 1}})
@settings(quick, max_examples=40)
def test_judgments_come_back(name: str, grades: dict) -> None:
    with tempfile.TemporaryDirectory() as folder:
        from rankgauge.formats.sources import write_whole
        from rankgauge.formats.tables import render_table

        first, second = Path(folder) / "first.parquet", Path(folder) / name
        write_whole(first, render_table(Qrels(grades).frame, "parquet"))
        convert(str(first), str(second), kind="judgments")
        assert load_qrels(second).to_dict() == grades


QUERIES = st.builds(
    Query,
    text=st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=10),
    grades=st.dictionaries(IDS, st.sampled_from([0, 1, 2, 2.5]), min_size=1, max_size=4),
    id=st.one_of(st.just(""), IDS),
    tags=st.lists(IDS, max_size=2).map(tuple),
    texts=st.dictionaries(IDS, st.text(st.characters(exclude_categories=["Cs"]), max_size=8), max_size=2),
)
SETS = st.lists(QUERIES, min_size=1, max_size=4, unique_by=lambda query: query.id).map(TestSet)


@pytest.mark.parametrize("name", ["x.json", "x.json.gz", "x.jsonl"])
@given(SETS)
@settings(quick, max_examples=60)
def test_test_sets_come_back(name: str, test_set: TestSet) -> None:
    with tempfile.TemporaryDirectory() as folder:
        first, second = Path(folder) / "first.json", Path(folder) / name
        test_set.save(first)
        assert TestSet.load(first) == test_set
        convert(str(first), str(second))
        assert TestSet.load(second) == test_set
