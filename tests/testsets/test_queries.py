"""Queries made of documents, without a language model."""

from __future__ import annotations

import json
import random
import re
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankgauge import GeneratedQueries, Query, RankgaugeError, TestSet, generate_queries, load_corpus, load_testset
from rankgauge.demo import chinese_corpus
from rankgauge.retrievers.text import is_stop_word, plain_words
from rankgauge.testsets.copies import near_copies
from rankgauge.testsets.outlines import outline
from rankgauge.testsets.phrasing import is_question, question_of
from rankgauge.testsets.realism import realism_of, share_taken
from rankgauge.testsets.source_terms import SourceTerms, content_words, folded, telling_words
from rankgauge.testsets.strata import strata_of
from rankgauge.words import LANGUAGES, tell
from tests.cli.command import run_command
from tests.oracles.cases import fast
from tests.parts import ROOT

HOW_TO = ROOT / "docs" / "how-to"
WORDS = ("alder", "birch", "cedar", "dogwood", "elm", "fir", "ginkgo", "hazel", "ivy", "juniper", "larch", "maple")


def made_up(count: int, seed: int = 0, folders: int = 1) -> dict[str, str]:
    """Documents of made-up words: some of their own, some of a few others, some of all."""
    chance = random.Random(seed)
    corpus = {}
    for i in range(count):
        own = [f"{chance.choice(WORDS)}{''.join(chance.choices('abcdefgh', k=4))}" for _ in range(6)]
        shared = [f"shared{''.join(chance.choices('wxyz', k=2))}" for _ in range(4)]
        body = chance.choices([*own * 3, *shared * 3, *WORDS], k=80)
        name = f"f{i % folders}/d{i}" if folders > 1 else f"d{i}"
        corpus[name] = f"# Using {own[0]} with {shared[0]}\n\n{' '.join(body)}."
    return corpus


@pytest.fixture(scope="module")
def corpus() -> dict[str, str]:
    return dict(load_corpus(HOW_TO))


@pytest.fixture(scope="module")
def found(corpus: dict[str, str]) -> GeneratedQueries:
    kinds = {"keyword": 0.5, "question": 0.3, "multi-hop": 0.1, "unanswerable": 0.1}
    return generate_queries(corpus, 60, kinds=kinds)


def held(corpus: dict[str, str], words: list[str]) -> set[str]:
    """The documents that hold all of the words, looked for one by one."""
    return {doc for doc, text in corpus.items() if set(words) <= set(map(folded, plain_words(text)))}


# --- what is made -----------------------------------------------------------------------------------------------------


def test_known_items_are_found_by_their_words_alone(corpus: dict[str, str]) -> None:
    """Without noise, all words of a query stand together in its document and in no other."""
    made = generate_queries(corpus, 50, kinds={"keyword": 1}, noise=0.0)
    assert len(made.test_set) == 50
    for query in made.test_set:
        assert held(corpus, [folded(word) for word in query.text.split()]) == set(query.relevant), query
    assert made.realism.taken == pytest.approx(1.0)


def test_noise_is_words_of_others(corpus: dict[str, str]) -> None:
    noisy = generate_queries(corpus, 50, kinds={"keyword": 1}, noise=0.5)
    strange = 0
    for query in noisy.test_set:
        (doc,) = query.relevant
        own = set(map(folded, plain_words(corpus[doc])))
        true = [folded(word) for word in query.text.split() if folded(word) in own]
        strange += len(query.text.split()) - len(true)
        assert held(corpus, true) == {doc}, query
    assert strange > 10
    assert noisy.realism.taken is not None
    assert noisy.realism.taken < 0.85


def test_every_query_is_marked_for_ever(found: GeneratedQueries, tmp_path: Path) -> None:
    found.test_set.save(tmp_path / "made.json")
    loaded = load_testset(tmp_path / "made.json")
    assert {query.synthetic for query in loaded} == {"known-item"}
    assert [query.text for query in loaded] == [query.text for query in found.test_set]
    assert {query.synthetic for query in loaded.split(0.5)[0]} == {"known-item"}


