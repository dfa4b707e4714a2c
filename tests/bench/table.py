"""Rounds in turn, and the line that says what came of them."""

import statistics
from collections.abc import Callable

import attrs


@attrs.frozen
class Compared:
    """Seconds for one unit of ours and of the yardstick's, a pair for each round."""

    ours: tuple[float, ...]
    theirs: tuple[float, ...]

    @property
    def ratio(self) -> float:
        """The median of the ratios, pair by pair: drift of the machine cancels out."""
        return statistics.median(mine / other for mine, other in zip(self.ours, self.theirs, strict=True))

    @property
    def spread(self) -> tuple[float, float]:
        """The lowest and the highest ratio."""
        ratios = [mine / other for mine, other in zip(self.ours, self.theirs, strict=True)]
        return min(ratios), max(ratios)


def in_turn(ours: Callable[[], float], theirs: Callable[[], float], rounds: int) -> Compared:
    """Run both ``rounds`` times, A B A B, after one of each that does not count."""
    ours(), theirs()
    pairs = [(ours(), theirs()) for _ in range(rounds)]
    return Compared(tuple(mine for mine, _ in pairs), tuple(other for _, other in pairs))


def line(name: str, compared: Compared, aim: float, unit: str) -> str:
    """One row: the ratio with its spread, what it should stay under, and both rates."""
    low, high = compared.spread
    mine, other = (1 / statistics.median(seconds) for seconds in (compared.ours, compared.theirs))
    verdict = "ok" if compared.ratio <= aim else "OVER"
    return (
        f"{name:34} {compared.ratio:5.2f}x  ({low:.2f}-{high:.2f}, aim {aim:g}x) {verdict:4}  "
        f"{mine:>11,.0f} against {other:>11,.0f} {unit}/s"
    )


def rate_line(name: str, rate: float, aim: float, unit: str) -> str:
    """One row for a rate that has no yardstick."""
    return f"{name:34} {rate:>11,.0f} {unit}/s  (aim {aim:,.0f}) {'ok' if rate >= aim else 'UNDER'}"
