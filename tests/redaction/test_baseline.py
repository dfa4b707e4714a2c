"""The built-in rules: `tenure_model.admission.redaction.baseline`."""

import pytest
from hypothesis import given, settings

from tenure_model.admission.redaction.baseline import BASELINE_RULES, may_hold_secrets
from tenure_model.admission.redaction.rules import TextRule, redact_text
from tests.redaction.oracle import PATTERNS, TEXTS

RULES = {rule.id: rule for rule in BASELINE_RULES}

PEM = "-----BEGIN RSA PRIVATE KEY-----\nMIIB\n-----END RSA PRIVATE KEY-----"
BEGIN = "-----BEGIN PRIVATE KEY-----"
END = "-----END PRIVATE KEY-----"
JWT = "eyJhbGciOiJIUzI1.eyJzdWIi.c2ln"

CHARACTERS = [
    *map(chr, range(0x100)),
    *"\u017f\u0130\u0131\u1680\u180e\u2028\u2029\u202f\u205f\u212a\u3000\ufeff\U0001f600",
]
CHARACTERS += map(chr, range(0x1FFF, 0x2010))

TEMPLATES = (
    *("?://u:p@h", "a?://u:p@h", "ab://?:p@h", "a://u:?@h", "a://u?p@h", "a://u:p?h"),
    *("Bearer?abcd", "Bearer a?cd", "Bearer abc?", "Basic?abcd", "Basic a?cd", "Basic abcd?x"),
    *("?eyJabcdefghij.b.c", "eyJabcde?ghij.b.c", "eyJabcdefghij.?.c", "eyJabcdefghij.b.?", "eyJabcdefghij?b.c"),
    *(
        "-----BEGIN ?PRIVATE KEY-----x-----END PRIVATE KEY-----",
        "-----BEGIN PRIVATE KEY-----?-----END PRIVATE KEY?-----",
    ),
    *("?sk-abcdefgh", "sk?abcdefgh", "sk-?bcdefgh", "sk-abc?efgh", "?k-abcdefgh"),
    *("gh?_abcdefghij0123456789", "ghp_abcdefghij012345678?", "github_pat_abcdefghij?123456789"),
    *("?AKIA0123456789ABCDEF", "AKIA0123456?89ABCDEF", "AKIA0123456789ABCDEF?"),
    *("xox?-1234567890", "xoxb-12345?7890", f"AIza{'a' * 20}?{'a' * 14}"),
    *(
        "key?=a",
        "key=?a",
        "?key=a",
        "ke?=a",
        "key?a",
        'key="a?b',
        "key='a?b' c",
        "key=a?b",
        "\u017fecret?=a",
        "token?: a",
    ),
    *("session?=a", "session=?a", "session=a?b", "session?a", "cookie?=a", "co?kie=a"),
    *('"?key":"a"', '"key?":"a"', '"key"?:"a"', '"key":?"a"', '"key":"?"', '"key"?"a"', '?key":"a"', '"k?y":"a"'),
)
"""Texts in which one character decides: it takes the place of the question marks."""

SHORTEST = (
    *("a://:p@", "Bearer abcd", "Basic abcd", "eyJabcdefghij.b.c", f"{BEGIN}{END}", "sk-abcdefgh", "sk_abcdefgh"),
    *(
        "pk-abcdefgh",
        "pk_abcdefgh",
        "ghs_abcdefghij0123456789",
        "github_pat_abcdefghij0123456789",
        "AKIA0123456789ABCDEF",
    ),
    *("xoxb-1234567890", "AIza" + "a" * 35, "key=a", "token:a", "secret=a", "password:a", "credential=a", "cookie=a"),
    *("session=a", '"key":""', '"token":""', '"secret":""', '"password":""', '"credential":""'),
)
"""Texts that one rule matches, and would not without their last character."""


