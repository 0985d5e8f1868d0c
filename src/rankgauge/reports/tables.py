"""Tables of finished texts on a terminal and as CSV."""

from __future__ import annotations

import csv
import io
import os
import re
import shutil
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TextIO
from unicodedata import category, combining, east_asian_width, normalize

from rankgauge.visible import visible

__all__ = [
    "LATER",
    "Table",
    "fitted",
    "render_csv",
    "render_terminal",
    "terminal_width",
    "total_width",
    "width_of",
    "wrapped",
]

_GAP = "  "
_LEAST = 20  # columns in which a text is still readable when it is wrapped
_CLIPPED = 8  # and a name when its middle is left out
LATER = 10
"""Columns of further measures have this priority or a higher one: they go before others, and before names are cut."""


@dataclass(frozen=True)
class Table:
    """Header and rows of cells; the first columns are text, the others numbers. A row of one cell stands across."""

    header: Sequence[str]
    rows: Sequence[Sequence[str]]
    text_columns: int | Sequence[bool] = 1
    """How many columns are text, or for each column whether it is."""
    drop: Sequence[int] = ()
    """For each column when it goes where there is no room: the highest first, 0 never."""
    shades: Mapping[tuple[int, int], str] = field(default_factory=dict)
    """Colours of cells, by row and column."""
    ruled: bool = True
    """Whether a line stands below the head."""

    def is_text(self, column: int) -> bool:
        kinds = self.text_columns
        return column < kinds if isinstance(kinds, int) else kinds[column]

    def columns(self, kept: Sequence[int]) -> Table:
        """Only some of its columns."""
        places = {old: new for new, old in enumerate(kept)}
        return Table(
            [self.header[j] for j in kept],
            [[row[j] for j in kept] if len(row) == len(self.header) else row for row in self.rows],
            [self.is_text(j) for j in kept],
            [self.drop[j] for j in kept] if self.drop else (),
            {(i, places[j]): shade for (i, j), shade in self.shades.items() if j in places},
            self.ruled,
        )


def render_csv(table: Table) -> str:
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerows([_harmless(cell) for cell in row] for row in (table.header, *table.rows))
    return buffer.getvalue()


def _harmless(cell: str) -> str:
    """A cell that a spreadsheet takes for a formula, such as a name that begins with =, becomes a text by a '. Tabs and
    ends of lines, behind which a formula may stand too, are spelled out."""
    cell = visible(cell)
    first = normalize("NFKC", cell.lstrip()[:1])  # full-width signs count too
    if cell == "-" or not first or first not in "=+-@":
        return cell
    try:
        float(cell)
    except ValueError:
        return f"'{cell}"
    return cell


def terminal_width(stream: TextIO | None = None, *, to_file: bool = False) -> int | None:
    """The width to draw for: the terminal's own, or that of COLUMNS; none at all where there is neither."""
    stream = stream or sys.stdout
    if to_file or not (stream.isatty() or os.environ.get("COLUMNS", "").isdecimal()):
        return None
    return max(shutil.get_terminal_size().columns, 20)


def width_of(text: str) -> int:
    """Columns a text takes on a terminal: Chinese characters take two."""
    if text.isascii():
        return len(text)
    return sum(2 if east_asian_width(c) in "WF" else 0 if combining(c) else 1 for c in text)


def wrapped(text: str, width: int | None, indent: str = "") -> str:
    """A text in lines of a width, broken at blanks and between Chinese characters, never within a word or number."""
    if width is None or width_of(text) <= width:
        return text
    lines, line = [], ""
    for piece in _pieces(text):
        if line.strip() and width_of(line + piece.rstrip()) > width:
            lines.append(line.rstrip())
            line = indent
            piece = piece.lstrip()
        line += piece
    return "\n".join([*lines, line.rstrip()])


_NUMBER = re.compile(r"[+−-]?[\d,.]+ ")
_BEGIN_WORDS = "'\"@#&*/\\"
"""Marks that begin a word where they stand behind a blank."""


