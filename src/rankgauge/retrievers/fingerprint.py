"""fingerprint: a hash of what a retriever's answers depend on, as far as its code and its state tell.

Of a function that is its bytecode with the defaults, the variables of the functions around it and the global ones that
it reads; of an object its class, function by function, and its state. Functions of the user's own modules are followed
into others; libraries are taken as they are. What cannot be written down, such as a connection, is an error: two
indexes behind two connections would look the same.
"""

from __future__ import annotations

import dis
import functools
import hashlib
import inspect
import sys
import types
from collections.abc import Iterable, Iterator
from typing import Any, Final

from rankgauge.errors import DataError
from rankgauge.retrievers.own_code import is_own

__all__ = ["fingerprint"]

_PLAIN: Final = (type(None), bool, int, float, complex, str, bytes, type(Ellipsis), type(NotImplemented))
_BUILT_IN: Final = (types.BuiltinFunctionType, types.MethodDescriptorType, types.WrapperDescriptorType, types.UnionType)
_ARRAYS: Final = "biufcSUmM"
"""Kinds of numpy's types whose bytes are their values."""
_COUNTS: Final = ("co_argcount", "co_posonlyargcount", "co_kwonlyargcount", "co_flags")


class _UnknownError(Exception):
    """Something that cannot be written down."""

    def __init__(self, place: str, value: Any) -> None:
        self.place, self.value = place, value


def fingerprint(retriever: Any, name: str) -> str:
    """The hash; an error that names what cannot be written down."""
    try:
        return _Reader().digest(retriever, name)
    except _UnknownError as unknown:
        kind = type(unknown.value).__name__
        raise DataError(
            f"{name}: answers are kept under what they depend on, and that cannot be told from {unknown.place} "
            f"({kind}). Say it yourself: configuration={{...}} with all that the answers depend on, such as "
            "configuration={'index': '2024-05-01', 'ef_search': 64}; or leave cache out"
        ) from None
    except RecursionError:
        raise DataError(
            f"{name}: answers are kept under what they depend on, and its state is nested too deeply to be read. Say "
            "it yourself with configuration={...}, or leave cache out"
        ) from None


