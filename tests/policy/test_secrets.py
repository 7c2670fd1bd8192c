"""The scanner against made-up secrets of many kinds. Everything here is generated; nothing was ever valid."""

import base64
import json
import random
import string
import sys

import pytest
import redact_secret
from hypothesis import given, settings
from hypothesis import strategies as st
from some_notes import HAS_VAULTS, VAULTS, iter_own_notes

from gitmem.errors import PolicyError, UnavailableError
from gitmem.policy.secrets import Finding, check_secrets, find_secrets, may_hold_secret, redact

SEEDS = range(8)

ALNUM = string.ascii_letters + string.digits
LOWER = string.ascii_lowercase + string.digits
UPPER = string.ascii_uppercase + string.digits
BASE32 = string.ascii_uppercase + "234567"
HEX = "0123456789abcdef"
DIGITS = string.digits


def make_fakes(seed: int) -> dict[str, str]:
    """Return one made-up secret of every kind by the kind's name, as it might stand in a note."""
    rng = random.Random(seed)

    def pick(chars: int, alphabet: str = ALNUM) -> str:
        return "".join(rng.choice(alphabet) for _ in range(chars))

    def password(chars: int) -> str:
        return pick(chars - 3) + rng.choice(DIGITS) + rng.choice(string.ascii_uppercase) + rng.choice("!@#")

    def b64(text: str) -> str:
        return base64.b64encode(text.encode()).decode()

    def pem(kind: str) -> str:
        body = "\n".join(pick(64) for _ in range(5))
        return f"-----BEGIN {kind}PRIVATE KEY-----\n{body}\n-----END {kind}PRIVATE KEY-----"

    uuid = f"{pick(8, HEX)}-{pick(4, HEX)}-4{pick(3, HEX)}-a{pick(3, HEX)}-{pick(12, HEX)}"
    claims = b64(json.dumps({"sub": pick(8), "iat": 1700000000})).rstrip("=")
    words = " ".join(pick(rng.randint(3, 8), string.ascii_lowercase) for _ in range(12))
    return {
        "github": "ghp_" + pick(36),
        "github oauth": "gho_" + pick(36),
        "github app": "ghs_" + pick(36),
        "github fine-grained": f"github_pat_{pick(22)}_{pick(59)}",
        "gitlab": "glpat-" + pick(20),
        "openai": f"sk-proj-{pick(20)}T3BlbkFJ{pick(20)}",
        "anthropic": f"sk-ant-api03-{pick(93)}AA",
        "slack": f"xoxb-{pick(12, DIGITS)}-{pick(12, DIGITS)}-{pick(24)}",
        "slack webhook": f"https://hooks.slack.com/services/T{pick(8, UPPER)}/B{pick(8, UPPER)}/{pick(24)}",
        "stripe": "sk_live_" + pick(24),
        "stripe webhook": "whsec_" + pick(32),
        "aws id": "AKIA" + pick(16, BASE32),
        "aws session id": "ASIA" + pick(16, BASE32),
        "aws secret": "aws_secret_access_key = " + pick(40),
        "google": "AIza" + pick(35),
        "google oauth": "GOCSPX-" + pick(28),
        "pypi": "pypi-AgEIcHlwaS5vcmc" + pick(70),
        "npm": "npm_" + pick(36),
        "npmrc": f"//registry.example.org/:_authToken={uuid}",
        "hugging face": "hf_" + pick(34, string.ascii_letters),
        "sendgrid": f"SG.{pick(22)}.{pick(43)}",
        "twilio": "TWILIO_AUTH_TOKEN=" + pick(32, HEX),
        "telegram": f"{pick(10, '123456789')}:AA{pick(33)}",
        "discord": f"{b64(pick(18, DIGITS))}.{pick(6)}.{pick(38)}",
        "digitalocean": "dop_v1_" + pick(64, HEX),
        "shopify": "shpat_" + pick(32, HEX),
        "docker": "dckr_pat_" + pick(27),
        "vault": "hvs." + pick(90),
        "databricks": "dapi" + pick(32, HEX),
        "linear": "lin_api_" + pick(40),
        "notion": "ntn_11" + pick(44),
        "figma": "figd_42" + pick(38),
        "supabase": "sbp_" + pick(40, HEX),
        "groq": "gsk_" + pick(52),
        "grafana": f"glsa_{pick(32)}_{pick(8, HEX)}",
        "sentry": "sntryu_" + pick(64, HEX),
        "mailgun": "key-" + pick(32, HEX),
        "mailchimp": pick(32, HEX) + "-us12",
        "cloudflare": "CLOUDFLARE_API_TOKEN=" + pick(40),
        "heroku": "HEROKU_API_KEY=" + uuid,
        "datadog": "DD_API_KEY=" + pick(32, HEX),
        "azure": f"AccountName=acme;AccountKey={b64(pick(64))};EndpointSuffix=core.windows.net",
        "jwt": f"{b64(json.dumps({'alg': 'HS256', 'typ': 'JWT'})).rstrip('=')}.{claims}.{pick(43)}",
        "rsa key": pem("RSA "),
        "openssh key": pem("OPENSSH "),
        "age key": "AGE-SECRET-KEY-1" + pick(58, "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L"),
        "postgres": f"postgres://app:{pick(12)}@db.internal:5432/app",
        "mongodb": f"mongodb+srv://app:{pick(14)}@c0.{pick(5, LOWER)}.mongodb.net/x",
        "url with password": f"https://bob:{pick(12)}@git.example.org/r.git",
        "curl": f"curl -u bob:{pick(12)} https://x.example",
        "basic": "Authorization: Basic " + b64("bob:" + pick(12)),
        "bearer header": "Authorization: Bearer " + pick(40),
        "bare bearer": f"use Bearer 7{pick(24)} there",
        "otpauth": f"otpauth://totp/Acme:bob?secret={pick(16, BASE32)}&issuer=Acme",
        "api key": "api_key: " + pick(32),
        "client secret": f"client_secret = '{pick(30)}'",
        "token line": "token: Zq07" + pick(24),
        "own key": "ACME_KEY=Zq07" + pick(28),
        "json token": json.dumps({"accessToken": "Zq07" + pick(28)}),
        "password line": "password: " + password(11),
        "password variable": "DB_PASSWORD=" + password(14),
        "password in prose": f"the password is {password(10)}",
        "password in bold": f"- **Password:** {password(10)}",
        "password in Chinese": "密码：" + password(9),
        "password in Chinese prose": f"登录密码是 {password(9)}",
        "password in Japanese": f"パスワード：{password(9)}",
        "password in Korean": f"비밀번호: {password(9)}",
        "pwd": "pwd: " + password(10),
        "passphrase": "passphrase: " + password(14),
        "seed phrase": "Seed phrase: " + words,
        "base64 of a token": b64("token ghp_" + pick(36)),
        "base64 of a url": b64(f"postgres://app:{pick(12)}@db.internal:5432/app"),
        "looked-through": "pass\u200bword: " + password(11),
    }


