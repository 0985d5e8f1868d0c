"""Faults of a plan that would only show later are found by the check, all of them at once, and nothing is called."""

from __future__ import annotations

import json
import os
import sys
import time
import tomllib
from pathlib import Path

import numpy as np
import pytest

from rankgauge.errors import FormatError, RetrieverError
from rankgauge.live.sweep import settings_of
from rankgauge.plans.plan import load_plan
from rankgauge.plans.running import run_plan
from rankgauge.retrievers.journal import open_journal

MODULE = """
called = []
class Search:
    def __init__(self, depth=3):
        called.append(depth)
    def search(self, query, k):
        return ["d1"]
table = {"d1": "text"}
ready = Search.__new__(Search)
def make(depth, corpus=None):
    called.append(depth)
    return lambda query, k: ["d1"]
def build(corpus, depth=1):
    return make(depth)
def nothing():
    return ready
def positional(depth, /):
    return ready
def open_ended(needed, **rest):
    return ready
def dated(since=None):
    return lambda query, k: ["d1"]
"""
HEAD = 'testset = "testset.json"\ncorpus = "corpus.jsonl"\nmeasures = ["R@5"]\n'
READY = '[[system]]\nname = "ready"\nuse = "faulty_module:ready"\n'


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    queries = [{"id": f"q{i}", "query": f"some text {i}", "relevant_docs": ["d1"]} for i in range(6)]
    (tmp_path / "testset.json").write_text(json.dumps(queries))
    (tmp_path / "corpus.jsonl").write_text('{"_id": "d1", "text": "some text"}\n')
    (tmp_path / "faulty_module.py").write_text(MODULE)
    return tmp_path


def faults(folder: Path, text: str) -> list[str]:
    """The faults of a plan, each on a line; none when it is right."""
    (folder / "plan.toml").write_text(text)
    try:
        load_plan(folder / "plan.toml")
    except FormatError as error:
        module = sys.modules.get("faulty_module")
        assert module is None or module.called == []
        return [str(fault) for fault in error.faults]
    return []


def one(folder: Path, text: str) -> str:
    (found,) = faults(folder, text)
    return found


def test_a_right_plan_has_none(folder: Path) -> None:
    assert faults(folder, HEAD + READY) == []


def test_numbers_are_finite(folder: Path) -> None:
    found = faults(folder, f"{HEAD}[calls]\ntimeout = inf\nbackoff = nan\nmax_failed = nan\n{READY}")
    assert [fault.split(":")[0] for fault in found] == ["calls.timeout", "calls.backoff", "calls.max_failed"]
    assert "finite" in found[0]


@pytest.mark.parametrize(
    ("parameters", "said"),
    [
        ('url = "localhost:80/search"', ["must begin with http"]),
        ('url = "http://bad host/"', ["must begin with http"]),
        ('url = "http://[::1/"', ["cannot be read"]),
        ('url = "http://h:99999/"', ["cannot be read"]),
        ("url = 3", ["url=3 must be a text"]),
        ('url = "http://h/", ids = "$.hits[*"', ["the path '$.hits[*'"]),
        ('url = "http://h/", scores = "a b"', ["the path 'a b'"]),
        ('url = "http://h/", timeout = inf', ["timeout=inf"]),
        ('url = "http://h/", method = "GETT"', ["method='GETT' must be one of POST, GET"]),
        ('url = "http://h/", body = { q = "x" }', ["{query} stands neither"]),
        ('url = "http://h/", body = { q = "{query}", day = 2024-01-01 }', ["cannot be written as JSON"]),
        ('url = "http://h/", headers = { A = 3 }', ["the header A must be a text"]),
        ('url = "http://h/", headers = { A = "Bearer ${RANKGAUGE_NOT_SET}" }', ["RANKGAUGE_NOT_SET, which is not set"]),
        ('url = "http://h/", headers = { A = "令牌" }', ["the header A holds"]),
        ('url = "x", ids = "[", headers = { A = "${RANKGAUGE_NOT_SET}" }, nonsense = 1', ["x", "[", "NOT_SET", "none"]),
        ('ids = "$.a[*]"', ["http needs the parameter 'url'"]),
    ],
)
def test_endpoints(folder: Path, parameters: str, said: list[str]) -> None:
    text = f'{HEAD}[[system]]\nname = "live"\nuse = "http"\nparameters = {{ {parameters} }}\n'
    found = faults(folder, text)
    assert len(found) == len(said)
    for words in said[:3]:
        assert any(words in fault for fault in found), found


