"""Systems of a plan: built-in retrievers, adapters and the user's own, checked first and made when needed."""

from __future__ import annotations

import hashlib
import importlib
import inspect
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rankgauge.errors import RankgaugeError
from rankgauge.model.testset import Corpus

__all__ = ["SystemPlan", "check_system", "code_of", "make_system"]


@dataclass(frozen=True)
class SystemPlan:
    """One system of a plan: a retriever by name (`use`), or what makes one (`factory`), with parameters."""

    name: str
    use: str | None = None
    factory: str | None = None
    parameters: Mapping[str, Any] = field(default_factory=dict)
    id_field: str | None = None
    score_field: str | None = None

    @property
    def configuration(self) -> dict[str, Any]:
        """What answers depend on, for the cache."""
        return {
            "use": self.use,
            "factory": self.factory,
            "parameters": dict(self.parameters),
            "id_field": self.id_field,
            "score_field": self.score_field,
        }


def code_of(system: SystemPlan, folder: Path) -> str | None:
    """A hash of the file that a system of the user's own is written in, so that answers of older code are not taken
    for this one's. What that file imports is not looked at."""
    text = system.use if system.use is not None and ":" in system.use else system.factory
    if text is None:
        return None
    module = sys.modules.get(text.partition(":")[0])
    path = getattr(module, "__file__", None)
    if path is None or not Path(path).is_file():
        return None
    return hashlib.sha256(Path(path).read_bytes()).hexdigest()


def check_system(system: SystemPlan, folder: Path, *, has_corpus: bool) -> list[str]:
    """What is wrong with it, without building an index or calling anything."""
    if system.use is not None and ":" not in system.use:
        return _check_named(system.use, system.parameters, has_corpus=has_corpus)
    try:
        found = _load(str(system.use or system.factory), folder)
    except RankgaugeError as error:
        return [str(error)]
    if system.use is not None:
        return ["parameters go to a factory; an object that is used as it is takes none"] if system.parameters else []
    if not callable(found):
        return [f"{system.factory!r} cannot be called"]
    try:
        signature = inspect.signature(found)
    except (TypeError, ValueError):
        return []
    kinds = {p.kind for p in signature.parameters.values()}
    if inspect.Parameter.VAR_KEYWORD in kinds:
        return []
    faults = _unknown(system.parameters, set(signature.parameters), set())
    if "corpus" in signature.parameters and not has_corpus and signature.parameters["corpus"].default is inspect._empty:
        faults.append('its factory takes the corpus: corpus = "corpus.jsonl"')
    return faults


def _check_named(name: str, parameters: Mapping[str, Any], *, has_corpus: bool) -> list[str]:
    from rankgauge.retrievers.builtin import check_parameters, factories

    if name == "http":
        return _unknown(parameters, _http_parameters(), {"url"})
    known = [*factories(), "http"]
    if name not in known:
        return [f"{name!r} is no built-in retriever ({', '.join(known)}); your own is written module:attribute"]
    if not has_corpus:
        return [f'the built-in retriever {name!r} needs documents: corpus = "corpus.jsonl"']
    try:
        check_parameters(name, parameters)
    except RankgaugeError as error:
        return [str(error)]
    return []


def _unknown(given: Mapping[str, Any], known: set[str], needed: set[str]) -> list[str]:
    faults = [
        f"unknown parameter {name!r}; it takes: {', '.join(sorted(known - {'corpus', 'self'})) or 'none'}"
        for name in given
        if name not in known
    ]
    return faults + [f"the parameter {name!r} is missing" for name in sorted(needed - set(given))]


def _http_parameters() -> set[str]:
    from rankgauge.retrievers.http import HttpRetriever

    return set(inspect.signature(HttpRetriever).parameters)


def make_system(system: SystemPlan, folder: Path, corpus: Corpus | None) -> Any:
    """The retriever itself."""
    if system.use is not None and ":" not in system.use:
        if system.use == "http":
            from rankgauge.retrievers.http import HttpRetriever

            return HttpRetriever(**system.parameters)
        from rankgauge.retrievers.builtin import build

        assert corpus is not None  # the plan was checked
        return build(system.use, corpus, **system.parameters)
    found = _load(str(system.use or system.factory), folder)
    if system.use is not None:
        return found
    arguments = dict(system.parameters)
    try:
        if corpus is not None and "corpus" in inspect.signature(found).parameters:
            arguments["corpus"] = corpus
    except (TypeError, ValueError):
        pass
    with _beside(folder):
        return found(**arguments)


@contextmanager
def _beside(folder: Path) -> Iterator[None]:
    """Modules beside the plan can be imported."""
    place = str(folder.resolve())
    sys.path.insert(0, place)
    try:
        yield
    finally:
        if place in sys.path:
            sys.path.remove(place)


def _load(text: str, folder: Path) -> Any:
    """The object that `module:attribute` names."""
    module_name, _, attribute = text.partition(":")
    if not module_name or not attribute:
        raise RankgaugeError(f"{text!r} is not of the form module:attribute")
    try:
        with _beside(folder):
            found: Any = importlib.import_module(module_name)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # whatever the user's module does when it is imported, sys.exit included
        raise RankgaugeError(f"{module_name!r} cannot be imported: {type(error).__name__}: {error}") from None
    for part in attribute.split("."):
        if not hasattr(found, part):
            raise RankgaugeError(f"{module_name!r} has no attribute {attribute!r}")
        found = getattr(found, part)
    return found
