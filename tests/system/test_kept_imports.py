"""A driver is imported again when it has changed, and only then."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conftest import Dbbench

PLUGIN = """
from dbbench.engine import Engine, Session, Tier

class Odd(Engine):
    name = "odd"
    title = "Odd"
    license = "MIT"
    modules = ("odd_driver",)
    durability = {Tier.MEMORY: {}}
    session_class = Session

    @classmethod
    def versions(cls):
        import odd_driver
        return {"odd": odd_driver.number()}
"""
DRIVER = """
from pathlib import Path

with open(Path(__file__).with_name("imports"), "a") as file:
    file.write("x")
def number():
    return Path(__file__).with_name("VERSION").read_text()
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder of packages with a plugin and its driver, which counts its imports."""
    made = tmp_path / "packages"
    about = made / "odd-1.0.dist-info"
    about.mkdir(parents=True)
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: odd\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text("[dbbench.engines]\nodd = odd_plugin:Odd\n")
    (made / "odd_plugin.py").write_text(PLUGIN)
    (made / "odd_driver.py").write_text(DRIVER)
    (made / "VERSION").write_text("1")
    return made


def test_a_driver_is_imported_again_after_a_change_only(dbbench: Dbbench, folder: Path, tmp_path: Path) -> None:
    variables = {
        "PYTHONPATH": str(folder),
        "DBBENCH_CACHE": str(tmp_path / "cache"),
        "PYTHONDONTWRITEBYTECODE": "1",  # or the second time there are new files
    }

    def look(imports: int) -> str:
        told = dbbench("engines", "odd", **variables).stdout
        assert len((folder / "imports").read_text()) == imports
        return told

    assert "odd 1" in look(1)
    assert "odd 1" in look(1)
    (folder / "VERSION").write_text("22")  # a file that the driver reads
    assert "odd 22" in look(2)
    (folder / "odd_driver.py").write_text("raise RuntimeError('no more')")
    assert "no more" in look(2)
