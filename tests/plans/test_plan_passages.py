"""Plans whose labels are passages: chunks of each system, sweeps over them, and where chunks were lost."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import pytest

from rankgauge import (
    Query,
    Span,
    TestSet,
    chunk,
    evaluate,
    gate,
    load_chunks,
    load_plan,
    losses,
    run_plan,
    save_chunks,
    sweep,
)
from rankgauge.errors import DataError, FormatError, RankgaugeError, RetrieverError
from rankgauge.record import Record
from rankgauge.retrievers import BM25
from rankgauge.words import tell

pytest.importorskip("bm25s")
N = 12
WORDS = ["apple", "banana", "cherry", "damson", "elder", "fig", "grape", "hazel", "iris", "juniper", "kiwi", "lemon"]
DOCS = {f"d{i}": " ".join(f"Sentence {n} of {WORDS[(i + n) % N]} in text {i}." for n in range(12)) for i in range(N)}
SEARCH = """
from rankgauge import load_chunks
from rankgauge.retrievers import BM25
class Own:
    def __init__(self, path):
        self.chunks = load_chunks(path)
        self.inner = BM25(self.chunks.texts)
    def search(self, query, k):
        return self.inner.search(query, k)
class Halved:
    stage_names = ("candidates", "halved")
    fails = False
    def __init__(self, path):
        self.inner = BM25(load_chunks(path).texts)
    def stages(self, query, k):
        if self.fails:
            raise ConnectionError("gone")
        found = self.inner.search(query, 2 * k)
        yield "candidates", found
        yield "halved", found[::2]
    def search(self, query, k):
        return list(self.stages(query, k))[-1][1]
def documents(query, k):
    return ["d0", "d1"]
"""
HEAD = 'testset = "questions.json"\ncorpus = "corpus.jsonl"\nmeasures = [MEASURES]\n[calls]\nk = 6\ncache = false\n'


@pytest.fixture(scope="module")
def questions() -> TestSet:
    made = []
    for i in range(N):
        quoted = f"Sentence 3 of {WORDS[(i + 3) % N]} in text {i}. Sentence 4 of {WORDS[(i + 4) % N]} in text {i}."
        start = DOCS[f"d{i}"].index(quoted)
        span = Span(f"d{i}", start, start + len(quoted), quoted)
        made.append(Query(f"sentence {WORDS[(i + 3) % N]} text {i}", {f"d{i}": 1.0}, f"q{i}", spans=(span,)))
    return TestSet(made, name="questions")


@pytest.fixture
def folder(tmp_path: Path, questions: TestSet) -> Path:
    questions.save(tmp_path / "questions.json")
    (tmp_path / "corpus.jsonl").write_text("".join(json.dumps({"_id": d, "text": t}) + "\n" for d, t in DOCS.items()))
    save_chunks(chunk(DOCS, 60), tmp_path / "small.jsonl")
    save_chunks(chunk(DOCS, 150), tmp_path / "large.jsonl")
    name = f"passage_search_{abs(hash(tmp_path))}"
    (tmp_path / f"{name}.py").write_text(SEARCH)
    (tmp_path / "module").write_text(name)
    return tmp_path


def plan_of(folder: Path, rest: str, measures: str = '"R@3", "RR", "CharR@3"') -> Path:
    path = folder / "plan.toml"
    text = HEAD.replace("MEASURES", measures) + rest
    path.write_text(text.replace("MODULE", (folder / "module").read_text()).replace("FOLDER", str(folder)))
    return path


def test_each_system_has_its_chunks(folder: Path, questions: TestSet) -> None:
    """A built-in system searches the chunks; ids may tell places; a retriever may bring its chunks along."""
    ids = {f"{c.doc}-{c.start}-{c.end}": c.text for c in load_chunks(folder / "small.jsonl").values()}
    (folder / "by_id.jsonl").write_text("".join(json.dumps({"_id": d, "text": t}) + "\n" for d, t in ids.items()))
    outcome = run_plan(
        plan_of(
            folder,
            r"""
