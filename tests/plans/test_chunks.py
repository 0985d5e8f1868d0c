"""Plans over chunks: rules for each system, several sweeps, sweeps over k and over the way documents are cut."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import rankgauge
from rankgauge.errors import FormatError
from rankgauge.plans.plan import load_plan
from rankgauge.plans.running import run_plan
from rankgauge.record import Record
from rankgauge.words import tell

pytest.importorskip("bm25s")
N = 12
WORDS = ["apple", "banana", "cherry", "damson", "elder", "fig", "grape", "hazel", "iris", "juniper", "kiwi", "lemon"]
SEARCH = '''
DOCS = %r
def number(query): return int(query.split()[-1])
def search(query, k):
    i = number(query)
    return [(f"d{i}#1", 2.0), (f"d{(i + 1) %% 12}#0", 1.0)][:k]
def rows(query, k):
    found = enumerate(search(query, k))
    return [{"id": f"x{place}-{own}", "score": score, "doc": own.split("#")[0]} for place, (own, score) in found]
def make(depth):
    return lambda query, k: [f"d{(number(query) + depth + i) %% 12}" for i in range(k)]
'''


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    docs = {
        f"d{i}": " ".join(f"This is sentence {n} about something." for n in range(8)) + f" The {WORDS[i]} is {i}."
        for i in range(N)
    }
    (tmp_path / "corpus.jsonl").write_text("".join(json.dumps({"_id": d, "text": t}) + "\n" for d, t in docs.items()))
    entries = [{"id": f"q{i}", "query": f"{WORDS[i]} {i}", "relevant_docs": [f"d{i}"]} for i in range(N)]
    (tmp_path / "questions.json").write_text(json.dumps(entries))
    name = f"chunk_search_{abs(hash(tmp_path))}"
    (tmp_path / f"{name}.py").write_text(SEARCH % docs)
    (tmp_path / "module").write_text(name)
    return tmp_path


def plan_of(folder: Path, rest: str) -> Path:
    text = 'testset = "questions.json"\ncorpus = "corpus.jsonl"\nmeasures = ["RR", "R@3"]\n' + rest
    path = folder / "plan.toml"
    path.write_text(text.replace("MODULE", (folder / "module").read_text()))
    return path


def test_each_system_says_what_its_chunks_are(folder: Path) -> None:
    parents = {f"d{i}#{n}": f"d{i}" for i in range(N) for n in range(3)}
    (folder / "parents.json").write_text(json.dumps(parents))
    outcome = run_plan(
        plan_of(
            folder,
            """
[[system]]
name = "regex"
use = "MODULE:search"
collapse_chunks = '^(.+)#\\d+$'
[[system]]
name = "file"
use = "MODULE:search"
collapse_chunks = "parents.json"
[[system]]
name = "field"
use = "MODULE:rows"
parent_field = "doc"
[[system]]
name = "plain"
use = "MODULE:search"
""",
        )
    )
    assert {live.name: live.mean["RR"] for live in outcome.evaluations} == {"regex": 1.0, "file": 1.0, "field": 1.0}
    assert list(outcome.invalid) == ["plain"]
    assert "`collapse_chunks='^(.+)#[0-9]+$'`" in tell(outcome.invalid["plain"], "en")
    contract = outcome.record.contract
    assert contract is not None
    assert contract.collapse == "regex: regex ^(.+)#\\d+$; file: chunks; field: field doc"
    assert Record.from_dict(outcome.record.to_dict()) == outcome.record


def test_several_sweeps_and_k(folder: Path) -> None:
    outcome = run_plan(
        plan_of(
            folder,
            """
[[system]]
name = "own"
factory = "MODULE:make"
parameters = { depth = 0 }
[[system]]
name = "bm25"
use = "bm25"
[[sweep]]
system = "own"
measure = "R@3"
grid = { k = [1, 2], depth = [0, 1] }
[[sweep]]
system = "bm25"
measure = "RR"
grid = { k1 = [0.5, 1.2] }
""",
        )
    )
    assert not outcome.invalid
    first, second = outcome.sweeps
    assert [(version.parameters, version.mean) for version in first.versions] == [
        ({"k": 1, "depth": 0}, 1.0),
        ({"k": 1, "depth": 1}, 0.0),
        ({"k": 2, "depth": 0}, 1.0),
        ({"k": 2, "depth": 1}, 0.0),
    ]
    assert {live.retrieval.k for live in first.evaluations} == {1, 2}
    assert second.result.system == "bm25"
    assert [sweep.system for sweep in outcome.record.sweeps] == ["own", "bm25"]
    assert outcome.sweep is first


def test_a_sweep_over_the_way_documents_are_cut(folder: Path) -> None:
    path = plan_of(
        folder,
        """