def test_kinds_are_tags_and_keep_their_rules(corpus: dict[str, str], found: GeneratedQueries) -> None:
    assert sum(found.wanted.values()) == 60
    assert found.made["unanswerable"] == found.wanted["unanswerable"] == 6
    by_kind = found.test_set.tags
    for query in found.test_set:
        assert len(query.tags) == 1
        if query.tags == ("unanswerable",):
            assert query.no_answer
            assert not query.grades
            keys = content_words(query.text)
            most = max(len(set(keys) & set(map(folded, plain_words(text)))) for text in corpus.values())
            assert 2 * most <= len(keys)
        else:
            assert query.relevant
        if query.tags == ("question",):
            assert is_question(query.text)
    assert {query.id for query in found.test_set if len(query.groups) == 2} == set(by_kind.get("multi-hop", []))


def test_questions_and_comparisons() -> None:
    corpus = {
        "a": "# Zeppelin engine\n\nThe Zeppelin engine is a motor of the flying Hindenburg kind.\n\n"
        "## Resetting the valve\n\nTurn the valve.",
        "b": "# Quartz clock\n\nA quartz clock is a clock with a crystal.\n\n## How do I wind it?\n\nNot at all.",
        "c": "# Steam engine\n\nA motor of the older Hindenburg kind. It is a motor that boils water.",
    }
    made = generate_queries(corpus, 12, kinds={"question": 1, "multi-hop": 1})
    texts = {query.text: query for query in made.test_set}
    questions = {text for text in texts if "multi-hop" not in texts[text].tags}
    assert any(re.fullmatch("(how do I|how to|how can I) reset the valve", text) for text in questions)
    assert any("quartz clock" in text for text in questions)
    assert not any("wind it" in text for text in questions), "it points to something said before"
    (both,) = [query for query in made.test_set if query.groups]
    assert both.groups == {"a": ("a",), "c": ("c",)}
    assert set(both.relevant) == {"a", "c"}


@pytest.mark.parametrize(
    ("heading", "prose", "asked"),
    [
        ("Install the package", "", "install the package"),
        ("Configuring an index", "", "configure an index"),
        ("Running tests", "", "run tests"),
        ("Reset Your Password", "", "reset my Password"),
        ("1. Reset it", "", None),  # the number is gone before
        ("How can I cancel an order?", "", "cancel an order"),
        ("BM25", "BM25 is a ranking function.", "BM25"),
        ("BM25", "We use BM25.", None),
        ("Overview", "", None),
        ("Things that are nice, and why", "", None),
        ("安装软件包", "", "安装软件包"),
        ("如何重置密码？", "", "重置密码"),
        ("倒排索引", "倒排索引是一种数据结构。", "倒排索引"),
        ("查询太少", "", None),
        ("其他", "", None),
        ("退款说明", "", None),  # no verb and its object: a kind of text
        ("申请办理流程", "", None),
    ],
)
def test_headings_that_can_be_asked_for(heading: str, prose: str, asked: str | None) -> None:
    made = question_of(heading, prose, random.Random(0))
    if asked is None:
        assert made is None
    else:
        assert made is not None
        assert asked in made
        assert is_question(made), made


def test_no_sentence_is_copied(corpus: dict[str, str], found: GeneratedQueries) -> None:
    streams = {doc: " ".join(plain_words(text)) for doc, text in corpus.items()}
    for query in found.test_set:
        words = plain_words(query.text)
        for i in range(len(words) - 5):
            assert not any(" ".join(words[i : i + 6]) in streams[doc] for doc in query.relevant), query


def test_no_query_is_nearly_another(found: GeneratedQueries) -> None:
    keys = [set(content_words(query.text)) for query in found.test_set]
    for i, one in enumerate(keys):
        for other in keys[:i]:
            assert len(one & other) < 0.8 * len(one | other)


