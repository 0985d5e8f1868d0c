"""Runs and judgments in many files and in large ones: folders, patterns, URLs, columns in paths, and damaged parts."""

from __future__ import annotations

import gzip
import json
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest import mock

import polars as pl
import pytest

from rankgauge import evaluate
from rankgauge.errors import FormatError, MissingExtraError, RankgaugeError
from rankgauge.formats import load_qrels, load_run, open_run
from rankgauge.formats.copies import local_path
from rankgauge.formats.leftovers import temporary_prefix
from rankgauge.formats.sources import Source
from tests.cli.command import run_command

RUN = pl.DataFrame(
    [("q1", "a", 3.0), ("q2", "x", 2.5), ("q1", "b", 2.0), ("q2", "c", 1.0), ("q1", "c", 1.0), ("q3", "a", 1.0)],
    schema=["query_id", "doc_id", "score"],
    orient="row",
)
QRELS = {"q1": {"b": 1, "c": 2}, "q2": {"c": 1}, "q3": {"z": 1}}
MEASURES = ["nDCG@10", "AP", "RR"]
EXPECTED = evaluate(QRELS, RUN, MEASURES).mean


def scores(run: Any, **choices: Any) -> dict[str, float]:
    return dict(evaluate(QRELS, run, MEASURES, **choices).mean)


@pytest.fixture
def parts(tmp_path: Path) -> Path:
    """A folder as Spark writes it, partitioned by a column of no use."""
    folder = tmp_path / "bm25"
    for number in range(3):
        (folder / f"date=2024-01-0{number}").mkdir(parents=True)
        RUN.slice(2 * number, 2).write_parquet(folder / f"date=2024-01-0{number}" / "part-0.parquet")
    (folder / "_SUCCESS").touch()
    (folder / "_temporary").mkdir()
    (folder / "_temporary" / "part-0.parquet").write_bytes(b"half a file")
    (folder / "date=2024-01-00" / ".part-0.parquet.crc").write_bytes(b"crc")
    return folder


def test_a_folder_is_its_part_files(parts: Path) -> None:
    assert scores(parts) == scores(parts, stream=True) == EXPECTED
    assert load_run(parts).frame.rows() == RUN.rows()


def test_patterns_and_names_of_runs(parts: Path, tmp_path: Path) -> None:
    (tmp_path / "qrels.json").write_text(json.dumps(QRELS))
    for path, name in (
        (parts, "bm25"),
        (f"{parts}/*/*.parquet", "bm25"),
        (f"{parts}/date=*", "bm25"),
        (f"mine={parts}/date=*", "mine"),
        ((parts / "date=2024-01-00").as_uri(), "bm25"),
    ):
        done = run_command("evaluate", tmp_path / "qrels.json", path, "-m", "AP", "-f", "csv")
        assert done.stdout.splitlines()[1].startswith(f"{name},AP,")
    done = run_command("evaluate", tmp_path / "qrels.json", f"{parts}/*.csv", status=2)
    assert "no file matches this pattern" in done.stderr


def test_a_column_that_only_the_path_tells(tmp_path: Path) -> None:
    for (query,), rows in RUN.group_by("query_id"):
        folder = tmp_path / "run" / f"query_id={query}"
        folder.mkdir(parents=True)
        rows.drop("query_id").write_parquet(folder / "0.parquet")
    assert scores(tmp_path / "run") == EXPECTED
    nameless = tmp_path / "run" / "query_id=__HIVE_DEFAULT_PARTITION__"
    nameless.mkdir()
    RUN.drop("query_id").write_parquet(nameless / "0.parquet")
    with pytest.raises(FormatError, match=r"query_id=__HIVE_DEFAULT_PARTITION__.*6 faults(.|\n)*query id is missing"):
        scores(tmp_path / "run")


def test_a_column_of_the_file_goes_before_the_path(tmp_path: Path) -> None:
    (tmp_path / "topic=q9").mkdir()
    RUN.write_parquet(tmp_path / "topic=q9" / "0.parquet")
    assert scores(tmp_path) == EXPECTED


