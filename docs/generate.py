"""Writes what comes from the code itself: the references in both languages (`make docs`)."""

from __future__ import annotations

import dataclasses
import inspect
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

import rankgauge
from rankgauge.cli.app import app
from rankgauge.engine.orders import DRAWS, MOST_ORDERS
from rankgauge.measures import Definition, all_definitions
from rankgauge.measures.explanations import describe, parameter_help, texts
from rankgauge.measures.presets import PRESETS
from rankgauge.model.contract import Contract
from rankgauge.words import Language

DOCS = Path(__file__).parent

_WORDS: dict[Language, dict[str, str]] = {
    "en": {
        "heading": "Measures",
        "notice": "This page is generated from the measures themselves; `rankgauge explain NAME` prints the same "
        "with a worked example.",
        "notation": "In the formulas `h_k` is the number of relevant documents among the first `k`, `R` the number of "
        "all relevant ones, `n` the number retrieved, `g_i` the grade at rank `i` (0 if unjudged), and `rel_i` says "
        "whether `g_i >= rel`. Names may be written in any case, with spaces, hyphens or underscores.",
        "which": "Which measure for what",
        "measure": "Measure",
        "title": "What it is",
        "formula": "Formula",
        "range": "Range",
        "use": "When to use",
        "parameters": "Parameters",
        "default": "default",
        "spellings": "Also written",
        "trec": "In trec_eval",
        "ties": "With `ties='expected'`",
        "exact": "exact",
        "orders": "exact up to {most:,} orders of a query, else the mean over {draws} drawn ones",
        "source": "Source",
        "sum": "The aggregate is a sum over queries.",
        "geometric": "The aggregate is a geometric mean over queries.",
        "colon": ": ",
        "comma": ", ",
        "paren": " ({})",
        "glossary": "Glossary",
        "terms": "The words of results, pages and messages, and their Chinese.",
        "term": "Term",
        "other": "Chinese",
        "about": "What it is",
    },
    "zh": {
        "heading": "指标",
        "notice": "本页由指标定义自动生成；`rankgauge explain 指标名 --lang zh` 会给出同样的内容，并附计算示例。",
        "notation": "公式中 `h_k` 是前 `k` 个文档里的相关数，`R` 是全部相关文档数，`n` 是检索到的文档数，"
        "`g_i` 是第 `i` 名的等级（未标注为 0），`rel_i` 表示 `g_i >= rel`。"
        "指标名不区分大小写，空格、连字符、下划线可以混用。",
        "which": "如何选择指标",
        "measure": "指标",
        "title": "名称",
        "formula": "公式",
        "range": "取值范围",
        "use": "何时使用",
        "parameters": "参数",
        "default": "默认",
        "spellings": "其他写法",
        "trec": "trec_eval 名称",
        "ties": "`ties='expected'` 时",
        "exact": "精确值",
        "orders": "一个查询不超过 {most:,} 种次序时为精确值，更多时取抽取的 {draws} 种次序的平均",
        "source": "出处",
        "sum": "汇总时对各查询求和。",
        "geometric": "汇总时对各查询取几何平均。",
        "colon": "：",
        "comma": "、",
        "paren": "（{}）",
        "glossary": "术语表",
        "terms": "结果、文档和消息统一使用以下术语，并附英文。",
        "term": "术语",
        "other": "英文",
        "about": "含义",
    },
}


def pages() -> dict[str, str]:
    """Every generated page by its path below docs/."""
    return {
        "reference/measures.md": measures_page("en"),
        "zh/reference/measures.md": measures_page("zh"),
        "reference/contracts.md": contracts_page(),
        "reference/cli.md": cli_page(),
        "reference/python.md": python_page(),
        "reference/glossary.md": glossary_page("en"),
        "zh/reference/glossary.md": glossary_page("zh"),
    }


def _code(text: object) -> str:
    return f"`{text}`"


def _row(*cells: str) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def _table(header: list[str], rows: list[list[str]]) -> list[str]:
    return [_row(*header), "|" + "---|" * len(header), *(_row(*row) for row in rows)]


