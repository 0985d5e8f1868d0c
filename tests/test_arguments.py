"""A misspelt argument gets "did you mean"; everything else about the function stays."""

from __future__ import annotations

import inspect

import pytest

import rankgauge
from rankgauge.arguments import named_arguments
from rankgauge.errors import DataError


@named_arguments
def search(index: str, /, query: str, *, depth: int = 3, timeout: float = 1.0) -> str:
    """Search."""
    return f"{index} {query} {depth} {timeout}"


class Client:
    @named_arguments
    def __init__(self, url: str, *, timeout: float = 1.0) -> None:
        self.url = url


def test_right_arguments_pass() -> None:
    assert search("i", "q", depth=4) == "i q 4 1.0"
    assert Client("u").url == "u"


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("dept", r"search\(\) has no parameter 'dept'; did you mean depth\?"),
        ("zzz", r"search\(\) has no parameter 'zzz'; it has: query, depth, timeout"),
        ("index", r"has no parameter 'index'"),
    ],
)
def test_unknown_names_are_errors_that_say_what_was_meant(name: str, said: str) -> None:
    with pytest.raises(DataError, match=said):
        search("i", "q", **{name: 1})


def test_classes_are_named() -> None:
    with pytest.raises(DataError, match=r"Client\(\) has no parameter 'timout'; did you mean timeout\?"):
        Client("u", timout=1)


def test_what_python_says_itself_stays() -> None:
    with pytest.raises(TypeError, match="query"):
        search("i")


def test_signature_and_name_stay() -> None:
    assert list(inspect.signature(search).parameters) == ["index", "query", "depth", "timeout"]
    assert (search.__name__, search.__doc__) == ("search", "Search.")


@pytest.mark.parametrize(
    ("given", "meant"),
    [("top_k", "k"), ("limit", "k"), ("metric", "measures"), ("metrics", "measures"), ("dataset", "test_set")],
)
def test_the_words_of_other_tools(given: str, meant: str) -> None:
    with pytest.raises(DataError, match=f"has no parameter '{given}'; did you mean {meant}\\?"):
        rankgauge.evaluate_retriever(lambda query, k: [], {"q": {"d": 1}}, **{given: 5})
