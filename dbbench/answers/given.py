"""The answers of a suite's queries: a file of rows for each, before the first trial."""

from __future__ import annotations

import tempfile
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.ipc
import pyarrow.parquet as pq

from dbbench.answers import reference
from dbbench.answers.in_parts import answer_file
from dbbench.answers.stored import stored
from dbbench.datasets.cache import Files
from dbbench.datasets.generate import arrow_type
from dbbench.datasets.own_files import PARQUET, csv_names, files_of, open_csv, refusals
from dbbench.errors import UserError
from dbbench.host import plain_file
from dbbench.suite.answer import Answer, AnswerFile, EngineAnswer, GivenRows
from dbbench.suite.data_types import TypeText, parse_type
from dbbench.suite.dataset import Dataset
from dbbench.suite.steps.query import QueryStep


def answer_of(step: QueryStep, dataset: Dataset, files: Files, folder: Path) -> Path | None:
    """The file of the rows that a query must return; None if the suite doesn't say. Files are looked for in `folder`.

    Raises UserError for rows that don't fit their types, files that can't be read, and a reference engine that fails.
    """
    answer = step.expected_answer
    if answer is None:
        return None
    if isinstance(answer, GivenRows | AnswerFile) and files.manifest["scale"] != 1:
        raise UserError(f"the answer of {step.name} is given as rows, which are right at scale 1 only; omit --scale")
    identity: list[object] = [answer.model_dump(mode="json")]
    match answer:
        case Answer():
            return answer_file(answer, files)
        case GivenRows():
            return stored(identity, lambda: [_given(answer, step.name)], files)
        case AnswerFile():
            (path, *more) = files_of(answer.file, folder)
            if more:
                raise UserError(f"the answer of {step.name} is one file, and {answer.file} names {1 + len(more)}")
            return stored([*identity, plain_file.digest(path)], lambda: [_read(path, answer)], files)
        case EngineAnswer():
            said = [step.sql, step.dialects]
            return stored([*identity, *said], lambda: [_asked(answer, step, dataset, files)], files)


def _given(answer: GivenRows, step: str) -> pa.Table:
    columns = list(zip(*answer.rows, strict=True)) or [()] * len(answer.columns)
    arrays = [
        _column(values, text, f"the answer of {step}, column {name}")
        for (name, text), values in zip(answer.columns.items(), columns, strict=True)
    ]
    return pa.table(arrays, list(answer.columns))


def _column(values: Any, text: TypeText, what: str) -> pa.Array:
    kind = arrow_type(parse_type(text))
    try:
        if pa.types.is_decimal(kind):
            values = [None if value is None else Decimal(str(value)) for value in values]
            return pa.array(values, pa.decimal128(38, kind.scale)).cast(kind)
        if pa.types.is_temporal(kind):
            return pa.array([None if value is None else str(value) for value in values], pa.string()).cast(kind)
        return pa.array(values, kind)
    except (pa.ArrowInvalid, pa.ArrowTypeError, InvalidOperation, TypeError, OverflowError) as exc:
        raise UserError(f"{what}: {exc}") from exc


def _read(path: Path, answer: AnswerFile) -> pa.Table:
    with refusals(path):
        if path.suffix.lower() in PARQUET:
            return pq.read_table(path)
        names = csv_names(path)
        if names != list(answer.columns):
            raise UserError(
                f"{path} has the columns {', '.join(names)}; the suite must name them with their types: "
                "answer: {file: ..., columns: {...}}"
            )
        kinds = {name: arrow_type(parse_type(text)) for name, text in answer.columns.items()}
        return open_csv(path, column_types=kinds).read_all()


def _asked(answer: EngineAnswer, step: QueryStep, dataset: Dataset, files: Files) -> pa.Table:
    with tempfile.TemporaryDirectory(prefix="dbbench-answer-") as folder:
        out = Path(folder) / "answer.arrow"
        reference.compute(answer.engine, dataset, files, step.sql, step.dialects, out)
        with pa.OSFile(str(out), "rb") as source, pa.ipc.open_file(source) as reader:
            return reader.read_all()
