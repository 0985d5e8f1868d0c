"""Archives: whole ones are read like folders, others are refused with what to do."""

from __future__ import annotations

import contextlib
import hashlib
import io
import os
import tarfile
import tempfile
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rankgauge.benchmarks import find_benchmark, load_benchmark
from rankgauge.benchmarks.catalogue import Download
from rankgauge.benchmarks.unpacking import check_download, opened_folder
from rankgauge.errors import FormatError
from tests.benchmarks import sources

SCIFACT = find_benchmark("beir-scifact")


def zipped(folder: Path, path: Path) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as packed:
        for file in sorted(folder.rglob("*")):
            packed.write(file, file.relative_to(folder))
    return path


def tarred(path: Path, members: dict[str, bytes]) -> Path:
    with tarfile.open(path, "w:gz") as archive:
        for name, data in members.items():
            member = tarfile.TarInfo(name)
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))
    return path


def made(tmp_path: Path) -> Path:
    folder = tmp_path / "made"
    sources.beir(folder)
    return folder


def test_a_zip_archive_is_read_like_the_folder(tmp_path: Path) -> None:
    loaded = load_benchmark("beir-scifact", zipped(made(tmp_path), tmp_path / "mine.zip"))
    assert dict(loaded.corpus or {}) == sources.TEXTS


@pytest.mark.parametrize("mode", ["w", "w:gz", "w:bz2", "w:xz"])
def test_a_tar_archive_is_read_like_the_folder(mode: str, tmp_path: Path) -> None:
    path = tmp_path / "mine.tar"
    with tarfile.open(path, mode) as archive:  # type: ignore[call-overload]
        archive.add(made(tmp_path) / "scifact", "scifact")
    assert len(load_benchmark("beir-scifact", path).test_set) == 2


def test_the_scratch_folder_is_gone_afterwards(tmp_path: Path) -> None:
    path = zipped(made(tmp_path), tmp_path / "mine.zip")
    with opened_folder(path, SCIFACT, str(tmp_path)) as folder:
        assert (folder / "scifact" / "corpus.jsonl").is_file()
    assert not folder.exists()
    assert {path.name for path in tmp_path.iterdir()} == {"made", "mine.zip"}


@pytest.mark.parametrize(
    "name", ["../escaped.txt", "/tmp/rankgauge-escaped.txt", "a/../../escaped.txt", "C:/escaped.txt"]
)
def test_nothing_is_written_outside(name: str, tmp_path: Path) -> None:
    inner = tmp_path / "inner"
    inner.mkdir()
    archives = [tarred(inner / "bad.tar.gz", {"scifact/corpus.jsonl": b"{}", name: b"x"})]
    with zipfile.ZipFile(inner / "bad.zip", "w") as packed:
        packed.writestr(name, "x")
    for path in [*archives, inner / "bad.zip"]:
        with pytest.raises(FormatError, match="lies outside of the archive's folder: this archive is not unpacked"):
            load_benchmark("beir-scifact", path)
    assert not list(tmp_path.rglob("*escaped*"))
    assert not Path("/tmp/rankgauge-escaped.txt").exists()


@settings(max_examples=60, deadline=None)
@given(st.lists(st.sampled_from(["..", ".", "a", "b", "", "C:", "/", "\\\\", "..\\\\", "~"]), min_size=1, max_size=5))
def test_no_name_leads_outside(parts: list[str]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        path = tarred(place / "any.tar.gz", {"/".join(parts): b"x"})
        with contextlib.suppress(FormatError), opened_folder(path, SCIFACT, folder) as opened:
            assert all(opened in file.parents for file in opened.rglob("*"))
            assert {file.name for file in place.iterdir()} == {"any.tar.gz", opened.name}
        assert [file.name for file in place.rglob("*")] == ["any.tar.gz"]


def test_links_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "bad.tar"
    with tarfile.open(path, "w") as archive:
        member = tarfile.TarInfo("scifact/corpus.jsonl")
        member.type, member.linkname = tarfile.SYMTYPE, "/etc/passwd"
        archive.addfile(member)
    with pytest.raises(FormatError, match="is a link or a device: this archive is not unpacked"):
        load_benchmark("beir-scifact", path)


def test_what_unpacks_to_far_more_than_its_size_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "bomb.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as packed:
        packed.writestr("scifact/corpus.jsonl", b"\0" * 3_000_000)
    monkeypatch.setenv("RANKGAUGE_MAX_SIZE", "1MB")
    with pytest.raises(FormatError, match="unpack to more than 1 MB; if that is right, allow it"):
        load_benchmark("beir-scifact", path)


def test_a_compressed_bomb_is_refused_by_its_ratio(tmp_path: Path) -> None:
    path = tmp_path / "bomb.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as packed:
        packed.writestr("scifact/corpus.jsonl", b"\0" * 70_000_000)
    with pytest.raises(FormatError, match="unpack to more than 64 MB"):
        load_benchmark("beir-scifact", path)


@pytest.mark.parametrize("ending", ["zip", "tar.gz"])
def test_half_of_an_archive_is_told_so(ending: str, tmp_path: Path) -> None:
    path = tmp_path / f"half.{ending}"
    if ending == "zip":
        zipped(made(tmp_path), path)
    else:
        tarred(path, {"scifact/corpus.jsonl": os.urandom(200_000), "scifact/queries.jsonl": b"{}"})
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    with pytest.raises(FormatError, match="download it again"):
        load_benchmark("beir-scifact", path)


def test_what_is_no_archive(tmp_path: Path) -> None:
    (tmp_path / "page.zip").write_text("<html>404</html>")
    with pytest.raises(FormatError, match="neither a folder nor a zip or tar archive that is complete"):
        load_benchmark("beir-scifact", tmp_path / "page.zip")
    with pytest.raises(FormatError, match="there is no such folder or archive"):
        load_benchmark("beir-scifact", tmp_path / "nothing")


def test_a_download_that_is_known_is_checked(tmp_path: Path) -> None:
    path = zipped(made(tmp_path), tmp_path / "scifact.zip")
    with pytest.raises(FormatError, match=r"not complete: it has .* of 2\.82 MB(?s:.*)download it again from https://"):
        check_download(path, SCIFACT)
    digest = hashlib.md5(path.read_bytes()).hexdigest()
    known = Download("https://example.org/scifact.zip", "0" * 32, path.stat().st_size)
    with pytest.raises(FormatError, match=f"its checksum is {digest}, not {'0' * 32}"):
        check_download(path, replace(SCIFACT, downloads=[known]))
    check_download(path, replace(SCIFACT, downloads=[replace(known, md5=digest)]))
    check_download(path, replace(SCIFACT, downloads=[replace(known, url="https://example.org/other.zip")]))
