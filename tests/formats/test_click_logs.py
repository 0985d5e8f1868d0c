"""Click logs: every form tells the same, what does not count is counted, and a naive reader agrees."""

from __future__ import annotations

import csv
import gzip
import io
import json
import math
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rankgauge.errors import RankgaugeError
from rankgauge.formats.click_logs.columns import NAMES, Reading
from rankgauge.formats.click_logs.reading import load_clicks
from rankgauge.model.clicks import LEFT_OUT, ClickTable
from tests.hostile import HOSTILE

READING = Reading({})
ROWS = [
    {"session": "s1", "query": "red shoes", "doc": "d1", "position": 1, "clicked": 1},
    {"session": "s1", "query": "red shoes", "doc": "d2", "position": 2, "clicked": 0},
    {"session": "s1", "query": "red shoes", "doc": "d3", "position": 3, "clicked": 1},
    {"session": "s2", "query": "Red  Shoes ", "doc": "d2", "position": 1, "clicked": 0},
    {"session": "s2", "query": "Red  Shoes ", "doc": "d1", "position": 2, "clicked": 1},
    {"session": "s2", "query": "hat", "doc": "d1", "position": 1, "clicked": 0},
]
LISTS = [
    {"session": "s1", "query": "red shoes", "docs": ["d1", "d2", "d3"], "clicks": ["d1", "d3"]},
    {"session": "s2", "query": "Red  Shoes ", "docs": ["d2", "d1"], "clicks": [2]},
    {"session": "s2", "query": "hat", "docs": ["d1"], "clicks": []},
]
TRUTH = [
    ("hat", [("d1", 0, False)]),
    ("red shoes", [("d1", 0, True), ("d2", 1, False), ("d3", 2, True)]),
    ("red shoes", [("d2", 0, False), ("d1", 1, True)]),
]


def told(table: ClickTable) -> list[tuple[str, list[tuple[str, int, bool]]]]:
    """The lists of a table, in order."""
    lists: dict[int, list[tuple[str, int, bool]]] = {}
    query = {}
    for place, pair, rank, clicked in zip(table.place, table.pair, table.rank, table.clicked, strict=True):
        lists.setdefault(place, []).append((table.docs[table.pair_doc[pair]], int(rank), bool(clicked)))
        query[place] = table.queries[table.pair_query[pair]]
    return sorted((query[place], own) for place, own in lists.items())


def events(rows: list[dict[str, Any]], base: int = 1) -> list[dict[str, Any]]:
    """The same as events: every document shown, then clicks."""
    found = []
    for action in ("impression", "click"):
        for row in rows:
            if action == "impression" or row["clicked"]:
                object_ = {"object_id": row["doc"], "object_id_field": "sku"}
                place = {"ordinal": row["position"] - 1 + base}
                event = {"action_name": action, "query_id": f"{row['session']} {row['query']}", "user_query": None}
                event |= {"client_id": row["session"], "event_attributes": {"object": object_, "position": place}}
                found.append(event)
    return found


def searches(rows: list[dict[str, Any]], *, hits: bool = False) -> list[dict[str, Any]]:
    lists: dict[tuple[str, str], list[str]] = {}
    for row in rows:
        lists.setdefault((row["session"], row["query"]), []).append(row["doc"])
    return [
        {"query_id": f"{session} {query}", "user_query": query, "client_id": session, "query_attributes": {}}
        | ({"query_response_hit_ids": docs} if hits else {})
        for (session, query), docs in lists.items()
    ]


def as_lines(objects: list[Any]) -> bytes:
    return "".join(json.dumps(value) + "\n" for value in objects).encode()


