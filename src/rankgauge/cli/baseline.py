"""`rankgauge baseline`: named baselines in the history."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import click

from rankgauge.cli import options
from rankgauge.cli.gate import STATUS, history_option, read_record, rule_options, rules_of, show_results
from rankgauge.words.visible import visible

if TYPE_CHECKING:
    from rankgauge.history.baselines import StoredBaseline

__all__ = ["baseline"]

_WORDS = {
    "en": {
        "set": "{name} version {version}: {system} of {created}, margin {margin}",
        "forced": "promoted by force, although the gate said {status}: {note}",
        "refused": "{name} stays at version {version}",
        "none": "{history} has no baselines yet",
        "name": "name",
        "version": "version",
        "action": "action",
        "system": "system",
        "measured": "measured",
        "set_at": "set",
        "note": "note",
        "measure": "measure",
        "mean": "mean",
        "margin": "margin",
        "default": "5 % (default)",
        "targets": "targets",
        "test_set": "test set",
        "corpus": "corpus",
        "contract": "contract",
        "unknown": "unknown",
        "record": "record",
        "age": "{days} days ago",
        "anchor": "anchor",
        "wrote": "wrote {path}",
        "looser": "promoted by looser rules ({options}): {note}",
        "used": "rules of the promotion",
    },
    "zh": {
        "set": "{name} 第 {version} 版：{system}，测于 {created}，容许幅度 {margin}",
        "forced": "门禁结论为 {status}，仍强制提升：{note}",
        "refused": "{name} 保持在第 {version} 版",
        "none": "{history} 中还没有基线",
        "name": "名称",
        "version": "版本",
        "action": "操作",
        "system": "系统",
        "measured": "测量时间",
        "set_at": "设定时间",
        "note": "备注",
        "measure": "指标",
        "mean": "均值",
        "margin": "容许幅度",
        "default": "5 %（默认）",
        "targets": "目标",
        "test_set": "测试集",
        "corpus": "语料",
        "contract": "契约",
        "unknown": "未知",
        "record": "记录",
        "age": "{days} 天前",
        "anchor": "锚点",
        "wrote": "已写入 {path}",
        "looser": "以较宽的规则提升（{options}）：{note}",
        "used": "提升时的规则",
    },
}


@click.group()
def baseline() -> None:
    """Set, promote, show and export the named baselines that a gate compares with."""


@baseline.command("set")
@click.argument("name")
@click.argument("record", metavar="RECORD.json")
@click.option("--system", metavar="NAME", help="The system of the record. Default: the only one.")
@click.option("--margin", metavar="SHARE", help="Relative loss that its gates allow, such as 5%.")
@click.option(
    "--target", "targets", multiple=True, metavar="TARGET", help="A target of its gates, such as 'R@10 >= 0.8'."
)
@click.option("--note", metavar="TEXT", help="Why; it is kept.")
@history_option
@options.json_flag
@options.lang
def set_command(
    name: str,
    record: str,
    system: str | None,
    margin: str | None,
    targets: tuple[str, ...],
    note: str | None,
    history: str | None,
    as_json: bool,
    language: str,
) -> None:
    """Make a record the baseline NAME, and the anchor that later promotions are held against as well.

    Nothing is checked: use it at the beginning, and after the test set or the contract has changed. Margin and targets
    that are not given stay as they were.
    """
    from rankgauge.history.baselines import set_baseline
    from rankgauge.history.store import History

    loaded = read_record(record)
    with History.open(history) as opened:
        made = set_baseline(opened, name, loaded, system=system, margin=margin, targets=targets or None, note=note)
    _tell(made, as_json, language)


@baseline.command()
@click.argument("name")
@click.argument("record", metavar="RECORD.json")
@rule_options
@click.option("--force", is_flag=True, help="Promote whatever the gate says; needs --note.")
@click.option("--note", metavar="TEXT", help="Why; it is kept.")
@history_option
@options.json_flag
@options.digits
@options.lang
def promote(
    name: str,
    record: str,
    rules: str | None,
    force: bool,
    note: str | None,
    history: str | None,
    as_json: bool,
    digits: int,
    language: str,
    **choices: Any,
) -> None:
    """Let a record take the place of the baseline NAME, if it holds against it and against the anchor.

    The anchor is the record that was last `set`: held against it too, many small losses, each within the margin, cannot
    add up. Rules looser than the baseline's own (a larger margin or alpha, fewer measures, --on-inconclusive pass, --allow)
    need --note, and are kept.

    Exit status 1 if the promotion is refused, 3 if the queries cannot tell and --on-inconclusive is report.
    """
    from rankgauge.history.baselines import current_baseline, promote_baseline
    from rankgauge.history.store import History

    loaded, wanted = read_record(record), rules_of(rules, **choices)
    with History.open(history, create=False) as opened:
        before = current_baseline(opened, name)
        found = promote_baseline(opened, name, loaded, rules=wanted, force=force, note=note)
    if as_json:
        from rankgauge.formats.json_values import dumps

        told = {
            "stored": None if found.stored is None else _plain(found.stored),
            "gates": [result.to_dict() for result in found.results],
        }
        click.echo(dumps(told).decode(), nl=False)
    else:
        show_results(found.results, "table", digits=digits, language=language)
        click.echo()
        words = _WORDS[language]
        if found.stored is None:
            click.echo(words["refused"].format(name=name, version=before.version))
        else:
            _tell(found.stored, False, language)
    if found.stored is None:
        sys.exit(STATUS[found.accepted])


@baseline.command()
@click.argument("name")
@history_option
@options.json_flag
@options.digits
@options.lang
def show(name: str, history: str | None, as_json: bool, digits: int, language: str) -> None:
    """Show a baseline: what it is a measurement of, its means and targets, and all its versions."""
    from rankgauge.evaluation.old_identity import identity_of
    from rankgauge.gate.baseline import choose_system
    from rankgauge.history.baselines import current_baseline, versions_of
    from rankgauge.history.store import History

    with History.open(history, create=False, write=False) as opened:
        now, versions = current_baseline(opened, name), versions_of(opened, name)
        record = opened.document(now.record_id)
    identity = identity_of(record)
    entry = choose_system(record, now.system)
    if as_json:
        from rankgauge.formats.json_values import dumps

        means = {measure: mean["value"] for measure, mean in entry["means"].items()}
        told = {**_plain(now), "means": means, "identity": vars(identity), "versions": [_plain(v) for v in versions]}
        click.echo(dumps(told).decode(), nl=False)
        return
    import datetime

    from rankgauge.reports.evaluation import mean_table
    from rankgauge.reports.tables import Table, render_terminal, terminal_width
    from rankgauge.words import check_language

    words, width = _WORDS[language], terminal_width()
    days = (datetime.datetime.now(datetime.UTC) - now.created).days
    facts = [
        ("record", f"{now.record_id} ({now.uid[:12]})"),
        ("measured", f"{now.created:%Y-%m-%d %H:%M} ({words['age'].format(days=days)})"),
        ("margin", _margin(now, language)),
        *((("targets", ", ".join(now.targets)),) if now.targets else ()),
        *((("used", _used(now.used)),) if now.used else ()),
        *((key, (getattr(identity, key) or words["unknown"])[:12]) for key in ("test_set", "corpus", "contract")),
        ("anchor", str(now.anchor_id)),
    ]
    colon = "：" if language == "zh" else ": "
    click.echo(_sentence(now, language))
    for key, text in facts:
        click.echo(f"  {words[key]}{colon}{text}")
    click.echo()
    click.echo(
        render_terminal(mean_table({**record, "systems": [entry]}, digits, check_language(language)), width=width)
    )
    header = [words[key] for key in ("version", "action", "system", "record", "set_at", "note")]
    rows = [
        [str(v.version), v.action, visible(v.system), str(v.record_id), f"{v.set_at:%Y-%m-%d %H:%M}", _note(v)]
        for v in versions
    ]
    click.echo(render_terminal(Table(header, rows, len(header)), width=width), nl=False)


@baseline.command("list")
@history_option
@options.json_flag
@options.lang
def list_command(history: str | None, as_json: bool, language: str) -> None:
    """List the current version of every baseline."""
    from rankgauge.history.baselines import all_baselines
    from rankgauge.history.store import History

    with History.open(history, create=False, write=False) as opened:
        found, place = all_baselines(opened), str(opened.location)
    words = _WORDS[language]
    if as_json:
        from rankgauge.formats.json_values import dumps

        click.echo(dumps([_plain(stored) for stored in found]).decode(), nl=False)
        return
    if not found:
        click.echo(words["none"].format(history=place))
        return
    from rankgauge.reports.tables import Table, render_terminal, terminal_width

    header = [words[key] for key in ("name", "version", "action", "system", "measured", "margin", "note")]
    rows = [
        [b.name, str(b.version), b.action, visible(b.system), f"{b.created:%Y-%m-%d}", _margin(b, language), _note(b)]
        for b in found
    ]
    click.echo(render_terminal(Table(header, rows, len(header)), width=terminal_width()), nl=False)


@baseline.command()
@click.argument("name")
@history_option
@options.lang
@options.output
def export(name: str, history: str | None, language: str, output: str | None) -> None:
    """Write a baseline as one JSON file, to be kept under version control and given to `gate --baseline`."""
    from rankgauge.formats.json_values import dumps
    from rankgauge.formats.sources import write_whole
    from rankgauge.gate.baseline import export_baseline
    from rankgauge.history.baselines import current_baseline, gate_baseline
    from rankgauge.history.store import History

    with History.open(history, create=False, write=False) as opened:
        now, found = current_baseline(opened, name), gate_baseline(opened, name)
    document = export_baseline(found, set_at=now.set_at.isoformat(timespec="seconds"))
    write_whole(output or "-", dumps(document))
    if output is not None:
        click.echo(_WORDS[language]["wrote"].format(path=output), err=True)


def _tell(made: StoredBaseline, as_json: bool, language: str) -> None:
    if as_json:
        from rankgauge.formats.json_values import dumps

        click.echo(dumps(_plain(made)).decode(), nl=False)
        return
    click.echo(_sentence(made, language))
    if made.forced is not None:
        click.echo(_WORDS[language]["forced"].format(status=made.forced, note=made.note))
    elif made.looser:
        click.echo(_WORDS[language]["looser"].format(options=", ".join(made.looser), note=made.note))


def _sentence(made: StoredBaseline, language: str) -> str:
    return visible(
        _WORDS[language]["set"].format(
            name=made.name,
            version=made.version,
            system=made.system,
            created=f"{made.created:%Y-%m-%d}",
            margin=_margin(made, language),
        )
    )


def _margin(made: StoredBaseline, language: str) -> str:
    return _WORDS[language]["default"] if made.margin is None else f"{100 * made.margin:g} %"


def _note(made: StoredBaseline) -> str:
    marks = [mark for mark in (made.forced, *made.looser) if mark]
    return visible((f"[{', '.join(marks)}] " if marks else "") + (made.note or ""))


def _used(rules: Mapping[str, Any]) -> str:
    """The rules of a promotion, without those that are empty."""
    told = {key: value for key, value in rules.items() if value not in (None, [], 0) or key == "margin"}
    if told.get("margin") is not None:
        told["margin"] = f"{100 * told['margin']:g} %"
    return ", ".join(f"{key} {' '.join(value) if isinstance(value, list) else value}" for key, value in told.items())


def _plain(made: StoredBaseline) -> dict[str, Any]:
    told = dict(vars(made))
    told |= {key: told[key].isoformat() for key in ("created", "set_at")}
    return told | {"targets": list(made.targets), "looser": list(made.looser)}
