"""The gate on records: the rules one by one, what must not be compared, and targets as people write them."""

from __future__ import annotations

import copy
import datetime
import json
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rankgauge import TestSet, evaluate
from rankgauge.comparison.verify import verify
from rankgauge.engine.averaging import aggregate
from rankgauge.errors import DataError, FormatError
from rankgauge.gating.baseline import baseline_of, export_baseline, load_baseline
from rankgauge.gating.gate import gate
from rankgauge.gating.outcome import GateResult
from rankgauge.gating.rules import GateRules, check_gate_table, load_rules
from rankgauge.gating.targets import parse_age, parse_latency, parse_share, parse_target
from rankgauge.model import Contract
from rankgauge.model.scores import Coverage
from rankgauge.plans.plan import load_plan
from rankgauge.record import Calls, InputFile, Mean, Provenance, Record, ScoredMeasure, SystemResult
from rankgauge.stats.intervals import Interval
from rankgauge.stats.latency import Latency
from rankgauge.words import LANGUAGES, Note, tell

N = 80
JUDGED = {"judgments": InputFile("testset.json", "a" * 64)}
HOWS = {"NumRet": "sum", "GMAP": "geometric"}


def before(record: Record) -> Record:
    """The same scores, measured earlier: held against itself, a record proves nothing, which is told."""
    return replace(record, created="2026-04-30T12:00:00+00:00")


def made(scores: dict[str, np.ndarray], name: str = "ours", *, lower: tuple[str, ...] = ()) -> Record:
    """A record of given per-query scores."""
    n = len(next(iter(scores.values())))
    means = {}
    for measure, own in scores.items():
        value = aggregate(HOWS.get(measure, "mean"), own)
        means[measure] = Mean(value, Interval(value - 0.05, value + 0.05, 0.95, "t"), n)
    system = SystemResult(
        name,
        means,
        {measure: own.tolist() for measure, own in scores.items()},
        coverage=Coverage(n, n, 0, 0, 0, 0, 0, judged_at={10: 0.93}),
    )
    return Record(
        kind="evaluation",
        created="2026-05-01T12:00:00+00:00",
        rankgauge="0.1.0",
        preset="default",
        contract=Contract(),
        measures=[ScoredMeasure(m, HOWS.get(m, "mean"), m in lower, None) for m in scores],
        queries=[f"q{i}" for i in range(n)],
        systems=[system],
        provenance=Provenance(dict(JUDGED)),
        tags={f"q{i}": ["billing"] if i < 10 else ["other", "rare"] if i == 79 else ["other"] for i in range(n)},
    )


def with_system(record: Record, **parts: Any) -> Record:
    """The same record with other parts of its first system."""
    return replace(record, systems=[replace(record.systems[0], **parts), *record.systems[1:]])


def twice(record: Record, name: str) -> Record:
    """The same record with its first system once more, under another name."""
    return replace(record, systems=[*record.systems, replace(record.systems[0], name=name)])


def keys(notes: Iterable[Note]) -> list[str]:
    return [note.key.removeprefix("gate.") for note in notes]


def spread(seed: int = 0, n: int = N) -> np.ndarray:
    return np.random.default_rng(seed).uniform(0.3, 0.9, n)


BASE = spread()
NOISE = np.random.default_rng(1).normal(0, 0.02, N)
WIDE = np.random.default_rng(2).normal(0, 0.3, N)
WIDE -= WIDE.mean()


def against(new: np.ndarray, base: np.ndarray = BASE, **choices: Any) -> GateResult:
    return gate(made({"nDCG@10": new}), made({"nDCG@10": base}), **choices)


def test_the_sample_is_a_record() -> None:
    record = made({"nDCG@10": BASE})
    assert Record.from_dict(json.loads(record.to_json())) == record


