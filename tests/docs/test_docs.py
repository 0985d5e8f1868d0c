"""The documentation is executed: snippets run and show what really comes out, links lead somewhere, and the generated
pages are current. `RANKGAUGE_UPDATE_DOCS=1` writes the real outputs into the pages instead of comparing them.
"""

from __future__ import annotations

import html
import importlib.util
import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from importlib.resources import as_file, files
from pathlib import Path
from types import ModuleType
from typing import Any
from urllib.parse import unquote

import pytest

import rankgauge
from rankgauge.measures import all_definitions
from rankgauge.measures.registry import unregister
from rankgauge.words import Language, say
from tests.docs import pages
from tests.docs.pages import DOCS, GENERATED, READMES, ROOT, blocks_of, written_pages

PAGES = written_pages()
EXECUTED = ("python", "console", "bash")
SHOWN = ("text", "toml", "json", "yaml")
FIRST_RANK = (
    "index.md",
    "tutorial.md",
    *(f"how-to/{page}.md" for page in ("install", "score-files", "compare", "reports", "connect-retrievers")),
    *(f"how-to/{page}.md" for page in ("run-plans", "gate", "history", "monitor", "alerts")),
    *(f"explanation/{page}.md" for page in ("contract", "intervals", "statistics", "threat-model")),
    "reference/measures.md",
    "reference/glossary.md",
)
"""What a Chinese reader finds in Chinese."""
NOT_RUN = ("make", "pip", "eval", "sort", "spark-submit")


