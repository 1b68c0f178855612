"""Engines that agree: each answer is compared with one of every group so far, and founds a group of its own if none fits.

Trials run one after another, so that no two found a group at once.
"""

from pathlib import Path

import pyarrow as pa

from dbbench.answers.compare import check_batches
from dbbench.answers.stored import read_answers, write_answers
from dbbench.errors import WrongAnswer
from dbbench.host import plain_file

#: An answer that agrees with nobody founds a group; an engine that never gives the same twice founds many.
_MOST_GROUPS = 100


def group(answer: pa.Table, run: Path, scenario: str, step: str) -> int:
    """The number of the group, from 1, whose answer is the same by the rules of `compare`. A run keeps one of each.

    Raises WrongAnswer if there are too many groups.
    """
    folder = plain_file.folder(plain_file.folder(run, "answers"), f"{scenario}-{step}")
    for number in range(1, _MOST_GROUPS + 1):
        path = plain_file.inside(folder, f"{number}.arrow")
        if not path.exists():
            write_answers([answer], path)
            return number
        if _same(answer, read_answers(path)[0]):
            return number
    raise WrongAnswer(f"more than {_MOST_GROUPS} different answers so far")


def _same(answer: pa.Table, other: pa.Table) -> bool:
    try:
        check_batches(answer.to_batches(), other)
    except WrongAnswer:
        return False
    return True
