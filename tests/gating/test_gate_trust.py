"""What a gate must not be fooled by: silent queries, records that contradict themselves, wrong clocks."""

from __future__ import annotations

import datetime
import json
import subprocess
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from rankgauge import TestSet, evaluate
from rankgauge.errors import DataError, FormatError
from rankgauge.gating.baseline import Baseline, baseline_of, export_baseline, load_baseline
from rankgauge.gating.gate import gate
from rankgauge.gating.rules import GateRules
from rankgauge.gating.targets import parse_age, parse_share, parse_target
from rankgauge.record import Provenance, Record
from rankgauge.reports import report
from rankgauge.words import Note
from tests.gating.test_gate import (
    BASE,
    JUDGED,
    NOISE,
    N,
    before,
    counting,
    inputs,
    keys,
    made,
    rule_of,
    served,
    with_system,
)

WORST = set(np.argsort(BASE)[:20].tolist())


def silent_on_the_worst() -> Record:
    """A system that answers nothing for the 20 worst queries, under a contract that skips what is missing."""
    return counting(made({"RR": BASE + NOISE / 20}), lambda i: i not in WORST)


def test_silence_on_the_worst_queries_breaks_the_gate() -> None:
    record, base = silent_on_the_worst(), made({"RR": BASE})
    assert record.systems[0].means["RR"].value > base.systems[0].means["RR"].value + 0.05
    result = gate(record, base)
    assert (result.status, result.accepted) == ("broken", False)
    rule = rule_of(result, "missing")
    assert rule.values["value"] == 20
    assert rule.values["queries"] == [f"q{i}" for i in sorted(WORST)]
    assert rule.note.parameters["names"] == [*rule.values["queries"][:5], "..."]
    json.dumps(result.to_dict())


def test_missing_queries_can_be_allowed_and_are_said_loudly() -> None:
    result = gate(silent_on_the_worst(), made({"RR": BASE}), allow=["missing"])
    assert (result.status, result.rules[0].values["n"]) == ("pass", 60)
    assert keys(result.remarks)[0] == "missing_allowed"
    one = gate(counting(made({"RR": BASE}), lambda i: i != 3), made({"RR": BASE}), allow=["missing"])
    assert one.remarks[0].parameters == {"n": 1, "names": ["q3"]}


def test_missing_queries_of_a_relative_target() -> None:
    """The target's measure is looked at as well, even where another one is compared."""
    whole = made({"RR": BASE, "AP": BASE})
    kept = counting(whole, lambda i: i not in WORST).systems[0]
    means = {**whole.systems[0].means, "AP": kept.means["AP"]}
    record = with_system(whole, counted={"AP": kept.counted["AP"]}, means=means)
    base = made({"RR": BASE, "AP": BASE})
    assert gate(record, base, measures=["RR"]).status == "pass"
    broken = gate(record, base, measures=["RR"], targets=["AP >= baseline"])
    assert broken.status == "broken"
    assert rule_of(broken, "missing").values["value"] == 20
    allowed = gate(record, base, measures=["RR"], targets=["AP >= baseline"], allow=["missing"])
    assert (allowed.status, rule_of(allowed, "target").values["queries"]) == ("pass", 60)


def test_queries_that_the_record_does_not_list_are_missing_too() -> None:
    short = made({"RR": BASE[:60]})
    assert rule_of(gate(short, made({"RR": BASE})), "missing").values["value"] == 20
    other = replace(short, provenance=inputs(judgments="b" * 64))  # of another test set they are not expected
    assert gate(other, made({"RR": BASE}), allow=["testset"]).status == "pass"


def test_missing_queries_of_real_records() -> None:
    """From a run that lacks queries to the verdict."""
    ids = [f"q{i:02d}" for i in range(40)]
    tests = TestSet.from_annotations([f"text {i}" for i in range(40)], [["d"]] * 40, [{"d": 1}] * 40, ids=ids)
    full = {query: {"d": 1.0 if i % 3 else 0.1, "x": 0.5} for i, query in enumerate(ids)}
    lacking = {query: answer for i, (query, answer) in enumerate(full.items()) if i % 3}
    before, after = (evaluate(tests, run, ["RR"], name="s", missing="skip").record for run in (full, lacking))
    before, after = (replace(one, provenance=Provenance(JUDGED)) for one in (before, after))
    assert after.systems[0].means["RR"].value == 1
    result = gate(after, before)
    assert (result.status, rule_of(result, "missing").values["value"]) == ("broken", 14)
    assert gate(before, after).status == "pass"  # the other way round, queries came back


# --- records that contradict themselves


def test_a_mean_that_is_not_its_scores() -> None:
    lying = made({"RR": BASE}).to_dict()
    told = lying["systems"][0]["means"]["RR"]
    told["value"] += 1e-6
    with pytest.raises(FormatError, match=r"'ours', RR: the mean is .*: the record is damaged"):
        Record.from_dict(lying)
    told["value"] = float(BASE.mean()) * (1 + 1e-12)  # another order of adding
    gate(Record.from_dict(lying), made({"RR": BASE}))
    lying["measures"][0]["aggregate"] = "sum"
    told["value"] = float(BASE.sum())
    assert gate(Record.from_dict(lying), targets=["RR >= 1"]).status == "pass"


