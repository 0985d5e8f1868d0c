"""The documentation inside the running interpreter as a corpus: one document for each public name of the library."""

from __future__ import annotations

import inspect
import json
import re
import sys
import warnings
from collections.abc import Iterator
from functools import lru_cache
from importlib import import_module
from importlib.resources import as_file, files
from types import BuiltinFunctionType, CodeType, FunctionType, MethodType, ModuleType
from typing import Any, NamedTuple

from rankgauge.errors import RankgaugeError
from rankgauge.formats import load_testset
from rankgauge.model.corpus import Corpus
from rankgauge.model.testset import TestSet

__all__ = ["stdlib_corpus", "stdlib_testset"]

_NAMES = json.loads((files("rankgauge.demo") / "data" / "stdlib-names.json").read_text("utf-8"))
_MODULES: list[str] = _NAMES["modules"]
"""Documented modules that every platform and every Python from 3.11 to 3.14 has. Left out: what is removed by then,
what belongs to one platform, what opens windows or acts when imported (antigravity, this, idlelib, tkinter, test), and
internals of the compiler. Of two modules that show the same object, the earlier one gives it its name."""
_ALSO: dict[str, list[str]] = _NAMES["also"]
"""Where an object says that it comes from, if that is neither the module that shows it nor a part of it."""
_DOCUMENTED = frozenset(_NAMES["documented"])
"""Documented names that `__all__` lacks, in some version at least."""
_KNOWN_AS = frozenset(_NAMES["known_as"])
"""Names that the documentation prefers to those the objects give themselves."""
_WITHOUT_METHODS = frozenset(_NAMES["without_methods"])
"""Their methods repeat those of str, list and dict, or are what the debugger does when it is typed at."""
_GONE = re.compile("|".join(_NAMES["gone"]), re.IGNORECASE)
"""Removed or hidden by Python 3.14: without them the corpora of all versions are as alike as they can be."""
_OLD = re.compile(r"\A\W*deprecated|\bthis (method|function|class) is deprecated", re.IGNORECASE)
_FUNCTIONS = (FunctionType, BuiltinFunctionType, MethodType, type(lru_cache(len)))
_METHODS = (FunctionType, staticmethod, classmethod, property, type(str.join), type(dict.__dict__["fromkeys"]))
_LENGTH = 800
"""Characters of a docstring that become part of the document."""


def stdlib_testset() -> TestSet:
    """Questions of programmers, with graded judgments of the documents of `stdlib_corpus`."""
    with as_file(files("rankgauge.demo") / "data" / "stdlib.json") as path:
        return load_testset(path).renamed("stdlib")


def stdlib_corpus() -> Corpus:
    """Public modules, classes, functions and methods with a docstring: {"os.path.join": "os.path.join\\nos path ..."}.

    The documents are those of the running interpreter, in the order of their names: between versions of Python some
    come, some go, and texts change a little.
    """
    if sys.flags.optimize > 1:
        raise RankgaugeError("Python runs without docstrings, of which this corpus is made; run it without -OO")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # some old names warn when they are looked at
        found = _named_objects()
        texts = {name: _text(name, item, doc) for name, item, doc in _documents(found) if not _GONE.match(name)}
    return Corpus(dict(sorted(texts.items())), name="stdlib")


class _Named(NamedTuple):
    name: str
    item: Any


def _named_objects() -> list[_Named]:
    """Modules and what they show, each object once and under its best name."""
    modules = [_Named(name, module) for name in _MODULES if (module := _module(name)) is not None]
    best: dict[int, tuple[tuple[bool, bool, bool, int], _Named]] = {}
    for place, (name, module) in enumerate(modules):
        for own, item in _shown(name, module):
            # `os.error` is `OSError` under another name: the name that the object gives itself is the better one.
            home = "builtins" if name == "builtins" else getattr(item, "__module__", name)
            full = own if name == "builtins" else f"{name}.{own}"
            merit = (full not in _KNOWN_AS, getattr(item, "__name__", own) != own, home != name, place)
            if id(item) not in best or merit < best[id(item)][0]:
                best[id(item)] = (merit, _Named(full, item))
    return [*modules, *(named for _, named in best.values())]


def _module(name: str) -> ModuleType | None:
    try:
        return import_module(name)
    except ImportError:  # an interpreter built without sqlite3, ssl, lzma, ...
        return None


