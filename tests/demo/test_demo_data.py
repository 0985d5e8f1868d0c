"""The bundled test sets fit their corpora; the corpus of the standard library is cheap, quiet and always the same."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any

import bm25s
import pytest

import rankgauge
from rankgauge.demo import chinese_corpus, chinese_testset, stdlib_corpus, stdlib_testset

SETS = {"stdlib": (stdlib_corpus, stdlib_testset), "chinese": (chinese_corpus, chinese_testset)}
FILES = {"stdlib": "stdlib.json", "chinese": "chinese-testset.json"}
KINDS = {"short", "plain", "long", "vague", "error", "synonym"}
SIZES = {"stdlib": 135, "chinese": 30}


def data_file(name: str) -> Path:
    with as_file(files("rankgauge.demo") / "data" / name) as path:
        return Path(path)


def no_twins(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    assert len(dict(pairs)) == len(pairs), "a key stands twice"
    return dict(pairs)


def in_new_python(code: str, *options: str, seed: str = "0") -> subprocess.CompletedProcess[str]:
    environment = {"PYTHONPATH": str(Path(rankgauge.__file__).parents[1]), "PYTHONHASHSEED": seed}
    return subprocess.run([sys.executable, *options, "-c", code], capture_output=True, text=True, env=environment)


@pytest.mark.parametrize("name", SETS)
def test_judged_documents_exist(name: str) -> None:
    corpus, test_set = (make() for make in SETS[name])
    judged = {doc for query in test_set for doc in query.grades}
    missing = sorted(judged - set(corpus))
    if sys.platform == "linux" or name == "chinese":
        assert not missing
    else:  # os, signal and select differ between systems
        assert len(missing) < 0.05 * len(judged), missing


@pytest.mark.parametrize("name", SETS)
def test_no_repeats_and_no_contradictions(name: str) -> None:
    items = json.loads(data_file(FILES[name]).read_text("utf-8"), object_pairs_hook=no_twins)
    assert len(items) == SIZES[name]
    for key in ("id", "query"):
        values = [item[key].casefold().strip() for item in items]
        assert all(values)
        assert len(set(values)) == len(values)
    for item in items:
        grades = item["relevance_scores"]
        assert set(grades.values()) <= {0, 1, 2, 3}
        assert len(set(item["relevant_docs"])) == len(item["relevant_docs"])
        assert set(item["relevant_docs"]) == {doc for doc, grade in grades.items() if grade > 0}
        assert max(grades.values()) >= 2, item["query"]
        assert min(grades.values()) == 0, item["query"]
        assert len(grades) >= 10, item["query"]
        topic, kind = item["tags"]
        assert kind in KINDS
        assert topic not in KINDS


@pytest.mark.parametrize("name", SETS)
def test_loads_as_any_test_set(name: str) -> None:
    path = data_file(FILES[name])
    assert path.stat().st_size < 400_000
    assert rankgauge.load_testset(path) == SETS[name][1]()


def test_how_much_is_judged() -> None:
    grades = Counter(int(grade) for query in stdlib_testset() for grade in query.grades.values())
    assert grades[3] >= 200
    assert grades[2] >= 350
    assert grades[1] >= 800
    assert grades[0] >= 4000
    kinds = Counter(tag for query in stdlib_testset() for tag in query.tags)
    assert all(kinds[kind] >= 5 for kind in ("short", "plain", "long", "vague", "error"))
    assert sum(1 for topic in kinds if topic not in KINDS and kinds[topic] >= 5) >= 10


def test_canonical_names() -> None:
    corpus = stdlib_corpus()
    assert list(corpus) == sorted(corpus)
    assert 4000 < len(corpus) < 7000
    expected = """os.path.join open str.split json.load json.JSONDecoder pathlib.Path.exists pathlib.PurePath.suffix
        random.choice multiprocessing.Pool concurrent.futures.ThreadPoolExecutor asyncio.run asyncio.TaskGroup
        weakref.ref sqlite3.connect datetime.datetime.strptime threading.Lock csv.DictReader KeyError
        unittest.mock.patch importlib.resources.files zoneinfo.ZoneInfo hashlib.scrypt contextlib.suppress
        dict.fromkeys heapq types.UnionType sys.excepthook"""
    assert [name for name in expected.split() if name not in corpus] == []
    others = "posixpath.join ntpath.join builtins.open io.open os.error socket.error random.Random.choice json.decoder"
    assert [name for name in others.split() if name in corpus] == []
    text = corpus["os.path.join"]
    assert text.startswith("os.path.join\nos path join\n")
    assert "pathname" in text
    assert max(map(len, corpus.values())) < 2000
    assert not any(" at 0x" in text for text in corpus.values()), "an address would change with every run"


def test_corpus_is_quick() -> None:
    # The time is taken inside: a new interpreter, but without what starting it and loading rankgauge take.
    code = (
        "import time; from rankgauge.demo.stdlib import stdlib_corpus; start = time.process_time();"
        "first = stdlib_corpus(); print(time.process_time() - start); assert dict(first) == dict(stdlib_corpus())"
    )
    done = in_new_python(code, "-W", "error")
    assert done.stderr == ""
    assert float(done.stdout) < 1.5


def test_corpus_is_the_same_in_every_process() -> None:
    code = (
        "import hashlib; from rankgauge.demo.stdlib import stdlib_corpus;"
        "print(hashlib.sha256(repr(dict(stdlib_corpus())).encode()).hexdigest())"
    )
    first, second = (in_new_python(code, seed=seed).stdout for seed in ("1", "2"))
    assert first == second != ""


QUIET = """
import sys
from rankgauge.demo.stdlib import stdlib_corpus

