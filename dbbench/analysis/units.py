"""Figures as people read them: one unit for a whole step, three significant digits."""

from collections.abc import Iterable
from dataclasses import dataclass

from dbbench.host.metric import SCALES

#: The greatest figure that is shown in a unit. Rates of one step lie further apart than times: 50 to 12,500,000.
_MOST = {"1/s": 1e8}


@dataclass(frozen=True)
class Unit:
    """A unit to show values in: `shown = value / size`."""

    size: float
    symbol: str

    def figure(self, value: float) -> str:
        """The number alone, to three significant digits, with thousands separated."""
        shown = value / self.size
        if shown == 0:
            return "0"
        leading = int(f"{shown:.2e}".partition("e")[2])  # the power of ten of its first digit, once rounded
        return f"{shown:,.{max(0, 2 - leading)}f}"

    def text(self, value: float) -> str:
        """The number and the unit."""
        return f"{self.figure(value)}{'' if self.symbol.startswith('/') else ' '}{self.symbol}"


def fitting(base: str, values: Iterable[float]) -> Unit:
    """The unit in which the least value above zero is at least 1, if the greatest doesn't grow too long."""
    known = [abs(value) for value in values if value]
    scales = SCALES[base]
    if not known:
        return Unit(*next(scale for scale in scales if scale[0] == 1))
    best, most = scales[0], _MOST.get(base, 1e5)
    for size, symbol in scales:
        if min(known) >= size or max(known) / best[0] >= most:
            best = (size, symbol)
    return Unit(*best)


def amount(base: str, value: float | None) -> str:
    """One value in the unit that fits it; a dash where there is none."""
    return "–" if value is None else fitting(base, [value]).text(value)


def whole(base: str, values: Iterable[float]) -> Unit:
    """The largest unit in which all values are whole numbers, as others have rounded them; else the fitting one."""
    known = list(values)
    if any(known):
        for size, symbol in reversed(SCALES[base]):
            shown = [value / size for value in known]
            if all(abs(value - round(value)) <= 1e-6 for value in shown):
                return Unit(size, symbol)
    return fitting(base, known)


def duration(seconds: float) -> str:
    """A time to wait, in words: 45 s, 3 min 20 s, 1 h 5 min."""
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"
