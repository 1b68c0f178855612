"""What RocksDB tells of itself."""

import re
from pathlib import Path

import pytest

from tests.conftest import Opened


def test_the_release_inside_the_driver_is_known(opened: Opened) -> None:
    assert re.fullmatch(r"\d+\.\d+\.\d+", opened("rocksdb").server_versions()["RocksDB"])


@pytest.mark.parametrize(("options", "filtered"), [({}, True), ({"bloom_bits": "0"}, False)])
def test_its_tables_have_a_filter_unless_it_is_turned_off(
    options: dict[str, str], filtered: bool, opened: Opened, tmp_path: Path
) -> None:
    opened("rocksdb", **options).close()
    (written,) = (tmp_path / "data").glob("OPTIONS-*")
    assert ("filter_policy=nullptr" in written.read_text()) != filtered
