"""Files of blocks on disks that fill, fail and stop in the middle of a page."""

import contextlib
import errno
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from dbbench.engine import registry
from dbbench.engine.base import Engine, Session, Setup
from dbbench.engine.offered import prepared
from dbbench.errors import Unsupported
from dbbench.host import machine
from dbbench.suite.dataset import Records
from dbbench.suite.model import Tier
from dbbench.testing.suite_text import suite_text
from dbbench_plugins.virtualfile.page import PAGE_BYTES, Layout, TornPage, checked, empty, sealed
from dbbench_plugins.virtualfile.store import DOUBLE, LOG, PAGES, Broken, Store
from tests.conftest import Opened, environment, run_dbbench, small_disk, summary

pytestmark = pytest.mark.matrix

SIZE = 512
SUITE = suite_text(
    "blocks",
    "records: {count: 500, value_bytes: 512}",
    """
    - {kind: keyvalue, name: fill, title: Fill, operation: insert, transaction: 100}
    - {kind: keyvalue, name: read, title: Read, operation: read, order: random}
    - {kind: keyvalue, name: update, title: Update, operation: update, order: random}
    """,
    more="charts: [{kind: overview}]",
)
#: Fails a call on the engine's files, after a number of them, as a disk that breaks does.
FAULT = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int fails(const char *call, int fd) {
    static int seen;
    char link[64], path[4096];
    const char *wanted = getenv("EIO_CALL"), *file = getenv("EIO_FILE");
    if (!wanted || !file || strcmp(wanted, call)) return 0;
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (length < 0) return 0;
    path[length] = 0;
    if (!strstr(path, file)) return 0;
    return __sync_add_and_fetch(&seen, 1) > atoi(getenv("EIO_AFTER"));
}
#define WRAP(name, call, result, buffer)                                       \
    result name(int fd, buffer data, size_t count, off_t offset) {             \
        static result (*real)(int, buffer, size_t, off_t);                     \
        if (!real) real = dlsym(RTLD_NEXT, #name);                             \
        if (fails(call, fd)) { errno = EIO; return -1; }                       \
        return real(fd, data, count, offset);                                  \
    }
WRAP(pread64, "pread", ssize_t, void *)
WRAP(pwrite64, "pwrite", ssize_t, const void *)
int fdatasync(int fd) {
    static int (*real)(int);
    if (!real) real = dlsym(RTLD_NEXT, "fdatasync");
    if (fails("fdatasync", fd)) { errno = EIO; return -1; }
    return real(fd);
}
"""


def key(number: int) -> bytes:
    return number.to_bytes(8, "big")


@pytest.fixture
def store_at(opened: Opened) -> Opened:
    """Opens an engine in a folder, with a new store of `count` blocks or with the store that exists."""

    def run(name: str, folder: Path, tier: Tier = Tier.PROCESS, count: int = 100, **options: int | str) -> Engine:
        there = folder.exists() and any(folder.iterdir())
        engine: Engine = opened(name, tier, folder=folder, **options)
        if not there:
            engine.create_store(Records(count=count, value_bytes=SIZE))
        return engine

    return run


def run(engine: Engine, session: Session, operation: str, *arguments: object) -> object:
    return prepared(engine, session, operation)()(*arguments)


def fill(engine: Engine, session: Session) -> int:
    """Insert blocks until the disk is full; how many came to their end."""
    numbers = iter(range(10_000))

    def insert_all() -> None:
        for number in numbers:
            run(engine, session, "insert", key(number), bytes([number % 255 + 1]) * SIZE)

    with pytest.raises(OSError, match="No space left"):
        insert_all()
    return next(numbers) - 1


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 3 MiB."""
    with small_disk(tmp_path, "3m") as made:
        yield made


# A disk that fills


@pytest.mark.parametrize("name", ["rawfile", "rawfile+dsync", "rawfile+mmap"])
def test_a_raw_file_on_a_full_disk_says_so_and_keeps_what_it_has(name: str, disk: Path, store_at: Opened) -> None:
    engine = store_at(name, disk / "data", Tier.POWER)
    session = engine.connect()
    written = fill(engine, session)
    assert 2 * 2**20 < written * SIZE <= 3 * 2**20
    read = prepared(engine, session, "read")()
    assert all(read(key(number)) == bytes([number % 255 + 1]) * SIZE for number in range(written))


@pytest.mark.parametrize("name", ["rawfile", "rawfile+mmap", "virtualfile"])
def test_a_file_that_does_not_fit_the_disk_is_an_error(name: str, disk: Path, store_at: Opened) -> None:
    with pytest.raises(OSError, match="No space left"):
        store_at(name, disk / "data", count=10_000)


def test_a_virtual_file_on_a_full_disk_loses_nothing_that_it_has_committed(disk: Path, store_at: Opened) -> None:
    engine = store_at("virtualfile", disk / "data", Tier.POWER, log_mib=1)
    session = engine.connect()
    written = fill(engine, session)
    assert written > 1_000
    shutil.copytree(disk / "data", disk.parent / "copy")  # as after a kill, on a larger disk
    with contextlib.suppress(OSError):
        engine.close()
    again = store_at("virtualfile", disk.parent / "copy", Tier.POWER, log_mib=1)
    found = list(run(again, again.connect(), "scan"))  # type: ignore[call-overload]
    assert found == [(key(number), bytes([number % 255 + 1]) * SIZE) for number in range(written)]


@pytest.mark.parametrize("name", ["rawfile+direct", "io_uring"])
def test_what_goes_past_the_cache_refuses_a_file_system_in_memory(name: str, store_at: Opened) -> None:
    if not Path("/dev/shm").is_dir() or machine.file_system(Path("/dev/shm")) != "tmpfs":
        pytest.skip("not run: there is no tmpfs at /dev/shm")
    with tempfile.TemporaryDirectory(dir="/dev/shm") as folder, pytest.raises(Unsupported, match="nothing but memory"):
        store_at(name, Path(folder), Tier.POWER)


def test_blocks_that_the_disk_can_not_write_are_refused(tmp_path: Path) -> None:
    engine = registry.load("rawfile+direct")(Setup(tmp_path, Tier.POWER))
    with pytest.raises(Unsupported, match=r"whole multiples of the disk's [\d,]+ bytes, not 100"):
        engine.create_store(Records(count=10, value_bytes=100))


@pytest.mark.parametrize(
    "name", ["rawfile", "rawfile+dsync", "rawfile+mmap", "rawfile+direct", "io_uring", "virtualfile"]
)
def test_a_file_of_blocks_says_what_the_disk_is_and_which_keys_it_takes(name: str, tmp_path: Path) -> None:
    """Without the file system a figure of blocks says little."""
    engine = registry.load(name)(Setup(tmp_path, Tier.POWER))
    assert machine.file_system(tmp_path) in engine.settings()["disk"]
    with pytest.raises(Unsupported, match="numbers of blocks for keys"):
        engine.create_store(Records(count=10, key_bytes=16, value_bytes=PAGE_BYTES))


# A disk that fails


@pytest.fixture(scope="session")
def fault(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The library that makes calls fail."""
    if shutil.which("gcc") is None:
        pytest.skip("not run: gcc is missing: apt install gcc libc6-dev")
    folder = tmp_path_factory.mktemp("fault")
    (folder / "fault.c").write_text(FAULT, "utf-8")
    command = ["gcc", "-shared", "-fPIC", "-O1", "-o", folder / "fault.so", folder / "fault.c", "-ldl"]
    subprocess.run(command, check=True)
    return folder / "fault.so"


@pytest.mark.parametrize(
    ("name", "call", "file", "after", "step"),
    [
        ("rawfile", "pread", "/blocks.512", 200, "read"),
        ("rawfile", "pwrite", "/blocks.512", 300, "update"),
        ("rawfile", "fdatasync", "/blocks.512", 300, "update"),
        ("rawfile+dsync", "pwrite", "/blocks.512", 300, "update"),
        ("virtualfile", "fdatasync", "/log", 300, "update"),
        ("virtualfile", "pwrite", "/log", 300, "update"),
    ],
)
def test_an_error_of_the_disk_is_a_failed_step(
    fault: Path, tmp_path: Path, name: str, call: str, file: str, after: int, step: str
) -> None:
    (tmp_path / "suite.yaml").write_text(SUITE, "utf-8")
    broken = {"LD_PRELOAD": str(fault), "EIO_CALL": call, "EIO_FILE": file, "EIO_AFTER": str(after)}
    command = ["suite", "suite.yaml", "--quick", "--engine", name, "--format", "csv", "--out", "run"]
    run_dbbench(tmp_path, *command, **broken, status=1)
    rows = summary(tmp_path / "run")
    assert rows[step, name]["outcome"] == "failed"
    assert "Input/output error" in rows[step, name]["detail"]
    assert rows["fill", name]["outcome"] == "ok"


# A process that is killed in the middle

#: Writes block after block, each with a number of its own in all its words; tells each that is committed.
WRITER = """
import sys
from pathlib import Path
from dbbench.engine.base import Setup
from dbbench.suite.model import Tier
from dbbench_plugins.virtualfile import VirtualFile

engine = VirtualFile(Setup(Path(sys.argv[1]), Tier.PROCESS, {"cache_mib": 1, "log_mib": 1}))
engine.open()
update = engine.connect().prepare_update_many()
for number in range(int(sys.argv[2]), 10**9):
    block = number * 7919 % 3000
    update([(each.to_bytes(8, "big"), number.to_bytes(8, "big") * 64) for each in (block, 2999 - block)])
    sys.stdout.buffer.write(number.to_bytes(8, "big"))
    sys.stdout.buffer.flush()
"""


def test_pages_are_as_large_as_asked(store_at: Opened, tmp_path: Path) -> None:
    """And are opened again as they were made."""
    for kib, per_page in ((2, 3), (32, 63)):
        engine = store_at("virtualfile", tmp_path / str(kib), count=per_page * 5, page_kib=str(kib))
        run(engine, engine.connect(), "insert_many", [(key(number), bytes(SIZE)) for number in range(per_page * 5)])
        engine.close()
        assert (tmp_path / str(kib) / PAGES).stat().st_size == 5 * kib * 1024
        again = store_at("virtualfile", tmp_path / str(kib))
        assert len(list(run(again, again.connect(), "scan"))) == per_page * 5  # type: ignore[call-overload]


def test_after_a_kill_each_block_is_old_or_new_and_none_that_was_committed_is_lost(
    store_at: Opened, tmp_path: Path
) -> None:
    store_at("virtualfile", tmp_path / "data", count=3_000, log_mib=1, page_kib="32").close()
    moments = random.Random(2006)
    last: dict[int, int] = {}
    first = 1
    for _ in range(6):
        command = [sys.executable, "-c", WRITER, str(tmp_path / "data"), str(first)]
        writer = subprocess.Popen(command, stdout=subprocess.PIPE, env=environment())
        assert writer.stdout
        # By their number, and not after a time in which a busy machine may have done nothing.
        told = writer.stdout.read(8 * moments.randint(20, 500))
        writer.send_signal(signal.SIGKILL)
        told += writer.communicate()[0]
        assert writer.returncode == -signal.SIGKILL
        acknowledged = range(first, first + len(told) // 8)
        last.update((block, number) for number in acknowledged for block in _blocks(number))
        first = acknowledged.stop
        again = store_at("virtualfile", tmp_path / "data", cache_mib=1, log_mib=1)
        found = dict(run(again, again.connect(), "scan"))  # type: ignore[call-overload]
        for block, number in last.items():
            value = found[key(block)]
            assert value == value[:8] * 64
            assert int.from_bytes(value[:8], "big") in (number, first)  # the one that wasn't told may be there too
        pair = [int.from_bytes(found.get(key(block), b"")[:8], "big") == first for block in _blocks(first)]
        assert pair[0] == pair[1]
        if pair[0]:
            last.update((block, first) for block in _blocks(first))
        first += 1
        again.close()


def _blocks(number: int) -> tuple[int, int]:
    return number * 7919 % 3000, 2999 - number * 7919 % 3000


# A page that is torn


@pytest.fixture
def data(store_at: Opened, tmp_path: Path) -> Path:
    """A virtual file of 100 blocks, closed."""
    engine = store_at("virtualfile", tmp_path / "data", Tier.POWER)
    run(engine, engine.connect(), "insert_many", [(key(number), bytes([number + 1]) * SIZE) for number in range(100)])
    engine.close()
    return tmp_path / "data"


def tear(data: Path, page: int, fill: bytes = b"\xff") -> None:
    """Overwrite the second half of a page."""
    with (data / PAGES).open("r+b") as file:
        file.seek(page * PAGE_BYTES + PAGE_BYTES // 2)
        file.write(fill * (PAGE_BYTES // 2))


@pytest.mark.parametrize("fill", [b"\xff", b"\x00"])
def test_a_torn_page_is_found_when_it_is_read(data: Path, store_at: Opened, fill: bytes) -> None:
    tear(data, 2, fill)
    engine = store_at("virtualfile", data)
    session = engine.connect()
    assert run(engine, session, "read", key(5)) == bytes([6]) * SIZE  # of another page
    for operation, arguments in {"read": (key(31),), "update": (key(31), bytes(SIZE)), "range": (key(20), 30)}.items():
        with pytest.raises(TornPage, match="page 2 of the file pages is torn"):
            run(engine, session, operation, *arguments)
    with pytest.raises(TornPage, match="page 2"):
        list(run(engine, session, "scan"))  # type: ignore[call-overload]


def test_a_file_that_ends_within_a_page_and_a_page_of_another_place_are_torn(data: Path) -> None:
    whole = (data / PAGES).read_bytes()
    with pytest.raises(TornPage):
        checked(whole[PAGE_BYTES : 2 * PAGE_BYTES - 1], 1, "it")
    with pytest.raises(TornPage):
        checked(whole[PAGE_BYTES : 2 * PAGE_BYTES], 2, "it")
    assert bytes(checked(whole[PAGE_BYTES : 2 * PAGE_BYTES], 1, "it"))


def test_a_page_torn_within_a_checkpoint_is_mended_when_the_file_is_opened(data: Path, store_at: Opened) -> None:
    store = Store(data, Layout(SIZE), 100, sync=True)
    pages = [(number, sealed(store.page(number))) for number in (1, 2)]
    store._write_double(pages)
    store._close_files()
    tear(data, 2)
    engine = store_at("virtualfile", data)
    assert dict(run(engine, engine.connect(), "scan"))[key(31)] == bytes([32]) * SIZE  # type: ignore[call-overload]
    assert (data / DOUBLE).stat().st_size == 0


@pytest.mark.parametrize("left", [5, 100, PAGE_BYTES, 2 * PAGE_BYTES])
def test_a_double_write_that_did_not_come_to_its_end_is_left_alone(data: Path, store_at: Opened, left: int) -> None:
    store = Store(data, Layout(SIZE), 100, sync=True)
    store._write_double([(number, sealed(empty(number))) for number in (1, 2)])
    store._close_files()
    os.truncate(data / DOUBLE, left)
    engine = store_at("virtualfile", data)
    assert len(list(run(engine, engine.connect(), "scan"))) == 100  # type: ignore[call-overload]


def test_a_record_of_the_log_that_is_torn_is_no_commit(data: Path, store_at: Opened) -> None:
    store = Store(data, Layout(SIZE), 100, sync=True)
    store.commit([(0, b"a" * SIZE)])
    store.commit([(1, b"b" * SIZE), (2, b"b" * SIZE)])
    end = store.log.at
    store._close_files()  # as by a kill
    with (data / LOG).open("r+b") as file:
        file.seek(end - 1)
        file.write(b"\x00")
    engine = store_at("virtualfile", data)
    found = dict(run(engine, engine.connect(), "scan"))  # type: ignore[call-overload]
    assert [found[key(number)][:1] for number in range(3)] == [b"a", b"\x02", b"\x03"]


def test_records_of_a_log_that_was_begun_anew_count_no_more(data: Path, store_at: Opened) -> None:
    """They lie where those of the next session end, and are whole."""
    store = Store(data, Layout(SIZE), 100, sync=True)
    for number in range(10):
        store.commit([(number, b"a" * SIZE)])
    store.close()
    store = Store(data, Layout(SIZE), 100, sync=True)
    store.commit([(5, b"b" * SIZE)])
    store._close_files()  # as by a kill
    engine = store_at("virtualfile", data)
    found = dict(run(engine, engine.connect(), "scan"))  # type: ignore[call-overload]
    assert [found[key(number)][:1] for number in (4, 5, 6)] == [b"a", b"b", b"a"]


def test_after_a_failed_sync_nothing_more_is_committed(
    data: Path, store_at: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A second sync would succeed, though what the first one should have written is lost."""
    engine = store_at("virtualfile", data, Tier.POWER)
    session = engine.connect()

    def fail(descriptor: int) -> None:
        raise OSError(errno.EIO, "Input/output error")

    with monkeypatch.context() as patch:
        patch.setattr(os, "fdatasync", fail)
        with pytest.raises(OSError, match="Input/output"):
            run(engine, session, "update", key(1), b"c" * SIZE)
    with pytest.raises(Broken, match="opened anew"):
        run(engine, session, "update", key(1), b"d" * SIZE)
