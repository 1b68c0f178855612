"""SQLite in a shared library that you name, of any release since 3.3, through its C interface with ctypes.

A call from Python costs half a microsecond, so compare two libraries that are both reached this way.
"""

from __future__ import annotations

import ctypes
import ctypes.util
import platform
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from pydantic import Field

from dbbench.engine import Program, Tier, Unavailable, Unsupported, chosen, local
from dbbench_plugins.sqlite import CommonOptions, FTS5Session, SQLite, SQLiteSession, rows

_OK, _ROW, _DONE, _SCHEMA = 0, 100, 101, 17
#: Statements that a connection keeps, as Python's own driver does.
_KEPT = 128
_TRANSIENT = ctypes.c_void_p(-1)
#: Function -> what it returns, where that is no int.
_RETURNS: Mapping[str, Any] = {
    "column_int64": ctypes.c_int64, "column_double": ctypes.c_double, "column_text": ctypes.c_void_p,
    "column_blob": ctypes.c_void_p, "errmsg": ctypes.c_char_p, "libversion": ctypes.c_char_p,
}  # fmt: skip


class LibraryError(Exception):
    """What SQLite says of a call that failed."""

    def __init__(self, code: int, text: str) -> None:
        super().__init__(text)
        self.sqlite_errorcode = code


class Library:
    """The functions of a library, by their names without `sqlite3_`."""

    def __init__(self, path: str) -> None:
        try:
            self.loaded = ctypes.CDLL(path)
            self.version = str(self.libversion().decode())
        except (OSError, AttributeError) as exc:
            raise Unavailable(
                f"{path} is no library of SQLite: {exc}", "name one by its path, like libsqlite3.so.0"
            ) from exc
        self.release = tuple(map(int, self.version.split(".")[:3]))
        if self.release < (3, 3):
            raise Unavailable(f"{path} is SQLite {self.version}", "name one of release 3.3 or newer")
        # Since 3.3.9: its statements last when a schema changes, and a step gives the reason of a failure.
        self.lasting = hasattr(self.loaded, "sqlite3_prepare_v2")

    def __getattr__(self, name: str) -> Any:
        function = getattr(self.loaded, f"sqlite3_{name}")
        function.restype = _RETURNS.get(name, ctypes.c_int)
        setattr(self, name, function)
        return function


class Cursor:
    """The rows of one execution. It gives its statement back when it is at its end, or forgotten."""

    def __init__(self, connection: Connection, sql: str, values: Sequence[Any]) -> None:
        self.connection, self.sql, self.library = connection, sql, connection.library
        self.statement = connection.taken(sql)
        try:
            self._bind(values)
            try:
                self.has_row = self._step()
            except LibraryError as exc:
                if exc.sqlite_errorcode != _SCHEMA:
                    raise
                connection.drop(self.statement)  # prepared for an earlier schema
                self.statement = connection.prepared(sql)
                self._bind(values)
                self.has_row = self._step()
        except BaseException:
            self.close()
            raise
        self.width = self.library.column_count(self.statement)
        self.description = [(number,) for number in range(self.width)] or None
        if not self.has_row:
            self.close()

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        while self.has_row:
            row = tuple(map(self._value, range(self.width)))
            self._advance()
            yield row

    def column(self, number: int) -> list[Any]:
        """Step to the end and read one column."""
        found: list[Any] = []
        value, step, statement = self._value, self.library.step, self.statement
        code = _ROW if self.has_row else _DONE
        while code == _ROW:
            found.append(value(number))
            code = step(statement)
        self.close()
        if code != _DONE:
            raise self.connection.error(code)
        return found

    def fetchone(self) -> tuple[Any, ...] | None:
        return next(iter(self), None)

    def fetchall(self) -> list[tuple[Any, ...]]:
        return list(self)

    def close(self) -> None:
        statement, self.statement, self.has_row = self.statement, None, False
        if statement is not None:
            self.connection.give_back(self.sql, statement)

    def __del__(self) -> None:
        if getattr(self, "statement", None) is not None:
            self.close()

    def _advance(self) -> None:
        self.has_row = self._step()
        if not self.has_row:
            self.close()

    def _step(self) -> bool:
        code = self.library.step(self.statement)
        if code not in (_ROW, _DONE):
            if not self.library.lasting:
                code = self.library.reset(self.statement)
            raise self.connection.error(code)
        return bool(code == _ROW)

    def _bind(self, values: Sequence[Any]) -> None:
        library, statement = self.library, self.statement
        for number, value in enumerate(values, 1):
            match value:
                case None:
                    code = library.bind_null(statement, number)
                case int():
                    code = library.bind_int64(statement, number, ctypes.c_int64(value))
                case float():
                    code = library.bind_double(statement, number, ctypes.c_double(value))
                case str():
                    data = value.encode()
                    code = library.bind_text(statement, number, data, len(data), _TRANSIENT)
                case _:
                    data = bytes(value)
                    code = library.bind_blob(statement, number, data, len(data), _TRANSIENT)
            if code != _OK:
                raise self.connection.error(code)

    def _value(self, number: int) -> Any:
        library, statement = self.library, self.statement
        match library.column_type(statement, number):
            case 1:
                return library.column_int64(statement, number)
            case 2:
                return library.column_double(statement, number)
            case 3:
                start = library.column_text(statement, number)
                return ctypes.string_at(start, library.column_bytes(statement, number)).decode()
            case 4:
                start = library.column_blob(statement, number)
                return ctypes.string_at(start, library.column_bytes(statement, number)) if start else b""
            case _:
                return None


