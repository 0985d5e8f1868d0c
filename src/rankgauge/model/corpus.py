"""Corpus: the texts of documents."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from rankgauge.arguments import check_text, named_arguments
from rankgauge.errors import DataError, counted

__all__ = ["Corpus"]


@named_arguments
class Corpus(Mapping[str, str]):
    """Texts of documents by id, immutable."""

    def __init__(self, texts: Mapping[str, str], *, name: str = "corpus") -> None:
        check_text("name", name)
        try:
            self._texts = dict(texts)
        except (TypeError, ValueError):
            raise DataError(
                f'{name}: a {type(texts).__name__} is no corpus; give texts by id, {{"d1": "its text"}}, or read a '
                "file with load_corpus(path)"
            ) from None
        if any(not issubclass(kind, str) for kind in set(map(type, self._texts.values()))):
            doc, text = next((doc, text) for doc, text in self._texts.items() if not isinstance(text, str))
            raise DataError(f"{name}: document {doc!r} has a {type(text).__name__} for its text; give a text")
        self.name = name

    def __getitem__(self, doc: str) -> str:
        return self._texts[doc]

    def __iter__(self) -> Iterator[str]:
        return iter(self._texts)

    def __len__(self) -> int:
        return len(self._texts)

    def __repr__(self) -> str:
        return f"Corpus({self.name!r}: {counted(len(self), 'document')})"