def test_all_variables_that_are_not_set_are_named(folder: Path) -> None:
    systems = """
[[system]]
name = "live"
use = "http"
parameters = { url = "${URL_A}/${PATH_B}", headers = { A = "${HEAD_C}" }, body = { q = "{query}", w = ["${BODY_D}"] } }
[[system]]
name = "elastic"
use = "elasticsearch"
parameters = { url = "${URL_E}", index = "i", headers = { A = "${HEAD_C}" } }
[[system]]
name = "embedded"
use = "dense"
parameters = { endpoint = "${URL_F}", model = "m", api_key_env = "KEY_G" }
"""
    found = faults(folder, HEAD + systems)
    for name in ("URL_A", "PATH_B", "HEAD_C", "BODY_D", "URL_E", "URL_F", "KEY_G"):
        assert any(name in fault and "not set" in fault for fault in found), (name, found)
    assert len(found) == 8


def test_a_token_may_end_with_a_line_end(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RANKGAUGE_TEST_TOKEN", "secret\n")
    text = 'use = "http"\nparameters = { url = "http://h/", headers = { A = "Bearer ${RANKGAUGE_TEST_TOKEN}" } }\n'
    assert faults(folder, f'{HEAD}[[system]]\nname = "live"\n{text}') == []
    monkeypatch.setenv("RANKGAUGE_TEST_TOKEN", "se\ncret")
    assert "cret" not in one(folder, f'{HEAD}[[system]]\nname = "live"\n{text}')


@pytest.mark.parametrize(
    ("system", "said"),
    [
        ('use = "faulty_module:Search"', "factory = 'faulty_module:Search'"),
        ('use = "faulty_module:table"', "named with factory"),
        ('use = "faulty_module:build"', "write factory = 'faulty_module:build'"),
        ('use = "faulty_module:nothing"', "if it makes a retriever, write factory"),
        ('factory = "faulty_module:make"', "needs the parameter 'depth'"),
        ('factory = "faulty_module:open_ended"', "needs the parameter 'needed'"),
        ('factory = "faulty_module:positional"', "must take 'depth' by name"),
        ('factory = "faulty_module:ready"', "goes under use"),
        ('factory = "faulty_module:make"\nparameters = { depth = 1, dept = 2 }', "unknown parameter 'dept'"),
        ('use = "faulty_module:ready"\nid_field = "a b"', "id_field: the path 'a b'"),
        ('use = "bm25"\nscore_field = "["', "score_field: the path '['"),
        ('use = "dense"\nparameters = { api_key_env = "RANKGAUGE_NOT_SET" }', "RANKGAUGE_NOT_SET"),
        ('use = "dense"\nparameters = { endpoint = "http://h/v1" }', "the endpoint http://h/v1 needs model="),
        ('use = "bm25"\nfactory = "faulty_module:make"', "has both use and factory"),
        ('name = ""\nuse = "bm25"', "its name is empty"),
    ],
)
def test_systems(folder: Path, system: str, said: str) -> None:
    assert said in one(folder, f"{HEAD}[[system]]\n{system}\n")


def test_one_bracket_too_few(folder: Path) -> None:
    found = faults(folder, f'{HEAD}[system]\nname = "a"\nuse = "bm52"\n')
    assert "two brackets" in found[0]
    assert "bm52" in found[1]


def test_a_bad_name_hides_no_other_fault(folder: Path) -> None:
    for name in ("", "a/b"):
        found = faults(folder, f'{HEAD}[[system]]\nname = "{name}"\nuse = "faulty_module:Search"\n')
        assert len(found) == 2
        assert "is a class" in found[1]


def test_every_fault_of_one_system(folder: Path) -> None:
    text = f'{HEAD}[[system]]\nname = "a"\nuse = "bm25"\nid_field = "["\nparameters = {{ k9 = 1, b = 7 }}\n'
    assert len(faults(folder, text)) == 3


def test_places_that_cannot_be_written(folder: Path) -> None:
    (folder / "file").write_text("")
    (folder / "folder.html").mkdir()
    found = faults(
        folder,
        f'{HEAD}[calls]\ncache = "file/cache"\n{READY}[outputs]\nrecord = "file/record.json"\n'
        'report = "folder.html"\ntable = "corpus.jsonl/summary.md"\nruns = "file"\n',
    )
    places = ["calls.cache", "outputs.record", "outputs.report", "outputs.table", "outputs.runs"]
    assert [fault.split(":")[0] for fault in found] == places
    assert "cache = false" in found[0]
    assert "is a folder" in found[2]
    assert "is a file, not a folder" in found[4]
    assert "outputs.record too" in one(folder, f'{HEAD}{READY}[outputs]\nrecord = "a.json"\nruns = "a.json"\n')


def test_a_folder_without_permission(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "closed").mkdir()
    real = os.access
    monkeypatch.setattr(
        os, "access", lambda path, mode: Path(path).name != "closed" and real(path, mode)
    )  # as root too
    assert "not open for writing" in one(folder, f'{HEAD}[calls]\ncache = "closed"\n{READY}')
    with pytest.raises(RetrieverError, match=r"kept in .*closed': Permission denied; .* cache = false"):
        open_journal(folder / "closed", "a", {})


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("[]", "the file holds no query"),
        ("", "empty"),
        ('[{"id": "q1"', "no JSON"),
        ('[{"id": "q1"}, {"id": "q2"}]', "more)"),
        ('{"q1": {"d1": 1}, "q2": {"d1": 1}}', "no texts to search with"),
    ],
)
def test_test_sets_that_cannot_be_asked(folder: Path, content: str, said: str) -> None:
    (folder / "testset.json").write_text(content)
    found = faults(folder, f"{HEAD}[calls]\nk = 0\n{READY}")
    assert [fault.split(":")[0] for fault in found] == ["testset", "calls.k"]
    assert said in found[0]


