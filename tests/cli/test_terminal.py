"""What a new user meets on a terminal of 80 columns: one screen, whole words, a way on, and mistakes that tell it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from rankgauge import compare, compare_scores, evaluate, gate
from rankgauge.reports import report
from rankgauge.reports.next_step import after_gate, next_step
from rankgauge.reports.tables import width_of
from rankgauge.words import LANGUAGES, Language, numbers
from tests.cli.command import run_command, run_terminal

MEASURES = ["nDCG@10", "R@10", "AP", "RR", "P@10"]
Dl19 = tuple[Path, dict[str, Path]]


@pytest.fixture(scope="session")
def dl19(data: Path) -> Dl19:
    names = ("BM25", "BM25_RM3", "D_BERT_KD_TASB", "OPEN_AI_ADA2")
    return data / "dl19" / "qrels.txt", {name: data / "dl19" / f"dl19.{name}.run" for name in names}


def fits(text: str, columns: int = 80) -> list[str]:
    lines = text.rstrip("\n").split("\n")
    assert max(map(width_of, lines)) <= columns, text
    return lines


# Targets that are out of reach ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "choices", [{}, {"rel": 2}, {"depth": 7}, {"no_relevant": "skip"}, {"missing": "skip"}], ids=str
)
def test_a_ceiling_is_what_an_ideal_list_scores(choices: dict[str, object]) -> None:
    """By the measures themselves: all judged documents, best first."""
    grades = {f"q{i}": {f"d{j}": (i * j) % 4 for j in range(1 + 3 * i)} for i in range(9)}
    ideal = {query: {doc: float(grade) for doc, grade in docs.items()} for query, docs in grades.items()}
    measures = ["R@5", "R@10", "P@5", "P@20", "R(rel=3)@2", "nDCG@10", "RR"]
    best = evaluate(grades, ideal, measures, **choices)  # type: ignore[arg-type]
    ceilings = evaluate(grades, {q: {"other": 1.0} for q in grades}, measures, **choices).coverage.ceilings  # type: ignore[arg-type]
    assert ceilings
    assert ceilings == pytest.approx({name: best.mean[name] for name in ceilings})
    assert all(
        best.mean[name] == 1 for name in best.mean if name.startswith(("R(", "R@", "P")) and name not in ceilings
    )


def test_a_target_beyond_the_ceiling_is_told_so(dl19: Dl19, monkeypatch: pytest.MonkeyPatch) -> None:
    qrels, runs = dl19
    found = evaluate(qrels, runs["BM25"], MEASURES)
    assert found.coverage.ceilings["R@10"] == pytest.approx(0.2237, abs=1e-4)
    result = gate(found, scenario="precise")
    rules = {rule.values["measure"]: rule for rule in result.rules}
    assert rules["R@10"].note.parameters["outcome"].key == "gate.unreachable"
    assert rules["R@10"].values["ceiling"] == found.coverage.ceilings["R@10"]
    assert rules["nDCG@10"].note.parameters["outcome"].key == "gate.missed"
    assert "out of reach: at most 0.2237" in report(result)
    missed = gate(found, targets=["R@10 >= 0.2", "P@10 >= 0.98"])
    assert all(rule.note.parameters["outcome"].key.startswith("gate.missed") for rule in missed.rules)
    shown = run_command("evaluate", qrels, runs["BM25"], "--scenario", "precise").stdout
    assert "R@10: no system can reach the target on this test set, where at most 0.2237 is possible." in shown
    assert re.search(r"^R@10 +0\.9 +0\.1285 *$", shown, re.MULTILINE)  # neither reached nor missed
    assert re.search(r"^nDCG@10 +0\.8 +0\.5058▼$", shown, re.MULTILINE)


# One screen -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_gate_of_five_measures_is_one_screen(dl19: Dl19, language: Language) -> None:
    qrels, runs = dl19
    records = {name: evaluate(qrels, run, MEASURES, name=name).record for name, run in runs.items()}
    seen = set()
    for new in runs:
        for old in runs:
            result = gate(records[new], records[old], scenario="general")
            lines = fits(report(result, language=language, width=80))
            assert len(lines) <= 23  # two more say what else there is
            figures = re.findall(r"\d\.\d{4}", "\n".join(line for line in lines if not line.startswith("R@10 >")))
            table = [line for line in lines if line.startswith(tuple(f"{name} " for name in MEASURES))]
            for line in table:
                assert len(set(re.findall(r"[+−]\d+\.\d %", line))) == len(re.findall(r"[+−]\d+\.\d %", line))
            assert len(figures) <= 2 * len(MEASURES) + len(result.rules)
            seen.add(result.status)
    assert "broken" in seen or "regression" in seen


def test_why_more_measures_need_more_queries(dl19: Dl19) -> None:
    """A regression of any measure stops the gate, so that its level is divided; a pass takes all and is not."""
    qrels, runs = dl19
    new, old = (evaluate(qrels, runs[name], MEASURES).record for name in ("BM25", "D_BERT_KD_TASB"))
    several, alone = gate(new, old), gate(new, old, measures="RR")
    needed = [next(r for r in found.rules if r.name == "RR").values["needed"] for found in (several, alone)]
    assert needed[0] > needed[1]
    assert "AP, RR: at level 0.05/5, as 5 measures are compared; fewer measures need fewer." in report(several)
    assert "at level" not in report(alone)
    for detail in (None, "evidence"):  # the table has the figures, and no sentence says them once more
        text = report(several, detail=detail)
        (row,) = (line for line in text.splitlines() if line.startswith("RR "))
        assert row.endswith(f" {numbers.rough(needed[0])}")
        assert "queries would settle it" not in text


def test_letters_are_explained(dl19: Dl19) -> None:
    qrels, runs = dl19
    record = compare(qrels, runs, ["nDCG@10"], samples=2000).record
    for form in ("terminal", "markdown", "html"):
        assert "Systems that share a letter do not differ significantly (nDCG@10)." in report(record, format=form)
    pair = {name: runs[name] for name in ("BM25", "BM25_RM3")}
    assert "share a letter" not in report(compare(qrels, pair, ["nDCG@10"], samples=2000).record)


# What to do next ------------------------------------------------------------------------------------------------------


def test_the_next_step_fits_the_outcome(dl19: Dl19) -> None:
    qrels, runs = dl19

    def after(*names: str, **choices: object) -> str | None:
        chosen = {name: runs[name] for name in names}
        step = next_step(compare(qrels, chosen, ["nDCG@10"], samples=2000, **choices).record)  # type: ignore[arg-type]
        return None if step is None else step.key.removeprefix("answer.")

    assert after("BM25", "OPEN_AI_ADA2") == "next_gate"  # decided
    assert after("BM25", "BM25_RM3") == "next_power"  # open, and labels could not reverse it
    assert after("OPEN_AI_ADA2", "D_BERT_KD_TASB") == "next_judge"
    scores = {"a": [0.1, 0.2, 0.5, 0.3], "b": [0.2, 0.1, 0.4, 0.4]}
    step = next_step(compare_scores(scores, samples=200).record)
    assert step is not None
    assert step.key == "answer.next_power_scores"
    first = evaluate(qrels, runs["BM25"], MEASURES).record
    assert next_step(first).key == "answer.next_compare"  # type: ignore[union-attr]
    second = evaluate(qrels, runs["BM25_RM3"], MEASURES).record
    lost = evaluate(qrels, {q: {"none": 1.0} for q in first.queries}, MEASURES).record
    for new, old, key in [(first, first, "set"), (first, second, "power"), (lost, first, "queries")]:
        assert after_gate(gate(new, old)).key == f"answer.next_{key}"  # type: ignore[union-attr]
    assert after_gate(gate(first, targets="AP >= 0.1")) is None


def test_a_terminal_shows_it(dl19: Dl19, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In a real terminal: nothing is wider than it, and the way on is the last line."""
    qrels, runs = dl19
    names = ("OPEN_AI_ADA2", "D_BERT_KD_TASB")
    monkeypatch.chdir(tmp_path)
    new, old = (f"{name}.json" for name in names)
    for name, path in zip(names, (new, old), strict=True):
        run_command("evaluate", qrels, f"system={runs[name]}", *(f"-m{measure}" for measure in MEASURES), "-o", path)
    lines = fits(run_terminal("gate", new, "--baseline", old, "--lang", "en").stdout)
    assert len(lines) <= 25
    assert lines[-2] == "--details shows the whole evidence."
    assert lines[-1].startswith("Next: rankgauge power ")
    compared = run_terminal(
        "compare", qrels, *runs.values(), "-o", "page.md", "--quick", "--lang", "en", "-m", "nDCG@10"
    )
    lines = fits(compared.stdout)
    assert len(lines) > 2  # the verdict is long
    assert lines[-1] == "wrote page.md"