[[system]]
name = "small"
use = "bm25"
chunks = "small.jsonl"
[[system]]
name = "large"
use = "bm25"
chunks = "large.jsonl"
[[system]]
name = "brought"
factory = "MODULE:Own"
parameters = { path = "FOLDER/small.jsonl" }
[outputs]
record = "record.json"
""",
        )
    )
    assert not outcome.invalid
    for live, name in zip(outcome.evaluations, ("small", "large", "small"), strict=True):
        chunks = load_chunks(folder / f"{name}.jsonl")
        alone = evaluate(questions, live.retrieval.run, ["R@3", "RR", "CharR@3"], chunks=chunks)
        assert dict(live.mean) == dict(alone.mean)
        assert list(live.mean) == ["StRecall@3", "RR", "CharR@3"]
    record = outcome.record
    assert Record.from_dict(record.to_dict()) == record
    assert {row.measure for row in record.comparison.rows} == {"StRecall@3", "RR", "CharR@3"}  # type: ignore[union-attr]
    assert record.lists == {}  # each has judgments of its own
    alone = run_plan(plan_of(folder, '[[system]]\nname = "small"\nuse = "bm25"\nchunks = "small.jsonl"')).record
    listed = alone.lists["q0"]["small"]
    assert any(entry.grade for entry in listed)  # of chunks, not of documents
    assert alone.documents[listed[0].doc] in load_chunks(folder / "small.jsonl")[listed[0].doc].text
    (folder / "plan.toml").write_text(
        'testset = "questions.json"\ncorpus = "by_id.jsonl"\nmeasures = ["R@3"]\noverlap = 1.0\n'
        "[[system]]\nname = 'ids'\nuse = 'bm25'\nchunk_ids = '^(?P<doc>.+)-(?P<start>\\d+)-(?P<end>\\d+)$'\n"
    )
    (live,) = run_plan(folder / "plan.toml").evaluations
    strict = evaluate(
        questions,
        live.retrieval.run,
        "R@3",
        chunks=re.compile(r"^(?P<doc>.+)-(?P<start>\d+)-(?P<end>\d+)$"),
        overlap=1.0,
    )
    assert live.mean["StRecall@3"] == strict.mean["StRecall@3"]
    assert live.contract.overlap == 1.0


def test_sweeps_know_the_chunks(folder: Path, questions: TestSet) -> None:
    outcome = run_plan(
        plan_of(
            folder,
            """
