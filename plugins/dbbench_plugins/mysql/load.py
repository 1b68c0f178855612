"""Arrow record batches by LOAD DATA LOCAL INFILE."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from dbbench.engine import LoadPart, Unsupported, fetch
from dbbench_plugins.mysql.server import MySQLSession

if TYPE_CHECKING:
    from dbbench.engine import CsvChunk, Table

_FORMAT = "CHARACTER SET utf8mb4 FIELDS TERMINATED BY ',' OPTIONALLY ENCLOSED BY '\"' ESCAPED BY ''"


class LoadSession(MySQLSession):
    """A session over any driver that sends local files: a chunk goes to a file in memory, then to the server."""

    load_format = "csv"

    def __init__(self, connection: Any, dialect: Any) -> None:
        super().__init__(connection, dialect)
        self.files: list[Any] = []

    def affected(self, sql: str) -> int:
        """Run one statement; the number of rows that it changed."""
        return int(self.execute(sql).rowcount)

    def prepare_load(self, name: str, table: Table) -> Callable[[Any], object]:
        # Documented for bulk loads. It concerns secondary unique keys, of which there are none; the primary key
        # is checked.
        self.execute(f"SET unique_checks = 0{', GLOBAL local_infile = 1' * self.private}")
        ((allowed,),) = fetch(self, "SELECT @@local_infile")
        if not int(allowed):
            raise Unsupported("the server takes no local files: SET GLOBAL local_infile = 1")
        file, path = _file()
        self.files.append(file)
        # The server doesn't tell a NULL, written as nothing, from ''. Of other types than text '' can only be one.
        missing = [key for key, column in table.columns.items() if column.nullable]
        places = {key: f"@missing{place}" for place, key in enumerate(missing)}
        columns = ", ".join(places.get(key) or self.sql.quoted(key) for key in table.columns)
        sets = ", ".join(f"{self.sql.quoted(key)} = NULLIF({place}, '')" for key, place in places.items())
        statement = f"LOAD DATA LOCAL INFILE '{path}' INTO TABLE {self.sql.quoted(name)} {_FORMAT} ({columns}){f' SET {sets}' * bool(sets)}"

        def insert(chunk: CsvChunk) -> None:
            if chunk.empty:
                raise Unsupported("an empty text in a nullable column, which LOAD DATA takes for a NULL")
            file.seek(0)
            file.truncate()
            file.write(chunk.data)
            file.flush()
            loaded = self.affected(statement)
            # What would be an error, also a key that already exists, is a warning where the file is local.
            warnings = fetch(self, "SHOW WARNINGS LIMIT 1")
            if warnings or loaded != chunk.rows:
                said = ": ".join(map(str, warnings[0])) if warnings else ""
                raise ValueError(f"{loaded:,} of {chunk.rows:,} rows loaded into {name}: {said}")

        return insert

    def prepare_finish(self, tables: Mapping[str, Table]) -> Mapping[LoadPart, Callable[[], object]]:
        """Commit, then make the indexes: a CREATE INDEX would commit by itself. Then check keys again."""
        closing = f"SET unique_checks = 1{', GLOBAL local_infile = 0' * self.private}"
        indexes = [*self.create_indexes(tables), closing]
        return {"commit": self.commit, "indexes": self.each(indexes)}

    def close(self) -> None:
        """Close the connection and let go of the files."""
        for file in self.files:
            file.close()
        super().close()


def _file() -> tuple[Any, str]:
    """A file and its name: in memory where there are such files, else one that goes when it is closed."""
    if hasattr(os, "memfd_create"):
        descriptor = os.memfd_create("dbbench-load")
        return os.fdopen(descriptor, "wb"), f"/proc/self/fd/{descriptor}"
    file = tempfile.NamedTemporaryFile()  # noqa: SIM115 - it lives as long as the session
    return file, file.name
