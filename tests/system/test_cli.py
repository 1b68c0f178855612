"""The command line: what it writes, and what it says to a mistake."""

import csv
import errno
import json
import os
import subprocess
import sys
import tracemalloc
from pathlib import Path
from unittest.mock import Mock

import pytest

from dbbench.host import plain_file
from tests.conftest import environment, run_here, run_suite, small_disk, summary
from tests.trials_here import no_null_engine, trials_here

STEPS = ["bulk-insert", "database-size", "join-1", "join-2", "insert-1", "scan-1", "scan-2", "scan-3"]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, subprocess.CompletedProcess[str]]:
    folder = tmp_path_factory.mktemp("run")
    command = ["suite", "invoices", "--scale", "0.05", "--rounds", "2", "-e", "sqlite", "-e", "duckdb", "--out", "r1"]
    with trials_here():
        done = run_here(folder, *command, status=0)
    return folder / "r1", done


def test_summary_has_every_step_of_every_engine(run) -> None:
    with open(run[0] / "summary.csv", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert ",".join(rows[0]) == (
        "suite,scenario,step,engine,outcome,metric,unit,direction,blocks,value,ci_low,ci_high,rank,detail,verified,"
        "rank_best,rank_worst"
    )
    for step in STEPS:
        assert {row["engine"] for row in rows if row["step"] == step} == {"sqlite", "duckdb", "(null)"}
    assert all(row["outcome"] == "ok" for row in rows)
    of_size = {f"data size, {part}" for part in ("data", "index", "both", "reserved", "empty")}
    used = {"peak memory", "cpu time", "bytes written"}
    assert {row["metric"] for row in rows} == {"time", "data size", *of_size, *used}


def test_too_few_rounds_for_ranks_are_named_before_the_first_trial(run) -> None:
    words = "2 rounds are too few to tell 2 engines apart: times get no ranks; for ranks use --rounds "
    assert " ".join(run[1].stdout.split()).startswith(words)


def test_without_a_terminal_it_prints_plain_text_of_80_columns(run) -> None:
    assert "\x1b[" not in run[1].stdout
    assert "1/4 round 1/2" in run[1].stdout
    assert max(len(line) for line in run[1].stdout.splitlines()) <= 80


def test_the_report_has_a_chart_for_each_step_in_both_formats(run) -> None:
    names = {path.name for path in (run[0] / "report").iterdir()}
    page = (run[0] / "report" / "index.md").read_text()
    for stem in (*STEPS, "overview"):
        assert {f"invoices-{stem}.svg", f"invoices-{stem}.png"} <= names
        assert f"(invoices-{stem}.svg)" in page
    manifest = json.loads((run[0] / "run.json").read_text())
    for words in ("seed 2006", manifest["machine"]["cpu"], "SQLite", "mib = 64", manifest["created"][:10]):
        assert words in page


def test_a_report_is_drawn_without_any_engine(run, dbbench, tmp_path: Path) -> None:
    """A process in which every driver is missing."""
    (tmp_path / "sitecustomize.py").write_text(
        "import sys\nfor name in ('duckdb', 'apsw', 'sqlite3', 'firebird'):\n    sys.modules[name] = None\n"
    )
    before = (run[0] / "summary.csv").read_text()
    (run[0] / "summary.csv").unlink()
    dbbench("report", str(run[0]), "--format", "csv,svg,md,html", plugins=(str(tmp_path),), status=0)
    assert (run[0] / "summary.csv").read_text() == before


MISTAKES = {
    "unknown suite": (["suite", "invoice"], "there is no suite 'invoice'; did you mean 'invoices'?"),
    "no suite": (["suite"], "name a suite"),
    "empty": (["suite", "empty.yaml"], "empty.yaml:1:1: the file is empty"),
    "unknown engine": (["suite", "invoices", "-e", "sqllite"], "there is no engine 'sqllite'; did you mean 'sqlite'?"),
    "unknown option": (["suite", "invoices", "-e", "sqlite", "--set", "sqlite.cach_mib=1"], "did you mean 'cache_mib'?"),
    "bad option value": (["suite", "invoices", "-e", "sqlite", "--set", "sqlite.cache_mib=x"], "cache_mib"),
    "option of another": (["suite", "invoices", "-e", "sqlite", "--set", "duckdb.threads=1"], "not among the engines"),
    "option without value": (["suite", "invoices", "--set", "sqlite"], "is not ENGINE.OPTION=VALUE"),
    "scale 0": (["suite", "invoices", "--scale", "0"], "0.0 is not in the range 0<x<=10000"),
    "scale nan": (["suite", "invoices", "--scale", "nan"], "nan is not a number"),
    "rounds 0": (["suite", "invoices", "--rounds", "0"], "0 is not in the range"),
    "quick and rounds": (["suite", "invoices", "--quick", "--rounds", "3"], "--quick is one round"),
    "seed below 0": (["suite", "invoices", "--seed", "-1"], "-1 is not in the range 0<=x<=9223372036854775807"),
    "memory": (["suite", "invoices", "--trial-memory", "4"], "is not a size like 500MiB"),
    "memory without end": (["suite", "invoices", "--trial-memory", f"{'9' * 310}GB"], "is not a size like 500MiB"),
    "time without end": (["suite", "invoices", "--time-limit", f"{'9' * 310}s"], "is not a time like 90s"),
    "timeout": (["suite", "invoices", "--trial-timeout", "0"], "0.0 is not in the range 0<x<=10000000"),
    "format": (["suite", "invoices", "--format", "csv,gif"], "unknown format 'gif'"),
    "two variants of a name": (["suite", "invoices", "-e", "sqlite@a", "-e", "sqlite@a"],
        "dbbench: there are two variants called sqlite@a; give one of them another label"),
    "null alone": (["suite", "invoices", "-e", "null"], "no engine to run"),
    "existing run": (["suite", "invoices", "-e", "sqlite", "--out", "folder"], "folder already exists"),
    "out under a file": (["suite", "invoices", "-e", "sqlite", "--scale", "0.05", "--out", "empty.yaml/run"], "can't be written"),
    "resume nothing": (["suite", "--resume", "nowhere"], "nowhere is not a run directory"),
    "resume and more": (["suite", "--resume", "folder", "--seed", "3"], "omit --seed"),
    "unknown command": (["sweet"], "No such command"),
    "format of a report": (["report", "folder", "--format", "csv,bmp"], "unknown format 'bmp'"),
    "report of nothing": (["report", "folder"], "folder is not a run directory"),
    "dataset to a file": (["dataset", "invoices", "--scale", "0.01", "--out", "empty.yaml"], "can't be written"),
    "check nothing": (["check"], "name the files to check"),
    "check missing": (["check", "nowhere.yaml"], "there is no file nowhere.yaml"),
    "engines unknown": (["engines", "oracel"], "there is no engine 'oracel'"),
}  # fmt: skip


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_is_one_clear_message(dbbench_here, tmp_path: Path, mistake: str) -> None:
    arguments, words = MISTAKES[mistake]
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "file").touch()
    (tmp_path / "empty.yaml").touch()
    before = sorted(tmp_path.rglob("*"))
    done = dbbench_here(*arguments, status=2)
    assert words in " ".join(done.stderr.split())
    assert "Traceback" not in done.stderr
    assert done.stdout == ""
    assert sorted(tmp_path.rglob("*")) == before, "something half-written is left"


