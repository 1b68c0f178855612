"""`python -m dbbench.answers.reference REQUEST`: what an engine returns for a query, computed in a process of its own.

It loads the dataset into an empty database in a temporary folder, runs the query once, and writes the rows as Arrow. The
request is JSON: engine, dataset, files, sql, dialects, and where the answer goes.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.ipc

from dbbench.answers.compare import as_table
from dbbench.datasets.cache import Files
from dbbench.datasets.driver_rows import chunk
from dbbench.engine import registry
from dbbench.engine.operations import prepared
from dbbench.engine.setup import Setup
from dbbench.engine.sql.session import SQLEngine
from dbbench.errors import DbbenchError, UserError
from dbbench.host.processes import end_with_parent, ended, environment, python, stop_with_its_own
from dbbench.message import cleaned
from dbbench.suite.dataset import Dataset
from dbbench.suite.model import Tier

#: Longest that an answer may take, in seconds.
LIMIT = 3600.0
#: How long its server then has to end, in seconds.
_GRACE = 5.0


def compute(engine: str, dataset: Dataset, files: Files, sql: str, dialects: Mapping[str, str], out: Path) -> None:
    """Write the engine's answer to `out`. Raises UserError, with what the engine said, if there is none."""
    request = {
        "engine": engine,
        "dataset": dataset.model_dump(mode="json"),
        "files": str(files.directory.resolve()),
        "sql": sql,
        "dialects": dict(dialects),
        "out": str(out.resolve()),
    }
    with tempfile.TemporaryDirectory(prefix="dbbench-reference-") as folder:
        status, words = _run(python("dbbench.answers.reference", json.dumps(request)), folder)
    if status is None:
        raise UserError(f"the reference engine {engine} took more than {LIMIT:g} s for its answer")
    if status:
        said = cleaned(words.strip().splitlines()[-1] if words else "", 1_000)
        raise UserError(f"the reference engine {engine} gives no answer: {said or f'exit status {status}'}")


def _run(command: Sequence[str], folder: str) -> tuple[int | None, str]:
    """A program's exit status, None if it had to be ended at the limit, and what it wrote to standard error.

    A server of its own is asked to end before it is: else the kernel would kill the server, and its memory would stay.
    """
    with (
        tempfile.TemporaryFile() as said,
        subprocess.Popen(
            command, cwd=folder, env=environment(TMPDIR=folder), stdout=subprocess.DEVNULL, stderr=said
        ) as child,
    ):
        try:
            if not ended(child, LIMIT):
                return None, ""
            said.seek(0)
            return child.returncode, said.read().decode("utf-8", "replace")
        finally:
            if child.poll() is None:
                stop_with_its_own(child, _GRACE)


def main(request: dict[str, Any]) -> None:
    """Load, run, write."""
    kind = registry.load(request["engine"])
    if not issubclass(kind, SQLEngine):
        raise UserError(f"{request['engine']} runs no SQL, so it can't be a reference")
    dataset = Dataset.model_validate(request["dataset"])
    files = Files(Path(request["files"]))
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
        sql = engine.sql.translate(request["dialects"].get(engine.info().dialect, request["sql"]), dataset.tables)
        answer = as_table(prepared(engine, session, "query")(sql)())
        with pa.OSFile(request["out"], "wb") as file, pa.ipc.new_file(file, answer.schema) as writer:
            writer.write_table(answer)
        session.close()
    finally:
        engine.close()


if __name__ == "__main__":
    end_with_parent()
    try:
        main(json.loads(sys.argv[1]))
    except Exception as exc:  # whatever a driver raises: the last line of stderr is what the user reads
        text = str(exc) if isinstance(exc, DbbenchError) else f"{type(exc).__name__}: {exc}"
        print(" ".join(text.split()), file=sys.stderr)
        sys.exit(1)
