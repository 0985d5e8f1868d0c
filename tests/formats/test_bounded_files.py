"""Files that unpack to more than they seem are named and refused, in processes with little memory; or allowed."""

from __future__ import annotations

import gzip
import io
import resource
import sqlite3
import subprocess
import sys
import tarfile
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

from rankgauge.errors import DataError, FormatError
from rankgauge.formats.limits import PARTS, RECORDS, VARIABLE, size_of, written
from rankgauge.formats.sources import Source, write_whole
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
