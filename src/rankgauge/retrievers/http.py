"""HttpRetriever: a search service behind a URL that speaks JSON."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from functools import partial
from itertools import islice
from typing import Annotated, Any, Final
from urllib.parse import quote, urlencode, urlsplit

from rankgauge.arguments import named_arguments
from rankgauge.errors import RetrieverError
from rankgauge.formats.secrets import masked, register_secrets
from rankgauge.formats.variables import filled, unset_in
from rankgauge.retrievers.calling import K_NAMES, Depth
from rankgauge.retrievers.checks import check_choice, check_number, check_whole, faults_of, unset_fault
from rankgauge.retrievers.fields import ABSENT, Path, follow, parse_path, shown
from rankgauge.retrievers.hits import Listed
from rankgauge.retrievers.web import MAX_BODY, Service, check_url, decoded
from rankgauge.words.visible import shortened

__all__ = ["HttpRetriever", "depth_of", "fill"]

_READ: Final = 1 << 12  # bytes of an answer that are looked at for what to show of its beginning
_DEFAULT_BODY: Final = {"query": "{query}", "k": "{k}"}
_SIZES: Final = frozenset((*K_NAMES, "hits", "rows", "top", "per_page", "page_size", "pagesize", "num", "maxresults"))
_ADVICE: Final = dict.fromkeys((401, 403), "check the headers and their variables")


class HttpRetriever:
    """Asks a URL and reads ids, and scores if there are any, out of the JSON it answers.

    In `body`, `"{k}"` becomes the number of results and `{query}` the text of the query, wherever they stand; in `url`
    they are quoted. A GET request without them in its URL sends `body` as the parameters of the URL. `ids` and
    `scores` are paths such as `$.hits[*].id`; a `-` before `scores` says that smaller is better. In `url`, `headers`
    and `body`, `${NAME}` is taken from the environment, so that no secret stands in a file. User and password in the
    URL are sent as Basic authorization.
    """

    each = ""
    """What stands before a field of a result in the paths, where an adapter writes it by itself."""

    @named_arguments
    def __init__(
        self,
        url: Annotated[str, "The URL to ask."],
        *,
        body: Annotated[Any, "What is sent, with {query} and {k} in their places."] = None,
        method: Annotated[str, "POST, or GET."] = "POST",
        ids: Annotated[str, "Path to the ids in the answer."] = "$.hits[*].id",
        scores: Annotated[str | None, "Path to the scores, if there are any."] = None,
        headers: Annotated[Mapping[str, str] | None, "Headers; ${NAME} is taken from the environment."] = None,
        timeout: Annotated[float, "Seconds for one call."] = 30.0,
        max_body: Annotated[int, "Bytes of the longest answer that is read."] = MAX_BODY,
    ) -> None:
        for given, value in (("url", url), ("method", method), ("ids", ids), ("scores", scores)):
            if not isinstance(value, str) and not (value is None and given == "scores"):
                raise RetrieverError(f"{given}={value!r} must be a text")
        for given, held in (("url", url), ("headers", headers), ("body", body)):
            if unset := unset_in(held):
                raise RetrieverError(unset_fault(given, unset[0]))
        register_secrets(body)
        address = filled(url)
        check_url(address)
        self.url, self.method = url, check_choice("method", method.upper(), ("POST", "GET"))
        self.timeout = check_number("timeout", timeout, 0.001)
        self.max_body = check_whole("max_body", max_body, 1)
        self._target = _quoted(address)
        self.body = _DEFAULT_BODY if body is None and "{query}" not in address else body
        self._content = filled(self.body)
        try:
            written = json.dumps(self.body, ensure_ascii=False)
        except (TypeError, ValueError) as error:
            raise RetrieverError(f"the body cannot be written as JSON: {error}") from None
        if "{query}" not in address and "{query}" not in written:
            raise RetrieverError("{query} stands neither in the url nor in the body: the retriever would never see it")
        self.depth = depth_of([address, self.body])
        """What decides how many results the service gives."""
        self._as_parameters = self.method == "GET" and self.body is not None
        if self._as_parameters and not isinstance(self.body, Mapping):
            raise RetrieverError("the body of a GET request is sent as parameters of the URL and must be a dictionary")
        self.ids, self.scores = ids, scores
        self._id_path = parse_path(ids, each=True)
        self._score_path = None if scores is None else parse_path(scores.removeprefix("-"), each=True)
        self._service = Service(
            url, headers=_checked(headers or {}), timeout=self.timeout, advice=_ADVICE, max_body=self.max_body
        )
        self.configuration: dict[str, Any] = {
            "url": self.url,
            "method": self.method,
            "body": self.body,
            "ids": self.ids,
            "scores": self.scores,
            "headers": dict(headers or {}),
        }
        """What decides about the answers; names of variables stand in the place of secrets."""

    @staticmethod
    def faults(**parameters: Any) -> list[str]:
        """What is wrong with values that have the right types, all of it. Nothing is connected to."""
        together = ("url", "body", "method")  # the query may stand in any of these
        first = {key: parameters[key] for key in together if key in parameters}
        alone = [{"url": "http://localhost/", key: parameters[key]} for key in parameters if key not in together]
        tried = [*([first] if "url" in first else []), *alone]
        return faults_of(*(partial(HttpRetriever, **given) for given in tried))

    def search(self, query: str, k: int | None) -> list[Any]:
        """Ids, or (id, score) pairs, in the order of the answer; with them, the answer and its headers."""
        data, headers = self._service.exchange(self.method, *self._request(query, k))
        answer = self._parsed(data)
        ids = select(answer, self._id_path, self.ids)
        if ids and all(found is None for found in ids):
            raise RetrieverError(self._nothing(answer, "ids", self._id_path, self.ids))
        if self._score_path is None or self.scores is None:
            return Listed(ids, answer, headers, self.each, self._rows(answer))
        scores = select(answer, self._score_path, self.scores)
        if ids and all(found is None for found in scores):
            raise RetrieverError(self._nothing(answer, "scores", self._score_path, self.scores))
        if len(scores) != len(ids):
            raise RetrieverError(
                f"{masked(self.url)}: {len(ids)} ids at {self.ids} but {len(scores)} scores at {self.scores}; "
                "both paths must lead through the same list"
            )
        if self.scores.startswith("-"):
            scores = [-score if isinstance(score, int | float) else score for score in scores]
        return Listed(zip(ids, scores, strict=True), answer, headers, self.each, self._rows(answer))

    def _rows(self, answer: Any) -> list[Any]:
        """The results as the service gave them, where the ids are fields of objects in a list."""
        return [] if None not in self._id_path else select(answer, _listed(self._id_path), self.ids)

    def close(self) -> None:
        """Close the connections."""
        self._service.close()

    def _nothing(self, answer: Any, what: str, path: Path, text: str) -> str:
        """What to say of a path that leads into every result of an answer and finds nothing in any."""
        listed = select(answer, _listed(path), text) if None in path else []
        keys = dict.fromkeys(str(key) for result in listed if isinstance(result, dict) for key in result)
        seen = f"they have the keys {', '.join(list(keys)[:15])}" if keys else f"such as {shown((listed or [None])[0])}"
        return (
            f"{masked(self.url)}: the path {text} finds nothing in any of the {len(listed)} results ({seen}); "
            f"set {what} to where they are" + (", or leave it out" if what == "scores" else "")
        )

    def _request(self, query: str, k: int | None) -> tuple[str, bytes | None]:
        target = self._target
        if "{" in target:
            target = target.replace("{query}", quote(query, safe="")).replace("{k}", str(k))
        if self.body is None:
            return target, None
        body = fill(self._content, query, k)
        if self._as_parameters:
            return f"{target}{'&' if '?' in target else '?'}{urlencode(body)}", None
        return target, json.dumps(body, ensure_ascii=False).encode("utf-8", "replace")

    def _parsed(self, data: bytes) -> Any:
        try:
            return json.loads(data)
        except RecursionError:
            raise RetrieverError(f"{masked(self.url)}: the answer is nested too deeply to be read") from None
        except ValueError as error:
            begin = shown(masked(decoded(data[:_READ]))[:60])  # masked before it is cut
            why = "its bytes are not UTF-8" if isinstance(error, UnicodeDecodeError) else str(error)
            raise RetrieverError(f"{masked(self.url)}: the answer is no JSON ({why}); it begins {begin}") from None


def _listed(path: Path) -> Path:
    """The part of a path that leads to the single results."""
    return path[: len(path) - path[::-1].index(None)]


def _quoted(url: str) -> str:
    """The URL with blanks and letters that no URL may hold in their escaped form; a fragment is never sent."""
    parts = urlsplit(url)
    target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    return f"{parts.scheme}://{parts.netloc}" + quote(target, safe="/?&=%{}:;,@!$'()*+~[]")


def fill(template: Any, query: str, k: int | None) -> Any:
    """A template with the query and k in their places; `"{k}"` alone becomes a number."""
    if isinstance(template, str):
        if template == "{k}":
            return k
        # At once, so that a query which holds the text {k} stays as it is.
        return re.sub(r"\{(query|k)\}", lambda found: query if found[1] == "query" else str(k), template)
    if isinstance(template, Mapping):
        return {name: fill(value, query, k) for name, value in template.items()}
    if isinstance(template, list | tuple):
        return [fill(value, query, k) for value in template]
    return template


def depth_of(template: Any) -> Depth:
    """What decides how many results a request asks for: the place of `{k}`, or the number that stands in its place."""
    told = _keys_of(template, lambda value: isinstance(value, str) and "{k}" in value)
    if told:
        return Depth("body", told[0][0])
    fixed = _keys_of(template, lambda value: isinstance(value, int) and not isinstance(value, bool))
    for name, value in fixed:
        if name.lower() in _SIZES:
            return Depth("body_fixed", name, value, told=False, optional=True)
    return Depth("body_unknown", told=False, optional=True)


def _keys_of(template: Any, wanted: Callable[[Any], bool], name: str = "") -> list[tuple[str, Any]]:
    """Values inside a template that are wanted, with the names they stand under."""
    if isinstance(template, Mapping):
        return [pair for key, value in template.items() for pair in _keys_of(value, wanted, str(key))]
    if isinstance(template, list | tuple):
        return [pair for value in template for pair in _keys_of(value, wanted, name)]
    return [(name, template)] if wanted(template) else []


def select(answer: Any, path: Path, text: str) -> list[Any]:
    """What a path leads to. Elements of a list that lack a name give None; anything else that lacks it is an error."""
    found, several = [answer], False
    for number, step in enumerate(path):
        following: list[Any] = []
        for value in found:
            inner = ABSENT
            if step is not None and isinstance(value, dict if isinstance(step, str) else list):
                inner = follow(value, (step,), ABSENT)
            if step is None and isinstance(value, list):
                following += value
            elif inner is not ABSENT:
                following.append(inner)
            elif several:
                following.append(None)
            else:
                raise RetrieverError(_lost(value, path[:number], step, text))
        found, several = following, several or step is None
    if not several:
        if not isinstance(found[0], list):
            raise RetrieverError(
                f"the path {text} leads to {shown(found[0])}, not to a list; put [*] where its list is"
            )
        return list(found[0])
    return found


def _lost(value: Any, done: Path, step: str | int | None, text: str) -> str:
    place = "$" + "".join(f".{part}" if isinstance(part, str) else f"[{part}]" for part in done)
    wanted = "list" if step is None else repr(step) if isinstance(step, str) else f"element {step}"
    # Masked before it is cut: half a key would not be found.
    keys = shortened(masked(", ".join(map(str, islice(value, 15))))) if isinstance(value, dict) else ""
    seen = f"the keys {keys}" if isinstance(value, dict) else shown(value)
    return f"the path {text} cannot be followed: there is no {wanted} at {place} of the answer, which has {seen}"


def _checked(headers: Any) -> dict[str, str]:
    """Headers with the variables of the environment in their places."""
    if not isinstance(headers, Mapping):
        raise RetrieverError(f"headers={headers!r} must be a dictionary from name to text")
    for name, text in headers.items():
        if not isinstance(name, str) or not isinstance(text, str) or not name.isascii():
            raise RetrieverError(f"the header {name} must be a text, not {text!r}")
        if any(c in "\r\n\0" or ord(c) > 255 for c in filled(text).strip()):  # it may be a secret and is not shown
            raise RetrieverError(f"the header {name} holds what no header may: line ends, or letters beyond Latin-1")
    return {name: filled(text).strip() for name, text in headers.items()}
