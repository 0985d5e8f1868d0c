"""What a check says: findings in keys and numbers, with the places they were found at."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

from rankgauge.arguments import named_arguments
from rankgauge.errors import DataError
from rankgauge.words import Note
from rankgauge.words.visible import clipped

__all__ = ["SEVERITIES", "Finding", "Mended", "NotMade", "Severity"]

Severity = Literal["error", "warning", "info"]
SEVERITIES: tuple[Severity, ...] = get_args(Severity)
"""An error makes scores wrong; a warning may turn what they mean; the rest is good to know."""
_KEPT = 1000  # places that a finding keeps; all are counted
_SHOWN = 40  # characters of a text in an example
_BREAKS = re.compile(r"\s*[\n\r\t]\s*")


@named_arguments
@dataclass(frozen=True)
class Finding:
    """One thing that is the matter, wherever in the test set."""

    kind: str
    """What it is: the key of its texts."""
    severity: Severity
    items: Sequence[Mapping[str, Any]] = ()
    """Where: ids and numbers; the first 1,000."""
    parameters: Mapping[str, Any] = field(default_factory=dict)
    """What its text needs beside the count."""
    count: int = 0
    """Of the places; the number of `items`, where it is not given."""
    command: str = ""
    """The command that mends it or leads there; TESTSET, CORPUS, RUNS and the like stand for what was given."""
    safe: bool = False
    """Whether `mend` does it."""
    check: str = ""
    """The check that found it; filled in by `lint`."""
    text: str = ""
    """What it is, in the words of a check from elsewhere, whose texts are not here."""

    def __post_init__(self) -> None:
        if self.severity not in SEVERITIES:
            raise DataError(f"`severity={self.severity!r}` of a finding is none of {', '.join(SEVERITIES)}")
        object.__setattr__(self, "count", self.count or len(self.items) or 1)
        object.__setattr__(self, "items", tuple(self.items[:_KEPT]))

    @property
    def note(self) -> Note | str:
        """What it is, to be told."""
        if self.text:
            return self.text
        level: Literal["info", "warning"] = "info" if self.severity == "info" else "warning"
        return Note(f"lint.{self.kind}", {"n": self.count, **self.parameters}, level)

    @property
    def advice(self) -> Note | None:
        """How it is mended, to be told."""
        return None if self.text else Note(f"lint.{self.kind}_mend", {"n": self.count, **self.parameters})

    def examples(self, n: int) -> list[Note | str]:
        """The first of its places, to be told."""
        if self.text:
            return [", ".join(f"{name} {value!r}" for name, value in item.items()) for item in self.items[:n]]
        shown = [{name: _short(value) for name, value in item.items()} for item in self.items[:n]]
        return [Note(f"lint.{item.get('as', self.kind)}_at", item) for item in shown]

    def to_dict(self) -> dict[str, Any]:
        """As JSON holds it."""
        told = {"text": self.text} if self.text else {}
        return {
            "check": self.check,
            "kind": self.kind,
            "severity": self.severity,
            "count": self.count,
            **told,
            "parameters": dict(self.parameters),
            "items": [{name: _plain(value) for name, value in item.items() if name != "as"} for item in self.items],
            "command": self.command,
            "safe": self.safe,
        }


def _plain(value: Any) -> Any:
    return value.key.rpartition(".")[2] if isinstance(value, Note) else value


def _short(value: Any) -> Any:
    """A value as an example shows it: a text on one line, cut where it is long."""
    return clipped(_BREAKS.sub(" ", value), _SHOWN) if isinstance(value, str) else value


@dataclass(frozen=True)
class NotMade:
    """A check that was not made, and what it takes."""

    check: str
    needs: tuple[str, ...]
    """Of `corpus`, `runs`, `labels`, `against`, `texts`, ...; what is lacking."""
    reason: str = ""
    """Why it could not be made with what there is."""


@dataclass(frozen=True)
class Mended:
    """One thing that was mended."""

    kind: str
    query: str
    doc: str = ""
    to: str = ""
    """What it became: the query that it was merged into, the id or grade that it has now."""

    @property
    def note(self) -> Note:
        return Note(f"lint.mended_{self.kind}", {"query": self.query, "doc": self.doc, "to": self.to})
