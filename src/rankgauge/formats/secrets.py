"""Texts without secrets: what every error, log line, record, report, journal and alert goes through.

`masked` puts `***` for what is written like a secret, in texts from elsewhere such as a server's answer, and for the
values that `register_secret` was told of: passwords of addresses, values of environment variables that a plan names.
`masked_address` is for a text that is an address itself, well formed or not.
"""

from __future__ import annotations

import re
import threading
from base64 import b64decode
from collections.abc import Mapping
from dataclasses import replace
from functools import cache, lru_cache
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

from rankgauge.formats.spellings import MASK, expression, forms, without
from rankgauge.words import Note

__all__ = [
    "forget_secrets",
    "masked",
    "masked_address",
    "masked_value",
    "register_secret",
    "register_secrets",
    "secret_name",
]

_LEAST = 4
"""Shorter values are no secrets, and masking them would leave nothing readable."""
_WORD = 8
"""Shorter secrets are masked as words of their own only: `prod` in `products` is none."""
_PLAIN = frozenset(("rankgauge", "localhost", "127.0.0.1", "http", "https", "true", "false", "console", "postgresql"))
"""Values that are no secrets, whoever uses them, and stand in our own messages."""
_REMEMBERED = 2000  # characters: longer texts are seldom told twice

# Names of what is secret. Those of the second kind are secret as parameters of a URL: "status code: 401" is no secret.
_NAME = (
    r"(?:pass(?:word|wd|phrase)|pwd|secret(?:[_-]?(?:access[_-]?)?key)?|client[_-]?assertion"
    r"|(?:api|access|private|subscription|account|auth|functions|encryption|master|shared)[_-]?key"
    r"|sess(?:ion)?[_-]?id|[jp](?:hp)?sess(?:ion)?id|(?:csrf|xsrf)[_-]?token|x-amz-signature)"
)
_PARAMETER = r"(?:key|token|jwt|sig|signature|code|auth|authorization|pass|session|sid|ticket|assertion|otp|pin)"
_QUOTE = r"""(?:\\{0,3}["'])?"""
_IS = rf"""{_QUOTE}\s{{0,9}}(?:[:=]|(?<=["'])\s{{0,9}},)\s{{0,9}}(?:[\[(]\s{{0,9}})?(?:b(?=["']))?"""
_VALUE = r"""(\\{0,3}"[^"]*"|\\{0,3}'[^']*'|[^\s"'&,;)}\]\\]+)"""
# Texts without any of these hold nothing that the expressions below would find.
_HINT = re.compile(r"[:=@]|cookie|auth|token|bearer|basic|eyJ|[sr]k-|gh[opsu]_|xox|AKIA|-----|,", re.IGNORECASE)
_CREDENTIALS = re.compile(r"(:/*|//).*@", re.DOTALL)
_PASSWORD_OPTION = re.compile(r"(password\s*=\s*)('(?:[^'\\]|\\.)*'?|[^&\s]*)", re.IGNORECASE)
_SECRET_NAME = rf"(?:.*[_.-])?(?:{_NAME}|credentials?|(?:.*[_-])?token|(?:proxy-)?authorization|(?:set-)?cookie)"
_SECRET_PARAMETER = rf"(?:.*[_.-])?(?:{_NAME}|{_PARAMETER}|x-amz-credential)"
_AUTHORIZATION = re.compile(r"(?:bearer|basic|digest|token|apikey|negotiate)\s+(\S+)", re.IGNORECASE)
_REFERENCE = re.compile(r"\$\{\w+\}")
_ESCAPED = re.compile(r"%(?:25)*[3-7][0-9a-f]|\\x[3-7]|\\u00[3-7]|&#", re.IGNORECASE)
_RUN = re.compile(r"[a-z0-9]+")

_registered: frozenset[str] = frozenset()
_lock = threading.Lock()
_anchors: frozenset[str] = frozenset()
"""The longest run of letters and digits of each registered secret, in small letters, which no program escapes. A text
without any of them and without escaped letters holds no secret, and that is seen at once."""


