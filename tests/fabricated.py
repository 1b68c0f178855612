"""Run directories as a run would leave them, with figures that a test chooses. No engine is started."""

import datetime
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from dbbench.analysis.ranking import fewest_rounds
from dbbench.host import atomic_json
from dbbench.results import trial_files
from dbbench.results.outcome import Outcome
from dbbench.results.run_directory import Manifest, Run
from dbbench.results.trial import Trial
from dbbench.runs.plan import plan
from dbbench.suite.loader import find_suite, load_suite
from dbbench.suite.steps import AnyStep
from dbbench.suite.steps.keyvalue import KeyValueStep
from dbbench.suite.steps.mix import MixStep

MACHINE = {
    "cpu": "AMD EPYC 9B14", "cores": 4, "threads": 8, "memory_bytes": 32 * 2**30, "system": "Debian GNU/Linux 13",
    "kernel": "6.12.48", "architecture": "x86_64", "python": "CPython 3.12.11", "file_system": "ext4", "packages": {},
}  # fmt: skip
#: Seconds of each step of the invoices by an engine of factor 1, and of any operation on a record.
SECONDS = {
    "bulk-insert": 0.9, "join-1": 0.06, "join-2": 0.08, "insert-1": 0.0002, "scan-1": 0.02, "scan-2": 0.018,
    "scan-3": 0.004, "persist": 0.2,
}  # fmt: skip
#: Those of steps of other suites.
OTHER_SECONDS = 0.05
OPERATION = 4e-6
DATASETS: dict[str, dict[str, Any]] = {
    "invoices": {"rows": {"Invoice": 106, "Shipment": 57579}, "csv_bytes": 17_200_000},
    "records": {"rows": {"records": 1_000_000}, "csv_bytes": 40_000_000},
}


@dataclass(frozen=True)
class Fake:
    """An engine: how slow it is (a factor, or one for each step), and what is known of it."""

    title: str
    slow: float | dict[str, float] = 1.0
    gives: str = "rows"
    size: float = 26e6
    #: Bytes that a collector counts, if it has one.
    heap: float | None = None
    probed: dict[str, Any] = field(default_factory=dict)
    #: What the worker recorded of the engine that it opened.
    told: dict[str, Any] = field(default_factory=dict)
    #: Step -> outcome and detail, where it isn't ok.
    bad: dict[str, tuple[Outcome, str]] = field(default_factory=dict)
    #: Step -> plan; a step that isn't here has a note that there is none.
    plans: dict[str, str] = field(default_factory=dict)
    #: Written over each trial's result.
    more: dict[str, Any] = field(default_factory=dict)

    def factor(self, step: str) -> float:
        return self.slow if isinstance(self.slow, float) else self.slow.get(step, 1.0)


