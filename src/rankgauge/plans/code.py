"""What a system of the user's own is written in: its module and all it imports, followed through the sources.

Answers are kept under these files, so that a change anywhere in them is asked again. That the answers are still those
the code would give is proven only where nothing else can decide about them: code that imports but modules which
neither open files nor connections, calls nothing that could, and has not changed since before it was loaded.
"""

from __future__ import annotations

import ast
import hashlib
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cache
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from pathlib import Path
from pkgutil import get_importer
from typing import Any, Final

from rankgauge.retrievers.own_code import is_own
from rankgauge.version import __version__

__all__ = ["Code", "code_of"]

_CLOSED: Final = {
    *("__future__", "abc", "array", "bisect", "cmath", "collections", "contextlib", "copy"),
    *("copyreg", "dataclasses", "decimal", "difflib", "enum", "fractions", "functools", "hashlib"),
    *("heapq", "html", "itertools", "json", "keyword", "math", "numbers", "operator"),
    *("queue", "random", "re", "statistics", "string", "stringprep", "struct", "textwrap"),
    *("threading", "types", "typing", "unicodedata", "warnings", "weakref", "zlib"),
}
"""Modules of Python whose functions depend on their arguments alone, chance aside."""
_OPENING: Final = {
    *("__import__", "compile", "eval", "exec", "input", "open"),
    *("__builtins__", "__globals__", "__loader__", "__spec__", "__subclasses__"),
    *("ForwardRef", "get_type_hints"),  # which evaluate texts
}

_seen: dict[Path, str] = {}
"""Hashes of files as this process first saw them."""
_late: set[Path] = set()
"""Files first seen when their modules had been loaded: the file may have been another one then."""


@dataclass
class Code:
    """The files of a system's code by module, the versions of the packages it imports, and whether that is all its
    answers can depend on, beside parameters and corpus."""

    files: dict[str, list[str]] = field(default_factory=dict)
    """By module: the file's hash now, and where it was another one earlier in this process, that too."""
    packages: dict[str, str | None] = field(default_factory=dict)
    closed: bool = True

    @property
    def key(self) -> dict[str, Any]:
        """What answers are kept under."""
        return {"files": self.files, "packages": self.packages, "python": sys.version, "rankgauge": __version__}


def code_of(modules: Iterable[str], folder: Path) -> Code:
    """The code of modules that a plan in this folder names, and of all that they import, without importing anything.

    Called before they are imported too, it remembers what they are loaded from: building an index takes time, in which
    a file may be edited."""
    found, waiting, done = Code(), list(modules), set[str]()
    while waiting:
        name = waiting.pop()
        if name in done:
            continue
        done.add(name)
        if name.endswith(".*"):
            waiting += _inside(name.removesuffix(".*"), str(folder.resolve()))
            continue
        waiting += _parents(name)
        path = _file_of(name, str(folder.resolve()))
        if path is None or not is_own(str(path)):
            found.closed &= _is_closed(name, path)
            if path is not None and (top := name.partition(".")[0]) not in sys.stdlib_module_names:
                found.packages[top] = _version(top)
            continue
        try:
            data = path.read_bytes()
        except OSError:  # gone since it was loaded, or inside an archive
            found.files[name], found.closed = [], False
            continue
        now = hashlib.sha256(data).hexdigest()
        if path not in _seen and name in sys.modules:
            _late.add(path)
        found.files[name] = list(dict.fromkeys((now, _seen.setdefault(path, now))))
        # What is imported later may be found elsewhere then.
        found.closed &= len(found.files[name]) == 1 and name in sys.modules and path not in _late
        try:
            tree = ast.parse(data)
        except (SyntaxError, ValueError):  # an extension module, or no source
            found.closed = False
            continue
        package = name if path.name == "__init__.py" else name.rpartition(".")[0]
        waiting += _imported(tree, package)
        found.closed &= not any(map(_opens, ast.walk(tree)))
    found.files, found.packages = dict(sorted(found.files.items())), dict(sorted(found.packages.items()))
    return found


def _parents(name: str) -> list[str]:
    """The packages around a module, whose code runs first."""
    parts = name.split(".")
    return [".".join(parts[:i]) for i in range(1, len(parts))]


def _imported(tree: ast.Module, package: str) -> Iterator[str]:
    """The modules a source imports, also inside functions. What is imported from one may be a module in it."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                around = package.split(".")
                base = ".".join([*around[: len(around) - node.level + 1], *filter(None, [node.module])])
            yield base
            yield from (f"{base}.{alias.name}" for alias in node.names)


def _inside(name: str, folder: str) -> list[str]:
    """The modules in a package, any of which `from package import *` may import."""
    path = _file_of(name, folder)
    if path is None or path.name != "__init__.py" or not is_own(str(path)):
        return []
    inner = [*path.parent.glob("*.py"), *(file.parent for file in path.parent.glob("*/__init__.py"))]
    return [f"{name}.{file.stem}" for file in sorted(inner) if file != path]


def _opens(node: ast.AST) -> bool:
    """Whether a piece of code names what can open a file, or a way to it: a loader, or a module of Python that another
    one has imported."""
    names = [node.id] if isinstance(node, ast.Name) else [node.attr] if isinstance(node, ast.Attribute) else []
    if isinstance(node, ast.ImportFrom):
        names = [alias.name for alias in node.names]
    ways = sys.stdlib_module_names - _CLOSED
    return any(name in _OPENING or (name in ways and not isinstance(node, ast.Name)) for name in names)


def _file_of(name: str, folder: str) -> Path | None:
    """The file of a module: of the loaded one, else the one that an import would find; None where there is none."""
    loaded = getattr(sys.modules.get(name), "__file__", None)
    if loaded is not None:
        return Path(loaded).resolve()
    try:
        first, *inner = [*_parents(name), name]
        # A package that is installed for editing may have a finder of its own, which knows its first name.
        spec = _found_in([folder], first) or find_spec(first)
        for part in inner:
            spec = None if spec is None else _found_in(spec.submodule_search_locations or [], part)
    except (ImportError, ValueError):  # of a module that was made by hand
        return None
    origin = None if spec is None or not spec.has_location else spec.origin
    return None if origin is None else Path(origin).resolve()


def _found_in(places: Iterable[str], name: str) -> ModuleSpec | None:
    """A module, or else a folder of modules, in one of some places. Python's own search would ask for the packages
    around it, which are not loaded."""
    folders = []
    for place in places:
        finder: Any = get_importer(place)
        spec: ModuleSpec | None = None if finder is None else finder.find_spec(name)
        if spec is not None and spec.loader is not None:
            return spec
        folders += [] if spec is None else spec.submodule_search_locations or []
    if not folders:
        return None
    spec = ModuleSpec(name, None)
    spec.submodule_search_locations = folders
    return spec


def _is_closed(name: str, path: Path | None) -> bool:
    """Whether what is not in a file of the user's own can open nothing. A name without a file is an attribute of a
    module that is looked at by itself, a folder of modules, or not installed; a module made by hand is unknown."""
    top = name.partition(".")[0]
    if top in sys.stdlib_module_names:
        return top in _CLOSED
    return path is None and (name not in sys.modules or hasattr(sys.modules[name], "__path__"))


@cache
def _version(package: str) -> str | None:
    """The version of the distribution that a top-level module came with."""
    from importlib.metadata import PackageNotFoundError, packages_distributions, version

    try:
        return version(package)
    except PackageNotFoundError:
        names = packages_distributions().get(package, [])
        return ", ".join(f"{name} {version(name)}" for name in sorted(names)) or None
