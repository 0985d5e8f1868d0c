"""What the commands of `rankgauge history` share: words, opening, printing."""

from __future__ import annotations

import datetime
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rankgauge.history.store import History

__all__ = ["WORDS", "counted", "moment", "opened_history", "print_text", "to_json"]

WORDS = {
    "en": {
        "stored": "{path}: stored as record {id}",
        "there": "{path}: record {id} is the same already",
        "labelled": "{path}: record {id} is the same already, and now has the label {label}",
        "kept_label": "{path}: record {id} is the same already, and keeps its label {old}; it is not {label}",
        "empty": "no record matches",
        "more": "The newest {n} are shown; --limit shows more.",
        "gone": "{n} removed, {first} to {last}",
        "would": "{n} would be removed, {first} to {last}: {ids}\nNothing was removed yet: add --yes to do it.",
        "none": "no record is to be removed",
        "held": "kept, since a baseline needs them: {ids}",
        "record": "1 record",
        "records": "{n} records",
        "point": "1 point",
        "points": "{n} points",
        "written": "{path}: {n}",
    },
    "zh": {
        "stored": "{path}：已存入，编号 {id}",
        "there": "{path}：已有相同的记录，编号 {id}",
        "labelled": "{path}：已有相同的记录，编号 {id}，现加上标签 {label}",
        "kept_label": "{path}：已有相同的记录，编号 {id}，其标签仍为 {old}，未改为 {label}",
        "empty": "没有符合条件的记录",
        "more": "仅显示最新的 {n} 条，可用 --limit 查看更多。",
        "gone": "已删除 {n}，从 {first} 到 {last}",
        "would": "将删除 {n}，从 {first} 到 {last}：{ids}\n尚未删除任何内容：加上 --yes 才会执行。",
        "none": "没有需要删除的记录",
        "held": "因基线需要而保留：{ids}",
        "record": "1 条记录",
        "records": "{n} 条记录",
        "point": "1 个点",
        "points": "{n} 个点",
        "written": "{path}：{n}",
    },
}


def opened_history(place: str | None, *, create: bool = False, write: bool = False) -> History:
    """The history; without `write` one that cannot be written is read."""
    from rankgauge.history.store import History

    return History.open(place, create=create, write=write)


def counted(number: int, noun: str, language: str) -> str:
    return WORDS[language][noun if number == 1 else f"{noun}s"].format(n=number)


def moment(text: str | None, *, whole_day: bool = False) -> datetime.datetime | None:
    from rankgauge.history.times import parse_moment

    return None if text is None else parse_moment(text, whole_day=whole_day)


def to_json(value: Any) -> str:
    from rankgauge.formats.json_values import dumps

    return dumps(value).decode()


def print_text(text: str) -> None:
    from rankgauge.formats.sources import write_whole

    write_whole("-", text.encode())
