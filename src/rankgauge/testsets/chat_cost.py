"""What calls of a language model cost: estimates before, a budget that holds meanwhile, and what was spent.

A budget holds whatever happens: before a call its most possible cost is set aside, and once its answer is there, what
it did cost counts. The most possible is known without the model's own tokenizer: no token is shorter than a byte.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Final

from rankgauge.arguments import named_arguments
from rankgauge.errors import DataError
from rankgauge.retrievers.checks import check_number, check_whole

__all__ = ["Budget", "Ledger", "Prices", "Usage", "as_budget", "as_prices", "likely_tokens", "most_tokens"]

_MILLION: Final = 1_000_000
_OF_A_MESSAGE: Final = 16
"""Tokens that servers put around a message, at most."""
_OF_A_REQUEST: Final = 64
_NARROW: Final = 0x2E80
"""Characters from here on are those of East Asia, of which tokenizers make a token each."""


@named_arguments
@dataclass(frozen=True)
class Prices:
    """What a million tokens cost."""

    prompt: float
    completion: float
    unit: str = "USD"

    def __post_init__(self) -> None:
        for name in ("prompt", "completion"):
            object.__setattr__(self, name, check_number(f"prices: {name}", getattr(self, name), 0))
        if not isinstance(self.unit, str) or not self.unit.strip():
            raise DataError(f"`unit` of prices is a currency such as USD, not {self.unit!r}"[:100])

    def of(self, prompt_tokens: float, completion_tokens: float) -> float:
        return (self.prompt * prompt_tokens + self.completion * completion_tokens) / _MILLION


def as_prices(given: Prices | Sequence[float] | None) -> Prices | None:
    """Prices from a pair of numbers."""
    if given is None or isinstance(given, Prices):
        return given
    if isinstance(given, str | Mapping) or not isinstance(given, Sequence) or len(given) not in (2, 3):
        raise DataError(f"`prices={given!r}` are those of a million tokens, (prompt, completion)"[:200])
    pair: Sequence[Any] = given
    return Prices(*pair)


def likely_tokens(text: str) -> int:
    """About how many tokens a text has: one for 4 letters of an alphabet, one for a character of East Asia."""
    wide = sum(map(_NARROW.__le__, map(ord, text))) if not text.isascii() else 0
    return math.ceil((len(text) - wide) / 4 + wide)


def most_tokens(messages: Iterable[Mapping[str, str]], schema: Any = None) -> int:
    """More tokens than a request has in any tokenizer of bytes; a schema is counted twice, for it may be put into the
    text too."""
    said = sum(len(one["content"].encode("utf-8", "surrogatepass")) + _OF_A_MESSAGE for one in messages)
    return said + _OF_A_REQUEST + (2 * len(str(schema)) if schema is not None else 0)


@named_arguments
@dataclass(frozen=True)
class Budget:
    """What may be spent: calls, tokens, money in the unit of the prices; None is no limit."""

    calls: int | None = None
    tokens: int | None = None
    cost: float | None = None

    def __post_init__(self) -> None:
        for name in ("calls", "tokens"):
            if getattr(self, name) is not None:
                check_whole(f"budget: {name}", getattr(self, name), 0)
        if self.cost is not None:
            check_number("budget: cost", self.cost, 0)

    @property
    def limited(self) -> bool:
        return (self.calls, self.tokens, self.cost) != (None, None, None)


def as_budget(given: Budget | Mapping[str, float] | None) -> Budget:
    """A budget from a mapping."""
    if given is None or isinstance(given, Budget):
        return given or Budget()
    if not isinstance(given, Mapping):
        raise DataError('`budget` is a mapping such as {"calls": 100, "tokens": 1000000, "cost": 5.0}')
    whole = {name: int(given[name]) for name in given if name != "cost" and float(given[name]).is_integer()}
    return Budget(**{**given, **whole})  # type: ignore[arg-type]


@dataclass
class Usage:
    """What was spent. Tokens that a server did not tell are counted as the most they can be, and are also `guessed`."""

    calls: int = 0
    """Requests that were sent, the ones that failed included."""
    kept: int = 0
    """Answers of earlier runs, which cost nothing now."""
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost: float | None = None
    """In the unit of the prices; None where there are none."""
    unit: str = ""
    guessed: int = 0

    @property
    def tokens(self) -> int:
        return self.prompt_tokens + self.completion_tokens

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True)
class Stake:
    """The most that one call can cost."""

    prompt: int
    completion: int
    cost: float | None


@dataclass
class Ledger:
    """A budget and what of it is spent, for threads and for several models together."""

    budget: Budget = field(default_factory=Budget)
    spent: Usage = field(default_factory=Usage)

    def __post_init__(self) -> None:
        self._changed = threading.Condition()
        self._open: list[Stake] = []

    def check(self, prices: Prices | None) -> None:
        """A budget of money needs prices, all in one unit."""
        if prices is None:
            if self.budget.cost is not None:
                raise DataError("a budget of money needs the prices of the model: give `prices=`, or limit the tokens")
            return
        if self.spent.unit not in ("", prices.unit):
            raise DataError(f"prices in {self.spent.unit} and in {prices.unit} make no sum; give all in one unit")
        self.spent.unit = prices.unit
        self.spent.cost = self.spent.cost or 0.0

    def stake(self, most_prompt: int, most_completion: int, prices: Prices | None) -> Stake:
        cost = None if prices is None else prices.of(most_prompt, most_completion)
        return Stake(most_prompt, most_completion, cost)

    def take(self, stake: Stake) -> bool:
        """Set the most that a call can cost aside; False where the budget has no room for it, now or later. Where
        calls under way may leave room, it waits for their ends."""
        with self._changed:
            while not self._fits(stake):
                if not self._open or self.spent.calls == self.budget.calls:
                    return False
                self._changed.wait(0.1)
            self._open.append(stake)
            self.spent.calls += 1
            return True

    def settle(
        self, stake: Stake, prompt: int | None, completion: int | None, prices: Prices | None, *, paid: bool = True
    ) -> None:
        """A call has ended. What is not told counts as the most it can be; what was refused costs nothing."""
        with self._changed:
            self._open.remove(stake)
            if paid:
                self.spent.guessed += prompt is None or completion is None
                prompt = stake.prompt if prompt is None else prompt
                completion = stake.completion if completion is None else completion
                self.spent.prompt_tokens += prompt
                self.spent.completion_tokens += completion
                if prices is not None:
                    self.spent.cost = (self.spent.cost or 0.0) + prices.of(prompt, completion)
            self._changed.notify_all()

    def kept(self) -> None:
        with self._changed:
            self.spent.kept += 1

    def _fits(self, stake: Stake) -> bool:
        """Whether budget, what is spent and what is set aside leave room."""
        limits, spent = self.budget, self.spent
        if limits.calls is not None and spent.calls + 1 > limits.calls:
            return False
        aside = [*self._open, stake]
        if limits.tokens is not None and spent.tokens + sum(s.prompt + s.completion for s in aside) > limits.tokens:
            return False
        if limits.cost is None:
            return True
        return (spent.cost or 0.0) + math.fsum(s.cost or 0.0 for s in aside) <= limits.cost
