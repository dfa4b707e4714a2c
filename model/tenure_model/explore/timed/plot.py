"""The margin over the skew as an SVG, written directly: the same text for the same figures, byte for byte."""

from collections.abc import Callable, Iterable
from typing import Final

from tenure_model.explore.timed.conditions import Conditions
from tenure_model.explore.timed.figures import healthy_margin_ms, healthy_overlap_ms, smallest_margin_ms
from tenure_model.vocabulary.constants import HEARTBEAT_SKEW_ALLOWANCE_MS

WIDTH, HEIGHT = 760, 440
LEFT, RIGHT, TOP, BOTTOM = 70, 20, 46, 50
SKEWS_MS: Final = range(40_001)
MARGINS_MS: Final = range(-22_000, 12_001)

FAILING: Final = "#1f5fa8"
AHEAD: Final = "#b3431e"
HEALTHY: Final = "#2f7d4f"


def failing(skew_ms: int) -> int:
    """The smallest margin while writes fail."""
    return smallest_margin_ms(Conditions(skew_ms))


def ahead(skew_ms: int) -> int:
    """The same where the peer presents readings as far ahead of its clock as is admitted (hazard H-09, RS-309)."""
    return smallest_margin_ms(Conditions(skew_ms, HEARTBEAT_SKEW_ALLOWANCE_MS))


def healthy(skew_ms: int) -> int:
    """The distance to a robbery of an owner whose writes succeed at once; below 0 the overlap of one (hazard H-28)."""
    margin_ms = healthy_margin_ms(skew_ms)
    return margin_ms if margin_ms > 0 else -healthy_overlap_ms(skew_ms)


def drawn() -> str:
    """The whole file."""
    shapes = [
        _box(0, max(MARGINS_MS), HEARTBEAT_SKEW_ALLOWANCE_MS, min(MARGINS_MS), "#f1f3f6"),
        _box(0, 0, max(SKEWS_MS), min(MARGINS_MS), "#c0392b", opacity="0.06"),
        *_grid(),
        _curve(healthy, HEALTHY),
        _curve(ahead, AHEAD),
        _curve(failing, FAILING),
        _text(5_000, 10_700, "skew allowance", "#667", anchor="middle"),
        _text(39_500, -21_300, "both at work", "#a33", anchor="end"),
        _text(21_500, -9_500, "writes fail", FAILING),
        _text(700, -12_000, "writes fail, readings", AHEAD),
        _text(700, -13_400, "10 s ahead (H-09)", AHEAD),
        _text(23_500, 6_400, "writes succeed (H-28)", HEALTHY),
    ]
    title = "Time between the end of the owner's work and the grant to a peer, at the worst"
    body = "\n".join(
        [
            f'<text x="{LEFT}" y="24" font-size="15" fill="#223">{title}</text>',
            *shapes,
            f'<text x="{(LEFT + WIDTH - RIGHT) / 2:.0f}" y="{HEIGHT - 12}" text-anchor="middle" fill="#223">'
            "peer's clock ahead of the owner's, s</text>",
            f'<text x="18" y="{(TOP + HEIGHT - BOTTOM) / 2:.0f}" text-anchor="middle" fill="#223" '
            f'transform="rotate(-90 18 {(TOP + HEIGHT - BOTTOM) / 2:.0f})">margin, s</text>',
        ]
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}" viewBox="0 0 {WIDTH} {HEIGHT}" '
        f'font-family="sans-serif" font-size="12" role="img" aria-label="{title}">\n'
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#fff"/>\n{body}\n</svg>\n'
    )


def corners(curve: Callable[[int], int]) -> list[tuple[int, int]]:
    """The points of a curve within the picture at which its direction changes, and its two ends."""
    points = [(skew_ms, margin_ms) for skew_ms in SKEWS_MS if (margin_ms := curve(skew_ms)) in MARGINS_MS]
    inner = [
        middle
        for before, middle, after in zip(points, points[1:], points[2:], strict=False)
        if middle[1] - before[1] != after[1] - middle[1]
    ]
    return [points[0], *inner, points[-1]]


def _x(skew_ms: int) -> str:
    return f"{LEFT + skew_ms * (WIDTH - LEFT - RIGHT) / max(SKEWS_MS):.1f}"


def _y(margin_ms: int) -> str:
    span = max(MARGINS_MS) - min(MARGINS_MS)
    return f"{TOP + (max(MARGINS_MS) - margin_ms) * (HEIGHT - TOP - BOTTOM) / span:.1f}"


def _curve(curve: Callable[[int], int], colour: str) -> str:
    points = " ".join(f"{_x(skew_ms)},{_y(margin_ms)}" for skew_ms, margin_ms in corners(curve))
    return f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="2"/>'


def _box(left: int, top: int, right: int, bottom: int, fill: str, opacity: str = "1") -> str:
    width, height = float(_x(right)) - float(_x(left)), float(_y(bottom)) - float(_y(top))
    return (
        f'<rect x="{_x(left)}" y="{_y(top)}" width="{width:.1f}" height="{height:.1f}" fill="{fill}" '
        f'fill-opacity="{opacity}"/>'
    )


def _text(skew_ms: int, margin_ms: int, words: str, fill: str, anchor: str = "start") -> str:
    return f'<text x="{_x(skew_ms)}" y="{_y(margin_ms)}" text-anchor="{anchor}" fill="{fill}">{words}</text>'


def _grid() -> Iterable[str]:
    """A line and a number every 5 s; the line of margin 0 is the strongest."""
    right, bottom = f"{WIDTH - RIGHT}", f"{HEIGHT - BOTTOM}"
    for skew_ms in range(0, max(SKEWS_MS) + 1, 5_000):
        x = _x(skew_ms)
        yield f'<line x1="{x}" y1="{TOP}" x2="{x}" y2="{bottom}" stroke="#dde"/>'
        yield f'<text x="{x}" y="{HEIGHT - BOTTOM + 17}" text-anchor="middle" fill="#445">{skew_ms // 1000}</text>'
    for margin_ms in range(-20_000, max(MARGINS_MS) + 1, 5_000):
        y, stroke = _y(margin_ms), "#334" if margin_ms == 0 else "#dde"
        yield f'<line x1="{LEFT}" y1="{y}" x2="{right}" y2="{y}" stroke="{stroke}"/>'
        yield f'<text x="{LEFT - 8}" y="{float(y) + 4:.1f}" text-anchor="end" fill="#445">{margin_ms // 1000}</text>'
