"""The answers of a run: scenario -> query -> the file of the rows that it must return."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from dbbench.answers.given import answer_of
from dbbench.answers.stored import kept_answer
from dbbench.datasets.cache import Files
from dbbench.host import plain_file
from dbbench.results.run_directory import Run
from dbbench.suite.answer import AnswerFile, EngineAnswer
from dbbench.suite.model import Suite
from dbbench.suite.steps.query import QueryStep


def answers_of(suite: Suite, datasets: Mapping[str, Files], folder: Path) -> dict[str, dict[str, str]]:
    """The files of the answers that are known before the run, computed now if they aren't in the cache yet."""
    found: dict[str, dict[str, str]] = {}
    for scenario in suite.scenarios:
        found[scenario.name] = {}
        for step in scenario.steps:
            if isinstance(step, QueryStep):
                known = answer_of(step, suite.datasets[scenario.dataset], datasets[scenario.dataset], folder)
                if known is not None:
                    found[scenario.name][step.name] = str(known.resolve())
    return found


def answers_again(run: Run, datasets: Mapping[str, Files]) -> dict[str, dict[str, str]]:
    """The answers of a run. What isn't computed from the dataset is taken from the cache, as no path of a run is followed."""
    found: dict[str, dict[str, str]] = {}
    for scenario in run.suite.scenarios:
        names, files = run.manifest.answers.get(scenario.name, {}), datasets[scenario.dataset]
        found[scenario.name] = {}
        for step in scenario.steps:
            if not isinstance(step, QueryStep) or step.expected_answer is None:
                continue
            if isinstance(step.answer, AnswerFile | EngineAnswer):
                known: Path | None = kept_answer(names.get(step.name, ""), files)
            else:
                known = answer_of(step, run.suite.datasets[scenario.dataset], files, Path())
            found[scenario.name][step.name] = str(known and known.resolve())
    return found


def with_agreements(run: Run, answers: dict[str, dict[str, str]]) -> dict[str, dict[str, str]]:
    """The same with a folder for each query whose answer is what engines agree on."""
    for scenario in run.suite.scenarios:
        for step in scenario.steps:
            if isinstance(step, QueryStep) and step.answer == "agree":
                folder = plain_file.folder(plain_file.folder(run.path, "answers"), f"{scenario.name}-{step.name}")
                answers[scenario.name][step.name] = str(folder.resolve())
    return answers
