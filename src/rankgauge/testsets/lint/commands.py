"""The commands that mend what a check found, with the paths that were given."""

from __future__ import annotations

import os
import shlex
from collections.abc import Mapping
from typing import Any, Final

from rankgauge.testsets.lint.findings import Finding

__all__ = ["DROPPED", "JUDGED", "command_of", "names_of"]

_SPLIT: Final = (
    "rankgauge testset merge TESTSET AGAINST -o all.json && "
    "rankgauge testset split all.json --tune tune.json --test test.json"
)
_DRIFT: Final = "rankgauge testset drift TESTSET --corpus CORPUS"
_HARDER: Final = "rankgauge testset generate CORPUS --forbid-words 5 -o harder.json"
_JUDGE: Final = "rankgauge judge-next TESTSET RUNS"
_REVIEW: Final = "rankgauge testset queue TESTSET RUNS -o sheet.csv"
_REVIEW_LABELS: Final = "rankgauge testset queue TESTSET --labels LABELS -o sheet.csv"
_SKIP: Final = "rankgauge testset build TESTSET --labels LABELS --skip-unknown -o labelled.json"
_BY_PEOPLE: Final = "rankgauge testset queue TESTSET -o sheet.csv"
_BUILD: Final = "rankgauge testset build TESTSET"
_COMMANDS: Final[Mapping[str, str]] = {
    "missing_documents": _DRIFT,
    "empty_documents": _DRIFT,
    "leaked_queries": _SPLIT,
    "near_leaked": _SPLIT,
    "copied_words": _HARDER,
    "saturated": _HARDER,
    "no_relevant": _REVIEW,
    "one_relevant": _REVIEW,
    "one_pool": _JUDGE,
    "unjudged": _JUDGE,
    "conflicting_labels": "rankgauge testset adjudicate TESTSET --labels LABELS --list",
    "one_family": _REVIEW_LABELS,
    "judges_itself": _REVIEW_LABELS,
    "labels_of_others": _SKIP,
    "obeys_documents": _BY_PEOPLE,
    "resolution": "rankgauge testset lint TESTSET RUNS --difference 0.05",
}
"""By the kind of the finding; a command is told where all its inputs were given."""
JUDGED: Final = frozenset(
    (
        "contradicting_documents",
        "contradicting_queries",
        "label_out_of_scale",
        "near_documents",
        "no_number",
        "out_of_scale",
        "stray_grade",
        "stray_label",
    )
)
"""Kinds that the label of a person mends."""
DROPPED: Final[Mapping[str, str]] = {
    "answer_in_query": "query",
    "id_in_query": "query",
    "near_queries": "other",
    "no_relevant": "query",
    "tiny_query": "query",
}
"""Kinds that go with a query that is left out, and which of those they name that is."""
_INPUTS: Final = ("TESTSET", "CORPUS", "RUNS", "LABELS", "AGAINST", "QUERIES")


def names_of(runs: Any, **given: Any) -> dict[str, str]:
    """What stands for the inputs in commands: their paths, where they are files."""
    inputs = {name.upper(): one for name, one in given.items() if one is not None}
    paths = {key: shlex.quote(os.fspath(one)) for key, one in inputs.items() if isinstance(one, str | os.PathLike)}
    named = {key: paths.get(key, key) for key in inputs}
    if isinstance(runs, Mapping) and runs:
        files = all(isinstance(run, str | os.PathLike) for run in runs.values())
        own = " ".join(shlex.quote(f"{name}={os.fspath(run)}") for name, run in runs.items()) if files else "RUNS"
        named["RUNS"] = own
    return named


def command_of(found: Finding, check: str, names: Mapping[str, str]) -> str:
    """The command that mends a finding of a check, or leads there; nothing where there is none, or where it lacks an
    input."""
    corpus, queries, labels = (
        f" --{key.lower()} {names[key]}" if key in names else "" for key in ("CORPUS", "QUERIES", "LABELS")
    )
    lint = f"rankgauge testset lint {names['TESTSET']}{corpus}{queries}"
    if found.safe:
        return f"{lint} --mend -o mended.json"
    if found.kind in JUDGED:
        own = labels if check == "labels" else ""
        if found.kind in ("out_of_scale", "label_out_of_scale"):
            own += f" --scale {found.parameters['low']:g} {found.parameters['high']:g}"
        label = f"rankgauge testset label {names['TESTSET']}{corpus} --pool judge.jsonl"
        return f"{lint}{own} --only {check} --to-judge judge.jsonl; {label} --labels people.jsonl --judge NAME"
    command = found.command or _COMMANDS.get(found.kind, "")
    if "QUERIES" in names:  # what is built of judgments alone has no texts that could be asked
        command = command.replace(_BUILD, f"{_BUILD} --queries QUERIES")
    words = command.split(" ")
    if words == [""] or any(word in _INPUTS and word not in names for word in words):
        return f"{lint} --only {check} --drop -o kept.json" if found.kind in DROPPED else ""
    return " ".join(names.get(word, word) for word in words)
