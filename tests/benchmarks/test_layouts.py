"""Each source's own layout gives the same queries, judgments and documents."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from rankgauge.benchmarks import find_benchmark, load_benchmark
from rankgauge.benchmarks.layouts import LAYOUTS as READERS
from rankgauge.errors import DataError, FormatError
from tests.benchmarks import sources
from tests.benchmarks.sources import GRADED, GRADES, LAYOUTS, QUERIES, TEXTS, put, table

TITLED = {
    "msmarco-document-dev": "Title {doc}\n",
    "dl22-document": "Title {doc}\n",
    "miracl-zh": "标题 {doc}\n",
    "litsearch": "Paper {doc}\n",
    "lecard": "案件 {doc}\n",
}
RENAMED = {
    "litsearch": ({"q1": "q1", "q2": "q2"}, {"d1": "101", "d2": "102", "d3": "103", "d4": "104"}),
    "lecard": ({"q1": "1", "q2": "2"}, {doc: doc[1:] for doc in TEXTS}),
}
OTHER_GRADES = {
    **dict.fromkeys(("dl20-passage", "dl21-passage", "dl22-document", "t2ranking-graded", "lecard"), GRADED),
    "litsearch": {"q1": {"d1": 1.0, "d3": 1.0}, "q2": {"d2": 1.0, "d3": 1.0}},
    "medcorpus": {"q1": {"d1": 2.0, "d3": 1.0, "d4": 0.0}, "q2": {"d2": 2.0}},
}


def test_every_layout_is_tried() -> None:
    assert {find_benchmark(name).layout for name in LAYOUTS} == READERS.keys()


@pytest.mark.parametrize("name", LAYOUTS)
def test_a_benchmark_in_its_own_layout(name: str, tmp_path: Path) -> None:
    LAYOUTS[name](tmp_path)
    loaded = load_benchmark(name, tmp_path)
    queries, docs = RENAMED.get(name, ({query: query for query in QUERIES}, {doc: doc for doc in TEXTS}))
    wanted = OTHER_GRADES.get(name, GRADES)
    assert {query.id: dict(query.grades) for query in loaded.test_set} == {
        queries[query]: {docs[doc]: grade for doc, grade in own.items()} for query, own in wanted.items()
    }
    assert {query.id: query.text for query in loaded.test_set} == {queries[query]: QUERIES[query] for query in QUERIES}
    assert loaded.corpus is not None
    title = TITLED.get(name, "")
    assert dict(loaded.corpus) == {docs[doc]: title.format(doc=doc) + text for doc, text in TEXTS.items()}


def test_excluded_documents_are_read_and_none_is_none(tmp_path: Path) -> None:
    sources.bright(tmp_path)
    assert load_benchmark("bright-biology", tmp_path).excluded == {"q1": ["d4", "d2"]}


def test_specific_and_broad_queries_are_tagged(tmp_path: Path) -> None:
    sources.litsearch(tmp_path)
    assert load_benchmark("litsearch", tmp_path).test_set.tags == {"broad": ["q1"], "specific": ["q2"]}


def test_one_topic_of_lotte_is_not_taken_for_another(tmp_path: Path) -> None:
    sources.lotte(tmp_path)
    with pytest.raises(FormatError, match=r"no recreation/test/qas\.search\.jsonl"):
        load_benchmark("lotte-recreation-search", tmp_path)
    alone = load_benchmark("lotte-writing-search", tmp_path / "lotte" / "writing" / "test")
    assert len(alone.test_set) == 2


def test_one_set_of_cqadupstack_is_not_taken_for_another(tmp_path: Path) -> None:
    sources.beir(tmp_path, "cqadupstack/android")
    with pytest.raises(FormatError, match=r"no cqadupstack/tex/qrels/test\.tsv"):
        load_benchmark("beir-cqadupstack-tex", tmp_path)


@pytest.mark.parametrize("name", LAYOUTS)
def test_a_wrong_folder_is_told_what_it_lacks(name: str, tmp_path: Path) -> None:
    (tmp_path / "readme.md").write_text("nothing")
    with pytest.raises(FormatError, match=r"there is no .* which holds the .*; it has readme\.md"):
        load_benchmark(name, tmp_path)


def test_the_hint_says_where_the_files_are_had(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match=r"hint: .*(?s:.*)collectionandqueries\.tar\.gz \(1\.06 GB, MD5 31644046b"):
        load_benchmark("msmarco-passage-dev", tmp_path)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("q1 0 d1 1\nq1 0 d1 2\n", "qrels.dev.small.tsv:2: document 'd1' of query 'q1' has two grades, 1 and 2"),
        ("q1 0 d1 1\nq1 0 d2\n", ":2: 3 columns, where judgments have 4"),
        ("q1 0 d1 much\n", ":1: the grade 'much' is no number"),
        ("", "the file is empty"),
        ("qid\tpid\n", "it holds no judgments"),
    ],
)
def test_faults_of_judgments_name_their_line(text: str, said: str, tmp_path: Path) -> None:
    sources.msmarco_passage(tmp_path)
    put(tmp_path / "qrels.dev.small.tsv", text)
    with pytest.raises(FormatError, match=said.replace(".", r"\.")):
        load_benchmark("msmarco-passage-dev", tmp_path)


def test_a_table_cut_short_names_its_line(tmp_path: Path) -> None:
    sources.msmarco_document(tmp_path)
    (tmp_path / "msmarco-docs.tsv.gz").unlink()
    put(tmp_path / "msmarco-docs.tsv", "d1\tu\tt\tcancel an order\nd2\tu")
    with pytest.raises(FormatError, match=r"msmarco-docs\.tsv:2: 2 columns, where 4 are expected"):
        load_benchmark("msmarco-document-dev", tmp_path)


def test_json_cut_short_names_its_line(tmp_path: Path) -> None:
    sources.beir(tmp_path)
    corpus = tmp_path / "scifact" / "corpus.jsonl"
    corpus.write_text(corpus.read_text()[:-20])
    with pytest.raises(FormatError, match=r"corpus\.jsonl:4: this is no JSON: .*is the download complete"):
        load_benchmark("beir-scifact", tmp_path)


def test_bytes_that_are_not_utf8_name_their_line(tmp_path: Path) -> None:
    sources.msmarco_passage(tmp_path)
    (tmp_path / "collection.tsv").write_bytes("d1\tgood\nd2\t取消\n".encode("gb18030"))
    with pytest.raises(FormatError, match=r"collection\.tsv:2: bytes that are not UTF-8"):
        load_benchmark("msmarco-passage-dev", tmp_path)


def test_a_document_that_is_relevant_and_excluded_is_a_contradiction(tmp_path: Path) -> None:
    rows = [{"id": "q1", "query": "x", "excluded_ids": ["d1"], "gold_ids": ["d1"]}]
    table(tmp_path / "examples" / "biology-00000-of-00001.parquet", rows)
    with pytest.raises(FormatError, match="row 1: document 'd1' of query 'q1' is relevant and excluded"):
        load_benchmark("bright-biology", tmp_path)


def test_a_table_without_a_column_says_so(tmp_path: Path) -> None:
    table(tmp_path / "examples" / "biology-00000-of-00001.parquet", [{"id": "q1", "query": "x"}])
    with pytest.raises(FormatError, match="there is no column 'gold_ids'; it has id, query"):
        load_benchmark("bright-biology", tmp_path)


def test_passages_without_their_ids(tmp_path: Path) -> None:
    sources.dureader(tmp_path)
    ids = next(tmp_path.rglob("passage2id.map.json"))
    ids.write_text(json.dumps({"0": "d1"}))
    with pytest.raises(FormatError, match=r"line 1 of all parts has no id in passage2id\.map\.json"):
        load_benchmark("dureader-retrieval", tmp_path)
    ids.unlink()
    with pytest.raises(FormatError, match=r"there is no passage2id\.map\.json, which holds the ids of the passages"):
        load_benchmark("dureader-retrieval", tmp_path)


def test_grades_beyond_those_of_medcorpus_are_refused(tmp_path: Path) -> None:
    put(tmp_path / "qrels.txt", "q1 0 d1 3\n")
    with pytest.raises(FormatError, match="query 'q1' has a grade above 2"):
        load_benchmark("medcorpus", tmp_path)


def test_without_documents_there_is_no_corpus(tmp_path: Path) -> None:
    put(tmp_path / "2019qrels-pass.txt", "q1 0 d1 3\nq1 0 d2 0\n")
    loaded = load_benchmark("dl19-passage", tmp_path)
    assert loaded.corpus is None
    assert not loaded.has_corpus
    assert [note.key for note in loaded.notes] == [
        "benchmarks.fewer_queries",
        "benchmarks.no_texts",
        "benchmarks.no_corpus",
    ]


def test_an_unknown_name_tells_similar_ones() -> None:
    with pytest.raises(DataError, match="there is no benchmark 'beir-scifac'; did you mean beir-scifact"):
        load_benchmark("beir-scifac", ".")
