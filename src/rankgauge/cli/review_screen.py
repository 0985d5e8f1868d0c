"""A document to be labelled on a screen of so many columns and lines: the query on top, the text in pages."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from rankgauge.reports.tables import width_of, wrapped
from rankgauge.testsets.review.session import Progress, Shown
from rankgauge.testsets.review.standing import Standing
from rankgauge.visible import visible
from rankgauge.words import Language, listed, say

__all__ = ["body_lines", "grades_line", "head_lines", "help_lines", "page_of", "pages_of", "place_line", "text_lines"]

_TAB = "    "
_LEAST_PAGE = 3


def text_lines(text: str, width: int) -> list[str]:
    """A text in lines that fit: broken at words, and within what has no break. Empty lines stay, one at a time."""
    lines: list[str] = []
    for line in text.replace("\r\n", "\n").replace("\r", "\n").replace("\t", _TAB).split("\n"):
        shown = visible(line.rstrip())
        if shown or (lines and lines[-1]):
            lines += [part for piece in wrapped(shown, width).split("\n") for part in _cut(piece, width)]
    while lines and not lines[-1]:
        lines.pop()
    return lines


def _cut(line: str, width: int) -> list[str]:
    """A line without a break in parts that fit."""
    if width_of(line) <= width:
        return [line]
    parts, part, size = [], "", 0
    for letter in line:
        own = width_of(letter)
        if size + own > width:
            parts.append(part)
            part, size = "", 0
        part += letter
        size += own
    return [*parts, part]


def place_line(progress: Progress, standing: Standing | None, language: Language) -> str:
    """How far the work is, and whether more labels can turn a winner."""
    about = {"done": progress.done, "total": progress.total, "query": progress.query, "queries": progress.queries}
    parts = [say("review.place" if progress.query else "review.place_end", language, **about)]
    if standing is not None and standing.ranges:
        key = "turn_closed" if standing.settled else "turn_open"
        parts.append(say(f"review.{key}", language, n=len(standing.open), all=len(standing.ranges)))
    return " · ".join(parts)


def head_lines(shown: Shown, width: int, language: Language) -> list[str]:
    """What stands above the document."""
    lines = []
    for turn in shown.turns:
        lines += text_lines(say("review.before", language, text=" ".join(turn.split())), width)
    lines += text_lines(" ".join(shown.query_text.split()), width)
    if shown.said:
        said = [
            say(
                "review.other_said_why" if one.reason else "review.other_said",
                language,
                grade=one.grade,
                reason=one.reason,
            )
            for one in shown.said
        ]
        lines += text_lines(say("review.others_said", language, grades=listed(said, language)), width)
    if shown.grade is not None:
        lines.append(say("review.your_grade", language, grade=shown.grade))
    if shown.note:
        lines += text_lines(say("review.your_note", language, note=shown.note), width)
    return lines


def body_lines(shown: Shown, width: int, language: Language) -> list[str]:
    """The document."""
    if shown.text is None:
        return text_lines(say("review.no_text", language, doc=shown.doc), width)
    return text_lines(shown.text, width) or text_lines(say("review.empty_text", language), width)


def pages_of(shown: Shown, width: int, height: int, language: Language) -> list[list[str]]:
    """The document in pages for a screen: below place, query and rule, above two lines of keys and answer."""
    room = max(_LEAST_PAGE, height - len(_head(shown, width, height, language)) - 5)
    lines = body_lines(shown, width, language)
    return [lines[i : i + room] for i in range(0, len(lines), room)]


def _head(shown: Shown, width: int, height: int, language: Language) -> list[str]:
    """A head that is longer than half of the screen is cut."""
    lines, most = head_lines(shown, width, language), max(2, height // 2 - 3)
    return lines if len(lines) <= most else [*lines[: most - 1], "…"]


def page_of(
    shown: Shown,
    number: int,
    place: str,
    scale: Sequence[float],
    answer: str,
    *,
    width: int,
    height: int,
    language: Language,
    color: bool,
) -> str:
    """The whole screen: lines of at most `width` columns, `height` in all."""
    pages = pages_of(shown, width, height, language)
    number = min(number, len(pages) - 1)
    head = _head(shown, width, height, language)
    foot = [answer] if answer else []
    if len(pages) > 1:
        foot.append(say("review.page", language, page=number + 1, pages=len(pages)))
    keys = wrapped(say("review.keys", language, grades=grades_line(scale)), width).split("\n")[0]
    bold, dim, plain = ("\x1b[1m", "\x1b[2m", "\x1b[0m") if color else ("", "", "")
    lines = [f"{dim}{_cut(place, width)[0]}{plain}", *(f"{bold}{line}{plain}" for line in head), "─" * width]
    lines += pages[number]
    lines += [""] * (height - len(lines) - len(foot[:2]) - 1)
    return "\n".join([*lines, *(_cut(line, width)[0] for line in foot[:2]), f"{dim}{_cut(keys, width)[0]}{plain}"])


def grades_line(scale: Sequence[float]) -> str:
    """0-3, or the grades one by one."""
    whole = [f"{grade:g}" for grade in scale]
    steps = {later - earlier for earlier, later in pairwise(scale)}
    return f"{whole[0]}-{whole[-1]}" if steps == {1.0} and len(scale) > 2 else ", ".join(whole)


def unknown_key(typed: str, word: str, scale: Sequence[float], language: Language) -> str:
    """What is said to a key that means nothing; to a number, how it becomes a grade."""
    try:
        float(word)
    except ValueError:
        return say("review.unknown_key", language, key=typed)
    return say("review.unknown_grade", language, key=typed, grades=grades_line(scale))


def help_lines(scale: Sequence[float], width: int, language: Language) -> list[str]:
    """What the grades mean, where they are the usual ones, and what the keys do."""
    names = {(0.0, 1.0, 2.0, 3.0): "grade", (0.0, 1.0): "binary"}.get(tuple(scale))
    own = [say(f"review.{names}_{grade:g}", language) for grade in scale] if names else [grades_line(scale)]
    lines = [say("review.help_question", language), *own, "", *say("review.help", language).split("\n")]
    return [part for line in lines for part in text_lines(line, width) or [""]]