def as_table(rows: list[dict[str, Any]], separator: str = ",") -> bytes:
    text = io.StringIO()
    writer = csv.DictWriter(text, list(rows[0]), delimiter=separator, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue().encode()


def as_bulk(objects: list[dict[str, Any]]) -> bytes:
    return as_lines([part for value in objects for part in ({"index": {"_index": "ubi", "_id": "1"}}, value)])


def as_parquet(rows: list[dict[str, Any]]) -> bytes:
    buffer = io.BytesIO()
    pl.DataFrame(rows).write_parquet(buffer)
    return buffer.getvalue()


FLAGS = [{**row, "clicks": [doc in ("d1", "d3") for doc in row["docs"]]} for row in LISTS[:1]]
FORMS: dict[str, bytes] = {
    "rows.csv": as_table(ROWS),
    "rows.tsv": as_table(ROWS, "\t"),
    "semicolons.csv": as_table(ROWS, ";"),
    "bom.csv": b"\xef\xbb\xbf" + as_table(ROWS).replace(b"\n", b"\r\n"),
    "rows.csv.gz": gzip.compress(as_table(ROWS)),
    "rows.jsonl": as_lines(ROWS),
    "rows.parquet": as_parquet(ROWS),
    "lists.jsonl": as_lines([*FLAGS, *LISTS[1:]]),
    "lists.parquet": as_parquet(
        [{**row, "clicks": own} for row, own in zip(LISTS, (["d1", "d3"], ["d1"], []), strict=True)]
    ),
    "events.csv": as_table(
        [
            {
                "action": one["action_name"],
                "search_id": one["query_id"],
                "query": one["query_id"][3:],
                "item": one["event_attributes"]["object"]["object_id"],
                "rank": one["event_attributes"]["position"]["ordinal"],
            }
            for one in events(ROWS)
        ]
    ),
    "ubi.ndjson": as_lines(searches(ROWS) + events(ROWS)),
    "ubi0.ndjson": as_bulk(events(ROWS, 0) + searches(ROWS)),
    "ubi_export.ndjson": as_lines([{"_index": "x", "_source": one} for one in searches(ROWS) + events(ROWS)]),
    "ubi_hits.ndjson": as_lines(
        searches(ROWS, hits=True) + [one for one in events(ROWS) if one["action_name"] == "click"]
    ),
}


@pytest.mark.parametrize("name", FORMS)
def test_every_form_tells_the_same(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_bytes(FORMS[name])
    table = load_clicks(path, READING)
    assert told(table) == TRUTH
    assert table.whole
    assert {reason: n for reason, n in table.left_out.items() if reason != "other_action"} == {}


def test_frames_rows_and_several_files(tmp_path: Path) -> None:
    assert told(load_clicks(pl.DataFrame(ROWS), READING)) == TRUTH
    assert told(load_clicks(pd.DataFrame(ROWS), READING)) == TRUTH
    assert told(load_clicks(ROWS, READING)) == TRUTH
    assert told(load_clicks(iter(LISTS), READING)) == TRUTH
    parts = [tmp_path / f"{part}.jsonl" for part in range(2)]
    parts[0].write_bytes(as_lines(searches(ROWS)))  # a file of searches, and one of events
    parts[1].write_bytes(as_lines(events(ROWS)))
    assert told(load_clicks(parts, READING)) == TRUTH


def test_columns_by_any_name() -> None:
    own = [dict(zip(("wer", "was", "ding", "wo", "ja"), row.values(), strict=True)) for row in ROWS]
    columns = {"session": "wer", "query": "was", "doc": "ding", "rank": "wo", "clicked": "ja"}
    assert told(load_clicks(own, Reading(columns))) == TRUTH
    with pytest.raises(RankgaugeError, match=r"no column for 'query' among 'wer', 'was'.*`columns=`"):
        load_clicks(own, READING)
    with pytest.raises(RankgaugeError, match="no column 'nix'; it has 'wer'"):
        load_clicks(own, Reading({**columns, "doc": "nix"}))
    with pytest.raises(RankgaugeError, match="`columns`: 'docc' is none of list, query"):
        load_clicks(own, Reading({"docc": "ding"}))
    names = ("会话", "搜索词", "商品id", "位置")
    chinese = [dict(zip(names, row.values(), strict=False)) | {"点击": "否是"[int(row["clicked"])]} for row in ROWS]
    assert told(load_clicks(chinese, READING)) == TRUTH
    assert len({alias for aliases in NAMES.values() for alias in aliases}) == sum(map(len, NAMES.values()))


def test_counts(tmp_path: Path) -> None:
    rows = [
        {"query": "hat", "doc": "d1", "position": 1, "impressions": 100, "clicks": 30},
        {"query": "hat", "doc": "d1", "position": 2, "impressions": 50, "clicks": 0},
        {"query": "hat", "doc": "d2", "position": 2, "impressions": 10, "clicks": 11},
        {"query": "hat", "doc": "d3", "position": 2, "impressions": 0, "clicks": 0},
        {"query": "hat", "doc": "d4", "position": 2, "impressions": "many", "clicks": 1},
    ]
    (tmp_path / "log.csv").write_bytes(as_table(rows))
    table = load_clicks(tmp_path / "log.csv", READING)
    assert not table.whole
    assert (table.shows, table.clicks) == (150, 30)
    assert table.left_out == {"broken": 1, "impossible_counts": 1}
    assert sorted(zip(table.rank, table.clicked, table.times, strict=True)) == [(0, 0, 70), (0, 1, 30), (1, 0, 50)]


def test_rows_without_a_list_stand_for_themselves() -> None:
    rows = [{key: value for key, value in row.items() if key != "session"} for row in ROWS]
    table = load_clicks(rows, READING)
    assert not table.whole
    assert (table.shows, table.clicks, table.lists) == (6, 3, 6)


def test_what_does_not_count_is_counted() -> None:
    log = searches(ROWS) + events(ROWS)
    shown, click = log[3], next(one for one in log if one.get("action_name") == "click")
    attributes = {"object": {"object_id": "d9"}, "position": {"ordinal": 1}}

    def with_object(event: dict[str, Any], **parts: Any) -> dict[str, Any]:
        return {**event, "event_attributes": {**event["event_attributes"], **parts}}

    broken: list[dict[str, Any]] = [
        shown,  # duplicate
        click,  # repeated_click
        {**click, "event_attributes": attributes},  # never_shown
        with_object(shown, object=None),  # no_doc
        with_object(shown, position=None),  # no_position
        with_object(shown, object={"object_id": "e"}, position={"ordinal": -3}),  # no_position
        with_object(shown, object={"object_id": "e"}, position={"ordinal": 1.5}),  # no_position
        with_object(shown, object={"object_id": "f"}, position={"ordinal": 10**6}),  # below_depth
        {**shown, "query_id": None},  # no_list
        {**shown, "query_id": "of nobody"},  # no_query
        {**shown, "action_name": "page_exit"},  # other_action
        {**click, "event_attributes": None},  # no_doc
    ]
    lines = log + broken
    table = load_clicks_of(as_lines(lines) + b'{"action_name": "click", \n[1]\n\xff\n{"x": 1}\n')
    assert told(table) == TRUTH
    assert table.left_out == {
        "broken": 4, "no_query": 1, "no_doc": 2, "no_list": 1, "no_position": 3, "below_depth": 1, "duplicate": 1,
        "repeated_click": 1, "never_shown": 1, "other_action": 1,
    }  # fmt: skip
    assert set(table.left_out) <= {*LEFT_OUT, "other_action"}
    assert table.read == len(lines) - len(searches(ROWS)) + 4


def load_clicks_of(data: bytes, reading: Reading = READING, name: str = "log.jsonl") -> ClickTable:
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, name)
        path.write_bytes(data)
        return load_clicks(path, reading)


def test_dwell_times() -> None:
    rows = [{**row, "dwell": dwell} for row, dwell in zip(ROWS, (40, "", 5, "", -1, None), strict=True)]
    assert told(load_clicks(rows, READING)) == TRUTH[:2]  # a list with an impossible time is none
    assert load_clicks(rows, READING).left_out == {"bad_dwell": 2}
    table = load_clicks(rows, Reading({}, least_dwell=30))
    assert told(table)[1] == ("red shoes", [("d1", 0, True), ("d2", 1, False), ("d3", 2, False)])
    assert table.left_out == {"short_dwell": 1, "bad_dwell": 2}


@pytest.mark.parametrize(
    ("clicks", "dwell", "kept", "left_out"),
    [
        (["d1", "d3"], [40, 5], ["d1"], {"short_dwell": 1}),
        ([3, 1], [40, 5], ["d3"], {"short_dwell": 1}),
        (["d3", "d2", "d1"], [40, None, "5"], ["d2", "d3"], {"short_dwell": 1}),
        ([True, False, True], [40, None, 5], ["d1"], {"short_dwell": 1}),
        (["d1"], 5, [], {"short_dwell": 1}),
        (["d1", "d3"], "40", ["d1", "d3"], {}),
        (["d1"], [math.nan], ["d1"], {}),
        ([], None, [], {}),
        (["d1", "d3"], [40, -1], None, {"bad_dwell": 3}),
        (["d1"], -3, None, {"bad_dwell": 3}),
        ([], -3, None, {"bad_dwell": 3}),
        (["d1"], [1, 2], None, {"broken": 1}),  # of which visit is the second
    ],
)
def test_dwell_times_of_lists(clicks: Any, dwell: Any, kept: Any, left_out: dict[str, int]) -> None:
    rows = [{**LISTS[0], "clicks": clicks, "dwell": dwell}, {**LISTS[2], "dwell": None}]
    table = load_clicks(rows, Reading({}, least_dwell=30))
    assert table.left_out == left_out
    lists = {query: [doc for doc, _, clicked in own if clicked] for query, own in told(table)}
    assert lists.get("red shoes") == kept


def test_lists_under_two_queries_and_busy_sessions() -> None:
    rows = [{**row, "list": f"{row['session']} {row['query']}", "action": "impression"} for row in ROWS]
    rows[0] = {**rows[0], "query": "blue shoes"}
    table = load_clicks(rows, READING)
    assert told(table) == [("hat", [("d1", 0, False)]), ("red shoes", [("d2", 0, False), ("d1", 1, False)])]
    assert table.left_out == {"two_queries": 3}
    assert table.busiest == 1.0 or table.sessions == 1
    table = load_clicks(ROWS, Reading({}, most_lists=1))
    assert told(table) == TRUTH[1:2]
    assert table.left_out == {"busy_session": 3}
    assert load_clicks(ROWS, READING).busiest == pytest.approx(2 / 3)
    nobody = [{**row, "list": f"{row['session']} {row['query']}", "session": ""} for row in ROWS]
    table = load_clicks(nobody, Reading({}, most_lists=1))  # of unknown sessions nobody knows that they are one
    assert (table.lists, table.busiest, table.sessions, table.left_out) == (3, 0.0, 0, {})
    table = load_clicks([ROWS[0], {**ROWS[1], "session": None}, {**ROWS[2], "session": ""}], READING)
    assert table.left_out == {"no_list": 2}


def test_positions_from_0_from_1_and_both() -> None:
    def ranks(*lists: list[Any], **more: Any) -> list[list[int]]:
        rows = [
            {"list": f"l{number:03}", "query": "q", "doc": f"d{place}", "position": position, "clicked": 0}
            for number, own in enumerate(lists)
            for place, position in enumerate(own)
        ]
        table = load_clicks(rows, READING)
        own: dict[str, list[int]] = {}
        for place, rank in zip(table.place, table.rank, strict=True):
            own.setdefault(place, []).append(int(rank))
        return sorted(own.values())

    assert ranks([0, 1, 2]) == [[0, 1, 2]]
    assert ranks([1, 2, 3]) == [[0, 1, 2]]
    assert ranks([1, 2], [11, 12]) == [[0, 1], [10, 11]]  # a second page stays one
    assert ranks(*[[0, 1]] * 20, [1, 2]) == [[0, 1]] * 20 + [[1, 2]]  # the first was not logged
    assert ranks([0, 1], [1, 2]) == [[0, 1], [0, 1]]
    assert ranks([1, 1, 2, 3]) == [[0, 1, 2, 3]]  # two at one place follow one another
    assert ranks(["3", " 1", "2.0"]) == [[0, 1, 2]]
    rows = [{"list": "a", "query": "q", "doc": doc, "clicked": 0} for doc in "xyz"]
    assert told(load_clicks(rows, READING)) == [("q", [("x", 0, False), ("y", 1, False), ("z", 2, False)])]


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "the file is empty"),
        (b"  \n\n", "the file is empty"),
        (b"[{}]", "jq -c"),
        (b"query,doc,position\nq,d,1\n", "no column for 'clicked'"),
        (b"query,clicked\nq,1\n", "no column for 'doc'"),
        (b"action,query,doc,rank\nclick,q,d,1\n", "in which list"),
        (b"query,query,clicked\n", "two columns have one name"),
        (b"query,doc,clicked,position,list\n", "holds no clicks"),
        (b"query,doc,clicked,position,list\nq,,1,1,l\n", "of 1 entry none says what was shown.*no doc 1"),
        (b"query,docs,clicks\nq,a b,a\n", "JSON Lines or Parquet"),
        (b'{"a": 1}\n', "no column for 'query'"),
        (b"nonsense\n", "no column for 'query'"),
        (as_lines([one for one in events(ROWS) if one["action_name"] == "click"]), "impressions, not clicks alone"),
        (b"PAR1 this is none", "no readable PARQUET"),
        (b"\xff\xfeq\x00", "UTF-8|no column"),
    ],
)  # fmt: skip
def test_files_that_are_no_logs(data: bytes, said: str) -> None:
    with pytest.raises(RankgaugeError, match=said):
        load_clicks_of(data, name="log")


