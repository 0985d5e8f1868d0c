"""Systems of a plan: built-in retrievers, adapters and the user's own, checked first and made when needed."""

from __future__ import annotations

import hashlib
import importlib
import inspect
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

from rankgauge.errors import DataError, RankgaugeError
from rankgauge.formats import Source
from rankgauge.formats.json_values import plain_value
from rankgauge.formats.variables import filled, names_in
from rankgauge.model.chunks import Chunks
from rankgauge.model.corpus import Corpus
from rankgauge.plans.chunks import collapse_faults, given_faults
from rankgauge.plans.code import code_of
from rankgauge.retrievers.checks import faults_of
from rankgauge.retrievers.configuration import is_closed, own_configuration
from rankgauge.retrievers.costs import check_cost
from rankgauge.retrievers.fields import signed_path
from rankgauge.retrievers.own_code import told
from rankgauge.retrievers.registry import RETRIEVERS, build, needs_corpus, parameter_faults, parameters_of
from rankgauge.retrievers.searcher import as_searcher

__all__ = [
    "SystemPlan",
    "Version",
    "check_system",
    "check_values",
    "load_object",
    "make_system",
    "takes",
    "version_of",
]

@dataclass(frozen=True)
class SystemPlan:
    """One system of a plan: a retriever by name (`use`), or what makes one (`factory`), with parameters."""

    name: str = ""
    use: str | None = None
    factory: str | None = None
    parameters: dict[str, Any] = field(default_factory=dict)
    id_field: str | None = None
    score_field: str | None = None
    parent_field: str | None = None
    collapse_chunks: str | None = None
    """A regular expression, or a file beside the plan with the documents of the chunks."""
    chunks: str | None = None
    """A file beside the plan with the chunks, where labels are brought onto these. A built-in system searches them."""
    chunk_ids: str | None = None
    """A regular expression that reads document, start and end of a chunk from its id."""
    candidates: str | None = None
    """Another system, whose list this one re-ranks: where documents were lost is told by it."""
    cost: str | None = None
    """Where an answer tells what it cost: a path such as usage.total_tokens, or header:x-cost."""
    cost_unit: str | None = None

    @property
    def is_named(self) -> bool:
        """Whether `use` is a name of `rankgauge.retrievers.RETRIEVERS`, not the user's own module."""
        return self.use is not None and ":" not in self.use

    @property
    def has_chunks(self) -> bool:
        """Whether labels are brought onto its chunks."""
        return self.chunks is not None or self.chunk_ids is not None

    @property
    def searches_chunks(self) -> bool:
        """Whether it is built from the texts of its chunks."""
        return self.chunks is not None and self.is_named and self.use in RETRIEVERS and needs_corpus(str(self.use))

    @property
    def configuration(self) -> dict[str, Any]:
        """What answers depend on, for the cache. What comes from the environment is never stored, not even the hash of
        it: the cache hashes it together with the rest."""
        # How answers are told and counted changes none of them.
        apart = ("name", "candidates", "collapse_chunks", "chunks", "chunk_ids", "cost", "cost_unit")
        about = {name: value for name, value in vars(self).items() if name not in apart}
        values = "\n".join(map(filled, (f"${{{name}}}" for name in names_in(self.parameters))))
        found = {"environment": hashlib.sha256(values.encode()).hexdigest()} if values else {}
        return {**about, "parameters": plain_value(self.parameters), **found}


@dataclass(frozen=True)
class Version:
    """What the answers of a system depend on beside its configuration, and whether that is all they do."""

    key: dict[str, Any]
    closed: bool


def version_of(system: SystemPlan, folder: Path, made: Any, others: Sequence[str] = ()) -> Version:
    """The code of a system of the user's own, through all that it imports, or the files that a named one searches, so
    that answers of older ones are not taken for this one's. `made` is the system itself; `others` are the modules of
    the plan's other systems, which run in the same process and may change it."""
    paths = [Path(path) for path in _paths(system, folder).values()]
    if system.searches_chunks:
        paths.append(folder / str(system.chunks))
    key: dict[str, Any] = {"files": [Source(path).sha256() for path in paths if path.is_file()]}
    if not system.is_named:
        code = code_of([str(system.use or system.factory).partition(":")[0], *others], folder)
        return Version({**key, "code": code.key}, code.closed)
    factory = RETRIEVERS[str(system.use)]
    module = getattr(getattr(factory, "func", factory), "__module__", "")
    if module and not module.startswith("rankgauge."):
        key["code"] = code_of([module], folder).key
    return Version({**key, "configuration": own_configuration(made)}, is_closed(made))


