"""The page: complete, escaped, small enough, and of one file."""

from __future__ import annotations

import json
import re
import sys
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from rankgauge import compare, evaluate
from rankgauge.comparison.verdicts import summary_notes
from rankgauge.errors import MissingExtraError
from rankgauge.formats.json_values import dumps
from rankgauge.record import Mean
from rankgauge.reports import report
from rankgauge.reports.chart_specs import shown
from rankgauge.reports.page_data import data_of, script_json
from rankgauge.reports.renderers import html
from rankgauge.visible import visible
from rankgauge.words import LANGUAGES, Language, Note, say, tell
from tests.cli.command import run_command
from tests.reports.samples import (
    MEASURES,
    comparison_record,
    evaluation_record,
    hostile_record,
    large_record,
    live_record,
    made,
    said,
)

VOID = {"meta", "link", "input", "br", "wbr", "path"}
SCRIPTS = 4  # the theme, the data, the runtime, the page's own
HOSTILE = "</script><script>alert(1)</script>\"'<!--<img src=x onerror=alert(2)>\u2028\u2029{{ 7*7 }}{a}&amp;"


def render_html(record: dict[str, Any], language: Language = "en") -> str:
    return report(made(record), format="html", language=language)


class Page(HTMLParser):
    """Elements in order, the text of each script, and whether every element is closed."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.scripts: list[str] = []
        self.text = ""
        self.feed(text)
        self.close()
        assert not self.open, f"not closed: {self.open}"

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag == "script":
            self.scripts.append("")
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag not in VOID:
            assert self.open, f"</{tag}> closes nothing"
            assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] == "script":
            self.scripts[-1] += data
        elif not self.open or self.open[-1] != "style":
            self.text += data

    @property
    def data(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.scripts[1])
        return found

    @property
    def ids(self) -> list[str]:
        return [str(attributes["id"]) for _, attributes in self.elements if "id" in attributes]


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("make", [comparison_record, evaluation_record, lambda: evaluation_record("bm25"), live_record])
def test_structure(make: Any, language: Language) -> None:
    page = Page(render_html(make(), language))
    assert len(page.ids) == len(set(page.ids))
    tags = [tag for tag, _ in page.elements]
    assert [tags.count(tag) for tag in ("h1", "main", "header", "footer", "nav")] == [1] * 5
    assert dict(page.elements)["html"]["lang"] == ("en" if language == "en" else "zh-CN")
    for tag, attributes in page.elements:
        link = attributes.get("href") or ""
        if tag == "a":
            assert link.startswith("#"), link
            assert link[1:] in page.ids, link
        for name in ("aria-labelledby", "for"):
            if attributes.get(name):
                assert attributes[name] in page.ids
    assert len(page.scripts) == SCRIPTS
    assert "{" not in page.text, "a word was not filled in"


def test_verdicts_come_first() -> None:
    record = comparison_record()
    page = render_html(record)
    text = Page(page).text
    summary = tell(summary_notes(made(record))[0], "en", digits=4)
    body = text[text.index(summary) :]
    places = [body.index(part) for part in ("0.4795", "Means", "11/10/9", "How it was counted")]
    assert places == sorted(places)
    first = page[page.index('<section id="answer"') :]
    first = first[: first.index("</section>")]
    assert re.search(r'class="mark open" aria-hidden="true">\?<', first)
    assert first.count('class="bar-of"') == len(MEASURES)
    assert text.count(summary) == 1
    for word in ("+0.0556", "[−0.0357, +0.1469]", "11/10/9", "0.0213", "ties are broken by document id"):
        assert word in text
    assert "preset" in text
    assert "testset.json" in text


def test_chinese() -> None:
    record = comparison_record()
    text = Page(render_html(record, "zh")).text
    sentence = summary_notes(made(record))[0]
    advice = tell(sentence, "zh", digits=4)
    for word in (say("comparison.verdict_inconclusive", "zh"), say("html.section_changes", "zh"), advice):
        assert word in text
    assert tell(sentence, "en", digits=4) not in text


def test_one_precision_and_one_minus() -> None:
    """In sentences as in tables: scores have as many digits as were asked for, and no hyphen stands for a minus."""
    record = comparison_record()
    for digits in (3, 4):
        text = Page(report(made(record), format="html", digits=digits)).text
        body = text[text.index("Inconclusive") : text.rindex("How it was counted")]
        assert not re.search(r"(?<![\w-])-\d", body)
        differences = re.findall(r"(?<![\d.])[+−]0\.(\d+)(?!\d)(?! %)", body)
        assert len(differences) > 20
        effects = len(MEASURES)  # in two digits whatever is asked for, as are shares and times
        ends = 2  # of the scale that intervals are drawn to
        assert sum(len(found) != digits for found in differences) <= effects + ends
        assert f"about {0.07:.{digits}f} (nDCG@10)" in body


def test_every_query_has_its_lists() -> None:
    """By number, each id and text once; the last query's lists are not in the record, and that is seen."""
    record = comparison_record()
    data = Page(render_html(record)).data
    assert [lists is None for lists in data["lists"]] == [False] * 29 + [True]
    for i, query in enumerate(record["queries"][:-1]):
        for j, system in enumerate(("bm25", "hybrid")):
            listed = [(data["docs"][doc], grade) for doc, grade in data["lists"][i][j]]
            assert listed == [(entry["doc"], entry["grade"]) for entry in record["lists"][query][system]]
        count, named = data["relevant"][i]
        assert {data["docs"][doc]: grade for doc, grade in named} == record["relevant"][query]["grades"]
        assert count == len(named)
    first = data["docs"][0]
    assert data["beginnings"][0] == f"The title of {first}\nWhat {first} is about."


