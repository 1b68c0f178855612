"""Engines that agree: each answer is compared with one of every group so far, and founds a group of its own if none fits.

Trials run one after another, so that no two found a group at once.
"""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.ipc

from dbbench.answers.compare import check_batches
from dbbench.answers.stored import read_answer
from dbbench.errors import WrongAnswer
from dbbench.host import plain_file

#: An answer that agrees with nobody founds a group; an engine that never gives the same twice founds many.
_MOST_GROUPS = 100


def group(answer: pa.Table, folder: Path, *, ordered: bool) -> int:
    """The number of the group, from 1, whose answer is the same by the rules of `compare`.

    Raises WrongAnswer if there are too many groups.
    """
    for number in range(1, _MOST_GROUPS + 1):
        path = plain_file.inside(folder, f"{number}.arrow")
        if not path.exists():
            sink = pa.BufferOutputStream()
            with pa.ipc.new_file(sink, answer.schema) as writer:
                writer.write_table(answer)
            plain_file.write(path, sink.getvalue().to_pybytes(), durable=True)
            return number
        if _same(answer, read_answer(path), ordered=ordered):
            return number
    raise WrongAnswer(f"more than {_MOST_GROUPS} different answers so far")


def _same(answer: pa.Table, other: pa.Table, *, ordered: bool) -> bool:
    try:
        check_batches(answer.to_batches(), other, ordered=ordered)
    except WrongAnswer:
        return False
    return True
