"""The columns of Spark's data frames, found under the names that data frames elsewhere may give them, and cast."""

from __future__ import annotations

from typing import Any

from rankgauge.errors import ContractError, DataError
from rankgauge.model.contract import Contract
from rankgauge.model.frames import column_roles
from rankgauge.model.run import is_ranked
from rankgauge.spark.partitions import EMPTY, PLACE

__all__ = ["check_frame", "judgment_columns", "query_columns", "run_columns"]

_WHOLE = ("byte", "short", "integer", "long")
_NUMBERS = (*_WHOLE, "float", "double")


def check_frame(value: Any, argument: str) -> None:
    """Raise an error unless a value is a data frame of Spark."""
    module = type(value).__module__
    if not module.startswith("pyspark.sql") or not hasattr(value, "sparkSession"):
        raise DataError(f"`{argument}` must be a Spark DataFrame, not a {type(value).__name__}")
    if _is_stopped(value.sparkSession):
        raise DataError(f"the Spark session of `{argument}` was stopped: start one, and read the rows anew")


def _is_stopped(session: Any) -> bool:
    """Of a session beside Java, or of Spark Connect."""
    if hasattr(session, "is_stopped"):
        return bool(session.is_stopped)
    context = session.sparkContext
    return getattr(context, "_jsc", context) is None


def _type(frame: Any, column: str) -> str:
    return str(frame.schema[column].dataType.typeName())


def _id(frame: Any, column: str, role: str, where: str) -> Any:
    """Ids as text, as local data frames have them: whole numbers become text."""
    from pyspark.sql import functions

    kind = _type(frame, column)
    if kind not in ("string", "varchar", "char", *_WHOLE):
        raise DataError(f"{where}: the column {column!r} holds {kind}, not ids; cast it to string or bigint before")
    return functions.col(_quoted(column)).cast("string").alias(role)


def _number(frame: Any, column: str, role: str, where: str) -> Any:
    from pyspark.sql import functions

    kind = _type(frame, column)
    found = functions.col(_quoted(column))
    if kind in _NUMBERS or kind.startswith("decimal"):
        return found.cast("double").alias(role)
    if kind != "string":
        raise DataError(f"{where}: the column {column!r} holds {kind}, not numbers; cast it to double before")
    return found.try_cast("double").alias(role)  # what is no number becomes null, which is told with its row


def _quoted(column: str) -> str:
    return "`" + column.replace("`", "``") + "`"


def run_columns(frame: Any, contract: Contract, name: str) -> Any:
    """Columns query, doc and score; where the list's own order counts, also its place."""
    from pyspark.sql import functions

    check_frame(frame, "df_run")
    names = frame.columns
    ranked = is_ranked(names)
    try:
        wanted, optional = (("rank",), ()) if ranked else (("score",), ("rank",))
        roles = column_roles(names, ("query", "doc", *wanted), name, optional=optional)
    except DataError as error:
        if {"grade", "relevance", "rel", "label"} & {column.casefold() for column in names}:
            raise DataError(f"{error}; the run comes first, then the judgments") from None
        raise
    chosen = [_id(frame, roles[role], role, name) for role in ("query", "doc")]
    if ranked:
        chosen.append((-_number(frame, roles["rank"], "score", name)).alias("score"))
    else:
        chosen.append(_number(frame, roles["score"], "score", name))
    if {"error", "latency"} <= set(names):  # of run_retriever, where a query without documents has a row of its own
        chosen.append(functions.col(_quoted(roles["doc"])).isNull().alias(EMPTY))
    if contract.ties in ("given", "stable"):
        if "rank" not in roles:
            raise ContractError(
                f"{name}: `ties={contract.ties!r}` follows the order of the list, and the rows of a Spark DataFrame "
                "have none: add a column `rank`, or choose `ties='trec'` or `ties='expected'`"
            )
        chosen.append(functions.col(_quoted(roles["rank"])).cast("double").alias(PLACE))
    return frame.select(*chosen)


def judgment_columns(frame: Any, name: str) -> Any:
    """Columns query, doc, grade, and subtopic where there are several."""
    roles = column_roles(frame.columns, ("query", "doc", "grade"), name, optional=("subtopic",))
    chosen = [_id(frame, roles[role], role, name) for role in roles if role != "grade"]
    return frame.select(*chosen, _number(frame, roles["grade"], "grade", name))


def query_columns(frame: Any) -> Any:
    """Columns query and text."""
    check_frame(frame, "df_queries")
    roles = column_roles(frame.columns, ("query_id", "query_text"), "queries")
    return frame.select(
        _id(frame, roles["query_id"], "query", "queries"), _id(frame, roles["query_text"], "text", "queries")
    )
