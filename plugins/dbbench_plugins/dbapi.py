"""What plugins over plain DB-API drivers share: transactions by autocommit, the address in a URL, and connecting."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar
from urllib.parse import parse_qsl, unquote, urlsplit

from dbbench.engine import (
    RECORD_TABLE,
    Concurrency,
    Dialect,
    Engine,
    EngineInfo,
    Rows,
    ServerFailed,
    Session,
    Setup,
    SQLEngine,
    SQLSession,
    Tier,
    Unsupported,
)

if TYPE_CHECKING:
    from dbbench.engine import PrivateServer, Records, Table

Kept = TypeVar("Kept", bound=Session)

#: How long a server at a URL may take to accept a connection.
CONNECT_SECONDS = 10


def filled(session: type[Session] | None) -> Mapping[str, str]:
    """What else binds for a database whose own engine has this session: its texts that may not be empty."""
    return {kind: form for kind, form in session.bind.items() if form == "filled"} if session else {}


class SwitchedSession(SQLSession):
    """A client whose transaction begins where autocommit is switched off: ODBC knows no other way, nor does Oracle."""

    def __init__(self, connection: Any, dialect: Dialect) -> None:
        super().__init__(connection, dialect)
        # Cursors of queries: where one of libsqliteodbc's is open the file stays open after its connection.
        self.reading: list[Any] = []

    def execute(self, sql: str) -> Any:
        """Run one statement; its cursor."""
        cursor = self.connection.cursor()
        cursor.execute(sql)
        return cursor

    def begin(self) -> None:
        self.connection.autocommit = False

    def commit(self) -> None:
        self.connection.commit()
        self.connection.autocommit = True

    def rollback(self) -> None:
        self.connection.rollback()
        self.connection.autocommit = True

    def prepare_query(self, sql: str) -> Callable[[], Rows]:
        cursor = self.query_cursor()

        def run() -> Rows:
            cursor.execute(sql)
            rows: Rows = cursor
            return rows

        return run

    def prepare_statement(self, sql: str) -> Callable[[], object]:
        execute = self.connection.cursor().execute
        return lambda: execute(sql)

    def prepare_call(self, sql: str, rows: int | None = None) -> Callable[..., Any]:
        cursor = self.new_cursor()
        execute, fetchall = cursor.execute, cursor.fetchall

        def first(*values: Any) -> Any:
            execute(sql, values)
            found = fetchall()  # to its end, or the connection might be taken for busy
            return found[0] if found else None

        def every(*values: Any) -> Any:
            execute(sql, values)
            return fetchall()

        if rows == 0:
            return lambda *values: execute(sql, values)
        return first if rows == 1 else every

    def prepare_many(self, sql: str) -> Callable[[Sequence[Sequence[Any]]], object]:
        executemany = self.connection.cursor().executemany
        return lambda many: executemany(sql, many)

    def query_cursor(self) -> Any:
        """The cursor of a query."""
        return self.new_cursor()

    def new_cursor(self) -> Any:
        """A cursor that is closed with the session."""
        self.reading.append(self.connection.cursor())
        return self.reading[-1]

    def close(self) -> None:
        """Close the cursors, then the connection."""
        for cursor in self.reading:
            with suppress(Exception):  # each driver has its own; the server may be gone
                cursor.close()
        self.reading.clear()
        super().close()


class KeepsSessions(Engine):
    """An engine that closes the sessions that were left open before what they need."""

    def __init__(self, setup: Setup) -> None:
        super().__init__(setup)
        self._sessions: list[Session] = []

    def kept(self, session: Kept) -> Kept:
        """The session, which is closed with the engine at the latest."""
        self._sessions.append(session)
        return session

    def close(self) -> None:
        for session in self._sessions:
            with suppress(Exception):  # it is closed, or the server is gone; each driver has its own
                session.close()
        self._sessions.clear()
        super().close()


class Served(KeepsSessions):
    """An engine with a server, private or at a URL, which it stops if it is its own."""

    concurrency = Concurrency(threads=None, processes=None)
    server: PrivateServer | None = None
    #: The tier that a server at a URL gives, and the settings that it has for it, once they were read.
    given_tier: Tier | None = None
    given_settings: Mapping[str, Any] = {}

    def open(self) -> None:
        try:
            if self.url:
                self._reach()
            else:
                self._start()
            self._look()
        except BaseException:
            self.close()
            raise

    def _reach(self) -> None:
        """Raise ServerFailed, which says what to do, if the server at the URL can't be reached."""
        raise NotImplementedError

    def _start(self) -> None:
        """Start a private server, unless another process of clients has done so."""
        raise NotImplementedError

    def _look(self) -> None:
        """Learn what server it is and how it is set. Raises Unsupported if one at a URL doesn't give the tier."""
        raise NotImplementedError

    def info(self) -> EngineInfo:
        return replace(super().info(), tier=self.given_tier or self.tier)

    def give(self, tier: Tier, settings: Mapping[str, Any]) -> None:
        """Take the strongest tier that a server's settings give. Raises Unsupported if more was asked for."""
        tiers = list(Tier)
        if tiers.index(tier) < tiers.index(self.tier):
            found = ", ".join(f"{name} is {value}" for name, value in settings.items())
            raise Unsupported(
                f"durability {self.tier} needs other settings than the server's: {found}; set them there, or ask for "
                "another durability"
            )
        self.given_tier, self.given_settings = tier, settings

    def processes(self) -> Sequence[int]:
        return self.server.processes() if self.server else ()

    def exit_reason(self) -> str:
        return self.server.exit_reason() if self.server else ""

    def close(self) -> None:
        super().close()
        if self.server:
            self.server.stop()