@cache
def _expressions() -> list[re.Pattern[str]]:
    """What is written like a secret: each match keeps its first group. Compiled when first needed, for it takes longer
    than many a command."""
    return [
        # Authorization: Bearer abc, whatever the scheme's name, in a mapping or a list of pairs too
        re.compile(
            rf"(authorization{_IS}{_QUOTE}(?:(?:bearer|basic|digest|token|apikey|negotiate)\s+)?)"
            r"""([^\s"',;)}\]\\]+)""",
            re.IGNORECASE,
        ),
        # Not "Basic authentication": a word about it is no secret
        re.compile(
            r"(\b(?:bearer|basic)\s+)(?!(?:auth(?:entication|ori[sz]ation)?|tokens?|credentials?|realm)(?![\w.~+/=-]))"
            r"([A-Za-z0-9._~+/=-]{8,})",
            re.IGNORECASE,
        ),
        re.compile(rf"""(cookie2?{_IS}{_QUOTE})([^\s"';,\\]+(?:;\s*[^\s"';,\\]+)*)""", re.IGNORECASE),
        # password=abc, "api_key": "abc"
        re.compile(rf"({_NAME}{_IS}){_VALUE}", re.IGNORECASE),
        # A token is masked behind = or in quotes, or as a header: "unexpected token: }" is no secret
        re.compile(rf"((?:token|signature|credential)\s{{0,9}}=\s{{0,9}}){_VALUE}", re.IGNORECASE),
        re.compile(
            rf"""((?:token|signature)\\{{0,3}}["']\s{{0,9}}[:,]\s{{0,9}}(?:b(?=["']))?){_VALUE}""", re.IGNORECASE
        ),
        re.compile(rf"([a-z][_-]token\s{{0,9}}:\s{{0,9}}){_VALUE}", re.IGNORECASE),
        re.compile(
            rf"""((?:[?&;]|\\u0026|%26)(?:[\w.%-]{{0,40}}[_.-])?{_PARAMETER}=)([^&\s"'<>#;\\]*[^&\s"'<>#;\\:,.)])""",
            re.IGNORECASE,
        ),
        # user:password@host, with and without a scheme, but not our own advice; a user alone that is a token
        re.compile(r"(://[^\s/:@]{0,256}:)(?!PASSWORD@)([^\s/]+)(?=@)"),
        re.compile(r"(?<![\w/:])([\w.+-]{1,256}:)(?!PASSWORD@)([^\s/:@]+)(?=@[\w\[])"),
        re.compile(r"(https?://)([^\s/:@?#]{16,})(?=@)", re.IGNORECASE),
        # Forms that are known: JSON web tokens, keys of well-known services, private keys
        re.compile(r"()(\beyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*)"),
        re.compile(r"()(\b(?:sk|rk)-[\w-]{20,}|\bgh[opsu]_\w{20,}|\bxox[abprs]-[\w-]{10,}|\bAKIA[0-9A-Z]{16}\b)"),
        re.compile(r"(-----BEGIN [A-Z ]*PRIVATE KEY-----)((?:(?!-----).)+)", re.DOTALL),
    ]


def masked(text: str) -> str:
    """The text with `***` for all that looks like a secret: `password=***`, `Authorization: Bearer ***`, `user:***@`,
    and for every registered one. What is masked already stays so."""
    return _remembered(text) if len(text) <= _REMEMBERED else _masked(text)


def _masked(text: str) -> str:
    if _registered:
        small = text.lower()
        if any(anchor in small for anchor in _anchors) or _ESCAPED.search(text):
            text = without(text, _patterns(_registered))
    if _HINT.search(text):
        for pattern in _expressions():
            text = pattern.sub(rf"\1{MASK}", text)
    return text


_remembered = lru_cache(maxsize=4096)(_masked)


def masked_value(value: Any) -> Any:
    """A value in which all texts are masked, in notes and containers too; keys of mappings are names, and stay, and
    what stands under the name of a secret is masked whole."""
    if isinstance(value, str):
        return masked(value)
    if isinstance(value, Note):
        parameters = masked_value(value.parameters)
        return value if parameters == value.parameters else replace(value, parameters=parameters)
    if isinstance(value, Mapping):
        return {
            key: MASK if isinstance(item, str) and isinstance(key, str) and secret_name(key) else masked_value(item)
            for key, item in value.items()
        }
    if isinstance(value, tuple):
        return tuple(map(masked_value, value))
    return [masked_value(item) for item in value] if isinstance(value, list) else value


