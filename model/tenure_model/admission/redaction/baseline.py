"""The fourteen built-in rules, in their order (JN-062), each linear in the text.

Letters, digits and word boundaries are those of ASCII, white space is JavaScript's (JN-606). Three habits keep the
rules linear. Repetitions are possessive: they give nothing back. A match starts at a fixed word, never at the start of
a run that may be long, and where that word can recur in what follows, a failed match still consumes what it looked at.
And a scan for a closing quote stops at every later opening one, so that such scans do not overlap.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Final

import attrs

from tenure_model.admission.redaction.marks import PLACEHOLDER

_TOKEN_PLACEHOLDER: Final = "[REDACTED_TOKEN]"
_API_KEY_PLACEHOLDER: Final = "[REDACTED_API_KEY]"

_SPACE: Final = r"\t\n\v\f\r \xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff"
"""JavaScript's white space, for use inside a character class."""

_DOUBLE_QUOTED: Final = r'"[^"\\]*+(?:\\.[^"\\]*+)*+"'
_SINGLE_QUOTED: Final = r"'[^'\\]*+(?:\\.[^'\\]*+)*+'"
_SECRET_WORDS: Final = ("key", "token", "secret", "password", "credential")

_URL_PASSWORD: Final = re.compile(rf"://[^{_SPACE}:@/]*+:(?!\[REDACTED\]@)([^{_SPACE}:@/]++)@")
_LONGEST_SCHEME: Final = 31
_LETTERS: Final = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
_SCHEME_MARKS: Final = "0123456789+.-"

_BEARER: Final = re.compile(rf"bearer[{_SPACE}]++[a-z0-9._~+/-]{{4,}}+=*+")
_BASIC: Final = re.compile(rf"basic[{_SPACE}]++[a-z0-9+/]{{4,}}+={{0,2}}+")

_JWT: Final = re.compile(r"eyJ(?:[A-Za-z0-9_-]{10,}+(\.[A-Za-z0-9_-]++\.[A-Za-z0-9_-]++)?+|[A-Za-z0-9_-]{0,9}+)")

_PEM_MARKER: Final = re.compile(r"-(?=(----(BEGIN|END) [A-Z0-9 ]*+-----))")

# The lookbehind comes after the four characters that are cheap to find.
_API_KEY: Final = re.compile(r"[sp]k[-_][A-Za-z0-9](?<![A-Za-z0-9]....)[A-Za-z0-9_-]{7,}+", re.DOTALL)
_GITHUB_TOKEN: Final = re.compile(r"gh[pousr]_[A-Za-z0-9]{20,}+")
_GITHUB_FINE_GRAINED_TOKEN: Final = re.compile(r"github_pat_[A-Za-z0-9_]{20,}+")
_AWS_ACCESS_KEY: Final = re.compile(r"\bAKIA[0-9A-Z]{16}\b", re.ASCII)
_SLACK_TOKEN: Final = re.compile(r"xox[baprs]-[A-Za-z0-9-]{10,}+")
_GOOGLE_API_KEY: Final = re.compile(r"AIza[A-Za-z0-9_-]{35,}+")

_ASSIGNMENT: Final = re.compile(
    rf"(?:{'|'.join(_SECRET_WORDS)})s?+[{_SPACE}]*+[:=][{_SPACE}]*+(?!\[redacted\])"
    rf"({_DOUBLE_QUOTED}|{_SINGLE_QUOTED}|[^{_SPACE}\"'][^{_SPACE}]*+)",
    re.DOTALL,
)
_COOKIE_ASSIGNMENT: Final = re.compile(
    rf"(?:cookie|session)s?+[{_SPACE}]*+=[{_SPACE}]*+({_DOUBLE_QUOTED}|{_SINGLE_QUOTED}|[^{_SPACE};,]++)", re.DOTALL
)
_EMBEDDED_MEMBER: Final = re.compile(
    rf"(?:{'|'.join(_SECRET_WORDS)})[^\"\\]*+(?:\\.[^\"\\]*+)*+"
    rf"(?:\"[{_SPACE}]*+:[{_SPACE}]*+\"([^\"\\]*+(?:\\.[^\"\\]*+)*+)\")?+",
    re.DOTALL,
)


