"""Embeddings from a server that speaks OpenAI's protocol: POST {endpoint}/embeddings."""

from __future__ import annotations

import http.client
import json
import math
import os
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Sequence
from email.utils import parsedate_to_datetime
from typing import Any
from urllib.parse import urlsplit

import numpy as np
import numpy.typing as npt

from rankgauge.errors import RankgaugeError, RetrieverError
from rankgauge.retrievers.checks import check_number, check_whole

__all__ = ["EmbeddingEndpoint"]

_SHOWN = 200  # characters of a server's answer in an error


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """A key must not follow a redirect to another host."""

    def redirect_request(self, *_: Any, **__: Any) -> None:
        return None


class EmbeddingEndpoint:
    """Texts to vectors, in batches. Answers 429 and 5xx and broken connections are tried again, after the pause that
    Retry-After asks for, else after 0.5, 1, 2, ... seconds.
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
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        parts = urlsplit(endpoint) if isinstance(endpoint, str) else None
        if parts is None or parts.scheme not in ("http", "https") or not parts.hostname:
            raise RankgaugeError(f"endpoint={endpoint!r} must be a URL such as https://host/v1")
        if not isinstance(model, str) or not model:
            raise RankgaugeError(f"the endpoint {endpoint} needs model=, the name of the model it should use")
        base = endpoint.rstrip("/")
        self.url = base if base.endswith("/embeddings") else f"{base}/embeddings"
        self.model, self._sleep = model, sleep
        self._batch, self._tries = check_whole("batch_size", batch_size, 1), check_whole("tries", tries, 1)
        self._timeout = check_number("timeout", timeout, 0.001)
        self._headers = {"Content-Type": "application/json", "Accept": "application/json"}
        if api_key_env is not None:
            key = os.environ.get(api_key_env, "").strip()
            if not key:
                raise RankgaugeError(
                    f"the environment variable {api_key_env} (api_key_env) is not set: put the key there"
                )
            self._headers["Authorization"] = f"Bearer {key}"
        self._opener = urllib.request.build_opener(_NoRedirects)

    def __call__(self, texts: Sequence[str]) -> npt.NDArray[np.float64]:
        batches = [self._embed(texts[i : i + self._batch]) for i in range(0, len(texts), self._batch)]
        widths = {batch.shape[1] for batch in batches}
        if len(widths) > 1:
            raise RetrieverError(f"{self.url} gave vectors of different lengths: {sorted(widths)}")
        return np.concatenate(batches)

    def _embed(self, texts: Sequence[str]) -> npt.NDArray[np.float64]:
        # Servers refuse an empty text; a blank one has a vector too.
        body = json.dumps({"model": self.model, "input": [text or " " for text in texts], "encoding_format": "float"})
        for attempt in range(1, self._tries + 1):
            try:
                return self._vectors(self._post(body.encode()), len(texts))
            except RetrieverError as error:
                if not error.retry or attempt == self._tries:
                    tried = f" (tried {attempt} times)" if attempt > 1 else ""
                    raise RetrieverError(f"{error}{tried}", retry=error.retry, retry_after=error.retry_after) from None
                pause = 0.5 * 2 ** (attempt - 1) if error.retry_after is None else error.retry_after
                self._sleep(min(pause, self._timeout))
        raise AssertionError("the last try returns or raises")

    def _post(self, body: bytes) -> bytes:
        request = urllib.request.Request(self.url, data=body, headers=self._headers, method="POST")
        try:
            with self._opener.open(request, timeout=self._timeout) as answer:
                data: bytes = answer.read()
                return data
        except urllib.error.HTTPError as error:
            with error:
                said = _start(_read(error))
            again = error.code == 429 or error.code >= 500
            pause = _retry_after(error.headers.get("Retry-After")) if again else None
            raise RetrieverError(
                f"{self.url} answered {error.code} {error.reason}: {said}{_advice(error.code)}",
                retry=again,
                retry_after=pause,
            ) from None
        except (OSError, http.client.HTTPException) as error:
            reason = getattr(error, "reason", None) or str(error) or type(error).__name__
            raise RetrieverError(f"{self.url} cannot be reached: {reason}", retry=True) from None

    def _vectors(self, data: bytes, count: int) -> npt.NDArray[np.float64]:
        try:
            value = json.loads(data)
        except ValueError:
            raise RetrieverError(f"{self.url} answered with what is no JSON: {_start(data)}") from None
        try:
            rows = sorted(value["data"], key=lambda row: row["index"])
            vectors = np.asarray([row["embedding"] for row in rows], dtype=np.float64)
            places = [row["index"] for row in rows]
        except (KeyError, TypeError, ValueError):
            raise RetrieverError(
                f"{self.url} did not answer as OpenAI's embeddings do, "
                f'{{"data": [{{"index": 0, "embedding": [...]}}, ...]}}: {_start(data)}'
            ) from None
        if places != list(range(count)) or vectors.ndim != 2:
            raise RetrieverError(f"{self.url} gave {len(places)} vectors for {count} texts")
        return vectors


def _read(answer: Any) -> bytes:
    try:
        data: bytes = answer.read(4096)
    except (OSError, http.client.HTTPException):
        return b""
    return data


def _start(data: bytes) -> str:
    text = " ".join(data.decode("utf-8", "replace").split())
    return f"{text[:_SHOWN]}..." if len(text) > _SHOWN else text or "(nothing)"


def _advice(code: int) -> str:
    if code in (401, 403):
        return "; name the environment variable that holds the key with api_key_env"
    if code == 404:
        return "; the endpoint is the URL before /embeddings, such as https://host/v1"
    if 300 <= code < 400:
        return "; redirects are not followed, give the final URL"
    return ""


def _retry_after(value: str | None) -> float | None:
    """Seconds to wait: Retry-After holds a number, or a date."""
    if not value:
        return None
    try:
        seconds = float(value)
    except ValueError:
        try:
            seconds = parsedate_to_datetime(value).timestamp() - time.time()
        except (TypeError, ValueError):
            return None
    return max(0.0, seconds) if math.isfinite(seconds) else None
