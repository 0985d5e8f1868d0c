"""Alert channels against real servers on the loopback interface; no secret gets out, whatever they answer."""

from __future__ import annotations

import email
import email.policy
import logging
import re
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote, quote_plus, unquote

import pytest
from aiosmtpd.controller import Controller
from aiosmtpd.smtp import AuthResult, LoginPassword
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rankgauge.errors import MissingExtraError
from rankgauge.monitoring.alerts.apprise_sender import _library, _plugin
from rankgauge.monitoring.alerts.channels import CHANNELS, Channel, check_alerts
from tests.retrievers.servers import Asked, Reply, calls

TITLE = "[rankgauge] 搜索：nDCG@10 下降"
BODY = "nDCG@10 从 0.5120 降到 0.4310。\n“引号” <b> & 表情 🔎"
TOKEN = "s3cr3t-T0ken/+=&ä"
EVENTS = {"incident": 7, "event": "opened"}


@pytest.fixture(autouse=True)
def _no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "https_proxy", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)


def channel(address: str, **options: Any) -> Channel:
    (made,), faults = check_alerts([{"name": "ops", "url": "${ADDRESS}"}], {"ADDRESS": address})
    assert not faults
    made.limit = options.get("limit", made.limit)
    return made


def faults_of(url: Any, **environ: str) -> list[str]:
    channels, faults = check_alerts([{"name": "ops", "url": url}], environ)
    assert bool(channels) != bool(faults)
    return faults


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


# sending


def test_a_webhook_gets_the_message_whole() -> None:
    with calls(lambda asked: Reply({})) as server:
        base = server.url.rstrip("/")
        address = f"{base}/hooks/a%2Fb/{quote(TOKEN, safe='')}?key=1&key=2&format=x&overflow=split&verify=%2B"
        assert channel(address).send(TITLE, BODY, incident=7, event="opened") is None
    (asked,) = server.asked
    assert asked.method == "POST"
    assert asked.path == address.removeprefix(base)  # path and query as they were written
    assert asked.body["title"] == TITLE
    assert asked.body["message"].startswith(BODY)
    assert asked.body["message"].endswith("rankgauge incident=7 event=opened")
    assert {key: asked.body[key] for key in EVENTS} == EVENTS
    assert asked.body["type"] == "warning"


def test_user_and_password_of_a_webhook_are_its_authorization() -> None:
    with calls(lambda asked: Reply({})) as server:
        address = server.url.replace("http://", "http://ops:p%40ss%3Aword@")
        assert channel(address).send(TITLE, BODY, incident=7, event="recovered") is None
    (asked,) = server.asked
    assert asked.headers["Authorization"] == "Basic b3BzOnBAc3M6d29yZA=="
    assert asked.body["type"] == "success"


def test_an_address_of_apprise() -> None:
    with calls(lambda asked: Reply({})) as server:
        address = server.url.replace("http://", "json://") + "/path"
        channels, faults = check_alerts([{"name": "here", "url": address}], {})  # nothing secret: it may be in the plan
        assert not faults
        assert channels[0].send(TITLE, BODY, incident=7, event="opened") is None
    (asked,) = server.asked
    assert asked.path == "/path"
    assert {key: asked.body[key] for key in EVENTS} == EVENTS


def test_a_known_webhook_goes_to_the_service_it_belongs_to() -> None:
    made = _plugin("https://hooks.slack.com/services/T1JJ3T3L2/A1BRTD4JD/TIiajkdnlazkcOXrIdevi7FQ")
    assert type(made).__name__ == "NotifySlack"


class Mailbox:
    def __init__(self) -> None:
        self.envelopes: list[Any] = []

    async def handle_DATA(self, server: Any, session: Any, envelope: Any) -> str:
        self.envelopes.append(envelope)
        return "250 OK"


@pytest.fixture
def mail() -> Iterator[tuple[Mailbox, int]]:
    def authenticate(server: Any, session: Any, envelope: Any, mechanism: str, data: Any) -> AuthResult:
        right = isinstance(data, LoginPassword) and data.password == b"p@ss/word-1"
        return AuthResult(success=right, handled=False, message=None if right else f"535 no: {data.password.decode()}")

    box = Mailbox()
    controller = Controller(
        box,
        hostname="127.0.0.1",
        port=free_port(),
        authenticator=authenticate,
        auth_required=True,
        auth_require_tls=False,
    )
    controller.start()
    yield box, controller.port
    controller.stop()


