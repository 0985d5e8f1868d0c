"""From texts to vectors: latent semantic analysis without weights, or a sentence-transformers model."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Annotated, Any

import numpy as np

from rankgauge.errors import DataError, RankgaugeError
from rankgauge.extras import check_installed, optional
from rankgauge.retrievers.checks import Bounds, check_model_name, check_whole
from rankgauge.retrievers.text import check_text, tokenizer_for

__all__ = ["LSA", "Encoder", "check_encoder", "check_model", "model_encoder", "sentence_model"]

Encoder = Callable[[Sequence[str]], Any]
"""Texts to an array with one row for each."""
Dimensions = Annotated[int, "Length of the vectors of latent semantic analysis.", Bounds(1)]
ModelName = Annotated[str | None, "A sentence-transformers model, or the endpoint's."]
EndpointUrl = Annotated[str | None, "URL of an OpenAI-compatible server, before /embeddings."]
KeyVariable = Annotated[str | None, "Environment variable that holds the endpoint's key."]

_LSA = ("dense retrieval without a model", "scikit-learn")


class LSA:
    """Latent semantic analysis (Deerwester et al. 1990), fitted to the texts of a corpus.

    Rows are tf-idf vectors, (1 + ln tf) * (1 + ln((1 + N) / (1 + n_t))), of length 1, projected onto the `dimensions`
    strongest directions of their singular value decomposition; fewer where the corpus has fewer documents or terms.
    """

    def __init__(self, texts: Sequence[str], *, dimensions: int = 256, language: str = "auto") -> None:
        check_whole("dimensions", dimensions, 1)
        terms = tokenizer_for(language)
        features = optional("sklearn.feature_extraction.text", *_LSA)
        decomposition = optional("sklearn.decomposition", *_LSA)
        self._tfidf = features.TfidfVectorizer(analyzer=terms, sublinear_tf=True)
        try:
            table = self._tfidf.fit_transform(texts)
        except ValueError as error:
            if "empty vocabulary" not in str(error):
                raise
            raise DataError(f"none of the {len(texts)} documents holds a word that could be searched") from None
        self.configuration = {"lsa": dimensions, "language": language}
        self._svd = None
        if table.shape[1] == 1:  # a single term is a direction already
            return
        self._svd = decomposition.TruncatedSVD(min(dimensions, *table.shape), random_state=0)
        with np.errstate(all="ignore"):  # the share of explained variance, not needed here, is 0/0 for equal texts
            self._svd.fit(table)

    def __call__(self, texts: Sequence[str]) -> Any:
        table = self._tfidf.transform(texts)
        return table.toarray() if self._svd is None else self._svd.transform(table)


def model_encoder(model: Any, endpoint: str | None, api_key_env: str | None) -> Encoder:
    """A model by its name, of an endpoint if there is one, or a function."""
    if endpoint is not None:
        from rankgauge.retrievers.endpoint import EmbeddingEndpoint

        return EmbeddingEndpoint(endpoint, model=model, api_key_env=api_key_env)
    if api_key_env is not None:
        raise RankgaugeError("api_key_env belongs to an endpoint; give endpoint= too")
    if callable(model):
        return model  # type: ignore[no-any-return]
    if isinstance(model, str):
        return sentence_encoder(model)
    raise RankgaugeError(f"model={model!r} must be the name of a model or a function from texts to an array")


def check_encoder(model: Any = None, endpoint: str | None = None, language: str = "auto") -> None:
    """Raise an error unless what turns texts into vectors is installed."""
    if endpoint is not None:
        check_installed("httpx", "asking a URL", "httpx", "http")
        check_model_name(endpoint, model)
    elif isinstance(model, str):
        check_model(model)
    elif model is None:
        check_text(language)
        check_installed("sklearn", *_LSA)


def check_model(model: str) -> None:
    """Raise an error unless sentence-transformers is installed."""
    check_installed("sentence_transformers", f"the model {model!r}", "sentence-transformers", "models")


def sentence_model(kind: str, model: str) -> Any:
    """A sentence-transformers model by name or folder."""
    library = optional("sentence_transformers", f"the model {model!r}", "sentence-transformers", "models")
    try:
        return getattr(library, kind)(model)
    except (OSError, ValueError) as error:
        raise RankgaugeError(f"the model {model!r} cannot be loaded as a {kind}: {error}") from None


def sentence_encoder(model: str) -> Encoder:
    """Texts to vectors by a sentence-transformers model."""
    loaded = sentence_model("SentenceTransformer", model)
    lock = threading.Lock()  # its tokenizers must not be used by two threads at once

    def encode(texts: Sequence[str]) -> Any:
        with lock:
            return loaded.encode(list(texts), show_progress_bar=False, convert_to_numpy=True)

    return encode
