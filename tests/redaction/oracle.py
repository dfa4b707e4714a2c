"""The built-in rules as plain patterns, one to one after their wording: quadratic at times, easy to check by eye."""

import re
from collections.abc import Mapping
from typing import Final

from hypothesis import strategies as st

SPACE: Final = "[\\t\\n\\v\\f\\r \\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000\\ufeff]"
"""What JavaScript calls white space."""

_WORDS: Final = "(?:key|token|secret|password|credential)"
_QUOTED: Final = r"""(?:"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')"""
_NO_SPACE: Final = f"[^{SPACE[1:-1]}"
_CASELESS: Final = re.ASCII | re.DOTALL | re.IGNORECASE
_CASED: Final = re.ASCII | re.DOTALL
_MARKER: Final = "-----{} [A-Z0-9 ]*PRIVATE KEY[A-Z0-9 ]*-----"

PATTERNS: Final[Mapping[str, tuple[re.Pattern[str], str]]] = {
    "url-credentials": (
        re.compile(
            rf"([a-z][a-z0-9+.-]{{0,30}}://{_NO_SPACE}:@/]*:)(?!(?-i:\[REDACTED\])@){_NO_SPACE}:@/]+@", _CASELESS
        ),
        r"\1[REDACTED]@",
    ),
    "bearer-token": (re.compile(rf"bearer{SPACE}+[a-z0-9._~+/-]{{4,}}=*", _CASELESS), "Bearer [REDACTED_TOKEN]"),
    "basic-authorization": (re.compile(rf"basic{SPACE}+[a-z0-9+/]{{4,}}={{0,2}}", _CASELESS), "Basic [REDACTED_TOKEN]"),
    "jwt": (
        re.compile(r"\b([A-Za-z0-9_-]*?)eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+", _CASED),
        r"\1[REDACTED_TOKEN]",
    ),
    "private-key-block": (
        re.compile(f"{_MARKER.format('BEGIN')}(?:(?!{_MARKER.format('BEGIN')}).)*?{_MARKER.format('END')}", _CASED),
        "[REDACTED]",
    ),
    "api-key": (re.compile(r"(?<![A-Za-z0-9])[sp]k[-_][A-Za-z0-9][A-Za-z0-9_-]{7,}", _CASED), "[REDACTED_API_KEY]"),
    "github-token": (re.compile(r"gh[pousr]_[A-Za-z0-9]{20,}", _CASED), "[REDACTED]"),
    "github-fine-grained-token": (re.compile(r"github_pat_[A-Za-z0-9_]{20,}", _CASED), "[REDACTED]"),
    "aws-access-key": (re.compile(r"\bAKIA[0-9A-Z]{16}\b", _CASED), "[REDACTED]"),
    "slack-token": (re.compile(r"xox[baprs]-[A-Za-z0-9-]{10,}", _CASED), "[REDACTED]"),
    "google-api-key": (re.compile(r"AIza[A-Za-z0-9_-]{35,}", _CASED), "[REDACTED]"),
    "assignment": (
        re.compile(
            rf"(?<![a-z0-9_-])([a-z0-9_-]*{_WORDS}s?{SPACE}*[:=]{SPACE}*)(?!\[REDACTED\])"
            rf"(?:{_QUOTED}|{_NO_SPACE}\"']{_NO_SPACE}]*)",
            _CASELESS,
        ),
        r"\1[REDACTED]",
    ),
    "cookie-session-assignment": (
        re.compile(rf"((?:cookie|session)s?{SPACE}*={SPACE}*)(?:{_QUOTED}|{_NO_SPACE};,]+)", _CASELESS),
        r"\1[REDACTED]",
    ),
    "embedded-json-credential": (
        re.compile(rf'("(?:[^"\\]|\\.)*?\\?{_WORDS}(?:[^"\\]|\\.)*"{SPACE}*:{SPACE}*")(?:[^"\\]|\\.)*"', _CASELESS),
        r'\1[REDACTED]"',
    ),
}
"""By the rule's name, in order: its pattern and what a match becomes."""

_FRAGMENTS: Final = (
    *("a", "Z", "0", "_", "-", "--", ".", "+", "/", "~", "=", "==", ":", ";", ",", "@", "://", "]", "[", "\\", "\\\\"),
    *(
        " ",
        "  ",
        "\n",
        "\t",
        "\x1f",
        "\x85",
        "\xa0",
        "\ufeff",
        '"',
        "'",
        '\\"',
        '"',
        '"',
        "é",
        "\u212a",
        "\u0130",
        "\u017f",
    ),
    *("user", "https", "a" * 31, "Bearer", "bearer ", "BASIC ", "abcd", "eyJ", "eyJhbGciOiJIUzI1", "eyJhbGciOiJIU"),
    *(
        "-----BEGIN PRIVATE KEY-----",
        "-----END PRIVATE KEY-----",
        "-----BEGIN RSA PRIVATE KEY-----",
        "-----END EC ",
        "BEGIN PRIVATE KEY-----",
        "END PRIVATE KEY-----",
    ),
    *("PRIVATE KEY-----", "-----BEGIN CERTIFICATE-----", "sk-", "pk_", "sk", "abcdefg", "abcdefgh", "ghp_", "ghs_"),
    *("github_pat_", "x" * 20, "AKIA", "AKIA" + "A" * 16, "xoxb-", "xoxz-", "1234567890", "AIza", "b" * 35),
    *(
        "KEY",
        "key",
        "tokens",
        "Secret",
        "password",
        "CREDENTIALS",
        "key=",
        '"token":"',
        'secret":',
        "cookie",
        "SESSION",
    ),
    *("sessions=", "[REDACTED]", "[redacted]", "[REDACTED_TOKEN]", "key: ", "api_key = "),
)

_MARKERS: Final = st.lists(
    st.sampled_from(["-----BEGIN ", "BEGIN ", "-----END ", "END ", "PRIVATE KEY", "-----", "-", "x"]), max_size=24
).map("".join)

TEXTS: Final = st.lists(st.sampled_from(_FRAGMENTS), max_size=14).map("".join) | _MARKERS | st.text(max_size=30)
"""Texts in which the rules meet, overlap and nearly match."""
