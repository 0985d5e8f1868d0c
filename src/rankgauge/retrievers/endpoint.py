"""Embeddings from a server that speaks OpenAI's protocol: POST {endpoint}/embeddings."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from rankgauge.errors import RankgaugeError, RetrieverError
from rankgauge.formats.secrets import masked
from rankgauge.formats.variables import filled, unset_in
from rankgauge.retrievers.checks import check_model_name, check_number, check_whole, unset_fault
from rankgauge.retrievers.web import MAX_BODY, Service, decoded
from rankgauge.words.visible import shortened

__all__ = ["EmbeddingEndpoint"]

_ADVICE = {
    **dict.fromkeys((401, 403), "name the environment variable that holds the key with api_key_env"),
    404: "the endpoint is the URL before /embeddings, such as https://host/v1",
}
_OF_A_TEXT = 250_000  # bytes of a vector as JSON
_READ = 1 << 16  # bytes of an answer that are looked at for an error
_SHOWN = 200  # characters of a server's answer in an error


class EmbeddingEndpoint:
    """Texts to vectors, in batches. Overload and broken connections are tried again, after the pause that Retry-After
    asks for, else after 0.5, 1, 2, ... seconds. An answer may have `max_body` bytes; by default 10 MB, or 250 kB for
    each text of a batch, which 10,000 numbers take.
    """

    def __init__(
        self,
        endpoint: str,
        *,
        model: str,
        api_key_env: str | None = None,
        batch_size: int = 64,
        tries: int = 5,
        timeout: float = 60,
        max_body: int | None = None,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        base = endpoint.rstrip("/") if isinstance(endpoint, str) else ""
        if unset := unset_in(base):
            raise RankgaugeError(unset_fault("endpoint", unset[0]))
        if not filled(base).startswith(("http://", "https://")):
            raise RankgaugeError(f"endpoint={masked(repr(endpoint))} must be a URL such as https://host/v1")
        check_model_name(endpoint, model)
        self.url = base if filled(base).rstrip("/").endswith("/embeddings") else f"{base}/embeddings"
        self._target = filled(self.url)
        self.model, self._sleep = model, sleep
        self._batch, self._tries = check_whole("batch_size", batch_size, 1), check_whole("tries", tries, 1)
        self._timeout = check_number("timeout", timeout, 0.001)
        most = max(MAX_BODY, _OF_A_TEXT * self._batch) if max_body is None else check_whole("max_body", max_body, 1)
        headers = {}
        if api_key_env is not None:
            key = os.environ.get(api_key_env, "").strip()
            if not key:
                raise RankgaugeError(
                    f"the environment variable {api_key_env} (api_key_env) is not set: put the key there"
                )
            headers["Authorization"] = f"Bearer {key}"
        self._service = Service(
            self.url, headers=headers, timeout=self._timeout, advice=_ADVICE, proxies=True, max_body=most
        )
        self.configuration = {"url": self.url, "model": model}
        """What decides about the vectors."""

    def __call__(self, texts: Sequence[str]) -> npt.NDArray[np.float64]:
        batches = [self._embed(texts[i : i + self._batch]) for i in range(0, len(texts), self._batch)]
        widths = {batch.shape[1] for batch in batches}
        if len(widths) > 1:
            raise RetrieverError(f"{masked(self.url)} gave vectors of different lengths: {sorted(widths)}")
        return np.concatenate(batches)

    def _embed(self, texts: Sequence[str]) -> npt.NDArray[np.float64]:
        # Servers refuse an empty text; a blank one has a vector too.
        body = json.dumps({"model": self.model, "input": [text or " " for text in texts], "encoding_format": "float"})
        for attempt in range(1, self._tries + 1):
            try:
                return self._vectors(self._service.send("POST", self._target, body.encode()), len(texts))
            except RetrieverError as error:
                if not error.retry or attempt == self._tries:
                    tried = f" (tried {attempt} times)" if attempt > 1 else ""
                    raise RetrieverError(f"{error}{tried}", retry=error.retry, retry_after=error.retry_after) from None
                pause = 0.5 * 2 ** (attempt - 1) if error.retry_after is None else error.retry_after
                self._sleep(min(pause, self._timeout))
        raise AssertionError("the last try returns or raises")

    def _vectors(self, data: bytes, count: int) -> npt.NDArray[np.float64]:
        try:
            value = json.loads(data)
        except (ValueError, RecursionError):
            raise RetrieverError(f"{masked(self.url)} answered with what is no JSON: {_start(data)}") from None
        try:
            rows = sorted(value["data"], key=lambda row: row["index"])
            vectors = np.asarray([row["embedding"] for row in rows], dtype=np.float64)
            places = [row["index"] for row in rows]
        except (KeyError, TypeError, ValueError):
            raise RetrieverError(
                f"{masked(self.url)} did not answer as OpenAI's embeddings do, "
                f'{{"data": [{{"index": 0, "embedding": [...]}}, ...]}}: {_start(data)}'
            ) from None
        if places != list(range(count)) or vectors.ndim != 2:
            raise RetrieverError(f"{masked(self.url)} gave {len(places)} vectors for {count} texts")
        return vectors


def _start(data: bytes) -> str:
    return shortened(masked(decoded(data[:_READ])), _SHOWN) or "(nothing)"