ALLOWED = {"publication": "allowed"}
FORBIDDEN = {"publication": "forbidden", "publication_note": "Benchmark clause 5(e)"}
PLAN = "Hash Join\n  -> Seq Scan on Shipment\n  -> Hash\n       -> Seq Scan on Invoice"
#: The engines of a machine that has everything.
MANY: dict[str, Fake] = {
    "sqlite": Fake("SQLite (sqlite3)", 1.0, plans={"join-1": "SCAN B\nSEARCH A USING INTEGER PRIMARY KEY (rowid=?)"}),
    "sqlite+apsw": Fake("SQLite (APSW)", 0.99, plans={"join-1": "SCAN B\nSEARCH A USING INTEGER PRIMARY KEY (rowid=?)"}),
    "duckdb": Fake("DuckDB (rows)", {"bulk-insert": 0.2, "insert-1": 15.0, "join-1": 2.0, "scan-3": 0.3}, size=9.4e6),
    "duckdb+arrow": Fake("DuckDB (Arrow)", {"bulk-insert": 0.21, "insert-1": 15.5, "join-1": 0.1, "join-2": 0.1}, "batches", 9.4e6),
    "firebird": Fake("Firebird (embedded)", 4.1, size=41e6),
    "postgresql": Fake("PostgreSQL (psycopg)", 2.2, size=48e6, plans={"join-1": PLAN, "join-2": PLAN}),
    "postgresql+pq": Fake("PostgreSQL (psycopg, libpq prepared)", 1.8, size=48e6, plans={"join-1": PLAN}),
    "postgresql+adbc": Fake("PostgreSQL (ADBC, Arrow)", 1.6, "batches", 48e6, plans={"join-1": PLAN}),
    "postgresql+pyodbc": Fake("PostgreSQL (pyodbc)", 3.3, size=48e6),
    "mysql": Fake("MariaDB (mysqlclient)", 2.6, size=57e6),
    "mysql+_mysql": Fake("MariaDB (mysqlclient, _mysql)", 2.1, size=57e6),
    "mysql+pymysql": Fake("MariaDB (PyMySQL)", 9.0, size=57e6),
    "mysql+pyodbc": Fake("MariaDB (pyodbc)", 3.8, size=57e6),
    "h2": Fake("H2 (JDBC)", 3.0, size=38e6),
    "hsqldb": Fake("HSQLDB (JDBC)", 2.9, size=61e6),
    "derby": Fake("Apache Derby (JDBC)", 11.0, size=44e6),
    "access": Fake("Access (UCanAccess, JDBC)", 700.0, size=33e6, bad={"join-2": (Outcome.TIMEOUT, "stopped after 600 s (--trial-timeout)")}),
    "libsql": Fake("libSQL (libsql-experimental)", 1.1),
    "turso": Fake("Turso (pyturso)", 2.0, bad={"scan-2": (Outcome.FAILED, "DatabaseError: not yet implemented: LIKE with ESCAPE in this kind of subquery, see the tracker for the state of the work"), "join-2": (Outcome.CRASHED, "killed by SIGSEGV")}),
    "chdb": Fake("chDB (ClickHouse, Arrow)", {"bulk-insert": 0.3, "insert-1": 900.0, "join-1": 0.3}, "batches", 12e6),
    "odbc+sqlite": Fake("ODBC: SQLite", 1.9),
    "sqlserver+mssql-python": Fake("SQL Server Express (mssql-python)", 1.7, size=51e6, probed=FORBIDDEN),
    "oracle": Fake("Oracle Database 23ai Free (oracledb, thin)", 2.4, probed={"status": "unavailable", "detail": "it runs against a server of yours", "install": "--url oracle=oracle://user@host/service"}),
}  # fmt: skip
#: Those of a run on records. A step's factor is of its operation.
STORES: dict[str, Fake] = {
    "dict": Fake("dict (Python, in memory)", 0.02, told={"tier": "memory"}, bad={"database-size": (Outcome.UNSUPPORTED, "a dict keeps nothing on disk"), "seek": (Outcome.UNSUPPORTED, "dict can't seek: a dict has no order of keys")}),
    "lmdb": Fake("LMDB (lmdb)", 0.3, size=54e6, told={"tier": "process"}),
    "leveldb": Fake("LevelDB (plyvel)", 0.4, size=31e6, told={"tier": "process"}),
    "rocksdb": Fake("RocksDB (rocksdict)", 0.9, size=29e6, told={"tier": "process"}),
    "berkeleydb": Fake("Berkeley DB (berkeleydb, transactions)", 3.0, size=88e6),
    "unqlite": Fake("UnQLite (unqlite)", 1.6, size=71e6),
    "libmdbx": Fake("libmdbx (clibmdbx)", 0.35, size=55e6),
    "dbm.gnu": Fake("GDBM (dbm.gnu)", 5.0, size=120e6, told={"tier": "power"}, bad={"seek": (Outcome.UNSUPPORTED, "dbm.gnu can't seek: a hash table has no order of keys")}),
    "dotnet-dictionary": Fake("Dictionary (.NET, in memory)", 0.1, bad={"database-size": (Outcome.UNSUPPORTED, "it keeps nothing on disk")}),
    "redis": Fake("Redis (redis-py)", 12.0, size=95e6),
    "sqlite": Fake("SQLite (sqlite3)", 2.0, size=67e6, told={"tier": "memory"}),
    "duckdb": Fake("DuckDB (rows)", 60.0, size=49e6, told={"tier": "process"}),
    "postgresql": Fake("PostgreSQL (psycopg)", 15.0, size=111e6),
    "mysql": Fake("MariaDB (mysqlclient)", 18.0, size=102e6, bad={"scan": (Outcome.CRASHED, "killed by SIGSEGV")}),
    "sqlserver+mssql-python": Fake("SQL Server Express (mssql-python)", 22.0, size=140e6, probed=FORBIDDEN),
}  # fmt: skip
NULLS = {
    "null": Fake("null (the harness itself)", 0.002),
    "null+arrow": Fake("null (the harness itself, Arrow batches)", 0.0004, "batches"),
}


