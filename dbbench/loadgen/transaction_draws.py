"""The transactions that a client makes, and the values of their parameters.

All are drawn before the clock, a block of calls at a time, and can be drawn again afterwards: so it is known what the
committed transactions must have done without noting anything while they run.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import count
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dbbench.loadgen.drawn_parameters import Draw, Drawn, Known
from dbbench.loadgen.loops import CHUNK
from dbbench.suite.parameters import Parameter

#: The values of a call: its own parameters', then of each repeated group a list of its repetitions' values.
Values = tuple[Any, ...]


@dataclass(frozen=True)
class Text:
    """A statement for the engine: the pieces between its parameters, with names quoted, and the parameters' names."""

    pieces: Sequence[str]
    names: Sequence[str]
    row: Sequence[str]
    missing: str
    reads: bool
    #: The columns of what it reads by a key, where that is kept in some transactions, to be compared.
    keeps: int = 0

    @property
    def wanted(self) -> int | None:
        """What of its rows is fetched, as `prepare_call` takes it: none, the first, or all."""
        return 1 if self.row else None if self.reads else 0


@dataclass(frozen=True)
class Group:
    """Statements that are carried out `repeat` times, or as often as that parameter says. Once, if it is None."""

    repeat: int | str | None
    parameters: Mapping[str, Parameter]
    statements: Sequence[Text]


@dataclass(frozen=True)
class Plan:
    """One of the transactions. Parameters of a group that isn't repeated are the transaction's own, and stand here."""

    name: str
    weight: float
    parameters: Mapping[str, Parameter]
    groups: Sequence[Group]
    only_reads: bool
    #: How long the client thinks after it: seconds that are always the same, and the mean and the most of those that
    #: are drawn by a negative exponential distribution.
    think: Sequence[float] = (0.0, 0.0, 0.0)

    @property
    def repeated(self) -> list[Group]:
        """The groups that are repeated."""
        return [group for group in self.groups if group.repeat is not None]

    @property
    def may_roll_back(self) -> bool:
        """Whether the suite wants some of its calls to be rolled back."""
        return any(text.missing == "rollback" for group in self.groups for text in group.statements)


@dataclass(frozen=True)
class Columns:
    """Drawn values of calls of one transaction: its parameters', and for each group the times and its parameters'."""

    own: Mapping[str, Drawn]
    repeated: Sequence[tuple[NDArray[np.int64], Mapping[str, Drawn]]]

    @property
    def count(self) -> int:
        """The number of calls."""
        return len(self.repeated[0][0])

    def first(self, count: int) -> Columns:
        """Transactions of the first calls."""
        own = {name: each[:count] for name, each in self.own.items()}
        repeated = []
        for times, inner in self.repeated:
            total = int(times[:count].sum())
            repeated.append((times[:count], {name: each[:total] for name, each in inner.items()}))
        return Columns(own, repeated)

    def calls(self, plan: Plan) -> Iterator[Values]:
        """The values of one call after another."""
        own = [each.tolist() for each in self.own.values()]
        for group, (times, inner) in zip(plan.groups, self.repeated, strict=True):
            if group.repeat is None:
                continue
            each = [column.tolist() for column in inner.values()]
            rows = list(zip(*each, strict=True)) if each else [()] * int(times.sum())
            ends = np.cumsum(times).tolist()
            own.append([rows[end - time : end] for end, time in zip(ends, times.tolist(), strict=True)])
        return zip(*own, strict=True) if own else iter([()] * self.count)

    def added(self, what: int | str) -> int:
        """What all calls add: so much each, or the sum of a parameter, taken away if a minus stands before its name."""
        if isinstance(what, int):
            return what * self.count
        name, sign = _signed(what)
        return sign * int(self._sums(name).sum())

    def _sums(self, name: str) -> NDArray[np.int64]:
        """A parameter's value in each call, or the sum of its values where it is of a group."""
        if name in self.own:
            return self.own[name]
        for times, columns in self.repeated:
            if name in columns:
                whole = np.concatenate(([0], np.cumsum(columns[name])))
                ends = np.cumsum(times)
                found: NDArray[np.int64] = whole[ends] - whole[ends - times]
                return found
        raise KeyError(name)


