"""Passages bound to places, and labels held against a corpus that has changed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankgauge import Chunk, Chunks, Query, RankgaugeError, Span, TestSet, anchor, label_drift, load_testset
from tests.cli.command import Done, run_command
from tests.oracles.cases import fast

CORPUS = {
    "manual": "Hold the button for ten seconds. The light turns “green”.\nThen let go. Hold the button again.",
    "faq": "Refunds take five\nworking days. Ask support for help.",
}


def quoted(*texts: str, doc: str = "") -> TestSet:
    return TestSet([Query(f"query {i}", {}, f"q{i}", spans=(Span(doc, text=text),)) for i, text in enumerate(texts)])


# --- anchor -----------------------------------------------------------------------------------------------------------


def test_passages_are_bound_exactly() -> None:
    given_set = quoted('the  light turns "green"'.replace("the", "The"), "Refunds take five working days.")
    before = [query.spans for query in given_set]
    found = anchor(given_set, CORPUS)
    assert (found.found, found.kept, found.complete) == (2, 0, True)
    for query in found.test_set:
        (span,) = query.spans
        assert CORPUS[span.doc][span.start : span.end] == span.text
        assert query.grades == {span.doc: 1.0}
    assert [query.spans for query in given_set] == before, "the test set itself stays"
    again = anchor(found.test_set, CORPUS)
    assert (again.found, again.kept) == (0, 2)
    assert again.test_set == found.test_set


def test_nothing_is_guessed() -> None:
    asked = quoted("Hold the button", "Refunds take fifteen working days", "zzz")
    found = anchor(asked, CORPUS)
    assert [(one.query, one.reason, one.total) for one in found.left] == [
        ("q0", "several", 2),
        ("q1", "nowhere", 0),
        ("q2", "nowhere", 0),
    ]
    assert [place.start for place in found.left[0].places] == [0, 71]
    near = found.left[1].nearest
    assert near is not None
    assert near.place.doc == "faq"
    assert near.similarity > 0.8
    assert found.left[2].nearest is None
    assert found.test_set == asked
    assert [note.key for note in found.notes if note.level == "warning"] == ["spans.left_several", "spans.left_nowhere"]


def test_several_places_are_a_choice() -> None:
    every = anchor(quoted("Hold the button"), CORPUS, several="all").test_set[0].spans
    first = anchor(quoted("Hold the button"), CORPUS, several="first").test_set[0].spans
    assert [span.start for span in every] == [0, 71]
    assert first == every[:1]
    with pytest.raises(RankgaugeError, match="not one of 'all', 'first'"):
        anchor(quoted("Hold the button"), CORPUS, several="any")


def test_the_document_named_counts() -> None:
    assert anchor(quoted("support", doc="faq"), CORPUS).complete
    (left,) = anchor(quoted("support", doc="manual"), CORPUS).left
    assert (left.reason, [place.doc for place in left.places]) == ("elsewhere", ["faq"])
    misplaced = TestSet([Query("q", {}, spans=(Span("faq", 0, 3, "Ask"),))])
    assert [one.reason for one in anchor(misplaced, CORPUS).left] == ["misplaced"]


def test_labels_of_chunks_become_passages() -> None:
    chunks = Chunks({"m#0": Chunk("manual", 0, 32), "f#0": Chunk("faq", text="Ask support for help.")})
    test_set = TestSet([Query("q", {"m#0": 2, "f#0": 1, "faq": 1, "other": 0})])
    found = anchor(test_set, CORPUS, chunks=chunks)
    assert found.from_chunks == 2
    assert found.test_set[0].spans == (
        Span("manual", 0, 32, "Hold the button for ten seconds.", 2.0),
        Span("faq", 32, 53, "Ask support for help."),
    )
    assert found.test_set[0].grades == {"faq": 1, "other": 0, "manual": 2}
    alone = anchor(test_set, chunks=Chunks({"m#0": Chunk("manual", 0, 32)}))
    assert alone.test_set[0].spans == (Span("manual", 0, 32, grade=2.0),)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((7, CORPUS), "`test_set` must be a TestSet"),
        ((quoted("x"), 7), "`corpus` must be texts by id"),
        ((quoted("x"),), "give the texts of the documents"),
        (("nowhere.json", CORPUS), "there is no such file"),
    ],
)
def test_mistakes_are_told(arguments: tuple[Any, ...], said: str) -> None:
    with pytest.raises(RankgaugeError, match=said):
        anchor(*arguments)
    if len(arguments) == 2:
        with pytest.raises(RankgaugeError, match=said):
            label_drift(*arguments)


# --- drift ------------------------------------------------------------------------------------------------------------


def anchored(*texts: str) -> TestSet:
    return anchor(quoted(*texts), CORPUS).test_set


def test_what_became_of_passages() -> None:
    test_set = anchored("Then let go.", "Ask support for help.", "Refunds take five\nworking days.")
    new = {
        "manual": CORPUS["manual"],
        "faq": f"New. {CORPUS['faq']}".replace("five", "ten"),
    }
    found = label_drift(test_set, new, old=CORPUS)
    assert [(one.query, one.status) for one in found.spans] == [("q0", "valid"), ("q1", "moved"), ("q2", "orphaned")]
    assert {one.doc: one.status for one in found.documents} == {"manual": "same", "faq": "changed"}
    assert found.counts["moved"] == 1
    assert not found.unchanged
    near = found.spans[2].nearest
    assert near is not None
    assert "Refunds take ten" in new["faq"][near.place.start : near.place.end]
    (span,) = found.mended[1].spans
    assert new["faq"][span.start : span.end] == "Ask support for help."
    assert found.mended[0] is test_set[0]
    assert found.mended[2] == test_set[2]
    assert label_drift(found.mended, new).counts == {
        "valid": 2,
        "moved": 0,
        "several": 0,
        "orphaned": 1,
        "unverified": 0,
    }


def test_a_document_that_was_renamed() -> None:
    found = label_drift(anchored("Then let go."), {"guide": CORPUS["manual"]})
    assert [(one.status, one.places[0].doc) for one in found.spans] == [("moved", "guide")]
    assert [(one.doc, one.status) for one in found.documents] == [("manual", "gone")]
    assert found.mended[0].grades == {"guide": 1.0}
    assert label_drift(found.mended, {"guide": CORPUS["manual"]}).unchanged


def test_places_without_texts_need_the_old_corpus() -> None:
    test_set = TestSet([Query("q", {"faq": 1}, spans=(Span("faq", 32, 53),))])
    new = {"faq": f"New. {CORPUS['faq']}"}
    assert [one.status for one in label_drift(test_set, new).spans] == ["unverified"]
    found = label_drift(test_set, new, old=CORPUS)
    assert [(one.status, one.places[0].start) for one in found.spans] == [("moved", 37)]


def test_several_new_places_are_not_chosen_from() -> None:
    test_set = anchored("Then let go.")
    found = label_drift(test_set, {"a": "Then let go. Then let go."})
    assert [one.status for one in found.spans] == ["several"]
    assert found.mended == test_set


def test_chunks_cut_and_hold_together() -> None:
    spans = tuple(Span("manual", a, b, CORPUS["manual"][a:b]) for a, b in ((0, 32), (58, 70), (71, 93)))
    test_set = TestSet([Query("q", {"manual": 1}, spans=spans)])
    chunks = Chunks({"a": Chunk("manual", 0, 20), "b": Chunk("manual", 20, 50), "c": Chunk("manual", 50, 93)})
    found = label_drift(test_set, CORPUS, chunks=chunks)
    assert [(one.chunks, one.split, one.merged) for one in found.spans] == [
        (2, True, False),
        (1, False, True),
        (1, False, True),
    ]
    assert (found.counts["split"], found.counts["merged"], found.counts["in_no_chunk"]) == (1, 2, 0)
    with pytest.raises(RankgaugeError, match="no chunk has a place"):
        label_drift(test_set, CORPUS, chunks=Chunks({"a": Chunk("manual")}))


def test_labelled_documents_without_text_are_lost() -> None:
    test_set = TestSet([Query("q", {"a": 1, "b": 1, "c": 0})])
    new = {"a": "some text", "b": " \n", "c": ""}
    for old in (None, {"a": "some text", "b": "it said something"}, {"b": ""}):
        found = label_drift(test_set, new, old=old)
        assert [(one.doc, one.status) for one in found.lost_documents] == [("b", "empty")]
        assert not found.unchanged
        assert [note.key for note in found.notes] == ["spans.documents_empty"]
        assert [one["doc"] for one in found.to_dict()["changed_documents"]] == ["b"]
    assert label_drift(test_set, {**new, "b": "text again"}).unchanged


@fast(80)
@given(st.lists(st.text("ab c.", min_size=1, max_size=12), min_size=1, max_size=6), st.data())
def test_mending_never_changes_what_a_passage_says(parts: list[str], data: st.DataObject) -> None:
    old = {"d": " ".join(parts)}
    start = data.draw(st.integers(0, len(old["d"]) - 1))
    end = data.draw(st.integers(start + 1, len(old["d"])))
    test_set = TestSet([Query("q", {"d": 1}, spans=(Span("d", start, end, old["d"][start:end]),))])
    new = {"d": " ".join(data.draw(st.permutations([*parts, "x"])))}
    found = label_drift(test_set, new)
    (one,), (span,) = found.spans, found.mended[0].spans
    if one.status in ("valid", "moved"):
        there = new["d"][span.start : span.end]
        assert there.split() == span.text.split() == old["d"][start:end].split()
    else:
        assert found.mended == test_set


# --- the command line -------------------------------------------------------------------------------------------------


def command(*arguments: str) -> Done:
    return run_command("testset", *arguments, status=None)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    lines = [json.dumps({"_id": doc, "text": text}) for doc, text in CORPUS.items()]
    Path("corpus.jsonl").write_text("\n".join(lines))
    return tmp_path


def test_anchor_on_the_command_line(folder: Path) -> None:
    Path("qa.json").write_text('[{"query": "how long?", "spans": ["for ten seconds"]}]')
    done = command("anchor", "qa.json", "--corpus", "corpus.jsonl", "-o", "anchored.json")
    assert (done.status, done.stderr) == (0, "wrote anchored.json\n")
    assert "anchored: 1 passage" in done.stdout
    assert load_testset("anchored.json")[0].spans == (Span("manual", 16, 31, "for ten seconds"),)
    Path("qa.json").write_text('[{"query": "how long?", "spans": ["Hold the button", "for two seconds"]}]')
    done = command("anchor", "qa.json", "--corpus", "corpus.jsonl", "--json")
    assert done.status == 1
    assert [one["reason"] for one in json.loads(done.stdout)["left"]] == ["several", "nowhere"]
    assert command("anchor", "qa.json", "--corpus", "corpus.jsonl", "--first").status == 1
    done = command("anchor", "qa.json", "--corpus", "corpus.jsonl", "--lang", "zh")
    assert "出现在多处" in done.stdout
    for wrong in (["--all", "--first", "--corpus", "corpus.jsonl"], ["--corpus", "none.jsonl"], [], ["-o", "qa.json"]):
        assert command("anchor", "qa.json", *wrong).status == 2


def test_chunk_ids_become_passages_on_the_command_line(folder: Path) -> None:
    Path("qrels.json").write_text('{"q1": {"manual-0-32": 1}, "q2": {"faq-32-53": 1}}')
    done = command(
        "anchor", "qrels.json", "--chunk-ids", r"^(?P<doc>.+)-(?P<start>\d+)-(?P<end>\d+)$", "-o", "new.json"
    )
    assert done.status == 0
    assert [query.spans for query in load_testset("new.json")] == [(Span("manual", 0, 32),), (Span("faq", 32, 53),)]


def test_drift_on_the_command_line(folder: Path) -> None:
    anchored("Then let go.", "Ask support for help.").save("set.json")
    new = {"manual": CORPUS["manual"], "faq": f"New. {CORPUS['faq']}"}
    Path("new.jsonl").write_text("\n".join(json.dumps({"_id": doc, "text": text}) for doc, text in new.items()))
    assert command("drift", "set.json", "--corpus", "corpus.jsonl").status == 0
    done = command("drift", "set.json", "--corpus", "new.jsonl", "--old", "corpus.jsonl")
    assert done.status == 1
    assert "moved" in done.stdout
    assert "--mend" in done.stdout
    mended = command("drift", "set.json", "--corpus", "new.jsonl", "--mend", "-o", "mended.json")
    assert mended.status == 0
    assert command("drift", "mended.json", "--corpus", "new.jsonl").status == 0
    told = json.loads(command("drift", "set.json", "--corpus", "new.jsonl", "--json").stdout)
    assert (told["spans"]["valid"], told["spans"]["moved"]) == (1, 1)
    for wrong in (["--mend", "--corpus", "new.jsonl"], [], ["--corpus", "new.jsonl", "--mend", "-o", "set.json"]):
        assert command("drift", "set.json", *wrong).status == 2
