"""`rankgauge judge-next`."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from itertools import combinations
from typing import TYPE_CHECKING, Any

import click

from rankgauge.cli import options

if TYPE_CHECKING:
    from rankgauge.sensitivity.judge_next import JudgingPlan
    from rankgauge.sensitivity.unjudged import UnjudgedRange

__all__ = ["judge_next"]

_FORMATS = ("table", "json", "csv", "trec")
_MOST_TEXT = 60
_WORDS = {
    "query": ("query", "查询"),
    "text": ("text", "文本"),
    "doc": ("document", "文档"),
    "rank": ("rank in {name}", "在 {name} 中的排名"),
    "influence": ("influence", "影响"),
    "measure": ("measure", "指标"),
    "mean": ("mean of", "均值"),
    "now": ("now", "现值"),
    "least": ("least", "最小"),
    "most": ("greatest", "最大"),
    "none": (
        "Nothing to judge: no unjudged document can change these figures.",
        "无需标注：没有未标注文档能改变这些数字。",
    ),
    "share": (
        "{shown} of {all} unjudged documents are shown; by themselves they carry {share:.0f} % of the range",
        "共 {all} 个未标注文档，显示其中 {shown} 个；仅这些文档就占区间宽度的 {share:.0f} %",
    ),
    "changes": (
        "{measure}, {mean}: labels could turn the sign of the difference",
        "{measure}，{mean}：标注结果可能使差值变号",
    ),
    "may_change": (
        "{measure}, {mean}: that labels turn the sign of the difference is not ruled out",
        "{measure}，{mean}：不能排除标注结果使差值变号",
    ),
    "bound": (
        "* an outer bound: the true range may be narrower",
        "* 外界：真实区间可能更窄",
    ),
    "left_out": ("{measure} is left out: {reason}", "未计 {measure}：{reason}"),
}


@click.command("judge-next")
@click.argument("qrels", metavar="QRELS")
@click.argument("runs", metavar="[NAME=]RUN...", nargs=-1, required=True)
@click.option(
    "-n", "--number", type=click.IntRange(1), default=50, show_default=True, help="How many documents to show."
)
@options.scoring
@click.option(
    "-f",
    "--format",
    "form",
    type=click.Choice(_FORMATS),
    help="How to show them; trec is a run whose scores are the influences. Default: by the ending of --output, else a "
    "table.",
)
@options.json_flag
@options.input_formats
@options.digits
@options.lang
@options.output
def judge_next(
    qrels: str,
    runs: tuple[str, ...],
    number: int,
    measures: tuple[str, ...],
    form: str | None,
    as_json: bool,
    qrels_format: str | None,
    run_format: str | None,
    digits: int,
    language: str,
    output: str | None,
    **choices: Any,
) -> None:
    """Which documents to judge next: those whose judgments would most narrow what unjudged documents leave open.

    With several runs, what is to be narrowed is the range of the difference of each pair; with one, that of its own
    means. The influence of a document is by how much its judgment narrows the ranges on average, over all measures.
    """
    from rankgauge.cli.evaluate import check_standard_input, named_runs
    from rankgauge.errors import DataError
    from rankgauge.evaluation import DEFAULT_MEASURES, make_plan, read_qrels
    from rankgauge.formats import load_judgments, open_run
    from rankgauge.formats.sources import write_whole
    from rankgauge.model.testset import TestSet
    from rankgauge.sensitivity.judge_next import judging_plan
    from rankgauge.sensitivity.unjudged import why_no_range

    if choices.pop("corpus") is not None:
        raise click.UsageError("--corpus has no use here: labels do not tell which texts fit into a context budget")
    form = options.chosen_form(form, as_json, output, _FORMATS)
    options.refuse_overwriting(
        output, [qrels, *(run for text in runs for run in (text, text.partition("=")[2]) if run)]
    )
    rule = options.read_choices(choices).get("collapse_chunks", choices["collapse_chunks"])
    del choices["collapse_chunks"]
    plan = make_plan(measures or DEFAULT_MEASURES, choices.pop("contract"), **choices)
    named = named_runs(runs)
    check_standard_input([qrels, *named.values()], stream=False)
    source = load_judgments(qrels, qrels_format)
    judgments = read_qrels(source)
    reason = why_no_range(judgments)
    if reason is not None:
        hint = "add the documents you rejected with grade 0" if language == "en" else "请补上判为不相关的文档，等级为 0"
        raise DataError(f"{qrels}: {reason['zh' if language == 'zh' else 'en']}; {hint}")
    contract = plan.contract
    opened: dict[str, Any] = {name: open_run(path, run_format) for name, path in named.items()}
    if rule is not None:
        from rankgauge.engine.chunks import collapse

        collapsed = {name: collapse(run, rule) for name, run in opened.items()}
        opened = {name: run for name, (run, _) in collapsed.items()}
        contract = contract.with_changes(collapse=next(text for _, text in collapsed.values()))
    pairs = list(combinations(opened, 2))
    found = judging_plan(judgments, opened, plan.measures, contract, pairs, number)
    if not found.ranges:
        why = "; ".join(_left_out(found, language))
        raise DataError(why)
    texts = {q.id: q.text for q in source if q.text != q.id} if isinstance(source, TestSet) else {}
    if form == "json":
        from rankgauge.formats.json_values import dumps

        data = dumps(_record(found, texts, contract.to_dict()))
    elif form == "trec":
        data = _trec(found)
    else:
        words = "en" if form == "csv" else language  # for programs, which look for one name
        data = _table(found, texts, list(opened), form, digits, words, output is not None).encode()
    write_whole(output or "-", data)
    if form in ("csv", "trec"):  # these have no place for remarks
        for line in _remarks(found, language):
            click.echo(f"rankgauge: {line}", err=True)


def _say(key: str, language: str, **values: object) -> str:
    return _WORDS[key][1 if language == "zh" else 0].format(**values)


def _left_out(plan: JudgingPlan, language: str) -> list[str]:
    return [
        _say("left_out", language, measure=measure, reason=reason["zh" if language == "zh" else "en"])
        for measure, reason in plan.reasons.items()
    ]


def _name(found: UnjudgedRange) -> str:
    return f"{found.b} - {found.a}" if found.a else found.b


def _remarks(plan: JudgingPlan, language: str) -> list[str]:
    if not plan.documents:
        return [_say("none", language), *_left_out(plan, language)]
    share = 100 * plan.share
    lines = [_say("share", language, shown=len(plan.candidates), all=plan.documents, share=share)]
    for found in plan.ranges:
        if found.a and found.changes_winner:
            key = "changes" if found.exact else "may_change"
            lines.append(_say(key, language, measure=found.measure, mean=_name(found)))
    return [*lines, *_left_out(plan, language)]


def _record(plan: JudgingPlan, texts: Mapping[str, str], contract: dict[str, Any]) -> dict[str, Any]:
    from dataclasses import asdict

    return {
        "format": "rankgauge.judge-next",
        "version": 1,
        "contract": contract,
        "documents": plan.documents,
        "share": plan.share,
        "ranges": [asdict(found) | {"changes_winner": found.changes_winner} for found in plan.ranges],
        "left_out": plan.reasons,
        "candidates": [
            asdict(candidate) | ({"text": texts[candidate.query]} if candidate.query in texts else {})
            for candidate in plan.candidates
        ],
    }


def _trec(plan: JudgingPlan) -> bytes:
    import polars as pl

    from rankgauge.formats.convert import refuse_blanks
    from rankgauge.formats.trec import render_run
    from rankgauge.model.run import Run

    rows = [(candidate.query, candidate.doc, candidate.influence) for candidate in plan.candidates]
    schema = {"query": pl.String, "doc": pl.String, "score": pl.Float64}
    frame = pl.DataFrame(rows, schema=schema, orient="row")
    refuse_blanks(Run.of_frame(frame, "judge-next"), "judge-next")
    return render_run(frame, "judge-next")


def _table(
    plan: JudgingPlan,
    texts: Mapping[str, str],
    systems: list[str],
    form: str,
    digits: int,
    language: str,
    to_file: bool,
) -> str:
    from rankgauge.reports.tables import Table, render_csv, render_terminal, terminal_width

    head = [_say("query", language), *([_say("text", language)] if texts else []), _say("doc", language)]
    ranks = [_say("rank", language, name=name) for name in systems]
    rows = []
    for candidate in plan.candidates:
        text = texts.get(candidate.query, "")
        if form == "table" and len(text) > _MOST_TEXT:
            text = text[: _MOST_TEXT - 1] + "…"
        places = ["" if candidate.ranks[name] is None else str(candidate.ranks[name]) for name in systems]
        rows.append(
            [
                candidate.query,
                *([text] if texts else []),
                candidate.doc,
                *places,
                f"{candidate.influence:.{digits + 2}f}",
            ]
        )
    table = Table([*head, *ranks, _say("influence", language)], rows, len(head))
    if form == "csv":
        return render_csv(table)
    width, color = terminal_width(to_file=to_file), not to_file and sys.stdout.isatty()
    parts = [render_terminal(table, width=width, color=color)] if rows else []
    names = ("measure", "mean", "now", "least", "most")
    lines = [
        [
            found.measure,
            _name(found),
            *(f"{value:.{digits}f}" for value in (found.observed, found.low, found.high)),
        ]
        for found in plan.ranges
    ]
    for line, found in zip(lines, plan.ranges, strict=True):
        line[-1] += "" if found.exact else " *"
    parts.append(render_terminal(Table([_say(name, language) for name in names], lines, 2), width=width, color=color))
    remarks = _remarks(plan, language)
    if not all(found.exact for found in plan.ranges):
        remarks.insert(0, _say("bound", language))
    return "\n".join([*parts, "\n".join(remarks) + "\n"])
