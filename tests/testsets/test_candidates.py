"""Queries of production that are worth a judgment: against a naive reading of the rules, and by hand."""

from __future__ import annotations

import datetime
from collections import defaultdict
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankgauge import Call, History, Query, TestSet, Trace, Traces, candidates, incident_queries
from rankgauge.errors import DataError
from rankgauge.formats.secrets import register_secret
from rankgauge.history.checks import begin_check, check_transaction, finish_check, last_check
from rankgauge.history.incidents import add_incident
from rankgauge.history.monitored import Finding
from rankgauge.model.query_log import LoggedQuery
from rankgauge.model.series import SeriesKey
from rankgauge.record import Mean
from rankgauge.words import LANGUAGES, tell
from tests.history.records import make_record
from tests.oracles.cases import fast

ENTRIES = st.builds(
    LoggedQuery,
    st.sampled_from(["alpha", "second thing", "gamma rays", "delta force"]),  # nothing alike
    st.integers(0, 4),
    st.sampled_from([None, 0, 5]),
    st.sampled_from([None, 0.2, 0.9]),
    st.sampled_from([None, 0, 1]),
    st.booleans(),
)


@fast(60)
@given(st.lists(ENTRIES, max_size=14))
def test_the_rules_read_naively(entries: list[LoggedQuery]) -> None:
    by_text = defaultdict(list)
    for entry in entries:
        by_text[entry.text] += [entry] * entry.count
    clicked = any(entry.clicks for searches in by_text.values() for entry in searches)
    expected = {}
    for text, searches in by_text.items():
        if not searches:
            continue
        told = [one for one in searches if one.results is not None and not one.failed]
        empty = bool(told) and sum(one.results == 0 for one in told) >= len(told) / 2
        scores = [one.score for one in searches if one.score is not None]
        clicks = [one.clicks for one in searches if one.clicks is not None]
        reasons = {
            "failed": sum(one.failed for one in searches) >= len(searches) / 2 and any(one.failed for one in searches),
            "no-results": empty,
            "low-score": bool(scores) and sum(scores) / len(scores) < 0.5 and not empty,
            "abandoned": clicked and bool(clicks) and not sum(clicks) and not empty and len(searches) >= 2,
        }
        if any(reasons.values()):
            expected[text] = ({name for name, holds in reasons.items() if holds}, len(searches))
    found = candidates(entries, low_score=0.5)
    assert {one.text: (set(one.reasons), one.searches) for one in found.listed} == expected
    assert [one.searches for one in found.listed] == sorted((one.searches for one in found.listed), reverse=True)
    assert found.searches == sum(entry.count for entry in entries)


def searched(text: str, n: int = 1, results: int = 0) -> LoggedQuery:
    return LoggedQuery(text, n, results)


def test_near_duplicates_count_for_the_most_frequent() -> None:
    log = [searched("reset my password", 5), searched("Reset my password!", 2), searched("reset my pasword", 3)]
    log += [searched("install python 2"), searched("install python 3")]
    found = candidates(log)
    assert [(one.text, one.searches, one.similar) for one in found.listed] == [
        ("reset my password", 10, ("reset my pasword", "Reset my password!")),
        ("install python 2", 1, ()),
        ("install python 3", 1, ()),
    ]
    assert found.similar == 2
    assert candidates(log, n=1).found == 3


def test_what_is_known_is_left_out() -> None:
    known = TestSet([Query("Reset my password", {"d": 1}, "q1")])
    log = [searched("reset my pasword"), searched("reset my password"), searched("reset my password?"), searched("new")]
    found = candidates(log, known=known)
    assert [one.text for one in found.listed] == ["new"]
    assert found.known == 3
    with pytest.raises(DataError, match="must be a TestSet"):
        candidates(log, known="set.json")  # type: ignore[arg-type]


