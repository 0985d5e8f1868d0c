"""Bars that figures are held to: each is printed beside its figure, and those that were missed again at the end."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

__all__ = ["Bar", "Bars"]


@dataclass
class Bar:
    what: str
    figure: float
    bar: float
    at_least: bool
    unit: str

    @property
    def met(self) -> bool:
        return self.figure >= self.bar if self.at_least else self.figure <= self.bar

    def __str__(self) -> str:
        sign = "at least" if self.at_least else "at most"
        return f"{self.figure:.3g}{self.unit} ({sign} {self.bar:g}{self.unit}{'' if self.met else ', MISSED'})"


class Bars:
    def __init__(self) -> None:
        self._held: list[Bar] = []
        self._skipped: list[str] = []

    def times(self, what: str, ratio: float, bar: float) -> Bar:
        """How many times faster something is."""
        return self._hold(Bar(what, ratio, bar, at_least=True, unit="x"))

    def most(self, what: str, figure: float, bar: float, unit: str) -> Bar:
        return self._hold(Bar(what, figure, bar, at_least=False, unit=unit))

    def take(self, held: Iterable[Mapping[str, Any]]) -> None:
        """Those that another process held, as `to_list` gives them."""
        for bar in held:
            self._hold(Bar(**{name: value for name, value in bar.items() if name != "met"}))

    def skip(self, why: str) -> None:
        """Bars of which nothing was measured, and what it would take; printed here, and again at the end."""
        print(f"    skipped: {why}")
        self._skipped.append(why)

    def _hold(self, bar: Bar) -> Bar:
        self._held.append(bar)
        return bar

    @property
    def missed(self) -> list[Bar]:
        return [bar for bar in self._held if not bar.met]

    def to_list(self) -> list[dict[str, object]]:
        return [{**asdict(bar), "met": bar.met} for bar in self._held]

    def told(self) -> str:
        """Which bars were missed, and which were not measured."""
        held, missed = len(self._held), self.missed
        if not held:
            lines = ["No bar stands for what was measured."]
        elif not missed:
            lines = [f"All {held} bars were met."]
        else:
            lines = [f"{len(missed)} of {held} bars were missed:", *(f"    {bar.what}: {bar}" for bar in missed)]
        return "\n".join([*lines, *(f"not measured: {why}" for why in self._skipped)])
