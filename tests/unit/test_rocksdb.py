"""What RocksDB tells of itself."""

import re
from pathlib import Path

import pytest

from dbbench.engine import Setup, Tier
from dbbench.testing.contract import usable


def test_the_release_inside_the_driver_is_known(tmp_path: Path) -> None:
    engine = usable("rocksdb")(Setup(tmp_path, Tier.PROCESS))
    engine.open()
    try:
        assert re.fullmatch(r"\d+\.\d+\.\d+", engine.server_versions()["RocksDB"])
    finally:
        engine.close()


@pytest.mark.parametrize(("options", "filtered"), [({}, True), ({"bloom_bits": "0"}, False)])
def test_its_tables_have_a_filter_unless_it_is_turned_off(
    options: dict[str, str], filtered: bool, tmp_path: Path
) -> None:
    engine = usable("rocksdb")(Setup(tmp_path, Tier.PROCESS, options))
    engine.open()
    engine.close()
    (written,) = (tmp_path / "data").glob("OPTIONS-*")
    assert ("filter_policy=nullptr" in written.read_text()) != filtered