@pytest.mark.parametrize(
    ("rule", "text", "redacted"),
    [
        ("url-credentials", "postgres://user:hunter2@host/db", "postgres://user:[REDACTED]@host/db"),
        ("url-credentials", "redis://:hunter2@host", "redis://:[REDACTED]@host"),
        ("url-credentials", "HTTPS://u:p@h a+b.c-d://u:q@h", "HTTPS://u:[REDACTED]@h a+b.c-d://u:[REDACTED]@h"),
        ("url-credentials", "x" * 40 + "://u:p@h", "x" * 40 + "://u:[REDACTED]@h"),
        ("url-credentials", "x" + "1" * 30 + "://u:p@h", "x" + "1" * 30 + "://u:[REDACTED]@h"),
        ("url-credentials", "x" + "1" * 31 + "://u:p@h", "x" + "1" * 31 + "://u:p@h"),
        ("url-credentials", "://u:p@h 1://u:p@h é://u:p@h", "://u:p@h 1://u:p@h é://u:p@h"),
        ("url-credentials", "http://host:80/a@b http://u:p q@h", "http://host:80/a@b http://u:p q@h"),
        ("url-credentials", "http://u:p\ufeffq@h http://u:p\x1fq@h", "http://u:p\ufeffq@h http://u:[REDACTED]@h"),
        ("url-credentials", "http://u:[REDACTED]@h http://u:@h", "http://u:[REDACTED]@h http://u:@h"),
        ("bearer-token", "Authorization: bearer \tabc.d_~+/-e== x", "Authorization: Bearer [REDACTED_TOKEN] x"),
        ("bearer-token", "Bearer abc Bearerabcd", "Bearer abc Bearerabcd"),
        ("bearer-token", "BEARER\u2003abcd", "Bearer [REDACTED_TOKEN]"),
        ("bearer-token", "Bearer\x85abcd", "Bearer\x85abcd"),
        ("basic-authorization", "basic QWxhZGRpbg===", "Basic [REDACTED_TOKEN]="),
        ("basic-authorization", "Basic abc basic_auth", "Basic abc basic_auth"),
        ("jwt", f"x {JWT} y", "x [REDACTED_TOKEN] y"),
        ("jwt", f"pre-fix_{JWT}.rest", "pre-fix_[REDACTED_TOKEN].rest"),
        ("jwt", f"é{JWT}", "é[REDACTED_TOKEN]"),
        ("jwt", "eyJ" + "a" * 9 + ".b.c", "eyJ" + "a" * 9 + ".b.c"),
        ("jwt", "eyJa.eyJ" + "a" * 10 + ".b.c", "eyJa.[REDACTED_TOKEN]"),
        ("jwt", "eyJ" + "a" * 10 + ".b", "eyJ" + "a" * 10 + ".b"),
        ("private-key-block", f"a {PEM} b {PEM}", "a [REDACTED] b [REDACTED]"),
        ("private-key-block", f"{BEGIN} left alone", f"{BEGIN} left alone"),
        ("private-key-block", f"{BEGIN} a {BEGIN} b {END} c {END}", f"{BEGIN} a [REDACTED] c {END}"),
        ("private-key-block", "-----BEGIN PUBLIC KEY-----x" + END, "-----BEGIN PUBLIC KEY-----x" + END),
        ("private-key-block", f"{BEGIN}BEGIN PRIVATE KEY-----x{END}", "[REDACTED]"),
        ("private-key-block", f"{BEGIN}END PRIVATE KEY-----", f"{BEGIN}END PRIVATE KEY-----"),
        ("private-key-block", f"{END}BEGIN PRIVATE KEY-----x{END}", "-----END PRIVATE KEY[REDACTED]"),
        ("api-key", "sk-abcdefgh pk_1-------", "[REDACTED_API_KEY] [REDACTED_API_KEY]"),
        ("api-key", "_sk-abcdefgh", "_[REDACTED_API_KEY]"),
        ("api-key", "task-abcdefgh sk-abcdefg sk--abcdefgh", "task-abcdefgh sk-abcdefg sk--abcdefgh"),
        ("github-token", "ghp_" + "a" * 20 + " ghz_" + "a" * 20, "[REDACTED] ghz_" + "a" * 20),
        ("github-token", "ghr_" + "a" * 19, "ghr_" + "a" * 19),
        ("github-fine-grained-token", "github_pat_" + "a_" * 10, "[REDACTED]"),
        ("github-fine-grained-token", "github_pat_" + "a" * 19, "github_pat_" + "a" * 19),
        ("aws-access-key", f"AKIA{'A1' * 8}.", "[REDACTED]."),
        ("aws-access-key", f"AKIA{'A' * 17} xAKIA{'A' * 16}", f"AKIA{'A' * 17} xAKIA{'A' * 16}"),
        ("slack-token", "xoxb-123-456-789 xoxz-1234567890", "[REDACTED] xoxz-1234567890"),
        ("google-api-key", "AIza" + "-" * 35, "[REDACTED]"),
        ("google-api-key", "AIza" + "-" * 34, "AIza" + "-" * 34),
        ("assignment", "API_KEY=abc def", "API_KEY=[REDACTED] def"),
        ("assignment", 'my-tokens : "a \\" b" c', "my-tokens : [REDACTED] c"),
        ("assignment", "Secret\u00a0=\n'a b'", "Secret\u00a0=\n[REDACTED]"),
        ("assignment", 'key="" key=\'\' key="\\"\\""', "key=[REDACTED] key=[REDACTED] key=[REDACTED]"),
        ("assignment", "keyed=1 key1=2 key 3", "keyed=1 key1=2 key 3"),
        ("assignment", 'PASSWORD=[REDACTED] credentials="', 'PASSWORD=[REDACTED] credentials="'),
        ("assignment", "key=[REDACTED];token=abc", "key=[REDACTED];token=[REDACTED]"),
        ("cookie-session-assignment", 'Cookie=a;b sessions = "c d"', "Cookie=[REDACTED];b sessions = [REDACTED]"),
        ("cookie-session-assignment", "mysession='a,b'", "mysession=[REDACTED]"),
        ("cookie-session-assignment", 'session="a,b', "session=[REDACTED],b"),
        ("cookie-session-assignment", "session: a", "session: a"),
        ("embedded-json-credential", '{"apiKeyId" : "a\\"b", "c": "d"}', '{"apiKeyId" : "[REDACTED]", "c": "d"}'),
        ("embedded-json-credential", '{"a\\"key\\"": ""}', '{"a\\"key\\"": "[REDACTED]"}'),
        ("embedded-json-credential", 'key":"a" "token":1', 'key":"a" "token":1'),
        ("embedded-json-credential", '"token":"a" key":"b"', '"token":"[REDACTED]" key":"b"'),
    ],
)
def test_a_rule_replaces_its_matches_and_nothing_else(rule: str, text: str, redacted: str) -> None:
    """One pass of one rule over a text (JN-062, JN-606)."""
    result = RULES[rule].apply(text)

    assert result == redacted