@pytest.mark.parametrize(
    ("new", "status", "auto", "passing", "failing", "report"),
    [
        (BASE, "pass", True, True, True, True),
        (BASE + NOISE, "pass", True, True, True, True),
        (BASE * 0.98 + WIDE, "inconclusive", True, True, False, None),
        (BASE * 0.93 + WIDE, "inconclusive", False, True, False, None),
        (BASE * 0.85 + NOISE, "regression", False, False, False, False),
    ],
    ids=["same", "noise", "inconclusive within", "inconclusive beyond", "loss"],
)
def test_what_follows(
    new: np.ndarray, status: str, auto: bool, passing: bool, failing: bool, report: bool | None
) -> None:
    assert against(new).status == status
    wanted = {"auto": auto, "pass": passing, "fail": failing, "report": report}
    assert {on: against(new, on_inconclusive=on).accepted for on in wanted} == wanted


def test_one_bad_measure_is_enough() -> None:
    base = made({"nDCG@10": BASE, "RR": BASE, "latency": BASE}, lower=("latency",))
    record = made({"nDCG@10": BASE + 0.1, "RR": BASE + 0.1, "latency": BASE * 1.3}, lower=("latency",))
    result = gate(record, base)
    assert {rule.name: rule.status for rule in result.rules} == {
        "nDCG@10": "pass",
        "RR": "pass",
        "latency": "regression",
    }
    assert (result.status, result.accepted) == ("regression", False)
    assert gate(record, base, measures=["mrr", "ndcg_cut_10"]).status == "pass"
    worst = result.rules[2].values
    assert worst["change"] == pytest.approx(0.3)
    assert worst["worst"] >= worst["change"] >= worst["best"] > 0.05


def test_figures_are_in_the_document() -> None:
    told = against(BASE * 0.93 + WIDE).to_dict()
    json.dumps(told, allow_nan=False)
    (rule,) = told["rules"]
    assert told["status"] == rule["status"] == "inconclusive"
    assert rule["values"]["needed"] > N
    assert rule["values"]["n"] == N
    assert rule["note"]["key"] == "gate.inconclusive"
    assert rule["note"]["parameters"]["needed"] == rule["values"]["needed"]
    assert told["settings"]["max_loss"] == 0.05
    assert told["version"] == 2


def test_every_status_is_told_in_every_language() -> None:
    for new in (BASE, BASE + abs(NOISE), BASE + NOISE, BASE * 0.98 + WIDE, BASE * 0.93 + WIDE, BASE * 0.85 + NOISE):
        (rule,) = against(new).rules
        told = {tell(rule.note, language) for language in LANGUAGES}
        assert len(told) == 2
        assert all(f"{rule.values['new']:.4f}" in text for text in told)
    zero = np.r_[np.zeros(N - 2), 0.1, -0.1]
    for new in (zero * 0.5, zero - 0.2 * (BASE > 0.6), np.where(np.arange(N) < 2, -0.1, 0.0)):
        (rule,) = against(new, base=np.zeros(N)).rules
        assert all(tell(rule.note, language) for language in LANGUAGES)


def test_few_queries_are_told() -> None:
    few = gate(made({"RR": BASE[:45] + NOISE[:45]}), made({"RR": BASE[:45]}), max_loss=0.2)
    assert not few.remarks  # 45 suffice for a fifth
    spare = gate(made({"RR": BASE[:20] + NOISE[:20] / 9}), made({"RR": BASE[:20]}))
    assert spare.status == "pass"
    assert not spare.remarks  # surely less than half of what may be lost
    few = gate(made({"RR": 0.97 * BASE[:20] + NOISE[:20] / 9}), made({"RR": BASE[:20]}))
    assert few.status == "pass"
    assert keys(few.remarks) == ["few_queries"]
    assert few.remarks[0].parameters["n"] == 20
    assert few.remarks[0].parameters["rare"] == pytest.approx(0.07)
    assert few.remarks[0].level == "warning"
    assert not gate(made({"RR": BASE[:20]}), before(made({"RR": BASE[:20]}))).remarks


def test_queries_that_cannot_lose_do_not_count_as_many() -> None:
    """176 queries of which a tenth scores at all: a loss of 5 % passes as sure in far more than 5 % of samples."""
    base = np.r_[np.ones(18), np.zeros(158)]
    new = np.r_[base[:17], 0.0, np.ones(4), np.zeros(154)]
    found = gate(made({"R@1": new}), made({"R@1": base}))
    assert found.rules[0].status == "pass"
    assert keys(found.remarks) == ["few_queries"]
    assert found.remarks[0].parameters["n"] == 176


