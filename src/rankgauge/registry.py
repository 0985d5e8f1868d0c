"""Registries: parts that are chosen by name, and that other packages can add to.

A part is named as entry points name theirs, `module:attribute`, and loaded when it is first asked for. Another package
offers parts through the registry's entry point group; built-in ones stand in the same form in the registry itself,
since reading the metadata of all installed packages would cost more than the command line's whole start.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import Any, Generic, TypeVar

from rankgauge.errors import DataError

__all__ = ["Registry"]

T = TypeVar("T")


class Registry(Generic[T]):
    """Parts of one kind, by name."""

    def __init__(
        self, what: str, group: str, builtin: Mapping[str, str], also_called: Mapping[str, str] | None = None
    ) -> None:
        self.what, self.group = what, group
        """What one part is called in messages, and the entry point group of other packages."""
        self._also_called = also_called or {}
        """Other words for some names, which only messages know."""
        self._parts: dict[str, str | T] = dict(builtin)
        self._outside = False

    def register(self, name: str, part: T | str) -> None:
        """Add a part, or the `module:attribute` it is found at. A name that is taken is an error."""
        if name in self._parts:
            raise DataError(f"a {self.what} named {name!r} is already registered")
        self._parts[name] = part

    def unregister(self, name: str) -> None:
        """Remove a part that was registered."""
        del self._parts[name]

    def check(self, name: str) -> None:
        """Raise an error unless there is such a part, without loading it."""
        if not isinstance(name, str) or name not in self:
            import difflib  # for messages alone

            close = difflib.get_close_matches(str(name), self._parts, n=1)
            likely = self._also_called.get(str(name), close[0] if close else None)
            meant = f"did you mean {likely!r}? " if likely else ""
            raise DataError(f"unknown {self.what} {name!r}; {meant}known are: {', '.join(self._parts)}")

    def __getitem__(self, name: str) -> T:
        self.check(name)
        part = self._parts[name]
        if isinstance(part, str):
            module, _, attribute = part.partition(":")
            loaded: T = getattr(import_module(module), attribute)
            self._parts[name] = part = loaded
        return part

    def __contains__(self, name: object) -> bool:
        if name not in self._parts:
            self._load_outside()
        return name in self._parts

    def __iter__(self) -> Iterator[str]:
        self._load_outside()
        return iter(self._parts)

    @property
    def known(self) -> list[str]:
        """The names that are known without a look at other packages, for help texts and completion."""
        return list(self._parts)

    def _load_outside(self) -> None:
        if self._outside:
            return
        self._outside = True
        from importlib.metadata import entry_points

        offered: Any
        for offered in entry_points(group=self.group):
            self.register(offered.name, offered.value)