def test_parts_of_several_formats_and_packings(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    folder.mkdir()
    RUN.slice(0, 2).write_csv(folder / "0.csv")
    lines = "".join(f"{query} Q0 {doc} 1 {score} t\n" for query, doc, score in RUN.slice(2, 2).rows())
    (folder / "1.run.gz").write_bytes(gzip.compress(lines.encode()))
    RUN.slice(4).write_ndjson(folder / "2.jsonl")
    assert scores(folder) == EXPECTED


def test_judgments_in_many_files(tmp_path: Path) -> None:
    rows = [(query, doc, grade) for query, docs in QRELS.items() for doc, grade in docs.items()]
    frame = pl.DataFrame(rows, schema=["qid", "docno", "rel"], orient="row").with_columns(junk=pl.lit("x" * 100))
    folder = tmp_path / "judged"
    folder.mkdir()
    frame.slice(0, 1).write_parquet(folder / "0.parquet")
    frame.slice(1).write_ipc(folder / "1.arrow")
    assert load_qrels(folder).to_dict() == QRELS
    frame.slice(1, 1).with_columns(rel=pl.lit(7)).write_parquet(folder / "2.parquet")
    with pytest.raises(FormatError, match="document 'c' of query 'q1' has contradicting grades 2 and 7"):
        load_qrels(folder)


@pytest.mark.parametrize("ending", ["csv", "tsv", "jsonl", "parquet", "arrow"])
def test_documents_that_stand_twice_are_told_with_their_places(tmp_path: Path, ending: str) -> None:
    twice = pl.concat([RUN, RUN.slice(2, 1)])
    folder = tmp_path / "run"
    folder.mkdir()
    written = {tmp_path / "run": twice, folder / "0": RUN, folder / "1": twice.tail(1)}
    for path, rows in ((name.with_suffix(f".{ending}"), rows) for name, rows in written.items()):
        if ending in ("csv", "tsv"):
            rows.write_csv(path, separator="," if ending == "csv" else "\t")
        else:
            {"jsonl": rows.write_ndjson, "parquet": rows.write_parquet, "arrow": rows.write_ipc}[ending](path)
    told = "document 'b' of query 'q1' stands already"
    first, other, one = {
        "csv": ("on line 4", "8", "line 2"),
        "tsv": ("on line 4", "8", "line 2"),
        "jsonl": ("on line 3", "7", "line 1"),
    }.get(ending, ("in row 3", "row 7", "row 1"))
    binary = other.startswith("row")
    with pytest.raises(FormatError) as caught:
        scores(tmp_path / f"run.{ending}", stream=True)
    place = f"{tmp_path}/run.{ending}: {other}" if binary else f"{tmp_path}/run.{ending}:{other}"
    assert f"{place}: {told} {first}" in str(caught.value)
    with pytest.raises(FormatError) as caught:
        scores(folder)
    assert f"{folder}/1.{ending}: {one}: {told} {first} of {folder}/0.{ending}" in str(caught.value)


def test_a_part_that_is_damaged_is_named(parts: Path) -> None:
    path = parts / "date=2024-01-01" / "part-0.parquet"
    path.write_bytes(path.read_bytes()[:-20])
    for stream in (False, True):
        with pytest.raises(FormatError, match=r"date=2024-01-01.part-0.parquet: this is no readable PARQUET table"):
            scores(parts, stream=stream)


def test_a_part_of_other_columns_is_named(parts: Path) -> None:
    path = parts / "date=2024-01-02" / "part-0.parquet"
    RUN.rename({"doc_id": "colour"}).write_parquet(path)
    with pytest.raises(RankgaugeError, match=r"date=2024-01-02.part-0.parquet: no column for 'doc' among"):
        scores(parts)
    RUN.rename({"score": "rank"}).write_parquet(path)
    with pytest.raises(FormatError, match=r"02.part-0.parquet has ranks in the place of scores, .*00.part-0.parquet"):
        scores(parts)


def test_values_that_are_missing_are_told_with_their_rows(tmp_path: Path) -> None:
    bad = RUN.with_columns(
        score=pl.when(pl.col("doc_id") == "x").then(None).otherwise("score"),
        doc_id=pl.when(pl.col("score") == 3).then(pl.lit(" ")).otherwise("doc_id"),
    )
    bad.write_parquet(tmp_path / "run.parquet")
    bad.write_csv(tmp_path / "run.csv")
    for path, told in (("run.parquet", ("row 1:", "row 2:")), ("run.csv", ("line 2:", "line 3:"))):
        with mock.patch("rankgauge.formats.table_parts._ROWS", 1), pytest.raises(FormatError) as caught:
            scores(tmp_path / path, stream=True)
        assert f"{told[0]} the doc id is missing" in str(caught.value)
        assert f"{told[1]} the score None is no finite number" in str(caught.value)


def test_numbers_as_ids_are_those_of_memory(tmp_path: Path) -> None:
    """7.0 is 7 where all ids are whole, wherever the one is that is not."""
    for ids in ([7.0, 8.0, 9.0], [7.0, 8.0, 8.5]):
        frame = pl.DataFrame({"query": ids, "doc": [1, 2, 3], "score": [1.0, 1.0, 1.0]})
        for path in (tmp_path / "run.parquet", tmp_path / "run.arrow"):
            (frame.write_parquet if path.suffix == ".parquet" else frame.write_ipc)(path)
            with mock.patch("rankgauge.formats.table_parts._ROWS", 1):
                streamed = pl.concat(open_run(path, stream=True).parts())
            assert streamed.rows() == load_run(path).frame.rows()


def test_lines_within_quotes(tmp_path: Path) -> None:
    frame = RUN.with_columns(doc_id=pl.col("doc_id") + pl.lit('\n,"\n'))
    frame.write_csv(tmp_path / "run.csv")
    for size in range(1, 90, 7):
        with mock.patch("rankgauge.formats.table_parts._BLOCK", size):
            streamed = pl.concat(open_run(tmp_path / "run.csv", stream=True).parts())
        assert streamed.rows() == load_run(tmp_path / "run.csv").frame.rows() == frame.rows()
    (tmp_path / "run.csv").write_text('query,doc,score\nq1,a,1\nq1,"b,2\n' + "q1,c,1\n" * 100)
    limit = mock.patch("rankgauge.formats.table_parts._LONGEST", 300)
    with limit, pytest.raises(FormatError, match=r"run.csv:3: a quote that is opened here is not closed"):
        scores(tmp_path / "run.csv", stream=True)


def test_lines_of_json(tmp_path: Path) -> None:
    """Queries with results, rows and empty lists, in any order; a query may come back, and so may an empty list."""
    path = tmp_path / "run.jsonl"
    values = [
        {"query": "q2", "results": []},
        {"query": "q1", "results": [{"id": "a", "score": 3}, {"id": "b", "score": 2}]},
        {"query": "q2", "results": [["x", 2.5], ["c", 1]]},
        {"query": "q9", "results": []},
        {"query": "q9", "results": []},
        {"query_id": "q1", "doc_id": "c", "score": 1},
        {"query": "q3", "results": ["a"]},
    ]
    path.write_text("\n".join(json.dumps(value) for value in values))
    streamed = evaluate(QRELS, path, MEASURES, stream=True)
    assert dict(streamed.mean) == scores(path) == EXPECTED
    assert streamed.coverage.run_queries == evaluate(QRELS, path, MEASURES).coverage.run_queries == 4
    path.write_text('{"query": "q1", "results": []}\n')
    assert scores(path, stream=True) == scores(path) == dict.fromkeys(MEASURES, 0.0)
    path.write_text('{"query": "q1", "results": ["a"]}\n\n{"query": "q1"\n{"query": "q2", "results": ["a", "a"]}\n{}\n')
    with pytest.raises(FormatError) as caught:
        scores(path, stream=True)
    assert [fault.line for fault in caught.value.faults] == [3, 4, 5]
    assert "line 4: document 'a' stands twice in the list" in str(caught.value)


@pytest.mark.parametrize("name", ["run.json", "run.jsonl", "run.csv", "run.parquet", "run.arrow"])
def test_empty_files(tmp_path: Path, name: str) -> None:
    (tmp_path / name).touch()
    form = name.partition(".")[2]

    def read() -> None:
        list(open_run(tmp_path / name, form, stream=True).parts())

    with pytest.raises(FormatError, match=r"empty|JSON value is read at once"):
        read()


def test_what_cannot_be_streamed_is_refused(tmp_path: Path) -> None:
    (tmp_path / "qrels.json").write_text(json.dumps(QRELS))
    (tmp_path / "run.json").write_text(json.dumps(QRELS))
    done = run_command("evaluate", tmp_path / "qrels.json", tmp_path / "run.json", "--stream", status=2)
    assert "write JSON Lines (an object on each line), or leave out --stream" in done.stderr
    (tmp_path / "run.jsonl").write_text('{"query": "q1", "relevant_docs": ["a"]}\n')
    done = run_command("evaluate", tmp_path / "qrels.json", tmp_path / "run.jsonl", "--stream", status=2)
    assert "this is a test set, not a run" in done.stderr
    with pytest.raises(FormatError, match="a run in memory cannot be streamed"):
        scores(RUN, stream=True)


# On other machines


@pytest.fixture
def memory() -> Iterator[Any]:
    """A file system of fsspec that is in memory."""
    fsspec = pytest.importorskip("fsspec")
    system = fsspec.filesystem("memory")
    yield system
    system.store.clear()
    system.pseudo_dirs[:] = [""]


def test_urls(memory: Any, parts: Path, tmp_path: Path) -> None:
    memory.put(str(parts), "/bucket/bm25", recursive=True)
    (tmp_path / "run.jsonl.gz").write_bytes(gzip.compress(RUN.write_ndjson().encode()))
    memory.put(str(tmp_path / "run.jsonl.gz"), "/bucket/run.jsonl.gz")
    for url in ("bucket/bm25", "bucket/bm25/date=*/*.parquet", "bucket/b*", "bucket/run.jsonl.gz"):
        for stream in (False, True):
            assert scores(f"memory://{url}", stream=stream) == EXPECTED
    memory.pipe("/bucket/qrels.json", json.dumps(QRELS).encode())
    assert evaluate("memory://bucket/qrels.json", RUN, MEASURES).mean == EXPECTED
    done = run_command("evaluate", "memory://bucket/qrels.json", "memory://bucket/bm25/date=*", "-m", "AP", "-f", "csv")
    assert done.stdout.splitlines()[1].startswith("bm25,AP,")
    for url, told in (
        ("memory://bucket/nothing", "there is no such file"),
        ("memory://bucket/bm25/*.csv", "no file matches this pattern"),
        ("nowhere://bucket/run", "it cannot be read: Protocol not known: nowhere"),
    ):
        with pytest.raises(FormatError, match=told):
            scores(url)


def test_a_connection_that_fails_midway(memory: Any, parts: Path) -> None:
    """The file is named, whatever the library raises, and no copy stays."""
    fsspec = pytest.importorskip("fsspec")

    class Failing(fsspec.get_filesystem_class("memory")):  # type: ignore[misc]
        protocol = "failing"

        @classmethod
        def _strip_protocol(cls, path: str) -> str:
            return str(super()._strip_protocol(path.removeprefix("failing://")))

        def _open(self, path: str, *args: Any, **kwargs: Any) -> Any:
            file = super()._open(path, *args, **kwargs)
            if "date=2024-01-01" in path and os.path.basename(path) == "part-0.parquet":
                whole = file.read()
                file.seek(0)
                file.read = lambda n=-1: whole[:9] if n < 100_000 and not file.tell() else _fail()
            return file

    def _fail() -> bytes:
        raise TimeoutError("the connection was reset")

    fsspec.register_implementation("failing", Failing, clobber=True)
    memory.put(str(parts), "/bucket/bm25", recursive=True)
    before = set(os.listdir(tempfile.gettempdir()))
    with pytest.raises(FormatError, match=r"failing://.*01/part-0.parquet: it cannot be read: the connection"):
        scores("failing://bucket/bm25")
    after = set(os.listdir(tempfile.gettempdir()))
    assert not [name for name in after - before if name.startswith(temporary_prefix("rankgauge-part"))]


def test_urls_need_a_package() -> None:
    with mock.patch.dict("sys.modules", {"fsspec": None}), pytest.raises(MissingExtraError, match="pip install fsspec"):
        scores("s3://bucket/run.parquet")
    assert open_run(Path(__file__).as_uri()).name == __file__  # which needs none


def test_copies_of_killed_processes_are_removed(tmp_path: Path) -> None:
    """A copy that nobody has locked, old enough not to be of one that begins."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    left = folder / f"{temporary_prefix('rankgauge-part')}abcdefgh"
    left.write_bytes(b"half a file")
    os.utime(left, (0, 0))
    (tmp_path / "run.gz").write_bytes(gzip.compress(b"text"))
    with mock.patch.object(tempfile, "tempdir", str(folder)):
        with local_path(Source(tmp_path / "run.gz")) as path:
            assert Path(path).read_bytes() == b"text"
            assert not left.exists()
            if os.name == "posix":
                assert os.stat(path).st_mode & 0o077 == 0
        assert not list(folder.iterdir())
        full = mock.patch("rankgauge.formats.copies._write", side_effect=OSError(28, "No space left on device"))
        copy = local_path(Source(tmp_path / "run.gz"))
        with full, pytest.raises(FormatError, match=r"No space left on device(.|\n)*TMPDIR"):
            copy.__enter__()
        assert not list(folder.iterdir())


@pytest.mark.parametrize("name", ["run.arrows", "run.arrow", "run"])
def test_the_stream_format_of_arrow(tmp_path: Path, name: str) -> None:
    """Whatever it is called, in memory and part by part; cut short it is an error."""
    pytest.importorskip("pyarrow")
    path = tmp_path / name
    RUN.write_ipc_stream(path)
    assert scores(path) == scores(path, stream=True) == EXPECTED
    whole = path.read_bytes()
    for cut in (4, 40, len(whole) // 2):
        path.write_bytes(whole[:cut])
        for stream in (False, True):
            with pytest.raises(FormatError, match="this is no readable ARROW table"):
                scores(path, stream=stream)
