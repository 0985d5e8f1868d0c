"""`init_from_documents`: from a folder of documents to a test set that can be run, in one go."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from rankgauge.arguments import as_path, named_arguments
from rankgauge.errors import DataError, FormatError, RankgaugeError
from rankgauge.extras import check_all_installed
from rankgauge.formats.documents import Documents, load_documents
from rankgauge.formats.json_values import dump_lines
from rankgauge.formats.pool import save_pool
from rankgauge.formats.sources import write_whole
from rankgauge.model.pool import Pool, PooledPair
from rankgauge.model.run import Run
from rankgauge.model.testset import TestSet
from rankgauge.retrievers.bm25 import BM25
from rankgauge.retrievers.checks import check_whole
from rankgauge.retrievers.dense import Dense
from rankgauge.retrievers.hybrid import Hybrid
from rankgauge.retrievers.interface import Retriever
from rankgauge.testsets.chat import ChatModel
from rankgauge.testsets.chat_cost import Budget
from rankgauge.testsets.chat_pace import CallSettings
from rankgauge.testsets.generated import GeneratedQueries
from rankgauge.testsets.generating import generate_queries
from rankgauge.words import Note

__all__ = ["StartedTestSet", "init_from_documents"]

_FILES: Final = ("corpus.jsonl", "testset.json", "pool.jsonl", "plan.toml")
_DEPTH: Final = 20
_LEFT_OUT: Final = 5  # more files than were read, by this factor, are worth a remark
Progress = Callable[[str, int, int], None]


@dataclass(frozen=True)
class StartedTestSet:
    """A folder with all that `rankgauge run` needs, and how it came to be."""

    folder: Path
    documents: Documents
    generated: GeneratedQueries
    systems: list[str]
    """The retrievers of the plan, which the pool was filled by."""
    lacking: dict[str, str] = field(default_factory=dict)
    """Retrievers that could not be used, and why."""
    pooled: int = 0
    """Pairs of query and document that nobody has judged."""
    files: list[str] = field(default_factory=list)

    @property
    def plan(self) -> Path:
        return self.folder / "plan.toml"

    @property
    def test_set(self) -> TestSet:
        return self.generated.test_set

    @property
    def notes(self) -> list[Note]:
        """What the test set can show, and what it cannot."""
        said = [*self.documents.notes]
        for name, why in self.lacking.items():
            said.append(Note("started.lacking", {"name": name, "why": why}, "warning"))
        said += self.generated.notes
        said.append(Note("started.shows", {}))
        if self.pooled:
            said.append(Note("started.unjudged", {"n": self.pooled}))
        return said

    def to_dict(self) -> dict[str, Any]:
        return {
            "format": "rankgauge.started-test-set",
            "version": 1,
            "folder": str(self.folder),
            "files": self.files,
            "documents": self.documents.to_dict(),
            "generated": self.generated.to_dict(),
            "systems": self.systems,
            "lacking": self.lacking,
            "pooled": self.pooled,
        }


@named_arguments
def init_from_documents(
    folder: str | os.PathLike[str],
    output: str | os.PathLike[str],
    *,
    n: int = 100,
    kinds: Mapping[str, float] | None = None,
    seed: int = 0,
    by: str | None = None,
    forbid_words: int = 0,
    noise: float = 0.3,
    real: TestSet | Iterable[str] | str | os.PathLike[str] | None = None,
    model: ChatModel | None = None,
    verify: bool = True,
    budget: Budget | None = None,
    calls: CallSettings | None = None,
    cache: str | os.PathLike[str] | None = None,
    encoding: str | None = None,
    max_bytes: int = 20_000_000,
    depth: int = _DEPTH,
    force: bool = False,
    progress: Progress | None = None,
) -> StartedTestSet:
    """Make of a folder of documents what `rankgauge run` needs, in a new folder: the corpus, synthetic queries, the pool
    of what retrievers find for them, and a plan.

    All files are written, or none. A folder that is there is refused unless it is empty; `force` replaces the files of
    these names in it. The other arguments are those of `load_documents` and `generate_queries`; `depth` is how far the
    pool reaches into each list.
    """
    target = Path(as_path("output", output))
    check_whole("depth", depth, 1)
    _check_target(target, force)
    tell = progress or (lambda what, done, total: None)
    documents = load_documents(
        folder, encoding=encoding, max_bytes=max_bytes, progress=lambda done, total: tell("files", done, total)
    )
    if not documents.corpus:
        left = {reason: len(files) for reason, files in documents.left_out.items()}
        told = ", ".join(f"{count} {reason.replace('_', ' ')}" for reason, count in left.items()) or "it has no files"
        raise FormatError(str(folder), [f"there is no document to read: {told}; .md, .txt, .rst, .html, .pdf are read"])
    generated = generate_queries(
        documents.corpus,
        n,
        kinds=kinds,
        seed=seed,
        by=by,
        forbid_words=forbid_words,
        noise=noise,
        real=real,
        model=model,
        verify=verify,
        budget=budget,
        calls=calls,
        cache=cache,
        progress=progress,
    )
    if not any(query.relevant for query in generated.test_set):
        raise DataError("no query could be made that is found by its words in one document alone; give more documents")
    systems, lacking = _systems(documents.corpus, tell)
    runs = [_run(name, system, generated.test_set, depth, tell) for name, system in systems.items()]
    pool = _pool(runs, generated.test_set, depth)
    contents = {
        "corpus.jsonl": dump_lines({"_id": doc, "text": text} for doc, text in documents.corpus.items()),
        "plan.toml": _plan(list(systems) or ["bm25"], generated).encode(),
    }
    _write(target, contents, generated.test_set, pool)
    return StartedTestSet(target, documents, generated, list(systems), lacking, len(pool), list(_FILES))


def _check_target(target: Path, force: bool) -> None:
    """Refuse what is there before the work begins."""
    if target.is_symlink() and not target.exists():
        raise DataError(f"{target} is a link that leads nowhere; name another folder")
    if target.exists():
        if not target.is_dir():
            raise DataError(f"{target} is a file; name a folder")
        if any(target.iterdir()) and not force:
            raise DataError(
                f"{target} exists already and is not empty; name another folder, or give `force=True`, which replaces "
                f"{', '.join(_FILES)} in it"
            )
    elif not target.absolute().parent.is_dir():
        raise DataError(f"the folder {str(target.absolute().parent)!r} does not exist; make it first")


def _systems(corpus: Mapping[str, str], tell: Progress) -> tuple[dict[str, Retriever], dict[str, str]]:
    """The retrievers that can be used here; of others, why not."""
    made: dict[str, Any] = {}
    lacking: dict[str, str] = {}
    for place, (name, factory) in enumerate((("bm25", BM25), ("dense", Dense))):
        tell("indexes", place, 2)
        try:
            made[name] = factory(corpus)
        except RankgaugeError as error:
            lacking[name] = str(error)
    tell("indexes", 2, 2)
    if len(made) == 2:
        made["hybrid"] = Hybrid({"bm25": made["bm25"], "dense": made["dense"]}, weights=[0.5, 0.5])
    return made, lacking


def _run(name: str, system: Retriever, test_set: TestSet, depth: int, tell: Progress) -> Run:
    found = {}
    for place, query in enumerate(test_set, start=1):
        found[query.id] = {hit.id: hit.score for hit in system.search(query.text, depth)}
        tell("pooling", place, len(test_set))
    return Run(found, name=name)


def _pool(runs: list[Run], test_set: TestSet, depth: int) -> Pool:
    """What the systems found and nobody has judged."""
    pairs: dict[tuple[str, str], tuple[list[str], int]] = {}
    for run in runs:
        for query in test_set:
            for rank, doc in enumerate(list(run[query.id])[:depth] if not query.no_answer else (), start=1):
                if doc not in query.grades:
                    systems, best = pairs.get((query.id, doc), ([], rank))
                    pairs[query.id, doc] = [*systems, run.name], min(best, rank)
    return Pool(PooledPair(*pair, tuple(systems), rank) for pair, (systems, rank) in pairs.items())


def _plan(systems: list[str], generated: GeneratedQueries) -> str:
    """The plan, which says in its head what it can show."""
    written = Path(__file__).with_name("templates").joinpath("plan.toml").read_text("utf-8")
    options = {"hybrid": "\nparameters = { weight = 0.5 }   # share of the dense part"}
    tables = [f'[[system]]\nname = "{name}"\nuse = "{name}"{options.get(name, "")}\n' for name in systems]
    taken = generated.realism.taken or 0.0
    filled = {
        "@TAKEN@": f"{100 * taken:.0f} % of\n# their words are taken from the documents",
        "@JUDGED@": "",
        "@SYSTEMS@": "\n".join(tables),
        "@BASELINE@": f'baseline = "{systems[0]}"' if len(systems) > 1 else f'# baseline = "{systems[0]}"',
        "@REPORT@": f'{"" if _reports() else "# "}report = "report.html"',
    }
    for place, text in filled.items():
        written = written.replace(place, text)
    return written


def _reports() -> bool:
    """Whether the HTML report can be made here."""
    needed = [("jinja2", "jinja2", "report"), ("vl_convert", "vl-convert-python", "report")]
    try:
        check_all_installed("the report", needed)
    except RankgaugeError:
        return False
    return True


def _write(target: Path, contents: Mapping[str, bytes], test_set: TestSet, pool: Pool) -> None:
    """All files, first beside the folder, so that it is complete as soon as it is there."""
    try:
        scratch = Path(tempfile.mkdtemp(dir=target.absolute().parent, prefix=f".{target.name[:40]}-"))
    except OSError as error:
        raise FormatError(str(target), [f"cannot be written: {error.strerror or error}"]) from None
    try:
        for name, data in contents.items():
            write_whole(scratch / name, data)
        test_set.renamed("testset").save(scratch / "testset.json")
        save_pool(pool, scratch / "pool.jsonl")
        mask = os.umask(0)
        os.umask(mask)
        scratch.chmod(0o777 & ~mask)
        if not target.exists() or not any(target.iterdir()):
            if target.exists():
                target.rmdir()
            scratch.rename(target)
        else:
            for name in _FILES:  # the plan last: it needs the others
                os.replace(scratch / name, target / name)
    except OSError as error:
        raise FormatError(str(target), [f"cannot be written: {error.strerror or error}"]) from None
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
