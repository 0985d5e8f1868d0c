"""The compiled module against NumPy and polars: on any bytes the same arrays, or the same error."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rankgauge.engine import match_native as compiled
from rankgauge.engine.matching import match
from rankgauge.errors import RankgaugeError
from rankgauge.formats import open_run, trec_rows
from rankgauge.formats.sources import Source
from rankgauge.formats.trec import read_qrels
from rankgauge.formats.trec_rows import read_judgment_rows
from rankgauge.model.columns import check_mapping, is_plain
from rankgauge.model.contract import Contract
from rankgauge.model.judgments import Qrels
from rankgauge.model.run import Run
from rankgauge.native import rules as native_rules

pytestmark = pytest.mark.needs("native")
ARRAYS = (
    *("in_run", "retrieved", "starts", "above", "tied", "grades"),
    *("judged_starts", "judged_grades", "ties_met", "top"),
)


@contextlib.contextmanager
def parts_of(size: int) -> Iterator[None]:
    """Parts so small that lists, lines and letters lie across their bounds."""
    with pytest.MonkeyPatch.context() as patch:
        for reader in (compiled.match_native, read_judgment_rows):
            patch.setitem(reader.__kwdefaults__, "part", size)
        patch.setattr(trec_rows, "threads", lambda: 3)  # judgments have as many parts as threads at most
        yield


Inputs = Callable[[], tuple[Any, Any]]


def outcome(inputs: Inputs, contract: Contract) -> Any:
    """What comes of matching: arrays, or an error in words."""
    try:
        found = match(*inputs(), contract)
    except RankgaugeError as error:
        return str(error)
    ranked = found.ranked
    if contract.ties == "expected":  # documents that stay tied are in no order
        owner = np.repeat(np.arange(len(ranked)), np.diff(ranked.starts))
        ranked = replace(ranked, grades=ranked.grades[np.lexsort((ranked.grades, ranked.above, owner))])
    return {
        "queries": list(ranked.queries),
        "run_queries": found.run_queries,
        "example": found.example_ids,
        **{name: getattr(ranked, name) for name in ARRAYS},
    }


def assert_same(folder: Path, qrels: bytes, run: bytes, contract: Contract, part: int) -> None:
    (folder / "q").write_bytes(qrels)
    (folder / "r").write_bytes(run)
    with parts_of(part):
        assert_both(lambda: (read_qrels(Source(folder / "q")), open_run(folder / "r", "trec")), contract)


def assert_both(inputs: Inputs, contract: Contract) -> None:
    """The same with the module and without it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RANKGAUGE_NATIVE", "0")
        expected = outcome(inputs, contract)
    found = outcome(inputs, contract)
    if isinstance(expected, str) or isinstance(found, str):
        assert found == expected
        return
    for name, value in expected.items():
        if name in ARRAYS and value is not None and found[name] is not None:
            np.testing.assert_array_equal(found[name], value, err_msg=name)
        elif name != "top":
            assert found[name] == value, name


blanks = st.sampled_from([" ", " ", " ", "  ", "\t", " \t "])
# Two pairs that are other ids under one key: padding counts as zeros, and the second pair was made to collide.
COLLIDING = ("1", "1\0", "o83ltfhp65oxy40x", "jcmly2jofx94pmbk")
ids = st.sampled_from([*COLLIDING, "2", "10", "q3", "ü", "文档", "a" * 7, "a" * 8, "a" * 9, "b" * 40, "#5", "-0"])
numbers = st.one_of(
    st.sampled_from(
        [
            *("1", "0", "2", "-1", "3.5", "+2", ".5", "5.", "-0", "-.0", "1e3", "1E-3", "0.1", "0.30000000000000004"),
            *("16777217", "16777216", "1.00000001", "1.00000002", "123456789012345", "1234567890123456"),
            *("0.1234567890123456789", "1e308", "-1e308", "1e309", "1e-320", "nan", "inf"),
            *("1e", "e1", ".", "-", "--1", "1_0", "0x1"),
        ]
    ),
    st.floats(allow_nan=False, allow_infinity=False).map(repr),
    st.integers(-3, 3).map(str),
)
ends = st.sampled_from(["\n", "\n", "\n", "\r\n", "\n\n", "\n# a note\n", " \n", "\r"])


