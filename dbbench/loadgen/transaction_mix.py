"""What one client of a transaction step does: transactions drawn by weight, with parameters drawn for each."""

import random
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import count
from operator import call
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dbbench.engine.base import Engine, Session
from dbbench.engine.null import does_work
from dbbench.loadgen.drawn_parameters import Known
from dbbench.loadgen.kept_calls import KeptResults, kept_places
from dbbench.loadgen.key_streams import CallStream
from dbbench.loadgen.share import share
from dbbench.loadgen.transaction_body import Body, Keep, RolledBack, bodies
from dbbench.loadgen.transaction_draws import Columns, Draws, Plan, Text, Values, added_by
from dbbench.loadgen.transactions import Attempts, Together, refuse_without_transactions

#: What stands between the name of a transaction, or of an invariant, and what was counted for it.
OF = ": "
#: Endless calls that all clients together make ready before the start.
PREMADE = 20_000
#: Transactions that keep what they read, of each range of 1, 2, 4, 8, ... calls.
_KEPT = 16
#: A client that thinks looks so often whether it is to end, in seconds.
_LOOK = 0.1
ROLLED_BACK = "rolled back"
#: Of an invariant: what its transactions that were rolled back would have added.
NOT_ADDED = "not added to"

#: What a client does with the values of a call.
Action = Callable[[Values], object]


@dataclass(frozen=True)
class TransactionMix(Together):
    """All clients' calls, as plain data: `calls` of them. `grows`: invariant -> transaction -> what each call adds."""

    plans: Sequence[Plan]
    grows: Mapping[str, Mapping[str, int | str]]
    known: Known
    calls: int
    #: Whether the calls go on for ever; `calls` says nothing then.
    endless: bool = False

    @property
    def keeping(self) -> list[Text]:
        """The statements of which some results are kept, each by its `place` in this list."""
        return [text for plan in self.plans for group in plan.groups for text in group.statements if text.keeps]

    def check(self, engine: Engine, session: Session) -> None:
        """Raise Unsupported if the engine has no SQL or no transactions."""
        refuse_without_transactions(engine, session)

    def prepare(self, engine: Engine, session: Session, number: int, of: int) -> CallStream:
        """One client's share of the calls."""
        counts: dict[str, int] = {}
        samples = [KeptResults() for _ in self.keeping] if does_work(engine) else []
        keep = {id(text): calls.append for text, calls in zip(self.keeping, samples, strict=False)}
        runs = [self._run(engine, session, plan, counts, number, keep) for plan in self.plans]
        codes: deque[NDArray[np.int64]] = deque()
        names = [plan.name for plan in self.plans]
        found = CallStream(
            call,
            self._given(runs, codes, number, of),
            codes=codes,
            counts=counts,
            names=names,
            premade=PREMADE,
            kept=[
                (place, partial(_rows, text, calls))
                for place, (text, calls) in enumerate(zip(self.keeping, samples, strict=False))
            ],
            results=samples,
        )
        if not does_work(engine) or not any(any(plan.think) for plan in self.plans):  # nobody waits for nothing
            return found
        thoughts: deque[float] = deque()
        given = self._given(runs, codes, number, of, thoughts)
        return replace(
            found, given=given, pauses=iter(thoughts.popleft, None), pause=partial(_pause, self.reasons, session.sleep)
        )

    def drawn(self, number: int, of: int, calls: int | None) -> Iterator[tuple[NDArray[np.int64], list[Columns]]]:
        """One client's first `calls` calls, or calls without an end, a block at a time.

        Which transaction each is, and the values of those of each.
        """
        return Draws(self.plans, self.known, number, of).blocks(calls)

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
                        block.added(each[plan.name])
                        for plan, block in zip(self.plans, blocks, strict=True)
                        if plan.name in each
                    )
        return found

    def _given(
        self,
        runs: Sequence[tuple[Action, Action]],
        codes: deque[NDArray[np.int64]],
        number: int,
        of: int,
        thoughts: deque[float] | None = None,
    ) -> Iterator[Callable[[], object]]:
        draws = Draws(self.plans, self.known, number, of)
        think = draws.thoughts()
        made, places = count(), kept_places(random.SystemRandom(), _KEPT)
        place = next(places)
        for kinds, blocks in draws.blocks(None if self.endless else len(share(self.calls, number, of))):
            codes.append(kinds)
            if thoughts is not None:
                thoughts.extend(think(kinds).tolist())
            values = [block.calls(plan) for block, plan in zip(blocks, self.plans, strict=True)]
            for code in kinds.tolist():
                keeps = next(made) == place
                if keeps:
                    place = next(places)
                yield partial(runs[code][keeps], next(values[code]))

    def _run(
        self, engine: Engine, session: Any, plan: Plan, counts: dict[str, int], number: int, keep: Mapping[int, Keep]
    ) -> tuple[Action, Action]:
        """One transaction, values -> done, or rolled back by the suite; and the same that keeps what it reads."""
        attempts = Attempts(session, counts, random.Random(number), of=f"{plan.name}{OF}", end=self.reasons)

        def action(carry_out: Body) -> Action:
            once = attempts.transaction(carry_out, reading=plan.only_reads)
            if not plan.may_roll_back:
                return once

            def run(values: Any) -> None:
                try:
                    once(values)
                except RolledBack:
                    self._note(plan, values, counts)

            return run

        plain, keeping = bodies(engine, session, plan, keep)
        return action(plain), action(keeping)

    def _note(self, plan: Plan, values: Values, counts: dict[str, int]) -> None:
        """Count a transaction that was rolled back, and what it would have added."""
        found = {f"{plan.name}{OF}{ROLLED_BACK}": 1}
        for name, each in self.grows.items():
            if plan.name in each:
                found[f"{name}{OF}{NOT_ADDED}"] = added_by(each[plan.name], plan, values)
        for name, more in found.items():
            counts[name] = counts.get(name, 0) + more


def _rows(text: Text, calls: Sequence[tuple[Any, Any]]) -> list[tuple[Any, ...]]:
    """What a statement was called with and each row that came, one after another; nulls if none did."""
    found = []
    for values, returned in calls:
        rows = ([returned] if returned is not None else []) if text.row else list(returned or ())
        found += [(*values, *row) for row in rows or [(None,) * text.keeps]]
    return found


def _pause(end: Sequence[BaseException], sleep: Callable[[float], object], seconds: float) -> None:
    """Think so long, or until the clients are to end."""
    until = time.monotonic() + seconds
    while not end and (left := until - time.monotonic()) > 0:
        sleep(min(left, _LOOK))
