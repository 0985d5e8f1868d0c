"""Secrets are masked: known ones however they are spelled, what looks like one, and passwords in addresses."""

from __future__ import annotations

import datetime
import html
import json
import time
from base64 import b64encode
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankgauge.formats.durations import retry_after
from rankgauge.formats.secrets import masked, register_secret, register_secrets
from rankgauge.formats.spellings import scrub
from rankgauge.retrievers.web import decoded

SECRET = "s3cr3t-V4lue"


@pytest.mark.parametrize(
    "text",
    [
        f"password={SECRET}",
        f"password = '{SECRET} with blanks'",
        f"DB_PASSWORD={SECRET}; host=db",
        f"https://api.example/search?q=a&api_key={SECRET}&k=3",
        f"api-key: {SECRET}",
        f'{{"apiKey": "{SECRET}", "q": 1}}',
        f"token={SECRET}",
        f"access_token={SECRET}&x=1",
        f'{{"token": "{SECRET}"}}',
        f"Authorization: Bearer {SECRET}",
        f"authorization: {SECRET}",
        f"{{'Authorization': 'Basic {SECRET}'}}",
        f"sent Bearer {SECRET}",
        f"postgresql://me:{SECRET}@db/x",
        f"http://me:a@{SECRET}@host/x",
        f"cannot reach me:{SECRET}@db.example",
        f"client_secret={SECRET}",
        *(
            f"http://host/search?q=a&{name}={SECRET}&k=3"
            for name in (
                *("key", "apikey", "api-key", "token", "access_token", "sig", "signature", "X-Amz-Signature", "code"),
                *("X-Amz-Credential", "X-Amz-Security-Token", "subscription-key", "secret", "password", "pwd", "auth"),
            )
        ),
        f"?Key={SECRET}",
        f"http://host/?a=1&amp;key={SECRET}",
        f"Ocp-Apim-Subscription-Key: {SECRET}",
        f"x-functions-key={SECRET}",
        f"X-API-Key: {SECRET}",
        f"X-Auth-Token: {SECRET}",
        f'{{"X-Api-Key": ["{SECRET}"]}}',
        f'{{\\"Authorization\\": \\"Bearer {SECRET}\\"}}',
        f"[('authorization', 'Basic {SECRET}')]",
        f"Headers([(b'authorization', b'Bearer {SECRET}')])",
        f"Set-Cookie: theme=dark; sid={SECRET}; Path=/; HttpOnly",
        f"{{'cookie': 'theme=dark; session={SECRET}'}}",
        f"session_id={SECRET}",
        f"host=db password = '{SECRET} and \" more' dbname=x",
        f"AccountKey={SECRET}==;EndpointSuffix=x",
        f"Credential={SECRET}/20260301/us-east-1/s3/aws4_request, SignedHeaders=host, Signature={SECRET}",
        f"https://{SECRET}{SECRET}@host/path",
        f"-----BEGIN RSA PRIVATE KEY-----\n{SECRET}\n-----END RSA PRIVATE KEY-----",
    ],
)
def test_what_looks_like_a_secret(text: str) -> None:
    shown = masked(text)
    assert SECRET not in shown
    assert "***" in shown
    assert masked(shown) == shown


@pytest.mark.parametrize(
    "text",
    [
        "KeyError: 'id' (search.py:12)",
        "Unexpected token: } in JSON at position 3",
        "http://127.0.0.1:9200/index: connection refused",
        "the password is wrong",
        "Basic authentication is required",
        "status code: 401, signature: (query, k)",
        "KeyError: 'key', 'code'",
        "http://host/search?q=x&k=10",
        "the environment variable K (api_key_env) is not set: put the key there",
        "give postgresql://USER:PASSWORD@HOST/DATABASE",
        "5 of 10 queries reached nobody: no answer within 30 s",
        "mail to ops@example.com at 12:30",
        "令牌无效：请检查",
    ],
)
def test_other_texts_stay(text: str) -> None:
    assert masked(text) == text


def test_a_registered_value_is_masked_however_it_is_spelled() -> None:
    secret = "pa/ss w0rd&é"
    register_secret(secret)
    login = b64encode(f"me:{secret}".encode()).decode()
    for form in (secret, quote(secret), quote(secret, safe=""), json.dumps(secret), html.escape(secret), repr(secret)):
        assert "w0rd" not in masked(f"it said {form}!")
    assert masked("nothing of it") == "nothing of it"
    register_secret(f"http://me:{quote(secret, safe='')}@host/")
    assert login not in masked(f"sent {login}")


def test_short_values_are_words_and_our_own_words_are_none() -> None:
    for value in ("prod", "abc", "localhost", "rankgauge", ""):
        register_secret(value)
    assert masked("rankgauge: products of prod at localhost, abc") == "rankgauge: products of *** at localhost, abc"


def test_what_is_secret_in_settings() -> None:
    settings = {
        "url": "http://u:pass-one@host/search?key=key-two-2&q=title&lang=en",
        "headers": {"Authorization": "Bearer token-three", "Accept": "text/plain", "Cookie": "a=1; sid=cookie-four"},
        "body": {"auth": [{"password": "word-five"}], "field": "title", "query": "{query}"},
        "reference": "${NOTHING}",
    }
    register_secrets(settings)
    said = "title en text/plain {query} host"
    assert masked(said) == said
    for secret in ("pass-one", "key-two-2", "token-three", "cookie-four", "word-five"):
        assert masked(f"it was {secret}") == "it was ***", secret


