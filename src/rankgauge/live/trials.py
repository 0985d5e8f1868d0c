"""Settings of a factory tried one by one: checked first, kept for a restart, given up where no server answers."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from typing import Any

from rankgauge.errors import DataError, MissingExtraError, RetrieverError
from rankgauge.live.asking import Asking
from rankgauge.live.evaluation import LiveEvaluation, RetrievalError
from rankgauge.retrievers.checks import check_progress
from rankgauge.retrievers.journal import Journal
from rankgauge.retrievers.own_code import told
from rankgauge.words import Note, tell
from rankgauge.words.visible import shortened

__all__ = ["Asked", "Keeping", "Trials", "asks_for_k", "check_factory", "try_settings"]

_DEAD = 2  # versions in a row without any connection, after which the rest is not asked
_SHOWN = 3


Keeping = Callable[[Mapping[str, Any], bool], AbstractContextManager[Journal | None]]
"""What holds the answers of a setting, which may be the exact one."""


Asked = Callable[[Mapping[str, Any], Any], int]
"""How many results a setting asks its retriever for."""


@dataclass(frozen=True)
class Trials:
    """What the settings gave: the numbers of those that were evaluated, and the others with the reason."""

    found: list[LiveEvaluation]
    numbers: list[int]
    failed: dict[str, Note]
    reference: LiveEvaluation | None


def asks_for_k(factory: Any, grid: Mapping[str, Any]) -> bool:
    """Whether k of a grid is how many results are asked for, which it is unless the factory has a parameter k."""
    try:
        return "k" in grid and "k" not in inspect.signature(factory).parameters
    except (TypeError, ValueError):  # some functions written in C
        return "k" in grid


def check_factory(factory: Any, settings: Sequence[Mapping[str, Any]], exact: Mapping[str, Any]) -> None:
    """A mistake that would let every setting fail is an error now."""
    makes = inspect.isroutine(factory) or isinstance(factory, type)
    if not callable(factory) or (not makes and callable(getattr(factory, "search", None))):
        raise DataError(
            f"a sweep needs a factory, a function that takes the parameters and gives a retriever, not a "
            f"{type(factory).__name__}; such as lambda ef_search: {type(factory).__name__}(ef_search)"
        )
    try:
        signed = inspect.signature(factory).parameters
    except (TypeError, ValueError):  # some functions written in C
        return
    given = dict.fromkeys(name for setting in settings for name in {**setting, **exact})
    open_ended = any(one.kind is one.VAR_KEYWORD for one in signed.values())
    named = [name for name, one in signed.items() if one.kind in (one.POSITIONAL_OR_KEYWORD, one.KEYWORD_ONLY)]
    takes = f"it takes: {', '.join(named) or 'none'}"
    called = getattr(factory, "__name__", type(factory).__name__)
    unknown = [] if open_ended else [name for name in given if name not in named]
    if unknown:
        raise DataError(f"the factory {called} has no parameter {', '.join(map(repr, unknown))}; {takes}")
    needed = [name for name in named if signed[name].default is inspect.Parameter.empty and name not in settings[0]]
    if needed:
        raise DataError(
            f"the factory {called} needs {', '.join(map(repr, needed))}, which the grid does not give; {takes}. "
            "Give a value in the grid, or a function that has it already"
        )


def try_settings(
    factory: Callable[..., Any],
    settings: Sequence[Mapping[str, Any]],
    asking: Asking,
    *,
    exact: Mapping[str, Any],
    progress: Callable[[int, int, str], None] | None,
    kept: Keeping,
    asked: Asked | None = None,
    after: Callable[[LiveEvaluation, Any], object] | None = None,
) -> Trials:
    """Every setting asked in turn. One that fails is left out and named; the others go on. With `asked`, k of a setting
    is not the factory's. `after` gets each evaluation together with its retriever, before the next one is made."""

    def given(setting: Mapping[str, Any]) -> Mapping[str, Any]:
        return setting if asked is None else {name: value for name, value in setting.items() if name != "k"}

    check_progress(progress)
    check_factory(factory, [given(setting) for setting in settings], exact)

    def evaluated(setting: Mapping[str, Any], name: str, *, is_exact: bool = False) -> LiveEvaluation:
        made = factory(**given(setting))
        k = asking.calls.k if asked is None else asked(setting, made)
        own = replace(asking, calls=replace(asking.calls, k=k))
        live = own.ask(made, name, lambda _: kept(setting, is_exact))
        if asked is not None and "k" in setting:
            live.whole_lists = True  # how many there are is what is tried
        if after is not None:
            after(live, made)
        return live

    reference = None
    if exact:
        try:
            reference = evaluated({**settings[0], **exact}, "exact", is_exact=True)
        except (Exception, SystemExit) as error:  # whatever the user's factory does
            raise RetrieverError(f"the exact search failed: {told(error)}") from None
    found: list[LiveEvaluation] = []
    numbers: list[int] = []
    failed: dict[str, Note] = {}
    dead: list[str] = []  # errors of the versions just before this one that got no connection
    for number, setting in enumerate(settings, start=1):
        reason: Note | None = None
        if len(dead) >= _DEAD and len(set(dead)) == 1:
            reason = Note("live.not_tried", {"n": _DEAD, "error": dead[-1]})
        else:
            if progress is not None:
                progress(number, len(settings), json.dumps(setting, ensure_ascii=False, default=str))
            silent = None
            try:
                found.append(evaluated(setting, f"V{number}"))
                numbers.append(number)
            except MissingExtraError:
                raise
            except RetrievalError as error:
                reason = error.reason
                silent = next(iter(error.retrieval.errors)) if error.retrieval.unreachable else None
            except (Exception, SystemExit) as error:  # whatever the user's factory does with this setting
                reason = Note("live.error", {"error": told(error)})
            dead = [] if silent is None else [*dead, silent][-_DEAD:]
        if reason is not None:
            failed[f"V{number}"] = Note("live.setting", {"setting": str(setting), "reason": reason}, "warning")
    if not found:
        said = [f"{label} {shortened(tell(note, 'en'))}" for label, note in failed.items()]
        more = f"; and {len(said) - _SHOWN} more" if len(said) > _SHOWN else ""
        raise RetrieverError("no version could be evaluated: " + "; ".join(said[:_SHOWN]) + more)
    return Trials(found, numbers, failed, reference)
