"""What one client of a transaction step does: transactions drawn by their weights, with parameters drawn for each call.

All values are drawn before the clock, a block of calls at a time, and can be drawn again afterwards: so it is known what
the committed transactions must have done without noting anything while they run.
"""

from __future__ import annotations

import random
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import count
from operator import call, itemgetter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dbbench.engine.base import Engine, Session
from dbbench.engine.null import does_work
from dbbench.engine.sql.session import SQLEngine, SQLSession
from dbbench.errors import DbbenchError, WrongAnswer
from dbbench.loadgen.drawn_parameters import Draw, Drawn, Known
from dbbench.loadgen.key_streams import CallStream
from dbbench.loadgen.loops import CHUNK
from dbbench.loadgen.transactions import Attempts, Ended, Together, refuse_without_transactions
from dbbench.suite.parameters import Parameter

#: What stands between the name of a transaction, or of an invariant, and what was counted for it.
OF = ": "
#: Endless calls that all clients together make ready before the start.
PREMADE = 20_000
#: A client that thinks looks so often whether it is to end, in seconds.
_LOOK = 0.1
ROLLED_BACK = "rolled back"
#: Of an invariant: what its transactions that were rolled back would have added.
NOT_ADDED = "not added to"

#: What a client does with the values of a call.
Action = Callable[[list[Any]], object]


class RolledBack(DbbenchError):
    """A transaction that is to be rolled back, as its suite says."""


class _Skipped(Exception):
    """The rest of a transaction, or of a repetition, is left out."""


@dataclass(frozen=True)
class Text:
    """A statement for the engine: the pieces between its parameters, with names quoted, and the parameters' names."""

    pieces: Sequence[str]
    names: Sequence[str]
    row: Sequence[str]
    missing: str
    reads: bool


@dataclass(frozen=True)
class Group:
    """Statements that are carried out `repeat` times, or as often as that parameter says. Once, if it is None."""

    repeat: int | str | None
    parameters: Mapping[str, Mapping[str, Any]]
    statements: Sequence[Text]


@dataclass(frozen=True)
class Plan:
    """One of the transactions. The parameters of a group that isn't repeated are the transaction's own, and stand here."""

    name: str
    weight: float
    parameters: Mapping[str, Mapping[str, Any]]
    groups: Sequence[Group]
    only_reads: bool
    #: How long the client thinks after it: seconds that are always the same, and the mean and the most of those that
    #: are drawn by a negative exponential distribution.
    think: Sequence[float] = (0.0, 0.0, 0.0)


@dataclass(frozen=True)
class Columns:
    """Drawn values of some calls of one transaction: its parameters', and for each group the times and its parameters'."""

    own: Mapping[str, Drawn]
    repeated: Sequence[tuple[NDArray[np.int64], Mapping[str, Drawn]]]

    def sums(self, name: str) -> NDArray[np.int64]:
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