def test_a_single_win_does_not_meet_a_target_surely() -> None:
    base, new = np.zeros(30), np.r_[1.0, np.zeros(29)]
    values = rule_of(gate(made({"R@1": new}), made({"R@1": base}), targets=["R@1 > baseline"]), "target").values
    assert values["met"]
    assert values["sure"] is False


# --- what must not be compared


def inputs(**hashes: str) -> Provenance:
    return Provenance({key: InputFile("x", value) for key, value in hashes.items()})


def test_different_contracts() -> None:
    base = replace(made({"RR": BASE}), contract=Contract(missing="skip"))
    with pytest.raises(DataError, match=r"missing: 'zero' and 'skip'.*rankgauge baseline set"):
        gate(made({"RR": BASE}), base)


def test_different_test_sets() -> None:
    base = replace(made({"RR": BASE}), provenance=inputs(judgments="b" * 64))
    with pytest.raises(DataError, match=r"different test sets.*allow=.testset"):
        gate(made({"RR": BASE}), base)
    result = gate(made({"RR": BASE}), base, allow=["testset"])
    assert result.status == "pass"
    assert keys(result.remarks) == ["test_set_differs"]
    assert result.remarks[0].parameters == {"own": 80, "other": 80, "common": 80}
    with pytest.raises(DataError, match="their queries differ; 80 and 60 queries, 60 in common"):
        gate(replace(made({"RR": BASE}), provenance=inputs()), made({"RR": BASE[:60]}))
    part = gate(made({"RR": BASE}), replace(made({"RR": BASE[:60]}), provenance=inputs()), allow=["testset"])
    assert part.rules[0].values["n"] == 60
    assert keys(part.remarks)[:2] == ["test_set_differs", "left_out"]
    assert part.remarks[1].parameters["n"] == 20


def test_different_corpora() -> None:
    a = replace(made({"RR": BASE}), provenance=inputs(judgments="a" * 64, corpus="c" * 64))
    b = replace(made({"RR": BASE}), provenance=inputs(judgments="a" * 64, corpus="d" * 64))
    with pytest.raises(DataError, match=r"different documents.*allow=.corpus"):
        gate(a, b)
    assert keys(gate(a, b, allow=["corpus"]).remarks) == ["corpus_differs"]
    assert keys(gate(a, made({"RR": BASE})).remarks) == ["corpus_unknown"]
    assert not gate(a, before(a)).remarks


def test_unknown_hashes_are_a_warning() -> None:
    bare = replace(made({"RR": BASE}), provenance=inputs())
    assert keys(gate(bare, made({"RR": BASE})).remarks) == ["judgments_unknown"]
    assert keys(gate(made({"RR": BASE}), bare).remarks) == ["judgments_unknown"]


def test_old_baselines() -> None:
    now = datetime.datetime(2026, 8, 1, tzinfo=datetime.UTC)
    record = made({"RR": BASE})
    assert gate(record, record, max_age="100d", now=now).status == "pass"
    with pytest.raises(DataError, match="measured 91 days ago, on 2026-05-01; the oldest allowed is 90 days"):
        gate(record, record, max_age="90d", now=now)


def test_missing_measures() -> None:
    two, one = made({"RR": BASE, "AP": BASE}), made({"RR": BASE})
    with pytest.raises(DataError, match=r"the record lacks AP.*measures=\['RR'\]"):
        gate(one, two)
    with pytest.raises(DataError, match="the baseline has no measure 'AP'"):
        gate(two, one, measures=["AP"])
    with pytest.raises(DataError, match="the record has no measure 'P@5'; it has: RR, AP"):
        gate(two, two, measures=["P@5"])
    added = gate(two, one)
    assert [rule.name for rule in added.rules] == ["RR"]
    assert added.remarks[0].parameters == {"measures": ["AP"]}
    assert keys(added.remarks) == ["not_in_baseline"]


