"""`lint`: every check of a test set that its inputs allow, and what they found."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from typing import Any, Literal

from rankgauge.arguments import named_arguments
from rankgauge.errors import DataError, RankgaugeError
from rankgauge.evaluation.inputs import read_judgments
from rankgauge.formats import load_corpus, load_run, load_testset
from rankgauge.formats.labels import load_labels
from rankgauge.formats.queries import with_query_texts
from rankgauge.measures import parse_measure
from rankgauge.model.labels import Labels
from rankgauge.model.pool import Pool
from rankgauge.model.run import Run
from rankgauge.model.testset import TestSet, as_testset
from rankgauge.stats.levels import check_number
from rankgauge.testsets.judge_probe import JudgeProbe
from rankgauge.testsets.lint.commands import DROPPED, JUDGED, command_of, names_of
from rankgauge.testsets.lint.findings import SEVERITIES, Finding, Mended, NotMade
from rankgauge.testsets.lint.material import Material, Probe
from rankgauge.testsets.lint.mending import mend
from rankgauge.testsets.lint.probes import read_probes
from rankgauge.testsets.lint.registry import CHECKS, Check

__all__ = ["FailOn", "Lint", "lint"]

FailOn = Literal["error", "warning", "info", "never"]
PathLike = str | os.PathLike[str]


@named_arguments
@dataclass(frozen=True)
class Lint:
    """What is wrong with a test set: findings, the worst first, and which checks were not made."""

    findings: list[Finding]
    made: list[str]
    """The checks that were made."""
    not_made: list[NotMade]
    material: Material = field(repr=False)
    """What was looked at."""

    @property
    def counts(self) -> dict[str, int]:
        """Findings by severity."""
        found = Counter(one.severity for one in self.findings)
        return {severity: found[severity] for severity in SEVERITIES}

    @property
    def left(self) -> list[Finding]:
        """What the mended test set still has."""
        done = Counter(one.kind for one in self.mends)
        return [one for one in self.findings if not one.safe or done[one.kind] < one.count]

    def fails(self, on: FailOn = "error", *, mended: bool = False, dropped: bool = False) -> bool:
        """Whether there is a finding as severe as `on`, or more; of the test set that is `mended`, or without the
        queries that are `dropped`, whether one is left."""
        if on == "never":
            return False
        if on not in SEVERITIES:
            raise DataError(f"`on={on!r}` is none of {', '.join(SEVERITIES)}, never")
        findings = self.left if mended else self.findings
        findings = [one for one in findings if not dropped or one.kind not in DROPPED]
        return any(SEVERITIES.index(one.severity) <= SEVERITIES.index(on) for one in findings)

    def of(self, check: str) -> list[Finding]:
        """The findings of one check."""
        return [one for one in self.findings if one.check == check]

    @cached_property
    def _mended(self) -> tuple[TestSet, list[Mended]]:
        return mend(self.material, self.made)

    @property
    def mended(self) -> TestSet:
        """A test set in which is mended what the checks that were made look for and needs no judgment; the one that was
        given stays as it is."""
        return self._mended[0]

    @property
    def mends(self) -> list[Mended]:
        """Each change of the mended test set."""
        return self._mended[1]

    @property
    def dropped(self) -> list[str]:
        """The queries of findings that go where they are left out: one of two that are nearly the same, and those that
        hold their answer, are a single letter, or have no relevant document."""
        named = (item[DROPPED[one.kind]] for one in self.findings if one.kind in DROPPED for item in one.items)
        return list(dict.fromkeys(named))

    @property
    def kept(self) -> TestSet:
        """The test set without the queries that are `dropped`."""
        out = set(self.dropped)
        return self.material.test_set.with_queries(one for one in self.material.test_set if one.id not in out)

    @property
    def to_judge(self) -> Pool:
        """The documents of findings that a person's label mends: grades out of the scale or against each other, copies
        without one."""
        places = [pair for one in self.findings if one.kind in JUDGED for item in one.items for pair in _places(item)]
        return Pool(dict.fromkeys(places), name=f"{self.material.test_set.name} to judge")

    def to_dict(self) -> dict[str, Any]:
        """As JSON holds it, without the test set."""
        return {
            "format": "rankgauge.lint",
            "version": 1,
            "test_set": self.material.test_set.name,
            "queries": len(self.material.test_set),
            "counts": self.counts,
            "findings": [one.to_dict() for one in self.findings],
            "made": self.made,
            "not_made": [asdict(one) for one in self.not_made],
        }


@named_arguments
def lint(
    test_set: Any,
    corpus: Mapping[str, str] | PathLike | None = None,
    runs: Mapping[str, Any] | None = None,
    labels: Labels | PathLike | None = None,
    *,
    queries: Mapping[str, str] | PathLike | None = None,
    against: Any = None,
    scale: tuple[float, float] | None = None,
    difference: float | None = None,
    measure: str = "nDCG@10",
    only: Sequence[str] = (),
    skip: Sequence[str] = (),
    probe: Probe | PathLike | None = None,
    checks: Mapping[str, Callable[[Material], Iterable[Finding]]] | None = None,
    progress: Callable[[str, int, int], object] | None = None,
    format: str | None = None,  # noqa: A002
) -> Lint:
    """Check a test set: its queries, documents, grades, labels, and what runs tell of it.

    `test_set` is a TestSet, judgments of any kind, or the path of either; `queries` are the texts of its queries, where
    it has none. Checks that lack their inputs are listed with what to give: `corpus` (texts of the documents by id, or
    a path), `runs` by name, `labels` with their judges (those of the test set, where it has any), `against` (another
    test set, whose queries this one must not hold), `scale` (the lowest and highest grade), `difference` (that of the
    `measure` which has to be found). `only` and `skip` name checks. `probe` is what `probe_judge` gave, a function that
    gives it, or the path of what `rankgauge testset judge --probe N --json` printed. `checks` are more checks by name:
    functions that take the inputs (`.test_set`, `.corpus`, `.runs`, ...) and give findings. `progress` gets the name of
    a check that takes long, what is done and all. `format` names the format of a file where detection is wrong.
    """
    tested, other = _test_set(test_set, queries, format), None if against is None else _test_set(against, None)
    if not len(tested):
        raise DataError(f"{tested.name}: it holds no query")
    if difference is not None:
        check_number("difference", difference)
        if not difference > 0:
            raise DataError(f"`difference={difference!r}` must be above 0")
    parse_measure(measure)
    probed = read_probes(probe) if isinstance(probe, str | os.PathLike) else probe
    if not (probed is None or callable(probed) or isinstance(probed, JudgeProbe | Iterable)):
        raise DataError(f"`probe` must be what `probe_judge` gives, a path or a function, not {probed!r}")
    own_checks = _own_checks(checks)
    material = Material(
        tested,
        _corpus(corpus),
        _runs(runs),
        _labels(labels, tested),
        other,
        _scale(scale),
        difference,
        measure,
        probed,
        progress,
    )
    chosen = _chosen(only, skip, own_checks)
    found, made, not_made = list[Finding](), list[str](), list[NotMade]()
    names = names_of(runs, testset=test_set, corpus=corpus, queries=queries, labels=labels, against=against)
    for name in chosen:
        one = own_checks.get(name) or CHECKS[name]
        if lacking := one.lacks(material):
            not_made.append(NotMade(name, lacking))
            continue
        try:
            found += [replace(own, check=name, command=command_of(own, name, names)) for own in one.find(material)]
        except RankgaugeError as error:
            not_made.append(NotMade(name, (), str(error)))
            continue
        made.append(name)
    order = {severity: place for place, severity in enumerate(SEVERITIES)}
    return Lint(sorted(found, key=lambda one: order[one.severity]), made, not_made, material)


def _places(item: Mapping[str, Any]) -> list[tuple[str, str]]:
    """The pairs of query and document that a place names."""
    queries = [item[name] for name in ("query", "other") if name in item]
    docs = [item[name] for name in ("doc", "copy") if name in item]
    return [(query, doc) for query in queries for doc in docs]


def _test_set(given: Any, texts: Any, form: str | None = None) -> TestSet:
    if isinstance(given, str | os.PathLike):
        found = load_testset(given, form)
    else:
        qrels, own = read_judgments(given)
        found = as_testset(qrels) if own is None else own
    return found if texts is None else with_query_texts(found, texts)


def _corpus(given: Any) -> Mapping[str, str] | None:
    found = load_corpus(given) if isinstance(given, str | os.PathLike) else given
    if found is not None and not isinstance(found, Mapping):
        raise DataError(f"`corpus` must be texts by id, or the path of a file, not a {type(found).__name__}")
    return found


def _runs(given: Any) -> dict[str, Run]:
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        raise DataError('runs are given by name: {"a": run, "b": run}')
    return {
        str(name): load_run(run) if isinstance(run, str | os.PathLike) else Run(run, name=str(name))
        for name, run in given.items()
    }


def _labels(given: Any, test_set: TestSet) -> Labels | None:
    """The labels that are given, else those that the grades of the test set come from."""
    if given is None:
        return test_set.labels or None
    found = load_labels(given) if isinstance(given, str | os.PathLike) else given
    if found is not None and not isinstance(found, Labels):
        raise DataError(f"`labels` must be Labels, or the path of a file of them, not a {type(found).__name__}")
    return found


def _scale(given: Any) -> tuple[float, float] | None:
    if given is None:
        return None
    if isinstance(given, str) or not isinstance(given, Sequence) or len(given) != 2:
        raise DataError(f"`scale` is the lowest and the highest grade, (0, 3), not {given!r}")
    for value in given:
        check_number("scale", value)
    low, high = float(given[0]), float(given[1])
    if not low < high:
        raise DataError(f"`scale`: the lowest grade {low:g} must lie below the highest, {high:g}")
    return low, high


def _own_checks(given: Any) -> dict[str, Check]:
    if given is None:
        return {}
    if not isinstance(given, Mapping) or not all(callable(one) or isinstance(one, Check) for one in given.values()):
        raise DataError("`checks` are functions by name, {'capitals': find_capitals}")
    for name in given:
        if not isinstance(name, str) or name in CHECKS:
            raise DataError(f"`checks`: {name!r} is the name of a check that there is; choose another")
    return {name: one if isinstance(one, Check) else Check(one) for name, one in given.items()}


def _chosen(only: Sequence[str], skip: Sequence[str], own: Mapping[str, Check]) -> list[str]:
    for argument, names in (("only", only), ("skip", skip)):
        if isinstance(names, str):
            raise DataError(f"`{argument}` is a list of checks, [{names!r}], not a text")
        for name in names:
            if name not in own:
                CHECKS.check(name)
    return [name for name in (*CHECKS, *own) if (not only or name in only) and name not in skip]