@pytest.mark.parametrize("content", ["", "\n \n", "no json\n", '["d1", "text"]\n', '{"text": "no id"}\n'])
def test_a_corpus_is_looked_at(folder: Path, content: str) -> None:
    (folder / "corpus.jsonl").write_text(content)
    assert one(folder, HEAD + READY).startswith("corpus: ")


def test_a_folder_without_a_corpus(folder: Path) -> None:
    (folder / "beir").mkdir()
    assert "corpus.jsonl" in one(folder, HEAD.replace("corpus.jsonl", "beir") + READY)
    (folder / "beir" / "corpus.jsonl").write_text('{"_id": "d1", "text": "' + "long " * 50_000 + '"}\n')
    assert faults(folder, HEAD.replace("corpus.jsonl", "beir") + READY) == []


def test_more_folds_than_queries(folder: Path) -> None:
    swept = f'{HEAD}[[system]]\nname = "a"\nuse = "bm25"\n[sweep]\nsystem = "a"\ngrid = {{ b = [0.1, 0.9] }}\n'
    assert "4 folds need 8 queries or more; the test set has 6" in one(folder, f"{swept}folds = 4\n")
    assert faults(folder, f"{swept}folds = 3\n") == []
    assert faults(folder, swept) == []


def test_every_value_of_a_sweep_is_checked_and_no_fault_named_twice(folder: Path) -> None:
    system = '[[system]]\nname = "a"\nuse = "bm25"\nparameters = { k9 = 1 }\n'
    found = faults(folder, f'{HEAD}{system}[sweep]\nsystem = "a"\ngrid = {{ b = [0.1, 7] }}\nexact = {{ k1 = -1 }}\n')
    assert [fault.split(":")[0] for fault in found] == ["system a", "sweep.grid.b", "sweep.exact.k1"]