def test_sums_are_not_tested() -> None:
    record = made({"RR": BASE, "NumRet": BASE})
    assert [rule.name for rule in gate(record, record).rules] == ["RR"]
    with pytest.raises(DataError, match="no mean over queries"):
        gate(record, record, measures=["NumRet"])


def test_records_without_scores_of_queries() -> None:
    bare = replace(made({"RR": BASE}), queries=[])
    with pytest.raises(DataError, match="no scores of single queries"):
        gate(bare, made({"RR": BASE}))
    with pytest.raises(DataError, match="no scores of single queries"):
        baseline_of(bare, "old")


def counting(record: Record, rule: Callable[[int], bool]) -> Record:
    """A record in which only some queries count, by their number."""
    systems = []
    for system in record.systems:
        counts = [bool(rule(i)) for i in range(len(record.queries))]
        means = dict(system.means)
        for measure, values in system.per_query.items():
            kept = [value for value, counted in zip(values, counts, strict=True) if counted]
            means[measure] = replace(means[measure], value=float(np.mean(kept)), queries=len(kept))
        systems.append(replace(system, means=means, counted=dict.fromkeys(means, counts)))
    return replace(record, systems=systems)


def test_queries_that_do_not_count() -> None:
    record = made({"RR": BASE})
    base = counting(made({"RR": BASE}), lambda i: i < 70)
    result = gate(record, base)
    assert result.rules[0].values["n"] == 70
    assert keys(result.remarks) == ["left_out"]
    assert result.remarks[0].parameters["n"] == 10
    assert gate(record, counting(base, lambda i: i != 7)).remarks[0].parameters["n"] == 1
    with pytest.raises(DataError, match="RR: 1 common query:"):
        gate(record, counting(base, lambda i: i == 7))


def test_several_systems() -> None:
    record = twice(made({"RR": BASE}, "a"), "b")
    with pytest.raises(DataError, match=r"the systems a, b; choose one with `system=`"):
        gate(record, made({"RR": BASE}))
    assert gate(record, made({"RR": BASE}), system="b").system == "b"
    assert gate(record, record, system="b").status == "pass"
    with pytest.raises(DataError, match=r"none is named 'c'"):
        gate(made({"RR": BASE}, "c"), record)
    with pytest.raises(DataError, match="no system 'z'; it has: a, b"):
        gate(record, record, system="z")


# --- the other rules


def rule_of(result: GateResult, kind: str) -> Any:
    (rule,) = (rule for rule in result.rules if rule.kind == kind)
    return rule


def target(text: str, value: float = 0.6, base: float = 0.5) -> tuple[bool, bool | None]:
    scores = np.random.default_rng(4).normal(0, 0.01, N)
    scores -= scores.mean()
    record = made({"nDCG@10": value + scores, "cost": value + scores}, lower=("cost",))
    before = made({"nDCG@10": base + scores, "cost": base + scores}, lower=("cost",))
    values = rule_of(gate(record, before, targets=[text], measures=["nDCG@10"]), "target").values
    return values["met"], values["sure"]


@pytest.mark.parametrize(
    ("text", "met", "sure"),
    [
        ("nDCG@10 >= 0.5", True, True),
        ("ndcg_cut_10 >= 0.58", True, False),  # the record's interval is 0.05 to each side
        ("nDCG@10 >= 0.62", False, False),
        ("nDCG@10 > 60%", False, False),
        ("nDCG@10 ≥ 60%", True, False),
        ("nDCG@10 < 0.7", True, True),
        ("nDCG@10 >= baseline", True, None),  # the same gain everywhere: no spread to tell from
        ("nDCG@10 >= baseline + 0.1", True, None),
        ("nDCG@10 > baseline + 0.1", False, None),
        ("nDCG@10 >= baseline + 20%", True, False),
        ("nDCG@10 +20%", True, None),
        ("nDCG@10 +25%", False, True),
        ("nDCG@10 - 5 %", True, True),
        ("cost +20%", True, None),
        ("cost <= 基线 + 10%", False, True),
        ("cost -10%", False, True),
    ],
)
def test_targets(text: str, met: bool, sure: bool | None) -> None:
    found = target(text)
    assert found[0] == met
    assert sure is None or found[1] == sure


