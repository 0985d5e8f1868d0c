"""Texts without secrets, by how much is known of the secret.

`scrub` masks secrets that are known, such as the parts of an alert channel's address, however a program spells them.
`masked` masks what is written like a secret, in texts from elsewhere such as a retriever's exception. `masked_address`
is for a text that is an address itself, well formed or not.
"""

from __future__ import annotations

import html
import re
from base64 import b64encode
from collections.abc import Iterable
from functools import cache, lru_cache
from urllib.parse import unquote, unquote_plus

__all__ = ["MASK", "masked", "masked_address", "scrub"]

MASK = "***"
_LEAST = 4
"""Shorter parts of an address are no secrets, and masking them would leave nothing readable."""
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")
_BETWEEN = re.compile(r"[/:@?&=#,;\s\\]+")
_VALUE = r"""("[^"]*"|'[^']*'|[^\s"'&,;)}\]]+)"""
_KEY = r"(?:[\w-]*(?:password|passwd|passphrase|pwd|secret|api[_-]?key|access[_-]?key|private[_-]?key))"
_SECRETS = [
    # Authorization: Bearer abc, whatever the scheme's name
    re.compile(
        r"""((?:proxy-)?authorization["']?\s*[:=]\s*["']?(?:(?:bearer|basic|digest|token|apikey|negotiate)\s+)?)"""
        r"""([^\s"',;)}\]]+)""",
        re.IGNORECASE,
    ),
    re.compile(r"(\b(?:bearer|basic)\s+)([A-Za-z0-9._~+/=-]{8,})", re.IGNORECASE),
    # password=abc, "api_key": "abc"
    re.compile(rf"""({_KEY}["']?\s*[:=]\s*){_VALUE}""", re.IGNORECASE),
    # A token is masked behind = or in quotes: "unexpected token: }" is no secret
    re.compile(rf"([\w-]*token\s*=\s*){_VALUE}", re.IGNORECASE),
    re.compile(rf"""(["'][\w-]*token["']\s*:\s*){_VALUE}""", re.IGNORECASE),
    # user:password@host, with and without a scheme
    re.compile(r"(://[^\s/:@]*:)([^\s/]+)(?=@)"),
    re.compile(r"(?<![\w/:])([\w.+-]+:)([^\s/:@]+)(?=@[\w\[])"),
]
_CREDENTIALS = re.compile(r"(:/*|//).*@", re.DOTALL)
_PASSWORD_OPTION = re.compile(r"(password=)[^&\s]*", re.IGNORECASE)


def masked(text: str) -> str:
    """The text with `***` for all that looks like a secret: `password=***`, `Authorization: Bearer ***`, `user:***@`.
    What is masked already stays so."""
    for pattern in _SECRETS:
        text = pattern.sub(rf"\1{MASK}", text)
    return text


def masked_address(text: str) -> str:
    """An address without what may be a password: all from the first colon to the last @, and options of that name."""
    return _PASSWORD_OPTION.sub(rf"\1{MASK}", _CREDENTIALS.sub(rf"\1{MASK}@", text))


def scrub(text: str, secrets: Iterable[str]) -> str:
    """The text with `***` in place of every secret, of its parts, and of the ways in which programs spell them.

    All occurrences are found first and masked together: where two overlap, no rest of either stays.
    """
    spans = sorted(match.span(1) for pattern in _patterns(tuple(secrets)) for match in pattern.finditer(text))
    pieces, end = [], 0
    for start, stop in spans:
        if start >= end:
            pieces += [text[end:start], MASK]
        end = max(end, stop)
    return "".join([*pieces, text[end:]])


@lru_cache(maxsize=64)
def _patterns(secrets: tuple[str, ...]) -> tuple[re.Pattern[str], ...]:
    """One expression for each part; it looks ahead, so that occurrences which overlap are all found."""
    forms = {form for secret in secrets for part in _parts(secret) for form in _forms(part)}
    return tuple(re.compile(f"(?=({''.join(map(_spelled, form))}))", re.IGNORECASE) for form in sorted(forms))


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


def _forms(part: str) -> set[str]:
    """A part decoded (what is encoded is found with it), and as basic authorization."""
    plain = _decoded(part) - {MASK}
    return plain | {b64encode(text.encode("utf-8", "replace")).decode() for text in plain if ":" in text}


def _decoded(text: str) -> set[str]:
    found = {unquote(text), unquote_plus(text)}
    return {*found, text} if any("\ufffd" in form for form in found) else found  # not the encoding of any text


@cache
def _spelled(character: str) -> str:
    """An expression for one character as it is, or escaped as in URLs (once or more), JSON, Python and HTML."""
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