acts = {"socket.connect", "socket.getaddrinfo", "subprocess.Popen", "os.system", "os.fork", "webbrowser.open"}
avoided = {"antigravity", "this", "idlelib", "tkinter", "turtle", "test", "lib2to3", "distutils", "readline"}

def hook(event, arguments):
    writes = event == "open" and isinstance(arguments[1], str) and set(arguments[1]) & set("wax+")
    if event in acts or writes:
        print(event, arguments)

sys.dont_write_bytecode = True
sys.addaudithook(hook)
stdlib_corpus()
print(sorted(avoided & set(sys.modules)))
"""


def test_corpus_does_nothing_but_read() -> None:
    done = in_new_python(QUIET, "-W", "error")
    assert (done.stdout, done.stderr) == ("[]\n", "")


def test_without_docstrings_it_says_so() -> None:
    code = "from rankgauge.demo.stdlib import stdlib_corpus; stdlib_corpus()"
    done = in_new_python(code, "-OO")
    assert "run it without -OO" in done.stderr


def test_chinese_texts() -> None:
    corpus = chinese_corpus()
    assert len(corpus) == 60
    for name, text in corpus.items():
        title, _, body = text.partition("\n")
        assert 80 <= len(body) <= 200, name
        assert all("\u4e00" <= letter <= "\u9fff" for letter in title), name
    assert len(set(corpus.values())) == len(corpus)


@pytest.mark.parametrize("name", SETS)
def test_what_bm25_finds_was_judged(name: str) -> None:
    corpus, test_set = (make() for make in SETS[name])
    ids, texts, queries = list(corpus), list(corpus.values()), [query.text for query in test_set]
    if name == "chinese":  # single characters stand for words
        texts, queries = ([" ".join(text) for text in group] for group in (texts, queries))
    options = {"token_pattern": r"(?u)\w+", "stopwords": "en" if name == "stdlib" else None, "show_progress": False}
    index = bm25s.BM25()
    index.index(bm25s.tokenize(texts, **options), show_progress=False)
    found, scores = index.retrieve(bm25s.tokenize(queries, **options), corpus=ids, k=10, show_progress=False)
    pairs = [
        doc in query.grades
        for query, docs, values in zip(test_set, found, scores, strict=True)
        for doc, value in zip(docs, values, strict=True)
        if value > 0
    ]
    assert len(pairs) > 5 * len(test_set)
    assert sum(pairs) / len(pairs) >= 0.95