KINDS = tuple(make_fakes(0))
AROUND = (
    ("", ""),
    ("We saw this on Monday.\n", "\nand then moved on."),
    ("---\ntitle: Deploy\ncreated: 2026-11-30T14:00:00Z\n---\n\n> ", "\n"),
    ("部署说明。\n", "\n完。"),
    ("| a | ", " |"),
)


@pytest.mark.parametrize("kind", KINDS)
def test_finds_and_takes_out_every_kind(kind: str) -> None:
    for seed in SEEDS:
        fake = make_fakes(seed)[kind]
        text = f"We saw this on Monday.\n{fake}\nand then moved on."
        cleaned = redact(text)

        assert find_secrets(text)[0].line == 2, text
        assert cleaned.startswith("We saw this on Monday.\n")
        assert cleaned.endswith("\nand then moved on.")
        assert "[secret]" in cleaned
        assert find_secrets(cleaned) == (), cleaned


def test_the_prefilter_hides_nothing_that_the_scanner_finds() -> None:
    texts = [
        f"{before}{fake}{after}" for seed in SEEDS for fake in make_fakes(seed).values() for before, after in AROUND
    ]
    hidden = [text for text in texts if not may_hold_secret(text) and redact_secret.scan(text)]

    assert (len(KINDS) >= 30, hidden) == (True, [])


