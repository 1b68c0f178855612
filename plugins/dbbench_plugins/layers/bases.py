"""What the toolkits of access layers have to know of each built-in base engine; the entry points name these facts.

Each base has at most one fact for a toolkit: its SQLAlchemy dialect, peewee's class, the entry of Django's DATABASES.
"""

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class AlchemyBase:
    """How SQLAlchemy reaches an engine. `package` brings the dialect, if SQLAlchemy doesn't; the extra has its name."""

    url: str
    package: str = ""
    #: False where every statement is in a transaction: the first one begins it, and reads go on in it.
    autocommit: bool = True


@dataclass(frozen=True)
class PeeweeBase:
    """The name of peewee's class for the database, and the class's arguments."""

    database: str
    arguments: dict[str, Any] = field(default_factory=dict)


SQLITE_ALCHEMY = AlchemyBase("sqlite+pysqlite://")
POSTGRESQL_ALCHEMY = AlchemyBase("postgresql+psycopg://")
MYSQL_ALCHEMY = AlchemyBase("mysql+mysqldb://")
FIREBIRD_ALCHEMY = AlchemyBase("firebird+firebird://", package="sqlalchemy-firebird", autocommit=False)

SQLITE_PEEWEE = PeeweeBase("SqliteDatabase")
POSTGRESQL_PEEWEE = PeeweeBase("PostgresqlDatabase", {"prefer_psycopg3": True})
MYSQL_PEEWEE = PeeweeBase("MySQLDatabase")


def sqlite_django(engine: Any) -> dict[str, Any]:
    """The entry of DATABASES for an open engine."""
    pragmas = "; ".join(f"PRAGMA {name} = {value}" for name, value in engine.pragmas().items())
    return {"ENGINE": "django.db.backends.sqlite3", "NAME": engine.path, "OPTIONS": {"init_command": pragmas}}


def postgresql_django(engine: Any) -> dict[str, Any]:
    """The entry of DATABASES for an open engine."""
    from psycopg.conninfo import conninfo_to_dict

    known: dict[str, Any] = dict(conninfo_to_dict(engine.address))
    parts = {"NAME": "dbname", "USER": "user", "PASSWORD": "password", "HOST": "host", "PORT": "port"}
    return {
        "ENGINE": "django.db.backends.postgresql",
        **{part: str(known.pop(key, "")) for part, key in parts.items()},
        "OPTIONS": known,
    }


def mysql_django(engine: Any) -> dict[str, Any]:
    """The entry of DATABASES for an open engine."""
    address = engine.address
    socket, authority = map(address.parameters.get, ("unix_socket", "ssl_ca"))
    return {
        "ENGINE": "django.db.backends.mysql",
        "NAME": address.database,
        "USER": address.user,
        "PASSWORD": address.password,
        "HOST": socket or address.host,
        "PORT": "" if socket else str(address.port),
        "OPTIONS": {"charset": "utf8mb4", **({"ssl": {"ca": authority}} if authority else {})},
    }
