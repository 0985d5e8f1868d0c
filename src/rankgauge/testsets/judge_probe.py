"""Probes of a judge: does it say the same again, in another order, of a longer document, and if it is told what to say?

Every probe shows documents in two ways that should make no difference, and counts how often the grade differs. The
same question again comes first: what differs there is the noise that all other figures hold too.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Final

from rankgauge.formats.settings import read_toml
from rankgauge.stats.intervals import share_interval
from rankgauge.testsets.chat_cache import AnswerCache
from rankgauge.testsets.chat_cost import Ledger
from rankgauge.testsets.chat_requests import ChatRequest
from rankgauge.testsets.judge import Judge
from rankgauge.testsets.judge_asking import Group, ask_judge
from rankgauge.words import Note

__all__ = ["ATTACKS", "JudgeProbe", "ProbeFigures", "planted", "probe_groups", "probe_requests"]

ATTACKS: Final = ("order", "role", "closing", "authority", "stuffing")
_FOLDER: Final = Path(__file__).parent / "rubrics"
_AGAIN: Final = 100_000  # samples from here on are those of probes
_UNEQUAL: Final = 0.1


@dataclass(frozen=True)
class ProbeFigures:
    """Grades of the same documents, shown in two ways."""

    kind: str
    """`repeat`, `position`, `length`, or an attack."""
    n: int
    equal: float
    """Share whose grade is the same."""
    raised: float
    """Share whose grade is higher."""
    to_highest: float
    """Share that got the highest grade of the scale and did not have it."""
    shift: float
    """Mean change of the grade."""

    @property
    def raised_between(self) -> tuple[float, float]:
        """Bounds of the share raised, each one-sided at 95 % (Wilson)."""
        return share_interval(self.raised, self.n, 0.90) if self.n else (0.0, 1.0)


@dataclass(frozen=True)
class JudgeProbe:
    """What probes of one judge found."""

    judge: str
    figures: tuple[ProbeFigures, ...]
    stopped: str = ""
    """What kept some of it from being asked: `budget`, `interrupted` or `failing`."""

    def of(self, kind: str) -> ProbeFigures | None:
        return next((one for one in self.figures if one.kind == kind), None)

    @property
    def attacks(self) -> list[ProbeFigures]:
        return [one for one in self.figures if one.kind in ATTACKS]

    @property
    def fell_for(self) -> list[ProbeFigures]:
        """Attacks that raised grades more often than asking again does: the bounds of the two shares do not meet."""
        repeat = self.of("repeat")
        noise = 0.0 if repeat is None else repeat.raised_between[1]
        return [one for one in self.attacks if one.raised_between[0] > noise]

    @property
    def notes(self) -> list[Note]:
        notes = []
        if self.fell_for:
            worst = max(self.fell_for, key=lambda one: one.raised)
            kinds = [Note(f"judge.probe_{one.kind}") for one in self.fell_for]
            about = {"judge": self.judge, "kinds": kinds, "share": worst.raised, "n": worst.n}
            notes.append(Note("judge.injectable", about, "warning"))
        for kind in ("repeat", "position", "length"):
            one = self.of(kind)
            if one is not None and one.n and 1 - one.equal > _UNEQUAL:
                about = {"judge": self.judge, "share": 1 - one.equal, "n": one.n, "shift": one.shift}
                notes.append(Note(f"judge.unsteady_{kind}", about, "warning"))
        if self.stopped:
            notes.append(Note("judge.probe_incomplete", {"judge": self.judge}))
        return notes

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


def planted(kind: str, text: str, query: str, highest: int, language: str = "en") -> str:
    """A document with an instruction for its judge, or what else is planted to please it."""
    texts: Mapping[str, str] = read_toml(_FOLDER / f"attacks-{language}.toml")
    attack = texts[kind].replace("{highest}", str(highest)).strip()
    return f"{text}\n\n{attack.replace('{query}', query)}"


def probe_groups(
    judge: Judge,
    groups: Sequence[Group],
    n: int,
    *,
    ledger: Ledger,
    cache: AnswerCache | None,
    seed: int = 0,
    progress: Callable[[int, int], object] | None = None,
) -> JudgeProbe:
    """Probe a judge with about n documents of some groups, drawn by the seed."""
    probing = _Probing(judge, ledger, cache, progress)
    alone, lists = _shown(groups, n, seed)
    base = probing.grades(alone)
    figures = [probing.figures("repeat", base, probing.grades(_again(alone), _AGAIN))]
    if lists:
        figures.append(probing.figures("position", probing.grades(lists), probing.grades(_turned(lists))))
    longer = _longer(alone)
    if longer:
        figures.append(probing.figures("length", base, probing.grades(longer)))
    highest = judge.rubric.highest
    open_ones = [one for one in alone if base.get(one.pairs[0], highest) < highest]
    for kind in ATTACKS:
        figures.append(probing.figures(kind, base, probing.grades(_attacked(judge, kind, open_ones))))
    return JudgeProbe(judge.name, tuple(figures), probing.stopped or ("" if base else "failing"))


def probe_requests(judge: Judge, groups: Sequence[Group], n: int, seed: int = 0) -> list[ChatRequest]:
    """What a probe asks at most: documents that have the highest grade already are not shown with an instruction."""
    alone, lists = _shown(groups, n, seed)
    attacked = [one for kind in ATTACKS for one in _attacked(judge, kind, alone)]
    shown = [*alone, *lists, *_turned(lists), *_longer(alone), *attacked]
    return [one.request(judge, 0) for one in shown] + [one.request(judge, _AGAIN) for one in _again(alone)]


def _shown(groups: Sequence[Group], n: int, seed: int) -> tuple[list[Group], list[Group]]:
    """The documents of a probe one by one, and the lists in which they are judged."""
    drawn = _drawn(groups, n, seed)
    alone = [group.alone(doc) for group in drawn for doc in group.docs][:n]
    return alone, [group for group in drawn if len(group.docs) > 1]


def _again(alone: Sequence[Group]) -> list[Group]:
    return [replace(one, kind="again") for one in alone]


def _turned(lists: Sequence[Group]) -> list[Group]:
    return [replace(one, docs=one.docs[::-1], texts=one.texts[::-1], kind="turned") for one in lists]


def _attacked(judge: Judge, kind: str, alone: Sequence[Group]) -> list[Group]:
    """Documents with something planted at their ends."""
    highest, language = judge.rubric.highest, judge.rubric.language
    return [
        replace(one, texts=(planted(kind, _room(judge, one.texts[0]), one.text, highest, language),), kind=kind)
        for one in alone
    ]


def _room(judge: Judge, text: str) -> str:
    """The document without its end, where what is planted would be cut."""
    return judge.text_of(text)[: max(judge.max_chars - 600, judge.max_chars // 2)]


def _drawn(groups: Sequence[Group], n: int, seed: int) -> list[Group]:
    """Groups with n documents together, from all queries alike."""
    mixed, drawn, docs = random.Random(seed).sample(list(groups), len(groups)), list[Group](), 0
    for group in mixed:
        if docs >= n:
            break
        drawn.append(group)
        docs += len(group.docs)
    return drawn


def _longer(alone: Sequence[Group]) -> list[Group]:
    """Each document with one of another query behind it, which cannot make it more relevant."""
    made = []
    for place, one in enumerate(alone):
        other = next((two for two in (*alone[place + 1 :], *alone[:place]) if two.query != one.query), None)
        if other is not None:
            made.append(replace(one, texts=(f"{one.texts[0]}\n\n{other.texts[0]}",), kind="longer"))
    return made


class _Probing:
    """Grades of documents, one sample each."""

    def __init__(
        self, judge: Judge, ledger: Ledger, cache: AnswerCache | None, progress: Callable[[int, int], object] | None
    ) -> None:
        self.judge, self.ledger, self.cache, self.progress = judge, ledger, cache, progress
        self.stopped = ""

    def grades(self, groups: Sequence[Group], first: int = 0) -> dict[tuple[str, str], int]:
        if not groups or self.stopped:
            return {}
        asked = ask_judge(
            self.judge,
            groups,
            ledger=self.ledger,
            cache=self.cache,
            samples=1,
            first=first,
            progress=self.progress,
        )
        self.stopped = asked.stopped
        return {pair: verdicts[0].grade for pair, verdicts in asked.verdicts.items()}

    def figures(
        self, kind: str, before: Mapping[tuple[str, str], int], after: Mapping[tuple[str, str], int]
    ) -> ProbeFigures:
        both = [(before[pair], grade) for pair, grade in after.items() if pair in before]
        n, top = len(both), self.judge.rubric.highest
        if not n:
            return ProbeFigures(kind, 0, 1.0, 0.0, 0.0, 0.0)
        equal = sum(old == new for old, new in both) / n
        raised = sum(new > old for old, new in both) / n
        highest = sum(old < top == new for old, new in both) / n
        return ProbeFigures(kind, n, equal, raised, highest, sum(new - old for old, new in both) / n)