# Mistakes -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (
            ["compare", "--scenario", "precise", "a", "b"],
            "No such option '--scenario'. It is an option of: evaluate, gate.",
        ),
        (["history", "trend", "-m", "AP"], "MEASURE is an argument: rankgauge history trend MEASURE"),
        (["compare", "--qqqqq", "a", "b"], "No such option '--qqqqq'."),
        (["compare", "--base", "a", "b"], "'--baseline'"),
    ],
)
def test_an_option_of_another_command(words: list[str], told: str) -> None:
    assert told in run_command(*words, status=2).stderr


def test_an_id_is_told_once(tmp_path: Path) -> None:
    (tmp_path / "qrels.txt").write_text("x1 0 d1 1\n")
    (tmp_path / "a.run").write_text("q01 Q0 a 1 3 r\nq01 Q0 b 2 2 r\n")
    stderr = run_command("evaluate", tmp_path / "qrels.txt", tmp_path / "a.run", status=2).stderr
    assert "Run: 'q01'; judgments: 'x1'" in stderr


def test_a_first_plan_tells_what_its_files_hold(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """From `init` to `run`: what the message shows is what makes the plan work."""
    monkeypatch.chdir(tmp_path)
    assert "hint: rankgauge init writes a plan to start from" in run_command("run", status=2).stderr
    run_command("init")
    stderr = run_command("run", "--check", status=2).stderr
    testset, corpus = (re.search(f"{key}: there is no file .*such as (.*)", stderr) for key in ("testset", "corpus"))
    assert testset is not None
    assert corpus is not None
    assert "needs documents" not in stderr  # the same fault again
    Path("testset.json").write_text(testset[1])
    Path("corpus.jsonl").write_text(corpus[1])
    assert "2 systems" in run_command("run", "--check", "--lang", "en").stdout
    Path("corpus.jsonl").unlink()
    assert max(map(width_of, run_terminal("run").stdout.splitlines())) <= 80


# Chinese --------------------------------------------------------------------------------------------------------------


def test_tests_have_chinese_names(dl19: Dl19) -> None:
    qrels, runs = dl19
    for test, name in {"randomization": "随机化检验", "t": "t 检验", "wilcoxon": "Wilcoxon 符号秩检验"}.items():
        pair = {key: runs[key] for key in ("BM25", "BM25_RM3")}
        record = compare(
            qrels, pair, ["nDCG@10", "AP"], test=test, samples=2000 if test == "randomization" else None
        ).record
        for form in ("terminal", "markdown"):
            text = report(record, language="zh", detail="evidence", format=form)
            assert name in text
            assert "randomization" not in text
            assert "检验检验" not in text
