"""An axis: where a value lies on it, and its ticks."""

import math
from collections.abc import Iterable
from dataclasses import dataclass

#: Under this ratio of its ends a logarithmic axis has ticks between the powers of ten.
_NARROW = 50


@dataclass(frozen=True)
class Axis:
    """An axis from `low` to `high`, even or logarithmic."""

    low: float
    high: float
    logarithmic: bool = False

    def share(self, value: float) -> float:
        """The place of a value: from 0 at the low end to 1 at the high one; what is beyond them is at the end."""
        if self.logarithmic:
            at = math.log(max(value, self.low) / self.low) / math.log(self.high / self.low)
        else:
            at = (value - self.low) / (self.high - self.low)
        return min(max(at, 0.0), 1.0)

    def ticks(self, most: int = 6) -> list[float]:
        """Round values on it, in order, `most` at most; at least two on a logarithmic axis."""
        return self._powers(most) if self.logarithmic else self._steps(most)

    def _steps(self, most: int) -> list[float]:
        rough = (self.high - self.low) / max(most - 1, 1)
        power = 10.0 ** math.floor(math.log10(rough))
        step = next(factor * power for factor in (1, 2, 5, 10) if factor * power >= rough * (1 - 1e-9))
        first, last = math.ceil(self.low / step - 1e-9), math.floor(self.high / step + 1e-9)
        return [float(f"{number * step:.10g}") for number in range(first, last + 1)]

    def _powers(self, most: int) -> list[float]:
        exponents = range(math.floor(math.log10(self.low)), math.ceil(math.log10(self.high)) + 1)

        def within(factors: Iterable[int]) -> list[float]:
            values = [factor * 10.0**exponent for exponent in exponents for factor in factors]
            return [value for value in values if self.low <= value <= self.high]

        narrow = self.high / self.low < _NARROW
        for factors in ((1, 2, 5), (1,)) if narrow else ((1,), (1, 2, 5)):
            if 2 <= len(found := within(factors)) <= most:
                return found
        powers, many = within((1,)), within((1, 2, 5))
        if len(many) < 2:
            return self._steps(most)
        found = powers if len(powers) > 1 else many
        return found[:: math.ceil(len(found) / most)]


def fitting_axis(known: Iterable[float], *, logarithmic: bool, beyond: float = 1.04) -> Axis:
    """An axis for some values: from 0, or from below the least that isn't 0."""
    values = [value for value in known if value > 0]
    most = max(values, default=1.0)
    if logarithmic and values:
        return Axis(min(values) / 1.8, most * max(beyond, 1.5), logarithmic=True)
    return Axis(0.0, most * beyond)