def test_keywords_of_a_document_are_no_pick_of_other_keywords_of_it() -> None:
    """Of few short documents many picks of the same words could be made, in any order."""
    made = generate_queries(made_up(4), 60, kinds={"keyword": 1}, noise=0.0)
    by_source: dict[tuple[str, ...], list[set[str]]] = {}
    for query in made.test_set:
        by_source.setdefault(tuple(query.relevant), []).append(set(content_words(query.text)))
    assert max(map(len, by_source.values())) > 1
    for own in by_source.values():
        assert not any(a <= b for i, a in enumerate(own) for j, b in enumerate(own) if i != j)
    assert made.dropped["duplicate"]


def test_near_copies_are_relevant_together(corpus: dict[str, str]) -> None:
    doubled = {**corpus, "copy": f"{corpus['fuse']}\nOne more line."}
    made = generate_queries(doubled, 100, kinds={"keyword": 1})
    about = [query for query in made.test_set if "fuse" in query.grades]
    assert about
    assert all({"fuse", "copy"} == set(query.relevant) for query in about)
    assert made.copied == 2
    assert any(note.key == "generated.copies" for note in made.notes)


def test_the_same_seed_gives_the_same_queries_everywhere(corpus: dict[str, str]) -> None:
    first = generate_queries(corpus, 30, seed=7)
    again = generate_queries(dict(corpus), 30, seed=7)
    other = generate_queries(corpus, 30, seed=8)
    assert first.test_set == again.test_set
    assert first.test_set != other.test_set


def test_forbidden_words_do_not_stand(corpus: dict[str, str]) -> None:
    made = generate_queries(corpus, 40, kinds={"keyword": 0.7, "question": 0.3}, forbid_words=5)
    terms = SourceTerms(corpus)
    for query in made.test_set:
        for doc in query.relevant:
            forbidden = {term.key for term in terms.terms(doc, terms.outline(doc))[:5]}
            assert len(forbidden) == 5
            assert not forbidden & set(content_words(query.text)), query
    assert len(made.test_set) > 20


def test_queries_of_people_give_the_lengths(corpus: dict[str, str]) -> None:
    short = generate_queries(corpus, 40, kinds={"keyword": 1}, real=["index size", "restore backup"], noise=0.0)
    long = generate_queries(
        corpus, 40, kinds={"keyword": 1}, real=["how can old records be moved to other databases quickly"], noise=0.0
    )
    assert short.real is not None
    assert (short.real.queries, short.real.words, short.real.taken) == (2, 2.0, None)
    assert short.realism.words < long.realism.words - 1


# --- how it is spread -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("count", [5, 20, 37, 100])
def test_documents_are_used_evenly(count: int) -> None:
    corpus = made_up(40, folders=4)
    made = generate_queries(corpus, count, kinds={"keyword": 1})
    assert (made.by, made.parts, len(made.test_set)) == ("folder", 4, count)
    used = Counter(doc for query in made.test_set for doc in query.relevant)
    folders = Counter(doc.split("/")[0] for doc in used.elements())
    assert max(used.values()) - min(used[doc] for doc in corpus) <= 1
    assert max(folders.values()) - min(folders.values()) <= 2


@fast(60)
@given(
    st.lists(st.integers(1, 30), min_size=1, max_size=6),
    st.integers(0, 5),
    st.integers(1, 200),
)
def test_each_beginning_of_the_order_has_of_each_part_its_share(sizes: list[int], seed: int, most: int) -> None:
    corpus = {f"f{i}/{j}": "x" for i, size in enumerate(sizes) for j in range(size)}
    strata = strata_of(corpus, "folder", seed)
    order = strata.order(seed)
    assert sorted(order) == sorted(corpus)
    first = Counter(doc.split("/")[0] for doc in order[:most])
    taken = min(most, len(order))
    for i, size in enumerate(sizes):
        assert abs(first[f"f{i}"] - taken * size / len(order)) <= len(sizes) + 1


