"""Files that unpack to more than they seem are named and refused, in processes with little memory; or allowed."""

from __future__ import annotations

import gzip
import io
import os
import resource
import sqlite3
import subprocess
import sys
import tarfile
import threading
import zipfile
import zlib
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from rankgauge.errors import DataError, FormatError
from rankgauge.formats import load_run
from rankgauge.formats.limits import PARTS, RECORDS, VARIABLE, size_of, written
from rankgauge.formats.parquet import DamagedError, headers_of
from rankgauge.formats.sources import Source, write_whole
from rankgauge.formats.tables import read_table
from rankgauge.history.store import History
from rankgauge.record import Record
from tests.cli.command import Done, run_command
from tests.history.records import make_record

QRELS = "q1 0 d1 1\nq1 0 d2 0\nq2 0 d1 2\n"
RUN = "q1 Q0 d1 1 2.5 t\nq1 Q0 d2 2 1.5 t\nq2 Q0 d3 1 9 t\nq2 Q0 d1 2 8 t\n"
HEAD = b'{"format": "rankgauge.record", "version": 2, "junk": ['


@pytest.fixture(autouse=True)
def _default_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)


@pytest.fixture
def qrels(tmp_path: Path) -> Path:
    path = tmp_path / "judgments.qrels"
    path.write_text(QRELS)
    return path


def capped(*arguments: object, megabytes: int = 1000, stdin: bytes = b"") -> Done:
    """The command in a process that may have so much memory, so that a failure is no dead machine."""

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (megabytes << 20, megabytes << 20))

    done = subprocess.run(
        [sys.executable, "-m", "rankgauge", *map(str, arguments)],
        input=stdin,
        capture_output=True,
        timeout=60,
        check=False,
        preexec_fn=limit,
        env={"PATH": "/usr/bin:/bin", "OPENBLAS_NUM_THREADS": "1", "POLARS_MAX_THREADS": "1"},
    )
    made = Done(done.returncode, done.stdout.decode(), done.stderr.decode())
    assert "Traceback" not in made.stderr
    return made