@attrs.frozen
class BaselineRule:
    """A built-in rule: a name and a function of the text."""

    id: str
    apply: Callable[[str], str]


def may_hold_secrets(text: str) -> bool:
    """Whether some built-in rule might change the text; ``False`` is certain, and cheap for ordinary text."""
    if len(text) < 5:
        return False
    folded = text.lower()
    return (
        ("=" in folded or ":" in folded)
        and (
            "key" in folded
            or "token" in folded
            or "secret" in folded
            or "password" in folded
            or "credential" in folded
            or "session" in folded
            or "cookie" in folded
            or ("@" in folded and "://" in folded)
        )
    ) or (
        len(folded) >= 10
        and (
            "bearer" in folded
            or "basic" in folded
            or "eyj" in folded
            or "private key" in folded
            or "sk-" in folded
            or "sk_" in folded
            or "pk-" in folded
            or "pk_" in folded
            or ("_" in folded and ("gh" in folded or "github" in folded))
            or "akia" in folded
            or "xox" in folded
            or "aiza" in folded
        )
    )


def _fold(text: str) -> str:
    """The text with its ASCII letters in lower case, character for character; patterns without case then do.

    The two letters are the ones whose lower case would be an ASCII letter, or longer than they are.
    """
    if text.isascii():
        return text.lower()
    return text.replace("\u0130", "\ufffd").replace("\u212a", "\ufffd").lower()


def _splice(text: str, spans: Iterator[tuple[int, int]], replacement: str) -> str:
    """The text with ``replacement`` in place of the spans, which ascend and do not overlap."""
    pieces: list[str] = []
    position = 0
    for start, end in spans:
        pieces.append(text[position:start])
        pieces.append(replacement)
        position = end
    if not pieces:
        return text
    pieces.append(text[position:])
    return "".join(pieces)


def _redact_url_credentials(text: str) -> str:
    if "://" not in text or "@" not in text:
        return text
    spans = (match.span(1) for match in _URL_PASSWORD.finditer(text) if _ends_in_scheme(text, match.start()))
    return _splice(text, spans, PLACEHOLDER)


def _ends_in_scheme(text: str, end: int) -> bool:
    """Whether a letter and at most 30 further characters of a scheme end at ``end``."""
    before = text[max(0, end - _LONGEST_SCHEME) : end]
    run = before[len(before.rstrip(_LETTERS + _SCHEME_MARKS)) :]
    return run.strip(_SCHEME_MARKS) != ""


def _redact_bearer_token(text: str) -> str:
    folded = _fold(text)
    if "bearer" not in folded:
        return text
    return _splice(text, (match.span() for match in _BEARER.finditer(folded)), f"Bearer {_TOKEN_PLACEHOLDER}")


def _redact_basic_authorization(text: str) -> str:
    folded = _fold(text)
    if "basic" not in folded:
        return text
    return _splice(text, (match.span() for match in _BASIC.finditer(folded)), f"Basic {_TOKEN_PLACEHOLDER}")


def _redact_jwt(text: str) -> str:
    """Every run of token characters has a word boundary before its first letter, so the rule comes down to the first
    ``eyJ`` of a run; a later one in the same run has fewer characters behind it.
    """
    if "eyJ" not in text:
        return text
    spans = (match.span() for match in _JWT.finditer(text) if match[1] is not None)
    return _splice(text, spans, _TOKEN_PLACEHOLDER)


def _redact_private_key_block(text: str) -> str:
    if "PRIVATE KEY" not in text:
        return text
    return _splice(text, _private_key_blocks(text), PLACEHOLDER)


