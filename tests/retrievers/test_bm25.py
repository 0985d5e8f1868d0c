"""BM25 against its formula, and against figures published with Vaswani."""

from __future__ import annotations

import math
import os
import random
import subprocess
import sys
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from rankgauge.errors import DataError, MissingExtraError, RankgaugeError
from rankgauge.model.corpus import Corpus
from rankgauge.retrievers import BM25, Hit, Retriever
from rankgauge.retrievers.registry import build
from rankgauge.retrievers.text import chinese_terms, english_terms, tokenizer_for
from tests.retrievers.real import CHINESE, SMALL, collection, scores


def naive(corpus: dict[str, str], query: str, k1: float, b: float) -> dict[str, float]:
    """Lucene's formula as it is written, term by term."""
    words = {doc: english_terms(text) for doc, text in corpus.items()}
    mean = sum(map(len, words.values())) / len(words)
    found: dict[str, float] = {}
    for term in english_terms(query):
        holding = sum(term in listed for listed in words.values())
        for doc, listed in words.items():
            tf = Counter(listed)[term]
            if tf:
                idf = math.log(1 + (len(words) - holding + 0.5) / (holding + 0.5))
                part = idf * tf / (tf + k1 * (1 - b + b * len(listed) / mean))
                found[doc] = found.get(doc, 0) + part
    return found


def random_corpus(seed: int) -> dict[str, str]:
    rng = random.Random(seed)
    words = [f"w{i}x" for i in range(30)]
    return {f"d{i}": " ".join(rng.choices(words, range(1, 31), k=rng.randint(0, 25))) for i in range(60)}


@pytest.mark.parametrize(("k1", "b"), [(1.2, 0.75), (0, 0.5), (2.5, 0), (0.9, 1)])
def test_formula(k1: float, b: float) -> None:
    corpus = random_corpus(1)
    retriever = BM25(corpus, k1=k1, b=b)
    for query in ("w29x w3x", "w5x w5x w11x", "w0x", "w1x w2x w3x w28x unknown"):
        wanted = naive(corpus, query, k1, b)
        hits = retriever.search(query, 100)
        assert dict(hits) == pytest.approx(wanted, rel=1e-12)
        assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
        for k in (1, 3, 10):
            assert retriever.search(query, k) == hits[:k]


def test_equal_scores_keep_the_order_of_the_corpus() -> None:
    corpus = {f"d{i}": "equal words" if i % 2 else "rest" for i in range(50)}
    assert [hit.id for hit in BM25(corpus).search("equal", 5)] == ["d1", "d3", "d5", "d7", "d9"]


@pytest.mark.parametrize("method", ["robertson", "atire", "bm25l", "bm25+"])
def test_every_variant_finds_only_documents_with_a_term(method: str) -> None:
    found = BM25(SMALL, method=method).search("json string", 10)
    assert {hit.id for hit in found} == {"json.loads", "json.JSONDecoder"}


@pytest.mark.parametrize(
    ("name", "ap", "ndcg"), [("cranfield", 0.30, 0.36), ("cisi", 0.21, 0.38), ("vaswani", 0.2965, 0.44)]
)
def test_collections(data: Path, name: str, ap: float, ndcg: float) -> None:
    """Vaswani's AP is published (Terrier, BM25: .2965); the others are what this index has given, as a guard."""
    chosen = collection(data, name)
    found = scores(BM25(chosen.documents), chosen, "AP", "nDCG@10")
    assert found["AP"] == pytest.approx(ap, abs=0.02)
    assert found["nDCG@10"] == pytest.approx(ndcg, abs=0.02)


def test_is_a_retriever() -> None:
    retriever = BM25(Corpus(SMALL))
    assert isinstance(retriever, Retriever)
    assert list(retriever.ids) == list(SMALL)
    hits = retriever.search("delete a file", 3)
    assert hits[0].id == "os.remove"
    assert all(type(hit) is Hit and type(hit.score) is float for hit in hits)
    assert retriever.search("", 3) == retriever.search("zebra", 3) == retriever.search("the of", 3) == []


def test_threads_see_what_one_sees() -> None:
    retriever = BM25(random_corpus(2))
    queries = [f"w{i}x w{29 - i}x w{(7 * i) % 30}x" for i in range(30)] * 5
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(lambda query: retriever.search(query, 10), queries)) == [
            retriever.search(query, 10) for query in queries
        ]