@pytest.mark.parametrize(
    "piece", ["a.", "://", "a:", "password ", "authorization: ", "eyJ", "cookie:a;", "?a_", '"', "sk-"]
)
def test_long_texts_take_little_time(piece: str) -> None:
    register_secret("some-secret-value")
    begun = time.process_time()
    masked(piece * (400_000 // len(piece)))
    assert time.process_time() - begun < 5


@given(
    st.lists(st.text("abc/@:%2F", min_size=1, max_size=8), min_size=1, max_size=4), st.text("abc/@:%2F", max_size=40)
)
def test_scrubbing_leaves_no_occurrence(secrets: list[str], text: str) -> None:
    scrubbed = scrub(text, secrets)
    for piece in scrubbed.split("***"):
        for secret in secrets:
            if secret.strip():
                assert secret.strip().lower() not in piece.lower()
    if scrubbed == text:
        assert not any(secret.strip() in text for secret in secrets if secret.strip())


@pytest.mark.parametrize(
    ("text", "secrets", "expected"),
    [
        ("POST /T0KEN/hook failed", ["https://host/t0ken"], "POST /***/hook failed"),
        ("user bob, key=se%2Fcret", ["json://bobby:se%2Fcret@host"], "user bob, key=***"),
        ("abcdef", ["abcd", "cdef"], "***"),
        ("Basic Ym9iYnk6c2VjcmV0", ["https://bobby:secret@host"], "Basic ***"),
        ('{"k": "\\u4e2d\\u6587\\u5bc6\\u7801"}', ["中文密码"], '{"k": "***"}'),
        ("a&amp;bcd a&#38;bcd a\\x26bcd", ["a&bcd"], "*** *** ***"),
        ("%74oken t%256Fken to\\/ken", ["https://host/token", "to/ken"], "*** *** ***"),
        ("nothing of it", ["https://host.example/token"], "nothing of it"),
        ("as it is", [], "as it is"),
        ("as it is", ["", "  "], "as it is"),
    ],
)
def test_scrub(text: str, secrets: list[str], expected: str) -> None:
    assert scrub(text, secrets) == expected


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        (None, None),
        ("", None),
        ("3", 3.0),
        ("0.5", 0.5),
        ("-3", 0.0),
        ("inf", None),
        ("nan", None),
        ("soon", None),
        ("Sun, 01 Mar 2026 12:00:30 GMT", 30.0),
        ("Sun, 01 Mar 2026 11:00:00 GMT", 0.0),
    ],
)
def test_the_pause_that_a_server_asks_for(value: str | None, seconds: float | None) -> None:
    noon = datetime.datetime(2026, 3, 1, 12, tzinfo=datetime.UTC).timestamp()
    assert retry_after(value, noon) == seconds


def test_the_lines_of_a_secret_are_masked_one_by_one() -> None:
    """Programs break lines, join them, and write their ends as escapes."""
    first, second = "firstLine-AAABBB", "secondLine-CCCDDD"
    register_secret(f"{first}\n{second}\r\n")
    for text in (
        json.dumps(f"{first}\n{second}"),
        repr(f"{first}\n{second}"),
        f"{first}\r\n  {second}",
        f"{first} {second}",
    ):
        assert first not in masked(text)
        assert second not in masked(text)


def test_bytes_that_are_no_utf8_hide_no_secret() -> None:
    register_secret("s3cr3t-T\u00f6k-en42")
    for encoding in ("latin-1", "utf-8"):
        assert masked(decoded("no entry: s3cr3t-T\u00f6k-en42".encode(encoding))) == "no entry: ***"
    assert decoded("\u68c0\u7d22".encode()[:-1]) == "\u68c0"  # cut by the limit


@pytest.mark.parametrize("token", ["tok-7f3a9c2e", "a?b>c~d/e+f", "k\u00f6nigs-token", "x" * 40 + "1"])
def test_a_bare_token_in_base64(token: str) -> None:
    """With and without padding, in the alphabet of URLs, quoted in one; other Base64 stays."""
    register_secret(token)
    coded = b64encode(token.encode()).decode()
    in_urls = coded.replace("+", "-").replace("/", "_")
    for form in (coded, coded.rstrip("="), in_urls, in_urls.rstrip("="), quote(coded, safe="")):
        said = masked(f"it got {form} and more")
        assert said in ("it got *** and more", "it got ***= and more", "it got ***== and more"), form
    other = b64encode(b"another thing altogether").decode()
    assert masked(f"it got {other}") == f"it got {other}"


def test_base64_of_a_short_word_stays() -> None:
    register_secret("prod")
    coded = b64encode(b"prod").decode()
    assert masked(f"it got {coded}") == f"it got {coded}"


@pytest.mark.parametrize("token", ["tok-7f3a9c2e", "a?b>c~d/e+f", "k\u00f6nigs-token", "xy" * 20 + "1"])
def test_a_token_within_a_longer_text_in_base64(token: str) -> None:
    """As a login of another user, a cookie of JSON and a page of settings have it: at most the signs at its ends, which
    are shared with their neighbours, stay."""
    register_secret(token)
    for before in ("u:", "me:", "admin:", '{"key": "'):
        for behind in ("", "x", '"}'):
            coded = b64encode(f"{before}{token}{behind}".encode()).decode()
            for form in (coded, coded.replace("+", "-").replace("/", "_").rstrip("=")):
                rest = masked(f"it got {form}").removeprefix("it got ").split("***")
                assert len(rest) == 2, form
                assert len(rest[0]) <= len(b64encode(before.encode())), rest
                assert len(rest[1]) <= len(b64encode(behind.encode())) + 3, rest


def test_a_token_in_hexadecimal_digits() -> None:
    register_secret("tok-7f3a9c2e")
    for form in (b"tok-7f3a9c2e".hex(), b"tok-7f3a9c2e".hex().upper()):
        assert masked(f"dump: 00ff{form}0a") == "dump: 00ff***0a"
