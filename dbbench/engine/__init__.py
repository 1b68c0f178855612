"""The one door of plugin authors: `from dbbench.engine import Engine, Session, Tier, ...` brings all they need.

A name is imported when it is first asked for: numpy, pyarrow and psutil come in with the plugins that use them only.
The modules behind the door may be moved; its names stay.
"""

from __future__ import annotations

import ast
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dbbench.datasets.driver_rows import CsvChunk
    from dbbench.engine.awaited import AwaitedConnection, AwaitedEngine, AwaitedSession, LoopOptions
    from dbbench.engine.base import Engine, Session, SessionGroup, Setup
    from dbbench.engine.driver_timer import DriverTimer
    from dbbench.engine.event_loop import EventLoop
    from dbbench.engine.layer import Layer, raw_connection
    from dbbench.engine.objects import object_class, object_getter, object_maker
    from dbbench.engine.operations import (
        KeyValueOperations,
        LoadFormat,
        LoadPart,
        ObjectOperations,
        Pair,
        ResultFormat,
        Retry,
        Rows,
        SQLOperations,
        TextOperations,
        TransactionOperations,
        VectorOperations,
    )
    from dbbench.engine.options import (
        MemoryShare,
        Options,
        Program,
        ServerSetting,
        Shares,
        chosen,
        server_setting_names,
        server_settings,
    )
    from dbbench.engine.private_server import PrivateServer, program
    from dbbench.engine.size import File, FileRole, Size
    from dbbench.engine.sql.dialect import RECORD_KEY, RECORD_TABLE, RECORD_VALUE, STANDARD_TYPES, Dialect
    from dbbench.engine.sql.operations import WithoutRecords
    from dbbench.engine.sql.session import SQLEngine, SQLSession, fetch
    from dbbench.engine.traits import Concurrency, EngineInfo, Knob, MissingFeature, Publication, Traits
    from dbbench.errors import ServerFailed, Unavailable, Unsupported, UserError
    from dbbench.host.kept_folder import cache_folder
    from dbbench.host.machine import disk, disk_facts, file_system
    from dbbench.host.processes import local
    from dbbench.suite.data_types import DataType
    from dbbench.suite.dataset import Column, Records, Table, Vectors
    from dbbench.suite.model import Tier
    from dbbench.suite.steps.search import MatchKind, Payload

#: Name -> the module that has it, read from the imports above, which only type checkers carry out.
_MODULE_OF = {
    alias.name: str(node.module)
    for node in ast.walk(ast.parse(Path(__file__).read_text(encoding="utf-8")))
    if isinstance(node, ast.ImportFrom) and str(node.module).startswith("dbbench.")
    for alias in node.names
}
__all__ = sorted(_MODULE_OF)  # noqa: PLE0605 - each name stands once, above


def __getattr__(name: str) -> Any:
    if name in _MODULE_OF:
        value = globals()[name] = getattr(import_module(_MODULE_OF[name]), name)
        return value
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
