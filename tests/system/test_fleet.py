"""Whole rounds on hosts: here, behind TLS in networks of their own, with a host that dies, and after Ctrl-C."""

import signal
from pathlib import Path

import psutil
import pytest

from dbbench import scripting
from dbbench.host import atomic_json
from dbbench.results.outcome import Outcome
from dbbench.results.run_directory import Run
from dbbench.testing.suite_text import suite_text
from tests.cluster import NET, elsewhere
from tests.conftest import Dbbench, started
from tests.waiting import of_run, until

pytest.importorskip("distributed")
pytest.importorskip("cryptography")

pytestmark = pytest.mark.matrix

SUITE = suite_text(
    "rounds",
    "records: {count: 500}",
    """
    - {kind: keyvalue, name: fill, title: Fill, operation: insert, transaction: 100}
    - {kind: keyvalue, name: read, title: Read, operation: read}
    """,
    durability="process",
)
HOW = ("--cluster", "local:2", "--fleet", "--rounds", "3", "--format", "csv")
ASKED = ("suite", "rounds.yaml", "-e", "sqlite", *HOW, "--out", "run")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "rounds.yaml").write_text(SUITE)
    return tmp_path


def hosts_of(folder: Path) -> set[str]:
    """The hosts of a run of three rounds, each of which was on one of them and went well."""
    found: dict[int, set[str]] = {}
    for result in Run.open(folder / "run").results():
        assert {step.outcome for step in result.steps} == {Outcome.OK}, result
        assert result.host is not None
        found.setdefault(result.round, set()).add(result.host["name"])
    assert sorted(found) == [1, 2, 3]
    assert all(len(hosts) == 1 for hosts in found.values())
    return set.union(*found.values())


def test_each_round_is_on_one_host(folder: Path, dbbench: Dbbench) -> None:
    dbbench(*ASKED, status=0)
    assert hosts_of(folder) == {"h1", "h2"}
    run = Run.open(folder / "run")
    assert len(run.results()) == 3 * 2
    assert run.manifest.finished
    assert (run.path / "trials" / run.results()[0].id / "stdout.txt").is_file()
    assert until(lambda: not of_run(folder), 60)


def begun(folder: Path) -> bool:
    """Whether a round is whole, and another has begun."""
    done = [path.parent.name.split("-")[1] for path in folder.glob("run/trials/*/result.json")]
    return any(done.count(name) == 2 for name in done) and len(done) > 2


def test_a_host_that_dies_gives_its_round_to_another(folder: Path) -> None:
    with started(folder, *ASKED, plugins=("faulty",)) as process:
        assert until(lambda: begun(folder))
        below = psutil.Process(process.pid).children(recursive=True)
        next(each for each in below if "dbbench.cluster.local" in each.cmdline()).kill()
        assert process.wait(600) == 0
    assert hosts_of(folder)
    assert until(lambda: not of_run(folder), 60)


def test_after_ctrl_c_nothing_is_left_and_a_resumed_run_does_the_rest(folder: Path, dbbench: Dbbench) -> None:
    with started(folder, *ASKED, plugins=("faulty",)) as process:
        assert until(lambda: begun(folder))
        process.send_signal(signal.SIGINT)
        assert process.wait(120) == 130
    assert until(lambda: not of_run(folder), 60)
    assert [path for path in (folder / "temporary").iterdir() if path.name.startswith("dbbench-")] == []
    kept = {path: path.stat().st_mtime_ns for path in folder.glob("run/trials/*/result.json")}
    assert len(kept) >= 3
    done = dbbench("suite", "--resume", "run", "--format", "csv", status=2)
    assert "add --cluster local:2" in done.stderr
    dbbench("suite", "--resume", "run", "--cluster", "local:2", "--format", "csv", status=0)
    assert hosts_of(folder)
    whole = [path for path in kept if path.stat().st_mtime_ns == kept[path]]
    assert len(whole) >= 2  # at least one round was finished, and not run again


def test_after_a_kill_nothing_is_left(folder: Path) -> None:
    with started(folder, *ASKED, plugins=("faulty",)):
        assert until(lambda: begun(folder))
    assert until(lambda: not of_run(folder), 60)
    assert list((folder / "temporary").iterdir()) == []


def test_hosts_behind_tls(folder: Path) -> None:
    with elsewhere(folder) as (place, _):
        scripting.run(
            folder / "rounds.yaml", engines=["sqlite"], rounds=3, cluster=place.address, hosts=2, fleet=True,
            out=folder / "run",
        )  # fmt: skip
    assert hosts_of(folder) == {f"h1 ({NET}.1.2)", f"h2 ({NET}.2.2)"}
    assert atomic_json.read(folder / "run" / "run.json")["fleet"] is True
    assert list(folder.glob("w?/dbbench-*")) == []
