"""How SQL systems write types, names and statements: a table of types, and the DDL made of it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dbbench.suite.dataset import Records, Table

#: PostgreSQL cuts a longer name, and Firebird refuses it.
_LONGEST_NAME = 63
RECORD_TABLE, RECORD_KEY, RECORD_VALUE = "Records", "RecordKey", "RecordValue"
STANDARD_TYPES: Mapping[str, str] = {
    "integer": "INTEGER",
    "bigint": "BIGINT",
    "real": "REAL",
    "double": "DOUBLE PRECISION",
    "decimal": "DECIMAL({0}, {1})",
    "char": "CHAR({0})",
    "varchar": "VARCHAR({0})",
    "date": "DATE",
    "datetime": "TIMESTAMP",
}


@dataclass(frozen=True)
class Dialect:
    """How a system writes types and names."""

    #: Type of a suite -> how the system writes it; {0} and {1} are its arguments.
    types: Mapping[str, str] = field(default_factory=lambda: STANDARD_TYPES)
    #: What stands before and after a name.
    quotes: tuple[str, str] = ('"', '"')
    #: What stands for a value.
    placeholder: str = "?"
    #: The types of a key and of a value in bytes; `{0}` is the longest length.
    binary: tuple[str, str] = ("VARBINARY({0})", "VARBINARY({0})")
    #: What reads a document of a column as text.
    document: str = "{0}"
    #: What is put after a query for its first rows.
    limit: str = "LIMIT {0}"
    #: What is put before a query to get its plan as rows; empty if that isn't how.
    explain: str = ""
    #: The documented statement that gives unused room back; run for each table where it names one, as {table} or as
    #: text, {name}. Empty if there is none.
    compact: str = ""
    #: The statement that gathers statistics after a load, where the manual asks for it; for each table as with
    #: `compact`.
    statistics: str = ""
    #: A query of the system's catalogue for the first column of each index of a table. {0}: the table's name, as text.
    indexed: str = ""
    #: Two statements: the first makes a session refuse writes, the second lifts that; empty if the system has none.
    read_only: tuple[str, ...] = ()
    #: A query of the server's own counts of waits since it started: a name and a number in each row.
    waits: str = ""

    def of_each(self, statement: str, tables: Iterable[str]) -> list[str]:
        """A statement for each table, or once if it names none."""
        return list(dict.fromkeys(statement.format(table=self.quoted(name), name=name) for name in tables))

    def quoted(self, name: str) -> str:
        """An identifier, quoted."""
        left, right = self.quotes
        return f"{left}{name.replace(right, right * 2)}{right}"

    def translate(self, sql: str, tables: Mapping[str, Table]) -> str:
        """A suite's statement with names of tables and columns quoted, and its last LIMIT as the system writes it.

        Text in quotes stays as it is.
        """
        names = {*tables, *(column for table in tables.values() for column in table.columns)}

        def word(match: re.Match[str]) -> str:
            return self.quoted(match[0]) if match[0] in names else match[0]

        quoted = re.sub(r"'(?:[^']|'')*'|\"[^\"]*\"|\w+", word, sql)
        return re.sub(r"(?i)\bLIMIT\s+(\d+)\s*\Z", lambda match: self.limit.format(match[1]), quoted)

    def total(self, column: str, type_name: str) -> str:
        """The sum of a column. A real is cast first: some systems add up numbers of 4 bytes in 4 bytes."""
        name = self.quoted(column)
        if type_name == "real" and self.types["real"] != self.types["double"]:
            name = f"CAST({name} AS {self.types['double']})"
        return f"SUM({name})"

    def create_table(self, name: str, table: Table) -> str:
        """CREATE TABLE with its primary key and foreign keys."""
        lines = []
        for column_name, column in table.columns.items():
            type_name = self.types[column.data_type.name].format(*column.data_type.arguments)
            null = " NOT NULL" if column_name in table.key_columns else ""
            lines.append(f"{self.quoted(column_name)} {type_name}{null}")
        lines.append(f"PRIMARY KEY ({self._listed(table.key_columns)})")
        lines += [
            f"FOREIGN KEY ({self._listed(each.columns)}) REFERENCES {self.quoted(each.table)} ({self._listed(each.key)})"
            for each in table.foreign_keys
        ]
        return f"CREATE TABLE {self.quoted(name)} ({', '.join(lines)})"

    def _listed(self, names: Iterable[str]) -> str:
        return ", ".join(map(self.quoted, names))

    def create_indexes(self, name: str, table: Table) -> list[str]:
        """CREATE INDEX for each of its indexes."""
        return [
            f"CREATE INDEX {self.quoted(self.index_name(name, column))} ON {self.quoted(name)} ({self.quoted(column)})"
            for column in table.indexes
        ]

    @staticmethod
    def index_name(name: str, column: str) -> str:
        """Name of the index of a table's column: of no other one's, and within the 63 letters that names may have."""
        readable = f"ix_{name}_{column}"
        if "_" not in name and len(readable) <= _LONGEST_NAME:
            return readable
        return f"ix_{sha256(f'{name} {column}'.encode()).hexdigest()[:16]}"

    def create_records(self, records: Records) -> str:
        """CREATE TABLE of records under keys."""
        key, value = (
            kind.format(size) for kind, size in zip(self.binary, (records.key_bytes, records.value_bytes), strict=True)
        )
        return (
            f"CREATE TABLE {self.quoted(RECORD_TABLE)} ({self.quoted(RECORD_KEY)} {key} NOT NULL, {self.quoted(RECORD_VALUE)} {value} NOT NULL, "
            f"PRIMARY KEY ({self.quoted(RECORD_KEY)}))"
        )

    def limited(self, query: str, count: int) -> str:
        """A query for its first rows."""
        return f"{query} {self.limit.format(count)}"

    def insert(self, name: str, table: Table) -> str:
        """INSERT of one row with placeholders."""
        columns = ", ".join(map(self.quoted, table.columns))
        values = ", ".join([self.placeholder] * len(table.columns))
        return f"INSERT INTO {self.quoted(name)} ({columns}) VALUES ({values})"
