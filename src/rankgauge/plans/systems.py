"""Systems of a plan: built-in retrievers, adapters and the user's own, checked first and made when needed."""

from __future__ import annotations

import hashlib
import importlib
import inspect
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from rankgauge.errors import RankgaugeError
from rankgauge.formats.json_values import plain_value
from rankgauge.model.testset import Corpus
from rankgauge.retrievers.own_code import told

__all__ = ["SystemPlan", "check_system", "check_values", "code_of", "load_object", "make_system"]


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
            "parameters": plain_value(self.parameters),
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
    faults = _fields(system)
    if system.use is not None and ":" not in system.use:
        return faults + _check_named(system.use, system.parameters, has_corpus=has_corpus)
    try:
        found = load_object(str(system.use or system.factory), folder)
    except RankgaugeError as error:
        return [*faults, str(error)]
    if system.use is not None:
        return faults + _check_used(system.use, found, system.parameters)
    return faults + _check_factory(str(system.factory), found, system.parameters, has_corpus=has_corpus)


def check_values(
    system: SystemPlan, folder: Path, key: str, values: Sequence[Any], *, has_corpus: bool
) -> Iterator[str]:
    """What is wrong with values of one parameter, each looked at once, the others being the system's own."""
    from rankgauge.retrievers.builtin import BUILTIN, parameters_of

    known = parameters_of(system.use).get(key) if system.use in BUILTIN else None
    if known is None or key == "api_key_env":
        # Of a factory only the names are known, which are the same for all values; an endpoint is made for each.
        for value in values if system.use == "http" or key == "api_key_env" else values[:1]:
            changed = replace(system, parameters={**system.parameters, key: value})
            yield from check_system(changed, folder, has_corpus=has_corpus)
        return
    for value in values:
        try:
            known.check(value)
        except RankgaugeError as error:
            yield f"{system.use}: {error}"


def _fields(system: SystemPlan) -> list[str]:
    """Paths to ids and scores that cannot be read."""
    from rankgauge.retrievers.fields import signed_path

    faults = []
    for key, text in (("id_field", system.id_field), ("score_field", system.score_field)):
        try:
            if text is not None:
                signed_path(text)
        except RankgaugeError as error:
            faults.append(f"{key}: {error}")
    return faults


def _check_used(text: str, found: Any, parameters: Mapping[str, Any]) -> list[str]:
    """An object that is asked as it is."""
    from rankgauge.retrievers.searcher import as_searcher

    if isinstance(found, type):
        return [f"{text!r} is a class, which has to be called first: write factory = {text!r}"]
    faults = ["parameters go to a factory; an object that is used as it is takes none"] if parameters else []
    names = list(_signature(found))
    if names and names[0] == "corpus" and inspect.isroutine(found):
        return [*faults, f"{text!r} takes the corpus, so it makes a retriever: write factory = {text!r}"]
    try:
        as_searcher(found)
    except RankgaugeError as error:
        advice = f"; if it makes a retriever, write factory = {text!r}" if callable(found) else ""
        advice = advice or "; what makes a retriever is named with factory"
        faults.append(f"{text!r} cannot be used: {error}{advice}")
    return faults


def _signature(function: Any) -> Mapping[str, inspect.Parameter]:
    """What a function takes; nothing where that cannot be told."""
    try:
        return inspect.signature(function).parameters
    except (TypeError, ValueError):
        return {}


def _check_factory(text: str, found: Any, parameters: Mapping[str, Any], *, has_corpus: bool) -> list[str]:
    if not callable(found):
        return [f"{text!r} is a {type(found).__name__} and cannot be called; what is ready to be asked goes under use"]
    signed = _signature(found)
    faults = []
    given = {**parameters, **({"corpus": None} if has_corpus and "corpus" in signed else {})}
    if signed and not any(one.kind is one.VAR_KEYWORD for one in signed.values()):
        faults += _unknown(parameters, set(signed), set())
    for name, one in signed.items():
        if one.default is not one.empty or one.kind in (one.VAR_POSITIONAL, one.VAR_KEYWORD):
            continue
        if one.kind is one.POSITIONAL_ONLY:
            faults.append(f"its factory must take {name!r} by name; write a function around it")
        elif name == "corpus" and name not in given:
            faults.append('its factory takes the corpus: corpus = "corpus.jsonl"')
        elif name not in given:
            faults.append(f"its factory needs the parameter {name!r}: parameters = {{ {name} = ... }}")
    return faults


def _check_named(name: str, parameters: Mapping[str, Any], *, has_corpus: bool) -> list[str]:
    from rankgauge.retrievers.builtin import factories, parameter_faults

    if name == "http":
        return _check_http(parameters)
    known = [*factories(), "http"]
    if name not in known:
        return [f"{name!r} is no built-in retriever ({', '.join(known)}); your own is written module:attribute"]
    if not has_corpus:
        return [f'the built-in retriever {name!r} needs documents: corpus = "corpus.jsonl"']
    faults = parameter_faults(name, parameters)
    key = parameters.get("api_key_env")
    if isinstance(key, str) and not os.environ.get(key, "").strip():
        faults.append(f"the environment variable {key} (api_key_env) is not set: put the key there")
    return faults


def _check_http(parameters: Mapping[str, Any]) -> list[str]:
    """What is wrong with an endpoint. Making one connects to nothing."""
    from rankgauge.retrievers.http import HttpRetriever

    known = set(inspect.signature(HttpRetriever).parameters)
    faults = _unknown(parameters, known, {"url"})
    together = ("url", "body", "method")  # the query may stand in any of these
    first = {key: parameters[key] for key in together if key in parameters}
    alone = [{"url": "http://localhost/", key: parameters[key]} for key in parameters if key in known - set(together)]
    for tried in [*([first] if "url" in first else []), *alone]:
        try:
            HttpRetriever(**tried)
        except RankgaugeError as error:
            faults.append(str(error))
    return faults


def _unknown(given: Mapping[str, Any], known: set[str], needed: set[str]) -> list[str]:
    faults = [
        f"unknown parameter {name!r}; it takes: {', '.join(sorted(known - {'corpus', 'self'})) or 'none'}"
        for name in given
        if name not in known
    ]
    return faults + [f"the parameter {name!r} is missing" for name in sorted(needed - set(given))]


def make_system(system: SystemPlan, folder: Path, corpus: Corpus | None) -> Any:
    """The retriever itself."""
    if system.use is not None and ":" not in system.use:
        if system.use == "http":
            from rankgauge.retrievers.http import HttpRetriever

            return HttpRetriever(**system.parameters)
        from rankgauge.retrievers.builtin import build

        assert corpus is not None  # the plan was checked
        return build(system.use, corpus, **system.parameters)
    found = load_object(str(system.use or system.factory), folder)
    if system.use is not None:
        return found
    arguments = dict(system.parameters)
    if corpus is not None and "corpus" in _signature(found):
        arguments["corpus"] = corpus
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


def load_object(text: str, folder: Path) -> Any:
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
        raise RankgaugeError(f"{module_name!r} cannot be imported: {told(error)}") from None
    for part in attribute.split("."):
        if not hasattr(found, part):
            raise RankgaugeError(f"{module_name!r} has no attribute {attribute!r}")
        found = getattr(found, part)
    return found
