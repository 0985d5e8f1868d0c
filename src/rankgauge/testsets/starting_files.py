"""The files that a test set is begun with: looked for before the work begins, and written all or none."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final

from rankgauge.errors import DataError, FormatError, RankgaugeError
from rankgauge.extras import check_all_installed
from rankgauge.formats.pool import save_pool
from rankgauge.formats.sources import write_whole
from rankgauge.model.pool import Pool
from rankgauge.model.testset import TestSet

__all__ = ["FILES", "check_target", "plan_text", "write_files"]

FILES: Final = ("corpus.jsonl", "testset.json", "pool.jsonl", "plan.toml")


def check_target(target: Path, force: bool) -> None:
    """Refuse what is there before the work begins."""
    if target.is_symlink() and not target.exists():
        raise DataError(f"{target} is a link that leads nowhere; name another folder")
    if target.exists():
        if not target.is_dir():
            raise DataError(f"{target} is a file; name a folder")
        if any(target.iterdir()) and not force:
            raise DataError(
                f"{target} exists already and is not empty; name another folder, or give `force=True`, which replaces "
                f"{', '.join(FILES)} in it"
            )
    elif not target.absolute().parent.is_dir():
        raise DataError(f"the folder {str(target.absolute().parent)!r} does not exist; make it first")


def plan_text(systems: Iterable[str], taken: float | None, judge: str) -> str:
    """The plan, which says in its head what it can show."""
    written = Path(__file__).with_name("templates").joinpath("plan.toml").read_text("utf-8")
    systems = list(systems)
    options = {"hybrid": "\nparameters = { weight = 0.5 }   # share of the dense part"}
    tables = [f'[[system]]\nname = "{name}"\nuse = "{name}"{options.get(name, "")}\n' for name in systems]
    filled = {
        "@TAKEN@": "-" if taken is None else f"{100 * taken:.0f} %",
        "@JUDGED@": f",\n# and those that {judge} calls relevant" if judge else "",
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


def write_files(target: Path, contents: Mapping[str, bytes], test_set: TestSet, pool: Pool) -> None:
    """All files, first beside the folder, so that it is complete as soon as it is there. A pool of nothing is none."""
    try:
        scratch = Path(tempfile.mkdtemp(dir=target.absolute().parent, prefix=f".{target.name[:40]}-"))
    except OSError as error:
        raise FormatError(str(target), [f"cannot be written: {error.strerror or error}"]) from None
    try:
        for name, data in contents.items():
            write_whole(scratch / name, data)
        test_set.renamed("testset").save(scratch / "testset.json")
        if len(pool):
            save_pool(pool, scratch / "pool.jsonl")
        mask = os.umask(0)
        os.umask(mask)
        scratch.chmod(0o777 & ~mask)
        if not target.exists() or not any(target.iterdir()):
            if target.exists():
                target.rmdir()
            scratch.rename(target)
        else:
            for name in FILES:  # the plan last: it needs the others
                if (scratch / name).exists():
                    os.replace(scratch / name, target / name)
                else:
                    (target / name).unlink(missing_ok=True)
    except OSError as error:
        raise FormatError(str(target), [f"cannot be written: {error.strerror or error}"]) from None
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
