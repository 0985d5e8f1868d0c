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
    from rankgauge.gating.outcome import GateResult
    from rankgauge.gating.rules import GateRules
    from rankgauge.record import Record

__all__ = ["Guard", "InconclusiveWarning"]

PathLike = str | os.PathLike[str]


class InconclusiveWarning(UserWarning):
    """Inconclusive whether more than the max relative loss was lost; the loss that was seen is within it."""


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
        if history:
            from rankgauge.history.names import looks_like_address

            history = history if looks_like_address(history) else os.path.join(pytestconfig.rootpath, history)
    return Guard(history or None, bool(pytestconfig.getoption("--rankgauge-set-baseline")))


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
        max_loss: str | float | None = None,
        alpha: float | None = None,
        targets: Sequence[str] = (),
        floors: Sequence[str] = (),
        latency: Sequence[str] = (),
        max_errors: int = 0,
        on_inconclusive: str = "auto",
        allow: str | Sequence[str] = (),
        history: PathLike | None = None,
        name: str | None = None,
        **options: Any,
    ) -> GateResult | None:
        """Ask the retriever every query, and fail if it lost more than the max relative loss against the baseline.

        The baseline is a name in the history or a file. `options` are those of `evaluate_retriever` (concurrency,
        timeout, corpus, contract ...). With --rankgauge-set-baseline the results become the baseline, and nothing is
        compared.
        """
        __tracebackhide__ = True
        with _told():
            record = _measured(retriever, test_set, k, measures, name, options)
            place = history or self._history
            if self._set_baseline:
                _keep(record, baseline, place, max_loss, allow)
                return None
            from rankgauge.gating.gate import gate
            from rankgauge.history.references import find_baseline

            result = gate(
                record,
                find_baseline(baseline, place),
                max_loss=max_loss,
                alpha=alpha,
                targets=targets,
                floors=floors,
                latency=latency,
                max_errors=max_errors,
                on_inconclusive=on_inconclusive,
                allow=allow,
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
        allow: str | Sequence[str] = (),
        name: str | None = None,
        **options: Any,
    ) -> GateResult:
        """Ask the retriever every query, and fail if a target such as `R@10 >= 0.8` is missed.

        Without `measures`, those that the targets name are measured.
        """
        __tracebackhide__ = True
        with _told():
            from rankgauge.gating.gate import gate
            from rankgauge.gating.rules import GateRules

            rules = GateRules.of(
                targets=targets, scenario=scenario, floors=floors, latency=latency, max_errors=max_errors, allow=allow
            )
            if measures is None:
                measures = _named(rules)
            result = gate(_measured(retriever, test_set, k, measures, name, options), rules=rules)
        _judge(result)
        return result


def _named(rules: GateRules) -> list[str] | None:
    from rankgauge.gating.targets import SCENARIOS
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
    from rankgauge.history.names import UnknownBaselineError

    try:
        yield
    except RankgaugeError as error:
        first = "; in pytest, make the present results the baseline with: pytest --rankgauge-set-baseline"
        advice = first if isinstance(error, UnknownBaselineError) else ""
        # `pytest.fail` would show the error a second time, as what was being handled.
        raise pytest.fail.Exception(f"rankgauge: {error}{advice}", pytrace=False) from None


def _measured(
    retriever: Any,
    test_set: Any,
    k: int,
    measures: str | Sequence[str] | None,
    name: str | None,
    options: Mapping[str, Any],
) -> Record:
    from rankgauge.evaluation import DEFAULT_MEASURES
    from rankgauge.live.live import evaluate_retriever

    return evaluate_retriever(retriever, test_set, k, measures or DEFAULT_MEASURES, name=name, **options).record


def _keep(
    record: Record,
    baseline: PathLike,
    history: PathLike | None,
    max_loss: str | float | None,
    allow: str | Sequence[str],
) -> None:
    from rankgauge.gating.baseline import baseline_of, export_baseline, is_file_name
    from rankgauge.gating.freshness import check_measured
    from rankgauge.gating.rules import GateRules

    if isinstance(baseline, str) and not is_file_name(baseline):
        from rankgauge.history.baselines import set_baseline
        from rankgauge.history.store import History

        with History.open(history) as opened:
            set_baseline(opened, baseline, record, max_loss=max_loss, note="set by pytest", allow=allow)
        return
    from rankgauge.formats.json_values import dumps
    from rankgauge.formats.sources import write_whole

    path, (system,) = os.fspath(baseline), record.systems
    rules = GateRules.of(max_loss=max_loss, allow=allow)
    check_measured(record, system.name, allowed="cached" in rules.allow)
    made = baseline_of(record, path, max_loss=rules.max_loss)
    write_whole(path, dumps(export_baseline(made)))


def _judge(result: GateResult) -> None:
    """Fail, warn, or say nothing."""
    __tracebackhide__ = True
    from rankgauge.reports import report
    from rankgauge.reports.gate import headline

    if result.accepted is not True:
        raise AssertionError("\n" + report(result, format="terminal").rstrip())
    if result.status == "inconclusive":
        warnings.warn(InconclusiveWarning(headline(result, "en")), stacklevel=3)