@st.composite
def lines(draw: st.DrawFn, fields: int, number_at: int) -> str:
    text = []
    for _ in range(draw(st.integers(0, 12))):
        query, doc, number = draw(ids), draw(ids), draw(numbers)
        width = draw(st.sampled_from([fields] * 12 + [fields - 1, fields + 1]))
        row = [query, "0", doc, "1", "x", "tag"][:width] + ["more"] * max(0, width - 6)
        if number_at < width:
            row[number_at] = number
        text.append(draw(blanks).join(row) + draw(ends))
    return "".join(text)


@st.composite
def damaged(draw: st.DrawFn, text: st.SearchStrategy[str]) -> bytes:
    data = draw(text).encode()
    if data and draw(st.integers(0, 4)) == 0:
        place = draw(st.integers(0, len(data) - 1))
        data = data[:place] + draw(st.binary(max_size=3)) + data[place + draw(st.integers(0, 2)) :]
    return draw(st.sampled_from([b"", b"", b"\xef\xbb\xbf"])) + data


contracts = st.builds(
    Contract,
    ties=st.sampled_from(["trec", "given", "expected", "stable"]),
    scores=st.sampled_from(["float64", "float32"]),
)


sizes = st.sampled_from([1, 7, 16, 40, 61, 200, 1 << 20])


