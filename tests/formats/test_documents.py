"""A folder of documents as a corpus, whatever lies in it."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankgauge import RankgaugeError, load_documents
from rankgauge.formats.html_text import html_text
from tests.oracles.cases import fast

PAGE = """<!DOCTYPE html><html><head><title>Reset &amp; restore</title><style>p {color: red}</style>
<script>var secret = "<p>not this</p>";</script></head>
<body><nav><a href="/">Home</a></nav><main><h2>Before you <em>begin</em></h2><p>Save   your
work.<br>Twice.</p><ul><li>one<li>two</ul><pre>a  b
  c</pre><table><tr><td>x</td><td>y</td></tr></table></main><footer>Imprint</footer></body></html>"""


def test_what_a_reader_sees_of_a_page() -> None:
    text = html_text(PAGE)
    assert text.splitlines()[0] == "# Reset & restore"
    assert "## Before you begin" in text
    assert "Save your work." in text
    assert "- one" in text
    assert "a  b" in text
    assert "x y" in text
    for hidden in ("secret", "red", "Home", "Imprint"):
        assert hidden not in text


def test_a_page_of_navigation_alone_is_read_as_it_is() -> None:
    assert "Home" in html_text("<html><body><nav><a>Home</a></nav></body></html>")
    assert "text" in html_text("<nav>never closed <p>text</p>")


@pytest.mark.parametrize("page", ["", "<", "<![x", "<!doctype", "</p></p>", "<p" * 5000, "<div>" * 20_000 + "deep"])
def test_malformed_pages(page: str) -> None:
    assert isinstance(html_text(page), str)


@fast(200)
@given(st.text(alphabet="<>/!abtdhlimgnv1 =\"'&;x-[]\n"))
def test_any_page(page: str) -> None:
    assert isinstance(html_text(page), str)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with all that may lie in one."""
    root = tmp_path / "docs"
    (root / "deep" / "er").mkdir(parents=True)
    (root / ".git").mkdir()
    (root / ".git" / "hidden.md").write_text("hidden")
    (root / "a.md").write_text("# A\n\ntext", newline="")
    (root / "deep" / "er" / "b.txt").write_text("B line\r\nmore", newline="")
    (root / "deep" / "p.HTML").write_text("<title>P</title><p>seen</p>")
    (root / "bom.md").write_bytes("# Mark".encode("utf-8-sig"))
    (root / "wide.txt").write_bytes("Wide text".encode("utf-16"))
    (root / "chinese.txt").write_bytes("重置密码的方法".encode("gb18030"))
    (root / "declared.html").write_bytes('<meta charset="gb2312"><p>重置密码'.encode("gb2312"))
    (root / "empty.md").write_text(" \n")
    (root / "zero.md").write_bytes(b"")
    (root / "binary.md").write_bytes(bytes(range(1, 256)) * 3)
    (root / "nul.txt").write_bytes(b"text\0text")
    (root / "huge.txt").write_text("x" * 2000)
    (root / "picture.png").write_bytes(b"\x89PNG")
    (root / "sp ace\ttab.md").write_text("odd name")
    return root


def test_each_file_is_a_document_or_told(folder: Path) -> None:
    (folder / "loop").symlink_to(folder)
    (folder / "link.md").symlink_to(folder / "a.md")
    (folder / "dangling.md").symlink_to(folder / "nowhere")
    seen: list[tuple[int, int]] = []
    found = load_documents(folder, max_bytes=1000, progress=lambda done, total: seen.append((done, total)))
    assert dict(found.corpus) == {
        "a.md": "# A\n\ntext",
        "bom.md": "# Mark",
        "declared.html": "重置密码",
        "deep/er/b.txt": "B line\r\nmore",
        "deep/p.HTML": "# P\n\nseen",
        "sp ace\ttab.md": "odd name",
        "wide.txt": "Wide text",
    }
    assert found.left_out == {
        "empty": ["empty.md", "zero.md"],
        "binary": ["binary.md", "nul.txt"],
        "encoding": ["chinese.txt"],
        "too_large": ["huge.txt"],
        "link": ["dangling.md", "link.md", "loop"],
        "other_kind": ["picture.png"],
    }
    assert seen[-1] == (13, 13)
    assert {note.key.removeprefix("documents.left_") for note in found.notes} == found.left_out.keys()
    assert found.to_dict()["left_out"]["empty"] == {"files": 2, "paths": ["empty.md", "zero.md"]}
    named = load_documents(folder, encoding="gb18030")
    assert named.corpus["chinese.txt"] == "重置密码的方法"


