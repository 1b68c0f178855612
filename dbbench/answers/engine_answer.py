"""`python -m dbbench.answers.engine_answer `: what an engine returns for a query, computed in a process of its own.

It loads the dataset into an empty database in a temporary folder, runs the query once, and writes the rows as Arrow. The
request is JSON on standard input.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from dbbench.answers import child
from dbbench.answers.compare import as_table
from dbbench.answers.stored import write_answers
from dbbench.datasets.cache import Files
from dbbench.datasets.driver_rows import chunk
from dbbench.engine import registry
from dbbench.engine.operations import prepared
from dbbench.engine.setup import Setup
from dbbench.engine.sql.session import SQLEngine
from dbbench.errors import DbbenchError, UserError
from dbbench.host.processes import end_with_parent
from dbbench.suite.dataset import Dataset
from dbbench.suite.model import Tier


@dataclass(frozen=True)
class Request:
    """What the process is to do."""

    engine: str
    dataset: Dataset
    files: Path
    sql: str
    dialects: Mapping[str, str]
    out: Path


REQUEST = TypeAdapter(Request)


def compute(engine: str, dataset: Dataset, files: Files, sql: str, dialects: Mapping[str, str], out: Path) -> None:
    """Write the engine's answer to `out`. Raises UserError, with what the engine said, if there is none."""
    request = Request(engine, dataset, files.directory.resolve(), sql, dialects, out.resolve())
    if failed := child.run("dbbench.answers.engine_answer", REQUEST.dump_json(request)):
        raise UserError(f"the engine {engine} gives no answer: {failed}")


def main(request: Request) -> None:
    """Load, run, write."""
    kind = registry.load(request.engine)
    if not issubclass(kind, SQLEngine):
        raise UserError(f"{request.engine} runs no SQL, so it can't be a reference")
    dataset, files = request.dataset, Files(request.files)
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
        sql = engine.sql.translate(request.dialects.get(engine.info().dialect, request.sql), dataset.tables)
        answer = as_table(prepared(engine, session, "query")(sql)())
        write_answers([answer], request.out)
        session.close()
    finally:
        engine.close()


if __name__ == "__main__":
    end_with_parent()
    try:
        main(REQUEST.validate_json(sys.stdin.buffer.read()))
    except Exception as exc:  # whatever a driver raises: the last line of stderr is what the user reads
        text = str(exc) if isinstance(exc, DbbenchError) else f"{type(exc).__name__}: {exc}"
        print(" ".join(text.split()), file=sys.stderr)
        sys.exit(1)
