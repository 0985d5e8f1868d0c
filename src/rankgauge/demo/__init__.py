"""Two test sets with their corpora, bundled: Python's standard library, and a small one in Chinese."""

from importlib.resources import as_file, files

from rankgauge.demo.stdlib import stdlib_corpus, stdlib_testset
from rankgauge.formats import load_corpus, load_testset
from rankgauge.model.corpus import Corpus
from rankgauge.model.testset import TestSet

__all__ = ["chinese_corpus", "chinese_testset", "stdlib_corpus", "stdlib_testset"]


def chinese_corpus() -> Corpus:
    """Short answers of a fictional city's service desk: library, social insurance, buses, waste and the like."""
    with as_file(files("rankgauge.demo") / "data" / "chinese-corpus.jsonl") as path:
        return Corpus(load_corpus(path), name="chinese")


def chinese_testset() -> TestSet:
    """Questions of residents, with graded judgments of the documents of `chinese_corpus`."""
    with as_file(files("rankgauge.demo") / "data" / "chinese-testset.json") as path:
        return load_testset(path).renamed("chinese")
