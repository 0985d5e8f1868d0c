"""Runs in no order, put together by query on the disk: the same scores as in memory, to the last bit."""

from __future__ import annotations

import errno
import gzip
import json
import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from unittest import mock

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rankgauge import evaluate
from rankgauge.engine import spilling
from rankgauge.errors import RankgaugeError
from rankgauge.evaluation import Evaluation
from rankgauge.formats import datasets, json_parts, open_run, table_parts, trec
from tests.cli.command import run_command

MEASURES = ["nDCG@3", "AP", "RR", "R@2", "P@3", "NumRet", "Judged@2"]
Rows = list[tuple[str, str, float]]


def _trec(rows: Rows, path: Path) -> None:
    path.write_text("".join(f"{query} Q0 {doc} 1 {score!r} t\n" for query, doc, score in rows))


def _frame(rows: Rows) -> pl.DataFrame:
    return pl.DataFrame(rows, schema={"query_id": pl.String, "doc_id": pl.String, "score": pl.Float64}, orient="row")


def _lines(rows: Rows, path: Path) -> None:
    own = ({"query_id": query, "doc_id": doc, "score": score} for query, doc, score in rows)
    path.write_text("".join(json.dumps(row) + "\n" for row in own))


def _dataset(rows: Rows, path: Path) -> None:
    """Part files of different lengths, some of them empty, in folders that tell a column of no use."""
    for number, start in enumerate(range(0, len(rows) + 3, 3)):
        (path / f"date={number:02}").mkdir(parents=True)
        part = _frame(rows[start : start + 3])
        part.write_parquet(path / f"date={number:02}" / "part.parquet", row_group_size=2)


WRITERS: dict[str, Callable[[Rows, Path], None]] = {
    "run": _trec,
    "csv": lambda rows, path: _frame(rows).write_csv(path),
    "tsv": lambda rows, path: _frame(rows).write_csv(path, separator="\t"),
    "parquet": lambda rows, path: _frame(rows).write_parquet(path, row_group_size=3),
    "arrow": lambda rows, path: _frame(rows).write_ipc(path),
    "jsonl": _lines,
    "dataset": _dataset,
}


@contextmanager
def tiny_parts(size: int, rows: int) -> Iterator[None]:
    """Blocks of a few bytes, slices of a few rows, and few rows in memory at once."""
    with ExitStack() as stack:
        for module, name, value in (
            (trec, "_BLOCK", size),
            (table_parts, "_BLOCK", size),
            (json_parts, "_BLOCK", size),
            (table_parts, "_ROWS", rows),
            (spilling, "_ROWS", rows),
            (spilling, "_GATHERED", rows),
        ):
            stack.enter_context(mock.patch.object(module, name, value))
        yield


def outcome(score: Callable[[], Evaluation]) -> object:
    """All that an evaluation tells; of an error its kind."""
    try:
        found = score()
    except RankgaugeError as error:
        known = ("stands twice", "stands already", "no query in common")
        return next(("stands twice" if "stands" in text else text for text in known if text in str(error)), str(error))
    table = found.table
    # The example of ids that do not match is taken from the first part.
    coverage = {key: repr(value) for key, value in vars(table.coverage).items() if key != "id_mismatch"}
    return found.mean, table.values.tolist(), table.retrieved.tolist(), table.in_run.tolist(), coverage


IDS = st.sampled_from(["q1", "q2", "查询", "007", "7", "q-with-an-id-of-many-bytes", "é"])
DOCS = st.sampled_from([*"abcde", "文档", "a-document-with-a-long-id", "00"])
SCORES = st.sampled_from([0.0, -1.5, 1.0, 2.0, 1e-300, 16777217.0, 16777216.0])
GRADES = {"a": 1, "c": 2, "文档": 1, "a-document-with-a-long-id": 3, "e": 0}
JUDGED = dict.fromkeys(("q1", "q2", "查询", "7", "é"), GRADES)