@pytest.mark.skipif(sys.platform == "win32", reason="names and pipes of POSIX")
def test_names_that_are_no_text_and_files_that_are_no_files(tmp_path: Path) -> None:
    (tmp_path / "a\nb.md").write_text("newline")
    with open(os.fsencode(tmp_path) + b"/\xff\xfe.md", "w") as file:
        file.write("bytes")
    os.mkfifo(tmp_path / "pipe.md")
    found = load_documents(tmp_path)
    assert dict(found.corpus) == {"a\nb.md": "newline", "\\xff\\xfe.md": "bytes"}
    assert found.left_out == {"unreadable": ["pipe.md"]}


def test_files_that_nobody_may_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("a.md", "b.md"):
        (tmp_path / name).write_text("text")
    read = Path.read_bytes

    def refused(path: Path) -> bytes:  # root may read everything
        if path.name == "b.md":
            raise PermissionError(13, "Permission denied")
        return read(path)

    monkeypatch.setattr(Path, "read_bytes", refused)
    assert load_documents(tmp_path).left_out == {"unreadable": ["b.md"]}


def test_what_is_no_folder_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "file.md").write_text("x")
    for path, said in ((tmp_path / "file.md", "a file, not a folder"), (tmp_path / "gone", "no such folder")):
        with pytest.raises(RankgaugeError, match=said):
            load_documents(path)
    with pytest.raises(RankgaugeError, match="`encoding='klingon'` is not known"):
        load_documents(tmp_path, encoding="klingon")
    with pytest.raises(RankgaugeError, match="`max_bytes`"):
        load_documents(tmp_path, max_bytes=0)
    for codec in ("hex", "rot13"):
        with pytest.raises(RankgaugeError, match="is not known"):
            load_documents(tmp_path, encoding=codec)


def test_an_empty_folder_is_an_empty_corpus(tmp_path: Path) -> None:
    found = load_documents(tmp_path)
    assert (len(found.corpus), found.left_out, found.notes) == (0, {}, [])


def pdf_of(*pages: str) -> bytes:
    """A PDF of pages with one line each, written by hand."""
    objects: list[bytes] = [b"<</Type/Catalog/Pages 2 0 R>>", b""]
    kids = []
    for text in pages:
        stream = f"BT /F1 12 Tf 72 720 Td ({text}) Tj ET".encode()
        objects.append(b"<</Length %d>>stream\n%s\nendstream" % (len(stream), stream))
        objects.append(
            b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Contents %d 0 R/Resources<</Font<</F1 "
            b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>>>>>>>" % len(objects)
        )
        kids.append(b"%d 0 R" % len(objects))
    objects[1] = b"<</Type/Pages/Kids[%s]/Count %d>>" % (b" ".join(kids), len(kids))
    out, places = b"%PDF-1.4\n", []
    for number, body in enumerate(objects, start=1):
        places.append(len(out))
        out += b"%d 0 obj%s endobj\n" % (number, body)
    start = len(out)
    out += b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    out += b"".join(b"%010d 00000 n \n" % place for place in places)
    return out + b"trailer<</Size %d/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF" % (len(objects) + 1, start)


def test_pdf(tmp_path: Path) -> None:
    (tmp_path / "two.pdf").write_bytes(pdf_of("Reset the device", "Then restart it"))
    (tmp_path / "none.pdf").write_bytes(pdf_of(""))
    (tmp_path / "broken.pdf").write_bytes(pdf_of("x")[:100])
    (tmp_path / "false.pdf").write_bytes(b"no pdf at all")
    found = load_documents(tmp_path)
    assert dict(found.corpus) == {"two.pdf": "Reset the device\n\nThen restart it"}
    assert found.left_out == {"empty": ["none.pdf"], "unreadable": ["broken.pdf", "false.pdf"]}


@pytest.fixture
def no_pypdf(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pypdf", None)


def test_without_pypdf_the_others_are_read(tmp_path: Path, no_pypdf: Any) -> None:
    (tmp_path / "a.md").write_text("text")
    (tmp_path / "two.pdf").write_bytes(pdf_of("x"))
    found = load_documents(tmp_path)
    assert list(found.corpus) == ["a.md"]
    assert "pip install pypdf" in found.notes[0].sentence()