def test_rows_lead_to_their_queries() -> None:
    page = Page(render_html(comparison_record()))
    leads = [json.loads(a["data-leads"] or "") for tag, a in page.elements if "data-leads" in a]
    assert [MEASURES[0], "", ["bm25", "hybrid"], ""] in leads
    queries = [lead[3] for lead in leads if lead[3]]
    assert len(queries) == 4
    assert set(queries) <= set(page.data["queries"])
    alone = Page(render_html(evaluation_record("bm25")))
    leads = [json.loads(a["data-leads"] or "") for tag, a in alone.elements if "data-leads" in a]
    assert leads == [[measure, "bm25", None, ""] for measure in MEASURES]


def test_a_single_system_is_told_once() -> None:
    text = Page(render_html(evaluation_record("bm25"))).text
    assert text.count("0.4795") == 1
    assert text.count("on average 48.0 %") == 1


def test_the_audit_is_folded_and_last() -> None:
    made = render_html(live_record())
    folded = made[made.index('<details id="provenance">') :]
    for word in ("contract", "SHA-256", "environment"):
        assert word in folded
        assert word not in made[made.index("<main") : made.index('<details id="provenance">')]
    assert "<section" not in folded


def test_group_letters_have_a_column_of_their_own() -> None:
    page = render_html(large_record(systems=6, queries=60, measures=3))
    first = page[page.index('<table class="leaderboard') :]
    heads = re.findall(r"<th scope=\"col\"[^>]*>([^<]*)", first[: first.index("</thead>")])
    assert heads[:6] == ["system", "nDCG@10", "vs retriever-06", "95 % CI", "verdict", "group"]
    assert first[: first.index("</table>")].count('data-head="group">') == 6