class Connection:
    """A connection with what a session calls of Python's own driver. It keeps its statements."""

    def __init__(self, library: Library, path: str, busy_seconds: int) -> None:
        self.library, self.handle = library, ctypes.c_void_p()
        self.kept: dict[str, Any] = {}
        self.live: dict[int, Any] = {}
        code = library.open(path.encode(), ctypes.byref(self.handle))
        if code != _OK:
            raise self.error(code)
        library.busy_timeout(self.handle, 1_000 * busy_seconds)
        if library.release >= (3, 3, 8):
            library.extended_result_codes(self.handle, 1)

    def execute(self, sql: str, values: Sequence[Any] = ()) -> Cursor:
        return Cursor(self, sql, values)

    def cursor(self) -> Connection:
        return self

    def executemany(self, sql: str, given: Iterable[Sequence[Any]]) -> None:
        for values in given:
            Cursor(self, sql, values).close()

    @property
    def in_transaction(self) -> bool:
        return not self.library.get_autocommit(self.handle)

    def close(self) -> None:
        self.kept.clear()
        for statement in self.live.values():
            self.library.finalize(statement)
        self.live.clear()
        self.library.close(self.handle)

    def taken(self, sql: str) -> Any:
        """A statement that was kept, or a new one."""
        return self.kept.pop(sql, None) or self.prepared(sql)

    def prepared(self, sql: str) -> Any:
        """A new statement. Raises LibraryError."""
        text, statement = sql.encode(), ctypes.c_void_p()
        prepare = self.library.prepare_v2 if self.library.lasting else self.library.prepare
        code = prepare(self.handle, text, len(text), ctypes.byref(statement), None)
        if code != _OK:
            raise self.error(code)
        self.live[statement.value or 0] = statement
        return statement

    def give_back(self, sql: str, statement: Any) -> None:
        """Keep a statement for its next execution."""
        if (statement.value or 0) not in self.live:  # the connection is closed
            return
        self.library.reset(statement)
        if sql in self.kept or len(self.kept) >= _KEPT:
            self.drop(statement)
        else:
            self.kept[sql] = statement

    def drop(self, statement: Any) -> None:
        """Forget a statement."""
        del self.live[statement.value or 0]
        self.library.finalize(statement)

    def error(self, code: int) -> LibraryError:
        """What SQLite says of its last call."""
        return LibraryError(code, (self.library.errmsg(self.handle) or b"").decode("utf-8", "replace"))


class SQLiteLibraryOptions(CommonOptions):
    library: Program = Field(default="", description="path of a shared library of SQLite; the system's if not given")


class SQLiteLibrarySession(SQLiteSession):
    result_format = "columns"
    prepare_rows = FTS5Session.prepare_rows


class SQLiteLibrary(SQLite):
    name = "sqlite+library"
    title = "SQLite (a library, ctypes)"
    debian = ("libsqlite3-0",)
    options_class = SQLiteLibraryOptions
    session_class = SQLiteLibrarySession

    @classmethod
    def available_with(cls, options: Mapping[str, Any]) -> None:
        cls._library(options.get("library", ""))

    @classmethod
    def _library(cls, given: object) -> Library:
        path = local(str(given)) if given else ctypes.util.find_library("sqlite3")
        if not path:
            raise Unavailable("there is no library of SQLite here", f"--set {cls.name}.library=PATH")
        return Library(path)

    @classmethod
    def versions(cls) -> dict[str, str]:
        return {"Python": platform.python_version()}

    def server_versions(self) -> dict[str, str]:
        return {"SQLite": self.library.version}

    def open(self) -> None:
        self.library = self._library(self.options.library)
        if self.tier is Tier.POWER and not self._logs:
            raise Unsupported(
                f"SQLite {self.library.version} can't give durability power: it deletes its journal and doesn't sync the "
                "folder (a write-ahead log came with 3.7)"
            )
        if self.library.release < (3, 16):  # which has no functions for pragmas
            self.sql = replace(self.sql, indexed="")  # type: ignore[misc]
            self.sync_queries = self.option_queries = {}  # type: ignore[misc]
        super().open()

    def pragmas(self) -> dict[str, Any]:
        mib = chosen(self.options.cache_mib)
        if not mib or self.library.release >= (3, 7, 10):
            return super().pragmas()
        pages = mib * 2**20 // int(self.options.page_size)  # it knows no other unit
        return {**super().pragmas(), "cache_size": pages}

    def _raw(self) -> Any:
        return Connection(self.library, str(self.path), self.options.busy_seconds)

    def flush(self) -> None:
        if self._logs:
            super().flush()

    def settings(self) -> dict[str, Any]:
        if self._logs:
            return super().settings()
        ((page_size,),) = rows(self.connection, "PRAGMA page_size")
        return {**super(SQLite, self).settings(), "journal_mode": "DELETE", "page_size": page_size}

    @property
    def _logs(self) -> bool:
        """Whether it has a write-ahead log; an older release has a rollback journal, in every tier."""
        return self.library.release >= (3, 7)
