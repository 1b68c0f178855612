"""Which tests the plain command leaves out: those marked `matrix`. A file or test that is named is run whole."""

from pathlib import Path
from typing import Any

import pytest

HOW = 'nox -s everything\n(only these, in this environment: pytest -n logical -m matrix; all: pytest -n logical -m "matrix or not matrix")'
_LEFT_OUT = "left_out"


class Selection:
    """Leaves out the matrix where neither a place nor `-m` was named, and says so in the end."""

    def __init__(self) -> None:
        self.left_out = 0

    def pytest_configure(self, config: pytest.Config) -> None:
        if plain(config):  # in xdist's workers as well: each is started with the same command line
            config.option.markexpr = "not matrix"

    def pytest_ignore_collect(self, collection_path: Path, config: pytest.Config) -> bool | None:
        """Where the matrix alone is asked for, import no test of a unit that isn't of it."""
        unit = config.option.markexpr == "matrix" and collection_path.match("tests/unit/test_*.py")
        return True if unit and "pytest.mark.matrix" not in collection_path.read_text("utf-8") else None

    def pytest_deselected(self, items: list[pytest.Item]) -> None:
        self.left_out += sum(item.get_closest_marker("matrix") is not None for item in items)

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        if hasattr(session.config, "workeroutput"):
            session.config.workeroutput[_LEFT_OUT] = self.left_out

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any, error: object) -> None:
        """Each worker collects all tests."""
        self.left_out = max(self.left_out, getattr(node, "workeroutput", {}).get(_LEFT_OUT, 0))

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
        if self.left_out and config.option.markexpr == "not matrix":
            terminalreporter.section("left out")
            terminalreporter.line(
                f"{self.left_out} tests: servers, Java, .NET, ODBC, the browser, kills, engines that lie, "
                "and engines beyond one of each family."
            )
            terminalreporter.line(f"To run them too: {HOW}")


def plain(config: pytest.Config) -> bool:
    """Whether nothing was named on the command line: no place, no `-m`."""
    return not config.option.markexpr and config.args_source is pytest.Config.ArgsSource.TESTPATHS