def test_a_missed_target_breaks_the_gate() -> None:
    result = against(BASE, targets=["nDCG@10 >= 0.9"])
    assert (result.status, result.accepted) == ("broken", False)
    assert rule_of(result, "target").note.parameters["outcome"].key == "gate.missed"
    assert gate(made({"nDCG@10": BASE}), targets=["nDCG@10 >= 0.1"]).status == "pass"
    with pytest.raises(DataError, match="relative to a baseline"):
        gate(made({"nDCG@10": BASE}), targets=["nDCG@10 +1%"])
    with pytest.raises(DataError, match="has no measure 'R@10'; it has: nDCG@10"):
        against(BASE, targets=["R@10 >= 0.1"])
    with pytest.raises(DataError, match="nothing to check"):
        gate(made({"nDCG@10": BASE}))


def test_scenarios() -> None:
    record = made({"nDCG@10": BASE * 0 + 0.75, "RR": BASE * 0 + 0.6, "score": BASE})
    general = gate(record, scenario="general")
    assert {rule.name: rule.status for rule in general.rules} == {
        "nDCG@10 > 0.7 (general)": "pass",
        "RR > 0.6 (general)": "broken",  # above, not at
    }
    assert general.remarks[0].parameters["measures"] == ["R@10", "R@5"]
    assert gate(record, scenario="precise").status == "broken"
    assert gate(record, scenario="exploratory").status == "pass"
    with pytest.raises(DataError, match="none of these measures"):
        gate(made({"P@3": BASE}), scenario="general")


def test_floors() -> None:
    scores = np.r_[np.full(10, 0.4), np.full(70, 0.8)] + NOISE / 10
    record = made({"R@10": scores})
    result = gate(record, floors=["tag:billing R@10 >= 0.5", 'tag:"other" recall@10 >= 0.7', "tag:rare R@10 > 0.1"])
    assert [rule.status for rule in result.rules] == ["broken", "pass", "pass"]
    assert result.rules[0].values["queries"] == 10
    assert result.rules[0].values["value"] == pytest.approx(scores[:10].mean())
    assert result.rules[2].values["sure"] is None  # a single query has no interval
    with pytest.raises(
        DataError, match=r"no query of the test set is tagged 'refund'; its tags are: billing, other, rare"
    ):
        gate(record, floors=["tag:refund R@10 >= 0.5"])
    with pytest.raises(DataError, match="has no tags"):
        gate(replace(record, tags={}), floors=["tag:refund R@10 >= 0.5"])
    better = gate(made({"R@10": scores + 0.1}), record, floors=["tag:billing R@10 +20%"])
    assert rule_of(better, "floor").status == "pass"


def served(failed: list[str], p95: float | None = 0.18) -> Record:
    latency = Latency(N, 2, 0.1, 0.09, p95, 0.4) if p95 else None
    calls = Calls(10, 2, latency, None, cached=0 if p95 else N, failed=failed)
    return with_system(made({"RR": BASE}), calls=calls)


def test_latency() -> None:
    result = gate(served([]), latency=["p95 <= 200ms", "p99<0.3s", "p50 < 100 ms"])
    assert [rule.status for rule in result.rules if rule.kind == "latency"] == ["pass", "broken", "pass"]
    with pytest.raises(DataError, match="from the cache"):
        gate(served([], None), latency=["p95 <= 200ms"], allow="cached")
    with pytest.raises(DataError, match="came from a file"):
        gate(made({"RR": BASE}), latency=["p95 <= 200ms"])


def test_errors() -> None:
    record = served(["q3", "q9"])
    assert gate(record, record).status == "broken"
    assert gate(record, record, max_errors=2).status == "pass"
    assert rule_of(gate(record, record), "errors").note.parameters["example"] == "q3"