def mail_address(port: int, password: str) -> str:
    return (
        f"mailto://ops:{quote(password, safe='')}@127.0.0.1:{port}/?from=guard@example.com&to=team@example.com"
        "&mode=insecure&smtp=127.0.0.1"
    )


@pytest.mark.filterwarnings("ignore:Requiring AUTH while not requiring TLS")
def test_mail(mail: tuple[Mailbox, int]) -> None:
    box, port = mail
    assert channel(mail_address(port, "p@ss/word-1")).send(TITLE, BODY, incident=7, event="opened") is None
    (envelope,) = box.envelopes
    assert envelope.rcpt_tos == ["team@example.com"]
    message = email.message_from_bytes(envelope.content, policy=email.policy.default)
    assert message["Subject"] == TITLE
    text = message.get_body(("plain", "html"))
    assert text is not None
    content = text.get_content()
    assert "nDCG@10 从 0.5120 降到 0.4310。" in content
    assert "🔎" in content
    assert "incident=7" in content.replace("&nbsp;", " ")


@pytest.mark.filterwarnings("ignore:Requiring AUTH while not requiring TLS")
def test_mail_with_a_wrong_password(
    mail: tuple[Mailbox, int], caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    box, port = mail
    with caplog.at_level(logging.DEBUG):
        reason = channel(mail_address(port, "wrong/pass@word")).send(TITLE, BODY, incident=7, event="opened")
    assert reason
    assert not box.envelopes
    out = capfd.readouterr()
    logged = [record.getMessage() for record in caplog.records if record.name != "mail.log"]  # that is the server's
    for text in (reason, *logged, out.out, out.err):
        assert "wrong" not in text


def test_the_console(capfd: pytest.CaptureFixture[str]) -> None:
    (made,), faults = check_alerts([{"url": "console"}], {})
    assert not faults
    assert made.name == "console"
    assert made.send(TITLE, BODY, incident=7, event="opened") is None
    shown = capfd.readouterr()
    assert shown.out == ""
    assert shown.err.startswith(f"{TITLE}\n{BODY}\n")
    assert "incident=7" in shown.err


# failing


def test_reasons() -> None:
    with calls(lambda asked: Reply({}, status=503)) as server:
        assert "503" in (channel(server.url).send(TITLE, BODY, **EVENTS) or "")
    with calls(lambda asked: Reply({}, status=302, headers={"Location": "/elsewhere"})) as server:
        assert "302" in (channel(server.url).send(TITLE, BODY, **EVENTS) or "")
    assert len(server.asked) == 1
    assert "onnection" in (channel(f"http://127.0.0.1:{free_port()}/x").send(TITLE, BODY, **EVENTS) or "")


def test_a_channel_that_hangs_costs_its_limit_once() -> None:
    with calls(lambda asked: Reply({}, delay=30)) as server:
        slow = channel(server.url, limit=0.3)
        begun = time.monotonic()
        assert slow.send(TITLE, BODY, **EVENTS) == "no answer within 0.3 s"
        assert 0.3 <= time.monotonic() - begun < 2
        threads = threading.active_count()
        begun = time.monotonic()
        assert slow.send(TITLE, BODY, **EVENTS) == "the last sending still hangs"
        assert time.monotonic() - begun < 0.2
        assert threading.active_count() <= threads
    assert len(server.asked) == 1


def test_a_program_ends_although_a_delivery_hangs() -> None:
    with calls(lambda asked: Reply({}, delay=30)) as server:
        code = (
            "from rankgauge.monitoring.alerts.channels import Channel\n"
            f"print(Channel('ops', {server.url!r}, limit=0.5).send('t', 'b', incident=1, event='opened'))"
        )
        done = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, timeout=10, check=True, env={"PATH": ""}
        )
    assert done.stdout == "no answer within 0.5 s\n"
    assert done.stderr == ""


# secrets


def spellings(secret: str) -> set[str]:
    return {secret, quote(secret, safe=""), quote(secret), quote_plus(secret), unquote(secret)}


