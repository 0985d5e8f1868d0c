"""`scrub`: secrets that are known, found in a text however a program spells them."""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Iterable
from functools import cache, lru_cache
from urllib.parse import unquote, unquote_plus

__all__ = ["MASK", "expression", "forms", "scrub", "without"]

MASK = "***"
_LEAST = 4
"""Shorter parts of an address are no secrets, and masking them would leave nothing readable."""
_CODED = 8
"""Shorter ones may be in Base64 by chance."""
_IN_URLS = bytes.maketrans(b"+/", b"-_")
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")
_BETWEEN = re.compile(r"[/:@?&=#,;\s\\]+")


def scrub(text: str, secrets: Iterable[str]) -> str:
    """The text with `***` in place of every secret, of its parts, and of the ways in which programs spell them.

    All occurrences are found first and masked together: where two overlap, no rest of either stays.
    """
    return without(text, _patterns(tuple(secrets)))


def without(text: str, patterns: Iterable[re.Pattern[str]]) -> str:
    """The text with `***` for the first group of every match."""
    spans = sorted(match.span(1) for pattern in patterns for match in pattern.finditer(text))
    pieces, end = [], 0
    for start, stop in spans:
        if start >= end:
            pieces += [text[end:start], MASK]
        end = max(end, stop)
    return "".join([*pieces, text[end:]])


@lru_cache(maxsize=64)
def _patterns(secrets: tuple[str, ...]) -> tuple[re.Pattern[str], ...]:
    """One expression for each part; it looks ahead, so that occurrences which overlap are all found."""
    found = {form for secret in secrets for part in _parts(secret) for form in forms(part)}
    return tuple(expression(form) for form in sorted(found))


def expression(form: str, *, word: bool = False) -> re.Pattern[str]:
    """What finds a form, its characters escaped or not; with `word`, not within other letters and digits."""
    before, behind = (r"(?<![^\W_])", r"(?![^\W_])") if word else ("", "")
    return re.compile(f"{before}(?=({''.join(map(_spelled, form))}){behind})", re.IGNORECASE)


def _parts(secret: str) -> set[str]:
    """The secret without a scheme; and, of an address, what stands between its separators, and user and password."""
    rest = _SCHEME.sub("", secret.strip(), count=1)
    pieces = _BETWEEN.split(rest)
    for text in _decoded(rest):
        pieces += _BETWEEN.split(text)
    before, at, _ = rest.rpartition("@")
    if at:
        pieces += [before, *before.split(":", 1)]
    return {rest, *(piece for piece in pieces if len(piece) >= _LEAST)} - {""}


def forms(part: str) -> set[str]:
    """A part decoded (what is encoded is found with it), in Base64, as authorizations and Kubernetes have it, by itself
    and in the midst of a longer text, and as hexadecimal digits."""
    plain = _decoded(part) - {MASK}
    long = [text.encode("utf-8", "replace") for text in plain if len(text) >= _CODED]
    coded = {b64encode(text.encode("utf-8", "replace")) for text in plain if ":" in text or len(text) >= _CODED}
    bare = {code.rstrip(b"=") for code in coded} | {_midst(data, before) for data in long for before in range(3)}
    written = {form.decode() for form in (*coded, *bare, *(code.translate(_IN_URLS) for code in bare))}
    return plain | written | {data.hex() for data in long}


def _midst(data: bytes, before: int) -> bytes:
    """What Base64 makes of data after so many bytes of others, up to a multiple of 3, whatever those are: without the
    signs at both ends that hold bits of theirs."""
    code = b64encode(bytes(before) + data)
    behind = {0: 0, 1: 3, 2: 2}[(before + len(data)) % 3]
    return code[before and before + 1 : len(code) - behind]


def _decoded(text: str) -> set[str]:
    found = {unquote(text), unquote_plus(text)}
    return {*found, text} if any("\ufffd" in form for form in found) else found  # not the encoding of any text


@cache
def _spelled(character: str) -> str:
    """An expression for one character as it is, or escaped as in URLs (once or more), JSON, Python and HTML."""
    import html

    data, units = character.encode("utf-8", "replace"), character.encode("utf-16-be", "replace")
    ways = [
        re.escape(character),
        "".join(f"%(?:25)*{byte:02x}" for byte in data),
        "".join(rf"\\+x{byte:02x}" for byte in data),
        "".join(rf"\\+u{units[i : i + 2].hex()}" for i in range(0, len(units), 2)),
        rf"\\+{re.escape(character)}",
        f"&#0*{ord(character)};",
        f"&#x0*{ord(character):x};",
    ]
    if html.escape(character) != character:
        ways.append(re.escape(html.escape(character)))
    if character == " ":
        ways.append(r"\+")
    return f"(?:{'|'.join(ways)})"