def test_an_engine_that_is_unavailable_can_not_run_alone(dbbench_here, tmp_path: Path) -> None:
    done = dbbench_here("suite", "invoices", "-e", "faulty-driver", plugins=("faulty",))
    assert (done.returncode, done.stdout, list(tmp_path.iterdir())) == (2, "", [])
    assert "no engine to run: faulty-driver" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_full_disk_is_told_before_anything_is_written(dbbench_here, tmp_path: Path) -> None:
    with small_disk(tmp_path, "1m") as disk:
        done = dbbench_here("suite", "invoices", "-e", "sqlite", "--quick", "--out", "disk/run", status=2)
        assert "MB free" in done.stderr
        assert not list(disk.iterdir())


def test_a_disk_that_fills_is_the_engines_outcome_or_a_clear_end(tmp_path: Path) -> None:
    """Room enough by the estimate, then taken away while the run goes on."""
    with small_disk(tmp_path, "24m") as disk:
        with no_null_engine(), trials_here("sqlite"):
            rows = summary(run_suite(disk, "invoices", ("faulty-fills", "sqlite"), "--scale", "0.05"))
        row = rows["join-2", "faulty-fills"]  # seldom the supervisor sees the disk before the engine does
        assert row["outcome"] == "disk full"
        assert "No space left" in row["detail"] or "free where the run is" in row["detail"]
        assert rows["join-2", "sqlite"]["outcome"] == "ok"


NO_MEMORY = "there is not enough memory; free some, raise the limit (ulimit -v)"
NO_THREAD = "no further thread can be started; raise the limit of processes (ulimit -u)"