# Measures


def _written(definition: Definition) -> str:
    """A measure's name with what may or must stand behind the @."""
    if definition.at is None:
        return _code(definition.name)
    full = _code(f"{definition.name}@{definition.at.name}")
    return full if definition.at_required else f"{_code(definition.name)}, {full}"


def _trec_name(definition: Definition) -> str:
    """trec_eval's names, a depth written as its letter: `ndcg`, `ndcg_cut_k`."""
    names = [definition.trec] if definition.trec else []
    if definition.trec_at and definition.at:
        names.append(definition.trec_at.split("{")[0] + definition.at.name)
    return ", ".join(map(_code, names))


def measures_page(language: Language) -> str:
    words, known = _WORDS[language], texts(language)
    own = [d for d in all_definitions() if d.kernel.__module__.startswith("rankgauge.")]
    lines = [f"# {words['heading']}", "", words["notice"], "", words["notation"], "", f"## {words['which']}", ""]
    lines += [f"- {line}" for line in known["which"].values()]
    for family, title in known["families"].items():
        members = [definition for definition in own if definition.family == family]
        if not members:
            continue
        lines += ["", f"## {title}", ""]
        rows = [[_written(d), describe(d, language)["title"], _trec_name(d)] for d in members]
        lines += _table([words["measure"], words["title"], words["trec"]], rows)
        for definition in members:
            lines += ["", *_measure(definition, language)]
    return "\n".join(lines) + "\n"


def _measure(definition: Definition, language: Language) -> Iterator[str]:
    words, entry = _WORDS[language], describe(definition, language)

    def item(label: str, text: str) -> str:
        return f"- {words[label]}{words['colon']}{text}"

    yield f"### {definition.name}"
    yield ""
    yield f"**{entry['title']}**{words['paren'].format(_written(definition))}{words['colon']}{entry['meaning']}"
    yield ""
    yield item("formula", _code(entry["formula"]))
    yield item("range", entry["range"])
    yield item("use", entry["use"])
    if definition.parameters:
        yield f"- {words['parameters']}{words['colon'].rstrip()}"
        for parameter in definition.parameters:
            state = words["paren"].format(f"{words['default']} {_code(repr(parameter.default))}")
            help_text = parameter_help(definition, parameter, language)
            yield f"    - {_code(parameter.name)}{state}{words['colon']}{help_text}"
    spellings = [*definition.spellings, *definition.variants]
    if spellings:
        yield item("spellings", words["comma"].join(map(_code, spellings)))
    if _trec_name(definition):
        yield item("trec", _trec_name(definition))
    yield item("ties", words[definition.ties].format(most=MOST_ORDERS, draws=DRAWS))
    if definition.aggregate != "mean":
        yield f"- {words[definition.aggregate]}"
    if definition.source:
        yield item("source", definition.source)


# Contracts


def contracts_page() -> str:
    default = Contract().to_dict()
    changed = [f for f in default if any(p.contract.to_dict()[f] != default[f] for p in PRESETS.values())]
    same = [f"`{name}={default[name]!r}`" for name in default if name not in changed]
    lines = [
        "# Contract presets",
        "",
        "This page is generated from the presets. Use one with `--contract NAME` or `evaluate(..., contract='NAME')`; "
        "single choices given beside it win. [The contract](../explanation/contract.md) tells what each choice means.",
        "",
    ]
    rows = [[_code(preset.name), preset.about("en")] for preset in PRESETS.values()]
    lines += [*_table(["preset", "how it counts"], rows), "", "## Choices", ""]
    lines += [f"Choices that no preset changes: {', '.join(same)}.", ""]
    rows = [
        [_code(p.name), *(_choice(p.contract.to_dict()[name], default[name]) for name in changed)]
        for p in PRESETS.values()
    ]
    lines += [*_table(["preset", *map(_code, changed)], rows), "", "## Measures", ""]
    lines += [
        "A preset also sets parameters of measures whose name means something else in that tool; parameters you write "
        "yourself stay. The last column names the package that the test suite compares with, if there is one. The "
        "presets `trec_eval` and `trec_eval9` are also compared with the outputs in trec_eval's own test suite.",
        "",
    ]
    for_table = []
    for preset in PRESETS.values():
        set_here = [
            _code(f"{name}({', '.join(f'{key}={value!r}' for key, value in values.items())})")
            for name, values in preset.parameters.items()
        ]
        for_table.append([_code(preset.name), ", ".join(set_here) or "-", preset.package or "-"])
    lines += _table(["preset", "measures become", "compared with"], for_table)
    return "\n".join(lines) + "\n"


