"""The pytest plugin: retrieval quality as a test.

    def test_search(rankgauge):
        rankgauge.assert_no_regression(retriever, "testset.json", baseline="main")

Nothing of rankgauge is loaded until a test asks for the fixture and uses it.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from rankgauge.gate.gate import GateResult

__all__ = ["Guard", "InconclusiveWarning"]

PathLike = str | os.PathLike[str]


class InconclusiveWarning(UserWarning):
    """The queries cannot tell whether more than the margin was lost; the loss that was seen is within it."""


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("rankgauge", "retrieval quality")
    group.addoption("--rankgauge-history", metavar="PATH|URL", help="the history with the named baselines")
    group.addoption(
        "--rankgauge-set-baseline",
        action="store_true",
        help="make the present results the baselines, instead of comparing with them",
    )
    parser.addini("rankgauge_history", "the history with the named baselines (a path is taken from the root folder)")


@pytest.fixture
def rankgauge(pytestconfig: pytest.Config) -> Guard:
    """Asserts about retrieval quality: `assert_no_regression` and `assert_targets`."""
    history = pytestconfig.getoption("--rankgauge-history")
    if not history:
        history = str(pytestconfig.getini("rankgauge_history") or "").strip()
        if history and not _is_address(history):
            history = os.path.join(pytestconfig.rootpath, history)
    return Guard(history or None, bool(pytestconfig.getoption("--rankgauge-set-baseline")))


def _is_address(history: str) -> bool:
    from rankgauge.history.addresses import looks_like_address

    return looks_like_address(history)


class Guard:
    """What the fixture `rankgauge` gives."""

    def __init__(self, history: PathLike | None = None, set_baseline: bool = False) -> None:
        self._history = history
        self._set_baseline = set_baseline

    def assert_no_regression(
        self,
        retriever: Any,
        test_set: Any,
        *,
        baseline: PathLike,
        k: int = 10,
        measures: str | Sequence[str] | None = None,
        margin: str | float | None = None,
        alpha: float | None = None,
        targets: Sequence[str] = (),
        floors: Sequence[str] = (),
        latency: Sequence[str] = (),
        max_errors: int = 0,
        on_inconclusive: str = "auto",
        history: PathLike | None = None,
        name: str | None = None,
        **options: Any,
    ) -> GateResult | None:
        """Ask the retriever every query, and fail if it lost more than the margin against the baseline.

        The baseline is a name in the history or a file. `options` are those of `evaluate_retriever` (concurrency,
        timeout, corpus, contract ...). With --rankgauge-set-baseline the results become the baseline, and nothing is
        compared.
        """
        __tracebackhide__ = True
        with _told():
            record = _measured(retriever, test_set, k, measures, name, options)
            place = history or self._history
            if self._set_baseline:
                _keep(record, baseline, place, margin)
                return None
            from rankgauge.gate.gate import gate
            from rankgauge.history.references import find_baseline

            result = gate(
                record,
                find_baseline(baseline, place),
                margin=margin,
                alpha=alpha,
                targets=targets,
                floors=floors,
                latency=latency,
                max_errors=max_errors,
                on_inconclusive=on_inconclusive,
            )
        _judge(result)
        return result

    def assert_targets(
        self,
        retriever: Any,
        test_set: Any,
        targets: str | Sequence[str] = (),
        *,
        k: int = 10,
        measures: str | Sequence[str] | None = None,
        scenario: str | None = None,
        floors: Sequence[str] = (),
        latency: Sequence[str] = (),
        max_errors: int = 0,
        name: str | None = None,
        **options: Any,
    ) -> GateResult:
        """Ask the retriever every query, and fail if a target such as `R@10 >= 0.8` is missed.

        Without `measures`, those that the targets name are measured.
        """
        __tracebackhide__ = True
        with _told():
            from rankgauge.gate.gate import gate
            from rankgauge.gate.rules import GateRules

            rules = GateRules.of(
                targets=targets, scenario=scenario, floors=floors, latency=latency, max_errors=max_errors
            )
            if measures is None:
                measures = _named(rules)
            result = gate(_measured(retriever, test_set, k, measures, name, options), rules=rules)
        _judge(result)
        return result


def _named(rules: Any) -> list[str] | None:
    from rankgauge.gate.targets import SCENARIOS
    from rankgauge.measures.explanations import TARGETS

    names = [target.measure for target in (*rules.targets, *rules.floors)]
    if rules.scenario is not None:
        names += TARGETS[SCENARIOS[rules.scenario]]
    return list(dict.fromkeys(names)) or None


@contextmanager
def _told() -> Iterator[None]:
    """What the user can mend fails the test with its message alone."""
    __tracebackhide__ = True
    from rankgauge.errors import RankgaugeError

    try:
        yield
    except RankgaugeError as error:
        # `pytest.fail` would show the error a second time, as what was being handled.
        raise pytest.fail.Exception(f"rankgauge: {error}{_advice(error)}", pytrace=False) from None


def _advice(error: Exception) -> str:
    from rankgauge.history.references import UnknownBaselineError

    first = "; in pytest, make the present results the baseline with: pytest --rankgauge-set-baseline"
    return first if isinstance(error, UnknownBaselineError) else ""


def _measured(
    retriever: Any,
    test_set: Any,
    k: int,
    measures: str | Sequence[str] | None,
    name: str | None,
    options: Mapping[str, Any],
) -> dict[str, Any]:
    from rankgauge.evaluation import DEFAULT_MEASURES
    from rankgauge.formats import Source, load_testset
    from rankgauge.live.live import evaluate_retriever
    from rankgauge.model.testset import TestSet
    from rankgauge.plans.running import live_record

    tested = test_set if isinstance(test_set, TestSet) else load_testset(test_set)
    live = evaluate_retriever(retriever, tested, k, measures or DEFAULT_MEASURES, name=name, **options)
    inputs = {}
    if not isinstance(test_set, TestSet) and os.path.isfile(test_set):
        inputs["judgments"] = {"path": os.fspath(test_set), "sha256": Source(test_set).sha256()}
    return live_record([live], None, inputs=inputs, test_set=tested)


def _keep(
    record: Mapping[str, Any],
    baseline: PathLike,
    history: PathLike | None,
    margin: str | float | None,
) -> None:
    from rankgauge.gate.baseline import baseline_of, export_baseline, is_file_name
    from rankgauge.gate.targets import parse_share

    if isinstance(baseline, str) and not is_file_name(baseline):
        from rankgauge.history.baselines import set_baseline
        from rankgauge.history.store import History

        with History.open(history) as opened:
            set_baseline(opened, baseline, record, margin=margin, note="set by pytest")
        return
    from rankgauge.formats.json_values import dumps
    from rankgauge.formats.sources import write_whole

    path = os.fspath(baseline)
    made = baseline_of(record, path, margin=None if margin is None else parse_share(margin))
    write_whole(path, dumps(export_baseline(made)))


def _judge(result: GateResult) -> None:
    """Fail, warn, or say nothing."""
    __tracebackhide__ = True
    from rankgauge.reports.gate import headline, render

    told = result.to_dict()
    if result.accepted is not True:
        raise AssertionError("\n" + render(told, "table").rstrip())
    if result.status == "inconclusive":
        warnings.warn(InconclusiveWarning(headline(told, "en")), stacklevel=3)
