"""Where a benchmark's own files are: in one folder or several, at whatever depth an archive has put them."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase
from pathlib import Path

from rankgauge.errors import FormatError

__all__ = ["Place"]

_DEPTH = 6
_MOST = 200_000
_ENDINGS = ("", ".gz", ".zst")
_SHOWN = 6


class Place:
    """Folders with the files of a benchmark. `name` is what messages call them, `hint` where such files are had."""

    def __init__(self, folders: Sequence[Path], name: str = "", hint: str = "") -> None:
        self.folder, self.name, self.hint = folders[0], name or os.fspath(folders[0]), hint
        walked = {path: folder for folder in reversed(folders) for path in self._walk(folder)}
        self._known = dict(sorted(walked.items(), key=lambda item: (item[0].count("/"), _natural(item[0]))))

    def _walk(self, root: Path) -> Iterator[str]:
        """Relative paths of all files; links are not followed into other folders."""
        number = 0
        for folder, folders, names in os.walk(root):
            inner = Path(folder).relative_to(root)
            if len(inner.parts) >= _DEPTH:
                folders.clear()
            for name in names:
                if (number := number + 1) > _MOST:
                    raise FormatError(
                        self.name, [f"it holds more than {_MOST} files; name the folder of the benchmark"]
                    )
                yield (inner / name).as_posix()

    def found(self, patterns: Sequence[str]) -> list[Path]:
        """The files of the first pattern that any fits, in the order of their numbers. A pattern holds the end of a
        path; one that begins with `./` the whole of it. Compressed files are found too."""
        for pattern in patterns:
            fitting = [path for path in self._known if any(_fits(path, pattern + ending) for ending in _ENDINGS)]
            if fitting:
                depth = fitting[0].count("/")  # a copy further down, such as that of another set, is not meant
                own = [path for path in fitting if path.count("/") == depth]
                return [self._known[path] / path for path in sorted(own, key=_natural)]
        return []

    def file(self, patterns: Sequence[str]) -> Path | None:
        """The one file of the first pattern that any fits."""
        return next(iter(self.found(patterns)), None)

    def needed(self, patterns: Sequence[str], what: str) -> Path:
        """The same; it is an error where there is none."""
        path = self.file(patterns)
        if path is None:
            raise self.lacks(patterns, what)
        return path

    def lacks(self, patterns: Sequence[str], what: str) -> FormatError:
        """The error for a folder without such a file."""
        wanted = " or ".join(dict.fromkeys(pattern.removeprefix("./") for pattern in patterns))
        known = list(self._known)
        there = ", ".join(known[:_SHOWN]) + (", ..." if len(known) > _SHOWN else "")
        has = f"it has {there}" if there else "it is empty"
        return FormatError(self.name, [f"there is no {wanted}, which holds the {what}; {has}"], hint=self.hint)


def _fits(path: str, pattern: str) -> bool:
    if pattern.startswith("./"):
        return fnmatchcase(path, pattern[2:]) and path.count("/") == pattern[2:].count("/")
    return fnmatchcase(path, pattern) or fnmatchcase(path, f"*/{pattern}")


def _natural(path: str) -> list[tuple[int, int, str]]:
    """docs-2 before docs-10."""
    parts = re.split(r"(\d+)", path)
    return [(1, int(part), "") if part.isdigit() else (0, 0, part) for part in parts]