@given(qrels=damaged(lines(4, 3)), run=damaged(lines(6, 4)), contract=contracts, part=sizes)
@settings(max_examples=400, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_any_bytes(
    tmp_path_factory: pytest.TempPathFactory, qrels: bytes, run: bytes, contract: Contract, part: int
) -> None:
    assert_same(tmp_path_factory.getbasetemp(), qrels, run, contract, part)


@st.composite
def grouped(draw: st.DrawFn, number: st.SearchStrategy[str], *, run: bool) -> bytes:
    """Lists as files hold them: whole, each document once."""
    text = []
    for query in draw(st.lists(ids, unique=True, max_size=6)):
        for doc in draw(st.lists(ids, unique=True, min_size=1, max_size=8)):
            text.append(f"{query} Q0 {doc} 1 {draw(number)} tag" if run else f"{query} 0 {doc} {draw(number)}")
    return "\n".join([*text, ""]).encode()


@given(
    qrels=grouped(st.integers(-1, 3).map(str), run=False),
    run=grouped(st.sampled_from(["1", "2", "2.0", "1.00000001", "1.00000002", "-3", "7e-1"]), run=True),
    contract=contracts,
    part=sizes,
)
@settings(max_examples=300, deadline=None)
def test_lists_with_ties(
    tmp_path_factory: pytest.TempPathFactory, qrels: bytes, run: bytes, contract: Contract, part: int
) -> None:
    assert_same(tmp_path_factory.getbasetemp(), qrels, run, contract, part)


LONG = COLLIDING[2:]


@pytest.mark.parametrize("other", ["x", *LONG])
@pytest.mark.parametrize("judged", [LONG, LONG[::-1], LONG[:1], LONG[1:], ("x",)])
@pytest.mark.parametrize("native", ["0", "1"])
def test_two_ids_under_one_key(
    tmp_path: Path, judged: tuple[str, ...], other: str, native: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As queries and as documents they stay two, with the module and without it."""
    monkeypatch.setenv("RANKGAUGE_NATIVE", native)
    qrels = {query: dict.fromkeys(judged, 1) for query in judged}
    run = {query: {doc: 2.0 - i for i, doc in enumerate((other, LONG[1]))} for query in ("x", *LONG)}
    lines = [f"{query} 0 {doc} {grade}\n" for query, docs in qrels.items() for doc, grade in docs.items()]
    (tmp_path / "q").write_text("".join(lines))
    lines = [f"{query} Q0 {doc} 1 {score} t\n" for query, docs in run.items() for doc, score in docs.items()]
    (tmp_path / "r").write_text("".join(lines))
    found = outcome(lambda: (read_qrels(Source(tmp_path / "q")), open_run(tmp_path / "r")), Contract())
    expected = outcome(lambda: (Qrels(qrels), Run(run)), Contract())
    assert isinstance(found, str) == isinstance(expected, str)
    if not isinstance(expected, str):
        assert (found["queries"], found["run_queries"]) == (expected["queries"], expected["run_queries"])
        for name in ("in_run", "retrieved", "starts", "above", "grades"):
            np.testing.assert_array_equal(found[name], expected[name], err_msg=name)


@pytest.mark.parametrize("odd", ["", "abc 1 e 0\n", "abc  0 f 1\n"], ids=["plain", "subtopic", "two blanks"])
@pytest.mark.parametrize("native", ["0", "1"])
def test_a_second_byte_order_mark_is_part_of_the_id(
    tmp_path: Path, odd: str, native: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever reads the file: polars would take one away too."""
    monkeypatch.setenv("RANKGAUGE_NATIVE", native)
    (tmp_path / "q").write_text("\ufeff\ufeffz 0 d 1\nabc 0 d 1\n" + odd)
    (tmp_path / "r").write_text("z Q0 d 1 1 t\nabc Q0 d 1 1 t\n")
    found = outcome(lambda: (read_qrels(Source(tmp_path / "q")), open_run(tmp_path / "r")), Contract())
    assert found["queries"] == ["\ufeffz", "abc"]
    assert found["in_run"].tolist() == [False, True]


@given(number=numbers)
@settings(max_examples=300, deadline=None)
def test_numbers_are_pythons(tmp_path_factory: pytest.TempPathFactory, number: str) -> None:
    """To the last bit, whatever their form."""
    path = tmp_path_factory.getbasetemp() / "n"
    path.write_text(f"q 0 d {number}\n")
    text = path.read_bytes() + bytes(16)
    from rankgauge.native import native

    module = native()
    assert module is not None
    found = module.read_judgments(text, 0, len(text) - 16, 1, 1)
    if found is not None:
        value = np.frombuffer(found[6])[0]
        assert value.tobytes() == np.float64(float(number)).tobytes()
        assert "_" not in number


@pytest.mark.parametrize("part", [1 << 10, 1 << 14, 1 << 22])
@pytest.mark.parametrize("ties", ["trec", "expected"])
def test_long_lists(tmp_path: Path, part: int, ties: Any) -> None:
    """Lists much longer than a part, and threads at work on both sides of it."""
    rng = np.random.default_rng(3)
    run, qrels = [], []
    for query in range(12):
        docs = rng.permutation(4000)[: rng.integers(1, 3000)]
        run += [f"q{query} Q0 doc{doc} 1 {rng.integers(0, 500)} t" for doc in docs]
        qrels += [f"q{query} 0 doc{doc} {rng.integers(0, 3)}" for doc in rng.permutation(4000)[:50]]
    text = "\n".join(qrels).encode(), "\n".join(run).encode()
    assert_same(tmp_path, *text, Contract(ties=ties), part)


@pytest.mark.parametrize("name", ["dl19/dl19.BM25.run", "dl19/dl19.SPLADE_P_P_ENSEMBLE_DISTIL.run"])
def test_real_runs(data: Path, name: str) -> None:
    run, qrels = data / name, data / "dl19" / "qrels.txt"
    module_rows = read_judgment_rows(Source(qrels))
    assert compiled.match_native(module_rows, Source(run), Contract()) is not None, "it is of the plain kind"


def test_it_is_taken_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Else the tests above would compare NumPy with itself."""
    (tmp_path / "q").write_text("q 0 d 1\n")
    (tmp_path / "r").write_text("q Q0 d 1 2.0 t\n")
    rows = read_judgment_rows(Source(tmp_path / "q"))
    found = compiled.match_native(rows, Source(tmp_path / "r"), Contract())
    assert found is not None
    assert (found.run_queries, found.first_queries, found.ranked.above.tolist()) == (1, ["q"], [0])
    monkeypatch.setenv("RANKGAUGE_NATIVE", "0")
    assert compiled.match_native(rows, Source(tmp_path / "r"), Contract()) is None


def test_wrong_arguments_are_errors() -> None:
    from rankgauge.native import native

    module = native()
    assert module is not None
    with pytest.raises(ValueError, match="padding"):
        module.read_judgments(b"q 0 d 1\n", 0, 8, 1, 1)
    with pytest.raises(ValueError, match="part"):
        module.read_judgments(bytes(24), 0, 8, 1, 0)
    with pytest.raises(TypeError):
        module.read_judgments("text", 0, 1, 1, 1)
    column = np.zeros(1, dtype=np.int64)
    for wrong in (np.full(1, 99), np.full(1, -1), np.zeros(2, dtype=np.int64)):
        columns = [column, wrong, column.view(np.uint64), column, column, column.view(np.uint64)]
        with pytest.raises(ValueError, match="do not fit"):
            module.match_run(bytes(16), *columns, b"/nowhere", 0, 0, 0, False, 1, 1)
    assert module.match_run(bytes(16), *[column.copy()] * 6, b"/nowhere", 0, 9, 0, False, 1, 1) is None
    with pytest.raises(ValueError, match="type"):
        module.match_dictionaries({}, {}, 0, False, int)
    with pytest.raises(ValueError, match="ties"):
        module.match_dictionaries({}, {}, 4, False, float)
    with pytest.raises(ValueError, match="PyCapsule"):
        module.match_frame(*[1] * 6, 0, False, 1)


class Text(str):
    """Equal to a text, but none: its methods could do anything."""


class Table(dict[str, float]):
    """A dictionary whose methods could do anything."""


scores = st.one_of(
    st.sampled_from([0.0, -0.0, 1.0, 1, 2, True, 16777216.0, 16777217.0, 1.00000001, 1e308, -1e39, 5e-324, 10**400]),
    st.sampled_from([np.float64(1.0), np.float32(1.5), np.int64(2), Fraction(1, 3), math.nan, math.inf, "1", None]),
    st.floats(allow_nan=False, allow_infinity=False),
    st.integers(-3, 3),
    st.integers(-3, 3).map(float),
)
small = st.integers(-2, 3)
plain_scores = st.one_of(small.map(float), small, st.sampled_from([1.00000001, 1.00000002, -0.0]))
names = st.one_of(ids, ids, ids, st.sampled_from(["", Text("1"), "\ud800", "\U0001f600", "\uffff", "a\0b", "x" * 300]))


def tables(names: st.SearchStrategy[str], numbers: st.SearchStrategy[Any], most: int = 8) -> st.SearchStrategy[Any]:
    lists = st.dictionaries(names, numbers, max_size=most)
    return st.dictionaries(names, lists, min_size=1, max_size=5)


@given(
    qrels=st.one_of(tables(ids, st.integers(-1, 3)), tables(names, scores)),
    run=st.one_of(tables(ids, plain_scores, 12), tables(names, scores)),
    odd=st.sampled_from([dict, dict, dict, Table]),
    contract=contracts,
)
@settings(max_examples=500, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_any_dictionaries(qrels: Any, run: Any, odd: type[dict[str, float]], contract: Contract) -> None:
    run = {query: odd(docs) for query, docs in run.items()}
    assert_both(lambda: (Qrels(qrels), Run(run)), contract)


@given(
    mapping=tables(st.one_of(ids, st.integers(0, 3), st.just(Text("1"))), scores),
    odd=st.sampled_from([dict, Table]),
)
@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_what_is_plain_is_taken_as_it_is(mapping: Any, odd: type[dict[str, float]]) -> None:
    mapping = {query: odd(docs) for query, docs in mapping.items()}
    if is_plain(mapping):
        assert odd is dict
        assert check_mapping(mapping, "run", "score") is mapping
    else:
        first = [next(iter(docs), "") for docs in mapping.values()]
        assert odd is Table or {*map(type, mapping), *map(type, first)} != {str}


@given(
    qrels=tables(ids, st.integers(-1, 3)),
    run=tables(ids, plain_scores, 12),
    contract=contracts,
    seed=st.randoms(),
    data=st.data(),
)
@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_any_frames(qrels: Any, run: Any, contract: Contract, seed: Any, data: st.DataObject) -> None:
    """Rows in any order, in any pieces, now and then one of them twice."""
    judged = [(query, doc, float(grade)) for query, docs in qrels.items() for doc, grade in docs.items()]
    rows = [(query, doc, float(score)) for query, docs in run.items() for doc, score in docs.items()]
    seed.shuffle(judged)
    seed.shuffle(rows)
    rows += rows[: data.draw(st.sampled_from([0, 0, 0, 1]))]
    if not judged or not rows:
        return
    cut = data.draw(st.integers(0, len(rows)))

    def frame(part: list[Any], number: str) -> pl.DataFrame:
        return pl.DataFrame(part, schema={"query": pl.String, "doc": pl.String, number: pl.Float64}, orient="row")

    def inputs() -> tuple[Any, Any]:
        pieces = pl.concat([frame(rows[:cut], "score"), frame(rows[cut:], "score")], rechunk=False)
        scores = pieces["score"].rechunk()  # pieces of its own
        return Qrels(frame(judged, "grade")), Run(pieces.with_columns(scores))

    assert_both(inputs, contract)


def test_many_shuffled_rows() -> None:
    """More rows than one thread takes, ids that are long and ids that are short."""
    rng = np.random.default_rng(4)
    query = rng.integers(0, 300, 60_000)
    doc = rng.permutation(60_000)
    frame = pl.DataFrame({"query": query, "doc": doc, "score": rng.integers(0, 40, 60_000).astype(float)})
    short = pl.col("doc").cast(pl.String)
    long = short + pl.lit("-of-a-long-name")
    named = pl.when(pl.col("doc") % 2 == 0).then(long).otherwise(short)
    frame = frame.with_columns(pl.col("query").cast(pl.String), named)
    judged = frame.sample(2_000, seed=1).select("query", "doc", pl.lit(1.0).alias("grade"))
    for ties in ("trec", "given", "stable"):
        assert_both(lambda: (Qrels(judged), Run(frame)), Contract(ties=ties))


@pytest.mark.parametrize("ties", ["trec", "given", "expected", "stable"])
def test_a_key_that_changes_its_dictionary(ties: Any) -> None:
    """Looking up may run any code; whatever it does, nothing is read that is gone."""
    lists: dict[Any, Any] = {"d1": 1.0, "d2": 1.0}
    judged: dict[Any, Any] = {"d1": 1, "d2": 0, "d3": 1}

    class Hostile:
        def __hash__(self) -> int:
            return hash("d3")

        def __eq__(self, other: object) -> bool:
            lists.clear()
            judged.clear()
            judged.update({f"new {i}": 1.0 for i in range(1000)})
            return False

    lists[Hostile()] = 1.0
    from rankgauge.native import native

    module = native()
    assert module is not None
    qrels = {"q": judged, "p": {"d1": 1}}
    found = module.match_dictionaries(qrels, {"q": lists}, *native_rules(ties, single=False), np.float64)
    assert found is None or isinstance(found, tuple)


def test_dictionaries_and_frames_are_taken_up(monkeypatch: pytest.MonkeyPatch) -> None:
    qrels, run = Qrels({"q": {"d": 1}}), Run({"q": {"d": 1.0}})
    columns = {"query": ["q"], "doc": ["d"]}
    framed = Qrels(pl.DataFrame({**columns, "grade": [1.0]})), Run(pl.DataFrame({**columns, "score": [1.0]}))
    assert compiled.match_native_mappings(qrels, run, Contract()) is not None
    assert compiled.match_native_frames(*framed, Contract()) is not None
    monkeypatch.setenv("RANKGAUGE_NATIVE", "0")
    assert compiled.match_native_mappings(qrels, run, Contract()) is None
    assert compiled.match_native_frames(*framed, Contract()) is None
