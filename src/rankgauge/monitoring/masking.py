"""Texts from elsewhere made fit for a log: what looks like a secret is masked, and each entry stays on its line.

The secrets of a plan are known and masked exactly (`scrubbing`). What a retriever's exception tells is not known: there
everything that is written like a secret is taken for one.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from rankgauge.monitoring.scrubbing import MASK

__all__ = ["masked", "masked_record", "one_line"]

# Controls, ends of lines, marks that turn the direction of writing, and halves of surrogate pairs.
_HIDDEN = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
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


def masked(text: str) -> str:
    """The text with `***` for all that looks like a secret: `password=***`, `Authorization: Bearer ***`, `user:***@`.
    What is masked already stays so."""
    for pattern in _SECRETS:
        text = pattern.sub(rf"\1{MASK}", text)
    return text


def masked_record(record: Mapping[str, Any]) -> dict[str, Any]:
    """The record, in which everything that retrievers said is masked; ids, scores and texts of queries stay."""
    systems = [
        {**entry, "calls": _masked(entry["calls"])} if entry.get("calls") else entry for entry in record["systems"]
    ]
    told = {"invalid": _masked(record["invalid"])} if record.get("invalid") else {}
    return {**record, "systems": systems, **told}


def _masked(value: Any) -> Any:
    if isinstance(value, str):
        return masked(value)
    if isinstance(value, list):
        return [_masked(entry) for entry in value]
    if not isinstance(value, dict):
        return value
    found: dict[str, Any] = {}
    for key, entry in value.items():
        name = masked(key)
        both = name in found and isinstance(entry, int)  # errors are counted by text; two may be one by now
        found[name] = found[name] + entry if both else _masked(entry)
    return found


def one_line(text: str) -> str:
    """The text on one line, with every character that steers a terminal spelled out: \\x1b, \\n, \\u202e."""
    return _HIDDEN.sub(lambda found: ascii(found[0])[1:-1], text)
