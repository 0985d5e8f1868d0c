"""What a plan's own system is written in is followed through its imports, and told apart from what may open things."""

from __future__ import annotations

import importlib
import itertools
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from rankgauge.plans import code as followed
from rankgauge.plans.code import Code, code_of

_NUMBERS = itertools.count()
Write = Callable[..., Callable[[], Code]]


def as_a_new_process() -> None:
    followed._seen.clear()
    followed._late.clear()


@pytest.fixture
def write(tmp_path: Path) -> Iterator[Write]:
    """Writes the modules of a package of its own and imports its module `api`; what it gives looks at its code."""
    package = f"followed_package_{next(_NUMBERS)}"

    def forget() -> None:
        for name in [name for name in sys.modules if name.partition(".")[0] == package]:
            del sys.modules[name]

    def written(**modules: str) -> Callable[[], Code]:
        for name, source in {"__init__": "", **modules}.items():
            inside = name.replace("inner__init", "inner/__init__") if "init" in name else name.replace("__", "/")
            path = tmp_path / package / f"{inside}.py"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(source.replace("PACKAGE", package))
        as_a_new_process()
        forget()
        importlib.invalidate_caches()
        with pytest.MonkeyPatch.context() as patch:
            patch.syspath_prepend(tmp_path)
            patch.setattr(sys, "dont_write_bytecode", True)
            code_of([f"{package}.api"], tmp_path)  # as a plan is loaded
            importlib.import_module(f"{package}.api")
        return lambda: code_of([f"{package}.api"], tmp_path)

    yield written
    forget()


@pytest.mark.parametrize(
    "imports",
    [
        "import PACKAGE.ranking",
        "from PACKAGE import ranking",
        "from PACKAGE.ranking import ranked",
        "from . import ranking",
        "from .ranking import *",
        "from .inner import *",
        "from .middle import something",
        "try:\n    import PACKAGE.ranking as found\nexcept ImportError:\n    found = None",
    ],
)
def test_a_change_behind_an_import_is_seen(write: Write, imports: str) -> None:
    """Also of a module that a package names in `__all__`, which `import *` imports."""
    parts = {"api": imports, "middle": "from PACKAGE import ranking\nsomething = 1"}
    parts["inner__init"] = "__all__ = ['ranking']"
    place = "inner__ranking" if "inner" in imports else "ranking"
    before = write(**parts, **{place: "ranked = sorted"})()
    assert before.closed
    assert any(name.endswith(".ranking") for name in before.files)
    assert write(**parts, **{place: "ranked = sorted"})().key == before.key
    assert write(**parts, **{place: "ranked = reversed"})().key != before.key


def test_what_is_imported_later_is_not_proven(write: Write) -> None:
    """Its place may be another one then."""
    api = "def search(query, k):\n    from .ranking import ranked\n    return ranked(query)"
    before, after = write(api=api, ranking="ranked = sorted")(), write(api=api, ranking="ranked = reversed")()
    assert not before.closed
    assert before.key != after.key


def test_the_packages_around_a_module_run_too(write: Write, tmp_path: Path) -> None:
    look = write(api="from .inner.deep import x", inner__deep="from ..other import x", other="x = 1")
    assert [name.partition(".")[2] for name in look().files] == ["", "api", "inner.deep", "other"]


@pytest.mark.parametrize(
    "source",
    [
        "import socket",
        "import urllib.request",
        "from pathlib import Path",
        "import os",
        "import numpy as np",
        "from rankgauge.retrievers import BM25",
        "import importlib",
        "def ranks():\n    return open('ranks.json').read()",
        "def ranks():\n    return __loader__.get_data('ranks.json')",
        "def ranks():\n    return __builtins__['open']('ranks.json')",
        "from contextlib import os as found",
        "import contextlib\nfound = contextlib.os",
        "def search(query, k):\n    import sqlite3\n    return []",
        "search = eval('lambda query, k: []')",
        "import typing\nfound = typing.get_type_hints(typing)",
        "from typing import get_type_hints as hints",
        "from typing import ForwardRef",
    ],
)
def test_what_may_open_something_is_not_proven(write: Write, source: str) -> None:
    assert not write(api="from . import ranking", ranking=source)().closed
    assert write(api="from . import ranking", ranking="import re, math, collections.abc")().closed


def test_versions_of_installed_packages_count(write: Write) -> None:
    import numpy as np

    assert write(api="import numpy.linalg")().key["packages"] == {"numpy": np.__version__}


def test_a_file_that_changes_while_the_process_has_the_older_one(write: Write, tmp_path: Path) -> None:
    """The module in memory is the older one, so its answers must not be taken for those of the file."""
    look = write(api="from . import ranking", ranking="x = 1")
    first = look()
    (path,) = tmp_path.rglob("ranking.py")
    path.write_text("x = 2")
    later = look()
    assert first.closed
    assert not later.closed
    assert later.key != first.key
    as_a_new_process()
    assert look().key not in (first.key, later.key)


def test_a_module_that_was_loaded_before_its_file_was_seen(write: Write) -> None:
    """In a notebook, say: nobody knows whether the file was another one then."""
    look = write(api="x = 1")
    as_a_new_process()
    assert not look().closed
    assert not look().closed


def test_nothing_is_imported(write: Write) -> None:
    look = write(api="def search(query, k):\n    from .late import x", late="raise RuntimeError('imported')")
    assert len(look().files) == 3
    assert not [name for name in sys.modules if name.endswith(".late")]


def test_modules_that_cannot_be_read_are_not_proven(write: Write, tmp_path: Path) -> None:
    look = write(api="from . import odd", odd="x = 1")
    (path,) = tmp_path.rglob("odd.py")
    path.write_bytes(b"\x00\x01")
    as_a_new_process()
    assert not look().closed