@pytest.mark.parametrize("language", LANGUAGES)
def test_everything_from_outside_is_escaped(language: Language) -> None:
    record = hostile_record(HOSTILE)
    made = render_html(record, language)
    page = Page(made)
    assert len(page.scripts) == SCRIPTS
    assert [tag for tag, _ in page.elements if tag == "img"] == []
    assert not [name for _, attributes in page.elements for name in attributes if name.startswith("on")]
    assert "{{ 7*7 }}" in page.text  # no template inside a template
    assert page.data["queries"] == shown(record["queries"])
    assert page.data["systems"] == shown([system["name"] for system in record["systems"]])
    docs = {entry["doc"] for lists in record["lists"].values() for own in lists.values() for entry in own}
    docs |= {doc for entry in record["relevant"].values() for doc in entry["grades"]}
    assert sorted(page.data["docs"]) == sorted(shown(list(docs)))
    assert any(visible(HOSTILE) in text for text in page.data["beginnings"])
    assert not {"<", ">", "&", "\u2028", "\u2029"} & set(page.scripts[1])
    assert visible(HOSTILE) in page.text
    assert "alert(1)" not in page.scripts[2] + page.scripts[3]


def test_half_a_surrogate_pair() -> None:
    record = hostile_record("\ud800x")
    assert Page(render_html(record)).data["queries"] == shown(record["queries"])
    assert render_html(record).encode()
    assert script_json(["\udfff<"]) == '["\\udfff\\u003c"]'


def test_nothing_is_fetched() -> None:
    made = render_html(comparison_record())
    page = Page(made)
    for tag, attributes in page.elements:
        assert "src" not in attributes
        assert tag not in ("iframe", "object", "embed", "base")
    assert [attributes["href"] for tag, attributes in page.elements if tag == "link"] == ["data:,"]
    rest = made.replace(page.scripts[2], "")
    assert not re.search(r"https?:|@import|url\(|import\(|fetch\(|XMLHttp", rest)
    # The runtime names these; it would load only data that a chart asks for, and the page's policy forbids that too.
    known = r"http://www\.w3\.org/|https://vega\.github\.io/|https://github\.com/vega/"
    assert not re.search(rf"https?://(?!{known[7:]})", re.sub(known, "", page.scripts[2]))
    policy = next(a["content"] or "" for tag, a in page.elements if a.get("http-equiv") == "Content-Security-Policy")
    assert "default-src 'none'" in policy
    assert "connect-src" not in policy


def test_size_of_many_queries() -> None:
    made = render_html(large_record(systems=10, queries=7000, measures=5)).encode()
    assert len(made) < 10_000_000
    data = Page(made.decode()).data
    assert len(data["queries"]) == 7000
    assert len(data["scores"]) == 10
    assert len(data["scores"][9][4]) == 7000


def test_scores_are_kept_to_six_digits() -> None:
    record = comparison_record()
    record["systems"][1]["counted"] = {"nDCG@10": [False] + [True] * 29}
    data = data_of(made(record), {}, "en")
    kept = data["scores"][0][0]
    assert kept == pytest.approx(record["systems"][0]["per_query"]["nDCG@10"], abs=5e-7)
    assert data["scores"][1][0][0] is None
    assert script_json(kept).startswith("[0,0.234639,")


def test_parts_may_be_missing() -> None:
    record = comparison_record()
    for key in ("texts", "tags", "lists", "relevant", "documents"):
        del record[key]
    part = record["comparison"]
    for key in ("groups", "changes", "slices", "agreement", "unjudged", "tied", "notes"):
        del part[key]
    for row in part["rows"]:
        row |= dict.fromkeys(
            ("interval", "relative_change", "p_value", "p_corrected", "effect", "p_equivalent", "detectable")
        )
    record["contract"] = None
    page = Page(render_html(record))
    assert not {"groups", "slices", "ranges", "agreement", "rerank"} & set(page.ids)
    assert {"answer", "comparison", "changes", "all"} <= set(page.ids)


def test_unbounded_and_unjudged() -> None:
    record = comparison_record()
    record["comparison"]["rows"][0]["interval"] |= {"low": None, "high": None}
    record["comparison"]["unjudged"] = {"reasons": {"RR": said("no range: why")}, "rows": []}
    text = Page(render_html(record)).text
    assert "[−∞, ∞]" in text
    assert "no range: why" in text