def test_parts_of_a_collection(corpus: dict[str, str]) -> None:
    assert strata_of(corpus, None, 0).by == "length"
    assert sorted(map(len, strata_of(corpus, "length", 0).parts.values())) in (
        [len(corpus) // 4 + (i >= 4 - len(corpus) % 4) for i in range(4)],
    )
    clusters = strata_of(corpus, "cluster", 0)
    assert sum(map(len, clusters.parts.values())) == len(corpus)
    assert clusters.parts == strata_of(corpus, "cluster", 0).parts
    with pytest.raises(RankgaugeError, match="`by='size'` is none of folder"):
        generate_queries(corpus, 3, by="size")


# --- what it is measured by -------------------------------------------------------------------------------------------


def test_the_share_of_words_from_the_source() -> None:
    assert share_taken("how do I reset passwords quickly", ["Reset a password."]) == pytest.approx(2 / 3)
    assert share_taken("the of", ["text"]) is None
    queries = [
        Query("reset password", {"a": 1.0, "b": 1.0}, "1"),
        Query("alpha beta", {"a": 1.0, "b": 1.0}, "2", groups={"a": ("a",), "b": ("b",)}),
        Query("nothing", {}, "3"),
    ]
    measured = realism_of(queries, {"a": "Reset the password. Alpha.", "b": "Beta."})
    assert measured.taken == pytest.approx((0.5 + 1.0) / 2), "several documents by their mean, evidence together"
    assert (measured.queries, measured.words) == (3, pytest.approx(5 / 3))


@pytest.mark.parametrize(("folder", "share"), [("cranfield", 0.36), ("cisi", 0.19), ("noveleval", 0.66)])
def test_the_share_in_collections_with_queries_of_people(data: Path, folder: str, share: float) -> None:
    """The figures that the pages name."""
    if folder == "noveleval":
        lines = (data / folder / "corpus.tsv").read_text().splitlines()
        texts = dict(line.split("\t", 1) for line in lines)
    else:
        items = map(json.loads, (data / folder / "docs.jsonl").read_text().splitlines())
        texts = {str(item["id"]): f"{item.get('title', '')}\n{item['text']}" for item in items}
    judged: dict[str, dict[str, float]] = {}
    for line in (data / folder / "qrels.txt").read_text().splitlines():
        query, _, doc, grade = line.split()
        judged.setdefault(query, {})[doc] = float(grade)
    queries = (line.split("\t", 1) for line in (data / folder / "queries.tsv").read_text().splitlines())
    asked = [Query(text, judged[query], query) for query, text in queries if query in judged]
    assert realism_of(asked, texts).taken == pytest.approx(share, abs=0.005)


def test_near_copies_against_all_pairs() -> None:
    chance = random.Random(3)
    base = {f"d{i}": " ".join(chance.choices(WORDS, k=200)) for i in range(30)}
    altered = {}
    for i in range(12):
        words = base[f"d{i}"].split()
        for place in chance.sample(range(200), i):
            words[place] = "altered"
        altered[f"a{i}"] = " ".join(words)
    corpus = {**base, **altered, "twin": base["d29"], "empty": "", "blank": " \n"}

    def shingles(text: str) -> set[tuple[str, ...]]:
        words = text.split()
        return {tuple(words[i : i + 5]) for i in range(len(words) - 4)}

    found = near_copies(corpus)
    for i in range(12):
        one, other = shingles(base[f"d{i}"]), shingles(altered[f"a{i}"])
        alike = len(one & other) / len(one | other)
        if alike >= 0.8:
            assert found[f"d{i}"] == (f"a{i}",)
        else:
            assert f"d{i}" not in found
    assert found["twin"] == ("d29",)
    assert "empty" not in found
    many = near_copies({f"c{i}": "the same text in a hundred documents of a folder" for i in range(100)})
    assert all(len(others) == 99 for others in many.values())


def test_outlines() -> None:
    text = "---\ntitle: 'Front matter'\n---\n\nIntro\n=====\n\n```\n# no heading\n```\n"
    text += "\n## 2.1 Set *up* [a link](x.md) #\n"
    about = outline(f"{text}\nProse with `code` at https://example.org/a/b and <b>tags</b>.")
    assert about.title == "Front matter"
    assert about.headings == ("Intro", "Set up a link")
    assert "example.org" not in about.prose
    assert "no heading" not in about.prose
    assert outline("A short title\n\nand text.").title == "A short title"
    assert outline("This is a sentence, as it ends with a full stop.\nMore").title == ""
    assert outline("").title == ""


@fast(100)
@given(st.text(max_size=300))
def test_any_text_is_a_document(text: str) -> None:
    corpus = {"one": text, "two": "Some other text about nothing of the sort."}
    made = generate_queries(corpus, 2, kinds={"keyword": 0.5, "question": 0.5})
    assert all(query.relevant for query in made.test_set)


# --- bad input --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given_choices", "said"),
    [
        ({"n": 0}, "n"),
        ({"n": 2.5}, "n"),
        ({"kinds": {"riddle": 1}}, "'riddle' is none of keyword"),
        ({"kinds": {"keyword": -1}}, "must be a number from 0"),
        ({"kinds": {"keyword": float("nan")}}, "must be a number from 0"),
        ({"kinds": {"keyword": 0}}, "all shares are 0"),
        ({"kinds": {}}, None),
        ({"forbid_words": -1}, "forbid_words"),
        ({"noise": 2}, "noise"),
        ({"seed": "x"}, "seed"),
        ({"model": "gpt"}, "`model` must be a ChatModel"),
        ({"real": 5}, "`real` must be"),
        ({"real": [" "]}, "no query with a text"),
        ({"real": "no-such-file.txt"}, "there is no such file"),
        ({"kind": {}}, "did you mean kinds"),
    ],
)
def test_wrong_choices(given_choices: dict[str, Any], said: str | None) -> None:
    corpus = made_up(5)
    if said is None:
        assert generate_queries(corpus, **given_choices).test_set
        return
    with pytest.raises(RankgaugeError, match=re.escape(said)):
        generate_queries(corpus, **given_choices)


