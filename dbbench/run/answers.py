"""The answers of a run: scenario -> query -> the file of the rows that it must return."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from dbbench.answers.given import answers_of as computed
from dbbench.answers.stored import RANK, kept_answer, read_answers
from dbbench.datasets.cache import Files
from dbbench.results.run_directory import Run
from dbbench.suite.answer import AnswerFile, EngineAnswer, SqlAnswer
from dbbench.suite.model import Scenario, Suite
from dbbench.suite.steps.query import QueryStep


def answers_of(
    suite: Suite, datasets: Mapping[str, Files], folder: Path, memory: int | None
) -> dict[str, dict[str, str]]:
    """The files of the answers that are known before the run, computed now if they aren't in the cache yet.

    The reference takes about `memory` bytes at most, or a quarter of the machine's.
    """
    return {each.name: _computed(suite, each, _queries(each), datasets, folder, memory) for each in suite.scenarios}


def answers_again(run: Run, datasets: Mapping[str, Files]) -> dict[str, dict[str, str]]:
    """The answers of a run. What isn't computed from the dataset is taken from the cache, as no path of a run is followed."""
    found: dict[str, dict[str, str]] = {}
    for scenario in run.suite.scenarios:
        names, files = run.manifest.answers.get(scenario.name, {}), datasets[scenario.dataset]
        queries = _queries(scenario)
        elsewhere = [step for step in queries if isinstance(step.answer, AnswerFile | EngineAnswer)]
        again = [step for step in queries if step not in elsewhere]
        found[scenario.name] = {
            **_computed(run.suite, scenario, again, datasets, Path(), run.manifest.memory_limit),
            **{step.name: str(kept_answer(names.get(step.name, ""), files).resolve()) for step in elsewhere},
        }
    return found


def doubtful(suite: Suite, answers: Mapping[str, Mapping[str, str]]) -> Iterator[str]:
    """A line for each answer without rows or values: a text that asks for the wrong thing often finds nothing."""
    for scenario in suite.scenarios:
        for step in _queries(scenario):
            if not isinstance(step.answer, SqlAnswer) or step.parameters:
                continue
            answer = read_answers(Path(answers[scenario.name][step.name]))[0]
            columns = [column for name, column in zip(answer.column_names, answer.columns, strict=True) if name != RANK]
            if columns and all(column.null_count == len(column) for column in columns):
                yield f"{step.name}: its answer has no {'values' if answer.num_rows else 'rows'}; is that what its SQL means to ask?"


def _queries(scenario: Scenario) -> list[QueryStep]:
    return [step for step in scenario.steps if isinstance(step, QueryStep)]


def _computed(
    suite: Suite,
    scenario: Scenario,
    queries: Sequence[QueryStep],
    datasets: Mapping[str, Files],
    folder: Path,
    memory: int | None,
) -> dict[str, str]:
    name = scenario.dataset
    found = computed(queries, scenario.steps, suite.datasets[name], datasets[name], folder, memory)
    return {step: str(path.resolve()) for step, path in found.items()}
