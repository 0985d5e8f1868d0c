"""A folder of documents as a corpus: Markdown, text, HTML and PDF, each file one document of its path in the folder."""

from __future__ import annotations

import codecs
import os
import stat
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from rankgauge.arguments import as_path, check_text, named_arguments
from rankgauge.errors import DataError, FormatError, MissingExtraError
from rankgauge.extras import optional
from rankgauge.formats.html_text import declared_charset, html_text
from rankgauge.model.testset import Corpus
from rankgauge.words import Note

__all__ = ["Documents", "load_documents"]

_TEXT: Final = (".md", ".markdown", ".mdx", ".txt", ".text", ".rst", ".adoc", ".org")
_HTML: Final = (".html", ".htm", ".xhtml")
_PDF: Final = (".pdf",)
_BOMS: Final = ((codecs.BOM_UTF8, "utf-8-sig"), (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"))
_CONTROLS: Final = frozenset(range(32)) - set(b"\t\n\r\f\x1b\x08")
_BEGINNING: Final = 8192
REASONS: Final = ("empty", "binary", "encoding", "too_large", "unreadable", "link", "no_pypdf", "other_kind")
"""Why a file is left out. It is empty, or a PDF without text; no text; in no known encoding; larger than allowed; not
to be read; a link; a PDF, and pypdf is missing; of a kind that is not read."""
Progress = Callable[[int, int], None]


@named_arguments
@dataclass(frozen=True)
class Documents:
    """What was read of a folder, and what was not."""

    corpus: Corpus
    kinds: dict[str, int]
    """How many documents there are of each ending."""
    left_out: dict[str, Sequence[str]]
    """Paths of the files that were not read, by the reason."""

    @property
    def notes(self) -> list[Note]:
        """What was left out, and what to do about it."""
        said = []
        for reason in REASONS:
            if files := self.left_out.get(reason):
                level: Any = "info" if reason in ("other_kind", "link") else "warning"
                said.append(Note(f"documents.left_{reason}", {"n": len(files), "file": files[0]}, level))
        return said

    def to_dict(self) -> dict[str, Any]:
        """Counts as JSON holds them; the first hundred paths of each reason."""
        left = {reason: {"files": len(own), "paths": list(own[:100])} for reason, own in self.left_out.items()}
        return {
            "documents": len(self.corpus),
            "kinds": self.kinds,
            "left_out": left,
        }


class _LeftOutError(Exception):
    """A file that is not read; its reason."""


@named_arguments
def load_documents(
    folder: str | os.PathLike[str],
    *,
    encoding: str | None = None,
    max_bytes: int = 20_000_000,
    progress: Progress | None = None,
) -> Documents:
    """The documents of a folder and of those in it: .md, .txt, .rst, .html and .pdf (which needs pypdf).

    The id of a document is its path in the folder. Hidden files and folders are not looked at, and links not followed.
    Texts are UTF-8, or UTF-16 with its mark, or what an HTML page declares; `encoding` is that of all others.
    """
    root = Path(as_path("folder", folder))
    check_text("encoding", encoding)
    if encoding is not None:
        try:
            b"a".decode(encoding)
        except (LookupError, ValueError):
            raise DataError(f"`encoding={encoding!r}` is not known; give one such as gb18030 or latin-1") from None
    if isinstance(max_bytes, bool) or not isinstance(max_bytes, int) or max_bytes < 1:
        raise DataError(f"`max_bytes` must be a whole number from 1, not {max_bytes!r}")
    if not root.is_dir():
        what = "this is a file, not a folder" if root.exists() else "there is no such folder"
        raise FormatError(str(root), [what])
    texts: dict[str, str] = {}
    left: dict[str, list[str]] = {}
    kinds = Counter[str]()
    found = list(_files(root, left))
    for done, path in enumerate(found, start=1):
        name = _id_of(path, root)
        try:
            texts[name] = _text_of(path, encoding, max_bytes)
            kinds[path.suffix.lower()] += 1
        except _LeftOutError as reason:
            left.setdefault(str(reason), []).append(name)
        if progress is not None:
            progress(done, len(found))
    return Documents(
        Corpus(texts, name=str(root)), dict(kinds.most_common()), {key: left[key] for key in REASONS if key in left}
    )


def _files(root: Path, left: dict[str, list[str]]) -> Iterator[Path]:
    """Files that may be documents, in the order of their paths."""

    def failed(error: OSError) -> None:
        if error.filename is not None and Path(error.filename) == root:
            raise FormatError(str(root), [error.strerror or str(error)])
        left.setdefault("unreadable", []).append(_id_of(Path(str(error.filename)), root))

    for place, folders, names in os.walk(root, onerror=failed):
        links = [name for name in folders if os.path.islink(os.path.join(place, name))]
        folders[:] = sorted(name for name in folders if not name.startswith(".") and name not in links)
        for name in sorted([*names, *links]):
            path = Path(place, name)
            if name.startswith("."):
                continue
            if path.is_symlink():
                left.setdefault("link", []).append(_id_of(path, root))
            elif path.suffix.lower() in (*_TEXT, *_HTML, *_PDF):
                yield path
            else:
                left.setdefault("other_kind", []).append(_id_of(path, root))


def _id_of(path: Path, root: Path) -> str:
    """The path in the folder, with slashes; bytes of it that are no UTF-8 spelled out."""
    return os.fsencode(path.relative_to(root).as_posix()).decode("utf-8", "backslashreplace")


def _text_of(path: Path, encoding: str | None, max_bytes: int) -> str:
    try:
        about = path.lstat()
        if not stat.S_ISREG(about.st_mode):  # a pipe would be waited for
            raise _LeftOutError("unreadable")
        if about.st_size > max_bytes:
            raise _LeftOutError("too_large")
        data = path.read_bytes()
    except OSError:
        raise _LeftOutError("unreadable") from None
    kind = path.suffix.lower()
    text = _pdf_text(path) if kind in _PDF else _decoded(data, encoding, declares=kind in _HTML)
    if kind in _HTML:
        text = html_text(text)
    if not text.strip():
        raise _LeftOutError("empty")
    return text


def _decoded(data: bytes, encoding: str | None, *, declares: bool) -> str:
    marked = next((name for mark, name in _BOMS if data.startswith(mark)), None)
    if marked is None and 20 * sum(map(_CONTROLS.__contains__, data[:_BEGINNING])) > len(data[:_BEGINNING]):
        raise _LeftOutError("binary")
    if marked is None and b"\0" in data[:_BEGINNING]:
        raise _LeftOutError("binary")
    declared = declared_charset(data) if declares else None
    for name in filter(None, (marked, declared, "utf-8", encoding)):
        try:
            # A lone surrogate cannot be written again.
            return data.decode(name).encode("utf-8").decode("utf-8")
        except (UnicodeError, LookupError):
            continue
    raise _LeftOutError("encoding")


def _pdf_text(path: Path) -> str:
    import logging

    try:
        pypdf = optional("pypdf", "reading PDF", "pypdf", "documents")
    except MissingExtraError:
        raise _LeftOutError("no_pypdf") from None
    logging.getLogger("pypdf").setLevel(logging.CRITICAL)  # it tells of every small fault
    try:
        reader = pypdf.PdfReader(path, strict=False)
        text = "\n\n".join(page.extract_text() for page in reader.pages)
        return text.encode("utf-8", "replace").decode("utf-8")
    except Exception:  # whatever a damaged file does to the parser
        raise _LeftOutError("unreadable") from None