def check_system(system: SystemPlan, folder: Path, *, has_corpus: bool) -> list[str]:
    """What is wrong with it, without building an index or calling anything."""
    faults = _fields(system, folder)
    if system.is_named:
        return faults + _check_named(system, folder, has_corpus=has_corpus)
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

    known = parameters_of(str(system.use)).get(key) if system.is_named and system.use in RETRIEVERS else None
    if known is None or key == "api_key_env" or _looks_at(RETRIEVERS[str(system.use)], values):
        # Of a factory only the names are known, which are the same for all values.
        for value in values[:1] if known is None else values:
            changed = replace(system, parameters={**system.parameters, key: value})
            yield from check_system(changed, folder, has_corpus=has_corpus)
        return
    for fault in faults_of(*(partial(known.check, value) for value in values)):
        yield f"{system.use}: {fault}"


def _looks_at(factory: Any, values: Sequence[Any]) -> bool:
    """Whether a retriever looks at values itself. What it needs installed, names decide, of which there are few."""
    return hasattr(factory, "faults") or (hasattr(factory, "needs") and any(isinstance(one, str) for one in values))


def _fields(system: SystemPlan, folder: Path) -> list[str]:
    """Paths to ids, scores and costs that cannot be read, and rules for chunks that are none."""
    keys = ("id_field", "score_field", "parent_field")
    paths = [(key, text) for key in keys if (text := getattr(system, key)) is not None]
    faults = [f"{key}: {fault}" for key, text in paths for fault in faults_of(partial(signed_path, text))]
    faults += faults_of(partial(check_cost, system.cost, system.cost_unit))
    rules = ("parent_field", "collapse_chunks", "chunks", "chunk_ids")
    told = [key for key in rules if getattr(system, key) is not None]
    if len(told) > 1:
        faults.append(f"{' and '.join(told)} both say of which document a chunk is: keep one of them")
    faults += collapse_faults(system.collapse_chunks, folder)
    return [*faults, *given_faults(system.chunks, system.chunk_ids, folder, searched=system.searches_chunks)]


def takes(system: SystemPlan, folder: Path, key: str) -> bool:
    """Whether what makes the system has a parameter of this name."""
    if system.is_named:
        return system.use in RETRIEVERS and key in inspect.signature(RETRIEVERS[str(system.use)]).parameters
    return system.factory is not None and key in _signature(load_object(system.factory, folder))


def _check_used(text: str, found: Any, parameters: Mapping[str, Any]) -> list[str]:
    """An object that is asked as it is."""

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
        named = ", ".join(sorted(set(signed) - {"corpus", "self"})) or "none"
        faults += [f"unknown parameter {name!r}; it takes: {named}" for name in parameters if name not in signed]
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


def _check_named(system: SystemPlan, folder: Path, *, has_corpus: bool) -> list[str]:

    name = str(system.use)
    try:
        RETRIEVERS[name]
    except DataError as error:
        return [f"{error}; your own is written module:attribute"]
    if needs_corpus(name) and not has_corpus and not system.searches_chunks:
        return [f'the built-in retriever {name!r} needs documents: corpus = "corpus.jsonl"']
    return parameter_faults(name, {**system.parameters, **_paths(system, folder)})


def _paths(system: SystemPlan, folder: Path) -> dict[str, str]:
    """The parameters of a named retriever that are paths, as seen from the plan's folder."""

    if not system.is_named or system.use not in RETRIEVERS:
        return {}
    known = parameters_of(str(system.use))
    return {
        key: str(folder / value)
        for key, value in system.parameters.items()
        if isinstance(value, str) and key in known and known[key].in_folder
    }


def make_system(system: SystemPlan, folder: Path, corpus: Corpus | None, chunks: Any = None) -> Any:
    """The retriever itself; a built-in one searches the texts of its chunks, where there are any."""
    if system.searches_chunks and isinstance(chunks, Chunks):
        corpus = Corpus(chunks.texts, name=chunks.name)
    if system.is_named:
        return build(str(system.use), corpus, **{**system.parameters, **_paths(system, folder)})
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
    code_of([module_name], folder)  # as it is now: what is edited from here on is not what runs
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
