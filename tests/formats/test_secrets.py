"""Secrets are masked: known ones however they are spelled, what looks like one, and passwords in addresses."""

from __future__ import annotations

import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankgauge.formats.durations import retry_after
from rankgauge.formats.secrets import masked, scrub

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
        "5 of 10 queries reached nobody: no answer within 30 s",
        "mail to ops@example.com at 12:30",
        "令牌无效：请检查",
    ],
)
def test_other_texts_stay(text: str) -> None:
    assert masked(text) == text


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
