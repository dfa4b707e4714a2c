"""Names derived from content: event ids, content fingerprints, companion streams (JN-026, JN-030, JN-048)."""

import hashlib
import json
from typing import Final

from tenure_model.admission.text import utf16_length
from tenure_model.vocabulary.constants import COMPANION_PREFIX

_ARRAY_ENCODER: Final = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))


def event_id(run_id: str, source_id: str, source_seq: int) -> str:
    """The id of the event with this producer identity; different identities have different ids (JN-026)."""
    return f"flows:event:{utf16_length(run_id)}:{run_id}{utf16_length(source_id)}:{source_id}{source_seq}"


def content_fingerprint(event_type: str, payload_json: str, meta_json: str) -> str:
    """What a tombstone keeps of an event's content: 64 lowercase hex digits of SHA-256 (JN-048).

    The texts are well-formed; the two documents are compared by their stored characters.
    """
    return hashlib.sha256(_ARRAY_ENCODER.encode([event_type, payload_json, meta_json]).encode()).hexdigest()


def companion_run_id(stream: str, run_id: str) -> str:
    """The run id of a companion stream of a run; it checks nothing, well-formed text apart (JN-030)."""
    return f"{COMPANION_PREFIX}{stream}/{hashlib.sha256(run_id.encode()).hexdigest()}"


def is_companion_run_id(run_id: str) -> bool:
    """Whether the id carries the prefix of companion streams (JN-030)."""
    return run_id.startswith(COMPANION_PREFIX)