@pytest.mark.parametrize("form", WRITERS)
@settings(max_examples=15, deadline=None)
@given(
    rows=st.lists(st.tuples(IDS, DOCS, SCORES), min_size=1, max_size=40),
    twice=st.booleans(),
    size=st.integers(20, 400),
    few=st.integers(1, 12),
    ties=st.sampled_from(["trec", "given", "expected", "stable"]),
    duplicates=st.sampled_from(["error", "first"]),
    packed=st.booleans(),
)
def test_scores_are_those_of_memory(
    form: str, rows: Rows, twice: bool, size: int, few: int, ties: str, duplicates: str, packed: bool
) -> None:
    if not twice:
        rows = list({(query, doc): (query, doc, score) for query, doc, score in rows}.values())
    choices = {"ties": ties, "duplicates": "error" if form == "jsonl" else duplicates}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"run.{form}"
        WRITERS[form](rows, path)
        if packed and path.is_file():
            path.write_bytes(gzip.compress(path.read_bytes()))
        expected = outcome(lambda: evaluate(JUDGED, _frame(rows), MEASURES, **choices))
        with tiny_parts(size, few):
            assert outcome(lambda: evaluate(JUDGED, path, MEASURES, stream=True, **choices)) == expected


@pytest.mark.needs("native")
@pytest.mark.parametrize("form", ["parquet", "arrow", "dataset"])
@pytest.mark.parametrize("ties", ["trec", "given", "expected", "stable"])
def test_what_the_compiled_module_can_hold_does_not_go_to_the_disk(form: str, ties: str, tmp_path: Path) -> None:
    rows = [(f"q{i % 7}", f"d{i}", float(i % 3)) for i in range(60)]
    judged = {f"q{i}": {f"d{i + 7 * j}": j % 3 for j in range(5)} for i in range(7)}
    WRITERS[form](rows, path := tmp_path / f"run.{form}")
    expected = outcome(lambda: evaluate(judged, _frame(rows), MEASURES, ties=ties))
    for fits, spilled in ((10**6, 0), (0, 1)):
        with ExitStack() as stack:
            for module in (table_parts, datasets):
                stack.enter_context(mock.patch.object(module, "LARGE_PACKED", 0))
                stack.enter_context(mock.patch.object(module, "FITS_MODULE", fits))
            spill = stack.enter_context(mock.patch.object(spilling, "by_query", wraps=spilling.by_query))
            assert outcome(lambda: evaluate(judged, path, MEASURES, ties=ties)) == expected
        assert spill.call_count == spilled


@given(
    rows=st.lists(st.tuples(IDS, st.integers(0, 9)), max_size=200),
    number=st.integers(1, 5),
    most=st.integers(1, 20),
    pieces=st.integers(1, 50),
)
@settings(max_examples=40, deadline=None)
def test_parts_are_whole_queries_in_their_order(
    rows: list[tuple[str, int]], number: int, most: int, pieces: int
) -> None:
    frame = pl.DataFrame(rows, schema={"query": pl.String, "doc": pl.Int64}, orient="row").with_row_index("row")
    with spilling.Spill(number, most) as spill:
        for start in range(0, len(frame), pieces):
            spill.add(frame.slice(start, pieces))
        spill.flush()
        parts = [part for own in range(number) for part in spill.part(own)]
    seen: list[str] = []
    for part in parts:
        seen += part["query"].unique(maintain_order=True).to_list()
        assert len(part) <= most or part["query"].n_unique() == 1
        grouped = part.filter(part["query"].ne_missing(part["query"].shift(1)))["query"]
        assert grouped.is_unique().all()
        for own in part.partition_by("query"):
            assert own["row"].is_sorted()
    assert len(seen) == len(set(seen))
    assert frame.equals(pl.concat([frame.head(0), *parts]).sort("row"))


@pytest.fixture
def mixed(tmp_path: Path) -> tuple[Path, Path]:
    """Judgments, and a run of two queries by turns."""
    (tmp_path / "qrels").write_text("q1 0 a 1\nq2 0 b 1\n")
    rows = [("q1", "a", 2.0), ("q2", "x", 3.0), ("q1", "b", 1.0), ("q2", "b", 1.0)]
    _trec(rows, tmp_path / "mixed.run")
    return tmp_path / "qrels", tmp_path / "mixed.run"


