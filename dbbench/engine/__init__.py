"""The one door of plugin authors: `from dbbench.engine import Engine, Session, Tier, ...` brings all that a plugin needs.

A name is imported when it is first asked for: numpy, pyarrow and psutil come in with the plugins that use them only.
The modules behind the door may be moved; its names stay.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from dbbench.engine.renamed import DOOR

if TYPE_CHECKING:
    from dbbench.datasets.driver_rows import CsvChunk
    from dbbench.datasets.records import RecordSet
    from dbbench.engine.base import Engine, Session
    from dbbench.engine.driver_timer import DriverTimer
    from dbbench.engine.group import SessionGroup
    from dbbench.engine.info import EngineInfo, Publication
    from dbbench.engine.layer import Layer, raw_connection
    from dbbench.engine.objects import object_class, object_getter, object_maker
    from dbbench.engine.operations import (
        BlockOperations,
        KeyValueOperations,
        LoadFormat,
        LoadPart,
        ObjectOperations,
        Pair,
        ResultFormat,
        Retry,
        Rows,
        SQLOperations,
        TransactionOperations,
    )
    from dbbench.engine.options import Options, Program, ServerSetting, server_setting_names, server_settings
    from dbbench.engine.private_server import PrivateServer, program
    from dbbench.engine.setup import Setup
    from dbbench.engine.size import File, FileRole, Size
    from dbbench.engine.sql.keyvalue import RECORD_KEY, RECORD_TABLE, RECORD_VALUE, WithoutRecords
    from dbbench.engine.sql.session import STANDARD_TYPES, Dialect, SQLEngine, SQLSession, fetch
    from dbbench.engine.traits import Concurrency, MissingFeature, Traits
    from dbbench.errors import ServerFailed, Unavailable, Unsupported, UserError
    from dbbench.host.kept_folder import cache_folder
    from dbbench.host.machine import disk, disk_facts, file_system
    from dbbench.host.processes import local
    from dbbench.suite.data_types import DataType
    from dbbench.suite.dataset import Column, Records, Table
    from dbbench.suite.model import Tier

__all__ = [
    "RECORD_KEY",
    "RECORD_TABLE",
    "RECORD_VALUE",
    "STANDARD_TYPES",
    "BlockOperations",
    "Column",
    "Concurrency",
    "CsvChunk",
    "DataType",
    "Dialect",
    "DriverTimer",
    "Engine",
    "EngineInfo",
    "File",
    "FileRole",
    "KeyValueOperations",
    "Layer",
    "LoadFormat",
    "LoadPart",
    "MissingFeature",
    "ObjectOperations",
    "Options",
    "Pair",
    "PrivateServer",
    "Program",
    "Publication",
    "RecordSet",
    "Records",
    "ResultFormat",
    "Retry",
    "Rows",
    "SQLEngine",
    "SQLOperations",
    "SQLSession",
    "ServerFailed",
    "ServerSetting",
    "Session",
    "SessionGroup",
    "Setup",
    "Size",
    "Table",
    "Tier",
    "Traits",
    "TransactionOperations",
    "Unavailable",
    "Unsupported",
    "UserError",
    "WithoutRecords",
    "cache_folder",
    "disk",
    "disk_facts",
    "fetch",
    "file_system",
    "local",
    "object_class",
    "object_getter",
    "object_maker",
    "program",
    "raw_connection",
    "server_setting_names",
    "server_settings",
]

_MODULES = {
    "dbbench.datasets.driver_rows": ["CsvChunk"],
    "dbbench.datasets.records": ["RecordSet"],
    "dbbench.engine.base": ["Engine", "Session"],
    "dbbench.engine.driver_timer": ["DriverTimer"],
    "dbbench.engine.group": ["SessionGroup"],
    "dbbench.engine.info": ["EngineInfo", "Publication"],
    "dbbench.engine.layer": ["Layer", "raw_connection"],
    "dbbench.engine.objects": ["object_class", "object_getter", "object_maker"],
    "dbbench.engine.operations": [
        "BlockOperations",
        "KeyValueOperations",
        "LoadFormat",
        "LoadPart",
        "ObjectOperations",
        "Pair",
        "ResultFormat",
        "Retry",
        "Rows",
        "SQLOperations",
        "TransactionOperations",
    ],
    "dbbench.engine.options": ["Options", "Program", "ServerSetting", "server_setting_names", "server_settings"],
    "dbbench.engine.private_server": ["PrivateServer", "program"],
    "dbbench.engine.setup": ["Setup"],
    "dbbench.engine.size": ["File", "FileRole", "Size"],
    "dbbench.engine.sql.keyvalue": ["RECORD_KEY", "RECORD_TABLE", "RECORD_VALUE", "WithoutRecords"],
    "dbbench.engine.sql.session": ["Dialect", "SQLEngine", "SQLSession", "STANDARD_TYPES", "fetch"],
    "dbbench.engine.traits": ["Concurrency", "MissingFeature", "Traits"],
    "dbbench.errors": ["ServerFailed", "Unavailable", "Unsupported", "UserError"],
    "dbbench.host.kept_folder": ["cache_folder"],
    "dbbench.host.machine": ["disk", "disk_facts", "file_system"],
    "dbbench.host.processes": ["local"],
    "dbbench.suite.data_types": ["DataType"],
    "dbbench.suite.dataset": ["Column", "Records", "Table"],
    "dbbench.suite.model": ["Tier"],
}
_MODULE_OF = {name: module for module, names in _MODULES.items() for name in names}


def __getattr__(name: str) -> Any:
    if name in _MODULE_OF:
        value = globals()[name] = getattr(import_module(_MODULE_OF[name]), name)
        return value
    if name in DOOR:
        raise ImportError(f"dbbench.engine.{name} is now dbbench.engine.{DOOR[name]} (see docs/plugins.md)")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