def _choice(value: object, default: object) -> str:
    """A choice as a cell; the ones that differ from the default stand out."""
    text = _code(value)
    return text if value == default else f"**{text}**"


# Command line


def cli_page() -> str:
    lines = [
        "# Commands",
        "",
        "This page is generated from the commands. Each of them takes `-h` or `--help`. Exit status: 0 when all went "
        "well, 2 when something has to be mended (the message says what), 1 when `reconcile` finds nothing or the "
        "output pipe was closed, 130 after Ctrl-C.",
    ]
    context = click.Context(app, info_name="rankgauge")
    for name in app.list_commands(context):  # type: ignore[attr-defined]
        command = app.get_command(context, name)  # type: ignore[attr-defined]
        lines += ["", *_command(click.Context(command, parent=context, info_name=name), command)]
        if isinstance(command, click.Group):
            inner = click.Context(command, parent=context, info_name=name)
            for part in command.list_commands(inner):
                found = command.get_command(inner, part)
                assert found is not None
                lines += ["", *_command(click.Context(found, parent=inner, info_name=part), found, level=3)]
    return "\n".join(lines) + "\n"


def _command(context: click.Context, command: click.Command, level: int = 2) -> Iterator[str]:
    pieces = " ".join(command.collect_usage_pieces(context))
    yield f"{'#' * level} {context.command_path}"
    yield ""
    yield "```text"
    yield f"{context.command_path} {pieces}"
    yield "```"
    yield ""
    yield inspect.cleandoc(command.help or "")
    options = [_option(parameter) for parameter in command.params if isinstance(parameter, click.Option)]
    if options:
        yield ""
        yield from options


def _option(option: click.Option) -> str:
    takes = ""
    if isinstance(option.type, click.Choice):
        takes = f" ({', '.join(map(_code, option.type.choices))})"
    elif not option.is_flag:
        takes = f" {_code(option.metavar or 'N')}"
    default = ""
    if isinstance(option.show_default, str):
        default = f" Default: {option.show_default}."
    elif option.show_default:
        default = f" Default: {_code(option.default)}."
    return f"- {', '.join(map(_code, option.opts))}{takes}: {option.help}{default}"


# Python


def python_page() -> str:
    lines = [
        "# Python names",
        "",
        "This page is generated from the docstrings. All names are imported from `rankgauge` itself, for example "
        "`from rankgauge import evaluate`.",
    ]
    for name in sorted(rankgauge.__all__, key=lambda name: (name != "evaluate", name.startswith("__"), name)):
        lines += ["", *_name(name, getattr(rankgauge, name))]
    return "\n".join(lines) + "\n"


def _name(name: str, value: Any) -> Iterator[str]:
    yield f"## {name}" if not name.startswith("__") else f"## `{name}`"
    yield ""
    if inspect.ismodule(value):
        yield inspect.cleandoc(value.__doc__ or "")
        yield ""
        for inner in value.__all__:
            found = getattr(value, inner)
            if callable(found):
                yield _item(f"{name}.{inner}", (found.__doc__ or "").split("\n\n")[0])
        return
    if not callable(value):
        yield "The version of the package, as a text." if name == "__version__" else _code(repr(value))
        return
    if not inspect.isclass(value):
        yield from _block(f"{name}{_signature(inspect.signature(value), long=True)}")
        yield ""
        yield inspect.getdoc(value) or ""
        return
    yield from _block(f"class {_head(name, value)}")
    yield ""
    yield inspect.cleandoc(value.__doc__ or "")
    members = list(_members(value))
    if members:
        yield ""
        yield "Members:"
        yield ""
        yield from members