def test_nothing_is_left_in_the_folder(mixed: tuple[Path, Path], tmp_path: Path) -> None:
    """The file has no name from the beginning, so that not even `kill -9` leaves anything."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    seen = []

    def watched(self: spilling.Spill, part: int, frame: pl.DataFrame) -> None:
        seen.append(list(folder.iterdir()))
        written(self, part, frame)

    written = spilling.Spill._write
    with mock.patch.object(tempfile, "tempdir", str(folder)), mock.patch.object(spilling.Spill, "_write", watched):
        assert evaluate(*mixed, "AP", stream=True).mean["AP"] == 0.75
    assert seen
    assert not any(seen if os.name == "posix" else [])
    assert not list(folder.iterdir())


@pytest.mark.parametrize("stage", ["made", "written"])
def test_a_full_disk_is_told(mixed: tuple[Path, Path], stage: str) -> None:
    full = OSError(errno.ENOSPC, "No space left on device")
    if stage == "made":
        patch = mock.patch.object(tempfile, "TemporaryFile", side_effect=full)
    else:
        patch = mock.patch.object(spilling.Spill, "_write", side_effect=full)
    with patch:
        done = run_command("evaluate", *mixed, "--stream", status=2)
    assert "cannot take them: No space left on device; name a folder with room in the environment variable TMPDIR" in (
        done.stderr
    )


def test_documents_that_stand_twice_are_told_with_their_lines(mixed: tuple[Path, Path]) -> None:
    qrels, run = mixed
    run.write_text(run.read_text() + "q1 Q0 b 9 7 t\n")
    done = run_command("evaluate", qrels, run, "--stream", status=2)
    assert f"{run}:5: document 'b' of query 'q1' stands already on line 3" in done.stderr


def test_no_query_in_common_names_those_of_the_run(mixed: tuple[Path, Path], tmp_path: Path) -> None:
    _trec([("007", "a", 1.0), ("008", "a", 1.0), ("007", "b", 1.0)], mixed[1])
    mixed[0].write_text("7 0 a 1\n")
    done = run_command("evaluate", *mixed, "--stream", status=2)
    assert "the ids are the same numbers written differently" in done.stderr
    assert "Run: '007', '008'; judgments: '7'" in done.stderr


def test_large_runs_are_never_gathered(mixed: tuple[Path, Path]) -> None:
    """Beyond the bound no option is needed."""
    with (
        mock.patch("rankgauge.formats.sources.LARGE_TEXT", 10),
        mock.patch.object(spilling.Spill, "add", side_effect=OSError(errno.EIO, "used")),
    ):
        assert "used" in run_command("evaluate", *mixed, status=2).stderr
    assert run_command("evaluate", *mixed).status == 0


def test_what_is_done_is_told(mixed: tuple[Path, Path], tmp_path: Path) -> None:
    """Bytes of the files as they lie there, whatever their format, and then the parts that are scored."""
    rows = [(f"q{n % 7}", f"d{n}", float(n)) for n in range(40)]
    for form, write in WRITERS.items():
        path = tmp_path / f"told.{form}"
        write(rows, path)
        if form in ("run", "csv", "jsonl"):
            path.write_bytes(gzip.compress(path.read_bytes()))
        run = open_run(path, stream=True)
        told: list[tuple[str, int, int]] = []
        run.progress = lambda *step: told.append(step)  # noqa: B023
        with tiny_parts(100, 9):
            evaluate(JUDGED, run, "AP", stream=True)
        read = [(done, total) for what, done, total in told if what == "read"]
        scored = [(done, total) for what, done, total in told if what == "scored"]
        assert {total for _, total in read} == {run.size}
        assert read[-1] == (run.size, run.size)
        assert scored == [(done, len(scored) - 1) for done in range(len(scored))]
