"""The hooks for pre-commit, by pre-commit itself: a commit that loses quality is stopped."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
import yaml

from tests.docs.ci import GOOD, PAGES, RUBBISH, Checkout, yaml_blocks
from tests.packaging.clean import ended, outside
from tests.parts import ROOT, here

HOOKS = ".pre-commit-hooks.yaml"
GIT = ("git", "-c", "user.name=a", "-c", "user.email=a@b")


def published(folder: Path, env: dict[str, str]) -> str:
    """This tree as a repository of its own: its only revision."""
    shutil.copytree(ROOT / "src", folder / "src", ignore=shutil.ignore_patterns("__pycache__"))
    for name in (HOOKS, "pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, folder)
    ended("git", "init", "--quiet", cwd=folder, env=env)
    ended("git", "add", "--all", cwd=folder, env=env)
    ended(*GIT, "commit", "--quiet", "-m", "first", cwd=folder, env=env)
    return ended("git", "rev-parse", "HEAD", cwd=folder, env=env).strip()


@pytest.mark.needs("registry")
def test_a_commit_that_loses_quality_is_stopped(tmp_path: Path) -> None:
    env = outside(PRE_COMMIT_HOME=str(tmp_path / "cache"))
    revision = published(tmp_path / "rankgauge", env)
    checkout = Checkout(tmp_path / "search")
    checkout.set_baseline()
    config = next(block for block in yaml_blocks(PAGES[0]) if "repos" in block)  # as the page shows it
    config["repos"][0] |= {"repo": "../rankgauge", "rev": revision}
    checkout.write(".pre-commit-config.yaml", yaml.safe_dump(config))
    # With pre-commit-uv it installs by uv, which takes seconds where pip takes many.
    pre_commit = (here("registry"), "tool", "run", "--quiet", "--with", "pre-commit-uv", "pre-commit")

    def hooks(status: int) -> str:
        ended("git", "add", "--all", cwd=checkout.folder, env=env)
        return ended(*pre_commit, "run", cwd=checkout.folder, env=env, status=status)

    assert hooks(0).count("Skipped") == 2  # neither plan nor ranker is part of this commit
    checkout.write("search/ranking.py", GOOD + "# still good\n")
    checkout.plan(calls="retries = 1")
    assert hooks(0).count("Passed") == 2
    checkout.write("search/ranking.py", RUBBISH)
    checkout.plan(calls="retris = 1")
    assert "retris" in hooks(1)
    checkout.plan()
    assert "REGRESSION: search" in hooks(1)
    # A plan that cannot be run is no pass, and an old record does not stand in for it.
    checkout.write("search/ranking.py", "raise OSError('no index')\n")
    assert "no index" in hooks(1)