def test_queries_twice_and_times_that_are_none(tmp_path: Path) -> None:
    twice = made({"RR": BASE}).to_dict()
    twice["queries"][5] = "q4"
    with pytest.raises(FormatError, match="query 'q4' stands twice: the record is damaged"):
        Record.from_dict(twice)
    (tmp_path / "old.json").write_text(json.dumps({**made({"RR": BASE}).to_dict(), "created": "last week"}))
    with pytest.raises(
        FormatError, match=r"old\.json: 'created' is 'last week', which is no time .*: the record is dam"
    ):
        load_baseline(tmp_path / "old.json")


# --- warnings


def test_another_system() -> None:
    (remark,) = gate(made({"RR": BASE}, "new"), made({"RR": BASE}, "old")).remarks
    assert (remark.key, remark.parameters) == ("gate.other_name", {"own": "new", "other": "old"})


def test_dates_in_the_future() -> None:
    record = made({"RR": BASE})
    now = datetime.datetime(2026, 4, 1, tzinfo=datetime.UTC)
    own, other = gate(record, before(record), now=now).remarks
    assert (own.key, own.parameters["time"]) == ("gate.record_from_future", "2026-05-01 12:00")
    assert (other.key, other.parameters["time"]) == ("gate.from_future", "2026-04-30 12:00")
    assert not gate(record, before(record), now=now + datetime.timedelta(days=30.5)).remarks
    for limit in ("max_age", "max_record_age"):
        with pytest.raises(DataError, match="lies in the future, so its age cannot be limited"):
            gate(record, before(record), now=now, **{limit: "90d"})


def test_an_old_record() -> None:
    record = made({"RR": BASE})
    now = record.created_at + datetime.timedelta(hours=30)
    with pytest.raises(DataError, match=r"the record was measured 30 hours ago, .* allowed is 1 days: measure again"):
        gate(record, targets=["RR >= 0.1"], max_record_age="24h", now=now)
    assert gate(record, targets=["RR >= 0.1"], max_record_age="36h", now=now).accepted


def test_a_record_held_against_itself(tmp_path: Path) -> None:
    record = replace(made({"RR": BASE}), texts={"q1": "first"})
    assert keys(gate(record, record).remarks) == ["same_record"]
    exported = export_baseline(baseline_of(record, "main"))
    (tmp_path / "base.json").write_text(json.dumps(exported))
    assert keys(gate(record, load_baseline(tmp_path / "base.json")).remarks) == ["same_record"]
    assert not gate(record, before(record)).remarks