class ClientServer(Served, SQLEngine):
    """A SQL engine with a server. It knows which tables are its own."""

    def __init__(self, setup: Setup) -> None:
        super().__init__(setup)
        self.made: list[str] = []

    def promised(self) -> Mapping[str, Any]:
        return self.given_settings or super().promised()

    def create(self, tables: Mapping[str, Table]) -> None:
        super().create(tables)
        self.made += tables

    def create_store(self, records: Records) -> None:
        super().create_store(records)
        self.made.append(RECORD_TABLE)


@dataclass(frozen=True)
class Address:
    """What a URL names. `parameters` are those after its question mark."""

    host: str
    port: int
    database: str
    user: str = ""
    password: str = field(default="", repr=False)
    parameters: Mapping[str, str] = field(default_factory=dict, repr=False)


def address(url: str, example: str, port: int) -> Address:
    """The address that a URL like `example` names. Raises ServerFailed, in whose text nothing of the URL is."""
    try:
        parts = urlsplit(url)
        host, named = unquote(parts.hostname or ""), parts.port
    except ValueError:  # its text has a piece of the URL in it, which may be one of the password
        raise ServerFailed(
            f"this is no URL like {example}; write / as %2F, @ as %40, # as %23 and ? as %3F in a password"
        ) from None
    database = unquote(parts.path.lstrip("/"))
    if not host or not database:
        raise ServerFailed(f"the URL names no host or no database: {example}")
    return Address(
        host=host,
        port=named or port,
        database=database,
        user=unquote(parts.username or ""),
        password=unquote(parts.password or ""),
        parameters=dict(parse_qsl(parts.query)),
    )


def failed(exc: Exception, advice: str, marks: Mapping[str, str] | None = None) -> NoReturn:
    """Raise ServerFailed for what a driver raised where it couldn't connect: its words, and what to do.

    `marks` are words of a message -> what to do then.
    """
    text = str(exc)
    advice = next((words for mark, words in (marks or {}).items() if mark in text), advice)
    said = " ".join(str(exc.args[-1] if exc.args else exc).split())
    raise ServerFailed(f"the server at the URL can't be used: {said}; {advice}") from None
