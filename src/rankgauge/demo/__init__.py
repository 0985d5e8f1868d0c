"""Two test sets with their corpora, bundled: Python's standard library, and a small one in Chinese."""

from rankgauge.demo.chinese import chinese_corpus, chinese_testset
from rankgauge.demo.stdlib import stdlib_corpus, stdlib_testset

__all__ = ["chinese_corpus", "chinese_testset", "stdlib_corpus", "stdlib_testset"]
