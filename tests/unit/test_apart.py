"""Calls in a process of their own, which may end in any way."""

import os
import signal
import sys
from functools import partial
from pathlib import Path

import pytest

from dbbench.datasets.own_files import files_of
from dbbench.errors import UserError
from dbbench.host.apart import apart
from tests.conftest import Dbbench


def test_a_call_gives_what_it_gives_and_raises_what_it_raises(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "a.csv").write_text("x")
    assert apart("it", partial(files_of, "a.csv", tmp_path)) == [tmp_path / "a.csv"]
    with pytest.raises(UserError, match=r"there is no file .*b\.csv; paths are relative"):
        apart("it", partial(files_of, "b.csv", tmp_path))
    assert apart("it", partial(print, "from a library")) is None
    assert capfd.readouterr() == ("", "from a library\n")


@pytest.mark.parametrize(
    ("call", "reason"),
    [
        (os.abort, "its reader was ended by SIGABRT"),
        (partial(signal.raise_signal, 35), "its reader was ended by signal 35"),
        (partial(sys.exit, 3), "exit status 3"),
        (partial(int, "x"), "ValueError: invalid literal .*"),
    ],
)
def test_a_process_that_ends_is_a_file_that_cant_be_read(call: partial[object], reason: str) -> None:
    with pytest.raises(UserError, match=rf"^t\.parquet can't be read: {reason}; it may be damaged: write it anew$"):
        apart("t.parquet", call)


SUITE = """
dbbench: 1
name: s
title: S
description: Rows of a file.
datasets: {d: {tables: {t: {rows: {file: t.parquet}, primary_key: id, columns: {id: {type: integer}}}}}}
scenarios: [{name: s, title: S, dataset: d, steps: [{kind: load, name: load, title: Load}]}]
"""


@pytest.mark.parametrize(
    "arguments",
    [
        ["import", "t.parquet", "--suite", "i.yaml"],
        ["check", "s.yaml"],
        ["suite", "s.yaml", "-e", "sqlite"],
        ["dataset", "s.yaml", "--out", "o"],
    ],
)
def test_a_damaged_file_that_ends_its_reader_does_not_end_dbbench(
    arguments: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, dbbench_here: Dbbench
) -> None:
    """The reader has a pyarrow that aborts, as the real one does on some files."""
    monkeypatch.chdir(tmp_path)
    Path("s.yaml").write_text(SUITE)
    Path("t.parquet").write_bytes(b"PAR1")
    Path("sitecustomize.py").write_text(
        "import os, pyarrow.parquet as pq\npq.ParquetFile = pq.read_schema = lambda *_: os.abort()\n"
    )
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    done = dbbench_here(*arguments, status=2)
    assert "can't be read: its reader was ended by SIGABRT; it may be damaged" in done.stderr