def _pieces(text: str) -> list[str]:
    """Words with the blanks behind them, and Chinese characters with the marks that belong to them. A number keeps the
    character that says what it counts."""
    pieces: list[str] = []
    for character in text:
        last = pieces[-1][-1] if pieces else " "
        own = (_is_wide(character) or _is_wide(last) or last == " ") and not _ends_no_line(last)
        stuck = _begins_no_line(character) and not (last == " " and character in _BEGIN_WORDS)
        counted = bool(pieces) and _is_wide(character) and _NUMBER.fullmatch(pieces[-1]) is not None
        if not pieces or (own and character != " " and not stuck and not counted):
            pieces.append(character)
        else:
            pieces[-1] += character
    return pieces


def _begins_no_line(character: str) -> bool:
    """Marks that close something, commas and full stops, of any script."""
    return category(character) in ("Po", "Pe", "Pf")


def _ends_no_line(character: str) -> bool:
    """Marks that open something."""
    return category(character) in ("Ps", "Pi")


def _is_wide(character: str) -> bool:
    return east_asian_width(character) in "WF"


def _clipped(text: str, width: int) -> str:
    """A name in so many columns, its middle left out."""
    if width_of(text) <= width:
        return text
    end = text[-((width - 1) // 2) :]
    while width_of(end) > (width - 1) // 2:
        end = end[1:]
    start = text
    while width_of(start) > width - 1 - width_of(end):
        start = start[:-1]
    return f"{start}…{end}"


def _widths(table: Table) -> list[int]:
    whole = [row for row in (table.header, *table.rows) if len(row) == len(table.header)]
    return [
        max((width_of(line) for row in whole for line in row[j].split("\n")), default=0)
        for j in range(len(table.header))
    ]


def total_width(table: Table) -> int:
    """Columns that it takes on a terminal."""
    return sum(_widths(table)) + len(_GAP) * (len(table.header) - 1)


def render_terminal(table: Table, *, width: int | None = None, color: bool = False) -> str:
    """The table in columns. Where it is too wide, heads and texts are wrapped at words, then the columns without room
    stand in a second table below, with the names of the rows."""
    if width is None or total_width(table) <= width:
        return _drawn(table, color)
    narrow = _narrowed(table, width)
    if total_width(narrow) <= width:
        return _drawn(narrow, color)
    return "\n".join(_drawn(_squeezed(part, width), color) for part in _parts(table, width))


def fitted(table: Table, width: int) -> Table:
    """The table without the columns that there is no room for, by their priority. Names are cut only where it would not
    do to leave out what is `LATER`."""
    if total_width(table) <= width or total_width(_narrowed(table, width)) <= width:
        return table
    fewer = table
    while max(fewer.drop, default=0) >= LATER:
        fewer = _without_last(fewer)
        if total_width(fewer) <= width:
            return fewer
    least = max(_CLIPPED, width // 4)
    whole, short = table, _shorter(table, least)
    while any(short.drop) and total_width(_narrowed(short, width)) > width:
        whole, short = _without_last(whole), _without_last(short)
    # Where a column has gone there may be room for more of the names.
    longer = (_shorter(whole, room) for room in range(width // 2, least, -1))
    return next((one for one in longer if total_width(one) <= width), short)


def _without_last(table: Table) -> Table:
    """Without the column that goes first."""
    last = max(range(len(table.drop)), key=lambda j: (table.drop[j], j))
    return _without_empty_rows(table.columns([j for j in range(len(table.header)) if j != last]))


def _without_empty_rows(table: Table) -> Table:
    """An axis goes with its drawing."""
    return replace(table, rows=[row for row in table.rows if any(row)])


def _shorter(table: Table, room: int) -> Table:
    """Longer names without their middle; those of a column stay different."""
    rows = [list(row) for row in table.rows]
    for j in range(len(table.header)):
        whole = [row for row in rows if len(row) == len(table.header)]
        names = [row[j] for row in whole if " " not in row[j] and "─" not in row[j] and width_of(row[j]) > room]
        short = _different(names, room)
        for row in whole:
            row[j] = short.get(row[j], row[j])
    heads = [word for head in table.header for word in head.split(" ") if width_of(word) > room]
    short = _different(heads, room)
    header = [" ".join(short.get(word, word) for word in head.split(" ")) for head in table.header]
    return replace(table, header=header, rows=rows)


def _different(names: Sequence[str], room: int) -> dict[str, str]:
    """The names in so much room, without what they share where they would look alike."""
    short = {name: _clipped(name, room) for name in names}
    if len(set(short.values())) == len(short):
        return short
    first, last = min(short), max(short)
    same = next((i for i, (a, b) in enumerate(zip(first, last, strict=False)) if a != b), min(len(first), len(last)))
    tails = {name: f"…{name[same:]}" for name in short}
    return {
        name: tail if width_of(tail) <= room else f"{tail[: room - 1]}…" if tail.isascii() else _clipped(tail, room)
        for name, tail in tails.items()
    }


def _narrowed(table: Table, width: int) -> Table:
    """Heads wrapped to what stands below them, and the widest text wrapped to what is left."""
    body = _widths(replace(table, header=["" for _ in table.header]))
    longest = [max(map(width_of, head.split()), default=0) for head in table.header]
    header = [_at_blanks(head, max(b, w)) for head, b, w in zip(table.header, body, longest, strict=True)]
    table = replace(table, header=header)
    texts = [
        j for j in range(len(header)) if table.is_text(j) and any(" " in row[j] for row in table.rows if j < len(row))
    ]
    if total_width(table) <= width or not texts:
        return table
    widest = max(texts, key=lambda j: body[j])
    room = width - (total_width(table) - _widths(table)[widest])
    if room < _LEAST:
        return table
    rows = [
        [wrapped(cell, room) if j == widest else cell for j, cell in enumerate(row)] if len(row) == len(header) else row
        for row in table.rows
    ]
    head = _at_blanks(header[widest], max(room, longest[widest]))  # which was as wide as the text
    return replace(table, header=[head if j == widest else text for j, text in enumerate(header)], rows=rows)


def _at_blanks(head: str, width: int) -> str:
    """A head in lines of a width, in any script broken at its blanks alone."""
    lines: list[str] = []
    for word in head.split():
        if lines and width_of(f"{lines[-1]} {word}") <= width:
            lines[-1] += f" {word}"
        else:
            lines.append(word)
    return "\n".join(lines)


def _parts(table: Table, width: int) -> list[Table]:
    """The table in several, each with the columns that name its rows."""
    keys = [0]
    if len(table.header) > 2 and table.is_text(1) and sum(_widths(table)[:2]) < 0.75 * width:
        keys.append(1)
    parts: list[list[int]] = [[*keys]]
    for j in range(len(keys), len(table.header)):
        if len(parts[-1]) > len(keys) and total_width(_narrowed(table.columns([*parts[-1], j]), width)) > width:
            parts.append([*keys])
        parts[-1].append(j)
    return [_narrowed(_without_empty_rows(table.columns(kept)), width) for kept in parts]


def _squeezed(table: Table, width: int) -> Table:
    """The middle of long names left out, as far as needed."""
    while (over := total_width(table) - width) > 0:
        widths = _widths(table)
        longest = max(range(len(widths)), key=lambda j: widths[j])
        room = max(_CLIPPED, widths[longest] - over)
        if room >= widths[longest]:
            return table
        rows = [[_clipped(c, room) if j == longest else c for j, c in enumerate(row)] for row in table.rows]
        header = [_clipped(c, room) if j == longest else c for j, c in enumerate(table.header)]
        table = replace(table, rows=rows, header=header)
    return table


def _drawn(table: Table, color: bool) -> str:
    widths = _widths(table)

    def lines(row: Sequence[str], i: int | None = None) -> list[str]:
        if len(row) < len(widths):
            return [f"── {row[0]} ──"]
        cells = [cell.split("\n") for cell in row]
        made = []
        for n in range(max(map(len, cells))):
            line = []
            for j, cell in enumerate(cells):
                # What a head has beside others that are longer stands at their foot, a cell at their top.
                text = cell[n] if n < len(cell) else ""
                if i is None:
                    gone = max(map(len, cells)) - len(cell)
                    text = cell[n - gone] if n >= gone else ""
                blank = " " * (widths[j] - width_of(text))
                shade = table.shades.get((i, j)) if color and i is not None else None
                shown = f"\x1b[{shade}m{text}\x1b[0m" if shade and text else text
                line.append(shown + blank if table.is_text(j) else blank + shown)
            made.append(_GAP.join(line).rstrip())
        return made

    head = [f"\x1b[1m{line}\x1b[0m" if color else line for line in lines(table.header)]
    rule = ["─" * (sum(widths) + len(_GAP) * (len(widths) - 1))] if table.ruled else []
    return "\n".join([*head, *rule, *(line for i, row in enumerate(table.rows) for line in lines(row, i))]) + "\n"