def test_systems_that_could_not_be_evaluated() -> None:
    reasons = {
        "b": Note("live.error", {"error": "no such index"}),
        "sweep": Note("live.sweep", {"system": "a", "reason": "x"}),
    }
    record = replace(made({"RR": BASE}, "a"), invalid=reasons)
    assert gate(record, made({"RR": BASE}, "a")).status == "broken"
    assert gate(twice(record, "c"), made({"RR": BASE}, "a")).status == "broken"
    assert gate(record, made({"RR": BASE}, "a"), system="a").status == "pass"
    failed = gate(record, made({"RR": BASE}, "a"), system="b")
    assert (failed.system, failed.status) == ("b", "broken")
    (reason,) = failed.rules[0].note.parameters["reasons"]
    assert reason.parameters == {"system": "b", "reason": reasons["b"]}


def test_judged() -> None:
    assert gate(made({"RR": BASE}), min_judged=0.9).status == "pass"
    assert gate(made({"RR": BASE}), min_judged="95%").status == "broken"
    record = with_system(made({"RR": BASE}), coverage=Coverage(N, N, 0, 0, 0, 0, 0, only_relevant=True))
    with pytest.raises(DataError, match="only relevant documents"):
        gate(record, min_judged=0.9)


# --- baselines in files


def test_means_are_thresholds(tmp_path: Path) -> None:
    record = made({"nDCG@10": BASE * 0 + 0.7, "cost": BASE * 0 + 2.0}, lower=("cost",))
    (tmp_path / "means.json").write_text('{"means": {"ndcg@10": 0.71, "cost": 2.5}}')
    result = gate(record, load_baseline(tmp_path / "means.json"))
    assert [(rule.kind, rule.name, rule.status) for rule in result.rules] == [
        ("threshold", "nDCG@10 >= 0.71", "broken"),
        ("threshold", "cost <= 2.5", "pass"),
    ]
    assert keys(result.remarks) == ["only_means"]
    (tmp_path / "means.json").write_text('{"nDCG@10": 0.70}')
    loaded = load_baseline(tmp_path / "means.json")
    assert gate(record, loaded).status == "pass"
    assert gate(record, loaded, targets=["nDCG@10 +1%"]).status == "broken"
    with pytest.raises(DataError, match="age cannot be limited"):
        gate(record, loaded, max_age="3d")
    for bad in ("[]", "{}", '{"nDCG@10": "high"}', '{"nDCG@10": true}', '{"format": "other"}'):
        (tmp_path / "means.json").write_text(bad)
        with pytest.raises(FormatError, match="this is no baseline"):
            load_baseline(tmp_path / "means.json")


def test_exported_baselines(tmp_path: Path) -> None:
    record = replace(twice(made({"nDCG@10": BASE}, "a"), "b"), texts={"q1": "long"}, lists={"q1": {}})
    exported = export_baseline(baseline_of(record, "main", system="b", max_loss=0.5, targets=("nDCG@10 >= 0.1",)))
    text = json.dumps(exported)
    assert "long" not in text
    (tmp_path / "base.json").write_text(text)
    loaded = load_baseline(tmp_path / "base.json")
    result = gate(made({"nDCG@10": BASE * 0.9 + NOISE / 10}, "new"), loaded)
    assert (loaded.name, loaded.system, result.settings.max_loss) == ("main", "b", 0.5)
    assert [rule.kind for rule in result.rules] == ["measure", "target"]
    assert result.status == "pass"
    assert gate(made({"nDCG@10": BASE * 0.9 + NOISE / 10}, "new"), loaded, max_loss="5%").status == "regression"
    (tmp_path / "base.json").write_text(json.dumps({**exported, "targets": ["rubbish"]}))
    with pytest.raises(FormatError, match="no target"):
        load_baseline(tmp_path / "base.json")
    (tmp_path / "base.json").write_text(json.dumps({**exported, "version": 99}))
    with pytest.raises(FormatError, match="not known to this release"):
        load_baseline(tmp_path / "base.json")


