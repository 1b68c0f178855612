"""What the reference is asked, and the process of its own that answers: `dbbench.answers.reference`.

Nothing here loads DataFusion: a worker that asks stays as small as it is.
"""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import Annotated, Any

import psutil
from pydantic import PlainSerializer, TypeAdapter

from dbbench.answers import child
from dbbench.answers.stored import refusal, write_answers
from dbbench.datasets.cache import Files
from dbbench.host.kept_folder import MAKING
from dbbench.suite.dataset import Table

#: How the reason begins where a query needs more memory than the reference may take.
MORE_MEMORY = "it needs more than"


def _plain(value: object) -> object:
    """A value of a parameter as JSON has it."""
    if isinstance(value, Decimal):
        return {"number": str(value)}
    return value if value is None or isinstance(value, int | float) else str(value)


@dataclass(frozen=True)
class Question:
    """A query, with values of its parameters; None puts a null in the place of each.

    `ordered` overrides what the text says of its order. `changes` are statements that were called before it, and how often.
    `without` leaves one row out on which the answer depends, drawn by this text; which it is stands in the answer's file.
    """

    sql: str
    ordered: bool | None = None
    parameters: Mapping[str, Annotated[Any, PlainSerializer(_plain)]] | None = field(default_factory=dict)
    changes: Sequence[tuple[str, int]] = ()
    without: str = ""


@dataclass(frozen=True)
class Request:
    """What the process is to answer, in a pool of `memory` bytes, and the file of each answer. It spills to a folder."""

    tables: Mapping[str, Table]
    files: Path
    questions: Sequence[Question]
    memory: int
    spill: Path
    out: Sequence[Path]


REQUEST = TypeAdapter(Request)


def compute(
    questions: Sequence[Question], tables: Mapping[str, Table], files: Files, out: Path, memory: int | None = None
) -> list[Path]:
    """The file of each answer, or of why there is none, in `out`; in a pool of `memory` bytes, or a quarter of the machine's."""
    memory = memory or psutil.virtual_memory().total // 4
    paths = [out / f"{number}.arrow" for number in range(len(questions))]
    while left := [path for path in paths if not path.exists()]:
        with tempfile.TemporaryDirectory(prefix=MAKING, dir=files.directory.parent) as spill:
            request = Request(
                tables,
                files.directory.resolve(),
                questions,
                memory,
                Path(spill).resolve(),
                [path.resolve() for path in paths],
            )
            failed = child.run("dbbench.answers.reference", REQUEST.dump_json(request))
        if failed:  # the one that it was at; those after it are asked again
            at = next((path for path in left if not path.exists()), None)
            if at is not None:
                write_answers([refusal(failed)], at)
    return paths
