"""The conformance kit on right engines and on mutants of them, and the table of what caught which.

python -m tests.kit        # every mutant through every clause; some minutes
"""

import contextlib
import io
import os
import sys
import tempfile
from importlib import import_module
from pathlib import Path
from typing import Any

from dbbench.testing.verdicts import Verdict, Verdicts, run
from tests.plugins import faulty, faulty_engines

RIGHT = [engine for name, engine in faulty_engines().items() if name.startswith("right-")]
MUTANTS = [engine for engine in faulty_engines().values() if "clause" in vars(engine)]
#: Their clauses take long, and catch much: in the table they are run for their own mutants only.
SLOW = ("whole_trial", "processes")


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
        left = import_module("dbbench_faulty.clauses.itself").LEFT
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
    sys.path.insert(0, str(faulty()))
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [str(faulty()), os.environ.get("PYTHONPATH")]))
    with tempfile.TemporaryDirectory() as folder:
        print("mutant | clause meant for it | caught by\n---|---|---")
        for number, engine in enumerate(MUTANTS):
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