def test_broken_rows_of_tables() -> None:
    whole = as_table(ROWS)
    more = b"a,b,c,d,e,f,g,h\n" + b"s9,q,d1,1,perhaps\n" + b"\n\xff\xff,q,d,1,1\n"
    table = load_clicks_of(whole + more, name="log.csv")
    assert told(table) == TRUTH
    assert table.left_out == {"broken": 3}
    table = load_clicks_of(whole + b's9,"one\nquery, with ""marks""",d1,1,0\n', name="log.csv")
    assert [query for query, _ in told(table)][1] == 'one query, with "marks"'
    assert told(load_clicks_of(whole + whole, name="log.csv")) == TRUTH  # two files, one behind the other


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_names(name: str, tmp_path: Path) -> None:
    text = HOSTILE[name]
    rows = [{**row, "query": text, "doc": text + row["doc"], "session": text} for row in ROWS[:3]]
    (tmp_path / "log.jsonl").write_bytes(as_lines(rows))
    try:
        table = load_clicks(tmp_path / "log.jsonl", READING)
    except RankgaugeError:
        assert name == "surrogate"  # half a character is no text
        return
    assert table.shows == 3
    assert len(table.docs) == 3


def test_many_blocks_are_one_log(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    rows = [{**row, "session": f"s{i}-{row['session']}"} for i in range(300) for row in ROWS]
    for name, data in {"a.csv": as_table(rows), "a.jsonl": as_lines(rows), "a.parquet": as_parquet(rows)}.items():
        (tmp_path / name).write_bytes(data)
        whole = told(load_clicks(tmp_path / name, READING))
        with monkeypatch.context() as patched:
            patched.setattr("rankgauge.formats.click_logs.reading._BLOCK", 1000)
            patched.setattr("rankgauge.formats.click_logs.reading._ROWS", 7)
            assert told(load_clicks(tmp_path / name, READING)) == whole
        assert len(whole) == 900


ENTRY = st.tuples(
    st.sampled_from(["impression", "click", "scroll"]),
    st.sampled_from(["l1", "l2", "l3", None]),
    st.sampled_from(["d1", "d2", "d3", "d4", "", None]),
    st.sampled_from([1, 2, 3, 4, 60, None, -1, "x"]),
)


@settings(max_examples=150, deadline=None)
@given(st.lists(ENTRY, max_size=14))
def test_a_naive_reader_agrees(entries: list[tuple[Any, ...]]) -> None:
    """Entry by entry, in dictionaries."""
    shown: dict[str, dict[str, int]] = {}
    clicks: list[tuple[str, str]] = []
    left: Counter[str] = Counter()
    for action, place, doc, rank in entries:
        if action == "scroll":
            left["other_action"] += 1
        elif place is None:
            left["no_list"] += 1
        elif not doc:
            left["no_doc"] += 1
        elif action == "click":
            clicks.append((place, doc))
        elif not isinstance(rank, int) or rank < 0:
            left["no_position"] += 1
        elif doc in shown.setdefault(place, {}):
            left["duplicate"] += 1
        else:
            shown[place][doc] = rank
    clicked = {(place, doc) for place, doc in clicks if doc in shown.get(place, {})}
    left["never_shown"] = sum(doc not in shown.get(place, {}) for place, doc in clicks)
    left["repeated_click"] = len(clicks) - left["never_shown"] - len(clicked)
    truth = []
    for place, docs in shown.items():
        own, last = [], -1
        for doc, rank in sorted(docs.items(), key=lambda item: item[1]):
            last = max(rank - 1, last + 1)
            if last < 50:
                own.append((doc, last, (place, doc) in clicked))
            else:
                left["below_depth"] += 1
        if own:
            truth.append(("q", own))
    rows = [dict(zip(("action", "list", "doc", "rank"), entry, strict=True)) | {"query": "q"} for entry in entries]
    if not truth:
        with pytest.raises(RankgaugeError):
            load_clicks(rows, READING)
        return
    table = load_clicks(rows, READING)
    assert told(table) == sorted(truth)
    assert table.left_out == {reason: n for reason, n in left.items() if n}
    assert (np.diff(table.place) >= 0).all()


@pytest.mark.parametrize("clicks", [[True, False], [False], [True, True, False, False]])
def test_truth_values_of_another_list_are_no_ranks(clicks: list[bool]) -> None:
    rows = [{"session": "s", "query": "q", "docs": ["a", "b", "c"], "clicks": clicks}, LISTS[0]]
    table = load_clicks(rows, READING)
    assert table.left_out["broken"] == 1
    assert table.clicks == 2
