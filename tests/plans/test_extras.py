"""The plan of `rankgauge init` runs with the extra `guard` alone; what a plan lacks is named before the first call."""

from __future__ import annotations

import json
import subprocess
import sys
import tomllib
from importlib.metadata import PackageNotFoundError, packages_distributions, requires
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from rankgauge.errors import FormatError
from rankgauge.plans.plan import load_plan, template
from tests.parts import ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
# The command with modules that cannot be imported, as if they were not installed.
BOOT = """
import sys
class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in absent:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
absent = set(sys.argv.pop(1).split(","))
sys.meta_path.insert(0, Absent())
from rankgauge.cli import main
main()
"""


def installed_with(extra: str) -> set[str]:
    """The distributions that a fresh environment has after `pip install rankgauge[extra]`."""
    found: set[str] = set()
    waiting = [Requirement(text) for text in PROJECT["dependencies"]]
    waiting.append(Requirement(f"rankgauge[{extra}]"))
    seen: set[str] = set()
    while waiting:
        wanted = waiting.pop()
        name = canonicalize_name(wanted.name)
        if str(wanted) in seen or (wanted.marker and not wanted.marker.evaluate({"extra": ""})):
            continue
        seen.add(str(wanted))
        if name == "rankgauge":
            extras = PROJECT["optional-dependencies"]
            waiting += [Requirement(text) for one in wanted.extras for text in extras[one]]
            continue
        found.add(name)
        try:
            needed = [Requirement(text) for text in requires(name) or []]
        except PackageNotFoundError:
            continue
        for one in needed:
            if one.marker is None or any(one.marker.evaluate({"extra": extra}) for extra in ("", *wanted.extras)):
                one.marker = None
                waiting.append(one)
    return found


def absent_without(extra: str) -> list[str]:
    have = installed_with(extra)
    modules = packages_distributions().items()
    return [
        module
        for module, names in modules
        if not have & {canonicalize_name(name) for name in names} and names != ["rankgauge"]
    ]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """What the plan of `init` names: a test set and a corpus."""
    documents = [f"word{i} word{i + 1} and some more text" for i in range(12)]
    (tmp_path / "corpus.jsonl").write_text(
        "".join(json.dumps({"_id": f"d{i}", "text": text}) + "\n" for i, text in enumerate(documents))
    )
    queries = [{"id": f"q{i}", "query": f"word{i}", "relevant_docs": [f"d{i}"]} for i in range(12)]
    (tmp_path / "testset.json").write_text(json.dumps(queries))
    (tmp_path / "plan.toml").write_text(template())
    return tmp_path


def run(folder: Path, absent: list[str], *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", BOOT, ",".join(absent), *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120, check=False)


def test_the_plan_of_init_runs_with_guard_alone(folder: Path) -> None:
    absent = absent_without("guard")
    assert {"pytest", "chromadb", "pandas", "psycopg"} <= set(absent)
    assert not {"numpy", "bm25s", "sqlalchemy", "jinja2"} & set(absent)
    (folder / "plan.toml").unlink()
    for words in (["init"], ["run", "--check", "plan.toml"], ["run", "plan.toml", "--keep"]):
        done = run(folder, absent, *words)
        assert done.returncode == 0, done.stderr
    done = run(folder, absent, "gate", "record.json", "--system", "bm25", "--target", "R@10 >= 0.5")
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize(
    ("module", "extra"),
    [
        ("bm25s", "retrievers"),
        ("Stemmer", "retrievers"),
        ("sklearn", "retrievers"),
        ("jinja2", "report"),
        ("vl_convert", "report"),
    ],
)
def test_what_is_missing_is_named_before_the_first_call(
    folder: Path, monkeypatch: pytest.MonkeyPatch, module: str, extra: str
) -> None:
    load_plan(folder / "plan.toml")
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(FormatError) as caught:
        load_plan(folder / "plan.toml")
    assert all(f"it is in the extra rankgauge[{extra}]" in str(fault) for fault in caught.value.faults)


@pytest.mark.parametrize(
    ("system", "module", "extra"),
    [
        ('use = "hnsw"', "faiss", "retrievers"),
        ('use = "dense"\nparameters = { index = "hnsw" }', "faiss", "retrievers"),
        ('use = "dense"\nparameters = { model = "m" }', "sentence_transformers", "models"),
        ('use = "dense"\nparameters = { model = "m", endpoint = "http://h" }', "httpx", "http"),
        ('use = "bm25"\nparameters = { language = "zh" }', "jieba", "retrievers"),
        ('use = "mmr"\nparameters = { base = "bm25" }', "bm25s", "retrievers"),
        ('use = "rerank"\nparameters = { scorer = "cross" }', "sentence_transformers", "models"),
        ('use = "rerank"\nparameters = { base = "hybrid" }', "sklearn", "retrievers"),
    ],
)
def test_parameters_decide_what_is_needed(
    folder: Path, monkeypatch: pytest.MonkeyPatch, system: str, module: str, extra: str
) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    (folder / "plan.toml").write_text(
        f'testset = "testset.json"\ncorpus = "corpus.jsonl"\n[[system]]\nname = "a"\n{system}\n'
    )
    with pytest.raises(FormatError) as caught:
        load_plan(folder / "plan.toml")
    (fault,) = caught.value.faults
    # Packages are installed by their own names, wherever rankgauge itself came from.
    named = str(fault).partition("pip install ")[2].split()[0]
    assert named in {Requirement(text).name for text in PROJECT["optional-dependencies"][extra]}
    assert f"it is in the extra rankgauge[{extra}]" in str(fault)


def test_values_of_a_sweep_too(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "faiss", None)
    (folder / "plan.toml").write_text(
        'testset = "testset.json"\ncorpus = "corpus.jsonl"\n[[system]]\nname = "a"\nuse = "dense"\n'
        '[sweep]\nsystem = "a"\ngrid = { index = ["exact", "hnsw"] }\n'
    )
    with pytest.raises(FormatError, match=r"sweep\.grid\.index: dense: an HNSW index needs faiss-cpu"):
        load_plan(folder / "plan.toml")
