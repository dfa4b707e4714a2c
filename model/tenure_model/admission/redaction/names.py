"""Which member names make their values secret (JN-052..JN-054)."""

import re
from typing import Final

from tenure_model.admission.integers import is_safe_integer

_ENDINGS: Final = (
    "auth",
    "authorization",
    "cookie",
    "apikey",
    "token",
    "password",
    "passphrase",
    "secret",
    "secretaccesskey",
    "credential",
    "dsn",
    "connection",
    "connectionstring",
    "connectionuri",
    "connectionurl",
    "secretkey",
    "privatekey",
    "sshkey",
    "signingkey",
    "signature",
    "encryptionkey",
    "session",
    "sessionkey",
)

_LAST_LETTERS: Final = frozenset("".join({ending[-1] + ending[-1].upper() for ending in _ENDINGS}) + "sS")
"""What a sensitive name can end in, if it ends in an ASCII letter or digit (``key`` is covered by ``apikey``)."""

_TOKEN_COUNTS: Final = frozenset({"inputtoken", "outputtoken", "cachedinputtoken", "reasoningtoken", "totaltoken"})

_NOT_CANONICAL: Final = re.compile(r"[^a-z0-9]+")


def is_sensitive_name(name: str) -> bool:
    """Whether the value of a member with this name is secret (JN-052, JN-053).

    It is where the name ends in the word ``key``, or where its letters and digits, in lower case and without one
    trailing ``s``, end in one of the words for secrets: ``apiKeys`` is, ``idempotencyKey`` and ``tokenizer`` are not.
    """
    # Most names end in a letter that no word for secrets ends in, and are done with.
    last = name[-1:]
    if last.isascii() and last.isalnum() and last not in _LAST_LETTERS:
        return False
    # Upper case, because no other letter's upper case is an ASCII K, E or Y.
    if name[-3:].upper() == "KEY" and (len(name) == 3 or not (name[-4].isascii() and name[-4].isalnum())):
        return True
    return _canonical(name).endswith(_ENDINGS)


def is_token_count(name: str, value: object) -> bool:
    """Whether a member under a sensitive name is a count of tokens and stays (JN-054, JN-605).

    ``value`` must be a safe integer and no ``bool``; ``tokens`` counts, a singular ``token`` does not.
    """
    return is_safe_integer(value) and (name.lower() == "tokens" or _canonical(name) in _TOKEN_COUNTS)


def _canonical(name: str) -> str:
    folded = name.lower()
    if not (folded.isascii() and folded.isalnum()):
        folded = _NOT_CANONICAL.sub("", folded)
    return folded.removesuffix("s")
