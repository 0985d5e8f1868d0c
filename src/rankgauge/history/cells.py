"""The types of the columns: the one place where a cell of the database becomes a value, or is found to be damaged.

SQLite takes anything in any column, and a disk, a copy in the middle of a change or another program can leave anything
there. So each cell that is read is checked, and what `damage` tells of a row is what these types say of its cells.
"""

from __future__ import annotations

import datetime
import json
import math
import re
from typing import Any, TypeVar

from rankgauge.errors import DataError
from rankgauge.history.sql import sa
from rankgauge.words.visible import shortened

__all__ = [
    "UTC",
    "Big",
    "Bytes",
    "Cell",
    "DamagedCellError",
    "Digest",
    "Json",
    "Number",
    "Share",
    "Text",
    "Whole",
    "Word",
]

T = TypeVar("T")
_SHOWN = 60
_DIGEST = re.compile("[0-9a-f]{64}")


class DamagedCellError(DataError):
    """A cell does not hold what was written there: `fault` says what it is instead."""

    def __init__(self, fault: str, place: str = "a cell of the history") -> None:
        super().__init__(f"{place} {fault}")
        self.fault = fault


class Cell(sa.types.TypeDecorator[T]):
    """A column's type. A column that may be empty says `null=True`."""

    holds = ""
    """What the cells hold, for messages."""

    def __init__(self, *, null: bool = False) -> None:
        super().__init__()
        self.null = null

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        cls.cache_ok = True  # SQLAlchemy asks each class for its own

    def value_of(self, cell: Any) -> T:
        """The value of a cell that is not empty; `ValueError` or `TypeError` for what cannot be in it."""
        raise NotImplementedError

    def fault(self, cell: Any) -> str | None:
        """What is wrong with a cell as the driver gave it, if anything is."""
        try:
            self.checked(cell)
        except DamagedCellError as error:
            return error.fault
        return None

    def checked(self, cell: Any) -> T | None:
        if cell is None:
            if self.null:
                return None
            raise DamagedCellError(f"is empty, not {self.holds}")
        try:
            return self.value_of(cell)
        except (TypeError, ValueError, OverflowError, RecursionError):
            raise DamagedCellError(f"is {shortened(repr(cell)[: 4 * _SHOWN], _SHOWN)}, not {self.holds}") from None

    def result_processor(self, dialect: Any, coltype: object) -> Any:
        """In place of the driver's own, which would stop at a wrong cell without a word of what it is."""
        return self.checked


class Text(Cell[str]):
    """Any text."""

    impl = sa.Text
    holds = "text in UTF-8"

    def value_of(self, cell: Any) -> str:
        if not isinstance(cell, str):
            raise TypeError
        cell.encode()  # bytes that are no text were read as halves of surrogate pairs
        return cell


class Digest(Text):
    """A SHA-256 in hexadecimal digits."""

    holds = "64 hexadecimal digits"

    def value_of(self, cell: Any) -> str:
        if not _DIGEST.fullmatch(cell):
            raise ValueError
        return str(cell)


class Word(Text):
    """One of some words."""

    def __init__(self, *words: str, null: bool = False) -> None:
        super().__init__(null=null)
        self.words = words
        self.holds = f"one of {', '.join(words)}"

    def value_of(self, cell: Any) -> str:
        if cell not in self.words:
            raise ValueError
        return str(cell)


class Whole(Cell[int]):
    """A whole number, not negative."""

    impl = sa.Integer
    _largest = 2**31 - 1

    def __init__(self, *, null: bool = False) -> None:
        super().__init__(null=null)
        self.holds = f"a whole number from 0 to {self._largest}"

    def value_of(self, cell: Any) -> int:
        if not isinstance(cell, int) or not 0 <= cell <= self._largest:
            raise ValueError
        return int(cell)

    def process_bind_param(self, value: int | None, dialect: Any) -> int | None:
        if value is not None and value > self._largest:
            raise DataError(
                f"{value} cannot be stored: the history counts to {self._largest}; a number in it is damaged, or begin "
                "a new history"
            )
        return value


class Big(Whole):
    """A whole number of 64 bits."""

    impl = sa.BigInteger
    _largest = 2**63 - 1


class Number(Cell[float]):
    """A finite number."""

    impl = sa.Double
    holds = "a finite number"

    def value_of(self, cell: Any) -> float:
        if not isinstance(cell, int | float) or not math.isfinite(cell):
            raise ValueError
        return float(cell)


class Share(Number):
    """A number from 0 to 1."""

    holds = "a number from 0 to 1"

    def value_of(self, cell: Any) -> float:
        share = super().value_of(cell)
        if not 0 <= share <= 1:
            raise ValueError
        return share


class UTC(Cell[datetime.datetime]):
    """A moment: stored in UTC, read back with its zone. SQLite knows no zones, so there it is bare and taken as UTC."""

    impl = sa.DateTime(timezone=True)
    holds = "a date and time"

    def process_bind_param(self, value: datetime.datetime | None, dialect: Any) -> datetime.datetime | None:
        if value is None:
            return None
        if value.tzinfo is None:
            raise ValueError("a moment without a time zone cannot be stored")
        return value.astimezone(datetime.UTC)

    def value_of(self, cell: Any) -> datetime.datetime:
        moment = cell if isinstance(cell, datetime.datetime) else datetime.datetime.fromisoformat(cell)
        return moment.replace(tzinfo=datetime.UTC) if moment.tzinfo is None else moment.astimezone(datetime.UTC)


class Bytes(Cell[bytes]):
    """Bytes."""

    impl = sa.LargeBinary
    holds = "bytes"

    def value_of(self, cell: Any) -> bytes:
        if not isinstance(cell, bytes | memoryview):
            raise TypeError
        return bytes(cell)


class Json(Cell[Any]):
    """Typed values as JSON. In ASCII: a database cannot hold all that an id can."""

    impl = sa.Text

    def __init__(self, kind: Any, *, null: bool = False) -> None:
        super().__init__(null=null)
        self.kind = kind
        self.holds = f"the JSON of {getattr(kind, '__name__', kind)}"

    def process_bind_param(self, value: Any, dialect: Any) -> str | None:
        import msgspec

        return None if value is None else json.dumps(msgspec.to_builtins(value))

    def value_of(self, cell: Any) -> Any:
        import msgspec

        if not isinstance(cell, str):
            raise TypeError
        return msgspec.convert(json.loads(cell), self.kind)  # its error is a ValueError
