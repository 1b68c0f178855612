"""Run directories as a run would leave them, with figures that a test chooses. No engine is started."""

from __future__ import annotations

import datetime
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from dbbench import jsonfile, queryplan
from dbbench.loader import find_suite, load_suite
from dbbench.outcome import Outcome
from dbbench.plan import fewest_rounds, plan
from dbbench.store import Manifest, Run
from dbbench.suite import AnyStep

MACHINE = {
    "cpu": "AMD EPYC 9B14", "cores": 4, "threads": 8, "memory_bytes": 32 * 2**30, "system": "Debian GNU/Linux 13",
    "kernel": "6.12.48", "architecture": "x86_64", "python": "CPython 3.12.11", "file_system": "ext4", "packages": {},
}  # fmt: skip
#: Seconds of each step of the invoices by an engine of factor 1, and bytes of the database.
SECONDS = {
    "bulk-insert": 0.9, "join-1": 0.06, "join-2": 0.08, "insert-1": 0.0002, "scan-1": 0.02, "scan-2": 0.018,
    "scan-3": 0.004,
}  # fmt: skip


@dataclass(frozen=True)
class Fake:
    """An engine: how slow it is (a factor, or one for each step), and what is known of it."""

    title: str
    slow: float | dict[str, float] = 1.0
    gives: str = "rows"
    size: float = 26e6
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
    change: Callable[[dict[str, Any]], None] = lambda _result: None,
) -> Run:
    """A finished run of some engines at `path`. `change` may alter each result before it is written."""
    fakes = {**(MANY if engines is None else engines), **NULLS}
    source = find_suite(suite)
    probed = {name: _probed(name, fake) for name, fake in fakes.items()}
    manifest = Manifest(
        dbbench="0.1.0",
        suite=suite,
        created=datetime.datetime(2026, 11, 21, 6, tzinfo=datetime.UTC),
        engines=probed,
        rounds=rounds or fewest_rounds(len(fakes)),
        scale=1,
        seed=2006,
        limits={"seconds": 600, "memory": 2**34},
        machine=MACHINE,
        datasets={"invoices": {"rows": {"Invoice": 106, "Shipment": 57579}, "csv_bytes": 17_200_000}},
        finished=datetime.datetime(2026, 11, 21, 7, tzinfo=datetime.UTC),
    )
    run = Run.create(path, manifest, load_suite(source), source.read_text("utf-8"))
    for trial in plan(run.suite, manifest.usable, rounds=manifest.rounds, seed=1):
        fake = fakes[trial.engine]
        chance = random.Random(f"{trial.engine} {trial.round}")  # so that no engine's figures depend on another's
        folder = run.directory(trial)
        folder.mkdir()
        result = {
            "id": trial.id,
            "scenario_name": trial.scenario,
            "engine_name": trial.engine,
            "round": trial.round,
            "engine": {
                "title": fake.title,
                "versions": {"Server": "1.2.3"},
                "settings": {"cache_mib": 64},
                **fake.told,
            },
            "steps": [_step(step, fake, chance, noise) for step in run.suite.scenarios[0].steps],
            "peak_memory": int(90e6 * chance.uniform(1, 1 + noise)),
            "cpu_seconds": 1.5,
            "written_bytes": 60_000_000,
            "seconds": 4.0,
            **fake.more,
        }
        change(result)
        jsonfile.write(folder / "result.json", result)
        for name, text in fake.plans.items():
            queryplan.keep(folder, name, text)
    return run


def _probed(name: str, fake: Fake) -> dict[str, Any]:
    known = {"name": name, "engine": name, "status": "available", "detail": "", "title": fake.title, "license": "MIT"}
    return {**known, "ranked": name not in NULLS, "gives": fake.gives, **ALLOWED, **fake.probed}


def _step(step: AnyStep, fake: Fake, chance: random.Random, noise: float) -> dict[str, Any]:
    if step.name in fake.bad:
        outcome, detail = fake.bad[step.name]
        return {"name": step.name, "outcome": outcome, "detail": detail}
    known: dict[str, Any] = {"name": step.name, "outcome": Outcome.OK, "elapsed": 0.1, "written_bytes": 30_000_000}
    if step.kind == "size":
        files = _files(fake.size)
        return {**known, "metric": "size", "unit": "B", "value": fake.size, "samples": [fake.size],
                "facts": {"before_flush": fake.size * 1.1, "index": fake.size * 0.2, "rows": 297_450, "files": files}}  # fmt: skip
    value = SECONDS[step.name] * fake.factor(step.name) * chance.uniform(1, 1 + noise)
    facts: dict[str, Any] = {}
    if step.kind == "query":
        facts = {"rows": 57_579, "gives": fake.gives, "cache": "warm"}
        known["no_plan"] = "" if step.name in fake.plans else "it tells no query plan"
    elif step.kind == "load":
        facts = {"rows": 297_450, "csv_bytes": 17_200_000, "takes": fake.gives}
    return {**known, "metric": "time", "unit": "s", "value": value, "samples": [value], "facts": facts}


def _files(size: float) -> Sequence[dict[str, Any]]:
    whole = int(size)
    return [
        {"name": "data.db", "part": "data", "apparent": whole * 9 // 10, "allocated": whole * 9 // 10},
        {"name": "data.log", "part": "journal", "apparent": whole // 10, "allocated": whole // 10},
    ]
