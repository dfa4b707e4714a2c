"""The stored text of payloads and metas, canonical, and of states, in their own order (JN-042..JN-044, JN-602..JN-604).

A live value is first copied by one walk that runs none of its code and needs no recursion; the copy holds only what
JSON has. Then it is written: by the standard encoder where that writes the same characters, else by ``encode_json``.
"""

import json
from collections.abc import Callable, Iterator
from math import inf, isfinite
from typing import Final, NoReturn, cast

import attrs

from tenure_model.admission.json_encoding import encode_json
from tenure_model.admission.json_text import NO_JSON_COMPLAINT, read_json_text
from tenure_model.admission.json_values import JsonComplaint, JsonLimits, JsonValue
from tenure_model.admission.refusal import Refusal, refuse
from tenure_model.admission.text import has_surrogate
from tenure_model.vocabulary.absent import ABSENT
from tenure_model.vocabulary.constants import MAX_SAFE_INTEGER
from tenure_model.vocabulary.journal import CANONICAL_DEPTH, STATE_DEPTH, JsonHook
from tenure_model.vocabulary.journal_errors import NOT_CANONICAL, NOT_JSON

_COMPACT_ENCODER: Final = json.JSONEncoder(ensure_ascii=False, check_circular=False, separators=(",", ":"))

_MOST_SHALLOW: Final = 100
"""How deep a value may nest and still be written by the recursive encoder."""

_ARRAY_INDEXES: Final = 2**32 - 1
"""Names below this, written in decimal without leading zeros, are array indexes in JavaScript (JN-602)."""

_NO_LIMITS: Final = JsonLimits(depth=2**62, values=2**62, members=2**62)


class _NotJson(Exception):
    """The value, or something in it, is no JSON."""


@attrs.define
class _Frame:
    """A container being copied: its children still to come, the copies made so far, and an object's names."""

    sources: tuple[object, ...]
    children: Iterator[object]
    names: list[str] | None
    copies: list[JsonValue]
    size: int

    def copy(self, order: Callable[[dict[str, JsonValue]], dict[str, JsonValue]]) -> JsonValue:
        return self.copies if self.names is None else order(dict(zip(self.names, self.copies, strict=True)))


@attrs.frozen
class _Copied:
    """An inert copy, how many containers deep it nests, and whether a float is in it."""

    value: JsonValue
    depth: int
    floats: bool


def encode_canonical(value: object, field: str = "payload", default: JsonHook | None = None) -> str | Refusal:
    """The canonical JSON text of ``value``, or a refusal whose ``detail`` is what the journal's message says of
    ``field``: that it is no JSON, or, where it nests more than 256 containers deep, not canonical (JN-042..JN-044).

    Members are sorted, array indexes first in numeric order, the others by UTF-16 units (JN-602); numbers take their
    JavaScript form, ``NaN`` and infinities become ``null`` (JN-603); text stays raw (JN-604). ``ABSENT`` drops a member
    and is ``null`` in an array. Refused are integers beyond 2**53-1 either way (JN-043), surrogates, cycles, names that
    are no exact ``str``, and every other type but exact ``dict``, ``list``, ``str``, ``int``, ``float``, ``bool`` and
    ``None``, unless ``default`` encodes it (JN-043). What ``default`` answers is not given to it again.
    """
    simple = _encode_simple(value)
    if simple is not None:
        return simple
    try:
        copied = _copy(value, _canonical_order, default)
    except _NotJson:
        return refuse(field, NOT_JSON)
    if copied.depth > CANONICAL_DEPTH:
        return refuse(field, NOT_CANONICAL)
    return _write(copied)


def encode_plain(value: object, field: str = "state", default: JsonHook | None = None) -> str | Refusal:
    """As ``encode_canonical``, but members keep their order, and up to 1,000 containers may nest, which is what SQLite
    takes for JSON (JN-007, JN-272).
    """
    try:
        return _write(_copy(value, _own_order, default, STATE_DEPTH))
    except _NotJson:
        return refuse(field, NOT_JSON)


def decode_json(text: str) -> "JsonValue | JsonComplaint":
    """The value of a JSON text of any depth; integers beyond 2**53-1 either way become doubles (RS-329).

    Texts that are no JSON, ``NaN`` and byte order marks among them, are a complaint.
    """
    try:
        # The annotation is what the decoder's hooks leave to return.
        value: JsonValue = _SHORT_DECODER.decode(text) if len(text) < _SAFE_DIGITS else _DECODER.decode(text)
    except RecursionError:
        return read_json_text(text, _NO_LIMITS)
    except ValueError:
        return NO_JSON_COMPLAINT
    return value


def canonical_names(names: list[str]) -> list[str]:
    """The names of an object in canonical order: array indexes by number, then the rest by UTF-16 units (JN-602)."""
    indexes = [name for name in names if _is_array_index(name)]
    others = [name for name in names if not _is_array_index(name)] if indexes else list(names)
    indexes.sort(key=int)
    if all(map(str.isascii, others)):
        others.sort()
    else:
        others.sort(key=_utf16_units)
    return indexes + others


def _is_array_index(name: str) -> bool:
    return (
        len(name) <= 10
        and name.isascii()
        and name.isdigit()
        and (name[0] != "0" or name == "0")
        and int(name) < _ARRAY_INDEXES
    )


def _utf16_units(name: str) -> bytes:
    return name.encode("utf-16-be")