def fabricate(
    path: Path,
    engines: dict[str, Fake] | None = None,
    *,
    suite: str = "invoices",
    rounds: int | None = None,
    noise: float = 0.01,
    seed: int = 1,
    change: Callable[[dict[str, Any]], None] = lambda _result: None,
    day: int = 21,
) -> Run:
    """A finished run of some engines at `path`. `seed` is the plan's, `change` may alter each result before it is written.

    It was started on a `day` of November.
    """
    source = find_suite(suite)
    parsed = load_suite(source)
    tables = any(dataset.tables for dataset in parsed.datasets.values())
    nulls = {name: fake for name, fake in NULLS.items() if tables or fake.gives == "rows"}
    fakes = {**(MANY if engines is None else engines), **nulls}
    probed = {name: _probed(name, fake) for name, fake in fakes.items()}
    manifest = Manifest(
        dbbench="0.1.0",
        suite=parsed.name,
        created=datetime.datetime(2026, 11, day, 6, tzinfo=datetime.UTC),
        engines=probed,
        rounds=rounds or fewest_rounds(len(fakes)),
        scale=1,
        seed=2006,
        limits={"seconds": 600, "memory": 2**34, "cache": 64, "client_cache": 64, "engine_memory": 8192},
        machine=MACHINE,
        datasets={name: facts for name, facts in DATASETS.items() if name in parsed.datasets},
        finished=datetime.datetime(2026, 11, 21, 7, tzinfo=datetime.UTC),
    )
    run = Run.create(path, manifest, parsed, source.read_text("utf-8"))
    for trial in plan(run.suite, manifest.usable, rounds=manifest.rounds, seed=seed):
        fake = fakes[trial.engine]
        folder = run.directory(trial)
        folder.mkdir()
        result = result_of(run, trial, fake, noise)
        change(result)
        atomic_json.write(folder / "result.json", result)
        for name, text in fake.plans.items():
            trial_files.keep_plan(folder, name, text)
    return run


def longer_invoices(folder: Path, steps: int) -> str:
    """The path of a suite: the invoices with their last scan repeated up to `steps` steps, and charts of all."""
    text = find_suite("invoices").read_text("utf-8")
    head, charts = text.split("    charts:\n")
    scan = head[head.rindex("      - kind: query\n") :]
    more = [
        f"scan-3-{number}"
        for number in range(len(load_suite(find_suite("invoices")).scenarios[0].steps) + 1, steps + 1)
    ]
    head += "".join(scan.replace("name: scan-3", f"name: {name}") for name in more)
    path = folder / "longer.yaml"
    path.write_text(f"{head}    charts:\n{charts.replace('scan-3]', ', '.join(['scan-3', *more]) + ']')}", "utf-8")
    return str(path)


def many(count: int) -> dict[str, Fake]:
    """As many engines as asked for, each slower than the last one."""
    return {
        f"engine{number}": Fake(f"Engine {number} (driver {number})", 1.1**number) for number in range(1, count + 1)
    }


def result_of(run: Run, trial: Trial, fake: Fake, noise: float = 0.01) -> dict[str, Any]:
    """What a trial of a fake engine leaves."""
    chance = random.Random(f"{trial.engine} {trial.round}")  # so that no engine's figures depend on another's
    tables = any(dataset.tables for dataset in run.suite.datasets.values())
    return {
        "id": trial.id,
        "scenario_name": trial.scenario,
        "engine_name": trial.engine,
        "round": trial.round,
        "engine": {"title": fake.title, "versions": {"Server": "1.2.3"}, "settings": {"cache_mib": 64}, **fake.told},
        "steps": [
            _step(step, fake, chance, noise, 297_450 if tables else 1_000_000)
            for step in run.suite.scenario(trial.scenario).steps
        ],
        "peak_memory": int(90e6 * chance.uniform(1, 1 + noise)),
        "cpu_seconds": 1.5,
        "written_bytes": 60_000_000,
        "seconds": 4.0,
        **fake.more,
    }