def test_identifiers_are_found_whole_and_in_parts() -> None:
    assert english_terms("os.path") == ["os.path", "os", "path"]
    assert english_terms("raw_decode") == ["raw_decode", "raw", "decod"]
    assert english_terms("parseHTTPResponse JSONDecoder") == [
        *("parsehttpresponse", "pars", "http", "respons"),
        *("jsondecoder", "json", "decod"),
    ]
    assert english_terms("The runners are running. U.S. costs: 3.5, HTTP2") == [
        *("runner", "run", "u.s", "u", "s", "cost", "3.5", "3", "5", "http2"),
    ]
    retriever = BM25(SMALL)
    assert retriever.search("os.path.join", 1)[0].id == "os.path.join"
    assert retriever.search("decoder", 1)[0].id == "json.JSONDecoder"


def test_chinese() -> None:
    assert {"北京", "大学", "北京大学"} <= set(chinese_terms("北京大学"))
    assert chinese_terms("用 Python 实现的") == ["用", "python", "实现"]
    retriever = BM25(CHINESE)
    assert [hit.id for hit in retriever.search("人工智能", 2)] == ["b"]
    assert retriever.search("大学", 1)[0].id == "a"
    assert retriever.search("PYTHON 机器学习", 1)[0].id == "b"
    assert retriever.search("的", 1) == []


def test_language_is_told_by_the_script() -> None:
    terms = tokenizer_for("auto")
    for text in CHINESE.values():
        assert terms(text) == chinese_terms(text)
    for text in SMALL.values():
        assert terms(text) == english_terms(text)
    assert terms("Running in 北京大学 with os.path") == [
        *("run", "北京", "大学", "北京大学"),
        *("os.path", "os", "path"),
    ]
    assert tokenizer_for("en") is english_terms
    assert tokenizer_for("zh") is chinese_terms


@pytest.mark.parametrize("name", ["bm25", "dense", "hybrid", "rerank"])
def test_a_corpus_of_two_languages(name: str) -> None:
    """Each text by its own script, whatever most of the corpus is written in."""
    corpus = {**SMALL, **{f"more {i}": f"Another English text, number {i}." for i in range(300)}, **CHINESE}
    retriever = build(name, corpus)
    for query, doc in (
        ("人工智能", "b"),
        ("信息检索的评测", "c"),
        ("公园散步 today", "d"),
        ("run concurrently", "asyncio.gather"),
    ):
        assert retriever.search(query, 3)[0].id == doc


def test_jieba_is_loaded_for_chinese_only() -> None:
    code = (
        "import sys; from rankgauge.retrievers import BM25; found = BM25({'a': 'machine learning', 'b': 'a park'});"
        "found.search('learning machines', 1); print('jieba' in sys.modules);"
        "found.search('机器 learning', 1); print('jieba' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\nTrue\n"


def test_jieba_is_silent_and_writes_nothing(tmp_path: Path) -> None:
    """Not even a cache, which it would keep where everybody can write."""
    code = "from rankgauge.retrievers import BM25; print(BM25({'a': '人工智能'}).search('智能', 1)[0].id)"
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "TMPDIR": str(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert (done.stdout, done.stderr) == ("a\n", "")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"k1": -1}, "k1=-1 must be a number of at least 0"),
        ({"k1": math.nan}, "k1=nan"),
        ({"k1": "1.2"}, "k1='1.2' must be a number"),
        ({"k1": True}, "k1=True"),
        ({"b": 1.5}, "b=1.5 must be a number between 0 and 1"),
        ({"method": "okapi"}, "method='okapi' must be one of lucene"),
        ({"language": "fr"}, "language='fr' must be one of auto, en, zh"),
    ],
)
def test_bad_parameters(parameters: dict[str, object], message: str) -> None:
    with pytest.raises(RankgaugeError, match=message):
        BM25(SMALL, **parameters)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("corpus", "message"),
    [
        ({}, "corpus is empty"),
        (["text"], "not a list"),
        ({"a": None}, "maps 'a' to a NoneType"),
        ({1: "text"}, "maps 1"),
        ({"a": "", "b": "the"}, "none of the 2 documents"),
    ],
)
def test_bad_corpora(corpus: object, message: str) -> None:
    with pytest.raises(DataError, match=message):
        BM25(corpus)  # type: ignore[arg-type]


def test_bad_searches() -> None:
    retriever = BM25(SMALL)
    with pytest.raises(RankgaugeError, match="k=0 must be a whole number of at least 1"):
        retriever.search("json", 0)
    with pytest.raises(DataError, match="a query is a text"):
        retriever.search(None, 1)  # type: ignore[arg-type]


@pytest.mark.parametrize("module", ["bm25s", "Stemmer"])
def test_missing_extra(monkeypatch: pytest.MonkeyPatch, module: str) -> None:
    from rankgauge.retrievers import text

    monkeypatch.setitem(sys.modules, module, None)
    monkeypatch.delattr(text._local, "stem", raising=False)
    with pytest.raises(MissingExtraError, match=r"it is in the extra rankgauge\[retrievers\]"):
        BM25(SMALL)
