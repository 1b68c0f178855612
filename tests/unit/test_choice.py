"""Which engines a run has, if nobody named them."""

import pytest

from dbbench.engine.probe import Probed
from dbbench.run.choice import partition
from dbbench.suite.loader import find_suite, load_suite

RECORDS = ["insert", "read", "update"]
PROBED = {
    "null": Probed("null", "available", ranked=False, operations=[*RECORDS, "query"]),
    "tree": Probed("tree", "available", gives="rows", operations=RECORDS),
    "file": Probed("file", "available", gives="rows", operations=RECORDS, blocks=True),
    "tables": Probed("tables", "available", operations=["load", "query"]),
}


@pytest.mark.parametrize(
    ("suite", "named", "run", "idle"),
    [
        ("bplustree", (), {"tree", "null"}, ["file", "tables"]),
        ("bplustree", ("file",), {"tree", "file", "null"}, ["tables"]),
        ("virtual-file", (), {"tree", "file", "null"}, ["tables"]),
    ],
)
def test_a_file_of_blocks_takes_part_where_keys_are_their_numbers(
    suite: str, named: tuple[str, ...], run: set[str], idle: list[str]
) -> None:
    engines, absent, left_out = partition(PROBED, named, load_suite(find_suite(suite)))
    assert {*engines} == run
    assert left_out == [*absent] == idle
