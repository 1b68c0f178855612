"""`python -m dbbench.runs.worker DIR`: one trial in one fresh process.

It reads DIR/trial.json, and writes DIR/steps.json anew before and after each step. If this process dies, that file has
the results of the finished steps and the name of the running one. With `remove` after DIR it clears up after a trial;
with `check-copies` it checks copies of the engine's folder.
"""

from __future__ import annotations

import datetime
import gc
import os
import platform
import sys
import time
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import dbbench
from dbbench.answers.question import compute
from dbbench.answers.stored import Question
from dbbench.datasets.cache import Files
from dbbench.datasets.records import RecordSet
from dbbench.datasets.texts import TextSet
from dbbench.datasets.vectors import VectorSet
from dbbench.engine import offered, registry
from dbbench.engine.base import Engine, Session, Setup
from dbbench.engine.fingerprint import fingerprint
from dbbench.engine.null import does_work
from dbbench.engine.urls import VARIABLE, scrub, scrubbed, secrets
from dbbench.errors import NotVerified, Unsupported, WrongAnswer
from dbbench.host import atomic_json
from dbbench.host.machine import file_system
from dbbench.host.processes import adopt_orphans, end_with_parent
from dbbench.host.scheduling import ahead, scheduling
from dbbench.host.usage import Reading, forget_peak, peak_memory, resident, usage
from dbbench.loadgen.clients import drive
from dbbench.message import clean
from dbbench.results import crash_checks, trial_files
from dbbench.results.crash_checks import Subject
from dbbench.results.facts import StepFacts
from dbbench.results.outcome import DID_NOTHING, FELL_SHORT, UNVERIFIED, Outcome, described
from dbbench.results.trial import StepResult
from dbbench.runs import acknowledged, copies, strace, watched
from dbbench.runs.acknowledged import Acknowledged
from dbbench.runs.copies import AskedCopies, Verdict
from dbbench.runs.order import TrialOrder
from dbbench.runs.record import WorkerRecord
from dbbench.suite.changes import before
from dbbench.suite.dataset import Table
from dbbench.suite.model import Tier
from dbbench.suite.steps import AnyStep
from dbbench.suite.steps.query import QueryStep
from dbbench.workloads import after, ondisk, promises, workload
from dbbench.workloads.context import StepContext, StepMeasurement
from dbbench.workloads.known import group
from dbbench.workloads.nearest import refuse_metric

if TYPE_CHECKING:
    from dbbench.cluster.hosts import Hosts

#: Outcomes of a step that did its work, whatever became of its figure.
_WORKED = (Outcome.OK, *FELL_SHORT)


