"""The data of a run and the answers to its queries: drawn, read, computed, or found again; and room for it."""

import shutil
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path

from dbbench.answers.given import answers_of as computed
from dbbench.answers.stored import RANK, kept_answer, read_answers
from dbbench.datasets.cache import Files, kept, materialise
from dbbench.errors import UserError
from dbbench.host.apart import apart
from dbbench.results.run_directory import Run
from dbbench.suite.answer import AnswerFile, EngineAnswer, SqlAnswer
from dbbench.suite.model import Scenario, Suite
from dbbench.suite.steps.query import QueryStep

#: Free bytes that a run wants besides the size of its data as CSV. What an engine makes of the data nobody knows
#: before: a trial is ended before the disk is full.
_ROOM = 2**24


def draw(suite: Suite, scale: float, seed: int, folder: Path) -> dict[str, Files]:
    """The suite's datasets, from the cache, or drawn or read now. Files are looked for in `folder`."""
    found = {}
    for name, dataset in suite.datasets.items():
        draw_it = partial(materialise, dataset, scale=scale, seed=seed, folder=folder)
        found[name] = apart(f"a file of the dataset {name}", draw_it) if dataset.sources else draw_it()
    return found


def drawn_again(run: Run) -> dict[str, Files]:
    """A run's datasets. What came from files is taken from the cache: paths in a run directory are not followed."""
    found = {}
    for name, dataset in run.suite.datasets.items():
        if dataset.sources:
            known = run.manifest.datasets.get(name)
            found[name] = kept(str(known.get("key", "")) if known else "")
        else:
            found[name] = materialise(dataset, scale=run.manifest.scale, seed=run.manifest.seed)
    return found


def facts_of(files: Files) -> dict[str, object]:
    """What a run directory keeps of a dataset."""
    manifest = files.manifest
    rows = {name: table["rows"] for name, table in manifest["tables"].items()}
    return {"rows": rows, "csv_bytes": manifest["csv_bytes"], "key": files.directory.name}


def check_room(out: Path, datasets: Mapping[str, Files]) -> None:
    """Raise UserError if there is no room for a run at `out` with these data."""
    needed = _ROOM + sum(files.manifest["csv_bytes"] for files in datasets.values())
    free = shutil.disk_usage(existing(out)).free
    if free < needed:
        raise UserError(
            f"{existing(out)} has {free / 1e6:,.0f} MB free, and this run needs {needed / 1e6:,.0f} MB or more; "
            "make room, name another place with --out, or choose a smaller --scale"
        )


def existing(path: Path) -> Path:
    """The nearest folder that exists."""
    return path if path.is_dir() else next(parent for parent in path.absolute().parents if parent.is_dir())


def answers_of(
    suite: Suite, datasets: Mapping[str, Files], folder: Path, memory: int | None
) -> dict[str, dict[str, str]]:
    """The files of the answers that are known before the run, computed now if they aren't in the cache yet.

    The reference takes about `memory` bytes at most, or a quarter of the machine's.
    """
    return {each.name: _computed(suite, each, _queries(each), datasets, folder, memory) for each in suite.scenarios}


def answers_again(run: Run, datasets: Mapping[str, Files]) -> dict[str, dict[str, str]]:
    """The answers of a run. What isn't computed from the dataset comes from the cache: no path of a run is followed."""
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
                what = "values" if answer.num_rows else "rows"
                yield f"{step.name}: its expected answer has no {what}; check its SQL"


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
