"""A report before it is written: headings, tables of typed cells, notes and charts, without words and unrounded.

It is built once from a result; a renderer puts it into the words of a language and rounds it. Every block has a level
of detail: the answer, which is the first screen, the evidence for it, or what only an audit asks for. A terminal shows
the answer unless more is asked for, a page shows everything.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias, TypeVar, get_args

from rankgauge.words import Language, Note

if TYPE_CHECKING:
    from rankgauge.record import Record

__all__ = [
    "DETAILS",
    "Bar",
    "Beside",
    "Block",
    "Card",
    "Cards",
    "Cell",
    "Charts",
    "Check",
    "Column",
    "Detail",
    "Drawn",
    "Estimate",
    "Explorer",
    "Facts",
    "Formula",
    "Heading",
    "Kind",
    "Marked",
    "Notes",
    "Outcome",
    "Pair",
    "Paragraph",
    "Reading",
    "Report",
    "Scored",
    "Status",
    "Suite",
    "Table",
    "Target",
    "Text",
    "data_table",
    "note_about",
    "said_once",
    "table_of",
    "word",
]

T = TypeVar("T")
Detail = Literal["answer", "evidence", "audit"]
DETAILS: tuple[Detail, ...] = get_args(Detail)
Status = Literal["pass", "fail", "warn", "open"]
"""What a decision comes to: good news, bad news, to be looked at, or undecided."""

Kind = Literal[
    "text",
    "count",
    "score",  # 0.7123
    "signed",  # +0.0123
    "bounds",  # [-0.0123, +0.0456]
    "relative",  # +12.3 %
    "share",  # 81 %
    "p",
    "effect",  # +0.31
    "tau",  # 0.82
    "ms",  # seconds, written as milliseconds
    "latency",  # the same at a glance: 0.1, 12.3
    "figure",  # three digits
    "plain",  # six digits, for programs
    "exact",  # all digits, for programs
    "plot",  # an interval, drawn
    "bar",  # a share, drawn
]
"""What a column holds, and so how its numbers are written."""


@dataclass(repr=False, eq=False, match_args=False)
class Estimate:
    """A mean with its interval."""

    value: float
    ends: tuple[float, float] | None


@dataclass(repr=False, eq=False, match_args=False)
class Pair:
    """Two systems that are compared, from a to b."""

    a: str
    b: str


@dataclass(repr=False, eq=False, match_args=False)
class Reading:
    """A mean in the words of its measure."""

    measure: str
    value: float


@dataclass(repr=False, eq=False, match_args=False)
class Formula:
    """The formula of a measure, which a language may tell in its own words."""

    measure: str
    recorded: str


@dataclass(repr=False, eq=False, match_args=False)
class Drawn:
    """A value and its interval at their place between the least and the greatest of a table."""

    value: float
    ends: tuple[float, float] | None
    scale: tuple[float, float]
    zero: bool = False
    """Whether the place of 0 is marked, as it is for differences."""


@dataclass(repr=False, eq=False, match_args=False)
class Bar:
    """A share between 0 and 1 as a bar of that length."""

    share: float


@dataclass(repr=False, eq=False, match_args=False)
class Scored:
    """A score, marked where it differs significantly."""

    value: float
    mark: str = ""
    """better, worse, or nothing."""


@dataclass(repr=False, eq=False, match_args=False)
class Marked:
    """Words that stand out, such as a verdict."""

    words: tuple[Note, ...]
    mark: str = "quiet"
    """better, worse, equivalent, inconclusive, pass, fail, warn or quiet."""


Text: TypeAlias = Note | Reading | Formula | str
"""A text is a name from elsewhere; words are notes."""
Cell: TypeAlias = Text | int | float | tuple[float, float] | Estimate | Pair | Marked | Drawn | Bar | Scored | None


def word(name: str, /, **parameters: Any) -> Note:
    """A note of the words that reports share."""
    return Note(f"report.{name}", parameters)


def note_about(names: Sequence[str], note: Note) -> Note:
    """A note with the systems or measures that it is about."""
    return Note("report.of", {"who": list(names), "text": note}, note.level)


@dataclass(repr=False, eq=False, match_args=False)
class Column:
    """What stands in a column. One that stands `under` another is its second line where there is room for it."""

    head: Text
    kind: Kind = "text"
    key: str = ""
    under: str = ""
    hint: Note | None = None
    """Said below the head where there is room."""
    detail: Detail = "answer"
    drop: int = 0
    """Where there is no room for all columns those with the highest number go first, those with 0 never."""
    most: int = 0
    """Characters of a text on a terminal, where there is little room; 0: all of it."""


class Target(NamedTuple):
    """What a row is about: the queries of a measure, of a system or pair, or one query."""

    measure: str = ""
    system: str = ""
    pair: tuple[str, str] | None = None
    query: str = ""


@dataclass(repr=False, eq=False, match_args=False)
class Table:
    """Rows of cells; a row of a single note stands across all columns."""

    name: str
    columns: Sequence[Column]
    rows: Sequence[Sequence[Cell]]
    title: Text | None = None
    notes: Sequence[Note] = ()
    """What belongs right below it."""
    notes_on: str = ""
    """The key of the column that the notes are about: where there is no room for it, they go with it."""
    detail: Detail = "answer"
    light: bool = False
    """Whether it is short enough to do without a line below its head."""
    leads_to: Sequence[Target] = ()
    """For each row what a page opens when it is chosen."""


def table_of(
    name: str, items: Iterable[T], columns: Sequence[tuple[Column, Callable[[T], Cell]]], **about: Any
) -> Table:
    """A table with a row for each item; behind each column stands how its cell is got."""
    rows = [[cell(item) for _, cell in columns] for item in items]
    return Table(name, [column for column, _ in columns], rows, **about)


def data_table(name: str, rows: Sequence[Mapping[str, Cell]], kind: Kind = "plain") -> Table:
    """A table for programs: the names of its columns are those of its cells, in the order they first come."""
    heads = list(dict.fromkeys(head for row in rows for head in row))
    return Table(name, [Column(head, kind) for head in heads], [[row.get(head) for head in heads] for row in rows])


@dataclass(repr=False, eq=False, match_args=False)
class Heading:
    """The beginning of a section."""

    words: Text
    id: str
    detail: Detail = "audit"
    folded: bool = False
    """Whether a page shows the section only when it is asked for."""


@dataclass(repr=False, eq=False, match_args=False)
class Paragraph:
    """A text of its own; hints say how to read what stands beside them."""

    words: Text
    style: Literal["lead", "plain", "hint"] = "plain"
    detail: Detail = "answer"
    status: Status | None = None
    """Of a lead that is a decision."""


@dataclass(repr=False, eq=False, match_args=False)
class Notes:
    """Notes, one below the other."""

    notes: Sequence[Note]
    title: Text | None = None
    detail: Detail = "answer"
    bulleted: bool = False
    """Whether each stands behind a mark, below a title that says what they are."""
    folded: bool = False
    """Whether formats that can fold show them only on request."""


@dataclass(repr=False, eq=False, match_args=False)
class Facts:
    """Names and values, such as the choices of a contract."""

    title: Note
    entries: Sequence[tuple[Text, Text]]
    name: str = ""
    detail: Detail = "answer"


@dataclass(repr=False, eq=False, match_args=False)
class Card:
    """What one figure says."""

    head: str
    words: Text
    names_itself: bool = False
    """Whether the words say what they are about."""


@dataclass(repr=False, eq=False, match_args=False)
class Cards:
    """The figures that matter, each in a sentence, for formats that are read from above; a page shows them in place."""

    cards: Sequence[Card]
    detail: Detail = "answer"


@dataclass(repr=False, eq=False, match_args=False)
class Charts:
    """Drawings of one kind. Their specifications hold words and formats, so they are made when the language and the
    digits are known."""

    kind: str
    caption: Note
    draw: Callable[[Language, int], Sequence[Any]]
    detail: Detail = "audit"


@dataclass(repr=False, eq=False, match_args=False)
class Beside:
    """Blocks that stand side by side where there is room."""

    blocks: Sequence[Block]
    detail: Detail = "answer"


@dataclass(repr=False, eq=False, match_args=False)
class Explorer:
    """Single queries. A page lets its reader choose among all of them; other formats show these blocks."""

    static: Sequence[Block]
    detail: Detail = "answer"


@dataclass(repr=False, eq=False, match_args=False)
class Outcome:
    """What was decided."""

    words: Text
    status: Status
    detail: Detail = "answer"


Block: TypeAlias = Heading | Table | Notes | Paragraph | Facts | Cards | Charts | Beside | Explorer | Outcome


@dataclass(repr=False, eq=False, match_args=False)
class Check:
    """Something that was required, and what came of it."""

    name: Text
    outcome: Literal["pass", "fail", "open", "error"]
    status: str
    words: Text


@dataclass(repr=False, eq=False, match_args=False)
class Suite:
    """Checks that belong together, for formats that are lists of tests."""

    title: Text
    system: str
    checks: Sequence[Check]
    created: str = ""
    warnings: Sequence[Note] = ()


@dataclass(repr=False, eq=False, match_args=False)
class Report:
    """The document. `data` are the figures as plain tables for programs, of which the first is the main one."""

    title: Note
    blocks: Sequence[Block]
    subtitle: Note | None = None
    data: Mapping[str, Table] = field(default_factory=dict)
    suites: Sequence[Suite] = ()
    cautions: Sequence[Note] = ()
    """Warnings that go with the figures into every format."""
    record: Record | None = None
    """What it was built from, for pages that let their readers explore it."""

    def shown(self, detail: Detail = "evidence") -> Iterator[Block]:
        """The blocks up to a level of detail, for formats that can neither explore nor set side by side."""
        return _shown(self.blocks, DETAILS.index(detail))


def _shown(blocks: Sequence[Block], most: int) -> Iterator[Block]:
    for block in blocks:
        if DETAILS.index(block.detail) > most:
            continue
        if isinstance(block, Beside):
            yield from _shown(block.blocks, most)
        elif isinstance(block, Explorer):
            yield from _shown(block.static, most)
        else:
            yield block


def said_once(notes: Iterable[tuple[Note, str]]) -> list[tuple[Note, list[str]]]:
    """Notes that are alike as one, each with all that it is about."""
    said: list[tuple[Note, list[str]]] = []
    for note, name in notes:
        names = next((names for known, names in said if known == note), None)
        if names is None:
            said.append((note, [name]))
        else:
            names.append(name)
    return said