# --- damaged records


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Where a record can be damaged; of lists only the first entry."""
    found = [path] if path else []
    if isinstance(value, dict):
        found += [place for key in value for place in places(value[key], (*path, key))]
    elif isinstance(value, list) and value:
        found += places(value[0], (*path, 0))
    return found


@pytest.mark.parametrize("side", ["record", "baseline"])
def test_damaged_records_are_told(side: str) -> None:
    """Whatever is missing or of another kind, in any place: a result or an error that says so, never a crash."""
    whole = with_system(made({"RR": BASE[:6]}), calls=served(["q1"]).systems[0].calls)
    good = replace(whole, tags={query: ["billing"] for query in whole.queries}).to_dict()
    assert gate(whole, whole, rules=GateRules.of(min_judged=0.5)).status == "broken"
    rules = GateRules.of(
        targets=["RR >= 0.1", "RR +1%"], floors=["tag:billing RR >= 0.1"], latency=["p95 <= 1s"], min_judged=0.5
    )
    told = 0
    for place in places(good):
        for value in (None, "x", [], {}, 5, 1e300, True, ...):
            damaged = copy.deepcopy(good)
            inner: Any = damaged
            for key in place[:-1]:
                inner = inner[key]
            if value is ...:
                del inner[place[-1]]
            else:
                inner[place[-1]] = value
            record, baseline = (damaged, good) if side == "record" else (good, damaged)
            try:
                result = gate(Record.from_dict(record), Record.from_dict(baseline), rules=rules)
                json.dumps(result.to_dict(), allow_nan=False)
            except (DataError, FormatError):
                told += 1
    assert told > 100


# --- as people write rules


@pytest.mark.parametrize(
    "text",
    ["", "R@10", "R@10 = 0.8", "R@10 >= much", ">= 0.8", "R@10 >= baseline * 2", "tag:a R@10 >= 0.1", "R@10+20%"],
)
def test_no_targets(text: str) -> None:
    with pytest.raises(DataError):
        parse_target(text)


def test_other_texts() -> None:
    assert parse_share("5%") == parse_share(0.05) == parse_share("0.05") == 0.05
    assert parse_age("2w") == parse_age("14 days") == parse_age("336h")
    assert parse_latency("p95≤1.5s").seconds == 1.5
    floor = parse_target('tag:"two words" R@10 >= 0.5', sliced=True)
    assert (floor.tag, floor.measure) == ("two words", "R@10")
    for wrong, parse in (
        ("5 apples", parse_share),
        ("150%", parse_share),
        ("soon", parse_age),
        ("p95 <= 3", parse_latency),
    ):
        with pytest.raises(DataError):
            parse(wrong)
    with pytest.raises(DataError, match="p50, p95, p99, mean"):
        parse_latency("p90 <= 200ms")
    with pytest.raises(DataError, match="names no slice"):
        parse_target("R@10 >= 0.5", sliced=True)


UNMEASURED = """
[gate]
measures = ["R@10", "AP"]
targets = ["nDCG@10 >= 0.1", "P@5 >= 0.1", "much"]
floors = ["tag:refund R@10 >= 0.6", "tag:odd tag R@10 >= 0.6", 'tag:"odd tag" R@10 >= 0.6']
"""
TABLE = """
[gate]
baseline = "main"
measures = ["nDCG@10"]
max_loss = "3%"
targets = ["R@10 >= 0.8"]
floors = ["tag:billing R@10 >= 0.6"]
latency = "p95 <= 200ms"
scenario = "general"
max_errors = 1
min_judged = 0.9
max_age = "90d"
on_inconclusive = "fail"
allow = ["corpus"]
"""


def test_rules_in_a_file(tmp_path: Path) -> None:
    (tmp_path / "gate.toml").write_text(TABLE)
    rules = GateRules.of(**load_rules(str(tmp_path / "gate.toml")))
    assert (rules.max_loss, rules.on_inconclusive, rules.max_errors, rules.allow) == (0.03, "fail", 1, ("corpus",))
    assert rules.targets[0].value == 0.8
    assert rules.max_age == datetime.timedelta(days=90)
    assert GateRules.of(**rules.to_dict()) == rules
    with pytest.raises(DataError, match=r"no parameter 'max_los'; did you mean max_loss\?"):
        GateRules.of(max_los=1)  # type: ignore[call-arg]
    with pytest.raises(DataError, match="did you mean 'corpus'"):
        GateRules.of(allow="corpora")


def test_all_faults_of_a_table_are_named() -> None:
    wrong = {
        "max_los": "5%",
        "max_loss": "x",
        "targets": ["a", "b"],
        "latency": [1],
        "on_inconclusive": "maybe",
        "alpha": "0.1",
    }
    faults = check_gate_table(wrong)
    assert len(faults) == 7
    assert "gate.max_los: unknown; did you mean max_loss?" in faults
    assert check_gate_table("fast") == ["gate: must be a table, [gate], not 'fast'"]


def test_a_plan_may_have_the_table(tmp_path: Path) -> None:
    queries = [{"id": "q1", "query": "a text", "relevant_docs": ["d"], "tags": ["billing", "odd tag"]}]
    (tmp_path / "testset.json").write_text(json.dumps(queries))
    (tmp_path / "search.py").write_text("def search(query, k):\n    return []\n")
    plan = 'testset = "testset.json"\nmeasures = ["ndcg@10", "R@10"]\n[[system]]\nname = "s"\nuse = "search:search"\n'
    (tmp_path / "plan.toml").write_text(plan + TABLE)
    load_plan(tmp_path / "plan.toml")
    (tmp_path / "plan.toml").write_text(plan + "[gate]\nmax_loss = 2\n")
    with pytest.raises(FormatError, match=r"gate\.max_loss"):
        load_plan(tmp_path / "plan.toml")
    (tmp_path / "plan.toml").write_text(plan + UNMEASURED)
    with pytest.raises(FormatError) as raised:
        load_plan(tmp_path / "plan.toml")
    text = str(raised.value)
    assert raised.value.total == 5
    for place, told in (
        ("measures", "the plan has no measure 'AP'; it has: nDCG@10, R@10"),
        ("targets", "the plan has no measure 'P@5'"),
        ("floors", "'tag:refund R@10 >= 0.6': no query of the test set is tagged 'refund'; its tags are: billing,"),
        ("floors", "the plan has no measure 'tag R@10'"),
        ("targets", "'much' is no target"),
    ):
        assert f"gate.{place}: {told}" in text
    assert 'its tags are: billing, "odd tag"' in text


# --- real records


def test_tags_in_records(tmp_path: Path) -> None:
    texts = [f"question {i}" for i in range(6)]
    test_set = TestSet.from_annotations(
        texts, [["d1"]] * 6, [{"d1": 1, "d2": 0}] * 6, ids=list("abcdef"), tags=[["x"], ["x", "y"], [], [], [], []]
    )
    run = {query: {"d1": 1.0, "d2": 2.0 if query == "a" else 0.5} for query in "abcdef"}
    record = evaluate(test_set, run, ["RR"], name="s").record
    assert record.queries_by_tag == {"x": ["a", "b"], "y": ["b"]}
    floor = gate(record, floors=["tag:x RR >= 0.7"]).rules[0]
    assert (floor.values["value"], floor.values["queries"]) == (0.75, 2)
    test_set.save(tmp_path / "t.json")
    (tmp_path / "r.json").write_text(json.dumps(run))
    kept = evaluate(tmp_path / "t.json", tmp_path / "r.json", ["RR"], name="s").record
    assert gate(kept, kept, floors=["tag:x RR >= 0.7"]).status == "pass"
    assert all(finding.holds for finding in verify(kept))


def test_live_records_have_tags_too() -> None:
    from rankgauge import evaluate_retriever

    test_set = TestSet.from_annotations(["one two", "three four"], [["d1"], ["d2"]], ids=["a", "b"], tags=[["x"], []])
    record = evaluate_retriever(lambda query, k: ["d1"], test_set, measures="R@10", name="s").record
    assert record.queries_by_tag == {"x": ["a"]}
    result = gate(record, targets=["R@10 >= 0.5"], latency=["p95 <= 60s"])
    assert {rule.kind: rule.status for rule in result.rules} == {"target": "pass", "latency": "pass", "errors": "pass"}


@pytest.mark.parametrize(
    "wrong",
    [{"max_age": 3}, {"targets": 3}, {"latency": [None]}, {"floors": [{}]}, {"allow": 4}],
)
def test_rules_of_a_wrong_kind_are_named(wrong: dict[str, Any]) -> None:
    with pytest.raises(DataError, match=r"'3'|'None'|'\{\}'|4"):
        GateRules.of(**wrong)