def masked_address(text: str) -> str:
    """An address without what may be a password: all from the first colon to the last @, and options of that name."""
    return _PASSWORD_OPTION.sub(rf"\1{MASK}", _CREDENTIALS.sub(rf"\1{MASK}@", text))


def secret_name(name: str) -> bool:
    """Whether what has this name, a header or a parameter, is a secret."""
    return re.fullmatch(_SECRET_NAME, name, re.IGNORECASE) is not None


def _is_parameter(name: str) -> bool:
    return re.fullmatch(_SECRET_PARAMETER, name, re.IGNORECASE) is not None


def register_secret(value: str) -> None:
    """Let `masked` mask a value from now on; of an address its password and what its parameters hold too, and of
    several lines each long one, for programs break and join them."""
    global _registered, _anchors
    value = value.strip()
    lines = [line for line in map(str.strip, value.splitlines()) if len(line) >= _WORD]
    texts = (value, *lines, *_inside(value), *_tokens(value))
    found = {text for text in texts if len(text) >= _LEAST and MASK not in text}
    with _lock:
        new = {text for text in found - _registered if text.lower() not in _PLAIN}
        if new:
            _registered |= new
            _anchors = frozenset(map(_anchor, (form for secret in _registered for form in forms(secret))))
            _remembered.cache_clear()


def register_secrets(value: Any, name: str = "") -> None:
    """Register what is secret in a text or in nested settings: passwords and keys in addresses, and what stands under
    the name of a secret. References such as `${KEY}` are none."""
    if isinstance(value, Mapping):
        for key, item in value.items():
            register_secrets(item, str(key))
    elif isinstance(value, list | tuple):
        for item in value:
            register_secrets(item, name)
    elif isinstance(value, str):
        text = _REFERENCE.sub("", value)
        found = _inside(text)
        if secret_name(name) and text == value:
            login = _AUTHORIZATION.fullmatch(text.strip())
            found |= {login[1] if login else text.strip()}
        for secret in found:
            if "{" not in secret:
                register_secret(secret)


def forget_secrets() -> None:
    """Forget what was registered."""
    global _registered, _anchors
    _registered = _anchors = frozenset()
    _remembered.cache_clear()


def _inside(text: str) -> set[str]:
    """What is secret in an address, a cookie or an authorization."""
    found: set[str] = set()
    if "://" in text:
        try:
            parts = urlsplit(text)
            user, password = parts.username or "", parts.password or ""
        except ValueError:
            return found
        found |= {unquote(password), password} if password else {user} if len(user) > 2 * _WORD else set()
        found |= {f"{unquote(user)}:{unquote(password)}"} if password else set()
        named = [(key, held) for key, held in parse_qsl(parts.query) if _is_parameter(key)]
        found |= {held for key, held in named if len(held) >= _WORD or secret_name(key)}
    elif text.lower().startswith("basic "):
        try:
            login = b64decode(text[6:].strip(), validate=True).decode()
        except ValueError:
            return found
        found |= {login, login.partition(":")[2]}
    elif "=" in text:  # a cookie, parameters without their address, a connection string
        pairs = [pair.partition("=") for pair in re.split(r"[;&\s]+", text)]
        named = [(key, held.strip("'\"")) for key, _, held in pairs if _is_parameter(key.strip("?"))]
        found |= {held for key, held in named if len(held) >= _WORD or secret_name(key)}
    return found


def _tokens(value: str) -> set[str]:
    """Long parts of an address's path, which in the address of a webhook are its secret."""
    path = value.partition("://")[2].partition("?")[0].split("/")[1:]
    return {unquote(part) for part in path if len(part) >= 2 * _WORD and not part.isalpha()}


@lru_cache(maxsize=4)
def _patterns(secrets: frozenset[str]) -> tuple[re.Pattern[str], ...]:
    """One expression for each spelling; a short secret is a word of its own."""
    found = {form for secret in secrets for form in forms(secret)}
    return tuple(expression(form, word=len(form) < _WORD) for form in sorted(found))


def _anchor(form: str) -> str:
    return max(_RUN.findall(form.lower()), key=len, default="")
