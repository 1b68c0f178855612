"""What an engine promises and no answer shows: indexes and synced commits, by what the system itself says."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.conftest import environment, summary

pytestmark = pytest.mark.matrix

#: Engine -> what is said of its load.
BROKEN = {
    "promises-no-indexes": "no index on Shipment.InvoiceKey, by the system's own catalogue",
    "promises-other-column": "no index on Shipment.InvoiceKey, by the system's own catalogue",
    "promises-unsynced": "durability power promises synchronous=FULL, and the session has OFF",
}


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> dict[tuple[str, str], dict[str, str]]:
    folder = tmp_path_factory.mktemp("promises")
    engines = [word for name in ("sqlite", *BROKEN) for word in ("-e", name)]
    command = ["suite", "invoices", "--scale", "0.02", "--quick", *engines, "--format", "csv", "--out", "run"]
    done = subprocess.run(
        [sys.executable, "-m", "dbbench", *command],
        cwd=folder, env=environment("faulty"), capture_output=True, text=True, timeout=600, check=False,
    )  # fmt: skip
    assert done.returncode == 1, done.stderr
    return summary(folder / "run")


@pytest.mark.parametrize("engine", BROKEN)
def test_a_broken_promise_is_found(found: dict[tuple[str, str], dict[str, str]], engine: str) -> None:
    row = found["bulk-insert", engine]
    assert row["outcome"] == "wrong"
    assert BROKEN[engine] in row["detail"]
    assert row["rank"] == row["value"] == ""


def test_an_engine_that_keeps_its_promises_is_untouched(found: dict[tuple[str, str], dict[str, str]]) -> None:
    assert [row["outcome"] for (_, engine), row in found.items() if engine == "sqlite"] == ["ok"] * 8
