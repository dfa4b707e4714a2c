"""The walk of redaction over a live value: structure, names, binary, cycles, depth (JN-052..JN-059)."""

from collections.abc import Callable, Iterator, Mapping
from itertools import repeat
from types import BuiltinFunctionType, FunctionType, MethodType
from typing import Final, TypeGuard, cast

import attrs

from tenure_model.admission.redaction.marks import (
    BINARY_MARK,
    CIRCULAR_MARK,
    DEEP_MARK,
    FUNCTION_MARK,
    MARKS,
    PLACEHOLDER,
)
from tenure_model.admission.redaction.names import is_sensitive_name, is_token_count
from tenure_model.vocabulary.absent import ABSENT
from tenure_model.vocabulary.journal import JsonHook

_FUNCTION_TYPES: Final = (FunctionType, BuiltinFunctionType, MethodType, type)
"""What JavaScript calls a function: classes too, instances that can be called not."""

_NO_ANSWER: Final = object()
_UNFIT: Final[Mapping[None, None]] = {None: None}


class RedactionError(Exception):
    """The value nests too deep to be redacted (JN-059)."""


@attrs.frozen
class Walk:
    """How to walk: ``text`` redacts one text, ``max_depth`` is the deepest value visited, the root being at depth 0,
    and ``default`` encodes what is no JSON (JN-057).
    """

    text: Callable[[str], str]
    max_depth: int
    name_too_deep: bool
    default: JsonHook | None


@attrs.define
class _Frame:
    """A container being rebuilt: what stands for it among the ancestors, its children still to come, its copy so far,
    and the name under which a child container that is being visited will be put.
    """

    sources: tuple[object, ...]
    children: Iterator[tuple[str, object]]
    copy: dict[str, object] | list[object]
    name: str = ""

    def put(self, name: str, value: object) -> None:
        if type(self.copy) is dict:
            self.copy[name] = value
        else:
            cast("list[object]", self.copy).append(value)


def redact_value(value: object, walk: Walk) -> object:
    """A redacted copy of ``value``; it runs none of its code and needs no recursion.

    Exact ``dict`` and ``list`` are rebuilt; exact ``bytes``, ``bytearray`` and ``memoryview`` become objects that give
    type and size (JN-058); functions and classes become their mark. Another value is what ``default`` answers for it,
    walked at the same depth; where there is no such answer it is left as it is, and encoding refuses it (JN-043). Of an
    object with a name that is no exact ``str`` nothing is kept but a stand-in that encoding refuses too.

    Raises ``RedactionError`` for a value deeper than ``max_depth``, or writes ``[Deep]`` there (JN-059); only marks may
    stand deeper.
    """
    flat = _redact_flat(value, walk) if type(value) is dict and walk.max_depth > 0 else None
    if flat is not None:
        return flat
    ancestors: set[int] = set()
    results: list[object] = []
    frames = [_Frame((), iter((("", value),)), results)]
    while frames:
        frame = frames[-1]
        depth = len(frames) - 1
        is_object = type(frame.copy) is dict
        for name, child in frame.children:
            if is_object:
                shown = name if walk.text(name) == name else PLACEHOLDER
                if is_sensitive_name(name) and not is_token_count(name, child):
                    frame.put(shown, PLACEHOLDER)
                    continue
                name = shown
            if depth > walk.max_depth:
                frame.put(name, _too_deep(child, walk))
                continue
            sources: tuple[object, ...] = (child,)
            if not _is_known(child):
                answer = _encode_by_hook(child, walk.default)
                if answer is child:
                    frame.put(name, CIRCULAR_MARK)
                    continue
                if not _is_known(answer):
                    frame.put(name, child)
                    continue
                sources = (child, answer)
                child = answer
            if type(child) is not dict and type(child) is not list:
                frame.put(name, _redact_leaf(child, depth, walk))
                continue
            if not ancestors.isdisjoint(map(id, sources)):
                frame.put(name, CIRCULAR_MARK)
                continue
            entered = _enter(child, sources)
            if entered is None:
                frame.put(name, dict(_UNFIT))
                continue
            ancestors.update(map(id, sources))
            frame.name = name
            frames.append(entered)
            break
        else:
            frames.pop()
            if frames:
                ancestors.difference_update(map(id, frame.sources))
                frames[-1].put(frames[-1].name, frame.copy)
    return results[0]


def _redact_flat(members: dict[object, object], walk: Walk) -> dict[str, object] | None:
    """The copy of an object of plain values under names that stay; ``None`` where the walk has more to do than that.

    It saves most events half of what redaction costs, and says nothing of its own.
    """
    text = walk.text
    copy: dict[str, object] = {}
    try:
        for name, child in members.items():
            if type(name) is not str or is_sensitive_name(name) or text(name) != name:
                return None
            if type(child) is str:
                copy[name] = text(child)
            elif child is None or type(child) is int or type(child) is bool or type(child) is float:
                copy[name] = child
            else:
                return None
    except RuntimeError:
        # Another thread resized it meanwhile.
        return None
    return copy


def _is_known(value: object) -> bool:
    """Whether redaction knows what to do with values of this type."""
    return (
        type(value) is str
        or value is None
        or type(value) is int
        or type(value) is dict
        or type(value) is list
        or type(value) is bool
        or type(value) is float
        or value is ABSENT
        or _is_binary(value)
        or _is_function(value)
    )


def _is_binary(value: object) -> TypeGuard[bytes | bytearray | memoryview]:
    return type(value) is bytes or type(value) is bytearray or type(value) is memoryview


def _is_function(value: object) -> bool:
    # Compared one by one with `is`: `in` would let a metaclass's `__eq__` run.
    return any(type(value) is function_type for function_type in _FUNCTION_TYPES)


def _encode_by_hook(value: object, default: JsonHook | None) -> object:
    """What the hook answers, or ``_NO_ANSWER``."""
    if default is None:
        return _NO_ANSWER
    try:
        return default(value)
    except Exception:  # noqa: BLE001  # a hook raises, by custom `TypeError`, for what it does not encode
        return _NO_ANSWER


def _enter(container: dict[object, object] | list[object], sources: tuple[object, ...]) -> _Frame | None:
    if type(container) is list:
        return _Frame(sources, zip(repeat(""), container[:]), [])
    try:
        pairs = list(cast("dict[object, object]", container).items())
    except RuntimeError:
        # Another thread resized it meanwhile.
        return None
    for name, _ in pairs:
        if type(name) is not str:
            return None
    return _Frame(sources, iter(cast("list[tuple[str, object]]", pairs)), {})


def _redact_leaf(value: object, depth: int, walk: Walk) -> object:
    if type(value) is str:
        return walk.text(value)
    if _is_binary(value):
        description = _describe(value)
        return {BINARY_MARK: _too_deep(description, walk) if depth >= walk.max_depth else walk.text(description)}
    return FUNCTION_MARK if _is_function(value) else value


def _describe(view: bytes | bytearray | memoryview) -> str:
    """Type and size in bytes; the bare mark for a view that has been released (JN-058)."""
    try:
        return f"{type(view).__name__} {memoryview(view).nbytes} bytes"
    except ValueError:
        return BINARY_MARK


def _too_deep(value: object, walk: Walk) -> str:
    if type(value) is str and value in MARKS:
        # It may be what an earlier redaction wrote in place of a secret (JN-060).
        return value
    if walk.name_too_deep:
        return DEEP_MARK
    raise RedactionError(f"nests deeper than {walk.max_depth}")
