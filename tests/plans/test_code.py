"""What a plan's own system is written in is followed through its imports, and told apart from what may open things."""

from __future__ import annotations

import itertools
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from rankgauge.plans import code as followed
from rankgauge.plans.code import Code, code_of

_NUMBERS = itertools.count()
Write = Callable[..., Callable[[], Code]]


@pytest.fixture
def write(tmp_path: Path) -> Iterator[Write]:
    """Writes the modules of a package of its own; what it gives looks at the code of its module `api`."""
    package = f"followed_package_{next(_NUMBERS)}"

    def written(**modules: str) -> Callable[[], Code]:
        for name, source in {"__init__": "", **modules}.items():
            path = tmp_path / package / f"{name.replace('__', '/') if name != '__init__' else name}.py"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(source.replace("PACKAGE", package))
        followed._seen.clear()  # as a new process
        return lambda: code_of(f"{package}.api", tmp_path)

    yield written
    for name in [name for name in sys.modules if name.partition(".")[0] == package]:
        del sys.modules[name]


@pytest.mark.parametrize(
    "imports",
    [
        "import PACKAGE.ranking",
        "from PACKAGE import ranking",
        "from PACKAGE.ranking import ranked",
        "from . import ranking",
        "from .ranking import *",
        "def search(query, k):\n    from .ranking import ranked\n    return ranked(query)",
        "from .middle import something",
        "try:\n    import PACKAGE.ranking as found\nexcept ImportError:\n    found = None",
    ],
)
def test_a_change_behind_an_import_is_seen(write: Write, imports: str) -> None:
    parts = {"api": imports, "middle": "from PACKAGE import ranking\nsomething = 1"}
    before = write(**parts, ranking="ranked = sorted")()
    assert before.closed
    assert any(name.endswith(".ranking") for name in before.files)
    assert write(**parts, ranking="ranked = sorted")().key == before.key
    assert write(**parts, ranking="ranked = reversed")().key != before.key


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
        "ranks = open('ranks.json').read()",
        "def search(query, k):\n    import sqlite3\n    return []",
        "search = eval('lambda query, k: []')",
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
    followed._seen.clear()
    assert look().key not in (first.key, later.key)


def test_nothing_is_imported(write: Write) -> None:
    look = write(api="def search(query, k):\n    from .late import x", late="raise RuntimeError('imported')")
    assert len(look().files) == 3
    assert not [name for name in sys.modules if name.endswith(".late")]


def test_modules_that_cannot_be_read_are_not_proven(write: Write, tmp_path: Path) -> None:
    look = write(api="from . import odd", odd="x = 1")
    (path,) = tmp_path.rglob("odd.py")
    path.write_bytes(b"\x00\x01")
    followed._seen.clear()
    assert not look().closed
