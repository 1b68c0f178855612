"""The process of its own in which the reference answers.

Nothing here loads DataFusion: a worker that asks stays as small as it is.
"""

import tempfile
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import psutil

from dbbench.answers.stored import Question, refusal, write_answers
from dbbench.datasets.cache import Files
from dbbench.host import apart
from dbbench.host.kept_folder import MAKING
from dbbench.suite.dataset import Table


def compute(
    questions: Sequence[Question], tables: Mapping[str, Table], files: Files, out: Path, memory: int | None = None
) -> list[Path]:
    """The file of each answer, or why there is none, in `out`. The pool has `memory` bytes, or a quarter of all."""
    memory = memory or psutil.virtual_memory().total // 4
    paths = [out.resolve() / f"{number}.arrow" for number in range(len(questions))]
    while left := [path for path in paths if not path.exists()]:
        with tempfile.TemporaryDirectory(prefix=MAKING, dir=files.directory.parent.resolve()) as spill:
            answer = partial(_answer, questions, tables, files.directory.resolve(), memory, spill, paths)
            failed = apart.run(answer)
        if failed:  # the one that it was at; those after it are asked again
            at = next((path for path in left if not path.exists()), None)
            if at is not None:
                write_answers([refusal(failed)], at)
    return paths


def _answer(*request: Any) -> None:
    from dbbench.answers import reference  # loads DataFusion

    reference.main(*request)