@pytest.mark.parametrize(
    ("raised", "told"),
    [
        (MemoryError(), NO_MEMORY),
        (ImportError("libX.so: failed to map segment from shared object"), NO_MEMORY),
        (OSError(errno.ENOMEM, os.strerror(errno.ENOMEM)), NO_MEMORY),
        (RuntimeError("can't start new thread"), NO_THREAD),
    ],
    ids=["memory", "library", "system call", "thread"],
)
def test_what_the_system_refuses_is_told_in_one_line_with_its_remedy(
    raised: Exception, told: str, dbbench_here, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("dbbench.suite.loader.load_suite", Mock(side_effect=raised))
    done = dbbench_here("describe", "invoices", status=2)
    assert done.stderr.count("\n") == 1
    assert done.stderr.startswith(f"dbbench: {told}")


def test_too_small_an_address_space_is_told_before_a_library_fails_in_it(tmp_path: Path) -> None:
    """DataFusion, OpenBLAS or the charts would abort, interrupt dbbench, fail without a reason, or hang."""
    command = f"ulimit -v 600000; exec {sys.executable} -m dbbench suite invoices --quick -e sqlite --scale 0.01"
    done = subprocess.run(
        ["sh", "-c", command],
        cwd=tmp_path, env=environment(), capture_output=True, text=True, check=False, timeout=60,
    )  # fmt: skip
    needed = 3072 + min(os.cpu_count() or 1, 64) * 100
    told = (
        f"dbbench: the address space is limited to 585 MiB, and dbbench maps up to {needed:,} MiB, though it uses little "
        f"of it; raise the limit: ulimit -v {needed * 1024}\n"
    )
    assert (done.returncode, done.stdout, done.stderr) == (2, "", told)


@pytest.mark.parametrize(("raised", "status"), [(MemoryError, 2), (KeyboardInterrupt, 130)])
def test_a_run_that_ends_in_its_charts_says_how_to_report_it(
    raised: type[BaseException], status: int, run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("dbbench.report.write._draw", Mock(side_effect=raised))
    done = run_here(run[0].parent, "suite", "--resume", "r1", status=status)
    assert done.stdout.endswith("\nthe trials are kept; report them with: dbbench report r1\n")


def test_another_error_is_no_lack_of_memory(dbbench_here, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dbbench.suite.loader.load_suite", Mock(side_effect=RuntimeError("another error")))
    with pytest.raises(RuntimeError, match="another error"):
        dbbench_here("describe", "invoices")


def test_a_small_file_is_read_into_little_memory(tmp_path: Path) -> None:
    (tmp_path / "small").write_text("small")
    tracemalloc.start()
    try:
        assert plain_file.read(tmp_path / "small") == b"small"
        assert tracemalloc.get_traced_memory()[1] < 2**20
    finally:
        tracemalloc.stop()


def test_all_faults_of_a_file_come_together(dbbench_here, tmp_path: Path) -> None:
    (tmp_path / "bad.yaml").write_text("dbbench: 1\nname: X\ntitel: y\n")
    done = dbbench_here("check", "bad.yaml", status=2)
    assert "bad.yaml:2:7: name: 'X'" in done.stderr
    assert "bad.yaml:3:1: titel: expected one of the keys" in done.stderr
    assert "did you mean 'title'?" in done.stderr


def test_the_schema_is_json(dbbench_here) -> None:
    schema = json.loads(dbbench_here("check", "--schema").stdout)
    assert schema["properties"]["dbbench"]["const"] == 1


@pytest.mark.parametrize(
    "command", ["suite", "suites", "engines", "describe", "check", "dataset", "report", "durability"]
)
def test_help_has_examples(dbbench_here, command: str) -> None:
    done = dbbench_here(command, "--help", status=0)
    assert "Examples:\n" in done.stdout


def test_listings(dbbench_here) -> None:
    assert "invoices" in dbbench_here("suites").stdout
    described = " ".join(dbbench_here("describe", "contention").stdout.split())
    assert "4 processes of 8 threads at once, 31 sessions; each 50 iterations of 20 searches in Object" in described
    described = dbbench_here("describe", "invoices").stdout
    assert "297,450 rows at scale 1" in described
    assert "SELECT * FROM Invoice A" in described
    assert "sqlite  available  SQLite 3." in dbbench_here("engines", "sqlite").stdout
    assert "--set sqlite.cache_mib=..." in dbbench_here("engines", "-v", "sqlite").stdout


def test_completion_knows_suites_and_engines() -> None:
    for words, word in {
        "dbbench suite inv": "invoices",
        "dbbench suite invoices --engine sqlite": "sqlite+apsw",
    }.items():
        env = environment(_DBBENCH_COMPLETE="bash_complete", COMP_WORDS=words, COMP_CWORD=str(len(words.split()) - 1))
        script = Path(sys.executable).with_name("dbbench")
        done = subprocess.run([script], env=env, capture_output=True, text=True, check=False)
        assert word in done.stdout


def test_dataset_writes_what_can_be_checked(dbbench_here, tmp_path: Path) -> None:
    dbbench_here("dataset", "invoices", "--scale", "0.1", "--seed", "7", "--format", "csv", "--out", "data", status=0)
    with open(tmp_path / "data" / "Shipment.csv", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 5758
    assert rows[0]["ShipDate"].endswith("T00:00:00")
    again = dbbench_here("dataset", "invoices", "--out", "data", status=2)
    assert "already exists" in again.stderr
    dbbench_here("dataset", "invoices", "--scale", "0.1", "--format", "parquet", "--out", "other", status=0)
    assert sorted(path.name for path in (tmp_path / "other").iterdir()) == [
        "Charges.parquet", "Invoice.parquet", "Packages.parquet", "Shipment.parquet",
    ]  # fmt: skip
