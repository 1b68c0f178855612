"""The answers of a suite's queries: a file of rows each, before the first trial. Engines answer in other processes."""

import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, replace
from functools import cache, partial
from importlib import metadata
from pathlib import Path
from typing import Any

import pyarrow as pa

from dbbench.answers.compare import as_table
from dbbench.answers.question import compute
from dbbench.answers.stored import (
    FINAL,
    MORE_MEMORY,
    Question,
    find,
    read_answers,
    refusal,
    refused,
    said,
    stored,
    write_answers,
)
from dbbench.datasets.cache import Files
from dbbench.datasets.driver_rows import chunk
from dbbench.datasets.generate import arrow_type
from dbbench.datasets.own_files import PARQUET, csv_names, files_of, read_csv, refusals
from dbbench.engine import registry
from dbbench.engine.base import Setup
from dbbench.engine.offered import prepared
from dbbench.engine.probe import probe
from dbbench.engine.sql.session import SQLEngine
from dbbench.errors import DbbenchError, UserError
from dbbench.host import apart, plain_file
from dbbench.suite.answer import AnswerFile, EngineAnswer, GivenRows, SqlAnswer
from dbbench.suite.changes import Changes, before
from dbbench.suite.data_types import parse_type
from dbbench.suite.dataset import Dataset, Table
from dbbench.suite.model import Tier
from dbbench.suite.steps.base import Step
from dbbench.suite.steps.query import QueryStep

#: Bytes of a dataset above which no answer is computed without a row.
MOST_BYTES = 2**28


def answers_of(
    queries: Sequence[QueryStep],
    steps: Sequence[Step],
    dataset: Dataset,
    files: Files,
    folder: Path,
    memory: int | None = None,
) -> dict[str, Path]:
    """The file of the rows that each query must return, by the step's name; without those that the suite leaves open.

    `steps` are all of the scenario. Files are looked for in `folder`. Raises UserError for rows that don't fit their
    types, files that can't be read, and an engine that fails.
    """
    found, asked = dict[str, Path](), dict[str, QueryStep]()
    changes = {step.name: before(step, steps) for step in queries if isinstance(step.answer, SqlAnswer | EngineAnswer)}
    for step in queries:
        if step.name in changes and (why := changes[step.name].unknown):
            found[step.name] = stored([why], partial(write_answers, [refusal(why)]), files)
        elif isinstance(step.answer, SqlAnswer):
            asked[step.name] = step
        elif path := _answer_of(step, dataset, files, folder):
            found[step.name] = path
    questions = [question(step, changes[name].statements) for name, step in asked.items()]
    # Kept for the check of stale answers, which asks for them at the end of a trial.
    more = [without for step in asked.values() if (without := without_a_row(step, changes[step.name], files))]
    paths = by_reference([*questions, *more], dataset.tables, files, memory)
    return found | dict(zip(asked, paths, strict=False))


def without_a_row(step: QueryStep, changes: Changes, files: Files) -> Question | None:
    """The question with one row left out; None for much data, for parameters, and after other changes than INSERTs."""
    manifest = files.manifest
    changed = changes.unknown or any(sql.lstrip()[:6].upper() != "INSERT" for sql, _ in changes.statements)
    if step.parameters or changed or sum(file["bytes"] for file in manifest["files"].values()) > MOST_BYTES:
        return None
    return replace(question(step, changes.statements), without=f"{manifest['seed']} {step.name}")


def question(step: QueryStep, changes: Sequence[tuple[str, int]] = ()) -> Question:
    """The question for the reference. Before its calls only the columns of a query with parameters are known."""
    assert isinstance(step.answer, SqlAnswer)
    return Question(step.answer.sql or step.sql, step.answer.ordered, None if step.parameters else {}, changes)


def by_reference(
    questions: Sequence[Question], tables: Mapping[str, Table], files: Files, memory: int | None = None
) -> list[Path]:
    """The files of what the reference returns, computed now as far as they aren't in the cache.

    What it couldn't return is asked for again each time, for there may be room on the disk now; but not more memory.
    """
    identities = [_identity(each) for each in questions]
    known = [find(each, files) or find([*each, memory], files) for each in identities]
    if missing := [number for number, path in enumerate(known) if path is None]:
        with tempfile.TemporaryDirectory(prefix="dbbench-answers-") as folder:
            made = compute([questions[number] for number in missing], tables, files, Path(folder), memory)
            for number, path in zip(missing, made, strict=True):
                answers = read_answers(path)
                why = refused(answers)
                again = [why] if why and not said(answers, FINAL) else []
                more = [memory] if why.startswith(MORE_MEMORY) else again
                known[number] = stored([*identities[number], *more], partial(write_answers, answers), files)
    return [path for path in known if path is not None]


