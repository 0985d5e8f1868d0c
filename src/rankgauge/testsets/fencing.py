"""Texts of others between lines that they cannot forge, so that a model can tell what it is told from what it reads.

The lines carry a code that depends on all the texts and stands in none of them. Whoever writes a document would have to
know the code of a request that holds that very document.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from typing import Final

__all__ = ["fenced", "marker_for", "neutral"]

_LENGTH: Final = 12
# What turns the direction of text or is not seen at all, such as letters of the block of tags; and controls.
_UNSEEN: Final = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff\U000e0000-\U000e007f]"
)
# What chat templates are made of: a server may take it for the end of a message.
_BARRED: Final = re.compile(r"<[|\uff5c]([^<>|\uff5c\n]{1,60})[|\uff5c]>")
_TAGGED: Final = re.compile(
    r"<(/?(?:s|start_of_turn|end_of_turn|bos|eos|<SYS>|</SYS>|system|assistant|human|user)>)|\[(/?(?:INST|SYSTEM_PROMPT)\])"
)
_FENCE: Final = re.compile(r"\[\[(?=\s*(?:query|document)\b[^\]\n]*\b(?:begins|ends)\s*\]\])", re.IGNORECASE)


def neutral(text: str) -> str:
    """A text as a model may read it: nothing hidden, nothing that looks like a part of the conversation."""
    text = _UNSEEN.sub("", text.replace("\r\n", "\n").replace("\r", "\n"))
    text = _BARRED.sub(r"< \1 >", text)
    text = _TAGGED.sub(lambda found: f"< {found[1]}" if found[1] else f"[ {found[2]}", text)
    return _FENCE.sub("[ [", text)


def marker_for(texts: Sequence[str]) -> str:
    """A code that stands in none of the texts; the same for the same texts, so that a request can be found again."""
    seed = hashlib.sha256("\0".join(texts).encode("utf-8", "surrogatepass"))
    while True:
        code = seed.hexdigest()[:_LENGTH]
        if not any(code in text for text in texts):
            return code
        seed.update(b"again")


def fenced(name: str, text: str, marker: str) -> str:
    """A text between its two lines."""
    return f"[[{name} {marker} begins]]\n{text}\n[[{name} {marker} ends]]"
