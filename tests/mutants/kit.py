"""All engines of the mutants' package as one installed plugin, and the kit on one of them; the table of what caught which.

python -m tests.mutants.kit        # every mutant through every clause; some minutes
"""

import contextlib
import io
import os
import re
import sys
import tempfile
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

from dbbench.testing.verdicts import Verdict, Verdicts, run

PACKAGE = Path(__file__).parent
MODULES = ("itself", "records", "blocks", "sql", "objects", "ado", "vectors", "texts")
#: Their clauses take long, and catch much: in the table they are run for their own mutants only.
SLOW = ("whole_trial", "processes")


def load() -> tuple[list[type[Any]], list[type[Any]]]:
    """The right engines, and the mutants; each mutant has a name now."""
    if str(PACKAGE) not in sys.path:
        sys.path.insert(0, str(PACKAGE))
    right = list(import_module("dbbench_mutants.right").RIGHT)
    mutants = []
    for name in MODULES:
        module = import_module(f"dbbench_mutants.{name}")
        for engine in vars(module).values():
            if isinstance(engine, type) and "clause" in vars(engine):
                words = re.findall("[A-Z][a-z]+", engine.__name__)
                engine.name = "-".join(["mutant", name, *words]).lower()
                engine.title = " ".join(["Mutant:", *words])
                mutants.append(engine)
    return right, mutants


def installed(folder: Path) -> None:
    """Make the entry points of all engines in a folder, which is to be on the path."""
    right, mutants = load()
    made = folder / "dbbench_mutants-1.0.dist-info"
    made.mkdir()
    lines = [f"{engine.name} = {engine.__module__}:{engine.__qualname__}" for engine in (*right, *mutants)]
    (made / "entry_points.txt").write_text("\n".join(["[dbbench.engines]", *lines, ""]), "utf-8")
    (made / "METADATA").write_text("Metadata-Version: 2.1\nName: dbbench-mutants\nVersion: 1.0\n", "utf-8")


@contextlib.contextmanager
def on_path() -> Iterator[None]:
    """The engines as an installed package, for this process and those that it starts."""
    with tempfile.TemporaryDirectory() as folder:
        installed(Path(folder))
        before, path = os.environ.get("PYTHONPATH"), [folder, str(PACKAGE)]
        sys.path[:0] = path
        os.environ["PYTHONPATH"] = os.pathsep.join([*path, *filter(None, [before])])
        try:
            yield
        finally:
            for each in path:
                sys.path.remove(each)
            os.environ["PYTHONPATH"] = before or ""


def verdicts(engine: type[Any], folder: Path, *, only: str = "", quick: bool = False) -> dict[str, Verdict]:
    """The kit on an engine, in this process: all of it, one clause, or all but what is slow."""
    found = Verdicts()
    # A faulthandler of its own would take a signal from a JVM that runs in this process, which lives by it.
    more = ["-p", "no:faulthandler", "-p", "no:xdist", "-p", "no:benchmark", "-p", "no:cov", "--capture=no"]
    if quick:
        more += ["-k", " and ".join(f"not {word}" for word in SLOW)]
    folder.mkdir(exist_ok=True)
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            run(engine.name, {}, folder, found, more, only=only and f"test_{only.replace(' ', '_')}")
    finally:
        left = import_module("dbbench_mutants.itself").LEFT
        while left:
            thing = left.pop()
            if hasattr(thing, "kill"):
                thing.kill()
                thing.wait()
            else:
                thing.close()
    return found.found


def main() -> None:
    """Print the table: mutant, the clause meant for it, and those that caught it."""
    with on_path(), tempfile.TemporaryDirectory() as folder:
        print("mutant | clause meant for it | caught by\n---|---|---")
        for number, engine in enumerate(load()[1]):
            place = Path(folder) / str(number)
            found = verdicts(engine, place, quick=True)
            if engine.clause not in found:
                found |= verdicts(engine, place, only=engine.clause)
            failed = [name for name, verdict in found.items() if verdict.outcome == "failed"]
            alone = "it alone" if failed == [engine.clause] else f"it and {len(failed) - 1} others"
            print(
                f"{engine.name} | {engine.clause} | {alone if engine.clause in failed else failed or 'NONE'}",
                flush=True,
            )


if __name__ == "__main__":
    main()