def test_a_baseline_that_moves_along_with_the_ranker(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("GITHUB_BASE_REF", "CI_MERGE_REQUEST_DIFF_BASE_SHA"):
        monkeypatch.delenv(name, raising=False)

    def git(*arguments: str) -> str:
        named = ["-c", "user.name=a", "-c", "user.email=a@example.org", "-C", str(tmp_path)]
        return subprocess.run(["git", *named, *arguments], check=True, capture_output=True, text=True).stdout.strip()

    record, path = made({"RR": BASE}), tmp_path / "eval" / "base.json"
    path.parent.mkdir()

    def remarks() -> list[str]:
        return keys(gate(record, load_baseline(path)).remarks)

    def write(shift: float) -> None:
        before(made({"RR": BASE - shift})).save(path)

    write(0)
    assert remarks() == []  # no repository
    git("init", "-q", "-b", "main")
    git("add", ".")
    git("commit", "-qm", "baseline")
    assert remarks() == []
    write(0.01)
    git("commit", "-qam", "the baseline alone, as a promotion does")
    assert remarks() == []
    git("checkout", "-qb", "feature")
    (tmp_path / "ranking.py").write_text("rubbish = True")
    git("add", ".")
    git("commit", "-qm", "another ranker")
    write(0.02)
    (remark,) = gate(record, load_baseline(path)).remarks  # not committed yet
    assert remark.key == "gate.moved_along"
    git("commit", "-qam", "and a baseline that suits it")
    monkeypatch.setenv("CI_MERGE_REQUEST_DIFF_BASE_SHA", git("rev-parse", "main"))
    (remark,) = gate(record, load_baseline(path)).remarks
    start = git("rev-parse", "main")
    assert remark.parameters == {"baseline": "base.json", "n": 1, "example": "ranking.py", "start": start[:10]}
    shown = subprocess.run(
        ["git", "show", f"{start[:10]}:./base.json"], check=True, capture_output=True, cwd=path.parent
    ).stdout
    assert Record.from_dict(json.loads(shown)) == before(made({"RR": BASE - 0.01}))
    monkeypatch.delenv("CI_MERGE_REQUEST_DIFF_BASE_SHA")
    shallow = tmp_path / "shallow"
    git("clone", "-q", "--depth=1", f"file://{tmp_path}", str(shallow))
    assert keys(gate(record, load_baseline(shallow / "eval" / "base.json")).remarks) == ["change_unknown"]
    (tmp_path / "other.json").write_bytes(path.read_bytes())
    path.unlink()
    path.symlink_to("../other.json")
    (tmp_path / "ranking.py").write_text("rubbish = 2")
    git("add", "eval", "other.json", "ranking.py")
    git("commit", "-qm", "a link to another baseline, and another ranker", "--amend")
    assert remarks() == ["moved_along"]


def test_scores_outside_their_range() -> None:
    record = evaluate({"q": {"d": 1}, "r": {"d": 1}}, {"q": {"d": 1.0}, "r": {"e": 1.0}}, ["RR"]).record
    told = record.to_dict()
    told["systems"][0]["per_query"]["RR"] = [1.7, 0.3]
    told["systems"][0]["means"]["RR"]["value"] = 1.0
    with pytest.raises(FormatError, match=r"RR: 1\.7 lies outside its range, 0 to 1: the record is damaged"):
        Record.from_dict(told)
    with pytest.raises(DataError, match=r"means: RR = 71 lies outside its range, 0 to 1"):
        gate(record, Baseline("means", thresholds={"RR": 71}))


def test_what_is_not_tested_is_named() -> None:
    record = made({"RR": BASE, "NumRet": BASE, "GMAP": BASE})
    (remark,) = gate(record, before(record)).remarks
    assert (remark.key, remark.parameters["measures"]) == ("gate.not_tested", ["NumRet", "GMAP"])
    assert not gate(record, before(record), measures=["RR"]).remarks


def test_records_that_disagree_about_the_direction() -> None:
    with pytest.raises(DataError, match="of RR less is better in the record, but more in the baseline"):
        gate(made({"RR": BASE}, lower=("RR",)), made({"RR": BASE}))
    assert gate(made({"RR": BASE}, lower=("RR",)), made({"RR": BASE}, lower=("RR",))).accepted


def test_errors_where_no_call_was_made() -> None:
    record = made({"RR": BASE})
    (remark,) = gate(record, before(record), max_errors=0).remarks
    assert remark.key == "gate.errors_not_checked"
    with pytest.raises(DataError, match="no calls were made"):
        gate(record, max_errors=0)
    alone = gate(served(["q1"]), max_errors=0)
    assert [(rule.name, rule.status) for rule in alone.rules] == [("errors <= 0", "broken")]
    assert GateRules.of(max_errors=0).alone
    assert not GateRules.of(max_loss="3%").alone


# --- numbers and names beyond all measure


@pytest.mark.parametrize("text", ["99999999999d", "9" * 300 + "w"])
def test_ages_beyond_all_measure(text: str) -> None:
    with pytest.raises(DataError, match="longer than any age"):
        parse_age(text)


@pytest.mark.parametrize("alpha", [1e-16, 1e-300, 0.0, -1, 0.5, 7])
def test_levels_that_are_none(alpha: float) -> None:
    with pytest.raises(DataError, match="must lie between"):
        GateRules.of(alpha=alpha)
    record = made({"RR": BASE + NOISE})
    assert gate(record, made({"RR": BASE}), alpha=1e-6).status == "pass"


@pytest.mark.parametrize("text", ["RR >= 1e308", "RR >= 1e999", "RR +1e308%", "RR >= baseline + 1e200"])
def test_numbers_beyond_all_measure(text: str, tmp_path: Path) -> None:
    with pytest.raises(DataError, match="too large a number"):
        parse_target(text)
    (tmp_path / "means.json").write_text('{"RR": 1e308}')
    with pytest.raises(FormatError, match="no baseline"):
        load_baseline(tmp_path / "means.json")


def test_hints_for_percent() -> None:
    with pytest.raises(DataError, match=r"did you mean 80%\?"):
        parse_share("80")
    with pytest.raises(DataError, match=r"write 5% or 0\.05"):
        parse_share("-1")
    missed = rule_of(gate(made({"RR": BASE}), targets=["RR >= 80"]), "target")
    assert missed.note.parameters["outcome"] == Note("gate.missed_percent", {"goal": 80.0})


def test_tags_with_blanks() -> None:
    record = replace(made({"RR": BASE}), tags={f"q{i}": ["odd tag"] for i in range(N)})
    assert gate(record, floors=['tag:"odd tag" RR >= 0.1']).status == "pass"
    with pytest.raises(DataError, match=r"no measure 'tag RR'.*in quotes: tag:.odd tag. R@10"):
        gate(record, floors=["tag:odd tag RR >= 0.1"])
    with pytest.raises(DataError, match='its tags are: "odd tag"'):
        gate(record, floors=["tag:even RR >= 0.1"])
    with pytest.raises(DataError, match=r'no floor; write one as: .*tag:"odd tag"'):
        gate(record, floors=["tag:even RR is good"])


def test_names_cannot_steer_the_terminal() -> None:
    name = "a\x1b[31m\nb\u202e<i>\ud800"
    record = made({"RR": BASE}, name)
    told = gate(record, record, targets=["RR >= 0.1"])
    for form in ("terminal", "markdown"):
        text = report(told, format=form)
        assert not set("\x1b\u202e\ud800") & set(text)
        assert "a\\x1b[31m\\nb\\u202e" in text
    assert "&lt;i>" in report(told, format="markdown")
