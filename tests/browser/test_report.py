"""The page in a real browser, offline: it draws, searches, sorts and switches, and asks the network for nothing."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest

from rankgauge import losses
from tests.hostile import HOSTILE
from tests.reports.samples import (
    EXAMPLE,
    comparison_record,
    evaluation_record,
    hostile_record,
    large_record,
    live_record,
)

if TYPE_CHECKING:
    pass

pytestmark = pytest.mark.needs("chromium")


def test_charts_are_drawn_without_a_jump(opened: Any) -> None:
    one = opened(comparison_record())
    wanted = ("means", "comparison", "scatter", "differences", "distribution", "slices")
    assert one.figures() == dict.fromkeys(wanted, True)
    assert one.page.locator("figure svg .mark-symbol path").count() > 30
    assert one.page.evaluate("window.shift ?? 0") < 0.02


def test_choice_of_measure_moves_everything(opened: Any) -> None:
    one = opened(comparison_record())
    assert "+0.5949" in one.page.inner_text("#changed")
    one.page.evaluate("delete document.documentElement.dataset.charts")
    one.page.select_option("#measure", label="R@10")
    one.drawn()
    assert "R@10, bm25" in one.page.inner_html("figure[data-chart=scatter]")
    assert "R@10, difference of means" in one.page.inner_html("figure[data-chart=slices]")
    record = comparison_record()
    best = record["comparison"]["changes"][1]["gained"][0]["query"]
    assert best in one.page.locator(".change b").first.inner_text()
    assert one.column(4)[0] == f"{record['systems'][0]['per_query']['R@10'][0]:.4f}"


def test_search_sort_and_pages(opened: Any) -> None:
    one = opened(comparison_record())
    page = one.page
    assert len(one.column(1)) == 25
    assert page.inner_text("#count") == "30 of 30 queries"
    page.click("#next")
    assert one.column(1) == ["q26", "q27", "q28", "q29", "q30"]
    assert page.is_disabled("#next")
    page.fill("#search", "FILE")
    page.wait_for_function("!document.querySelector('#count').textContent.startsWith('30')")
    record = comparison_record()
    found = [q for q in record["queries"] if "file" in f"{record['texts'][q]} {record['tags'][q]}"]
    assert 0 < len(found) < 25
    assert one.column(1) == found
    page.fill("#search", "")
    page.wait_for_function("document.querySelector('#count').textContent.startsWith('30')")
    page.click("#table th[data-key=d] button")
    values = [float(text.replace("−", "-")) for text in one.column(3)]
    assert values == sorted(values, reverse=True)
    assert page.get_attribute("#table th[data-key=d]", "aria-sort") == "descending"
    page.keyboard.press("Enter")  # the heading keeps the focus
    values = [float(text.replace("−", "-")) for text in one.column(3)]
    assert values == sorted(values)
    page.click("#table th[data-key=q] button")
    assert one.column(1)[0] == "q01"


def test_every_query_opens_with_both_lists(opened: Any) -> None:
    """From the table: titles and beginnings, places in the other list, what is relevant and missed; and by keyboard."""
    one = opened(comparison_record())
    page, record = one.page, comparison_record()
    page.click("#table tbody tr:nth-child(3)")
    shown = page.locator("#query")
    assert page.inner_text("#h-query") == "q03"
    assert record["texts"]["q03"] in page.inner_text("#query-text")
    before, after = (system["per_query"]["nDCG@10"][2] for system in record["systems"])
    gap = f"{after - before:+.4f}".replace("-", "−") if after != before else "0.0000"
    heads = [f"bm25 nDCG@10 {before:.4f}", f"hybrid nDCG@10 {after:.4f} {gap}"]
    assert shown.locator(".list h3").all_inner_texts() == heads
    lists = record["lists"]["q03"]
    for i, name in enumerate(("bm25", "hybrid")):
        listed = shown.locator(".list").nth(i)
        known = [entry["doc"] for entry in lists[name]]
        assert listed.locator("ol li").count() == len(known)
        for place, doc in enumerate(known):
            assert doc in listed.locator("ol li").nth(place).inner_text()
        missed = set(record["relevant"]["q03"]["grades"]) - set(known)
        assert listed.locator(".missed li").count() == len(missed)
        for doc in missed:
            assert f"The title of {doc}" in listed.locator(".missed").inner_text()
    first = lists["bm25"][0]["doc"]
    assert shown.locator(".doc .title").first.inner_text() == f"The title of {first}"
    assert shown.locator(".doc .snippet").first.inner_text() == f"What {first} is about."
    assert page.locator("#query-scores tbody tr").count() == 2
    page.keyboard.press("ArrowRight")
    assert page.inner_text("#h-query") == "q04"
    page.keyboard.press("Escape")
    assert not shown.is_visible()
    page.click("#next")
    page.locator("#table tbody tr:last-child button").press("Enter")  # the one whose lists were left out
    assert page.inner_text("#h-query") == "q30"
    assert "29" in page.inner_text("#query-lists .callout")
    assert page.is_disabled("#query-after")


def test_a_query_that_a_remark_names_opens(opened: Any) -> None:
    record = live_record()
    query = record["queries"][3]
    empty = {"key": "live.empty", "parameters": {"n": 1, "lists": 30, "query": query}, "level": "warning"}
    record["systems"][0]["calls"]["notes"] = [empty]
    page = opened(record).page
    page.click(f".remarks a:text-is('{query}')")
    assert page.inner_text("#h-query") == query


def test_lists_of_any_two_systems(opened: Any) -> None:
    record = comparison_record()
    one = opened(record)
    one.page.click(".change")
    look = "(mark) => getComputedStyle(mark).backgroundImage"
    assert "gradient" in one.page.locator("#query-lists .grade.none").first.evaluate(look)
    assert one.page.locator("#query-lists .grade:not(.none)").first.evaluate(look) == "none"
    one.page.select_option("#query-left", label="hybrid")
    assert one.page.locator(".list h3").first.inner_text().startswith("hybrid")
    assert set(one.page.locator(".list").last.locator(".move").all_inner_texts()) != {""}


def test_a_click_leads_from_a_point_to_its_documents(opened: Any) -> None:
    one = opened(comparison_record())
    page, record = one.page, comparison_record()
    a, b = ([round(value, 3) for value in system["per_query"]["nDCG@10"]] for system in record["systems"])
    points = list(zip(a, b, strict=True))
    query = next(query for query, point in zip(record["queries"], points, strict=True) if points.count(point) == 1)
    page.locator(f"figure[data-chart=scatter] .mark-symbol path[aria-label*='{query};']").first.click(force=True)
    assert page.inner_text("#h-query") == query
    assert page.locator("#query-lists ol li").count() == sum(map(len, record["lists"][query].values()))
    page.click("#query-close")
    query = record["comparison"]["changes"][0]["gained"][0]["query"]
    page.locator(f"figure[data-chart=differences] .mark-rect path[aria-label*='{query};']").click(force=True)
    assert page.inner_text("#h-query") == query
    page.click("#query-close")
    several = page.locator("figure[data-chart=scatter] .mark-symbol path[aria-label*='…']").first
    several.click(force=True)  # a point of several queries leads to their list
    page.wait_for_selector("#reset:not([hidden])")
    assert 1 < page.locator("#table tbody tr").count() < 25
    page.click("#reset")
    assert page.inner_text("#count") == "30 of 30 queries"


def test_a_row_leads_to_its_queries(opened: Any) -> None:
    """Of a leaderboard: the pair with the best system, what was lost most first; then one of them is opened."""
    one = opened(large_record(systems=10, queries=300, measures=2))
    page = one.page
    row = page.locator(".leaderboard tbody tr").nth(4)
    system = row.locator("th").inner_text()
    row.locator(".plot").click()
    chosen = page.locator("#pair option:checked").inner_text()
    assert system in chosen
    assert "retriever-10" in chosen
    values = [float(text.replace("−", "-")) for text in one.column(3)]
    assert values in (sorted(values), sorted(values, reverse=True))
    assert values[0] != 0
    assert page.evaluate("document.activeElement.closest('#table') !== null")
    page.keyboard.press("Enter")
    assert page.inner_text("#h-query") == one.column(1)[0]
    assert "no result lists" in page.inner_text("#query-lists")
    page.keyboard.press("Escape")
    page.select_option("#side", "up")
    page.wait_for_function("!document.querySelector('#count').textContent.startsWith('300')")
    assert all(text.startswith("+") for text in one.column(3))


def test_dark_and_light(opened: Any) -> None:
    one = opened(evaluation_record(), color_scheme="dark")
    page = one.page
    color = "getComputedStyle(document.body).backgroundColor"
    assert page.evaluate(color) == "rgb(14, 18, 24)"
    assert page.get_attribute("figure[data-chart=means]", "data-drawn") == "dark"
    assert page.get_attribute("#theme", "aria-pressed") == "true"
    page.click("#theme")
    page.wait_for_selector("figure[data-chart=means][data-drawn=light]")
    assert page.evaluate(color) == "rgb(245, 246, 248)"
    assert page.get_attribute("#theme", "aria-pressed") == "false"
    page.reload()
    one.drawn()
    assert page.evaluate(color) == "rgb(245, 246, 248)"


def test_chinese_on_a_telephone(opened: Any) -> None:
    one = opened(comparison_record(), "zh", width=400)
    assert one.page.get_attribute("html", "lang") == "zh-CN"
    assert all(one.figures().values())
    assert one.page.evaluate("document.documentElement.scrollWidth") == 400
    assert "上升" in one.page.inner_html("figure[data-chart=scatter]")
    assert one.page.inner_text("#count") == "30 个查询中的 30 个"


def test_live_figures(opened: Any) -> None:
    one = opened(live_record())
    assert {"calls", "sweep", "setting"} <= set(one.figures())
    assert all(one.figures().values())
    assert one.page.evaluate("window.shift ?? 0") < 0.02
    shown = one.page.locator("figure[data-chart=calls]:not([hidden])")
    assert shown.count() == 1
    one.page.evaluate("delete document.documentElement.dataset.charts")
    one.page.select_option("#calls select", label="RR")
    one.drawn()
    assert shown.count() == 1
    assert ">RR</text>" in shown.inner_html()
    best = one.page.locator("figure[data-chart=sweep]").first.locator(".mark-symbol path[aria-label*=V5]")
    best.first.hover()
    one.page.wait_for_selector("#vg-tooltip-element.visible")
    assert "ef_search=64, index=hnsw" in one.page.inner_text("#vg-tooltip-element")


def test_live_figures_in_chinese_in_the_dark_on_a_telephone(opened: Any) -> None:
    one = opened(live_record(), "zh", width=400, color_scheme="dark")
    assert all(one.figures().values())
    assert one.page.evaluate("document.documentElement.scrollWidth") == 400
    assert "最佳版本" in one.page.locator("figure[data-chart=sweep]").first.inner_html()


def test_texts_are_only_texts(opened: Any) -> None:
    text = "</script><script>alert(1)</script><img src=x onerror=alert(2)>\"'\\{a}__proto__" + "".join(HOSTILE.values())
    one = opened(hostile_record(text))
    assert all(one.figures().values())
    assert one.page.locator("img").count() == 0
    assert one.page.evaluate("window.hacked") is None
    shown = one.page.locator(".change b").first.evaluate("(b) => b.textContent")
    assert "<img src=x onerror=alert(2)>\"'\\{a}__proto__\\x1b[31;1mred" in shown
    one.page.click("#table tbody tr:first-child")
    assert "<img src=x onerror=alert(2)>" in one.page.inner_text("#query-lists .title >> nth=0")
    everything = one.page.evaluate("document.body.textContent + document.title")
    assert not set("\x00\x1b\x9b\u202e\u200b\ud800\ufffd") & set(re.sub(r"\ufffd(?=\W)", "", everything))


def test_one_system_and_none_by_query(opened: Any) -> None:
    one = opened(evaluation_record("bm25"))
    assert one.figures() == {"means": True, "distribution": True}
    assert one.page.locator("#table tbody tr").count() == 25
    record = evaluation_record()
    record["queries"] = []
    for system in record["systems"]:
        system |= {"per_query": {}, "counted": {}}
    assert opened(record).figures() == {"means": True}


def test_many_queries_open_fast(opened: Any) -> None:
    one = opened(large_record(systems=10, queries=7000, measures=2))
    assert one.page.evaluate("performance.getEntriesByType('navigation')[0].domContentLoadedEventEnd") < 8000
    assert one.figures()["scatter"] is True
    assert one.page.locator("figure[data-chart=scatter] canvas").count() == 1
    assert one.page.locator("figure[data-chart=comparison]:not([hidden])").count() == 1
    assert re.fullmatch("Page 1 of 280", one.page.inner_text("#page"))
    one.page.fill("#search", "1048622")
    one.page.wait_for_function("document.querySelectorAll('#table tbody tr').length === 1")


def test_where_documents_were_lost(opened: Any) -> None:
    """The bar is drawn, its parts tell themselves, and a query of the examples opens its list."""
    stages = {"candidates": EXAMPLE / "bm25.run", "reranked": EXAMPLE / "hybrid.run"}
    record = losses(EXAMPLE / "testset.json", stages, 3).record.to_dict()
    one = opened(record, width=1000)
    assert one.figures() == {"losses": True, "distribution": True}
    assert one.page.locator("figure[data-chart=losses] .mark-rect path").count() == 4
    assert one.page.locator(".share-bar").count() == 4
    one.page.locator("figure[data-chart=losses] .mark-rect path").first.hover(position={"x": 10, "y": 10})
    one.page.wait_for_selector("#vg-tooltip-element.visible")
    assert "35.6%" in one.page.inner_text("#vg-tooltip-element")
    one.page.get_by_role("link", name="q03").first.click()
    assert "shutil.rmtree" in one.page.inner_text("#query")
    narrow = opened(record, "zh", width=390)
    assert narrow.page.evaluate("document.documentElement.scrollWidth") == 390
    assert all(narrow.figures().values())
