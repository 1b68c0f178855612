"""The kit for the engine that `dbbench plugin check` asks about: pytest collects the classes that it makes here."""

from __future__ import annotations

import json
import os

from dbbench import registry
from dbbench.engine import Engine, offers
from dbbench.sql import SQLEngine
from dbbench.testing.blocks import BlocksContract
from dbbench.testing.contract import EngineContract
from dbbench.testing.keyvalue import KeyValueContract
from dbbench.testing.objects import ObjectContract
from dbbench.testing.sql import SQLContract


def kits(engine: type[Engine]) -> list[type[EngineContract]]:
    """What tests all that an engine offers."""
    chosen: list[type[EngineContract]] = []
    if issubclass(engine, SQLEngine) and offers(engine, "query"):
        chosen.append(SQLContract)
    if offers(engine, "read"):
        chosen.append(BlocksContract if engine.blocks else KeyValueContract)
    if offers(engine, "get"):
        chosen.append(ObjectContract)
    return chosen or [EngineContract]


if "DBBENCH_ASKED" in os.environ:
    _asked = json.loads(os.environ["DBBENCH_ASKED"])
    for _kit in kits(registry.load(_asked["engine"])):
        globals()[f"Test{_kit.__name__.removesuffix('Contract')}"] = type(f"Test{_kit.__name__}", (_kit,), _asked)
    del _kit
