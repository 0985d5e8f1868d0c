"""What a file of a run is called in results: its own name, and no more of it than tells it from others."""

from __future__ import annotations

import os
import re
from pathlib import Path
from urllib.parse import unquote

__all__ = ["own_name", "run_name", "short_names"]

_ENDINGS = re.compile(r"(\.(run|txt|trec|res|results|jsonl?|csv|tsv|parquet|arrows?|feather|gz|zst))+$", re.IGNORECASE)


def run_name(path: str | os.PathLike[str]) -> str:
    """What a run is called that is a file: runs/bm25.run is bm25, wherever the folder lies."""
    name = own_name(os.fspath(path))
    return short_names([name])[name]


def own_name(path: str) -> str:
    """The last part of a path that tells which run it is: neither a pattern nor a column's value."""
    if Path(path).is_file():
        return Path(path).name
    parts = [part for part in re.split(r"[/\\]", unquote(path) if "://" in path else path) if part]
    telling = [part for part in parts if not re.search(r"[*?\[=]|^.+:$", part)]
    return telling[-1] if telling else path


def short_names(files: list[str]) -> dict[str, str]:
    """Names of files for tables: dl19.bm25.run and dl19.dense.run are bm25 and dense. Endings of more than one file go
    only if the names stay different, and no number stays alone: search-v2.14.run and search-v2.15.run are v2.14 and
    v2.15, for "15 leads" says nothing."""
    short = [_ENDINGS.sub("", name) or name for name in files]
    first, last = min(short, default=""), max(short, default="")
    same = next((i for i, (a, b) in enumerate(zip(first, last, strict=False)) if a != b), min(len(first), len(last)))
    cuts = (place + 1 for place in reversed(range(same)) if first[place] in "._-")
    cut = next((place for place in cuts if not any(name[place : place + 1].isdigit() for name in short)), 0)
    tails = [name[cut:] for name in short] if len(set(files)) > 1 else short
    for names in (tails, short):
        if len(set(names)) == len(set(files)) and all(names):
            return dict(zip(files, names, strict=True))
    return {name: name for name in files}