def echo(asked: Asked) -> Reply:
    """An error page that repeats everything it was told."""
    told = f"{asked.path} {unquote(asked.path)} {dict(asked.headers)}"
    return Reply(f"<h1>500</h1> {told}".encode(), status=500, headers={"X-Echo": quote(asked.path)})


word = st.text(st.characters(codec="utf-8", exclude_categories=("Cc", "Cs")), min_size=4, max_size=30).filter(
    lambda text: text.strip() == text
)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(user=word, password=word, path=word, value=word)
def test_no_secret_gets_out(
    caplog: pytest.LogCaptureFixture,
    capfd: pytest.CaptureFixture[str],
    user: str,
    password: str,
    path: str,
    value: str,
) -> None:
    parts = [f"zq{text}qz" for text in (user, password, path, value)]  # parts that nothing else contains
    u, p, h, v = (quote(part, safe="") for part in parts)
    caplog.clear()
    with calls(echo) as server, caplog.at_level(logging.DEBUG):
        host = server.url.removeprefix("http://").rstrip("/")
        texts = []
        for scheme in ("http", "json"):
            made = channel(f"{scheme}://{u}:{p}@{host}/{h}/hook?key={v}")
            texts.append(str(made.send(TITLE, BODY, **EVENTS)))
            texts.append(repr(made))
        assert "500" in texts[0]
        # Unreachable, malformed and unknown addresses.
        texts.append(str(channel(f"http://{u}:{p}@127.0.0.1:9/{h}?key={v}").send(TITLE, BODY, **EVENTS)))
        for bad in (
            f"https://{u}:{p}@host:port/{h}?key={v}",
            f"mailto://{u}:{p}@/{h}",
            f"gibberish://{u}/{h}",
            f"{u}{h}",
        ):
            texts += faults_of("${ADDRESS}", ADDRESS=bad)
            texts += faults_of(bad)
    assert server.asked  # json:// with a password beyond Latin-1 fails within the library, which is a case as well
    captured = capfd.readouterr()
    gathered = "\n".join([*texts, caplog.text, captured.out, captured.err])
    for part in parts:
        for form in spellings(part):
            assert form.lower() not in gathered.lower()
    assert "zq" not in gathered.lower().replace(r"\u", "")


def test_an_exception_in_a_library_is_scrubbed(monkeypatch: pytest.MonkeyPatch) -> None:
    import apprise

    made = channel("https://host.example/a-long-token?key=another-one")

    def fail(*arguments: Any, **options: Any) -> None:
        raise RuntimeError("POST /a-long-token?key=another%2Done failed at host.example " + "x" * 1000)

    monkeypatch.setattr(apprise.Apprise, "notify", fail)
    reason = made.send(TITLE, BODY, **EVENTS)
    assert reason is not None
    assert reason.startswith("RuntimeError: POST /***?key=")
    assert not re.search("token|another|host", reason)
    assert len(reason) == 300


def test_what_other_threads_log_passes(caplog: pytest.LogCaptureFixture) -> None:
    made = channel(f"http://127.0.0.1:{free_port()}/x")
    with caplog.at_level(logging.WARNING):
        made.send(TITLE, BODY, **EVENTS)
        assert not caplog.records
        logging.getLogger("apprise").warning("of the program's own")
    assert caplog.messages == ["of the program's own"]


# the plan's tables


@pytest.mark.parametrize(
    ("url", "said"),
    [
        (None, "url is missing"),
        (12, "url must be a text"),
        ("https://hooks.example/T0KEN", 'write url = "${OPS_URL}"'),
        ("slack://T0KEN/${A}", "may hold a secret"),
        ("json://localhost:8080/?key=T0KEN", "without user, password and query"),
        ("json://me:T0KEN@localhost:8080/", "without user, password and query"),
        ("slack://localhost/T0KEN", "may hold a secret"),
        ("json://localhost.T0KEN.example/", "may hold a secret"),
        ("json://[T0KEN", "may hold a secret"),
        ("${A", "may hold a secret"),
        ("T0KEN", "may hold a secret"),
        ("", "may hold a secret"),
        ("${UNSET}", "the environment variable UNSET is not set"),
        ("${EMPTY}", "the environment variable EMPTY is not set"),
        ("mailto://${A}:${UNSET}@${EMPTY}", "the environment variable UNSET is not set"),
        ("${WORD}", "the address in WORD does not begin with a scheme"),
        ("${STRANGE}", "a scheme that Apprise does not know"),
        ("${SHORT}", "begins with slack:// but is incomplete"),
        ("${PORT}", "begins with https:// but is incomplete"),
    ],
)
def test_faults_name_the_remedy_and_not_the_address(url: Any, said: str) -> None:
    environ = {
        "A": "json://host",
        "EMPTY": " \n",
        "WORD": "T0KEN",
        "STRANGE": "strange://T0KEN",
        "SHORT": "slack://T0KEN",
        "PORT": "https://host:T0KEN/",
    }
    faults = faults_of(url, **environ)
    assert said in faults[0]
    assert faults[0].startswith("alert ops: ")
    assert "T0KEN" not in " ".join(faults)


