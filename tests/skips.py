"""Skipped tests in a few lines: one for each reason, with the engines that gave it, before the summary of what failed."""

from collections import defaultdict

import pytest

_ENGINE = "engine"


class Skips:
    """Takes the place of pytest's own lines, `-rs`: those are one for each place in the code and reason."""

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Have each report name the engine of its test, also those that come from xdist's workers."""
        for item in items:
            if engine := getattr(getattr(item, "cls", None), _ENGINE, ""):
                item.user_properties.append((_ENGINE, engine))

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        skipped = terminalreporter.stats.get("skipped", [])
        if not skipped:
            return
        engines: dict[str, list[str]] = defaultdict(list)
        for report in skipped:
            engine, reason = told(report)
            engines[reason].append(engine)
        terminalreporter.section(f"{len(skipped)} skipped")
        for reason, each in sorted(engines.items()):
            named = ", ".join(sorted({*each} - {""}))
            terminalreporter.line(f"{len(each):>5}  {reason}{f' ({named})' if named else ''}")


def told(report: pytest.TestReport | pytest.CollectReport) -> tuple[str, str]:
    """The engine that a test is of, empty if it is of none or the reason names it; and the reason."""
    *_, reason = report.longrepr if isinstance(report.longrepr, tuple | list) else (str(report.longrepr),)
    reason = " ".join(str(reason).removeprefix("Skipped: ").split())
    engine = str(dict(getattr(report, "user_properties", ())).get(_ENGINE, ""))
    return ("" if reason.startswith(f"{engine}: ") else engine), reason
