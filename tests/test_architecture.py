"""The shape of the code: data flows one way, the public names are the documented ones, importing costs little."""

from __future__ import annotations

import ast
import subprocess
import sys
from itertools import chain
from pathlib import Path

import pytest

import rankgauge

SOURCE = Path(rankgauge.__file__).parent
# A package imports only from packages before it.
ORDER = [
    "visible",
    "errors",
    "extras",
    "native",
    "ahead",
    "registry",
    "words",
    "model",
    "formats",
    "measures",
    "engine",
    "stats",
    "record",
    "evaluation",
    "tensors",
    "compat",
    "sensitivity",
    "comparison",
    "exports",
    "retrievers",
    "live",
    "spark",
    "gating",
    "plans",
    "demo",
    "history",
    "monitoring",
    "testsets",
    "benchmarks",
    "reports",
    "cli",
]
# `measures` needs no files and `formats` no measures; they stand side by side.


MODULES = {
    ".".join(("rankgauge", *path.relative_to(SOURCE).with_suffix("").parts)).removesuffix(".__init__"): path
    for path in sorted(SOURCE.rglob("*.py"))
}


def imports(path: Path) -> set[str]:
    """Modules of this project that a module imports: at its top, inside its functions, or for its types only."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names if alias.name in MODULES}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            if (node.module or "").split(".")[0] == "rankgauge":
                for alias in node.names:
                    inner = f"{node.module}.{alias.name}"
                    found.add(inner if inner in MODULES else str(node.module))
    return found


GRAPH = {name: imports(path) - {name} for name, path in MODULES.items()}


@pytest.mark.parametrize("name", [name for name in MODULES if name.count(".") > 1])
def test_imports_follow_the_data(name: str) -> None:
    own = ORDER.index(name.split(".")[1])
    others = {other.split(".")[1] for other in GRAPH[name] if "." in other}
    assert "rankgauge" not in GRAPH[name], "the front door is for those outside"
    assert not [other for other in others if other in ORDER and ORDER.index(other) > own]
    assert not [other for other in others if other not in (*ORDER, "version", "arguments", "lazy", "extras")]


def test_no_import_cycles() -> None:
    """Inside a package too, lazy and type-only imports included: what needs each other is one idea, in one module."""
    reached = {name: set(others) for name, others in GRAPH.items() if name != "rankgauge"}
    while any(
        reached[name] != (more := reached[name].union(*(reached.get(other, ()) for other in reached[name])))
        and not reached.update({name: more})
        for name in reached
    ):
        pass
    assert not sorted(name for name, others in reached.items() if name in others), "these import each other"


def test_sql_stands_in_the_history_alone() -> None:
    """Of the packages, only `history` knows the database."""
    found = {
        name
        for name, path in MODULES.items()
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Import | ast.ImportFrom)
        and "sqlalchemy" in (getattr(node, "module", None) or " ".join(alias.name for alias in node.names))
    }
    assert {name.split(".")[1] for name in found} == {"history"}


def test_public_names() -> None:
    made = [*chain(*rankgauge._NAMES.values()), "__version__", *rankgauge._PACKAGES]
    assert sorted(rankgauge.__all__) == sorted(made)
    assert dir(rankgauge) == sorted(rankgauge.__all__)
    for name in rankgauge.__all__:
        assert getattr(rankgauge, name) is not None
    with pytest.raises(AttributeError):
        rankgauge.nothing  # noqa: B018


def test_importing_loads_nothing_heavy() -> None:
    heavy = ("numpy", "polars", "rich", "click", "scipy")
    code = f"import sys, rankgauge; print([name for name in {heavy} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_dictionaries_need_no_polars() -> None:
    code = (
        "import sys, rankgauge; rankgauge.evaluate({'q': {'d': 1}}, {'q': {'d': 1.0}}); print('polars' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def test_help_needs_neither_numpy_nor_polars() -> None:
    code = (
        "import sys; sys.argv = ['rankgauge', '--help']\n"
        "from rankgauge.cli import main\n"
        "try: main()\n"
        "except SystemExit: print([n for n in ('numpy', 'polars') if n in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip().endswith("[]")


# Averages outside `engine` and `stats`, each of something other than the scores of queries.
AVERAGES = {
    "comparison/changes.py": 1,  # of a System, which asks the engine
    "comparison/groups.py": 1,  # the same
    "comparison/rows.py": 1,  # the same
    "sensitivity/judge_next.py": 1,  # over the labels that a document can get
    "live/sweep.py": 1,  # the share of the exact search's documents
    "retrievers/fusion.py": 3,  # of the scores of one list, to bring lists onto one scale
    "monitoring/detection/rates.py": 1,  # over checks
    "monitoring/detection/series.py": 1,  # over checks
    "monitoring/detection/streams.py": 3,  # over checks, and of a stream, which has only means
}


def test_queries_are_averaged_in_one_place() -> None:
    """How the queries of a measure are put together is its own matter: `engine.averaging.aggregate` does it."""
    names, found = {"mean", "nanmean", "average", "fmean", "fsum"}, {}
    for package in (*ORDER[ORDER.index("record") : ORDER.index("demo")], "history", "monitoring", "reports", "cli"):
        for path in sorted((SOURCE / package).rglob("*.py")):
            calls = [node.func for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Call)]
            called = [getattr(func, "attr", getattr(func, "id", "")) for func in calls]
            if count := sum(name in names for name in called):
                found[str(path.relative_to(SOURCE))] = count
    assert found == AVERAGES
