"""The results in engine events (JN-352)."""

from typing import Final

from tenure_model.admission.engine_events.members import (
    MalformedError,
    Members,
    json,
    only,
    open_record,
    word,
)
from tenure_model.vocabulary.engine_events.results import FAILURE_REASONS, Failure, Result, Success

_SUCCESS: Final = frozenset(("_tag", "value"))
_FAILURE: Final = frozenset(("_tag", "reason", "detail"))


def read_result(members: Members, name: str, place: str) -> Result:
    """The success or failure in a member (JN-352)."""
    place = f"{place}.{name}"
    result = open_record(members.get(name), place)
    tag = result.get("_tag")
    if type(tag) is str:
        if tag == "Success":
            only(result, _SUCCESS, place)
            return Success(json(result, "value", place))
        if tag == "Failure":
            only(result, _FAILURE, place)
            return Failure(word(result, "reason", place, FAILURE_REASONS), json(result, "detail", place))
    raise MalformedError(f"{place}._tag", "must be one of Success, Failure")


def read_success(members: Members, name: str, place: str) -> Success:
    """The result of what succeeded (JN-354)."""
    result = read_result(members, name, place)
    if type(result) is Success:
        return result
    raise MalformedError(f"{place}.{name}", "must be a success")


def read_failure(members: Members, name: str, place: str) -> Failure:
    """The result of what failed (JN-354)."""
    result = read_result(members, name, place)
    if type(result) is Failure:
        return result
    raise MalformedError(f"{place}.{name}", "must be a failure")