def test_notes_rerank_and_lower_is_better() -> None:
    record = comparison_record()
    record["measures"][0]["lower_is_better"] = True
    row = {"measure": "RR", "before": 0.1, "after": 0.2, "ceiling": 0.4, "perfect": 1.0}
    rerank = {"before": "bm25", "after": "hybrid", "rows": [row], "recall": 0.5}
    record["comparison"] |= {
        "notes": [said("said of the comparison", "warning")],
        "rerank": rerank | {"not_candidates": 0, "not_candidate_queries": 0},
    }
    page = Page(render_html(record))
    held = tell(Note("comparison.rerank_recall", {"share": 0.5}), "en")
    for word in ("lower is better", "said of the comparison", held, "0.4000", "33 %"):
        assert word in page.text
    assert "ties are broken" not in page.text
    assert [measure["sign"] for measure in page.data["measures"]] == [-1, 1, 1]


@pytest.mark.parametrize("language", LANGUAGES)
def test_live_figures(language: Language) -> None:
    record = live_record()
    page = Page(render_html(record, language))
    assert {"calls", "sweep"} <= set(page.ids)
    for word in ("2.10", "68.4", "RuntimeError: no such index", "ef_search", "[0.4500, 0.6500]", "3 × V5"):
        assert word in page.text, word
    assert page.text.count("1 of 30 queries failed") == 1
    figures = [(a["data-chart"], a.get("data-index")) for tag, a in page.elements if tag == "figure"]
    assert [figure for figure in figures if figure[0] in ("calls", "sweep", "setting")] == [
        *(("calls", str(i)) for i in range(3)),
        ("sweep", "0"),
        ("setting", "0"),
    ]
    assert [chart["measure"] for chart in page.data["charts"]["calls"]] == ["nDCG@10", "R@10", "RR"]
    assert [len(page.data["charts"][kind]) for kind in ("sweep", "setting")] == [1, 1]


def test_two_sweeps_and_an_evaluation() -> None:
    record = live_record()
    record["sweeps"] = [*record["sweeps"], {**record["sweeps"][0], "system": "dense"}]
    del record["comparison"]
    page = Page(render_html(record | {"kind": "evaluation", "systems": record["systems"][:1], "invalid": {}}))
    sweeps = [(a["data-chart"], a["data-index"]) for tag, a in page.elements if tag == "figure" and "data-index" in a]
    assert [drawn for drawn in sweeps if drawn[0] != "means"] == [
        (kind, number) for number in "01" for kind in ("sweep", "setting")
    ]
    assert "dense: 6 versions by nDCG@10" in page.text
    assert "calls" not in page.data["charts"]  # one system has nothing to be compared with


def test_records_of_files_have_no_live_part() -> None:
    for record in (comparison_record(), evaluation_record()):
        page = Page(render_html(record))
        assert not {"calls", "sweep"} & set(page.ids)
        assert not {"calls", "sweep"} & set(page.data["charts"])


def test_without_scores_of_queries() -> None:
    record = evaluation_record()
    record["queries"] = []
    for system in record["systems"]:
        system |= {"per_query": {}, "counted": {}}
    page = Page(render_html(record))
    assert "no scores of single queries" in page.text
    assert "30 queries" in page.text
    assert not {"queries", "distribution", "all", "measure"} & set(page.ids)


def test_without_jinja(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "jinja2", None)
    html._environment.cache_clear()
    with pytest.raises(MissingExtraError, match=r"it is in the extra rankgauge\[report\]"):
        render_html(evaluation_record())
    html._environment.cache_clear()


