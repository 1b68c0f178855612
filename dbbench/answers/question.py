"""What the reference is asked, and the process of its own that answers.

Nothing here loads DataFusion: a worker that asks stays as small as it is.
"""

import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import psutil

from dbbench.answers.stored import refusal, write_answers
from dbbench.datasets.cache import Files
from dbbench.host import apart
from dbbench.host.kept_folder import MAKING
from dbbench.suite.dataset import Table

#: How the reason begins where a query needs more memory than the reference may take.
MORE_MEMORY = "it needs more than"


@dataclass(frozen=True)
class Question:
    """A query, with values of its parameters; None puts a null in the place of each.

    `ordered` overrides what the text says of its order. `changes` are statements that were called before it, and how
    often. `without` leaves one row out on which the answer depends, drawn by this text; which it is stands in the
    answer's file.
    """

    sql: str
    ordered: bool | None = None
    parameters: Mapping[str, Any] | None = field(default_factory=dict)
    changes: Sequence[tuple[str, int]] = ()
    without: str = ""


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
