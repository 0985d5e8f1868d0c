"""The public names of the package, each where it is said to be."""

from collections.abc import Callable
from typing import Any

import pytest

import rankgauge.retrievers as package
from rankgauge.errors import DataError


def test_every_name_is_there() -> None:
    for name in package.__all__:
        assert getattr(package, name) is not None


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: package.BM25({"d": "x"}, languge="en"), "BM25() has no parameter 'languge'; did you mean language?"),
        (lambda: package.Dense({"d": "x"}, dimension=1), "did you mean dimensions?"),
        (lambda: package.HttpRetriever("http://h/", timout=1), "did you mean timeout?"),
        (lambda: package.run_queries(lambda query, k: [], {"q": "x"}, 1, concurency=2), "did you mean concurrency?"),
        (lambda: package.from_chroma(None, embedd=len), "did you mean embed?"),
        (lambda: package.fuse([], weight=[1]), "did you mean weights?"),
    ],
)
def test_a_misspelt_argument_says_what_was_meant(call: Callable[[], Any], said: str) -> None:
    with pytest.raises(DataError) as caught:
        call()
    assert said in str(caught.value)