def test_command(tmp_path: Path) -> None:
    source, page = tmp_path / "record.json", tmp_path / "report.html"
    source.write_bytes(dumps(comparison_record()))
    assert run_command("report", source, "-o", page).stdout == ""
    assert page.read_text(encoding="utf-8").startswith("<!doctype html>")
    assert "inconclusive" in run_command("report", source).stdout
    verdict = say("comparison.verdict_inconclusive", "zh")
    assert verdict in run_command("report", source, "--lang", "zh", "-f", "markdown").stdout
    source.write_bytes(dumps(evaluation_record()))
    assert run_command("report", source).stdout.startswith("30 queries, best first by nDCG@10\n\nsystem")
    run_command("report", source, "-o", tmp_path / "table.tex")
    assert "\\toprule" in (tmp_path / "table.tex").read_text(encoding="utf-8")
    done = run_command("report", source, "--charts", tmp_path / "charts", "-m", "RR")
    assert "8 files" in done.stderr
    assert (tmp_path / "charts" / "scatter-bm25-hybrid-RR.png").exists()


def test_command_refuses(tmp_path: Path) -> None:
    source = tmp_path / "record.json"
    source.write_text('{"format": "other"}')
    assert "this is no rankgauge record" in run_command("report", source, status=2).stderr
    source.write_bytes(dumps(evaluation_record()))
    assert "is an input too" in run_command("report", source, "-o", source, "-f", "html", status=2).stderr
    assert "--open needs an HTML file" in run_command("report", source, "--open", status=2).stderr
    assert "no 'AP'" in run_command("report", source, "--charts", tmp_path / "c", "-m", "AP", status=2).stderr


def test_command_opens_the_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[str] = []
    monkeypatch.setattr("click.launch", lambda url: opened.append(url))
    source, page = tmp_path / "record.json", tmp_path / "report.html"
    source.write_bytes(dumps(evaluation_record("bm25")))
    run_command("report", source, "-o", page, "--open")
    assert opened == [str(page)]


def test_formulas_are_told_in_the_language() -> None:
    record = evaluate({"q": {"d": 1}}, {"q": {"d": 1.0}}, ["RR"]).record
    assert "首篇相关文档的名次" in report(record, format="html", language="zh")
    assert "rank of the first relevant document" in report(record, format="html", language="en")
    own = replace(record, measures=[replace(record.measures[0], name="ours", formula="clicks / views")])
    own = replace(own, systems=[replace(own.systems[0], means={"ours": Mean(1.0, None, 1)}, per_query={"ours": [1.0]})])
    assert "clicks / views" in report(own, format="html", language="zh")


def test_long_names_break_at_their_joints() -> None:
    name = "splade_plus_ensemble"
    record = compare(
        {"q1": {"a": 1}, "q2": {"b": 1}},
        {name: {"q1": ["a"], "q2": ["b"]}, "bm25": {"q1": ["b"], "q2": ["a"]}},
        ["RR"],
        samples=100,
    ).record
    text = report(record, format="html")
    assert "splade_<wbr>plus_<wbr>ensemble" in text
    assert name in Page(text).text  # what is read or copied has no break in it
    lead = text.partition('class="lead')[2].partition("</p>")[0]
    assert re.search(r'<span class="name">splade_<wbr>plus_<wbr>ensemble\W*</span>', lead)


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("Keep a_b, not c/d.", ["a_b,", "c/d."]),
        ("与 D_BERT_KD_TASB、OPEN_AI_ADA2 无显著差异（a_b）", ["D_BERT_KD_TASB、", "OPEN_AI_ADA2", "（a_b）"]),
        ("a & b <i>x_y</i> _ a_ /", ["x_y"]),
    ],
)
def test_names_in_prose_stay_whole_with_their_marks(text: str, names: list[str]) -> None:
    found = html._prose(text)
    assert [one.replace("<wbr>", "") for one in re.findall(r'<span class="name">(.*?)</span>', found)] == names
    assert found.striptags() == text if "<" not in text else "<i>" not in found
