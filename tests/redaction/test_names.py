"""Sensitive names: `tenure_model.admission.redaction.names`."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tenure_model.admission.redaction.names import is_sensitive_name, is_token_count
from tenure_model.vocabulary.constants import MAX_SAFE_INTEGER

WORDS = (
    *("auth", "authorization", "cookie", "apikey", "token", "password", "passphrase", "secret", "secretaccesskey"),
    *("credential", "dsn", "connection", "connectionstring", "connectionuri", "connectionurl", "secretkey"),
    *("privatekey", "sshkey", "signingkey", "signature", "encryptionkey", "session", "sessionkey"),
)

NAMES = st.lists(
    st.sampled_from([*WORDS, "key", "KEY", "Key", "s", "S", "_", "-", " ", "a", "9", "é", "\u212a", "\u0130", "\n"]),
    max_size=5,
).map("".join)


def sensitive(name: str) -> bool:
    """The name test as it is worded (JN-052)."""
    if re.search(r"(?:^|[^a-z0-9])key\Z", name, re.ASCII | re.IGNORECASE):
        return True
    letters = re.sub("[^a-z0-9]", "", name.lower())
    return re.sub(r"s\Z", "", letters).endswith(WORDS)


@pytest.mark.parametrize("name", [*WORDS, "key", "API_KEY", "my-keys-key", "xApiKeys", "Set-Cookie", "user.password"])
def test_names_that_end_in_a_word_for_secrets_are_sensitive(name: str) -> None:
    """Case, punctuation and one plural do not hide the word (JN-052)."""
    assert is_sensitive_name(name)


@pytest.mark.parametrize(
    "name",
    [
        *("tokenizer", "secretary", "monkey", "turkey", "keyboard", "description", "passwordless", "idempotencyKey"),
        *("publicKey", "keys", "passwordss", "key\n", "\u212aey", "", "v", "step"),
    ],
)
def test_names_that_only_resemble_are_not(name: str) -> None:
    """A word inside a name, a key of something, an end before a line break: none is sensitive (JN-053, JN-606)."""
    assert not is_sensitive_name(name)


@given(name=NAMES)
def test_names_are_judged_as_worded(name: str) -> None:
    """The quick test and the worded one agree (JN-052)."""
    assert is_sensitive_name(name) == sensitive(name)


@pytest.mark.parametrize(
    ("name", "value", "kept"),
    [
        ("inputTokens", 0, True),
        ("output_token", MAX_SAFE_INTEGER, True),
        ("cachedInputTokens", 1, True),
        ("reasoning-tokens", 1, True),
        ("TotalToken", 1, True),
        ("Tokens", 1, True),
        ("token", 1, False),
        ("to-kens", 1, False),
        ("inputTokens", True, False),
        ("inputTokens", -1, False),
        ("inputTokens", 1.0, False),
        ("inputTokens", MAX_SAFE_INTEGER + 1, False),
        ("inputToken", "1", False),
        ("tokens", "abc", False),
        ("tokens", [1], False),
    ],
)
def test_counts_of_tokens_stay(name: str, value: object, kept: bool) -> None:
    """Only a count under a name that counts is kept (JN-054, JN-605)."""
    assert is_token_count(name, value) is kept