[calls]
cache = true
[[system]]
name = "bm25"
use = "bm25"
[sweep]
system = "bm25"
measure = "R"
folds = 2
chunk = { size = [40, 120], overlap = [0, 0.25], by = "sentences", budget = 240 }
[outputs]
table = "out.csv"
""",
    )
    outcome = run_plan(path)
    assert not outcome.invalid
    (sweep,) = outcome.record.sweeps
    assert sweep.budget == 240
    assert [version.parameters for version in sweep.versions] == [
        {"size": 40, "overlap": 0},
        {"size": 40, "overlap": 0.25},
        {"size": 120, "overlap": 0},
        {"size": 120, "overlap": 0.25},
    ]
    assert [point.budget for point in sweep.versions[0].curve] == [30, 60, 90, 120, 150, 180, 210, 240]
    assert sweep.comparison is not None
    assert len(sweep.comparison.rows) == 6 * 3
    assert {row.measure for row in sweep.comparison.rows} == {"R", "RR", "R@3"}
    assert Record.from_dict(outcome.record.to_dict()) == outcome.record
    again = run_plan(path)
    assert all(version.timed_before == N for version in again.record.sweeps[0].versions)
    assert [v.mean for v in again.record.sweeps[0].versions] == [v.mean for v in sweep.versions]
    for language, favoured in (("en", "favours small chunks"), ("zh", "偏向较小的分块")):
        shown = rankgauge.report(outcome.record, language=language, format="markdown")
        assert shown.count(favoured) == 1


@pytest.mark.parametrize(
    ("rest", "said"),
    [
        ("[[system]]\nuse = 'bm25'\ncollapse_chunks = '('", "collapse_chunks: `collapse_chunks='('` is no regular"),
        ("[[system]]\nuse = 'bm25'\ncollapse_chunks = 'no.json'", "there is no file 'no.json' beside the plan"),
        ("[[system]]\nuse = 'bm25'\nparent_field = 'a..b'", "parent_field: the path 'a..b'"),
        ("[[system]]\nuse = 'bm25'\nparent_field = 'a'\ncollapse_chunks = '(.+)#'", "keep one of them"),
        ("[[system]]\nuse = 'bm25'\n[sweep]\nsystem = 'bm25'\ngrid = { k = [0] }", "sweep.grid.k: k=0 must be"),
        ("[[system]]\nuse = 'bm25'\n[[sweep]]\nsystem = 'bm26'\ngrid = { k = [1] }", "sweep 1.system: 'bm26' is not"),
        ("[[system]]\nuse = 'bm25'\n[sweep]\nsystem = 'bm25'\nchunk = { size = [9], overlap = [9] }", "must be less"),
        (
            "[[system]]\nuse = 'bm25'\n[sweep]\nsystem = 'bm25'\nmeasure = 'CharR'\ngrid = { k = [5] }",
            "sweep.measure: CharR counts characters",
        ),
        (f"[[system]]\nuse = 'bm25'\nchunks = '{'é' * 400}'", "chunks: there is no file"),
        ("[[system]]\nuse = 'bm25'\n[outputs]\nrecord = \"\\u0000\"", "outputs.record: '\\x00' is no name"),
        ("[[system]]\nuse = 'bm25'\n[sweep]\nsystem = 'bm25'\nchunk = { overlap = 1 }", "sweep.chunk.size: missing"),
        ("[[system]]\nuse = 'bm25'\n[sweep]\nsystem = 'bm25'\nchunk = { size = [9], by = 'x' }", "by='x' must be"),
        ("[[system]]\nuse = 'bm25'\n[sweep]\nsystem = 'bm25'\nchunk = { size = 9, budget = 0 }", "budget=0 must be"),
        ("[[system]]\nuse = 'MODULE:search'\n[sweep]\nsystem = 'MODULE:search'\nchunk = { size = 9 }", "not built"),
    ],
)
def test_faults_are_named(folder: Path, rest: str, said: str) -> None:
    with pytest.raises(FormatError) as told:
        load_plan(plan_of(folder, rest))
    assert said in str(told.value)


def test_an_expression_longer_than_any_name_of_a_file(folder: Path) -> None:
    """It was looked for as a file, which the system refuses with an error of its own."""
    load_plan(plan_of(folder, f"[[system]]\nuse = 'bm25'\ncollapse_chunks = '^(.+)#{'é?' * 200}'"))