def known_answer(question: Question, files: Files) -> Path | None:
    """The file of what the reference returned, or of its last word on why it can't; None if it is not in the cache."""
    return find(_identity(question), files)


def _identity(question: Question) -> list[object]:
    return [metadata.version("datafusion"), asdict(question)]


def _answer_of(step: QueryStep, dataset: Dataset, files: Files, folder: Path) -> Path | None:
    """The file of rows that the suite gives, or another engine."""
    answer, more = step.answer, list[object]()
    if isinstance(answer, GivenRows | AnswerFile) and files.manifest["scale"] != 1:
        raise UserError(f"the answer of {step.name} is given as rows, which are right at scale 1 only; omit --scale")
    match answer:
        case GivenRows():
            rows: Callable[[], pa.Table] = partial(_given, answer, step.name)
        case AnswerFile():
            (path, *others) = files_of(answer.file, folder)
            if others:
                raise UserError(f"the answer of {step.name} is one file, and {answer.file} names {1 + len(others)}")
            rows, more = partial(_read, path, answer), [plain_file.digest(path)]
        case EngineAnswer():
            more = [step.sql, step.dialects, _versions(answer.engine)]
            rows = partial(engine_answer, answer.engine, dataset, files, step.sql, step.dialects)
        case _:
            return None
    identity = [answer.model_dump(mode="json"), *more]
    return stored(identity, lambda file: write_answers([rows()], file), files)


def _given(answer: GivenRows, step: str) -> pa.Table:
    columns = list(zip(*answer.rows, strict=True)) or [()] * len(answer.columns)
    found = {}
    for (name, text), values in zip(answer.columns.items(), columns, strict=True):
        texts = pa.array([None if value is None else str(value) for value in values], pa.string())
        try:
            found[name] = texts.cast(arrow_type(parse_type(text)))
        except pa.ArrowInvalid as exc:
            raise UserError(f"the answer of {step}, column {name}: {exc}") from exc
    return pa.table(found)


def _read(path: Path, answer: AnswerFile) -> pa.Table:
    with refusals(path):
        if path.suffix.lower() in PARQUET:
            import pyarrow.parquet as pq  # here, since no trial needs it

            return pq.read_table(path)
        names = csv_names(path)
        if names != list(answer.columns):
            raise UserError(
                f"{path} has the columns {', '.join(names)}; the suite must name them with their types: "
                "answer: {file: ..., columns: {...}}"
            )
        kinds = {name: arrow_type(parse_type(text)) for name, text in answer.columns.items()}
        return pa.Table.from_batches(read_csv(path, column_types=kinds), pa.schema(kinds))


def engine_answer(engine: str, dataset: Dataset, files: Files, sql: str, dialects: Mapping[str, str]) -> pa.Table:
    """The answer of an engine to a query, in a process of its own. Raises UserError with its words if it fails."""
    with tempfile.TemporaryDirectory(prefix="dbbench-answer-") as folder:
        out = Path(folder).resolve() / "answer.arrow"
        if failed := apart.run(partial(_main, engine, dataset, files.directory.resolve(), sql, dialects, out)):
            raise UserError(f"the engine {engine} gives no answer: {failed}")
        return read_answers(out)[0]


@cache
def _versions(engine: str) -> Mapping[str, str]:
    """Versions of an engine and its driver, as other versions may answer otherwise. Empty if it can't be used."""
    return probe([engine])[engine].versions


def _main(*request: Any) -> None:
    try:
        _answer(*request)
    except DbbenchError:
        raise
    except Exception as exc:  # whatever a driver raises
        raise UserError(" ".join(f"{type(exc).__name__}: {exc}".split())) from exc


def _answer(engine_name: str, dataset: Dataset, source: Path, sql: str, dialects: Mapping[str, str], out: Path) -> None:
    """Load, run, write."""
    kind = registry.load(engine_name)
    if not issubclass(kind, SQLEngine):
        raise UserError(f"{engine_name} runs no SQL, so it can't be a reference")
    files = Files(source)
    directory = Path("data").absolute()
    directory.mkdir(mode=0o700)
    engine = kind(Setup(directory, Tier.MEMORY))
    engine.open()
    try:
        engine.create(dataset.tables)
        session: Any = engine.connect()
        finish = session.prepare_finish(dataset.tables)
        session.begin_load(dataset.tables)
        for name, table in dataset.tables.items():
            insert = prepared(engine, session, "load")(name, table)
            for batch in files.stream(name):
                insert(chunk(batch, table, session.load_format, session.bind))
        for run in finish.values():
            run()
        text = engine.sql.translate(dialects.get(engine.info().dialect, sql), dataset.tables)
        answer = as_table(prepared(engine, session, "query")(text)())
        write_answers([answer], out)
        session.close()
    finally:
        engine.close()