def _probed(name: str, fake: Fake) -> dict[str, Any]:
    known = {"name": name, "engine": name, "status": "available", "detail": "", "title": fake.title, "license": "MIT"}
    return {**known, "ranked": name not in NULLS, "gives": fake.gives, **ALLOWED, **fake.probed}


def _step(step: AnyStep, fake: Fake, chance: random.Random, noise: float, rows: int) -> dict[str, Any]:
    if step.name in fake.bad:
        outcome, detail = fake.bad[step.name]
        return {"name": step.name, "outcome": outcome, "detail": detail}
    known: dict[str, Any] = {"name": step.name, "outcome": Outcome.OK, "elapsed": 0.1, "written_bytes": 30_000_000}
    if step.kind == "size":
        files = _files(fake.size)
        return {**known, "metric": "size", "unit": "B", "value": fake.size, "samples": [fake.size],
                "facts": {"before_flush": fake.size * 1.1, "index": fake.size * 0.2, "heap": fake.heap, "rows": rows, "files": files}}  # fmt: skip
    if isinstance(step, KeyValueStep | MixStep):
        return {**known, **_rate(step, OPERATION * fake.factor(step.name) * chance.uniform(1, 1 + noise))}
    usual = OPERATION if step.kind == "objects" else SECONDS.get("-".join(step.name.split("-")[:2]), OTHER_SECONDS)
    value = usual * fake.factor(step.name) * chance.uniform(1, 1 + noise)
    facts: dict[str, Any] = {}
    if step.kind == "query":
        facts = {"rows": 57_579, "gives": fake.gives, "cache": "warm"}
        known["no_plan"] = "" if step.name in fake.plans else "no query plan available"
    elif step.kind == "objects":
        shares = {"execute": 0.5, "fetch": 0.3, "materialise": 0.2}
        facts = {"objects": 500, "connect": 1e-4, "prepare": 2e-4, "not_parted": "",
                 "parts": {name: share * value for name, share in shares.items()}}  # fmt: skip
    elif step.kind == "load":
        parts = {name: share * value for name, share in (("insert", 0.6), ("indexes", 0.3), ("commit", 0.1))}
        facts = {"rows": 297_450, "csv_bytes": 17_200_000, "takes": fake.gives, "load_parts": parts, "making_rows": 0.2}
    return {**known, "metric": "time", "unit": "s", "value": value, "samples": [value], "facts": facts}


def _rate(step: KeyValueStep | MixStep, seconds: float) -> dict[str, Any]:
    """A million operations, a scan in one call."""
    names = ["service time", *(step.weights if isinstance(step, MixStep) else ())]
    calls = 1 if isinstance(step, KeyValueStep) and step.operation == "scan" else 1_000_000
    shape = {"p50": 0.8, "p90": 1.2, "p95": 1.9, "p99": 4.0, "p99.9": 60.0}
    times = {
        name: {"count": calls, "sum": 1e15 * seconds, "max": 2e12 * seconds * (place + 1),
               "percentiles": {key: 1e9 * seconds * factor * (place + 1) if calls > 1 else None
                               for key, factor in shape.items()}}
        for place, name in enumerate(names)
    }  # fmt: skip
    facts = {"operations": 1_000_000, "calls": calls, "per_second": 1 / seconds, "times": times}
    return {"metric": "throughput", "unit": "1/s", "direction": "higher", "value": 1 / seconds,
            "samples": [1 / seconds], "facts": facts}  # fmt: skip


def _files(size: float) -> Sequence[dict[str, Any]]:
    whole = int(size)
    return [
        {"name": "data.db", "part": "data", "apparent": whole * 9 // 10, "allocated": whole * 9 // 10},
        {"name": "data.log", "part": "journal", "apparent": whole // 10, "allocated": whole // 10},
    ]
