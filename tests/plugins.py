"""Packages of plugins as if they were installed, among them the one of all right engines with one fault each."""

import atexit
import shutil
import sys
import tempfile
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

SOURCES = Path(__file__).parent / "faulty"
#: Entry points of modules that can't be imported, and of an engine that calls itself something else.
BROKEN = {
    "faulty-driver": "broken.no_driver:NoDriver",
    "faulty-import": "broken.breaks:Breaks",
    "faulty-kills-import": "broken.kills:Kills",
    "faulty-name": "engines:WrongName",
}


def declare(folder: Path, name: str, points: str) -> Path:
    """Put into a folder, which is to be on the path, what the installer of a package leaves: its entry points."""
    made = folder / f"{name.replace('-', '_')}-1.0.dist-info"
    made.mkdir()
    (made / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    (made / "entry_points.txt").write_text(points)
    return folder


@cache
def faulty_engines() -> dict[str, type[Any]]:
    """Name -> the engine: all of `tests/faulty` whose modules can be imported."""
    sys.path.append(str(SOURCES))
    named = import_module("dbbench_faulty.family").Named
    found = {}
    for path in sorted(SOURCES.rglob("*.py")):
        if path.stem != "__init__" and path.parent.name != "broken":
            module = import_module(".".join(path.relative_to(SOURCES).with_suffix("").parts))
            kinds = [each for each in vars(module).values() if isinstance(each, type) and issubclass(each, named)]
            found |= {each.name: each for each in kinds if each.__module__ == module.__name__ and each is not named}
    return found


@cache
def faulty() -> Path:
    """A folder with the package of these engines, installed."""
    folder = Path(tempfile.mkdtemp(prefix="dbbench-faulty-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    (folder / "dbbench_faulty").symlink_to(SOURCES / "dbbench_faulty")
    points = {name: f"{each.__module__}:{each.__qualname__}" for name, each in faulty_engines().items()}
    points |= {name: f"dbbench_faulty.{target}" for name, target in BROKEN.items()}
    lines = ["[dbbench.engines]", *(f"{name} = {target}" for name, target in points.items()), ""]
    return declare(folder, "dbbench-faulty", "\n".join(lines))