class Worker:
    """Carries out the order of a trial, and records how far it came."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.order = order = TrialOrder.read(directory)
        self.scenario, self.tables = order.scenario, order.dataset.tables
        self.files = Files(order.files)
        drawn = self.files.manifest
        records = order.dataset.records
        self.records = RecordSet(records, drawn["seed"], drawn["scale"]) if records else None
        vectors = order.dataset.vectors
        self.vectors = VectorSet(vectors, drawn["seed"], drawn["scale"]) if vectors else None
        texts = order.dataset.texts
        self.texts = TextSet(texts, drawn["seed"], drawn["scale"]) if texts else None
        if self.texts:
            self.tables = self.texts.tables
        url = os.environ.get(VARIABLE, "")
        self.hidden = secrets(url)
        #: What a variant sets, as this process has it.
        self.env = {name: os.environ.get(name, "") for name in order.process.env}
        work = Path(order.process.work)
        tier = Tier(order.scenario.durability)
        self.setup = Setup(work / "data", tier, order.options, url, order.shares)
        self.hosts: Hosts | None = None
        self.record = WorkerRecord()
        self.given = scheduling()
        self.copies = AskedCopies(os.environ.pop(copies.VARIABLE, ""))
        self.acknowledged = Acknowledged(self.setup, order.copied, self.copies)

    def run(self) -> None:
        """Run all steps; what an engine may raise becomes an outcome."""
        self._save()
        died = ""
        try:
            engine_class = registry.load(self.order.plugin)
            compares = does_work(engine_class)
            self.workloads = {step.kind: workload(step.kind, compares=compares) for step in self.scenario.steps}
            self.setup.directory.mkdir(mode=0o700)
            self.engine = engine_class(self.setup)
            self.engine.open()
            # What was imported stays. Each step collects garbage before its clock, and would go through all of it.
            gc.collect()
            gc.freeze()
            try:
                sized = any(step.kind == "size" for step in self.scenario.steps)
                self.empty = ondisk.sizes(self.engine) if sized else {}
                self._make_tables(self.engine)
                if sized:  # some systems make theirs with the first transaction, and blocks have their data by now
                    self.empty |= {kind: n for kind, n in ondisk.sizes(self.engine).items() if kind[0] == "other"}
                with self._entered():
                    self._run_steps(self.engine)
                self.engine.remove(self.tables)
                self.record.made = False
                self._save()
            finally:
                died = self.engine.exit_reason()
                self.engine.close()
        except Exception as exc:
            outcome, detail = described(exc)
            if died:
                outcome, detail = Outcome.CRASHED, died
            self._give_up(outcome, detail, exc)
        self.record.ended = True
        self._save()

    @contextmanager
    def _entered(self) -> Iterator[None]:
        """Within it the hosts of the cluster are there, if the run has one."""
        if self.order.place is None:
            yield
            return
        from dbbench.cluster.hosts import Hosts

        with Hosts(self.order.place) as self.hosts:
            yield

    def remove(self) -> None:
        """Remove what the trial made at its URL and could not remove itself."""
        engine = registry.load(self.order.plugin)(self.setup)
        engine.open()
        engine.remove(self.tables)
        engine.close()

    def check_copy(self) -> None:
        """Open a copy of the engine's folder and check a step's work in it. Faults are left in the work directory.

        What is asked may also be a call to make, whose memory and processor time aren't to be the trial's.
        """
        asked = copies.question(self.setup.directory)
        if callable(asked):
            asked()
            copies.answer(self.setup.directory, Verdict())
            return
        name, data = asked
        (step,) = (each for each in self.scenario.steps if each.name == name)
        copy = copies.copy_of(self.setup.directory)
        copy.mkdir(mode=0o700, parents=True, exist_ok=True)  # at a URL nothing was copied
        engine = registry.load(self.order.plugin)(replace(self.setup, directory=copy))
        verdict = acknowledged.checked(step, engine, lambda session: self._context(engine, session, data=data))
        copies.answer(self.setup.directory, verdict)
        with suppress(Exception):  # a server of its own is to end; the verdict is there
            engine.close()

    def _context(self, engine: Engine, session: Session, **more: Any) -> StepContext:
        return StepContext(
            engine,
            session,
            self.tables,
            self.files,
            self.order.answers,
            records=self.records,
            vectors=self.vectors,
            texts=self.texts,
            **more,
        )

    def _compute(
        self, questions: Sequence[Question], tables: Mapping[str, Table], files: Files, out: Path
    ) -> list[Path]:
        """Answers by the reference, in the process that checks copies, within the memory that a run allows."""
        call = partial(compute, questions, tables, files, out, self.order.process.memory_limit)
        if self.copies.offered and (why := self.copies.check(self.setup.directory, call).why):
            raise NotVerified(f"answer not computed: {why}")
        return call()  # what is there isn't computed again

    def _make_tables(self, engine: Engine) -> None:
        """Make them. What can't be made isn't removed: it may be somebody else's."""
        if self.texts:
            offered.refuse(engine, "search")
        engine.create(self.tables)
        if self.records:
            engine.create_store(self.records.shape)
        if self.vectors:
            refuse_metric(engine, self.vectors.spec.metric)
            engine.create_vectors(self.vectors.shape)
        self.record.made = bool(engine.url)
        self._save()

    def _run_steps(self, engine: Engine) -> None:
        changes = {
            each.name: before(each, self.scenario.steps) for each in self.scenario.steps if isinstance(each, QueryStep)
        }
        number = self.order.trial.round
        context = self._context(
            engine,
            engine.connect(),
            changes=changes,
            setup=self.setup,
            empty=self.empty,
            round=number,
            last_round=number == self.order.rounds,
            note=self._note,
            group=partial(group, run=self.order.run, scenario=self.scenario.name),
            driver=self.hosts.drive if self.hosts else drive,
            compute=self._compute,
        )
        versions = {**engine.versions(), **engine.server_versions()}
        if self.order.process.python:
            versions["Python"] = platform.python_version()
        info = engine.info()  # of the server that answered, where the engine tells them apart
        self.record.engine = {
            "title": info.title,
            "versions": versions,
            "settings": {**engine.settings(), **self.env},
            "tier": info.tier,
            "publication": info.publication,
            "publication_note": info.publication_note,
        }
        self._note_crash_check(engine, versions)
        start = _used(engine)
        forget_peak()
        missing = ""  # why the data of later steps isn't what it should be
        for step in self.scenario.steps:
            if missing and step.needs_data:
                self.record.finish_step(StepResult(name=step.name, outcome=Outcome.NOT_RUN, detail=missing))
                continue
            self._start(step.name)
            result = self._run_step(step, context)
            self.engine = context.engine  # another one after a cold start
            used = _used(self.engine).since(start)
            self.record.cpu_seconds, self.record.written_bytes = used.cpu, used.written
            self._finish(result)
            explain = self.workloads[step.kind].explain
            if explain and result.outcome in (Outcome.OK, Outcome.WRONG):
                self._keep_plan(result, partial(explain, step, context), context)
            if died := self.engine.exit_reason():
                self._give_up(Outcome.CRASHED, f"not reached: {died} in {step.name}", None)
                self._save()
                break
            if result.outcome not in _WORKED:
                for name, made in changes.items():
                    if step.name in made.steps:
                        context.data.no_answer[name] = f"{step.name}, which changes what it reads, was {result.outcome}"
            if step.fills and result.outcome not in _WORKED:
                missing = missing or f"{step.name} {result.outcome}: {result.detail}"
            if result.outcome not in (*_WORKED, Outcome.WRONG, Outcome.UNSUPPORTED):
                _connect_anew(context)  # a failed statement may leave its transaction open
        else:
            self._read_options_back(context)
            self._look_again(context)
        self._save()
        if self.order.trial.round == 1 and not self.engine.exit_reason():
            self._change_rows(context)
        context.session.close()

    def _note_crash_check(self, engine: Engine, versions: Mapping[str, str]) -> None:
        """Record what `dbbench durability` found of this very engine before. It never tried a server at a URL."""
        if engine.url:
            return
        here = file_system(self.setup.directory)
        named = {**versions, "dbbench": dbbench.__version__}
        code = fingerprint(type(engine))
        check = crash_checks.find(Subject(self.order.plugin, engine.info().tier, named, here, self.setup.options, code))
        if check:
            day = datetime.date.fromisoformat(check.day)
            self.record.engine["crash_check"] = {"passed": check.passed, "kills": check.kills, "day": day}

    def _read_options_back(self, context: StepContext) -> None:
        """Ask the system for the options that it was given: after all steps, so that the question changes none."""
        try:
            self.record.no_rank = self.record.no_rank or promises.changed_option(context)
        except Exception as exc:
            self._note(f"its options can't be read back: {described(exc)[1]}")
            print(scrub(traceback.format_exc(), self.hidden), file=sys.stderr)

    def _look_again(self, context: StepContext) -> None:
        """Check what is left of the data once more, after the engine was closed and opened again where it keeps any."""
        self._save()  # a driver may crash now
        results, steps = self.record.by_name, self.scenario.steps
        if any(step.fills and results[step.name].outcome not in (*_WORKED, *DID_NOTHING) for step in steps):
            return
        writers = [step.name for step in steps if step.writes and self.workloads[step.kind].check]
        wrote = [name for name in writers if results[name].outcome in _WORKED]
        try:
            found = after.check(context, wrote, self._checks_again(context, results))
        except Exception as exc:
            outcome, detail = described(exc)
            print(scrub(traceback.format_exc(), self.hidden), file=sys.stderr)
            self.record.finish_step(results[wrote[-1]].because(outcome, f"{after.WHEN}: {detail}"))
            found = {}
        finally:
            self.engine = context.engine
        for name, detail in found.items():
            if results[name].outcome in _WORKED:
                self.record.finish_step(results[name].because(Outcome.WRONG, f"{after.WHEN}: {detail}"))

    def _checks_again(self, context: StepContext, results: Mapping[str, StepResult]) -> after.Again:
        """Comparisons of the data by the steps that can make one when all is done."""
        steps = self.scenario.steps
        return {
            step.name: partial(again, step, context, steps[place:])
            for place, step in enumerate(steps, 1)
            if (again := self.workloads[step.kind].check_again) and results[step.name].outcome in _WORKED
        }

    def _run_step(self, step: AnyStep, context: StepContext) -> StepResult:
        """Measure, then check. The memory that the check takes does not count as the engine's."""
        work = self.workloads[step.kind]
        started = time.perf_counter()
        result = StepResult(name=step.name, outcome=Outcome.OK, verified=False)
        try:
            wants_copy = work.check is not None and self.acknowledged.wants(step, context.engine)
            context.returned = self.acknowledged.take if wants_copy else _nothing
            before = _used(context.engine)
            strace.mark(self.directory, step.name, "begun")
            measured = watched.measured(
                self.order.watch, step, lambda: context.engine, self.directory, partial(work.measure, step, context)
            )
            strace.mark(self.directory, step.name, "done")
            context.returned()
            others = ondisk.others(context.engine)
            used = usage(others).since(before)
            ahead_by = ahead((os.getpid(), *others), self.given and self.given.given_by_now(scheduling(os.getppid())))
            self.record.no_rank = self.record.no_rank or ahead_by
            if self.hosts and (facts := self.hosts.take_facts()):
                measured.facts["cluster"] = facts
            if type(context.session).awaited:
                measured.facts["awaited"] = True
            result = StepResult(
                name=step.name, verified=False, written_bytes=used.written, waits=used.waits, **measured.recorded
            )
            context.data.accept(step, measured)
            peak = max((peak_memory() or 0) + resident(others), context.peak)
            self.record.peak_memory = max(peak, self.record.peak_memory or 0)
            if work.check and measured.outcome is not Outcome.WRONG:
                result = self._compared(step, context, measured, used, result, wants_copy=wants_copy)
            if measured.unit == "s" and measured.value is not None and measured.outcome is not Outcome.WRONG:
                context.data.timed[step.name] = result
        except Exception as exc:
            outcome, detail = described(exc)
            if died := context.engine.exit_reason():
                outcome, detail = Outcome.CRASHED, died
            trace = traceback.format_exc()
            result = result.because(outcome, detail).model_copy(update={"traceback": trace})
            print(scrub(trace, self.hidden), file=sys.stderr)
        context.returned = _nothing
        copies.remove(self.setup.directory)  # of a step that was not checked
        forget_peak()
        return result.model_copy(update={"elapsed": time.perf_counter() - started})

    def _compared(
        self,
        step: AnyStep,
        context: StepContext,
        measured: StepMeasurement,
        used: Reading,
        result: StepResult,
        *,
        wants_copy: bool,
    ) -> StepResult:
        """The result of a step after all that is looked at when it has ended. Raises WrongAnswer."""
        check = self.workloads[step.kind].check
        assert check is not None
        seen = None
        if wants_copy and self.setup.url:  # before another session is opened
            seen = self.acknowledged.look(step, context)
        result = self._checked(check, step, context, result)
        floor = promises.floor(step, context, measured, used) if result.verified else promises.Floor()
        facts: StepFacts = {}
        if floor.fault:
            context.data.unverified.add(step.name)
            faulted = {"verified": False, "detail": _and(result.detail, f"no rank: {floor.fault}")}
            result = result.model_copy(update=faulted)
        elif floor.unknown and self.order.trial.round == 1:
            facts["syncs"] = floor.unknown
        if wants_copy:
            seen = seen or self.acknowledged.look(step, context)
            facts["copy"] = seen.what
            if result.verified:
                self.record.no_rank = self.record.no_rank or seen.no_rank
        return result.model_copy(update={"facts": {**result.facts, **facts}})

    def _checked(
        self, check: Callable[..., None], step: AnyStep, context: StepContext, result: StepResult
    ) -> StepResult:
        """The result of a step whose work was checked, or with the reason why it can't be. Raises WrongAnswer."""
        try:
            if step.writes:
                with context.new_session():
                    check(step, context)
                promises.check_sync(context)
            else:
                check(step, context)
        except NotVerified as exc:
            context.data.unverified.add(step.name)
            return result.model_copy(update={"detail": _and(result.detail, f"{UNVERIFIED}: {exc}")})
        return result.model_copy(update={"verified": True})

    def _keep_plan(self, result: StepResult, explain: Callable[[], str], context: StepContext) -> None:
        """Keep the engine's plan of a query, or of what else a step calls. The step's result is already safe.

        In every round, so that later steps are alike in all rounds.
        """
        self._start(f"the plan of {result.name}")
        why = ""
        try:
            trial_files.keep_plan(self.directory, result.name, scrub(explain(), self.hidden))
        except Unsupported as exc:
            why = str(exc)
        except BaseException as exc:  # a driver in Rust panics with one
            why = described(exc)[1]
            _connect_anew(context)
        forget_peak()
        self._finish(result.model_copy(update={"no_plan": why}))

    def _change_rows(self, context: StepContext) -> None:
        """Have each query answer once more after a row was deleted. When all figures are made, and in one round."""
        for step, result in zip(self.scenario.steps, self.record.steps, strict=True):
            check_change = self.workloads[step.kind].check_change
            if check_change is None or result.outcome != Outcome.OK:
                continue
            self._start(f"the last check of {step.name}")
            update: dict[str, object] = {}
            came_to = "followed"
            try:
                check_change(step, context)
            except WrongAnswer as exc:
                came_to, update = "", {"outcome": Outcome.WRONG, "detail": str(exc), "verified": False}
            except Unsupported as exc:
                came_to = f"not tried: {exc}"
            except Exception as exc:
                came_to = f"not tried: {described(exc)[1]}"
                _connect_anew(context)
            if came_to:
                update = {"facts": {**result.facts, "change": came_to}}
            self._finish(result.model_copy(update=update))

    def _give_up(self, outcome: Outcome, detail: str, exc: BaseException | None) -> None:
        """Give every step that has no result yet this outcome."""
        trace = "".join(traceback.format_exception(exc)) if exc else ""
        print(scrub(trace, self.hidden), file=sys.stderr)
        for name in (step.name for step in self.scenario.steps):
            if name not in self.record.by_name:
                self.record.finish_step(StepResult(name=name, outcome=outcome, detail=detail, traceback=trace))

    def _start(self, what: str) -> None:
        self.record.start_step(what)
        self._save()

    def _finish(self, result: StepResult) -> None:
        self.record.finish_step(result)
        self._save()

    def _note(self, line: str) -> None:
        self.record.notes.append(f"{self.record.running}: {line}")
        self._save()

    def _save(self) -> None:
        document = clean(scrubbed(self.record.model_dump(warnings=False), self.hidden))
        # In one line, which json writes in C: several times a step.
        atomic_json.write(self.directory / "steps.json", document, indent=None)


def _nothing() -> None:
    """There is nothing to do."""


def _connect_anew(context: StepContext) -> None:
    with suppress(Exception):  # a driver may refuse to close a connection that is lost: no reason to lose later steps
        context.session.close()
    context.session = context.engine.connect()


def _used(engine: Engine) -> Reading:
    return usage(ondisk.others(engine))


def _and(detail: str, more: str) -> str:
    return "; ".join(filter(None, (detail, more)))


def main() -> None:
    """Run the trial in the directory that the first argument names."""
    end_with_parent()  # the supervisor, should it be killed
    adopt_orphans()  # what an engine has forked twice is still its own
    worker = Worker(Path(sys.argv[1]))
    does: dict[str, Callable[[], None]] = {
        "remove": worker.remove,
        "check-copies": partial(copies.serve_checks, worker.check_copy),
    }
    does.get("".join(sys.argv[2:]), worker.run)()
    # The engine is closed. An interpreter would now take a tenth of a second to take itself apart.
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)


if __name__ == "__main__":
    main()
