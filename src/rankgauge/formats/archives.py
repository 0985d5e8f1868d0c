"""Files that hold other files, or that another program has to open: told by their first bytes, with the way out."""

from __future__ import annotations

__all__ = ["BEGINNING", "foreign_kind"]

BEGINNING = 512
"""Bytes that tell."""
_TAR = slice(257, 262)
_SHEET = (b"[Content_Types].xml", b"_rels/", b"xl/", b"docProps/")
_KNOWN = (
    (b"7z\xbc\xaf\x27\x1c", "this is a 7z archive: unpack it first (7z x FILE), and give a file of it"),
    (b"Rar!\x1a\x07", "this is a RAR archive: unpack it first (unrar x FILE), and give a file of it"),
    (b"\xfd7zXZ\x00", "this is xz-compressed, which is not read: unpack it first (xz -d FILE), or use .gz or .zst"),
    (b"\x04\x22\x4d\x18", "this is lz4-compressed, which is not read: unpack it first (lz4 -d FILE)"),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "this is a file of an Office program: save the table as CSV"),
    (
        b"SQLite format 3\x00",
        "this is an SQLite database: a history is named with --history; records are exported from it",
    ),
)
_BZIP2 = "this is bzip2-compressed, which is not read: unpack it first (bzip2 -d FILE), or use .gz or .zst"


def foreign_kind(begin: bytes) -> str | None:
    """What to say of a file that begins like this, if it is none that can be read; None for all others."""
    if begin[:4] in (b"PK\x03\x04", b"PK\x05\x06"):
        if any(begin[30:].startswith(name) for name in _SHEET):
            return "this is an Excel workbook (or another file of Office): save the table as CSV"
        return "this is a zip archive: unzip it first (unzip FILE), and give a file of it"
    if begin[_TAR] == b"ustar":
        return "this is a tar archive: unpack it first (tar -xf FILE), and give a file of it"
    if begin[:3] == b"BZh" and begin[4:10] == b"1AY&SY":
        return _BZIP2
    return next((said for magic, said in _KNOWN if begin.startswith(magic)), None)
