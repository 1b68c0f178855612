"""What a new process sees of a step's commits: in a copy of the engine's folder, or at a URL as a second client."""

import traceback
from collections.abc import Callable, Collection
from dataclasses import replace
from typing import NamedTuple

from dbbench.engine.base import Engine, Session, Setup
from dbbench.engine.null import does_work
from dbbench.errors import NotVerified, TrialError, WrongAnswer
from dbbench.results.facts import ALL_THERE
from dbbench.results.outcome import described
from dbbench.runs import copies
from dbbench.runs.copies import AskedCopies, Verdict
from dbbench.suite.model import Tier
from dbbench.suite.steps import AnyStep
from dbbench.workloads import ondisk, workload
from dbbench.workloads.context import StepContext


class Seen(NamedTuple):
    """What is seen of a step's commits, and why that takes the engine's rank; empty if it doesn't."""

    what: str
    no_rank: str = ""


class Acknowledged:
    """The worker's questions about commits; `steps` names those whose commits are looked for."""

    def __init__(self, setup: Setup, steps: Collection[str], asked: AskedCopies) -> None:
        self.setup = setup
        self.steps = steps
        self.asked = asked
        #: Why the running step's copy wasn't made; empty if it was, or isn't needed at a URL.
        self.not_copied: str | None = None

    def wants(self, step: AnyStep, engine: Engine) -> bool:
        """Return whether a new process is to check what the step wrote.

        In a copy of the engine's folder right after the step's last call, where the engine promises that a commit
        outlives its process; at a URL as a second client.
        """
        self.not_copied = "" if engine.url else None
        promised = does_work(engine) and (engine.url or engine.info().tier is not Tier.MEMORY)
        return bool(promised) and step.name in self.steps and self.asked.offered

    def take(self) -> None:
        """Have the engine's folder copied, once for each step that wants it."""
        if self.not_copied is None:
            self.not_copied = self.asked.take()

    def look(self, step: AnyStep, context: StepContext) -> Seen:
        """Have a new process look. Raises WrongAnswer.

        Where an engine has files elsewhere, what is missing in the copy may be there: it only has no rank. Nor has one
        whose commits nobody can look for, but for honest reasons: its folder is large, or only one process may open it.
        """
        if self.not_copied:
            return _unseen(f"not copied: {self.not_copied}", excused=self.not_copied in copies.LIMITS)
        engine = context.engine
        verdict = self.asked.check(self.setup.directory, (step.name, replace(context.data, timed={})))
        if verdict.wrong and not engine.url and (files := ondisk.elsewhere(engine)):
            missing = "acknowledged commits were missing in a copy of its folder, and it has files elsewhere"
            names = ", ".join(file.name for file in files[:3])
            return Seen("missing in the copy, and may be in files elsewhere", f"{missing}: {names}")
        if verdict.wrong:
            copied = "copied when its last call had returned, and opened by a new process"
            raise WrongAnswer(f"{'seen by another client' if engine.url else copied}: {verdict.wrong}")
        if verdict.why:
            alone = bool(engine.url) and engine.info().concurrency.processes == 1
            return _unseen(verdict.why, excused=alone and verdict.why.startswith("not opened"))
        return Seen(ALL_THERE)


def _unseen(why: str, *, excused: bool) -> Seen:
    return Seen(why, "" if excused else f"a new process couldn't look for acknowledged commits: {why}")


def checked(step: AnyStep, engine: Engine, context: Callable[[Session], StepContext]) -> Verdict:
    """Open an engine on a copy, or as a second client, and check a step's work there."""
    try:
        engine.open()
        session = engine.connect()
    except Exception as exc:  # its port may be taken, or its folder's path be written somewhere: no proof of a loss
        traceback.print_exc()
        return Verdict(why=f"not opened: {described(exc)[1]}")
    work = workload(step.kind)
    check = (not engine.url and work.check_copy) or work.check
    assert check is not None
    try:
        check(step, context(session))
    except NotVerified as exc:
        return Verdict(why=str(exc))
    except Exception as exc:
        traceback.print_exc()
        what = described(exc)[1]
        if isinstance(exc, MemoryError | OSError | TrialError) and not isinstance(exc, WrongAnswer):
            return Verdict(why=f"not checked: {what}")  # no proof of a loss
        return Verdict(what)
    return Verdict()
