"""Values of parameters, drawn in blocks ahead of the calls: what each gives is known again from the seed alone."""

import datetime
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from dbbench.datasets.cache import Files
from dbbench.datasets.driver_rows import values
from dbbench.datasets.records import Zipfian, shuffled
from dbbench.suite.parameters import Parameter

Drawn = NDArray[Any]
#: Draws as many values as its second argument says.
Draw = Callable[[np.random.Generator, int], Drawn]

#: The order in which popular values lie is kept for at most this many values: 8 bytes for each.
_MOST_PLACES = 1 << 20
#: The most texts of a pattern that are made before the start.
_TEXTS = 1 << 16
_DIGITS = np.frombuffer(b"0123456789", np.uint8)


@dataclass(frozen=True)
class Known:
    """What is known of the columns that parameters are drawn from.

    `ranges`: those that hold the whole numbers from the first to the last. `next_keys`: of a counter's column the first
    new key. The values of any other column are read from the dataset's files in `folder`; `forms` says what the
    engine's sessions take for a type, as `Session.bind` does, and `types` the columns' types.
    """

    ranges: Mapping[str, Sequence[int]]
    next_keys: Mapping[str, int]
    types: Mapping[str, str]
    forms: Mapping[str, str]
    folder: str
    seed: int

    def counter(self, column: str, lane: int, lanes: int, number: int, of: int) -> Draw:
        """New keys for one client: no other client, and no other counter of the step, gives any of them."""
        made, first = 0, self.next_keys[column]

        def draw(_random: np.random.Generator, count: int) -> Drawn:
            nonlocal made
            places = np.arange(made, made + count, dtype=np.int64)
            made += count
            return (places * of + number) * lanes + lane + first

        return draw

    def draw(self, parameter: Parameter) -> Draw:
        """What draws a parameter that is no counter."""
        if parameter.integer is not None:
            return self._whole(*parameter.integer, parameter.distribution)
        if parameter.draw is not None and parameter.draw in self.ranges:
            first, last = self.ranges[parameter.draw]
            return self._whole(first, last, parameter.distribution)
        if parameter.text is not None:
            texts = _texts(parameter.text, self.seed)
            return lambda random, count: texts.take(random.integers(0, len(texts), count))
        return self._one_of(self._listed(parameter), parameter.distribution)

    def _whole(self, first: int, last: int, distribution: str) -> Draw:
        places = self._places(last - first + 1, distribution)
        return lambda random, count: places(random, count) + first

    def _one_of(self, listed: Sequence[Any], distribution: str) -> Draw:
        known = np.empty(len(listed), object)
        known[:] = listed
        places = self._places(len(listed), distribution)
        return lambda random, count: known.take(places(random, count))

    def _places(self, count: int, distribution: str) -> Draw:
        """Whole numbers from 0 to below `count`."""
        if distribution == "uniform":
            return lambda random, size: random.integers(0, count, size)
        zipfian = Zipfian(count)
        if distribution == "zipfian" and count <= _MOST_PLACES:
            spread = _spread(count, self.seed)
            return lambda random, size: spread.take(zipfian.draw(random.random(size)).astype(np.int64))
        if distribution == "latest":
            return lambda random, size: (count - 1 - zipfian.draw(random.random(size))).astype(np.int64)
        return lambda random, size: shuffled(zipfian.draw(random.random(size)), count, self.seed).astype(np.int64)

    def _listed(self, parameter: Parameter) -> list[Any]:
        """Every value that it may have, as the engine's sessions take them."""
        if parameter.one_of is not None:
            return list(parameter.one_of)
        if parameter.date is not None:
            first, last = parameter.date
            days = [first + datetime.timedelta(number) for number in range((last - first).days + 1)]
            return [day.isoformat() for day in days] if self.forms.get("date") == "text" else days
        assert parameter.draw is not None
        table, _, name = parameter.draw.partition(".")
        column = pa.chunked_array([batch.column(name) for batch in Files(Path(self.folder)).stream(table)])
        whole = column.drop_null().combine_chunks()
        return values(whole, self.forms.get(self.types[parameter.draw], ""))


@lru_cache(maxsize=8)
def _spread(count: int, seed: int) -> NDArray[np.int64]:
    """Place of each of `count` ranks; for all clients of a process."""
    return shuffled(np.arange(count, dtype=np.uint64), count, seed).astype(np.int64)


@lru_cache(maxsize=8)
def _texts(text: str, seed: int) -> Drawn:
    """Texts with a digit for each `#`: all that there are, or some drawn at random; for all clients of a process."""
    letters = np.frombuffer(text.encode("ascii"), np.uint8)
    holes = np.flatnonzero(letters == ord("#"))
    count = min(10 ** min(len(holes), 9), _TEXTS)
    if count < _TEXTS:
        digits = np.arange(count)[:, None] // 10 ** np.arange(len(holes))[::-1] % 10
    else:
        digits = np.random.default_rng(seed).integers(0, 10, (count, len(holes)))
    table = np.tile(letters, (count, 1))
    table[:, holes] = _DIGITS.take(digits)
    whole = table.tobytes().decode()
    found = np.empty(count, object)
    found[:] = [whole[at : at + len(text)] for at in range(0, len(whole), len(text))]
    return found