def _head(name: str, value: type) -> str:
    if issubclass(value, Exception):
        return f"{name}({value.__base__.__name__})" if value.__base__ else name
    if not dataclasses.is_dataclass(value):
        return name + _signature(inspect.signature(value), long=True, without_return=True)
    shown = []
    for field in dataclasses.fields(value):
        if not field.init or field.name.startswith("_"):
            continue
        default = "" if field.default is dataclasses.MISSING else f" = {field.default!r}"
        if field.default_factory is not dataclasses.MISSING:
            made = field.default_factory()
            default = f" = {made!r}" if isinstance(made, list | dict | tuple | str) else " = ..."
        shown.append(f"{field.name}: {_annotation(field.type)}{default}")
    return f"{name}({_joined(shown)})"


def _block(text: str) -> Iterator[str]:
    yield "```python"
    yield text
    yield "```"


def _annotation(value: Any) -> str:
    return value if isinstance(value, str) else getattr(value, "__name__", str(value))


def _signature(signature: inspect.Signature, *, long: bool, without_return: bool = False) -> str:
    """The signature with annotations as they stand in the source, one parameter a line if `long`."""
    shown: list[str] = []
    starred = False
    for parameter in signature.parameters.values():
        if parameter.name in ("self", "cls"):
            continue
        mark = {parameter.VAR_POSITIONAL: "*", parameter.VAR_KEYWORD: "**"}.get(parameter.kind, "")
        if parameter.kind is parameter.KEYWORD_ONLY and not starred:
            shown.append("*")
            starred = True
        text = mark + parameter.name
        if parameter.annotation is not parameter.empty:
            text += f": {_annotation(parameter.annotation)}"
        if parameter.default is not parameter.empty:
            text += f" = {parameter.default!r}"
        shown.append(text)
    returns = signature.return_annotation
    arrow = "" if returns is signature.empty or without_return else f" -> {_annotation(returns)}"
    return f"({_joined(shown) if long else ', '.join(shown)}){arrow}"


def _joined(shown: list[str]) -> str:
    """Parameters on one line, or one a line if there are many."""
    return "\n    " + ",\n    ".join(shown) + ",\n" if len(shown) > 3 else ", ".join(shown)


def _members(value: type) -> Iterator[str]:
    """Public methods and properties that the class itself defines, in their order."""
    for name, member in vars(value).items():
        if name.startswith("_"):
            continue
        if isinstance(member, property) or hasattr(member, "func"):
            getter = member.fget if isinstance(member, property) else member.func
            returns = _annotation(getter.__annotations__.get("return", ""))
            yield _item(f"{name}: {returns}" if returns else name, getter.__doc__)
        elif isinstance(member, staticmethod | classmethod) or inspect.isfunction(member):
            function = member if inspect.isfunction(member) else member.__func__
            yield _item(f"{name}{_signature(inspect.signature(function), long=False)}", function.__doc__)


def _item(head: str, doc: str | None) -> str:
    text = " ".join(inspect.cleandoc(doc or "").split())
    return f"- {_code(head)}" + (f": {text}" if text else "")


# Terms


def glossary_page(language: Language) -> str:
    """The terms of docs/terms.toml in one language, in its order, which goes from test sets to monitors."""
    words, other = _WORDS[language], "zh" if language == "en" else "en"
    terms = tomllib.loads((DOCS / "terms.toml").read_text(encoding="utf-8"))["term"]
    rows = [[f"**{term[language]}**", term[other], term[f"about_{language}"]] for term in terms]
    lines = [f"# {words['glossary']}", "", words["terms"], ""]
    return "\n".join([*lines, *_table([words["term"], words["other"], words["about"]], rows)]) + "\n"


def main() -> None:
    for path, text in pages().items():
        (DOCS / path).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