def test_the_rules_stand_in_their_order() -> None:
    """There are fourteen rules in a fixed order (JN-062)."""
    names = [rule.id for rule in BASELINE_RULES]

    assert names == list(PATTERNS)


@pytest.mark.parametrize("rule", BASELINE_RULES, ids=lambda rule: str(rule.id))
@given(text=TEXTS)
@settings(max_examples=300)
def test_a_rule_does_what_its_plain_pattern_does(rule: TextRule, text: str) -> None:
    """The linear form of a rule and the pattern it is worded as answer alike (JN-062)."""
    pattern, replacement = PATTERNS[rule.id]

    assert rule.apply(text) == pattern.sub(replacement, text)


@pytest.mark.parametrize("rule", BASELINE_RULES, ids=lambda rule: str(rule.id))
@pytest.mark.parametrize("template", TEMPLATES)
def test_a_rule_takes_the_characters_its_plain_pattern_takes(rule: TextRule, template: str) -> None:
    """Every character of some blocks, and all white space, in every place of a match (JN-062, JN-606)."""
    pattern, replacement = PATTERNS[rule.id]
    texts = [template.replace("?", character) for character in CHARACTERS]

    assert [rule.apply(text) for text in texts] == [pattern.sub(replacement, text) for text in texts]


@pytest.mark.parametrize("text", SHORTEST)
def test_the_shortest_secrets_are_seen(text: str) -> None:
    """The cheap look ahead knows the least that each rule needs (JN-062)."""
    redacted = redact_text(text, BASELINE_RULES)

    assert may_hold_secrets(text)
    assert redacted != text
    assert redact_text(text[:-1], BASELINE_RULES) == text[:-1]


@given(text=TEXTS)
@settings(max_examples=1000)
def test_what_cannot_hold_secrets_is_changed_by_no_rule(text: str) -> None:
    """The cheap look ahead never lets a match through."""
    assert may_hold_secrets(text) or redact_text(text, BASELINE_RULES) == text


@pytest.mark.parametrize(
    "text",
    [
        "2024-05-01T12:00:01Z INFO worker-3 processed job 12345 in 35 ms, status ok",
        "https://example.com/items?page=3",
        "monkey business at the keyboard",
        "",
    ],
)
def test_ordinary_text_is_dismissed_at_once(text: str) -> None:
    """Log lines do not reach the rules."""
    assert not may_hold_secrets(text)


@given(text=TEXTS)
@settings(max_examples=500)
def test_redacting_a_text_again_changes_nothing(text: str) -> None:
    """The built-in rules reach a fixed point (JN-060)."""
    once = redact_text(text, BASELINE_RULES)

    assert redact_text(once, BASELINE_RULES) == once


def test_rules_follow_one_another() -> None:
    """What an earlier rule wrote is redacted further where a later one matches (JN-056, JN-062)."""
    result = redact_text("token: Bearer abcdefgh and api_key=sk-abcdefgh", BASELINE_RULES)

    assert result == "token: [REDACTED] [REDACTED_TOKEN] and api_key=[REDACTED]"


def test_nested_blocks_are_redacted_in_later_passes() -> None:
    """Blocks that enclose each other go from the inside out (JN-060, JN-065)."""
    result = redact_text(f"{BEGIN * 3}x{END * 3}", BASELINE_RULES)

    assert result == "[REDACTED]"


def test_a_text_that_does_not_settle_is_replaced_whole() -> None:
    """Eight passes are not enough for nine blocks in one another (JN-065)."""
    result = redact_text(f"a {BEGIN * 9}x{END * 9} b", BASELINE_RULES)

    assert result == "[REDACTED]"