@pytest.mark.parametrize(
    "url",
    [
        "console",
        "${A}",
        "${B}${C}",
        "json://${USER}:${PASSWORD}@${HOST}/${C}",
        "json://localhost:8080/",
        "http://127.0.0.1:9/x",
        "https://[::1]:9/x",
        "${CONSOLE}",
    ],
)
def test_good_addresses(url: str) -> None:
    environ = {"A": " https://host/x\n", "B": "https://host/", "C": "x", "USER": "me", "PASSWORD": "pw", "HOST": "host"}
    assert not faults_of(url, **environ, CONSOLE="console")


def test_all_faults_at_once() -> None:
    channels, faults = check_alerts(
        [
            {"name": "ops", "url": "${UNSET}", "urll": "T0KEN"},
            {"name": "ops", "url": "console"},
            {"url": "T0KEN://x"},
            {"name": "https://T0KEN", "url": "console"},
            {"name": " ", "url": "console"},
        ],
        {},
    )
    assert not channels
    assert faults == [
        "alert ops.urll: unknown; did you mean url?",
        "alert ops: the environment variable UNSET is not set; set it to the address",
        "alert ops (2): two channels are named 'ops'; give them different names",
        'alert 3: name is missing; write one such as name = "ops": it is shown instead of the address',
        "alert 3: url is written out, and it may hold a secret: put the address into an environment variable, such as "
        'OPS_URL, and write url = "${OPS_URL}"',
        "alert 4: name is shown in logs and must be no address",
        "alert 5: name must be a short text on one line",
    ]
    assert check_alerts({"name": "ops"}) == ([], ["alert: write each channel as its own table, [[alert]]"])
    assert check_alerts([]) == ([], [])


def test_without_apprise(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "apprise", None)
    _library.cache_clear()
    assert not faults_of("console")
    with pytest.raises(MissingExtraError, match=re.escape("it is in the extra rankgauge[guard]")):
        faults_of("${A}", A="json://host")


def test_apprise_is_loaded_when_it_is_needed() -> None:
    code = (
        "import sys, rankgauge.monitoring.alerts.channels as channels; channels.check_alerts([{'url': 'console'}])\n"
        "print('apprise' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


class Pager:
    """A channel of another package."""

    def __init__(self) -> None:
        self.got: list[tuple[str, str, int, str]] = []

    def fault(self, address: str) -> str | None:
        return None if address.endswith("/team") else "names no team"

    def send(self, address: str, title: str, body: str, *, incident: int, event: str) -> str | None:
        self.got.append((address, title, incident, event))
        if event == "recovered":
            raise RuntimeError(f"no route to {address}")
        return None


def test_another_package_can_add_a_channel() -> None:
    """By the scheme of its addresses; what it says is scrubbed like the rest."""
    pager = Pager()
    CHANNELS.register("pager", pager)
    try:
        made = channel("pager://T0KEN-1234/team")
        assert made.send(TITLE, BODY, incident=7, event="opened") is None
        reason = made.send(TITLE, BODY, incident=7, event="recovered")
        assert faults_of("${A}", A="pager://T0KEN-1234/") == ["alert ops: the address in A names no team"]
    finally:
        CHANNELS.unregister("pager")
    assert pager.got[0] == ("pager://T0KEN-1234/team", TITLE, 7, "opened")
    assert reason is not None
    assert "T0KEN" not in reason


def test_the_channels_that_are_built_in() -> None:
    assert CHANNELS.known == ["console", "http", "https", "mailto", "mailtos", "apprise"]
    for name in CHANNELS.known:
        assert callable(CHANNELS[name].send)
