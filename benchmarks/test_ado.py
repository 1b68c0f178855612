"""Loops of `sqlite+ado` beside a C# program by hand, `by_hand_ado.cs`, on the same Mono and the same database.

Ratios of processor time, the median of pairs in turn. SYSTEM_DATA_SQLITE names an assembly of System.Data.SQLite, to run
that too.
"""

import os
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import median
from typing import Any

import pytest

from dbbench.datasets.cache import materialise
from dbbench.datasets.driver_rows import chunk
from dbbench.engine import registry
from dbbench.engine.base import Setup
from dbbench.errors import Unavailable
from dbbench.host.collector import collector_off
from dbbench.loadgen.loops import read_own_column
from dbbench.suite.loader import find_suite, load_suite
from dbbench.suite.model import Tier

SUITE = load_suite(find_suite("invoices"))
TABLES = SUITE.datasets["invoices"].tables
STEPS: dict[str, Any] = {step.name: step for step in SUITE.scenarios[0].steps}
COLUMNS = {"join-1": 7, "join-2": 1, "scan-1": 1, "scan-2": 1}
PAIRS = int(os.environ.get("PAIRS", "15"))
#: The aim is 1.1; the rest is for a busy machine.
AT_MOST = 1.15


class ByHand:
    """The C# program, and what a call of it takes in microseconds of processor time."""

    def __init__(self, engine: Any, folder: Path) -> None:
        made = folder / "by_hand_ado.exe"
        source = Path(__file__).with_name("by_hand_ado.cs")
        subprocess.run(["mcs", "-optimize", "-r:System.Data.dll", f"-out:{made}", str(source)], check=True)
        pragmas = [f"PRAGMA {name} = {value}" for name, value in engine.pragmas().items()]
        command = ["mono", str(made), str(engine.provider.file), engine.connection_string(), *pragmas]
        # os.environ has what dbbench starts Mono with.
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env={**os.environ}
        )

    def __call__(self, *parts: object) -> tuple[float, int]:
        assert self.process.stdin
        assert self.process.stdout
        print(*parts, sep="\t", file=self.process.stdin, flush=True)
        processor, _, rows = self.process.stdout.readline().split()
        return float(processor), int(rows)

    def close(self) -> None:
        self.process.communicate()


@pytest.fixture(scope="module", params=["Mono.Data.Sqlite", "System.Data.SQLite"])
def sides(request, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Any, Any, ByHand, Path]]:
    folder = tmp_path_factory.mktemp("ado")
    options = {"assembly": os.environ.get("SYSTEM_DATA_SQLITE", "")} if request.param != "Mono.Data.Sqlite" else {}
    if options.get("assembly") == "" or not shutil.which("mcs"):
        pytest.skip("SYSTEM_DATA_SQLITE names no assembly, or there is no mcs")
    (folder / "data").mkdir()
    try:
        engine = registry.load("sqlite+ado")(Setup(folder / "data", Tier.MEMORY, options))
        engine.open()
    except Unavailable as exc:
        pytest.skip(f"{exc.reason}; {exc.install}")
    session = engine.connect()
    engine.create(TABLES)
    session.begin_load(TABLES)
    for name, table in TABLES.items():
        insert = session.prepare_load(name, table)
        for batch in chunks(session, name):
            insert(batch)
    for part in session.prepare_finish(TABLES).values():
        part()
    session.execute(session.sql.create_table("Again", TABLES["Charges"]))
    theirs = ByHand(engine, folder)
    yield engine, session, theirs, folder
    theirs.close()
    session.close()
    engine.close()


def chunks(session: Any, name: str) -> list[Any]:
    files = materialise(SUITE.datasets["invoices"], scale=1.0)
    return [chunk(batch, TABLES[name], session.load_format, session.bind) for batch in files.stream(name)]


def microseconds(action: Callable[[], object]) -> float:
    with collector_off():
        start = time.process_time_ns()
        action()
        return (time.process_time_ns() - start) / 1_000


def compare(name: str, ours: Callable[[], float], theirs: Callable[[], float]) -> float:
    """The median of ours/theirs over pairs, A B B A ..."""
    found = []
    for number in range(PAIRS + 2):
        pair = [theirs(), ours()][::-1] if number % 2 else [ours(), theirs()]
        if number >= 2:  # both runtimes compile what they find
            found.append(pair)
    ratio = median(own / other for own, other in found)
    own, other = (min(each) / 1_000 for each in zip(*found, strict=True))
    print(
        f"\n  {name}: {ratio:.3f} in the middle; at best {own:.1f} ms, by hand {other:.1f}, {own / other:.3f}", end=""
    )
    return ratio


@pytest.mark.parametrize("step", COLUMNS)
def test_a_query(sides, step: str) -> None:
    _, session, by_hand, _ = sides
    sql, column = STEPS[step].sql, COLUMNS[step]
    run = session.prepare_query(sql)
    assert len(read_own_column(run(), column)) == by_hand("value", column, sql)[1]
    kept: list[Any] = [None]

    def read() -> None:
        kept[0] = read_own_column(run(), column)

    ratios = {
        how: compare(f"{step}, {how}", lambda: microseconds(read), lambda: by_hand(how, column, sql)[0])  # noqa: B023
        for how in ("value", "typed", "drop")
    }
    assert ratios["value"] <= AT_MOST


def test_an_insert(sides) -> None:
    _, session, by_hand, folder = sides
    table, batches = TABLES["Charges"], chunks(session, "Charges")
    insert = session.prepare_load("Again", table)
    file, sql = folder / "charges", session.sql.insert("Again", table)
    write(batches, file)

    def ours() -> float:
        session.begin()
        taken = microseconds(lambda: [insert(batch) for batch in batches])
        session.rollback()
        return taken

    assert compare("insert", ours, lambda: by_hand("insert", file, sql)[0]) <= AT_MOST


def write(batches: list[Any], file: Path) -> None:
    """Columns for the program: how many rows; then a letter for the kind and words of 8 bytes, with texts after their ends."""
    import numpy as np
    import pyarrow as pa

    table = pa.Table.from_batches(batches).combine_chunks()
    with file.open("wb") as to:
        to.write(np.int32(table.num_rows).tobytes())
        for column in table.columns:
            values = column.combine_chunks()
            kind = "t" if pa.types.is_string(values.type) else "d" if pa.types.is_floating(values.type) else "i"
            to.write(kind.encode())
            if kind == "t":
                texts = [text.encode() for text in values.to_pylist()]
                to.write(np.cumsum([0, *map(len, texts)]).astype(np.int64).tobytes() + b"".join(texts))
            else:
                to.write(values.cast(pa.float64() if kind == "d" else pa.int64()).to_numpy().tobytes())
