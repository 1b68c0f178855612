"""What an engine returns for a query, computed in a process of its own.

It loads the dataset into an empty database in a temporary folder, runs the query once, and writes the rows as Arrow.
"""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa

from dbbench.answers import child
from dbbench.answers.compare import as_table
from dbbench.answers.stored import read_answers, write_answers
from dbbench.datasets.cache import Files
from dbbench.datasets.driver_rows import chunk
from dbbench.engine import registry
from dbbench.engine.operations import prepared
from dbbench.engine.setup import Setup
from dbbench.engine.sql.session import SQLEngine
from dbbench.errors import DbbenchError, UserError
from dbbench.suite.dataset import Dataset
from dbbench.suite.model import Tier


def compute(engine: str, dataset: Dataset, files: Files, sql: str, dialects: Mapping[str, str]) -> pa.Table:
    """The engine's answer. Raises UserError, with what the engine said, if there is none."""
    with tempfile.TemporaryDirectory(prefix="dbbench-answer-") as folder:
        out = Path(folder).resolve() / "answer.arrow"
        if failed := child.run(partial(_main, engine, dataset, files.directory.resolve(), sql, dialects, out)):
            raise UserError(f"the engine {engine} gives no answer: {failed}")
        return read_answers(out)[0]


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