@dataclass(frozen=True)
class TransactionMix(Together):
    """All clients' calls, as plain data: `calls` of them. `grows`: invariant -> transaction -> what each call adds."""

    plans: Sequence[Plan]
    grows: Mapping[str, Mapping[str, int | str]]
    known: Known
    calls: int
    #: Whether the calls go on for ever; `calls` says nothing then.
    endless: bool = False

    @classmethod
    def from_json(cls, document: Mapping[str, Any]) -> TransactionMix:
        """What came through a pipe."""
        plans = []
        for plan in document["plans"]:
            groups = [
                Group(**{**each, "statements": [Text(**one) for one in each["statements"]]}) for each in plan["groups"]
            ]
            plans.append(Plan(**{**plan, "groups": groups}))
        return cls(plans, document["grows"], Known(**document["known"]), document["calls"], document["endless"])

    def check(self, engine: Engine, session: Session) -> None:
        """Raise Unsupported if the engine has no SQL or no transactions."""
        refuse_without_transactions(engine, session)

    def share(self, number: int, of: int) -> int:
        """How many of the calls are one client's."""
        return self.calls * (number + 1) // of - self.calls * number // of

    def prepare(self, engine: Engine, session: Session, number: int, of: int) -> CallStream:
        """One client's share of the calls."""
        counts: dict[str, int] = {}
        runs = [self._run(engine, session, plan, counts, number) for plan in self.plans]
        codes: deque[NDArray[np.int64]] = deque()
        names = [plan.name for plan in self.plans]
        found = CallStream(
            call, self._given(runs, codes, number, of), codes=codes, counts=counts, names=names, premade=PREMADE
        )
        if not does_work(engine) or not any(any(plan.think) for plan in self.plans):  # nobody waits for nothing
            return found
        thoughts: deque[float] = deque()
        given = self._given(runs, codes, number, of, thoughts)
        return replace(found, given=given, pauses=iter(thoughts.popleft, None), pause=partial(_pause, self.reasons))

    def drawn(self, number: int, of: int, calls: int | None) -> Iterator[tuple[NDArray[np.int64], list[Columns]]]:
        """One client's first `calls` calls, or calls without an end, a block at a time.

        Which transaction each is, and the values of those of each.
        """
        chance = np.random.default_rng((self.known.seed, number, of))
        weights = np.array([plan.weight for plan in self.plans])
        cumulative = np.cumsum(weights) / weights.sum()
        drawing = [self._drawing(plan, number, of) for plan in self.plans]
        for first in count(0, CHUNK) if calls is None else range(0, calls, CHUNK):
            size = CHUNK if calls is None else min(CHUNK, calls - first)
            # A whole block is drawn and cut, so that fewer calls are the beginning of more.
            kinds = np.searchsorted(cumulative, chance.random(CHUNK), side="right").clip(max=len(weights) - 1)
            blocks = [draw(chance, int(np.count_nonzero(kinds == code))) for code, draw in enumerate(drawing)]
            yield (
                kinds[:size],
                [_first(each, int(np.count_nonzero(kinds[:size] == code))) for code, each in enumerate(blocks)],
            )

    def committed(self, made: Mapping[int, int], of: int, counts: Mapping[str, int]) -> dict[str, int]:
        """How many transactions of each name were committed, of those that each client made."""
        found = dict.fromkeys((plan.name for plan in self.plans), 0)
        for number, calls in made.items():
            for kinds, _ in self.drawn(number, of, calls):
                for code, plan in enumerate(self.plans):
                    found[plan.name] += int(np.count_nonzero(kinds == code))
        return {name: every - counts.get(f"{name}{OF}{ROLLED_BACK}", 0) for name, every in found.items()}

    def added(self, made: Mapping[int, int], of: int, counts: Mapping[str, int]) -> dict[str, int]:
        """What the committed transactions add to the number of each invariant that grows."""
        found = {name: -counts.get(f"{name}{OF}{NOT_ADDED}", 0) for name in self.grows}
        for number, calls in made.items() if self.grows else ():
            for _, blocks in self.drawn(number, of, calls):
                for name, each in self.grows.items():
                    found[name] += sum(
                        _added(each[plan.name], block)
                        for plan, block in zip(self.plans, blocks, strict=True)
                        if plan.name in each
                    )
        return found

    @cached_property
    def _lanes(self) -> dict[tuple[int, int, str], tuple[int, int]]:
        """Each counter's number among those of its column, and how many there are: by transaction, group and name."""
        by_column: dict[str, list[tuple[int, int, str]]] = {}
        for code, plan in enumerate(self.plans):
            for place, parameters in enumerate((plan.parameters, *(group.parameters for group in plan.groups))):
                for name, parameter in parameters.items():
                    if parameter["counter"] is not None:
                        by_column.setdefault(parameter["counter"], []).append((code, place, name))
        return {each: (lane, len(mine)) for mine in by_column.values() for lane, each in enumerate(mine)}

    def _drawing(self, plan: Plan, number: int, of: int) -> Callable[[np.random.Generator, int], Columns]:
        code = self.plans.index(plan)
        own, *inner = (
            {name: self._draw(parameter, (code, place, name), number, of) for name, parameter in parameters.items()}
            for place, parameters in enumerate((plan.parameters, *(group.parameters for group in plan.groups)))
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

    def _draw(self, parameter: Mapping[str, Any], key: tuple[int, int, str], number: int, of: int) -> Draw:
        if parameter["counter"] is not None:
            return self.known.counter(parameter["counter"], *self._lanes[key], number, of)
        return self.known.draw(Parameter.model_validate(parameter))

    def thinking(self, number: int, of: int) -> Callable[[NDArray[np.int64]], NDArray[np.float64]]:
        """One client's seconds of thought after calls of some kinds, drawn apart from all else."""
        chance = np.random.default_rng((self.known.seed, number, of, 1))
        always, mean, most = np.array([plan.think for plan in self.plans], np.float64).T
        return lambda kinds: always[kinds] + np.minimum(mean[kinds] * chance.exponential(size=len(kinds)), most[kinds])

    def _given(
        self,
        runs: Sequence[Action],
        codes: deque[NDArray[np.int64]],
        number: int,
        of: int,
        thoughts: deque[float] | None = None,
    ) -> Iterator[Callable[[], object]]:
        think = self.thinking(number, of)
        for kinds, blocks in self.drawn(number, of, None if self.endless else self.share(number, of)):
            codes.append(kinds)
            if thoughts is not None:
                thoughts.extend(think(kinds).tolist())
            values = [_calls(block, plan) for block, plan in zip(blocks, self.plans, strict=True)]
            for code in kinds.tolist():
                yield partial(runs[code], next(values[code]))

    def _run(self, engine: Engine, session: Any, plan: Plan, counts: dict[str, int], number: int) -> Action:
        """One transaction, with its values -> done, or rolled back as the suite has it."""
        body = _body(engine, session, plan)
        attempt = Attempts(
            lambda: session,
            lambda _session: None,
            counts,
            random.Random(number),
            of=f"{plan.name}{OF}",
            end=self.reasons,
        )
        reading = plan.only_reads
        begin, commit = session.begin_reading if reading else session.begin, session.commit
        end = self.reasons

        def once(values: Any) -> None:
            if end:
                raise Ended("the step has ended for all clients") from end[0]
            try:
                begin()
                body(session, values)
                commit()
            except Exception as exc:
                attempt.again(body, session, values, exc, reading=reading)

        if not any(each.missing == "rollback" for group in plan.groups for each in group.statements):
            return once

        def run(values: Any) -> None:
            try:
                once(values)
            except RolledBack:
                self._note(plan, values, counts)

        return run

    def _note(self, plan: Plan, values: Sequence[Any], counts: dict[str, int]) -> None:
        """Count a transaction that was rolled back, and what it would have added."""
        found = {f"{plan.name}{OF}{ROLLED_BACK}": 1}
        for name, each in self.grows.items():
            if plan.name in each:
                found[f"{name}{OF}{NOT_ADDED}"] = _added_by(each[plan.name], plan, values)
        for name, more in found.items():
            counts[name] = counts.get(name, 0) + more


def _pause(end: Sequence[BaseException], seconds: float) -> None:
    """Think so long, or until the clients are to end."""
    until = time.monotonic() + seconds
    while not end and (left := until - time.monotonic()) > 0:
        time.sleep(min(left, _LOOK))


def _first(columns: Columns, count: int) -> Columns:
    """Those of the first calls."""
    own = {name: each[:count] for name, each in columns.own.items()}
    repeated = []
    for times, inner in columns.repeated:
        total = int(times[:count].sum())
        repeated.append((times[:count], {name: each[:total] for name, each in inner.items()}))
    return Columns(own, repeated)


def _calls(columns: Columns, plan: Plan) -> Iterator[list[Any]]:
    """The values of each call: its own in their order, then for each repeated group a list of tuples."""
    own = [each.tolist() for each in columns.own.values()]
    count = len(columns.repeated[0][0])
    for group, (times, inner) in zip(plan.groups, columns.repeated, strict=True):
        if group.repeat is None:
            continue
        each = [column.tolist() for column in inner.values()]
        rows = list(zip(*each, strict=True)) if each else [()] * int(times.sum())
        ends = np.cumsum(times).tolist()
        own.append([rows[end - time : end] for end, time in zip(ends, times.tolist(), strict=True)])
    return map(list, zip(*own, strict=True)) if own else iter([[] for _ in range(count)])


def _added(what: int | str, columns: Columns) -> int:
    if isinstance(what, int):
        return what * len(columns.repeated[0][0])
    sign = -1 if what.startswith("-") else 1
    return sign * int(columns.sums(what.removeprefix("-")).sum())


def _added_by(what: int | str, plan: Plan, values: Sequence[Any]) -> int:
    """What one call adds, by its values as `_calls` gives them."""
    if isinstance(what, int):
        return what
    name, sign = what.removeprefix("-"), -1 if what.startswith("-") else 1
    if name in plan.parameters:
        return sign * int(values[list(plan.parameters).index(name)])
    repeated = [group for group in plan.groups if group.repeat is not None]
    for place, group in enumerate(repeated, len(plan.parameters)):
        if name in group.parameters:
            return sign * int(sum(row[list(group.parameters).index(name)] for row in values[place]))
    raise KeyError(name)


# What runs inside the clock.


def _body(engine: Engine, session: Any, plan: Plan) -> Callable[[Any, list[Any]], None]:
    """The statements of a transaction, prepared -> body(session, values of a call)."""
    slots = {name: place for place, name in enumerate(plan.parameters)}
    repeated = [group for group in plan.groups if group.repeat is not None]
    lists = len(slots)  # from here on the lists of the repeated groups stand, then what rows give
    width = lists + len(repeated)
    actions: list[Action] = []
    for group in plan.groups:
        inner, start = dict(slots), width
        for name in group.parameters:
            inner[name] = width
            width += 1
        end = width
        made = []
        for text in group.statements:
            (slots if group.repeat is None else inner).update({name: width + at for at, name in enumerate(text.row)})
            made.append(_action(engine, session, text, slots if group.repeat is None else inner, plan.name))
            width += len(text.row)
        actions += made if group.repeat is None else [_repeating(made, lists + repeated.index(group), start, end)]
    blank = [None] * (width - lists - len(repeated))
    skips = any(text.missing == "skip" for group in plan.groups if group.repeat is None for text in group.statements)

    def body(_session: Any, given: list[Any]) -> None:
        values = [*given, *blank] if blank else given
        for action in actions:
            action(values)

    def left_out(_session: Any, given: list[Any]) -> None:
        try:
            body(_session, given)
        except _Skipped:
            return

    return left_out if skips else body


def _repeating(actions: Sequence[Action], place: int, start: int, end: int) -> Action:
    def repeat(values: list[Any]) -> None:
        for drawn in values[place]:
            values[start:end] = drawn
            try:
                for action in actions:
                    action(values)
            except _Skipped:
                continue

    return repeat


def _action(engine: Engine, session: Any, text: Text, slots: Mapping[str, int], name: str) -> Action:
    """A statement with its values -> done; its row is put among the values."""
    call = _spread(prepare_text(engine, session, text), [slots[each] for each in text.names])
    if not text.row:
        return call
    width, first = len(text.row), slots[text.row[0]]
    last = first + width

    def read(values: list[Any]) -> None:
        row = call(values)
        if row is None or None in row:
            _miss(text, name)
        if len(row) != width:
            raise WrongAnswer(f"a row of {len(row)} columns in the transaction {name}, where `row` names {width}")
        values[first:last] = row

    return read


def _spread(run: Callable[..., Any], places: Sequence[int]) -> Callable[[Any], Any]:
    """`run` with the values at some places. Of a few they are named one by one, which takes half as long."""
    match places:
        case []:
            return lambda _values: run()
        case [a]:
            return lambda values: run(values[a])
        case [a, b]:
            return lambda values: run(values[a], values[b])
        case [a, b, c]:
            return lambda values: run(values[a], values[b], values[c])
    picked = itemgetter(*places)
    return lambda values: run(*picked(values))


def _miss(text: Text, name: str) -> None:
    if text.missing == "skip":
        raise _Skipped
    if text.missing == "rollback":
        raise RolledBack(name)
    words = " ".join("?".join(text.pieces).split())
    raise WrongAnswer(f"no row, or a NULL in it, in the transaction {name}: {words}")


def prepare_text(engine: Engine, session: Any, text: Text) -> Callable[..., Any]:
    """call(*values): the statement, prepared once where the driver can."""
    if not does_work(engine):  # it has no rows, but what follows has to go on
        row = (1,) * len(text.row)
        return lambda *_values: row
    assert isinstance(engine, SQLEngine)
    assert isinstance(session, SQLSession)
    sql = engine.sql.placeholder.join(text.pieces)
    return session.prepare_call(sql, 1 if text.row else None if text.reads else 0)
