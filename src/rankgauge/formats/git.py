"""What git knows of a folder: the commit, and the files that a change touches."""

from __future__ import annotations

import os
from pathlib import Path

__all__ = ["UnknownChangeError", "changed_files", "commit_of", "working_folder"]


def commit_of(folder: Path | None) -> str | None:
    """The commit of a folder, if it is there and under git."""
    return None if folder is None else _git(folder, "rev-parse", "HEAD")


def working_folder() -> Path | None:
    """The working folder; None where it was removed."""
    try:
        return Path.cwd()
    except OSError:
        return None


class UnknownChangeError(Exception):
    """git cannot tell what has changed: the clone lacks earlier commits, or git does not trust its folder."""


def changed_files(file: Path) -> tuple[str, list[Path]] | None:
    """The commit that a change starts from, and the versioned files that differ from it, committed or not.

    The start is where the branch left the one it goes back to (as the CI service tells it, else the remote's own);
    on that branch itself, or without a remote, the commit before. None where the file is not under git, or where the
    commit is the first one.
    """
    folder = file.parent
    if not _versioned(folder):
        return None
    top = _git(folder, "rev-parse", "--show-toplevel")
    if top is None:
        raise UnknownChangeError
    if _git(folder, "ls-files", "--", file.name) is None:
        return None
    start = _start(folder)
    if start is None:
        if _git(folder, "rev-parse", "--is-shallow-repository") == "true":
            raise UnknownChangeError
        return None
    listed = _git(folder, "diff", "--name-only", "-z", start) or ""
    return start, [Path(top, name) for name in listed.split("\0") if name]


def _start(folder: Path) -> str | None:
    told = os.environ.get("CI_MERGE_REQUEST_DIFF_BASE_SHA")
    if told and (start := _git(folder, "rev-parse", "--verify", "--quiet", f"{told}^{{commit}}")):
        return start
    target = os.environ.get("GITHUB_BASE_REF")
    remote = f"origin/{target}" if target else "origin/HEAD"
    start = _git(folder, "merge-base", remote, "HEAD")
    if start is None or start == commit_of(folder):
        start = _git(folder, "rev-parse", "--verify", "--quiet", "HEAD^1")
    return start


def _versioned(folder: Path) -> bool:
    return any((place / ".git").exists() for place in (folder, *folder.parents))


def _git(folder: Path, *arguments: str) -> str | None:
    if not _versioned(folder):
        return None  # sparing the process
    import subprocess

    try:
        done = subprocess.run(
            ["git", "-C", str(folder), *arguments],
            capture_output=True,
            timeout=5,
            check=False,
            env={**os.environ, "GIT_OPTIONAL_LOCKS": "0"},
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return os.fsdecode(done.stdout).strip() or None if done.returncode == 0 else None
