"""Texts from elsewhere as they may be shown: what steers a terminal, turns or hides letters, or is a command to the
service that reads the log of a job, becomes its escape.

It stands below everything, for errors and results are both made of names from elsewhere. `words.say` and
`RankgaugeError` call it, and so do the cells of reports: what they give can be printed as it is.
"""

from __future__ import annotations

import re

__all__ = ["uncommanded", "visible", "visible_lines", "visible_message"]

# Zero-width joiners belong into emoji, and into words of scripts whose letters join.
_JOINED = (
    r"\u0600-\u109f\u1780-\u18af\u1b00-\u1bff\ua800-\uabff\ufb50-\ufdff\ufe70-\ufefc"
    r"\u2190-\u21ff\u2300-\u27bf\u2b00-\u2bff\ufe0f\U0001f000-\U0001faff\U00011000-\U00011fff"
)
_VARIANTS = r"\ufe00-\ufe0f\U000e0100-\U000e01ef"

_HIDDEN = (
    # The flags of England, Scotland and Wales are spelled in tags, and keys such as 1 with a variant.
    r"(?P<kept>\U0001f3f4[\U000e0030-\U000e007a]{2,6}\U000e007f|[0-9#*]\ufe0f\u20e3)"
    # Controls, ends of lines, and marks that turn the direction of writing.
    r"|[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069"
    # What takes no room: soft hyphens, blanks of no width, fillers, annotations, byte order marks, tags.
    r"\u00ad\u034f\u115f\u1160\u17b4\u17b5\u180e\u200b\u2060-\u2065\u206a-\u206f\u3164\ufeff\uffa0\ufff0-\ufffb"
    r"\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e00ff"
    # What is no character: halves of surrogate pairs, and the two that XML refuses.
    r"\ud800-\udfff\ufffe\uffff]"
    rf"|(?<![{_JOINED}])[\u200c\u200d]|[\u200c\u200d](?![{_JOINED}])"
    # A sign has one variant, and an ASCII letter none; more of these marks in a row hide a message.
    rf"|(?<![^\s!-~{_VARIANTS}])[{_VARIANTS}]"
)
# GitHub reads ::NAME:: at the beginning of a line, blanks aside; ##[NAME] and Azure's ##vso[ anywhere in it; TeamCity
# ##teamcity[.
_COMMAND = r"(?mi)^(?P<blank>(?:[^\S\n]|\x1b\[[0-9;]*m)*):(?=:[a-z])|#(?=#(?:vso|teamcity)?\[)"


def visible(text: str) -> str:
    """The text on one line, with every such character spelled out: \\x1b, \\n, \\u202e.

    Letters of all languages and emoji stay as they are, a backslash too.
    """
    if text.isascii() and text.isprintable():  # compiling the expression takes long
        return uncommanded(text)
    while (shown := re.sub(_HIDDEN, lambda found: found["kept"] or ascii(found[0])[1:-1], text)) != text:
        text = shown  # again, for what stood behind an escape stands behind a letter now
    return uncommanded(text)


def visible_lines(text: str) -> str:
    """A text whose ends of lines are meant, with each line visible."""
    return "\n".join(map(visible, text.split("\n")))


def visible_message(text: str) -> str:
    """A message of an error, whose further lines are set in: an end of a line elsewhere in it came with a name."""
    return "\n".join(map(visible, re.split(r"\n(?=  )", text)))


def uncommanded(text: str) -> str:
    """A finished text, colours and all, none of whose lines is a command to a CI service."""
    if "::" not in text and "##" not in text:
        return text
    return re.sub(_COMMAND, lambda found: f"{found['blank']}\\x3a" if found[0].endswith(":") else "\\x23", text)
