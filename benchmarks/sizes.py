"""Print the parts of a size beside what each vendor counts: 20,000 records loaded, half of them deleted, then compacted.

python -m benchmarks.sizes sqlite duckdb postgresql mysql lmdb rocksdb berkeleydb firebird
"""

import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from dbbench.datasets.records import RecordSet
from dbbench.engine import registry
from dbbench.engine.base import Setup
from dbbench.engine.offered import prepared
from dbbench.engine.sql.dialect import RECORD_TABLE
from dbbench.engine.sql.session import fetch
from dbbench.suite.dataset import Records
from dbbench.suite.model import Tier
from dbbench.workloads.ondisk import by_role, on_disk
from dbbench.workloads.size import parts

COUNT, AT_ONCE = 20_000, 1_000
#: What the vendor's catalogue counts, in bytes.
QUERIES = {
    "sqlite": "SELECT page_count * page_size FROM pragma_page_count(), pragma_page_size()",
    "duckdb": "SELECT used_blocks * block_size FROM pragma_database_size()",
    "postgresql": f"SELECT SUM(pg_total_relation_size(oid)) FROM pg_class WHERE relname = '{RECORD_TABLE}' AND relkind = 'r'",
    "mysql": "SELECT SUM(file_size) FROM information_schema.innodb_sys_tablespaces "
    "WHERE name LIKE CONCAT(DATABASE(), '/%')",
    "firebird": "SELECT MON$PAGES * MON$PAGE_SIZE FROM MON$DATABASE",
}


def counted(engine: Any, session: Any) -> int:
    """Bytes by the vendor's own count."""
    if engine.name == "lmdb":
        return int((engine.environment.info()["last_pgno"] + 1) * engine.environment.stat()["psize"])
    if engine.name == "rocksdb":
        return int(engine.database.property_value("rocksdb.live-sst-files-size"))
    if engine.name == "berkeleydb":
        return int(engine.database.stat()["pagecnt"] * engine.database.stat()["pagesize"])
    return int(fetch(session, QUERIES[engine.name])[0][0])


def measure(name: str, folder: Path) -> None:
    """Print an engine's sizes."""
    (folder / "data").mkdir(mode=0o700)
    folder.chmod(0o755)  # for a server of another user
    setup = Setup(folder / "data", Tier.POWER)
    engine = registry.find(name)(setup)
    engine.open()
    empty = by_role(engine)
    records = RecordSet(Records(count=COUNT, key_bytes=16, value_bytes=100, key_order="scattered"), 1)
    engine.create_store(records.shape)
    empty["other"] = by_role(engine).get("other", 0)
    session = engine.connect()

    def show(when: str) -> None:
        engine.flush()
        size = on_disk(engine)
        shares = parts(size, empty)
        cost = size.total - shares["reserved"] - shares["empty"]
        print(name, when, cost, shares, "vendor", counted(engine, session), flush=True)

    insert, delete = (prepared(engine, session, operation)() for operation in ("insert_many", "delete_many"))
    for first in range(0, COUNT, AT_ONCE):
        insert(records.pairs(np.arange(first, first + AT_ONCE, dtype=np.uint64)))
    show("loaded")
    for first in range(0, COUNT // 2, AT_ONCE):
        delete(records.keys(np.arange(first, first + AT_ONCE, dtype=np.uint64)))
    show("half deleted")
    prepared(engine, session, "compact")([RECORD_TABLE])()
    session.close()
    engine.close()
    engine = registry.find(name)(setup)
    engine.open()
    session = engine.connect()
    show("compacted")
    session.close()
    engine.close()


if __name__ == "__main__":
    for each in sys.argv[1:]:
        with tempfile.TemporaryDirectory() as directory:
            measure(each, Path(directory))
