"""The catalogue of public benchmarks: what each is, how it is officially measured, and where it comes from.

It is data, one file for each family in `catalogue/`; what the sets of a family share stands there once.
"""

from __future__ import annotations

import difflib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from pathlib import Path
from typing import Any

from rankgauge.arguments import check_text, named_arguments
from rankgauge.errors import DataError
from rankgauge.measures import parse_measures
from rankgauge.measures.presets import find_preset
from rankgauge.model.contract import Contract
from rankgauge.words import Language, say

__all__ = ["Benchmark", "Download", "Published", "Repository", "find_benchmark", "list_benchmarks"]

_FOLDER = Path(__file__).parent / "catalogue"


@dataclass(frozen=True)
class Published:
    """Figures that others have published, by measure, of which system, and where they stand."""

    figures: Mapping[str, float]
    system: str
    source: str


@dataclass(frozen=True)
class Download:
    """A file to be downloaded, with its MD5 and bytes where they are published."""

    url: str
    md5: str | None = None
    bytes: int | None = None

    @property
    def file(self) -> str:
        """The file's name."""
        return self.url.rsplit("/", 1)[-1]


@dataclass(frozen=True)
class Repository:
    """A dataset on Hugging Face, and the files of it that are needed."""

    path: str
    revision: str | None = None
    files: Sequence[str] = ()


@dataclass(frozen=True)
class Benchmark:
    """One public benchmark with its official measures, the first being the main one, and its contract."""

    name: str
    title: str
    family: str
    layout: str
    """How its files are laid out: a name of `LAYOUTS`."""
    split: str
    languages: Sequence[str]
    measures: Sequence[str]
    contract: Contract
    preset: str = "default"
    """The preset that the contract is made of, and `choices`, what is changed of it."""
    choices: Mapping[str, Any] = field(default_factory=dict)
    licence: str | None = None
    """As its makers or the catalogues that carry it state it; None where none of them does."""
    home: str = ""
    counts: Mapping[str, int] = field(default_factory=dict)
    """Judged queries, documents and judgments, as published."""
    ir_datasets: str | None = None
    huggingface: Sequence[Repository] = ()
    downloads: Sequence[Download] = ()
    files: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """Names of the files that hold queries, judgments and documents, the likeliest first."""
    columns: Sequence[str] = ("id", "text")
    """What stands in the columns of documents without a header."""
    folder: str = ""
    """The folder of this set inside an archive that holds several."""
    tagged: Mapping[str, str] = field(default_factory=dict)
    """Measures that are official for the queries of one tag only."""
    excludes: bool = False
    """Whether some documents are taken out of the lists of some queries before they are scored."""
    closed: bool = False
    """Whether its texts are given out on request only."""
    bm25: Published | None = None
    mteb: str | None = None
    """The task of MTEB with the same data."""

    def about(self, language: Language = "en") -> str:
        """What its family is, in one or two sentences."""
        return say(f"benchmarks.about_{self.family}", language)

    @cached_property
    def depth(self) -> int:
        """Documents that a list needs for all its measures."""
        return max((int(measure.at or 1000) for measure in parse_measures(list(self.measures))), default=10)


def _benchmark(entry: dict[str, Any]) -> Benchmark:
    preset = find_preset(entry.pop("contract"))
    entry["choices"] = {key: entry.pop(key) for key in ("ties", "missing", "drop_self") if key in entry}
    entry["measures"] = [str(preset.apply(measure)) for measure in parse_measures(entry["measures"])]
    entry |= {"preset": preset.name, "contract": preset.contract.with_changes(**entry["choices"])}
    entry["huggingface"] = [Repository(**one) for one in entry.get("huggingface", ())]
    entry["downloads"] = [Download(**one) for one in entry.get("downloads", ())]
    if entry.get("bm25"):
        entry["bm25"] = Published(**entry["bm25"])
    return Benchmark(**entry)


@cache
def _catalogue() -> dict[str, Benchmark]:
    found = {}
    for path in sorted(_FOLDER.glob("*.json")):
        family = json.loads(path.read_text("utf-8"))
        for own in family.pop("sets"):
            found[own["name"]] = _benchmark({**family, **own})
    return found


@named_arguments
def list_benchmarks(*, family: str | None = None, language: str | None = None) -> list[Benchmark]:
    """All benchmarks of the catalogue, or those of a family (`beir`) or of a language (`zh`)."""
    known = _catalogue().values()
    families, languages = {one.family for one in known}, {code for one in known for code in one.languages}
    for name, value, values in (("family", family, families), ("language", language, languages)):
        if value is not None and value not in values:
            raise DataError(f"{name}={value!r} is not one of {', '.join(sorted(values))}")
    return [one for one in known if family in (None, one.family) and (language is None or language in one.languages)]


def find_benchmark(name: str) -> Benchmark:
    """A benchmark by its name, in whatever case."""
    check_text("name", name)
    known = _catalogue()
    if name.lower() in known:
        return known[name.lower()]
    close = difflib.get_close_matches(name.lower(), known, n=3, cutoff=0.5)
    families = ", ".join(dict.fromkeys(one.family for one in known.values()))
    advice = f"did you mean {', '.join(close)}?" if close else f"families are {families}"
    raise DataError(f"there is no benchmark {name!r}; {advice} (`rankgauge benchmark list` lists all)")