def test_secrets_and_persons_are_masked() -> None:
    register_secret("hunter2-of-the-plan")
    texts = {
        "why does password=abc123xyz fail": "why does password=*** fail",
        "mail of ana.b@example.org": "mail of ***",
        "call +49 170 1234 5678 now": "call *** now",
        "connect with hunter2-of-the-plan": "connect with ***",
        "error 404 in version 3.11.2": "error 404 in version 3.11.2",
        "orders since 2026-01-01": "orders since 2026-01-01",
    }
    found = candidates([searched(text) for text in texts])
    assert {one.text for one in found.listed} == set(texts.values())
    assert found.masked == 4
    assert [one.text for one in candidates([searched("x@example.org"), searched("y")]).listed] == ["y"]


def test_a_test_set_without_labels_that_joins_after_review(tmp_path: Path) -> None:
    found = candidates([searched("a", 12), searched("b")])
    made = found.test_set
    assert [(query.text, dict(query.grades), query.tags) for query in made] == [
        ("a", {}, ("no-results", "asked 10-99 times")),
        ("b", {}, ("no-results", "asked once")),
    ]
    assert candidates([searched("A", 3)]).test_set[0].id == made[0].id, "the id is that of the words"
    made.save(tmp_path / "new.json")
    assert TestSet.load(tmp_path / "new.json") == made.renamed(str(tmp_path / "new.json"))
    with pytest.raises(DataError, match="no label yet"):
        TestSet([Query("old", {"d": 1})]).merge(made)


def test_low_scores_are_the_lowest_tenth() -> None:
    colours, things = ("red", "green", "blue", "violet", "white"), ("car", "hat", "dog", "sky", "tea")
    names = [f"{colour} {thing}" for colour in colours for thing in things]
    log = [LoggedQuery(text, score=float(i), results=3) for i, text in enumerate(names)]
    found = candidates(log)
    assert {one.text for one in found.listed} == set(names[:3])
    assert found.low_score == pytest.approx(2.4)
    assert "low-score" in candidates(log[:19]).untold, "of so few a tenth says nothing"
    flat = [LoggedQuery(text, score=1.0, results=3) for text in names]
    assert not candidates(flat).listed


def test_sources_of_every_kind(tmp_path: Path) -> None:
    traces = Traces([Trace([Call("a", []), Call("b", ["d"])], "q1")])
    assert [one.text for one in candidates(traces).listed] == ["a"]
    frame = pl.DataFrame({"query": ["a", "b"], "result_count": [0, 3]})
    assert [one.text for one in candidates(frame).listed] == ["a"]
    assert [one.text for one in candidates(frame.to_dicts()).listed] == ["a"]
    frame.write_csv(tmp_path / "log.csv")
    assert [one.text for one in candidates(tmp_path / "log.csv").listed] == ["a"]
    assert not candidates([]).listed
    assert not candidates([LoggedQuery("x" * 5000, results=0), LoggedQuery("   ", results=0)]).listed
    for odd in (3, b"a", {"a": 1}):
        with pytest.raises(DataError, match="`source` must be"):
            candidates(odd)
    with pytest.raises(DataError, match="`reasons`: 'bored'"):
        candidates([], reasons=["bored"])
    with pytest.raises(DataError, match="low_score"):
        candidates([], low_score=float("nan"))


def test_only_the_reasons_wanted() -> None:
    log = [searched("a"), LoggedQuery("b", failed=True)]
    assert [one.text for one in candidates(log, reasons=["failed"]).listed] == ["b"]
    found = candidates(log)
    assert found.untold == ["low-score", "abandoned"]
    assert found.to_dict()["reasons"] == {"failed": 1, "no-results": 1}


# --- incidents --------------------------------------------------------------------------------------------------------

NOW = datetime.datetime(2026, 1, 1, tzinfo=datetime.UTC)