def _shown(name: str, module: ModuleType) -> Iterator[tuple[str, Any]]:
    """Public functions and classes of a module that are its own: by `__all__`, else by where they say they are from."""
    listed = getattr(module, "__all__", None)
    added = {own for own in vars(module) if f"{name}.{own}" in _DOCUMENTED}
    for own in sorted({*listed, *added} if listed is not None else vars(module)):
        item = getattr(module, own, None) if not own.startswith("_") else None
        if own.endswith("hook"):  # debuggers and test runners put their own in the place of sys.excepthook and the like
            item = getattr(module, f"__{own}__", item)
        if not isinstance(item, (type, *_FUNCTIONS)):
            continue
        home = str(getattr(item, "__module__", None) or name)
        homes = (name, f"_{name}", *_ALSO.get(name, ()))
        own_thing = listed is not None or home in homes or home.startswith(f"{name}.")
        if own_thing and not _OLD.search(_docstring(item)):
            yield own, item


def _documents(found: list[_Named]) -> Iterator[tuple[str, Any, str]]:
    # Many methods are documented in the same words elsewhere: by the function that stands for them (`random.choice` and
    # `random.Random.choice`), or in a class of the same kind (set and frozenset). One document is enough.
    known = {(named.name.rpartition(".")[2], _docstring(named.item)) for named in found}
    public = {id(named.item) for named in found}
    for named in found:
        yield (*named, _docstring(named.item) or _borrowed(named.item))
    classes = [named for named in found if isinstance(named.item, type) and named.name not in _WITHOUT_METHODS]
    for name, owner in sorted(classes, key=_basic_first):
        for own, method, doc in _methods(owner, public):
            if (own, doc) not in known:
                known.add((own, doc))
                yield f"{name}.{own}", method, doc


def _basic_first(named: _Named) -> tuple[int, int, int, str]:
    module = named.name.rpartition(".")[0] or "builtins"
    return _MODULES.index(module), len(named.item.__mro__), len(named.name), named.name


def _methods(owner: type, public: set[int]) -> Iterator[tuple[str, Any, str]]:
    """Methods and properties that a class defines, itself or in hidden bases of its own module; a docstring may come
    from any base."""
    if issubclass(owner, BaseException):
        return
    home = _family(owner)
    bases = [base for base in owner.__mro__[1:-1] if id(base) not in public and _family(base) == home]
    seen: set[str] = set()
    for base in (owner, *bases):
        for own, item in vars(base).items():
            if own.startswith("_") or own in seen or not isinstance(item, _METHODS):
                continue
            seen.add(own)
            docs = (_docstring(vars(other).get(own)) for other in owner.__mro__)
            doc = _docstring(item) or next(filter(None, docs), "")
            if doc and not _OLD.search(doc):
                yield own, item, doc


def _family(owner: type) -> str:
    return str(owner.__module__).partition(".")[0].lstrip("_")


def _borrowed(item: Any) -> str:
    """What describes a class without a docstring: how it is made, or what it is a kind of."""
    if not isinstance(item, type):
        return ""
    start = vars(item).get("__init__")
    made = _docstring(start) if isinstance(start, FunctionType) else ""
    kinds = (base for base in item.__mro__[1:-1] if base.__module__ not in ("builtins", "enum", "typing"))
    return made or next(filter(None, map(_docstring, kinds)), "")


def _docstring(item: Any) -> str:
    """An object's own docstring; the text that every instance of its type has is none."""
    if not isinstance(item, type):
        item = getattr(item, "__func__", item)  # what a static method or class method wraps
    doc = getattr(item, "__doc__", None) if item is not None else None
    if not isinstance(doc, str) or (not isinstance(item, type) and doc == type(item).__doc__):
        return ""
    return inspect.cleandoc(doc)


def _text(name: str, item: Any, doc: str) -> str:
    """The name, its words, the parameters, and the first paragraphs of the docstring."""
    words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|[._]+", " ", name).strip()
    lines = [name] if words == name else [name, words]
    parameters = _parameters(item)
    if parameters:
        lines.append(f"({parameters})")
    kept: list[str] = []
    length = 0
    for paragraph in re.split(r"\n\s*\n", doc):
        length += len(paragraph)
        if kept and length > _LENGTH:
            break
        kept.append(paragraph.strip()[:_LENGTH])
    return "\n".join([*lines, *kept])


def _parameters(item: Any) -> str:
    """Names of the parameters; defaults are left out, for some show the address of an object."""
    item = inspect.unwrap(getattr(item, "__func__", item))
    code = getattr(item, "__code__", None)
    if isinstance(code, CodeType):
        return ", ".join(n for n in code.co_varnames[: code.co_argcount + code.co_kwonlyargcount] if n not in _IMPLICIT)
    signature = getattr(item, "__text_signature__", None)
    if not isinstance(signature, str):
        return ""
    names = (part.partition("=")[0].strip(" $*()") for part in re.sub(r"=\([^)]*\)", "", signature).split(","))
    return ", ".join(n for n in names if n.isidentifier() and n not in _IMPLICIT)


_IMPLICIT = {"self", "cls", "module", "type"}
