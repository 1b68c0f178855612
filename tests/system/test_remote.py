"""Client and server on two hosts with a tenth of a millisecond between them, beside the same server near at hand."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from dbbench.testing.contract import usable
from dbbench.testing.suite_text import suite_text
from tests.conftest import environment, summary
from tests.network import ROOT, Hosts, hosts

pytestmark = pytest.mark.matrix

usable("postgresql")

DELAY = 0.000_1
#: A server on a host of its own. It takes any client from the other one.
_SERVER = """
import sys
from pathlib import Path
from dbbench_plugins.postgresql.cluster import FOLDER, Cluster
directory, address, network = sys.argv[1:]
cluster = Cluster(Path(directory))
cluster.open({})
cluster.stop()
with open(Path(directory, FOLDER, "pg_hba.conf"), "a") as rules:
    rules.write(f"host all all {network} trust\\n")
cluster = Cluster(Path(directory))
cluster.open({"listen_addresses": address, "synchronous_commit": "on"})
print("ready", flush=True)
sys.stdin.read()
cluster.stop()
"""
#: One row by its key, again and again: as good as nothing but the way there and back.
_SUITE = suite_text(
    "remote",
    "records: {count: 1000, value_bytes: 32}",
    """
    - {kind: keyvalue, name: insert, title: Insert, operation: insert, transaction: 1000}
    - {kind: keyvalue, name: read, title: Read, operation: read, order: random}
    """,
)


@pytest.fixture
def network(tmp_path: Path) -> Iterator[Hosts]:
    with hosts(DELAY) as made:
        (tmp_path / "server").mkdir(mode=0o700)
        command = [sys.executable, "-c", _SERVER, str(tmp_path / "server"), made.server_address, "10.213.7.0/24"]
        with subprocess.Popen(
            made.command(made.server, *command), cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE
        ) as server:
            assert server.stdout
            assert server.stdout.readline() == b"ready\n"
            yield made
            server.communicate(timeout=1200)


def test_the_same_server_near_and_far(network: Hosts, tmp_path: Path) -> None:
    (tmp_path / "remote.yaml").write_text(_SUITE)
    near = f"postgresql://bench@/postgres?host={tmp_path}/server/socket"
    far = f"postgresql://bench@{network.server_address}/postgres"
    command = [sys.executable, "-m", "dbbench", "suite", "remote.yaml", "--quick", "--out", "run"]
    command += ["--format", "csv,md"]
    for name, url in (("postgresql@near", near), ("postgresql@far", far)):
        command += ["--engine", name, "--url", f"{name}={url}"]
    done = subprocess.run(
        network.command(network.client, *command),
        cwd=tmp_path, env=environment(), capture_output=True, text=True, timeout=1200, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    rows = summary(tmp_path / "run")
    found = {name: rows["read", f"postgresql@{name}"] for name in ("near", "far")}
    assert {row["outcome"] for row in found.values()} == {"ok"}
    seconds = 1 / float(found["far"]["value"])
    assert seconds > 2 * DELAY, f"{network.wire}: {seconds} s"
    assert r"PostgreSQL (psycopg) \[far\]" in (tmp_path / "run" / "report" / "index.md").read_text("utf-8")