SHORT_NAMES = [
    "auth",
    "x_auth",
    "apiKey",
    "api.key",
    "API_KEY",
    "privateKey",
    "db-pass",
    "dbPass",
    "passwd",
    "Password",
    "client_secret",
    "refreshToken",
    "code_verifier",
    "x_jfrog_art_api",
    "csrf",
    "login",
    "pin",
    "session",
    "curl",
    "--user",
    "Authorization",
    "Basic",
    "Bearer",
    "fal_key",
    "note",
    "title",
    "re",
    "wait",
]
pieces = st.one_of(
    st.sampled_from(SHORT_NAMES),
    st.sampled_from(
        [": ", "=", " = '", '": "', ":=", " ", "\n", "://", "@", "- ", "-u ", "Basic ", "\u200b", "：", "是"]
    ),
    st.text(alphabet=ALNUM + "+/_-.", min_size=1, max_size=24),
    st.sampled_from(
        ["the tests use two workers", "测试", "sk-", "ghp_", "AKIA", "hvs.", "xoxb-", "eyJ", "-----BEGIN "]
    ),
)


@settings(derandomize=True, deadline=None, max_examples=400)
@given(st.lists(pieces, max_size=12).map("".join))
def test_the_prefilter_hides_nothing_in_texts_put_together_at_random(text: str) -> None:
    assert may_hold_secret(text) or redact_secret.scan(text) == []


def test_a_key_of_a_record_is_no_hint() -> None:
    source = random.Random(11)
    alphabets = (DIGITS, HEX, LOWER, ALNUM, ALNUM + "!@#$%^&*?~_-+/=.|")
    starts = ("", "", "", "sk-", "AKIA", "ghp_", "AIza", "xoxb-", "eyJ", "'", '"')
    for _ in range(3000):
        start, chars = source.choice(starts), source.choice(alphabets)
        words = ["".join(source.choices(chars, k=source.randint(1, 14))) for _ in range(source.choice((1, 1, 2, 12)))]
        text = f"title: Babase\nkey: {start}{' '.join(words)}\ncreated: 2026-01-01T08:00:00Z\n---\n\nSome words.\n"
        assert may_hold_secret(text) or redact_secret.scan(text) == []
    assert not may_hold_secret("title: Babase\nkey: cache-ttl\n---\n\nSome words.\n")
    assert may_hold_secret("title: Babase\nkey: cache-ttl\n---\n\nThe key is here.\n")


@settings(derandomize=True, deadline=None, max_examples=200)
@given(st.lists(pieces, max_size=12).map("".join))
def test_what_was_redacted_once_needs_no_second_time(text: str) -> None:
    assert redact(redact(text)) == redact(text)


@pytest.mark.parametrize(
    "text",
    [
        "Run the tests with two workers, because the fixture database is shared.",
        "---\ngitmem_id: m7k2q9abc123\ntitle: Cache\ntags:\n  - tool/redis\ncreated: 2026-11-30T14:00:00Z\n---\n",
        "The password is kept in the vault of the team.",
        "password: <your password>",
        "password: ${DB_PASSWORD}",
        "pwd: xxxxxxxx1",
        "passphrase: os.getenv('X1')",
        "Bearer authentication is described in RFC 6750.",
        "Send `Authorization: Bearer <token>` with every call.",
        "AKIAIOSFODNN7EXAMPLE is the id in Amazon's own pages.",
        "evidence: commit:0ce7f68a1b2c3d4e5f60718293a4b5c6d7e8f901",
        "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0bb22cd15d6c15b0f00a08",
        "key: docs/Guide2024/Setup11.md",
        "token: the-old-name-of-the-session-id",
        "See tests/policy/test_secrets.py and gitmem/policy/secret_rules.py.",
        "密码保存在团队的保险箱里。",
        "id 0b9f3c1e-7d52-4c1f-a3de-0123456789ab",
        "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk",
    ],
)
def test_look_alikes_pass(text: str) -> None:
    assert find_secrets(text) == ()
    assert redact(text) == text