def bomb(block: bytes, times: int, begin: bytes = b"", end: bytes = b"") -> bytes:
    """Gzip of a block repeated, made in no time: the members of a gzip file follow one another."""
    return gzip.compress(begin) + gzip.compress(block * (10_000_000 // len(block))) * times + gzip.compress(end)


@pytest.fixture(scope="module")
def record_bomb(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """3 MB that hold 3 GB."""
    path = tmp_path_factory.mktemp("bomb") / "record.json.gz"
    path.write_bytes(bomb(b"[],", 300, HEAD, b"[]]}"))
    assert 2_500_000 < path.stat().st_size < 3_500_000
    return path


def _renamed(path: Path) -> Path:
    lines = path.with_name("record.json.gz.jsonl.gz")
    if not lines.exists():
        lines.hardlink_to(path)
    return lines


COMMANDS: dict[str, Callable[[Path, Path], list[object]]] = {
    "report": lambda bomb, other: ["report", bomb],
    "gate": lambda bomb, other: ["gate", bomb, "--target", "AP >= 0.5"],
    "baseline": lambda bomb, other: ["gate", other, "--baseline", bomb],
    "history": lambda bomb, other: ["history", "add", bomb, "--history", other.parent / "history.db"],
    "history-lines": lambda bomb, other: ["history", "add", _renamed(bomb), "--history", other.parent / "history.db"],
    "verify": lambda bomb, other: ["verify", bomb],
    "compare": lambda bomb, other: ["compare-scores", bomb],
}


@pytest.mark.parametrize("command", COMMANDS)
def test_a_record_of_3_mb_does_not_fill_the_memory(record_bomb: Path, tmp_path: Path, command: str) -> None:
    record = tmp_path / "good.json"
    make_record().save(record)
    done = capped(*COMMANDS[command](record_bomb, record))
    assert done.status == 2
    assert f"{record_bomb}" in done.stderr
    assert ": its " in done.stderr
    assert "unpack to more than 64 MB; if that is right, allow it with RANKGAUGE_MAX_SIZE=256MB" in done.stderr
    assert "rankgauge --max-size 256MB" in done.stderr


def test_a_record_of_many_parts_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "record.json"
    path.write_bytes(HEAD + b"[]," * 5_000_000 + b"[]]}")
    done = capped("report", path, megabytes=500)
    assert (done.status, done.stderr) == (
        2,
        f"rankgauge: {path}: it holds more than 4000000 lists and objects, as no record does\n",
    )


def test_a_record_is_bounded_though_not_compressed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "record.json"
    make_record().save(path)
    monkeypatch.setenv(VARIABLE, "1kB")
    with pytest.raises(FormatError, match=r"record.json: it has more than 1 kB; .* RANKGAUGE_MAX_SIZE=4kB"):
        Record.load(path)
    monkeypatch.setenv(VARIABLE, "1MB")
    assert Record.load(path) == make_record()


@pytest.mark.parametrize("opening", ["[", '{"a":'])
def test_a_record_nested_deeply_is_told(tmp_path: Path, opening: str) -> None:
    closing = "]" if opening == "[" else "}"
    path = tmp_path / "record.json"
    for depth in (400, 900, 20_000):
        nested = opening * depth + "1" + closing * depth
        path.write_text(f'{{"format": "rankgauge.record", "version": 2, "comparison": {nested}}}')
        assert "record" in run_command("report", path, status=2).stderr


def test_numbers_beyond_all_bounds_are_told(tmp_path: Path) -> None:
    path = tmp_path / "record.json"
    make_record().save(path)
    text = path.read_text()
    for number in ("1e999999", "1" * 5000, "1" * 3_000_000, "-1e400", "1e-999999999"):
        path.write_text(text.replace('"value": 0.', f'"value": {number}, "other": 0.', 1))
        assert "record.json" in capped("report", path).stderr


def test_a_blob_of_the_history_is_bounded(tmp_path: Path) -> None:
    place = tmp_path / "history.db"
    with History.open(place) as history:
        stored = history.add(make_record())
        history.add(make_record(1))
    blob = zlib.compress(HEAD + b"[]," * 12_000_000 + b"[]]}", 1)
    with sqlite3.connect(place) as database:
        database.execute("UPDATE records SET document = ? WHERE id = ?", (blob, stored.id))
    database.close()
    for command in (("show", 1), ("diff", 1, 2), ("export", "--all", "-o", tmp_path / "out.jsonl")):
        done = capped("history", *command, "--history", place, megabytes=600)
        assert done.status == 2
        assert "record 1: its " in done.stderr
        assert "unpack to more than 32 MB; if that is right, allow it with" in done.stderr
    assert not (tmp_path / "out.jsonl").exists()
    assert capped("history", "show", 2, "--history", place).status == 0


def test_a_damaged_blob_is_still_told(tmp_path: Path) -> None:
    place = tmp_path / "history.db"
    with History.open(place) as history:
        stored = history.add(make_record())
        for change in (lambda data: data[:-10], lambda data: b"nothing", lambda data: b""):
            with sqlite3.connect(place) as database:
                whole = database.execute("SELECT document FROM records").fetchone()[0]
                database.execute("UPDATE records SET document = ?", (change(whole),))
            database.close()
            said = "the database file is damaged: record 1 cannot be unpacked; restore a copy"
            with pytest.raises(FormatError, match=said):
                history.raw(stored)


def test_what_could_not_be_read_again_is_not_stored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with History.open(tmp_path / "history.db") as history:
        monkeypatch.setenv(VARIABLE, "1kB")
        with pytest.raises(FormatError, match=r"the record: its .* unpack to more than 1 kB"):
            history.add(make_record())
        assert history.records() == []
        monkeypatch.setenv(VARIABLE, "")
        assert history.record(history.add(make_record())) == make_record()


@pytest.mark.parametrize("ending", ["gz", "zst"])
@pytest.mark.parametrize("kind", ["run", "jsonl", "csv"])
def test_a_compressed_run_that_is_too_good_to_be_true(qrels: Path, tmp_path: Path, kind: str, ending: str) -> None:
    path = tmp_path / f"bomb.{kind}.{ending}"
    line = {
        "run": b"#" * 999 + b"\n",
        "jsonl": b'{"query_id": "q1", "doc_id": "d1", "score": 2.5}\n',
        "csv": b"query_id,doc_id,score\n" + b"q1,d1,2.5\n" * 100,
    }[kind]
    write_whole(path, line * (80_000_000 // len(line)) + RUN.encode())
    done = capped("evaluate", qrels, path, megabytes=2000)
    assert done.status == 2
    assert f"{path}: its " in done.stderr
    assert "unpack to more than" in done.stderr
    if kind == "run":
        done = capped("--max-size", "200MB", "evaluate", qrels, path, "-f", "csv", megabytes=2000)
        assert (done.status, done.stderr) == (0, "")


def test_real_runs_are_far_from_the_limit(qrels: Path, tmp_path: Path) -> None:
    """The same documents with the same scores for every query compress about as well as any run does."""
    lines = (f"q{q} Q0 document-{d} {d} {1000 - d} tag\n" for q in range(2000) for d in range(1000))
    path = tmp_path / "same.run.gz"
    path.write_bytes(gzip.compress("".join(lines).encode(), 1))
    assert Source(path).head(10) == b"q0 Q0 docu"
    total = sum(map(len, Source(path).blocks(1 << 20)))
    assert PARTS.free < total < PARTS.of(path.stat().st_size) / 10


@pytest.mark.parametrize("options", [[], ["--stream"]])
def test_a_line_without_end_is_told_with_its_number(qrels: Path, tmp_path: Path, options: list[str]) -> None:
    path = tmp_path / "endless.run"
    path.write_bytes(RUN.encode() + b"x" * 50_000_000)
    packed = tmp_path / "endless.run.gz"
    packed.write_bytes(gzip.compress(RUN.encode()) + gzip.compress(b"x" * 60_000_000, 1) * 20)
    zero = Path("/dev/zero")
    for place in (path, packed):
        done = capped("evaluate", qrels, place, *options, megabytes=600)
        assert done.status == 2
        assert f"{place}:5: a line of more than 1.05 MB; TREC text has a line for each document" in done.stderr
    done = capped("evaluate", qrels, zero, *options, megabytes=600)
    assert (done.status, done.stderr) == (2, "rankgauge: /dev/zero: it holds nothing but zero bytes\n")


def test_a_long_line_within_the_limit_is_read(qrels: Path, tmp_path: Path) -> None:
    path = tmp_path / "long.run"
    path.write_text(RUN + f"q2 Q0 {'d' * 900_000} 3 7 {'t' * 900_000}\n")
    assert run_command("evaluate", qrels, path, "--stream", "-f", "csv").status == 0


def test_standard_input_is_bounded(qrels: Path) -> None:
    text = RUN.encode() * 1000
    done = run_command("--max-size", "10kB", "evaluate", qrels, "-", stdin=text, status=2)
    assert (
        "standard input: it has more than 10 kB; if that is right, allow it with RANKGAUGE_MAX_SIZE=40kB" in done.stderr
    )
    assert run_command("evaluate", qrels, "-", stdin=RUN.encode()).status == 0  # the limit was for one command


@pytest.mark.parametrize("role", ["record", "baseline", "rules"])
def test_a_record_from_a_pipe_is_bounded_as_one_in_a_file(tmp_path: Path, role: str) -> None:
    """Not by the 4 GB of a run, all of which would be held."""
    record, pipe = tmp_path / "good.json", tmp_path / "pipe.json"
    make_record().save(record)
    os.mkfifo(pipe)
    sent = []

    def write() -> None:
        with suppress(BrokenPipeError), open(pipe, "wb", buffering=0) as file:
            for _ in range(600):
                sent.append(file.write(b"#" * 1_000_000))

    writer = threading.Thread(target=write, daemon=True)
    writer.start()
    given = {"record": [pipe, "--target", "AP >= 0.5"], "baseline": [record, "--baseline", pipe]}
    given["rules"] = [record, "--rules", pipe]
    done = run_command("gate", *given[role], status=2)
    writer.join(30)
    assert "it has more than 256 MB; if that is right, allow it with RANKGAUGE_MAX_SIZE=1.02GB" in done.stderr
    assert sum(sent) < 300_000_000


def test_parquet_of_equal_values(qrels: Path, tmp_path: Path) -> None:
    path = tmp_path / "equal.parquet"
    rows = 4_000_000
    pl.select(query_id=pl.repeat("q1", rows), doc_id=pl.repeat("d1", rows), score=pl.repeat(1.0, rows)).write_parquet(
        path
    )
    assert path.stat().st_size < 100_000
    done = capped("evaluate", qrels, path, megabytes=2000)
    assert done.status == 2
    assert "unpack to more than 64 MB" in done.stderr


def _ids(rows: int, ids: list[str], **written: object) -> bytes:
    """A run in Parquet whose document ids are these by turns, each stored once."""
    arrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    turns = arrow.array(np.arange(rows, dtype=np.int32) % len(ids))
    documents = arrow.DictionaryArray.from_arrays(turns, arrow.array(ids))
    if "column_encoding" in written:
        documents = documents.dictionary_decode()
    table = arrow.table({"query_id": ["q1"] * rows, "doc_id": documents, "score": np.arange(rows) / rows})
    held = io.BytesIO()
    parquet.write_table(table, held, compression="zstd", dictionary_pagesize_limit=1 << 30, **written)
    return held.getvalue()


LONG = "x" * 1_000_000
PLAIN: dict[str, Any] = {"store_schema": False}  # else they are read as categories
DELTA: dict[str, Any] = {"use_dictionary": False, "column_encoding": {"doc_id": "DELTA_BYTE_ARRAY"}}
REPEATED = {
    "text": lambda: _ids(100_000, [LONG], **PLAIN),
    "category": lambda: _ids(100_000, [LONG]),
    "several": lambda: _ids(100_000, [f"{n}{LONG}" for n in range(10)], **PLAIN),
    "many": lambda: _ids(50_000, [f"{n}{'x' * 10_000}" for n in range(5000)], **PLAIN),
    "mostly-short": lambda: _ids(100_000, [LONG, *(f"d{n}" for n in range(100))], **PLAIN),
    "large-dictionary": lambda: _ids(300, [f"{n}{LONG}" for n in range(300)], **PLAIN),
    "as-the-last": lambda: _ids(500, [LONG], **DELTA, write_statistics=False, data_page_size=1 << 30),
}
PEAK = """
import sys
from pathlib import Path
from rankgauge.cli import main
try:
    main()
finally:
    sys.stderr.write(Path("/proc/self/status").read_text().split("VmHWM:")[1].split()[0])
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="memory is limited and measured as Linux does it")
@pytest.mark.parametrize("options", [[], ["--stream"]])
@pytest.mark.parametrize("kind", REPEATED)
def test_parquet_of_long_ids_that_stand_there_once(qrels: Path, tmp_path: Path, kind: str, options: list[str]) -> None:
    path = tmp_path / "long.parquet"
    path.write_bytes(REPEATED[kind]())
    assert path.stat().st_size < 600_000
    command = [sys.executable, "-c", PEAK, "evaluate", str(qrels), str(path), *options]
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (3 << 30, 3 << 30)),
        env={"PATH": "/usr/bin:/bin", "OPENBLAS_NUM_THREADS": "1", "POLARS_MAX_THREADS": "1"},
    )
    assert done.returncode == 2
    said, _, kilobytes = done.stderr.strip().rpartition("\n")
    assert said.startswith(f"rankgauge: {path}: its ")
    assert "unpack to more than" in said
    assert "rankgauge --max-size" in said
    assert int(kilobytes) < (500_000 if options else 400_000)  # what was allowed is kept until its query ends


@pytest.mark.parametrize(
    "written",
    [
        {},
        PLAIN,
        DELTA,
        {**DELTA, "data_page_size": 100},
        {"use_dictionary": False},
        {"use_dictionary": False, "column_encoding": {"doc_id": "DELTA_LENGTH_BYTE_ARRAY"}},
        {"data_page_version": "2.0"},
        {"data_page_version": "2.0", **DELTA},
        {"row_group_size": 100},
        {"version": "1.0"},
        {"write_page_index": True, "write_page_checksum": True},
    ],
    ids=str,
)
def test_parquet_in_every_way_it_is_written(written: dict[str, Any], tmp_path: Path) -> None:
    path = tmp_path / "run.parquet"
    ids = [f"document-{number}" for number in range(700)]
    path.write_bytes(_ids(700, ids, **written))
    frame = read_table(Source(path), "parquet")
    assert frame["doc_id"].cast(pl.String).to_list() == ids
    assert load_run(path).to_dict()["q1"] == {doc: number / 700 for number, doc in enumerate(ids)}


def test_parquet_with_a_long_text_that_is_rare_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is stored once and used once is no reason to refuse, however often its neighbour is used."""
    arrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    ids = arrow.DictionaryArray.from_arrays(
        arrow.array([0] * 999 + [1] + [0] * 1_000, arrow.int32()), arrow.array(["d1", LONG])
    )
    path = tmp_path / "rare.parquet"
    parquet.write_table(arrow.table({"query_id": [str(n) for n in range(2000)], "doc_id": ids}), path)
    assert len(read_table(Source(path), "parquet")) == 2000
    monkeypatch.setenv(VARIABLE, "900kB")
    with pytest.raises(FormatError, match="unpack to more than 900 kB"):
        read_table(Source(path), "parquet")


def test_parquet_with_damaged_headers_is_told(tmp_path: Path) -> None:
    whole = _ids(50, ["d1", "d2"], **PLAIN)
    refused = 0
    for at in range(0, len(whole), 3):
        for byte in (0, 0xFF, whole[at] ^ 0x55):
            try:
                headers_of(whole[:at] + bytes([byte]) + whole[at + 1 :])
            except DamagedError:
                refused += 1
    assert refused > 100
    path = tmp_path / "run.parquet"
    path.write_bytes(whole[:-40] + b"\xff" * 30 + whole[-10:])
    with pytest.raises(FormatError, match="this is no readable PARQUET table: its headers are damaged"):
        read_table(Source(path), "parquet")


def _zip(name: str) -> bytes:
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w") as archive:
        archive.writestr(name, RUN)
    return held.getvalue()


def _tar(mode: str) -> bytes:
    held = io.BytesIO()
    with tarfile.open(fileobj=held, mode=mode) as archive:  # type: ignore[call-overload]
        archive.addfile(tarfile.TarInfo("a.run"), io.BytesIO(b""))
    return held.getvalue()


ARCHIVES = {
    "a.zip": (_zip("a.run"), "this is a zip archive: unzip it first (unzip {path})"),
    "run.gz": (_zip("a.run"), "this is a zip archive"),
    "a.xlsx": (_zip("[Content_Types].xml"), "this is an Excel workbook (or another file of Office): save the table as"),
    "a.tar": (_tar("w"), "this is a tar archive: unpack it first (tar -xf {path})"),
    "a.tar.gz": (_tar("w:gz"), "this is a tar archive"),
    "a.7z": (b"7z\xbc\xaf\x27\x1c" + bytes(100), "this is a 7z archive"),
    "a.rar": (b"Rar!\x1a\x07\x01\x00" + bytes(100), "this is a RAR archive"),
    "a.bz2": (__import__("bz2").compress(RUN.encode()), "this is bzip2-compressed, which is not read: unpack it first"),
    "a.xz": (__import__("lzma").compress(RUN.encode()), "this is xz-compressed, which is not read: unpack it first"),
    "a.xls": (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600), "this is a file of an Office program"),
    "a.db": (b"SQLite format 3\x00" + bytes(100), "this is an SQLite database: a history is named with --history"),
}


@pytest.mark.parametrize("name", ARCHIVES)
def test_an_archive_is_called_by_its_name(qrels: Path, tmp_path: Path, name: str) -> None:
    data, said = ARCHIVES[name]
    path = tmp_path / name
    path.write_bytes(data)
    for command in (("evaluate", qrels, path), ("evaluate", path, qrels), ("report", path), ("convert", path, "-")):
        done = run_command(*command, status=2)
        assert f"{path}: {said.format(path=path)}" in done.stderr
    done = run_command("evaluate", qrels, "-", stdin=data, status=2)
    assert "standard input: this is" in done.stderr


def test_sizes() -> None:
    sizes = {"1000": 1000, "20GB": 20 * 10**9, "1.5 GiB": 3 << 29, "500m": 500 * 10**6, "2kB": 2000, "1TiB": 1 << 40}
    assert {text: size_of(text) for text in sizes} == sizes
    for wrong in ("", "many", "-1", "1XB", "1e9", "GB"):
        with pytest.raises(DataError, match="must be a size such as 500MB or 20GB"):
            size_of(wrong)
    assert [written(size) for size in (999, 1500, 64_000_000, 4 * 10**9)] == ["999 bytes", "1.5 kB", "64 MB", "4 GB"]
    assert RECORDS.of(None) == 256 * 10**6
    assert run_command("--max-size", "much", "measures", status=2).stderr.startswith(
        "rankgauge: --max-size='much' must"
    )


def test_records_are_far_from_the_limit(tmp_path: Path) -> None:
    large = make_record(queries=2000, measures=[f"R@{k}" for k in range(1, 21)])
    path = tmp_path / "large.json.gz"
    large.save(path)
    assert len(gzip.decompress(path.read_bytes())) < RECORDS.ratio * path.stat().st_size / 5
    assert Record.load(path) == large
