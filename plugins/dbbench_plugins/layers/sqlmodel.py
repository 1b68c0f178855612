"""SQLModel: instances of a class that is pydantic's and SQLAlchemy's at once."""

from __future__ import annotations

import datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from dbbench_plugins.layers.alchemy import Alchemy
from dbbench_plugins.layers.orm import ORMSession
from dbbench_plugins.sqlalchemy.core import core_table

if TYPE_CHECKING:
    from dbbench.engine import Table

_TYPES: dict[str, type] = {
    **dict.fromkeys(("integer", "bigint"), int),
    **dict.fromkeys(("real", "double"), float),
    **dict.fromkeys(("char", "varchar"), str),
    "decimal": Decimal,
    "date": datetime.date,
    "datetime": datetime.datetime,
}


class SQLModelSession(ORMSession):
    """A session of the ORM on models of SQLModel's."""

    @staticmethod
    def new_class(name: str, table: Table) -> Any:
        from sqlalchemy import MetaData
        from sqlmodel import Field, SQLModel

        written = core_table(name, table)
        columns = [column._copy() for column in written.columns]  # noqa: SLF001 - the public one is deprecated
        members: dict[str, Any] = {
            "__module__": __name__,
            "__tablename__": written.name,
            "metadata": MetaData(),
            "__annotations__": {
                key: _TYPES[column.data_type.name] if key == table.single_key else _TYPES[column.data_type.name] | None
                for key, column in table.columns.items()
            },
            **{key: Field(default=None, sa_column=column) for key, column in zip(table.columns, columns, strict=True)},
        }
        metaclass: Any = type(SQLModel)
        return metaclass(name, (SQLModel,), members, table=True)


class Models(Alchemy):
    """Models of SQLModel's."""

    layer = "SQLModel"
    package = "sqlmodel"
    extra = "sqlmodel"
    session_class = SQLModelSession
