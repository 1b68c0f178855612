"""Every engine that keeps blocks through the same kit."""

from __future__ import annotations

from pathlib import Path

import pytest

from dbbench import machine
from dbbench.testing import BlocksContract


class TestRawFile(BlocksContract):
    engine = "rawfile"


class TestRawFileSync(BlocksContract):
    engine = "rawfile+dsync"


class TestRawFileMapped(BlocksContract):
    engine = "rawfile+mmap"


class OnADisk(BlocksContract):
    @pytest.fixture(autouse=True)
    def _disk(self, tmp_path: Path) -> None:
        if machine.file_system(tmp_path) in ("tmpfs", "ramfs"):
            pytest.skip("there is no disk under the tests' folder to go to directly: give --basetemp")


class TestRawFileDirect(OnADisk):
    engine = "rawfile+direct"


class TestIOUring(OnADisk):
    engine = "io_uring"


class TestVirtualFile(BlocksContract):
    engine = "virtualfile"


class TestVirtualFileWithASmallCache(BlocksContract):
    """Of 128 pages, where the kit's blocks take more, and a log that is full every 250 blocks."""

    engine = "virtualfile"
    options = {"cache_mib": 1, "log_mib": 1}