def test_corpora_that_give_little() -> None:
    for empty in ({}, {"a": "  "}):
        with pytest.raises(RankgaugeError, match="no document with a text"):
            generate_queries(empty, 3)
    with pytest.raises(RankgaugeError, match="must be texts by id"):
        generate_queries([("a", "b")], 3)  # type: ignore[arg-type]
    one = generate_queries({"a": "# Reset the valve\n\nTurn the valve of the boiler until it stops."}, 5)
    assert 0 < len(one.test_set) <= 5
    numbers = generate_queries({"a": "1 2 3 4 5", "b": "6 7 8 9"}, 3)
    assert len(numbers.test_set) == 0
    assert numbers.notes[0].key == "generated.fewer"
    same = generate_queries({str(i): "The same words about boilers and valves in all." for i in range(30)}, 3)
    assert all(len(query.relevant) == 30 for query in same.test_set)


def test_chinese() -> None:
    corpus = dict(chinese_corpus())
    made = generate_queries(corpus, 40, kinds={"keyword": 0.8, "unanswerable": 0.2})
    assert len(made.test_set) == 40
    asked = [query for query in made.test_set if not query.no_answer]
    assert sum(bool(re.search(r"[\u4e00-\u9fff]", query.text)) for query in asked) > 0.9 * len(asked)
    assert all(len(word) > 1 for query in asked for word in query.text.split())
    assert not any(is_stop_word(word) for query in asked for word in query.text.split())


