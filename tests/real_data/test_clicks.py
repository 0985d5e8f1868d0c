"""Behaviour events of real pages in UBI's format, and real grades that clicks are made from."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from rankgauge import Query, TestSet, click_labels
from rankgauge.formats.click_logs.columns import Reading
from rankgauge.formats.click_logs.reading import load_clicks
from tests.cli.command import run_command
from tests.parts import DATA

pytestmark = pytest.mark.needs("data")
ESCI = DATA / "esci"
LOG = ESCI / "ubi_queries_events.ndjson"


@pytest.fixture(scope="module")
def graded() -> TestSet:
    """The ratings of products: 100 exact, 10 substitute, 1 complement, 0 irrelevant."""
    known = json.loads((ESCI / "esci_us_judgments.json").read_text("utf-8"))["judgmentRatings"]
    return TestSet(
        [Query(one["query"], {rated["docId"]: float(rated["rating"]) for rated in one["ratings"]}) for one in known]
    )


def test_events_of_three_applications() -> None:
    """Read by hand beside: every impression and every click is either in a list or counted."""
    table = load_clicks(LOG, Reading({}))
    events: list[dict[str, Any]] = [
        line for line in map(json.loads, LOG.read_text("utf-8").splitlines()) if "action_name" in line
    ]
    assert table.read == len(events) == 3448
    impressions = [one for one in events if one["action_name"] == "impression"]
    clicks = [one for one in events if one["action_name"] in ("click", "item_click")]
    assert table.left_out["other_action"] == len(events) - len(impressions) - len(clicks) == 1151
    pairs = {(one["query_id"], one["event_attributes"]["object"]["object_id"]) for one in impressions}
    on_others = [
        one for one in clicks if (one["query_id"], one["event_attributes"]["object"]["object_id"]) not in pairs
    ]
    assert table.left_out["never_shown"] <= len(on_others) == 52  # the rest are on what a server says it returned
    assert table.bases == {0: 200, 1: 47}
    assert table.shows + table.left_out["no_query"] + table.left_out["two_queries"] >= len(impressions)


def test_labels_beside_the_ratings(graded: TestSet) -> None:
    """Few of the rated products were shown and none was clicked, so little agreement is to be had, and it is said."""
    found = click_labels(LOG, test_set=graded, least_impressions=1)
    assert {label.query for label in found.labels} <= {query.id for query in graded}
    assert found.agreement is not None
    assert (found.agreement.pairs, found.agreement.queries) == (36, 6)
    assert found.agreement.tau is not None
    assert abs(found.agreement.tau) < 0.5
    done = run_command("testset", "clicks", LOG, "--least-impressions", "5", status=1)
    assert "positions start at 0 in 200 lists and at 1 in 47 lists" in done.stdout.replace("\n  ", " ")


def test_clicks_made_from_the_ratings_give_their_order_back(graded: TestSet) -> None:
    """The products of 20 queries in orders that vary; better ones attract more, lower ranks are seen less."""
    rng = np.random.default_rng(0)
    attracts = {100.0: 0.6, 10.0: 0.25, 1.0: 0.12, 0.0: 0.04}
    rows = []
    for query in list(graded)[:20]:
        docs = list(query.grades)[:12]
        for number in range(150):
            order = np.argsort(np.arange(len(docs)) + rng.normal(0, 4, len(docs)))[:8]
            for position, place in enumerate(order, start=1):
                seen = rng.random() < position**-0.7
                clicked = bool(seen and rng.random() < attracts[query.grades[docs[place]]])
                rows.append({"list": f"{query.id} {number}", "query": query.text.upper(), "doc": docs[place],
                             "position": position, "clicked": clicked})  # fmt: skip
    found = click_labels(rows, test_set=graded)
    assert found.agreement is not None
    assert found.agreement.tau is not None
    assert found.agreement.tau > 0.6
    assert found.informative