@pytest.mark.parametrize("value", ["my_api_key", "MY-API-KEY", "my_secret_token", "api_key_here", "your client secret"])
def test_the_words_for_a_secret_are_none(value: str) -> None:
    assert find_secrets(f'client = Client(\n    api_key="{value}",\n)\n') == ()


@pytest.mark.parametrize("value", ["my_api_key7", "my_dog_rex9", "here-kx81-token", "api_secret_q"])
def test_but_no_more_than_these_words(value: str) -> None:
    assert find_secrets(f'client = Client(\n    api_key="{value}",\n)\n') != ()


def test_no_note_of_ours_is_stopped() -> None:
    assert [name for name, data in iter_own_notes() if find_secrets(data.decode())] == []


@pytest.mark.skipif(not HAS_VAULTS, reason="the real vaults are not here")
def test_few_notes_of_the_real_vaults_are_stopped() -> None:
    notes = sorted(VAULTS.rglob("*.md"))
    stopped = [note.name for note in notes if find_secrets(note.read_text(encoding="utf-8", errors="replace"))]

    # Four hold signed download links, one a database set-up with its password.
    assert (len(notes), len(stopped)) == (1360, 5)


def test_names_rule_and_line_never_the_secret() -> None:
    fake = make_fakes(1)["github"]
    texts = {"title": "Deploy", "body": f"one\ntwo {fake}\nthree\npassword: hQ7x9Zk2m!"}

    with pytest.raises(PolicyError) as caught:
        check_secrets(texts)

    error = caught.value
    assert error.code == "secret-found"
    assert error.message == "body, line 2 looks like a secret (github-token), and 1 more"
    assert error.fields == {"where": "body", "rule": "github-token", "line": 2, "count": 2}
    assert fake not in f"{error!r} {error.hint} {error.fields}"
    assert "hQ7x9Zk2m" not in f"{error!r} {error.hint} {error.fields}"


def test_every_text_is_looked_at() -> None:
    fake = make_fakes(2)["gitlab"]

    for name in ("title", "path", "summary"):
        with pytest.raises(PolicyError) as caught:
            check_secrets({"body": "fine", name: f"promoted/{fake}.md"})
        assert caught.value.fields["where"] == name


def test_secrets_that_overlap_count_once_and_lines_are_right() -> None:
    text = "a\r\n\r\nAuthorization: Bearer 7Zk2m4hQ7x9Zk2m4hQ7x9\r\n密码：hQ7x9Zk2m\r\n"

    assert find_secrets(text) == (Finding("bearer-token", 3), Finding("password", 4))
    assert redact(text) == "a\r\n\r\nAuthorization: Bearer [secret]\r\n密码：[secret]\r\n"


def test_a_text_that_can_not_be_scanned_is_not_passed() -> None:
    for call in (find_secrets, redact):
        with pytest.raises(UnavailableError) as caught:
            call("half a character: \ud800")
        assert caught.value.code == "scanner-failed"


def test_without_the_scanner_nothing_passes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "redact_secret", None)

    with pytest.raises(UnavailableError) as caught:
        check_secrets({"body": make_fakes(3)["npm"]})

    assert caught.value.code == "scanner-failed"


def test_long_texts_take_time_in_proportion() -> None:
    # Would run for minutes if a rule went back and forth over what it has read.
    pieces = ("key: ", "password: ", "a", "A1b2", "seed phrase: ", "bearer ", "token_", "密码是", "key=A1b2/")
    found = {piece: len(find_secrets(piece * 20_000)) for piece in pieces}

    assert {piece for piece, count in found.items() if count > 20_000} == set()
    assert found["key: "] == found["a"] == 0