def test_chinese_without_jieba(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pairs of characters are no words to make queries of; headings still are."""
    monkeypatch.setattr("rankgauge.testsets.source_terms.find_spec", lambda name: None)
    corpus = {"a": "# 重置密码\n\n在设置页面点击。", "b": "# 申请发票\n\n发票在这里。Boiler valve valve boiler."}
    made = generate_queries(corpus, 4, kinds={"keyword": 0.5, "question": 0.5})
    assert any(query.tags == ("question",) for query in made.test_set)
    assert not any(re.search(r"[\u4e00-\u9fff]", q.text) for q in made.test_set if q.tags == ("keyword",))
    assert "generated.no_jieba" in {note.key for note in made.notes}


def test_plain_words_without_jieba(monkeypatch: pytest.MonkeyPatch) -> None:
    from rankgauge.retrievers import text

    assert plain_words("Don't reset_it: 重置密码 os.path") == ["don't", "reset_it", "重置", "密码", "os.path"]
    text._load_jieba.cache_clear()
    monkeypatch.setitem(sys.modules, "jieba", None)
    try:
        assert plain_words("重置密码 a") == ["重置", "置密", "密码", "a"]
    finally:
        text._load_jieba.cache_clear()


def test_folding() -> None:
    pairs = {"queries": "query", "indexes": "index", "Class": "class", "status": "status", "user's": "user"}
    assert {word: folded(word) for word in pairs} == pairs
    assert telling_words("How do I use the new index") == ["index"]


def test_a_collection_of_thousands_is_quick() -> None:
    """Four thousand short documents: seconds, not minutes."""
    import time

    corpus = made_up(4000, folders=8)
    began = time.process_time()
    made = generate_queries(corpus, 100)
    assert time.process_time() - began < 20
    assert len(made.test_set) == 100


# --- the command ------------------------------------------------------------------------------------------------------


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    lines = (json.dumps({"_id": doc, "text": text}) for doc, text in made_up(30).items())
    (tmp_path / "corpus.jsonl").write_text("\n".join(lines))
    return tmp_path


def test_command(files: Path) -> None:
    done = run_command("testset", "generate", "corpus.jsonl", "-n", "12", "-o", "made.json", "--kinds", "keyword")
    assert "12 queries about" in done.stdout
    assert "wrote made.json" in done.stderr
    assert len(done.stdout.splitlines()) <= 20
    assert len(load_testset(files / "made.json")) == 12
    told = json.loads(run_command("testset", "generate", "corpus.jsonl", "-n", "12", "--json").stdout)
    assert told["format"] == "rankgauge.generated-queries"
    assert told["realism"]["queries"] == 12
    chinese = run_command("testset", "generate", "corpus.jsonl", "-n", "5", "--lang", "zh").stdout
    assert "由文档" not in done.stdout
    assert "关键词" in chinese
    assert max(map(len, done.stdout.splitlines())) <= 80


def test_command_refuses(files: Path) -> None:
    for arguments, said in (
        (("--kinds", "keyword=x"), "is no number"),
        (("--kinds", "riddle"), "'riddle' is none of"),
        (("--kinds", "keyword,keyword"), "names keyword twice"),
        (("--model", "m"), "--endpoint and --model go together"),
        (("--max-cost", "1"), "--max-cost goes with --endpoint and --model"),
        (("-o", "corpus.jsonl"), "is an input too"),
        (("--real", "gone.txt"), "there is no such file"),
    ):
        assert said in run_command("testset", "generate", "corpus.jsonl", *arguments, status=2).stderr
    before = (files / "corpus.jsonl").read_bytes()
    assert "nothing to ask about" in _empty(files)
    assert (files / "corpus.jsonl").read_bytes() == before


def _empty(files: Path) -> str:
    (files / "empty.jsonl").write_text('{"_id": "a", "text": " "}\n')
    return run_command("testset", "generate", "empty.jsonl", status=2).stderr


def test_files_of_real_queries(files: Path) -> None:
    (files / "lines.txt").write_text("reset password\nwhere is my order\n\n")
    (files / "queries.tsv").write_text("q1\treset password\nq2\twhere is my order\n")
    TestSet([Query("reset password", {"d1": 1.0}), Query("where is my order", {"d2": 1.0})]).save(files / "set.json")
    for name, taken in (("lines.txt", None), ("queries.tsv", None), ("set.json", 0.0)):
        done = run_command("testset", "generate", "corpus.jsonl", "-n", "3", "--real", name, "--json")
        told = json.loads(done.stdout)
        assert (told["real"]["queries"], told["real"]["words"]) == (2, 3.0), name
        assert told["real"]["taken"] == taken


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_remark_is_told(language: Any, found: GeneratedQueries) -> None:
    for note in found.notes:
        assert tell(note, language)
