"""A trace as a space-time diagram: a lane an owner, downwards in time, at each call its clock and the answer.

Written as SVG directly, so that the same trace gives the same bytes everywhere. On the right stands what was left.
"""

from collections.abc import Iterable, Iterator, Sequence
from html import escape
from typing import Final

import attrs

from tenure_model.explore.canonical import NOW_MS
from tenure_model.explore.scope import owner_name
from tenure_model.explore.telling import answered, situation
from tenure_model.explore.traces import Trace

_LANE: Final = 220
_ROW: Final = 58
_LEFT: Final = 90
_TOP: Final = 56
_STORY: Final = 460
_INK: Final = "#2c3e50"
_FAINT: Final = "#9aa5b1"
_WARNING: Final = "#c0392b"


@attrs.frozen
class Dot:
    """One step of a history: in which lane, what its clock shows, who was asked what, and what it left.

    Without a ``lane`` only time passed, as ``said``. ``is_marked`` is drawn in red.
    """

    lane: int | None
    clock: str
    said: str
    answer: str
    left: str
    is_marked: bool = False


def spacetime_svg(trace: Trace, title: str) -> str:
    """The diagram of a trace. A call that breaks a property, or that a repair made differ, is drawn in red."""
    return drawn([owner_name(owner) for owner in trace.scope.owners], _dots(trace), title)


def drawn(lanes: Sequence[str], dots: Iterable[Dot], title: str) -> str:
    """The diagram of a history with these lanes."""
    dots = tuple(dots)
    story_x = _LEFT + _LANE * len(lanes)
    width, height = story_x + _STORY, _TOP + _ROW * len(dots) + 20
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" '
        f'font-family="Helvetica, Arial, sans-serif" font-size="13" fill="{_INK}">',
        f"<title>{escape(title)}</title>",
        f'<rect width="{width}" height="{height}" fill="white"/>',
    ]
    for number, lane in enumerate(lanes):
        x = _LEFT + _LANE * number
        parts.append(f'<text x="{x}" y="24" text-anchor="middle" font-weight="bold">{escape(lane)}</text>')
        parts.append(f'<line x1="{x}" y1="34" x2="{x}" y2="{height - 12}" stroke="{_FAINT}"/>')
    left = ""
    for row, dot in enumerate(dots):
        y = _TOP + _ROW * row
        if dot.lane is None:
            across = story_x - 40
            parts.append(f'<line x1="20" y1="{y}" x2="{across}" y2="{y}" stroke="{_FAINT}" stroke-dasharray="3 5"/>')
            parts.append(_text(20, y - 6, dot.said, _FAINT))
            continue
        x = _LEFT + _LANE * dot.lane
        colour = _WARNING if dot.is_marked else _INK
        parts.append(f'<circle cx="{x}" cy="{y}" r="5" fill="{colour}"/>')
        parts.append(_text(x - 12, y + 4, dot.clock, _FAINT, anchor="end"))
        parts.append(_text(x + 12, y - 2, dot.said, colour))
        parts.append(_text(x + 12, y + 14, f"→ {dot.answer}", colour))
        if dot.left != left:
            parts += [
                _text(story_x - 20, y - 2 + 15 * line, part, _INK)
                for line, part in enumerate(_lines(dot.left, limit=66))
            ]
        left = dot.left
    return "\n".join([*parts, "</svg>", ""])


def _dots(trace: Trace) -> Iterator[Dot]:
    for moment in trace.moments:
        left = situation(trace.scope, moment.world)
        if moment.command is None:
            yield Dot(None, "", f"time passes: it is {moment.at_ms:,} ms", "", left)
            continue
        clock = f"{int(moment.command.clock_ms) - NOW_MS:,}"
        said = moment.command.operation.removeprefix("run.")
        yield Dot(moment.owner, clock, said, answered(moment.outcome), left, bool(moment.broken or moment.fired))


def _text(x: int, y: int, text: str, colour: str, anchor: str = "start") -> str:
    return f'<text x="{x}" y="{y}" fill="{colour}" text-anchor="{anchor}">{escape(text)}</text>'


def _lines(text: str, limit: int) -> list[str]:
    """The text broken at spaces into lines of at most ``limit`` characters, longer words whole."""
    lines = [""]
    for word in text.split():
        if lines[-1] and len(lines[-1]) + 1 + len(word) > limit:
            lines.append("")
        lines[-1] = f"{lines[-1]} {word}".strip()
    return lines