def test_dates_are_parameters_too(folder: Path) -> None:
    system = '[[system]]\nname = "a"\nfactory = "faulty_module:dated"\nparameters = { since = 2024-01-01 }\n'
    (folder / "plan.toml").write_text(f'{HEAD}{system}[sweep]\nsystem = "a"\ngrid = {{ since = [2024-01-02, inf] }}\n')
    outcome = run_plan(load_plan(folder / "plan.toml"))
    assert outcome.invalid == {}
    tried = json.loads(outcome.record.to_json())["sweeps"][0]["versions"]
    assert [version["parameters"] for version in tried] == [{"since": "2024-01-02"}, {"since": "inf"}]
    assert len(list((folder / ".rankgauge").rglob("*.jsonl"))) == 2  # of the sweep


def test_a_contract_is_named_by_its_own_key(folder: Path) -> None:
    (fault,) = faults(folder, f'contract = "zz"\n{HEAD}{READY}')
    assert fault.startswith("contract: ")


def test_a_budget_needs_the_texts(folder: Path) -> None:
    text = f'testset = "testset.json"\nmeasures = ["R(budget=100)"]\n{READY}'
    assert one(folder, text).startswith("measures: R(budget=100) needs the texts of the documents: corpus = ")
    assert faults(folder, f'corpus = "corpus.jsonl"\n{text}') == []


def test_names_of_systems_fit_into_names_of_files(folder: Path) -> None:
    for name, fits in (("长" * 76, True), ("长" * 77, False), ("x" * 300, False)):
        system = f'[[system]]\nname = "{name}"\nuse = "bm25"\n'
        found = "".join(faults(folder, HEAD + system))
        assert fits == (found == "")
        assert fits or "bytes, too many: it names files too, so 230 are the most" in found


@pytest.mark.needs("proc")
def test_a_folder_where_nothing_can_be_made(folder: Path) -> None:
    """Root may write everywhere, but not here."""
    fault = one(folder, f'{HEAD}[calls]\ncache = "/proc/answers"\n{READY}')
    assert "calls.cache: '/proc/answers' cannot be used" in fault


def test_bytes_that_are_no_text(folder: Path) -> None:
    (folder / "plan.toml").write_bytes('name = "你好"'.encode("gb18030"))
    with pytest.raises(FormatError, match="bytes that are not UTF-8; convert the file"):
        load_plan(folder / "plan.toml")


def test_a_large_grid_is_checked_value_by_value(folder: Path) -> None:
    """Not every combination, of which there are four million."""
    k1, b = [i / 1000 for i in range(2000)], [i / 2000 for i in range(2000)]
    text = HEAD + f'[[system]]\nuse = "bm25"\n[sweep]\nsystem = "bm25"\ntries = 3\ngrid = {{ k1 = {k1}, b = {b} }}\n'
    (folder / "plan.toml").write_text(text)
    began = time.perf_counter()
    tomllib.loads(text)
    reading = time.perf_counter() - began
    began = time.perf_counter()
    plan = load_plan(folder / "plan.toml")
    assert time.perf_counter() - began < 1 + 3 * reading
    began = time.perf_counter()
    assert len(settings_of(plan.sweep.grid, 3, 0)) == 3
    assert time.perf_counter() - began < 1
    found = faults(folder, text.replace("1.999]", '1.999, -1, "x"]').replace("0.9995]", "0.9995, 7]"))
    assert [fault.split(":")[0] for fault in found] == ["sweep.grid.k1", "sweep.grid.k1", "sweep.grid.b"]


def test_drawn_settings_are_those_of_all_combinations() -> None:
    grid = {"a": list(range(5)), "b": ["x", "y", "z"], "c": [None, True]}
    every = settings_of(grid)
    chosen = np.random.default_rng(4).choice(len(every), size=7, replace=False)
    assert settings_of(grid, 7, 4) == [every[i] for i in sorted(chosen.tolist())]
