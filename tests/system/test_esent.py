"""ESENT's C interface: a library that isn't there, isn't whole or is of stubs; layouts; errors; commits."""

import ctypes
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from dbbench.engine.base import Session, Setup
from dbbench.errors import Unavailable
from dbbench.runs.begin import new_run
from dbbench.runs.request import Request
from dbbench.runs.runner import run_trials
from dbbench.suite.dataset import Records
from dbbench.suite.model import Tier
from dbbench_plugins.esent import ESENT
from dbbench_plugins.esent.library import CALLS, LIBRARY, ColumnDefinition, ESENTError, RetrieveColumn
from tests import esent
from tests.conftest import Dbbench
from tests.trials_here import without_null_engine

pytestmark = pytest.mark.matrix

Opened = tuple[ESENT, Session]


@pytest.fixture
def library(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> ctypes.CDLL:
    path = esent.library(tmp_path_factory.getbasetemp())
    monkeypatch.setenv(LIBRARY, str(path))
    return ctypes.CDLL(str(path))


@pytest.fixture
def opened(library: ctypes.CDLL, tmp_path: Path) -> Iterator[Opened]:
    engine = ESENT(Setup(tmp_path, Tier.MEMORY))
    engine.open()
    engine.create_store(Records(count=100, key_bytes=8, value_bytes=32))
    yield engine, engine.connect()
    engine.close()


@pytest.mark.skipif(sys.platform == "win32", reason="it is there on Windows")
def test_it_is_a_part_of_windows(dbbench_here: Dbbench) -> None:
    told = dbbench_here("engines", "esent").stdout
    assert "unavailable" in told
    assert "esent.dll is a part of Windows, and this is" in told
    assert "not run against Windows" in told


@pytest.mark.parametrize("name", ["libm.so.6", "nowhere.so", __file__])
def test_another_library_is_refused(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(LIBRARY, name)
    with pytest.raises(Unavailable, match="can't be used"):
        ESENT.available()


def test_stubs_that_end_the_process_are_found_out_before_a_run(dbbench_here: Dbbench, tmp_path: Path) -> None:
    """As Wine's do."""
    esent.compiler()
    stubs = "".join(f"int {name}(void) {{ abort(); }}\n" for name in CALLS)
    (tmp_path / "stubs.c").write_text("#include <stdlib.h>\n" + stubs)
    subprocess.run(["gcc", "-shared", "-fPIC", "-o", "stubs.so", "stubs.c"], cwd=tmp_path, check=True)
    told = dbbench_here("engines", "esent", **{LIBRARY: str(tmp_path / "stubs.so")}).stdout
    assert "broken" in told
    assert "signal 6" in told


def test_structures_are_laid_out_as_in_the_header() -> None:
    """Of 64 bits, with members at multiples of their size."""
    offsets = [getattr(ColumnDefinition, name).offset for name, _ in ColumnDefinition._fields_]
    assert (offsets, ctypes.sizeof(ColumnDefinition)) == ([0, 4, 8, 12, 14, 16, 18, 20, 24], 28)
    offsets = [getattr(RetrieveColumn, name).offset for name, _ in RetrieveColumn._fields_]
    assert (offsets, ctypes.sizeof(RetrieveColumn)) == ([0, 8, 16, 20, 24, 28, 32, 36, 40], 48)


def test_keys_of_8_bytes_are_numbers_in_the_order_of_their_bytes(opened: Opened, tmp_path: Path) -> None:
    engine, session = opened
    keys = [bytes(8), b"\x7f" + b"\xff" * 7, b"\x80" + bytes(7), b"\xff" * 8]
    insert = session.prepare_insert()
    for key in reversed(keys):
        insert(key, key * 4)
    assert [key for key, _ in session.prepare_scan()()] == keys
    assert session.prepare_seek()(bytes(7) + b"\x01") == (keys[1], keys[1] * 4)
    with pytest.raises(ValueError, match="7 bytes instead of 8"):
        insert(bytes(7), b"value")
    engine.close()
    again = ESENT(Setup(tmp_path, Tier.POWER))
    again.open()
    assert again.connect().prepare_read()(keys[2]) == keys[2] * 4
    again.close()


def test_errors_have_a_name_and_leave_the_session_usable(opened: Opened) -> None:
    _, session = opened
    insert = session.prepare_insert()
    insert(b"the key!", b"first")
    with pytest.raises(ESENTError, match=r"error -1605 \(duplicate key\)"):
        insert(b"the key!", b"second")
    with pytest.raises(ESENTError, match=r"error -1601 \(record not found\)"):
        session.prepare_update()(b"no key!!", b"value")
    with pytest.raises(ESENTError, match="-1605"):
        session.prepare_insert_many()([(b"another!", b"1"), (b"the key!", b"2")])
    assert list(session.prepare_scan()()) == [(b"the key!", b"first")]
    insert(b"another!", b"third")
    assert session.prepare_read()(b"another!") == b"third"


@pytest.mark.parametrize(("tier", "waited", "lazy"), [(Tier.POWER, 4, 0), (Tier.PROCESS, 4, 0), (Tier.MEMORY, 1, 3)])
def test_a_commit_waits_for_the_log_as_the_tier_asks(
    library: ctypes.CDLL, tmp_path: Path, tier: Tier, waited: int, lazy: int
) -> None:
    """One of them makes the table."""
    counts = (ctypes.c_uint32 * 2).in_dll(library, "fake_commits")
    counts[0] = counts[1] = 0
    engine = ESENT(Setup(tmp_path, tier))
    engine.open()
    session = engine.connect()
    session.prepare_insert()(b"key", b"value")
    session.prepare_update_many()([(b"key", b"other"), (b"key", b"third")])
    session.prepare_delete()(b"key")
    engine.close()
    assert list(counts) == [waited, lazy]


def test_a_cache_is_larger_than_the_records(opened: Opened) -> None:
    engine, _ = opened
    assert engine.settings()["cache_mib"] >= 64
    assert engine.settings() | {"cache_mib": 0} == {
        "page_kib": 8, "cache_mib": 0, "log_file_mib": 16, "log_buffer_mib": 8, "circular_log": True, "commit": "lazy",
    }  # fmt: skip


def test_the_suite_runs(library: ctypes.CDLL, tmp_path: Path) -> None:
    """All of it, on few records; every answer is right."""
    ready = new_run(Request("esent", ["esent"], rounds=1, scale=0.002, out=tmp_path / "run"))
    run_trials(without_null_engine(ready))
    (result,) = ready.run.results()
    found = {step.name: step.outcome for step in result.steps}
    assert found == dict.fromkeys(["insert", "database-size", "read-one", "scan", "seek"], "ok")
