"""What RocksDB tells of itself."""

from __future__ import annotations

import re
from pathlib import Path

from dbbench.engine import Setup, Tier
from dbbench.testing.contract import usable


def test_the_release_inside_the_driver_is_known(tmp_path: Path) -> None:
    engine = usable("rocksdb")(Setup(tmp_path, Tier.PROCESS))
    engine.open()
    try:
        assert re.fullmatch(r"\d+\.\d+\.\d+", engine.server_versions()["RocksDB"])
    finally:
        engine.close()