class _Reader:
    def __init__(self) -> None:
        self._hash = hashlib.sha256()
        self._seen: dict[int, int] = {}
        self._kept: list[Any] = []  # what was seen must live on, for its number not to be another one's

    def digest(self, value: Any, place: str) -> str:
        self._read(value, place)
        return self._hash.hexdigest()

    def _say(self, *words: object) -> None:
        self._hash.update(repr(words).encode("utf-8", "surrogatepass"))

    def _known(self, value: Any) -> bool:
        """Whether it was read before: objects may hold each other."""
        if (number := self._seen.get(id(value))) is not None:
            self._say("again", number)
            return True
        self._seen[id(value)] = len(self._seen)
        self._kept.append(value)
        return False

    def _read(self, value: Any, place: str) -> None:
        kind = type(value)
        if kind in _PLAIN:
            self._say(kind.__name__, value)
        elif kind is tuple:
            self._each(kind, value, place)
        elif kind in (set, frozenset):
            self._say(kind.__name__, sorted(_Reader().digest(inner, place) for inner in value))
        elif isinstance(value, types.ModuleType):
            self._say("module", value.__name__)
        elif isinstance(value, type):
            self._class(value)
        elif getattr(getattr(value, "dtype", None), "kind", "") in _ARRAYS and hasattr(value, "tobytes"):
            self._say("array", value.dtype.str, value.shape)
            self._hash.update(value.tobytes())
        elif not self._known(value):
            self._object(value, place)

    def _each(self, kind: type, values: Iterable[Any], place: str) -> None:
        listed = list(values)
        self._say(kind.__name__, len(listed))
        for inner in listed:
            self._read(inner, place)

    def _object(self, value: Any, place: str) -> None:
        if type(value) is list:
            self._each(list, value, place)
        elif type(value) is dict:
            self._each(dict, (part for pair in value.items() for part in pair), place)
        elif isinstance(value, types.FunctionType):
            self._function(value, place)
        elif isinstance(value, types.MethodType):
            self._say("method")
            self._read(value.__func__, place)
            self._read(value.__self__, place)
        elif isinstance(value, _BUILT_IN):
            self._say("built in", getattr(value, "__qualname__", str(value)))
            owner = getattr(value, "__self__", None)
            if not isinstance(owner, types.ModuleType):
                self._read(owner, place)
        elif isinstance(value, functools.partial):
            self._each(functools.partial, (value.func, value.args, value.keywords), place)
        elif isinstance(wrapped := getattr(value, "__wrapped__", None), types.FunctionType):
            self._read(wrapped, place)
        elif type(value).__module__.startswith("rankgauge.") and isinstance(getattr(value, "config", None), dict):
            self._say(type(value).__qualname__)
            self._read([value.config, getattr(value, "header_texts", None)], place)
        else:
            self._state(value, place)

    def _state(self, value: Any, place: str) -> None:
        """An object as pickle would take it apart, which knows what has state outside of Python."""
        try:
            parts = value.__reduce_ex__(2)
        except Exception:  # whatever an object does that was not made to be taken apart
            raise _UnknownError(place, value) from None
        if isinstance(parts, str):
            self._say("global", type(value).__module__, parts)
            return
        made, arguments, *rest = parts
        self._say("object", getattr(made, "__qualname__", ""))
        self._read(tuple(arguments), place)
        for part in rest:
            if isinstance(part, dict):
                for key, inner in part.items():
                    self._read(key, place)
                    self._read(inner, f"{place}.{key}" if isinstance(key, str) else place)
            else:
                self._read(list(part) if isinstance(part, Iterator) else part, place)

    def _class(self, kind: type) -> None:
        self._say("class", kind.__module__, kind.__qualname__)
        if kind.__module__ == "builtins" or self._known(kind):
            return
        own = is_own(getattr(sys.modules.get(kind.__module__), "__file__", None) or "<typed>")
        for base in kind.__mro__[1:-1]:
            self._class(base)
        for name, member in sorted(vars(kind).items()):
            parts = [member]
            if isinstance(member, staticmethod | classmethod):
                parts = [member.__func__]
            elif isinstance(member, property):
                parts = [member.fget, member.fset]
            elif isinstance(member, functools.cached_property):
                parts = [member.func]
            for part in parts:
                plain = not name.startswith("__") and own and not hasattr(type(part), "__get__")
                if isinstance(part, types.FunctionType) or (plain and name != "_abc_impl"):
                    self._say(name)
                    self._read(part, f"{kind.__name__}.{name}")

    def _function(self, function: types.FunctionType, place: str) -> None:
        code = function.__code__
        self._code(code)
        self._read(function.__defaults__, place)
        self._read(function.__kwdefaults__, place)
        read: set[str] = set()
        written: set[str] = set()
        for instruction in _instructions(code):
            names = written if instruction.opname.startswith("STORE_") else read
            names.add(instruction.argval if isinstance(instruction.argval, str) else "")
        # What a function itself changes, such as a count of its calls, is no setting.
        held = dict(zip(code.co_freevars, function.__closure__ or (), strict=True))
        for name in sorted(held.keys() - written):
            try:
                self._read(held[name].cell_contents, f"the variable {name!r}")
            except ValueError:  # not set yet
                self._say("not set")
        if is_own(code.co_filename):
            for name in sorted((read - written) & function.__globals__.keys()):
                self._read(function.__globals__[name], f"the variable {name!r}")

    def _code(self, code: types.CodeType) -> None:
        self._say(code.co_code, code.co_names, code.co_varnames, code.co_freevars)
        self._say(*(getattr(code, name) for name in _COUNTS))
        for constant in code.co_consts:
            if inspect.iscode(constant):
                self._code(constant)
            else:
                self._read(constant, code.co_name)


def _instructions(code: types.CodeType) -> Iterator[dis.Instruction]:
    """The places where variables of outside are read and written, those of the functions within included."""
    for instruction in dis.get_instructions(code):
        if instruction.opname.startswith(("LOAD_GLOBAL", "LOAD_NAME", "STORE_GLOBAL", "STORE_DEREF")):
            yield instruction
    for constant in code.co_consts:
        if inspect.iscode(constant):
            yield from _instructions(constant)