def _canonical_order(record: dict[str, JsonValue]) -> dict[str, JsonValue]:
    if len(record) < 2:
        return record
    return {name: record[name] for name in canonical_names(list(record))}


def _own_order(record: dict[str, JsonValue]) -> dict[str, JsonValue]:
    return record


def _encode_simple(value: object) -> str | None:
    """The canonical text of ``None`` and of small flat objects of ASCII text and integers, else ``None``.

    It says nothing of its own: what it answers is what the walk would (tested as a property).
    """
    if value is None:
        return "null"
    if type(value) is not dict or len(value) > 16:
        return None
    try:
        pairs = list(value.items())
    except RuntimeError:
        return None
    for name, child in pairs:
        # A name that starts with a digit may be an array index.
        if type(name) is not str or not name.isascii() or name[:1].isdigit():
            return None
        if type(child) is str:
            if not child.isascii():
                return None
        elif type(child) is int:
            if not -MAX_SAFE_INTEGER <= child <= MAX_SAFE_INTEGER:
                return None
        elif child is not None and type(child) is not bool:
            return None
    pairs.sort(key=_name_of)
    return _COMPACT_ENCODER.encode(dict(pairs))


def _name_of(pair: tuple[str, object]) -> str:
    return pair[0]


def _write(copied: _Copied) -> str:
    if not copied.floats and copied.depth <= _MOST_SHALLOW:
        try:
            return _COMPACT_ENCODER.encode(copied.value)
        except RecursionError:
            # The caller stands close to the interpreter's limit.
            pass
    return encode_json(copied.value)


def _copy(
    value: object,
    order: Callable[[dict[str, JsonValue]], dict[str, JsonValue]],
    default: JsonHook | None,
    most_depth: float = inf,
) -> _Copied:
    """The copy; without ``most_depth`` the whole value is looked at, so that what is no JSON is found however deep it
    lies (JN-040).
    """
    deepest = 0
    floats = False
    ancestors: set[int] = set()
    root = _Frame((), iter((value,)), None, [], 1)
    frames = [root]
    while frames:
        frame = frames[-1]
        for child in frame.children:
            sources: tuple[object, ...] = (child,)
            if not _is_known(child):
                child = _encode_by_hook(child, default)
                sources = (*sources, child)
            if type(child) is list or type(child) is dict:
                if not ancestors.isdisjoint(map(id, sources)):
                    raise _NotJson
                entered = _enter(child, sources)
                ancestors.update(map(id, sources))
                frames.append(entered)
                if entered.size and len(frames) - 1 > deepest:
                    deepest = len(frames) - 1
                    if deepest > most_depth:
                        raise _NotJson
                break
            if child is ABSENT and frame is root:
                raise _NotJson
            scalar = _copy_scalar(child)
            floats = floats or type(scalar) is float
            frame.copies.append(scalar)
        else:
            frames.pop()
            if frames:
                ancestors.difference_update(map(id, frame.sources))
                frames[-1].copies.append(frame.copy(order))
    return _Copied(root.copies[0], deepest, floats)


def _is_known(value: object) -> bool:
    """Whether the type of ``value`` has a meaning in JSON by itself."""
    return (
        value is None
        or type(value) is str
        or type(value) is int
        or type(value) is dict
        or type(value) is list
        or type(value) is bool
        or type(value) is float
        or value is ABSENT
    )


def _encode_by_hook(value: object, default: JsonHook | None) -> object:
    if default is None:
        raise _NotJson
    try:
        answer = default(value)
    except Exception as error:
        raise _NotJson from error
    if answer is ABSENT or not _is_known(answer):
        raise _NotJson
    return answer


def _enter(container: list[object] | dict[object, object], sources: tuple[object, ...]) -> _Frame:
    if type(container) is list:
        children = container[:]
        return _Frame(sources, iter(children), None, [], len(children))
    try:
        pairs = list(cast("dict[object, object]", container).items())
    except RuntimeError as error:
        # Another thread resized it meanwhile.
        raise _NotJson from error
    names: list[str] = []
    members: list[object] = []
    for name, child in pairs:
        if type(name) is not str or has_surrogate(name):
            raise _NotJson
        if child is not ABSENT:
            names.append(name)
            members.append(child)
    return _Frame(sources, iter(members), names, [], len(members))


def _copy_scalar(value: object) -> JsonValue:
    if type(value) is str:
        if has_surrogate(value):
            raise _NotJson
        return value
    if type(value) is int:
        if not -MAX_SAFE_INTEGER <= value <= MAX_SAFE_INTEGER:
            raise _NotJson
        return value
    if type(value) is float:
        return value if isfinite(value) else None
    return value if type(value) is bool else None


def _integer(digits: str) -> int | float:
    if len(digits) <= _SAFE_DIGITS + 1:
        number = int(digits)
        if -MAX_SAFE_INTEGER <= number <= MAX_SAFE_INTEGER:
            return number
    return float(digits)


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(name)


_SAFE_DIGITS: Final = len(str(MAX_SAFE_INTEGER))
_DECODER: Final = json.JSONDecoder(parse_int=_integer, parse_constant=_refuse_constant)
# In a text shorter than the largest safe integer all integers are safe, and the standard conversion is faster.
_SHORT_DECODER: Final = json.JSONDecoder(parse_constant=_refuse_constant)
