"""A trace as a space-time diagram: a lane an owner, downwards in time, at each call its clock and the answer.

Written as SVG directly, so that the same trace gives the same bytes everywhere. On the right stands what was left.
"""

from html import escape
from typing import Final

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


def spacetime_svg(trace: Trace, title: str) -> str:
    """The diagram of a trace. A call that breaks a property, or that a repair made differ, is drawn in red."""
    owners = trace.scope.owners
    story_x = _LEFT + _LANE * len(owners)
    width, height = story_x + _STORY, _TOP + _ROW * len(trace.moments) + 20
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" '
        f'font-family="Helvetica, Arial, sans-serif" font-size="13" fill="{_INK}">',
        f"<title>{escape(title)}</title>",
        f'<rect width="{width}" height="{height}" fill="white"/>',
    ]
    for number, owner in enumerate(owners):
        x = _LEFT + _LANE * number
        parts.append(f'<text x="{x}" y="24" text-anchor="middle" font-weight="bold">{escape(owner_name(owner))}</text>')
        parts.append(f'<line x1="{x}" y1="34" x2="{x}" y2="{height - 12}" stroke="{_FAINT}"/>')
    left = ""
    for row, moment in enumerate(trace.moments):
        y = _TOP + _ROW * row
        if moment.command is None:
            across = story_x - 40
            parts.append(f'<line x1="20" y1="{y}" x2="{across}" y2="{y}" stroke="{_FAINT}" stroke-dasharray="3 5"/>')
            parts.append(_text(20, y - 6, f"time passes: it is {moment.at_ms:,} ms", _FAINT))
            continue
        x = _LEFT + _LANE * moment.owner
        colour = _WARNING if moment.broken or moment.fired else _INK
        clock_ms = int(moment.command.clock_ms) - NOW_MS
        parts.append(f'<circle cx="{x}" cy="{y}" r="5" fill="{colour}"/>')
        parts.append(_text(x - 12, y + 4, f"{clock_ms:,}", _FAINT, anchor="end"))
        parts.append(_text(x + 12, y - 2, moment.command.operation.removeprefix("run."), colour))
        parts.append(_text(x + 12, y + 14, f"→ {answered(moment.outcome)}", colour))
        now = situation(trace.scope, moment.world)
        if now != left:
            parts += [
                _text(story_x - 20, y - 2 + 15 * line, part, _INK) for line, part in enumerate(_lines(now, limit=66))
            ]
        left = now
    return "\n".join([*parts, "</svg>", ""])


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