def added_by(what: int | str, plan: Plan, values: Values) -> int:
    """What one call adds, as `Columns.added` says of all."""
    if isinstance(what, int):
        return what
    name, sign = _signed(what)
    if name in plan.parameters:
        return sign * int(values[list(plan.parameters).index(name)])
    for place, group in enumerate(plan.repeated, len(plan.parameters)):
        if name in group.parameters:
            return sign * int(sum(row[list(group.parameters).index(name)] for row in values[place]))
    raise KeyError(name)


def _signed(what: str) -> tuple[str, int]:
    return what.removeprefix("-"), -1 if what.startswith("-") else 1


@dataclass(frozen=True)
class Draws:
    """What client `number` of `of` draws."""

    plans: Sequence[Plan]
    known: Known
    number: int
    of: int

    def blocks(self, calls: int | None) -> Iterator[tuple[NDArray[np.int64], list[Columns]]]:
        """The first `calls` calls, or calls without an end, a block at a time.

        Which transaction each is, and the values of those of each.
        """
        chance = np.random.default_rng((self.known.seed, self.number, self.of))
        weights = np.array([plan.weight for plan in self.plans])
        cumulative = np.cumsum(weights) / weights.sum()
        drawing = [self._drawing(code, plan) for code, plan in enumerate(self.plans)]
        for first in count(0, CHUNK) if calls is None else range(0, calls, CHUNK):
            size = CHUNK if calls is None else min(CHUNK, calls - first)
            # A whole block is drawn and cut, so that a shorter run makes the first calls of a longer one.
            kinds = np.searchsorted(cumulative, chance.random(CHUNK), side="right").clip(max=len(weights) - 1)
            blocks = [draw(chance, int(np.count_nonzero(kinds == code))) for code, draw in enumerate(drawing)]
            yield (
                kinds[:size],
                [each.first(int(np.count_nonzero(kinds[:size] == code))) for code, each in enumerate(blocks)],
            )

    def thoughts(self) -> Callable[[NDArray[np.int64]], NDArray[np.float64]]:
        """Seconds of thought after calls of some kinds, drawn apart from all else."""
        chance = np.random.default_rng((self.known.seed, self.number, self.of, 1))
        always, mean, most = np.array([plan.think for plan in self.plans], np.float64).T
        return lambda kinds: always[kinds] + np.minimum(mean[kinds] * chance.exponential(size=len(kinds)), most[kinds])

    def _drawing(self, code: int, plan: Plan) -> Callable[[np.random.Generator, int], Columns]:
        own, *inner = (
            {name: self._draw(parameter, (code, place, name)) for name, parameter in parameters.items()}
            for place, parameters in enumerate(_parameters(plan))
        )

        def draw(chance: np.random.Generator, count: int) -> Columns:
            columns = {name: each(chance, count) for name, each in own.items()}
            repeated = []
            for group, draws in zip(plan.groups, inner, strict=True):
                times = columns[group.repeat] if isinstance(group.repeat, str) else np.full(count, group.repeat or 1)
                total = int(times.sum())
                repeated.append((times, {name: each(chance, total) for name, each in draws.items()}))
            return Columns(columns, repeated)

        return draw

    def _draw(self, parameter: Parameter, key: tuple[int, int, str]) -> Draw:
        if parameter.counter is not None:
            return self.known.counter(parameter.counter, *self._lanes[key], self.number, self.of)
        return self.known.draw(parameter)

    @cached_property
    def _lanes(self) -> dict[tuple[int, int, str], tuple[int, int]]:
        """Each counter's number among those of its column, and how many there are: by transaction, group and name."""
        by_column: dict[str, list[tuple[int, int, str]]] = {}
        for code, plan in enumerate(self.plans):
            for place, parameters in enumerate(_parameters(plan)):
                for name, parameter in parameters.items():
                    if parameter.counter is not None:
                        by_column.setdefault(parameter.counter, []).append((code, place, name))
        return {each: (lane, len(mine)) for mine in by_column.values() for lane, each in enumerate(mine)}


def _parameters(plan: Plan) -> tuple[Mapping[str, Parameter], ...]:
    """The transaction's own, then those of each group."""
    return (plan.parameters, *(group.parameters for group in plan.groups))
