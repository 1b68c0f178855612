"""Django's ORM: instances of its models. Its settings are the process's own, which is a trial's and ends with it."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from typing import TYPE_CHECKING, Any, ClassVar

from dbbench.engine import Layer, Session

if TYPE_CHECKING:
    from dbbench.engine import DriverTimer, Table

_LABEL = "dbbench"
_numbers = count(1)
_models: dict[tuple[str, str], Any] = {}


class DjangoSession(Session):
    """A database of its own in Django's settings, and the connection that Django makes to it."""

    def __init__(self, database: dict[str, Any]) -> None:
        self.connections = _connections()
        self.alias = f"{_LABEL}{next(_numbers)}"
        made = self.connections.configure_settings({"default": {}, self.alias: database})
        self.connections.settings[self.alias] = made[self.alias]
        self.wrapper = self.connections[self.alias]
        self.wrapper.ensure_connection()

    def prepare_get(self, name: str, table: Table) -> Callable[[Any], Any]:
        model = _model(name, table)
        get, absent = model.objects.using(self.alias).get, model.DoesNotExist

        def found(key: Any) -> Any:
            try:
                return get(pk=key)
            except absent:
                return None

        return found

    def prepare_get_many(self, name: str, table: Table) -> Callable[[list[Any] | None], list[Any]]:
        every = _model(name, table).objects.using(self.alias)
        return lambda keys: list(every.all() if keys is None else every.filter(pk__in=keys))

    def watch(self, timer: DriverTimer) -> None:
        make = self.wrapper.make_cursor
        self.wrapper.make_cursor = lambda cursor: make(timer.over(cursor))

    def close(self) -> None:
        self.wrapper.close()
        del self.connections[self.alias]
        del self.connections.settings[self.alias]


def _connections() -> Any:
    """Django's connections, after its settings have been made, once in a process."""
    import django
    from django.conf import settings

    if not settings.configured:
        settings.configure(DATABASES={}, INSTALLED_APPS=[], USE_TZ=False, LOGGING_CONFIG=None)
        django.setup()
    from django.db import connections

    return connections


def _model(name: str, table: Table) -> Any:
    """The model of a table, made once; Django knows it by a name of its own."""
    from django.db import models

    known = (name, table.model_dump_json())
    if known in _models:
        return _models[known]
    kinds: dict[str, Callable[..., Any]] = {
        "integer": models.IntegerField,
        "bigint": models.BigIntegerField,
        "real": models.FloatField,
        "double": models.FloatField,
        "decimal": lambda digits, places, **more: models.DecimalField(max_digits=digits, decimal_places=places, **more),
        "char": lambda size, **more: models.CharField(max_length=size, **more),
        "varchar": lambda size, **more: models.CharField(max_length=size, **more),
        "date": models.DateField,
        "datetime": models.DateTimeField,
    }
    members: dict[str, Any] = {
        key: kinds[column.data_type.name](
            *column.data_type.arguments, db_column=key, primary_key=key == table.single_key, null=column.nullable
        )
        for key, column in table.columns.items()
    }
    members["__module__"] = __name__
    members["Meta"] = type("Meta", (), {"app_label": _LABEL, "db_table": name, "managed": False})
    _models[known] = type(f"{name}{len(_models)}", (models.Model,), members)
    return _models[known]


class Django(Layer):
    """Django's models."""

    layer = "Django"
    package = "Django"
    layer_license = "BSD-3-Clause"
    extra = "django"
    session_class = DjangoSession

    #: From an open base engine to the entry of DATABASES.
    reach: ClassVar[Callable[[Any], dict[str, Any]]]

    def objects(self) -> Session:
        return DjangoSession(type(self).reach(self.base_engine))
