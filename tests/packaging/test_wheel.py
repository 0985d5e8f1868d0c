"""The first minute elsewhere: what `make dist` builds, installed where nothing of this checkout is."""

from __future__ import annotations

import json
import re
import shlex
import zipfile
from pathlib import Path

import pytest

import rankgauge
from tests.packaging.clean import Clean, build, ended, outside
from tests.parts import here

pytestmark = pytest.mark.needs("registry")

# What is asked for, and the extra that it needs.
WITHOUT_EXTRAS = {
    "compare {example} -o report.html": "report",
    "compare {example} --charts charts": "report",
    "evaluate {example} -m nDCG@10 --keep": "guard",
    "history list": "guard",
    "run built-in.toml": "retrievers",
    "run url.toml": "http",
    "monitor url.toml --once": "guard",
}
PLAN = 'testset = "{testset}"\ncorpus = "corpus.jsonl"\n[[system]]\nname = "a"\n'


def contents(wheel: Path) -> dict[str, int]:
    with zipfile.ZipFile(wheel) as opened:
        return {member.filename: member.CRC for member in opened.infolist()}


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    return build(tmp_path_factory.mktemp("built"))


def test_the_source_archive_makes_the_same_wheel(built: tuple[Path, Path], tmp_path: Path) -> None:
    wheel, archive = built
    ended(here("registry"), "build", "--quiet", "--wheel", "--out-dir", tmp_path, archive, cwd=tmp_path, env=outside())
    (again,) = tmp_path.glob("*.whl")
    assert again.name == wheel.name
    assert contents(again) == contents(wheel)


def test_the_wheel_alone(built: tuple[Path, Path], tmp_path: Path) -> None:
    """With the core's dependencies; then the demo, after exactly what its error says to type."""
    clean = Clean(tmp_path, built[0])
    assert rankgauge.__version__ in clean.run("rankgauge", "--version")
    assert "compare" in clean.run("rankgauge", "--help")
    package = Path(clean.run("python", "-c", "import rankgauge; print(rankgauge.__path__[0])").strip())
    assert clean.bin.parent in package.parents

    example = [str(package / "example" / name) for name in ("testset.json", "bm25.run", "hybrid.run")]
    clean.run("rankgauge", "evaluate", *example, "-o", "table.md")
    assert "nDCG@10" in (clean.folder / "table.md").read_text()
    assert "hybrid" in clean.run("rankgauge", "compare", *example, "-m", "nDCG@10")

    (clean.folder / "corpus.jsonl").write_text(json.dumps({"_id": "d", "text": "a text"}) + "\n")
    plan = PLAN.format(testset=example[0])
    (clean.folder / "built-in.toml").write_text(plan + 'use = "bm25"\n')
    (clean.folder / "url.toml").write_text(plan + 'use = "http"\nparameters = { url = "http://127.0.0.1:9" }\n')
    for words, extra in WITHOUT_EXTRAS.items():
        command = words.format(example=" ".join(map(shlex.quote, example)))
        said = clean.run("rankgauge", *shlex.split(command), status=2)
        assert "pip install " in said, command
        assert f"in the extra rankgauge[{extra}])" in said, command

    said = clean.run("rankgauge", "demo", status=2)
    assert "hybrid" in clean.run(*shlex.split(said.rpartition("try: ")[2]))
    (remedy,) = re.findall(r"pip install [^(]+", said)
    clean.uv(*shlex.split(remedy))
    assert "reranked" in clean.run("rankgauge", "demo")
    assert "reranked" in (clean.folder / "rankgauge-demo.html").read_text(encoding="utf-8")
