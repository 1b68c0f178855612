"""Which engines a run has, if nobody named them."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import Mock

import pytest

from dbbench.engine.probe import Probed
from dbbench.host import interference
from dbbench.runs import choice
from dbbench.runs.choice import partition
from dbbench.runs.request import Request
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


@pytest.mark.parametrize(("out", "looked_at"), [(None, "dbbench-runs"), (Path("mine/run"), "mine")])
def test_the_disk_that_is_looked_at_is_that_of_the_run(
    out: Path | None, looked_at: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for name in ("dbbench-runs", "mine"):
        (tmp_path / name).mkdir()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(interference, "before", look := Mock(return_value={}))
    monkeypatch.setattr(choice, "probe", lambda *_: {})
    releases: Any = SimpleNamespace(folders={}, missing={}, facts={})
    choice._looked_at([], {}, Request("s", out=out), releases)
    (folder,) = look.call_args.args
    assert folder.absolute() == tmp_path / looked_at