@pytest.fixture
def history(tmp_path: Path) -> History:
    """Three checks; between the second and the third q3 and q7 fell."""
    opened = History.open(tmp_path / "history.db")
    good = make_record(1)
    system = good.systems[0]
    fallen = [0.0 if i in (3, 7) else value for i, value in enumerate(system.per_query["nDCG@10"])]
    means = {**system.means, "nDCG@10": Mean(sum(fallen) / len(fallen), None, len(fallen))}
    worse = replace(system, means=means, per_query={**system.per_query, "nDCG@10": fallen})
    bad = replace(good, systems=[worse], created=make_record(2).created)
    for number, record in enumerate((good, make_record(1, created=NOW), bad), start=1):
        stored = opened.add(record)
        token = f"t{number}"
        begin_check(opened, "support", token, NOW + datetime.timedelta(hours=number))
        with check_transaction(opened, "support") as connection:
            known = last_check(opened, "support")
            assert known is not None
            finish_check(connection, replace(known, status="done", record_id=stored.id, finished=known.started))
    with check_transaction(opened, "support") as connection:
        key = SeriesKey("search", "nDCG@10")
        add_incident(connection, "support", "quality", key, Finding(), opened=(3, NOW), began=(3, NOW))
        add_incident(connection, "support", "drift", None, Finding(queries=["q1"]), opened=(3, NOW), began=(3, NOW))
        add_incident(connection, "support", "quality", key, Finding(), opened=(9, NOW), began=(9, NOW))
    return opened


def test_queries_behind_incidents(history: History) -> None:
    test_set = TestSet([Query(f"text of {i}", {"d": 1}, f"q{i}") for i in range(20)])
    found = incident_queries(history, "support", test_set=test_set)
    assert {(one.id, one.text, one.kind) for one in found.listed} == {
        ("q3", "text of 3", "quality"),
        ("q7", "text of 7", "quality"),
        ("q1", "text of 1", "drift"),
    }
    assert found.unread == [3]
    assert {query.id: query.tags for query in found.test_set} == {
        "q3": ("incident quality",),
        "q7": ("incident quality",),
        "q1": ("incident drift",),
    }
    falls = {one.id: one.fell for one in found.listed}
    before = make_record(1).systems[0].per_query["nDCG@10"]
    assert falls == {"q3": before[3], "q7": before[7], "q1": None}
    assert len(incident_queries(history, "support", incident=1, n=1).listed) == 1
    with pytest.raises(DataError, match="no incident 7"):
        incident_queries(history, "support", incident=7)
    with pytest.raises(DataError, match="no monitor 'x'; it has: support"):
        incident_queries(history, "x")
    with pytest.raises(DataError, match="must be a History"):
        incident_queries("history.db", "support")  # type: ignore[arg-type]


def test_a_pasted_text_without_blanks_takes_no_time() -> None:
    """The time of masking grew with the square of it: minutes for 200 KB."""
    found = candidates([LoggedQuery("q" * 200_000, 2, 0), LoggedQuery("mail a@b.example.+c@d.example", 2, 0)])
    assert "@" not in "".join(query.text for query in found.test_set)


def test_what_is_left_out_is_counted(tmp_path: Path) -> None:
    rows = ["query,results,count", "lost,0,2", ",0,3", "   ,0,1", f"{'long ' * 500},0,4", "ana@example.org,0,5"]
    (tmp_path / "log.csv").write_text("\n".join(rows))
    found = candidates(tmp_path / "log.csv")
    assert [(one.text, one.searches) for one in found.listed] == [("lost", 2)]
    assert (found.searches, found.unusable, found.masked) == (15, 13, 1)
    (note,) = (note for note in found.notes if note.key == "candidates.unusable")
    assert all("13" in tell(note, language) for language in LANGUAGES)
    assert found.to_dict()["unusable"] == 13


def test_scores_of_few_queries_are_no_missing_column() -> None:
    """The log has scores, but a tenth of so few says nothing: that is another thing than a log without them."""
    rows = [{"query": text, "score": 0.1} for text in ("alpha", "second thing", "gamma rays")]
    found = candidates(rows)
    (untold,) = (note for note in found.notes if note.key == "candidates.untold")
    assert "candidates.reason_low_score" not in {reason.key for reason in untold.parameters["reasons"]}
    assert [dict(note.parameters) for note in found.notes if note.key == "candidates.few_scored"] == [
        {"n": 3, "least": 20}
    ]
    assert "low-score" in candidates([{"query": "alpha"}]).untold
    assert not [note for note in candidates(rows, low_score=0.2).notes if note.key == "candidates.few_scored"]