def _private_key_blocks(text: str) -> Iterator[tuple[int, int]]:
    """From a BEGIN marker to the first END marker behind it, with no other BEGIN marker starting between the two.

    Markers may share their dashes with the next. So the block at an END marker begins with the last BEGIN marker, or
    with the one before where those two share dashes, since then none starts behind that one's end.
    """
    position = 0
    before: tuple[int, int] | None = None
    last: tuple[int, int] | None = None
    for marker in _PEM_MARKER.finditer(text):
        start, end = marker.start(), marker.end(1)
        if start < position or "PRIVATE KEY" not in marker[1]:
            continue
        if marker[2] == "BEGIN":
            before, last = last, (start, end)
            continue
        if last is None:
            continue
        begin = before if before is not None and before[1] > last[0] else last
        if begin[1] <= start:
            yield begin[0], end
            position = end
            before = last = None


def _redact_assignment(text: str) -> str:
    """The whole run of name characters around the word is a name, so only the end of the name needs to be found."""
    if "=" not in text and ":" not in text:
        return text
    return _splice(text, (match.span(1) for match in _ASSIGNMENT.finditer(_fold(text))), PLACEHOLDER)


def _redact_cookie_session_assignment(text: str) -> str:
    if "=" not in text:
        return text
    return _splice(text, (match.span(1) for match in _COOKIE_ASSIGNMENT.finditer(_fold(text))), PLACEHOLDER)


def _redact_embedded_json_credential(text: str) -> str:
    if '"' not in text or ":" not in text:
        return text
    return _splice(text, _embedded_values(text), PLACEHOLDER)


def _embedded_values(text: str) -> Iterator[tuple[int, int]]:
    """Any earlier quote behind the last match opens a name that reaches the word, so words behind one will do."""
    folded = _fold(text)
    position = 0
    while position >= 0:
        quote = text.find('"', position)
        position = -1
        for match in _EMBEDDED_MEMBER.finditer(folded, quote) if quote >= 0 else ():
            if match[1] is not None:
                yield match.span(1)
                position = match.end()
                break


def _replacing(
    pattern: re.Pattern[str], needles: Sequence[str], replacement: str = PLACEHOLDER
) -> Callable[[str], str]:
    """A rule without cases: every match is replaced; no match lacks all of the needles."""

    def apply(text: str) -> str:
        for needle in needles:
            if needle in text:
                return pattern.sub(replacement, text)
        return text

    return apply


BASELINE_RULES: Final = (
    BaselineRule("url-credentials", _redact_url_credentials),
    BaselineRule("bearer-token", _redact_bearer_token),
    BaselineRule("basic-authorization", _redact_basic_authorization),
    BaselineRule("jwt", _redact_jwt),
    BaselineRule("private-key-block", _redact_private_key_block),
    BaselineRule("api-key", _replacing(_API_KEY, ("sk-", "sk_", "pk-", "pk_"), _API_KEY_PLACEHOLDER)),
    BaselineRule("github-token", _replacing(_GITHUB_TOKEN, ("ghp_", "gho_", "ghu_", "ghs_", "ghr_"))),
    BaselineRule("github-fine-grained-token", _replacing(_GITHUB_FINE_GRAINED_TOKEN, ("github_pat_",))),
    BaselineRule("aws-access-key", _replacing(_AWS_ACCESS_KEY, ("AKIA",))),
    BaselineRule("slack-token", _replacing(_SLACK_TOKEN, ("xox",))),
    BaselineRule("google-api-key", _replacing(_GOOGLE_API_KEY, ("AIza",))),
    BaselineRule("assignment", _redact_assignment),
    BaselineRule("cookie-session-assignment", _redact_cookie_session_assignment),
    BaselineRule("embedded-json-credential", _redact_embedded_json_credential),
)
"""The built-in rules in the order in which they apply (JN-062)."""
