"""Environments outside this checkout, with nothing of it but what is installed there."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

from tests.parts import ROOT, here

__all__ = ["Clean", "build", "ended", "outside"]


def outside(**more: str) -> dict[str, str]:
    """The variables of a shell that knows nothing of this checkout or of a CI service."""
    own = ("RANKGAUGE", "GITHUB", "PYTHON", "PYTEST", "COV", "VIRTUAL_ENV", "MAKE", "MFLAGS")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(own)}
    # Compiling what is used once takes longer than installing it; threads of several tests get in each other's way.
    quick = {"PIP_NO_COMPILE": "1", "OMP_NUM_THREADS": "1"}
    return kept | quick | {"PIP_DISABLE_PIP_VERSION_CHECK": "1", "NO_COLOR": "1"} | more


def ended(*command: object, cwd: Path, env: dict[str, str], status: int = 0) -> str:
    """What a command says in all; its exit status must be this one."""
    done = subprocess.run(
        [str(word) for word in command],
        cwd=cwd,
        env=env,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == status, f"{command}: {done.returncode}\n{done.stdout}"
    assert "Traceback" not in done.stdout
    return done.stdout


def build(folder: Path) -> tuple[Path, Path]:
    """Wheel and source archive by `make dist`."""
    ended("make", "dist", f"DIST={folder}", cwd=ROOT, env=outside())
    (wheel,), (archive,) = folder.glob("*.whl"), folder.glob("*.tar.gz")
    return wheel, archive


class Clean:
    """A fresh environment with pip, and a folder to work in."""

    def __init__(self, folder: Path, *requirements: object) -> None:
        self.folder = folder / "work"
        self.folder.mkdir()
        self.bin = folder / "env" / ("Scripts" if os.name == "nt" else "bin")
        self.env = outside(VIRTUAL_ENV=str(folder / "env"))
        self.env["PATH"] = f"{self.bin}{os.pathsep}{self.env['PATH']}"
        self.uv("venv", "--quiet", "--seed", folder / "env")
        self.uv("pip", "install", *requirements)

    def uv(self, *words: object) -> str:
        """uv, which stands in for pip as well: it does the same in a fraction of the time."""
        return ended(here("registry"), *words, cwd=self.folder, env=self.env)

    def run(self, *command: object, status: int = 0) -> str:
        program = shutil.which(str(command[0]), path=str(self.bin))
        assert program is not None, f"{command[0]} is not installed"
        return ended(program, *command[1:], cwd=self.folder, env=self.env, status=status)