[[system]]
name = "small"
use = "bm25"
chunks = "small.jsonl"
[[sweep]]
system = "small"
measure = "R@3"
grid = { k1 = [0.5, 1.2] }
[[sweep]]
system = "small"
measure = "R"
chunk = { size = [60, 150], budget = 300 }
""",
        )
    )
    plain, cut = outcome.sweeps
    small = load_chunks(folder / "small.jsonl")
    own = sweep(lambda k1: BM25(small.texts, k1=k1), {"k1": [0.5, 1.2]}, questions, measure="R@3", k=6, chunks=small)
    assert [version.mean for version in plain.versions] == [version.mean for version in own.versions]
    assert plain.result.measure == "StRecall@3"
    assert cut.result.measure == "StRecall"
    for version, size in zip(cut.versions, (60, 150), strict=True):
        chunks = chunk(DOCS, size)
        index = BM25(chunks.texts)
        wanted = []
        for query in questions:
            (span,) = query.spans
            room, found = 300, False
            for hit in index.search(query.text, len(chunks)):
                own_chunk = chunks[hit.id]
                room -= len(own_chunk.text)
                if room < 0:
                    break
                assert own_chunk.start is not None
                assert own_chunk.end is not None
                common = min(own_chunk.end, span.end or 0) - max(own_chunk.start, span.start or 0)
                inside = common == own_chunk.end - own_chunk.start
                if own_chunk.doc == span.doc and (inside or common >= 0.5 * len(span.text)):
                    found = True
            wanted.append(float(found))
        assert version.mean == pytest.approx(sum(wanted) / N)
        assert version.curve[-1].mean == pytest.approx(version.mean)


@pytest.mark.parametrize(
    ("rest", "said"),
    [
        ('[[system]]\nname = "a"\nuse = "bm25"\nchunks = "none.jsonl"', "chunks: there is no file 'none.jsonl'"),
        ('[[system]]\nname = "a"\nuse = "bm25"\nchunks = "places.jsonl"', "searches their texts, and 'd0#0' has none"),
        ('[[system]]\nname = "a"\nuse = "bm25"\nchunks = "broken.jsonl"', "system a: chunks: "),
        ('[[system]]\nname = "a"\nuse = "bm25"\nchunk_ids = "("', "chunk_ids: .*no regular expression"),
        ('[[system]]\nname = "a"\nuse = "bm25"\nchunk_ids = "(?P<doc>.)"', "no group named 'end', 'start'"),
        (
            '[[system]]\nname = "a"\nuse = "bm25"\nchunks = "small.jsonl"\ncollapse_chunks = "^(.+)#"',
            "collapse_chunks and chunks both say of which document",
        ),
        (
            '[[system]]\nname = "a"\nuse = "bm25"\nchunks = "small.jsonl"\n[[system]]\nname = "b"\nuse = "bm25"',
            "system b: labels are brought onto the chunks of 'a', so give it chunks",
        ),
        ('[[system]]\nname = "b"\nuse = "bm25"', "CharR@3 counts characters of chunks .* chunks of 'b'"),
    ],
)
def test_faults_are_found_before_a_call(folder: Path, rest: str, said: str) -> None:
    (folder / "places.jsonl").write_text('{"id": "d0#0", "doc": "d0", "start": 0, "end": 9}\n')
    (folder / "broken.jsonl").write_text('{"id": "d0#0"}\n')
    with pytest.raises(FormatError, match=said):
        load_plan(plan_of(folder, rest))


def test_an_overlap_is_a_share_and_of_chunks(folder: Path) -> None:
    path = plan_of(folder, '[[system]]\nname = "b"\nuse = "bm25"', '"R@3"')
    path.write_text("overlap = 0.4\n" + path.read_text())
    with pytest.raises(FormatError, match=r"overlap: it is the share .* no system has chunks"):
        load_plan(path)
    path.write_text(path.read_text().replace("overlap = 0.4", "overlap = 40"))
    with pytest.raises(FormatError, match=r"overlap: .*must be a share above 0 and at most 1"):
        load_plan(path)


def test_systems_of_documents_are_left_out_beside_those_of_chunks(folder: Path) -> None:
    outcome = run_plan(
        plan_of(
            folder,
            '[[system]]\nname = "a"\nuse = "bm25"\nchunks = "small.jsonl"\n'
            '[[system]]\nname = "b"\nuse = "MODULE:documents"',
            '"R@3"',
        )
    )
    assert list(outcome.invalid) == ["b"]
    assert "labels were brought onto the chunks of 'a'" in tell(outcome.invalid["b"], "en")


STAGED = """
[[system]]
name = "halved"
factory = "MODULE:Halved"
parameters = { path = "FOLDER/small.jsonl" }
"""


def test_losses_count_chunks_where_labels_are_passages(folder: Path) -> None:
    plan = plan_of(folder, STAGED + 'chunks = "small.jsonl"', '"R@3", "R(budget=25)"')
    outcome = run_plan(plan)
    (live,) = outcome.evaluations
    (found,) = outcome.record.losses
    assert found.budget == 25
    assert next(note.key for note in found.notes) == "losses.of_chunks"
    alone = losses(
        live.judged.to_dict(),
        {**live.stages, "halved": live.run},
        3,
        budget=25,
        corpus=load_chunks(folder / "small.jsonl").texts,
    ).result
    known = {place.key: place.documents for place in found.places}
    assert known == {place.key: n for place in alone.places if (n := place.documents) or place.kind != "corpus"}
    assert known["budget"] > 0
    assert known["stage:halved"] > 0


def test_losses_count_documents_where_chunks_are_merged(folder: Path, questions: TestSet) -> None:
    """With one document for each chunk that is retrieved, and the budget that of the chunks."""
    plan = plan_of(folder, STAGED + "collapse_chunks = '^(.+)#'", '"R@3", "R(budget=60)"')
    (folder / "corpus.jsonl").write_text(
        "".join(
            json.dumps({"_id": own, "text": one.text}) + "\n"
            for own, one in load_chunks(folder / "small.jsonl").items()
        )
    )
    outcome = run_plan(plan)
    (live,) = outcome.evaluations
    (found,) = outcome.record.losses
    assert found.documents == N
    assert found.place("found").documents > 0
    within = evaluate(
        questions,
        live.retrieval.run,
        "R(budget=60)",
        depth=None,
        collapse_chunks=r"^(.+)#",
        corpus=load_chunks(folder / "small.jsonl").texts,
    ).mean["R(budget=60)"]
    assert found.mean == pytest.approx(within)  # as the first three documents take more than that
    assert found.place("budget").documents > 0


def test_queries_whose_stages_are_unknown_are_left_out(folder: Path) -> None:
    plan = plan_of(folder, STAGED + "collapse_chunks = '^(.+)#'", '"R@3"')
    plan.write_text(plan.read_text().replace("cache = false", "cache = true"))
    first = run_plan(plan).record.losses[0]
    module = folder / f"{(folder / 'module').read_text()}.py"
    sys.modules[module.stem].Halved.fails = True  # type: ignore[attr-defined]
    (again,) = run_plan(plan).record.losses
    assert again.queries == 0
    assert again.documents == 0
    (note,) = [note for note in again.notes if note.key == "losses.unknown_stages"]
    assert note.parameters["n"] == N
    assert "ConnectionError: gone" in tell(note, "en")
    assert first.queries == N


def test_an_overlap_without_chunks_is_an_error(questions: TestSet) -> None:
    from rankgauge import evaluate_retriever, sweep_chunks

    with pytest.raises(RankgaugeError, match="give `chunks=` too"):
        evaluate_retriever(BM25(DOCS), questions, overlap=0.5)
    with pytest.raises(DataError, match="counts characters of chunks"):
        evaluate_retriever(BM25(DOCS), questions, measures="CharR@5")
    with pytest.raises(RetrieverError, match="names no chunks for 'V1'"):
        sweep(lambda b: BM25(DOCS, b=b), {"b": [0.5]}, questions, measure="R", chunks={"x": chunk(DOCS, 60)})
    plain = TestSet([Query("apple", {"d0": 1}, "q")])
    with pytest.raises(DataError, match="labels that are passages, and the test set has none"):
        sweep_chunks(DOCS, plain, sizes=[60], passage_overlap=0.5)


@pytest.mark.parametrize(
    ("target", "holds"), [("R@3 >= 0.5", True), ("StRecall@3 >= 1", False), ("recall@3 >= 1", False)]
)
def test_a_gate_finds_recall_of_passages_under_both_names(folder: Path, target: str, holds: bool) -> None:
    rest = f'[[system]]\nname = "small"\nuse = "bm25"\nchunks = "small.jsonl"\n[gate]\ntargets = ["{target}"]'
    plan = load_plan(plan_of(folder, rest, '"R@3"'))
    record = run_plan(plan).record
    assert bool(gate(record, rules=plan.gate).accepted) is holds
    assert record.measure_name("R@3") == "StRecall@3"
    with pytest.raises(FormatError, match="the plan has no measure 'nDCG@3'"):
        load_plan(plan_of(folder, rest.replace(target.split()[0], "nDCG@3"), '"R@3"'))