def page_name(path: Path) -> str:
    return str(path.relative_to(ROOT))


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder with the example files, to work in; measures and modules that a page adds are gone afterwards."""
    with as_file(files("rankgauge") / "example") as example:
        for file in example.iterdir():
            if file.suffix in (".json", ".run"):
                shutil.copy(file, tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setenv("PYSPARK_PYTHON", sys.executable)  # as in a virtual environment that is activated
    known, modules = {d.name for d in all_definitions()}, set(sys.modules)
    yield tmp_path
    for name in {d.name for d in all_definitions()} - known:
        unregister(name)
    for name in set(sys.modules) - modules:
        if (getattr(sys.modules[name], "__file__", None) or "").startswith(str(tmp_path)):
            del sys.modules[name]


@pytest.fixture(scope="module")
def generator() -> ModuleType:
    spec = importlib.util.spec_from_file_location("docs_generate", DOCS / "generate.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def drawing(path: Path) -> Any:
    """The page, with what it needs: Chinese ones that draw charts need a font that has the characters."""
    if path.name == "spark.md":
        return pytest.param(path, marks=pytest.mark.needs("java", "pyspark"))
    chinese = DOCS / "zh" in path.parents
    draws = re.search(r"--charts|\.(svg|png)\b", path.read_text(encoding="utf-8")) is not None
    return pytest.param(path, marks=pytest.mark.needs("font")) if chinese and draws else path


@pytest.mark.parametrize("path", [drawing(path) for path in PAGES], ids=page_name)
def test_snippets(path: Path, folder: Path) -> None:
    outputs = pages.run_page(path)
    if os.environ.get("RANKGAUGE_UPDATE_DOCS"):
        pages.refresh(path, outputs)
        outputs = [output for output in outputs if "..." in output.lines]
    for output in outputs:
        if not output.right:
            shown, real = "\n".join(output.lines), "\n".join(output.real)
            pytest.fail(f"{page_name(path)}:{output.start + 1} shows\n{shown}\n--- but it is\n{real}", pytrace=False)


@pytest.mark.parametrize("path", PAGES, ids=page_name)
def test_every_block_is_run_or_known_not_to_be(path: Path) -> None:
    for block in blocks_of(path.read_text(encoding="utf-8")):
        place = f"{page_name(path)}:{block.start}"
        assert block.language in (*EXECUTED, *SHOWN, "shell"), f"{place}: {block.language!r}"
        if block.language == "shell":
            for line in block.lines:
                assert line.startswith(NOT_RUN), f"{place}: {line!r} should be a console block"


ALL_PAGES = sorted({*PAGES, *DOCS.rglob("*.md")})


@pytest.mark.parametrize("path", ALL_PAGES, ids=page_name)
def test_links(path: Path) -> None:
    for link in pages.links_of(path.read_text(encoding="utf-8")):
        assert not link.startswith(("http:", "https:")), f"{link}: pages stay within the repository"
        target, _, anchor = unquote(link).partition("#")
        found = (path.parent / target).resolve() if target else path
        assert found.exists(), link
        assert path in READMES or DOCS in found.parents, f"{link} leaves docs/"
        if anchor:
            assert anchor in pages.anchors_of(found.read_text(encoding="utf-8")), link


INSTALLING = (DOCS / "how-to" / "install.md", DOCS / "zh" / "how-to" / "install.md")


def test_pages_on_installing_know_every_extra() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"].keys() - {"test", "test-tensors", "lint", "docs", "stores"}
    for page in INSTALLING:
        assert set(re.findall(r"^\| `(\w+)` \|", page.read_text(encoding="utf-8"), re.MULTILINE)) == extras, page


@pytest.mark.parametrize("path", PAGES, ids=page_name)
def test_nothing_is_installed_from_an_index_that_does_not_have_it(path: Path) -> None:
    """How to install is said on one page, where the name alone is right: rankgauge is installed there already."""
    named = re.findall(r"pip install[^\n`]*?['\" ]rankgauge\b(?!-)", path.read_text(encoding="utf-8"))
    assert not named or path in INSTALLING


@pytest.mark.parametrize("path", ALL_PAGES, ids=page_name)
def test_no_path_of_a_machine(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert not re.search(r"(?<![\w.])/(work|tmp|home|root|usr)/", text)


def test_generated_pages_are_current(generator: ModuleType) -> None:
    made = generator.pages()
    assert {DOCS / name for name in made} == {page for folder in GENERATED for page in folder.glob("*.md")}
    for name, text in made.items():
        assert (DOCS / name).read_text(encoding="utf-8") == text, f"docs/{name} is stale: run make docs"


def picture_text(svg: str) -> str:
    """The words of an SVG, whatever the version of rich that drew it."""
    words = re.findall(r"<text[^>]*>([^<]*)</text>", svg)
    return " ".join(html.unescape("".join(words)).replace("\xa0", " ").split())


@pytest.mark.parametrize(("name", "language"), [("demo.svg", "en"), ("demo.zh.svg", "zh")])
def test_pictures_are_current(name: str, language: Language) -> None:
    """Figures differ from machine to machine; what is said around them must be what the demo says now."""
    kept = (DOCS / "images" / name).read_text(encoding="utf-8")
    shown = picture_text(kept)
    texts = [say(f"report.{key}", language) for key in ("system", "verdict", "p50")]
    texts += [say("comparison.verdict_worse", language), say("answer.baseline", language)]
    texts += [say("answer.lost", language, b="dense"), say("answer.vs", language, a="bm25")]
    texts += [say("demo.next", language), say("demo.report", language, path="rankgauge-demo.html")]
    texts.append("$ rankgauge demo " + ("rankgauge" if language == "en" else "--lang zh rankgauge"))
    for text in texts:
        assert " ".join(text.split()) in shown, f"docs/images/{name} is stale ({text}): run make pictures"
    assert str(ROOT) not in kept
    assert re.findall(r"https?://[^\"\s]+", kept) == ["http://www.w3.org/2000/svg"]


def test_every_public_name_is_in_the_reference() -> None:
    text = (DOCS / "reference" / "python.md").read_text(encoding="utf-8")
    headings = {heading.strip("`") for heading in re.findall(r"^## (.+)$", text, re.MULTILINE)}
    assert headings == set(rankgauge.__all__)


def test_every_measure_is_in_the_reference() -> None:
    for folder in GENERATED:
        text = (folder / "measures.md").read_text(encoding="utf-8")
        headings = set(re.findall(r"^### (.+)$", text, re.MULTILINE))
        assert headings == {d.name for d in all_definitions() if d.kernel.__module__.startswith("rankgauge.")}


@pytest.mark.parametrize("path", READMES, ids=page_name)
def test_readme(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    (other,) = (readme.name for readme in READMES if readme != path)
    assert "make demo" in text
    assert "make test" in text
    assert f"({other})" in "\n".join(text.splitlines()[:5])
    assert re.search(r"docs/images/demo(\.zh)?\.svg", text)


def navigation(settings: str) -> list[str]:
    return re.findall(r": (\S+\.md)$", (ROOT / settings).read_text(encoding="utf-8"), re.MULTILINE)


@pytest.mark.parametrize(("settings", "folder"), [("mkdocs.yml", DOCS), ("mkdocs.zh.yml", DOCS / "zh")])
def test_the_first_page_leads_to_every_other(settings: str, folder: Path) -> None:
    links = (folder / "index.md").read_text(encoding="utf-8")
    assert [page for page in navigation(settings) if page != "index.md" and f"]({page})" not in links] == []


def test_every_page_is_in_the_navigation() -> None:
    chinese = {f"zh/{page}" for page in navigation("mkdocs.zh.yml")}
    assert {*navigation("mkdocs.yml"), *chinese} == {str(path.relative_to(DOCS)) for path in DOCS.rglob("*.md")}


def test_chinese_pages_have_their_place_in_the_english_order() -> None:
    """The switch of language leads from a page to the one of the same path."""
    english, chinese = navigation("mkdocs.yml"), navigation("mkdocs.zh.yml")
    assert chinese == [page for page in english if page in chinese]
    assert {*FIRST_RANK} <= {*chinese}


@pytest.mark.parametrize("path", [page for page in PAGES if DOCS / "zh" in page.parents], ids=page_name)
def test_chinese_pages_lead_to_chinese_pages(path: Path) -> None:
    """A page that is there in Chinese is not linked in English."""
    for link in pages.links_of(path.read_text(encoding="utf-8")):
        found = (path.parent / link.partition("#")[0]).resolve()
        if found.suffix == ".md" and DOCS / "zh" not in found.parents:
            assert not (DOCS / "zh" / found.relative_to(DOCS)).exists(), link


def test_entry_point(tmp_path: Path) -> None:
    """The page on own measures, installed as a package: its measure is known to the command."""
    blocks = blocks_of((DOCS / "how-to" / "own-measures.md").read_text(encoding="utf-8"))
    module = next(block for block in blocks if block.language == "python")
    settings = next(block for block in blocks if block.language == "toml")
    ((group, points),) = tomllib.loads("\n".join(settings.lines))["project"]["entry-points"].items()
    ((name, target),) = points.items()
    (tmp_path / f"{target.partition(':')[0]}.py").write_text("\n".join(module.lines), encoding="utf-8")
    info = tmp_path / "mine-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: mine\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[{group}]\n{name} = {target}\n")
    done = subprocess.run(
        [sys.executable, "-m", "rankgauge", "explain", "FirstPage@10"],
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("FirstPage@10")


@pytest.mark.parametrize("page", written_pages(), ids=lambda path: str(path.relative_to(ROOT)))
def test_names_come_from_the_front_door(page: Path) -> None:
    """What a page shows is public: `rankgauge.evaluate`, never a module inside a package."""
    inner = [
        line
        for block in blocks_of(page.read_text())
        for line in block.lines
        if re.match(r"\s*(from|import) rankgauge\.\w+\.\w+", line)
    ]
    assert not inner
