"""Whole rounds on hosts, several at the same time: each round's trials run one after another on one host.

So the engines of a round are compared on one machine. A host that is lost takes its round with it: the round's trials
are dropped, and another host begins with it anew.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING

from dbbench.cluster.place import Place
from dbbench.errors import DbbenchError, RunError, UserError
from dbbench.host import atomic_json, plain_file
from dbbench.results.run_directory import Run
from dbbench.results.trial import Progress, Trial, writing
from dbbench.runs.round_on_host import ROUND_ORDER, RoundOrder
from dbbench.runs.runner import not_repeated
from dbbench.suite.answer import AnswerFile, EngineAnswer
from dbbench.suite.model import Suite
from dbbench.suite.steps.query import QueryStep

if TYPE_CHECKING:
    from dbbench.cluster.leased import HostReply

PROGRAM = "dbbench.runs.round_on_host"
#: The name of a trial's file, at most one folder deep.
_FILE = re.compile(r"(?:[\w][\w.-]*/)?[\w][\w.-]*")


def refuse_fleet(suite: Suite, urls: Collection[str], *, budget: bool) -> None:
    """Raise UserError for what can't run in whole rounds elsewhere."""
    if urls:
        raise UserError(f"--fleet runs engines on the hosts themselves: omit --url {next(iter(urls))}=...")
    if budget:
        raise UserError("--fleet runs rounds at the same time: omit --precision and --time-limit, and use --rounds")
    if any(dataset.sources for dataset in suite.datasets.values()):
        raise UserError(f"--fleet: {suite.name} has rows from files, which the hosts don't have")
    for scenario in suite.scenarios:
        for step in scenario.steps:
            if isinstance(step, QueryStep) and (
                step.answer == "agree" or isinstance(step.answer, AnswerFile | EngineAnswer)
            ):
                raise UserError(f"--fleet: the hosts can't compute the answer of {step.name} from the data alone")


def run_fleet(run: Run, trials: Sequence[Trial], place: Place, report: Callable[[Progress], None]) -> None:
    """Run every round that isn't finished, each as a whole on one of the hosts; `report` is called as trials end.

    Raises RunError if a round fails on a host, or no host is left. What finished rounds gave is kept.
    """
    from dbbench.cluster.agent import Sealed
    from dbbench.cluster.hosts import Hosts

    with run.locked():
        rounds = Rounds(run, trials, report)
        orders = rounds.orders()
        if not orders:
            return
        with Hosts(place) as hosts:
            try:
                sealed = {number: Sealed(ROUND_ORDER.dump_json(order).decode()) for number, order in orders.items()}
                hosts.spread(sealed, PROGRAM, rounds)
            except UserError:
                raise
            except DbbenchError as exc:
                raise RunError(f"{exc}; the finished trials are kept, continue with --resume") from exc


class Rounds:
    """The rounds of a run, and what hosts say of them."""

    def __init__(self, run: Run, trials: Sequence[Trial], report: Callable[[Progress], None]) -> None:
        self.run, self.trials, self.report = run, {trial.id: trial for trial in trials}, report
        self.done = run.done(trials)
        #: The trials that hosts are given, by rounds.
        self.sent: dict[int, list[Trial]] = {}

    def orders(self) -> dict[int, RoundOrder]:
        """An order for each round that isn't finished, by its number."""
        manifest = self.run.manifest.model_copy(update={"cluster": "", "hosts": 0, "fleet": False, "answers": {}})
        text = plain_file.read(self.run.path / "suite.yaml").decode()
        rounds = range(1, self.run.manifest.rounds + 1)
        self.sent = {number: mine for number in rounds if (mine := self._begun_anew(number))}
        return {number: RoundOrder(manifest, text, mine) for number, mine in self.sent.items()}

    def _begun_anew(self, number: int) -> list[Trial]:
        """The trials of an unfinished round, without those that would end as before: their results are known."""
        mine = [trial for trial in self.trials.values() if trial.round == number]
        if all(trial.id in self.done for trial in mine):
            return []
        for trial in mine:
            self.done.pop(trial.id, None)
            self.run.discard(trial)
        left = []
        for trial in mine:
            if (before := not_repeated(list(self.trials.values()), trial, self.done)) is None:
                left.append(trial)
            else:
                before.write(self.run.begin(trial))
                self.done[trial.id] = self.run.result(trial)
        return left

    def heard(self, host: str, order: int, word: HostReply) -> None:
        """Keep the files of a trial of a round. Raises RunError if they can't be written."""
        if not word.trial:
            return
        trial = self.trials.get(word.trial)
        if trial not in self.sent[order]:
            raise RunError(f"host {host} reported a trial that it was not assigned: {word.trial}")
        directory = self.run.begin(trial)
        result = atomic_json.parse(word.files["result.json"])
        record = {"name": host, **(asdict(word.machine) if word.machine else {})}
        with writing(directory):
            for name, content in word.files.items():
                if name != "result.json":
                    self._write(directory, name, content)
            atomic_json.write(directory / "result.json", result | {"host": record}, durable=True)
        self.done[trial.id] = self.run.result(trial)
        at = Progress(trial, len(self.done), len(self.trials))
        self.report(replace(at, result=self.done[trial.id]))

    def lost(self, order: int, why: str) -> None:
        """Drop what a lost host had of its round, and report that."""
        for trial in self.sent[order]:
            self.done.pop(trial.id, None)
            self.run.discard(trial)
        at = Progress(self.sent[order][0], len(self.done), len(self.trials))
        self.report(replace(at, note=f"{why}; its round has to begin anew"))

    def _write(self, directory: Path, name: str, data: bytes) -> None:
        if not _FILE.fullmatch(name):
            raise RunError(f"a host sent a file with the name {name!r}")
        folder, _, last = name.rpartition("/")
        plain_file.write((plain_file.folder(directory, folder) if folder else directory) / last, data)
