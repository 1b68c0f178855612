"""One verdict for each clause, by a plugin for pytest; `python -m dbbench.testing.verdicts` runs a kit with it.

Each verdict is written as it is found, so that those before a crash of a driver are known.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Generator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Literal

import pytest

from dbbench.testing.clause import title

Outcome = Literal["passed", "left out", "failed"]
#: Where the plugin's author has nothing to fix.
_KIT = Path(__file__).parent


@dataclass(frozen=True)
class Verdict:
    """The verdict on a clause, and why."""

    clause: str
    outcome: Outcome
    detail: str = ""

    @property
    def message(self) -> str:
        """What was expected, or the error: without why that matters."""
        return self.detail.partition("\nclause: ")[0]

    def follows_from(self, other: Verdict) -> bool:
        """Whether it fails for the cause of `other`: an error at the same place, or what `other` says, quoted in it."""
        mine, theirs = (each.message.partition("\nat ") for each in (self, other))
        return mine[2] == theirs[2] if mine[2] and theirs[2] else bool(theirs[0]) and theirs[0] in mine[0]


class Verdicts:
    """A plugin for pytest that collects the verdicts, and writes each to a file of JSON lines if it is given one."""

    def __init__(self, path: Path | None = None) -> None:
        self.found: dict[str, Verdict] = {}
        self.path = path

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logstart(self, nodeid: str, location: tuple[str, int | None, str]) -> None:
        """Name the clause, should its test end this process."""
        self._write({"begun": title(nodeid.rpartition("::")[2])})

    @pytest.hookimpl(trylast=True)
    def pytest_runtest_logfinish(self, nodeid: str, location: tuple[str, int | None, str]) -> None:
        """Record that the process has outlived the test, and the closing of its engine."""
        self._write({"ended": title(nodeid.rpartition("::")[2])})

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self, item: pytest.Item, call: pytest.CallInfo[None]) -> Generator[None, Any, Any]:
        """Record the verdict of each phase: a later failure or skip replaces a pass; a failure is final."""
        report = yield
        name = title(item.name)
        if report.failed and call.excinfo:
            self._keep(Verdict(name, "failed", _described(call.excinfo.value, call.excinfo.tb)))
        elif report.skipped and call.excinfo:
            self._keep(Verdict(name, "left out", str(call.excinfo.value)))
        elif report.when == "call":
            self._keep(Verdict(name, "passed"))
        return report

    def _keep(self, verdict: Verdict) -> None:
        before = self.found.get(verdict.clause)
        if before and before.outcome == "failed":
            return  # a failure while it is torn down follows from it
        self.found[verdict.clause] = verdict
        self._write(asdict(verdict))

    def _write(self, line: Mapping[str, object]) -> None:
        if self.path:
            with self.path.open("a", encoding="utf-8") as file:
                file.write(json.dumps(line) + "\n")


def read(path: Path) -> tuple[dict[str, Verdict], str]:
    """The verdicts of a file, and the clause in which the process ended; empty if it ended in none."""
    found: dict[str, Verdict] = {}
    running = ""
    for text in path.read_text("utf-8").splitlines() if path.exists() else ():
        line = json.loads(text)
        if "begun" in line or "ended" in line:
            running = line.get("begun", "")
        else:
            found[line["clause"]] = Verdict(**line)
    return found, running


def run(
    engine: str,
    options: Mapping[str, str],
    folder: Path,
    verdicts: Verdicts,
    more: Sequence[str] = (),
    *,
    only: str = "",
) -> int:
    """Run the kit of an engine, or `only` one of its tests, in this process; pytest's exit status.

    Nothing of the current folder counts.
    """
    config, test = (
        folder / "pytest.ini",
        folder / f"test_{re.sub(r'[^a-z0-9]', '_', engine)}.py",
    )  # pytest caches modules by name
    config.write_text("[pytest]\n", "utf-8")
    asked = {"engine": engine, "options": dict(options)}
    test.write_text(f"from dbbench.testing import kit\n\nTestEngine = kit(**{asked!r})\n", "utf-8")
    arguments = ["-c", str(config), "--rootdir", str(folder), "--basetemp", str(folder / "data")]
    arguments.append(f"{test}::TestEngine::{only}" if only else str(test))
    quiet = ["-q", "--no-header", "--tb=short", "--import-mode=importlib", "--noconftest", "-p", "no:cacheprovider"]
    return int(pytest.main([*arguments, *quiet, *more], plugins=[verdicts]))


def _described(exc: BaseException, trace: TracebackType | None) -> str:
    """What an exception says, with its notes; and the last place outside the kit, of an error that isn't its own."""
    lines = [str(exc) if isinstance(exc, AssertionError) else f"{type(exc).__name__}: {exc}"]
    place = ""
    while trace:
        code = trace.tb_frame.f_code
        if not Path(code.co_filename).is_relative_to(_KIT):
            place = f"{code.co_filename}:{trace.tb_lineno}, in {code.co_name}"
        trace = trace.tb_next
    if place and not isinstance(exc, AssertionError):
        lines.append(f"at {place}")
    return "\n".join([*lines, *getattr(exc, "__notes__", ())])


def main() -> int:
    """Run the kit that the folder's asked.json names; the verdicts go to its verdicts.jsonl."""
    folder = Path(sys.argv[1])
    asked = json.loads((folder / "asked.json").read_text("utf-8"))
    return run(asked["engine"], asked["options"], folder, Verdicts(folder / "verdicts.jsonl"))


if __name__ == "__main__":
    sys.exit(main())
