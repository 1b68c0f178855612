"""The conformance kit: what every engine must keep to, as tests that a plugin inherits.

    from dbbench.testing import kit

    TestMine = kit("mine")

`kit` makes a class of the contracts for all that the engine offers. Each is one to derive from by itself, too. A test
is a clause: it says what it expected, why that matters and where to read on.

An engine whose driver is missing is skipped, unless the environment variable DBBENCH_REQUIRE names it
(engines with commas between, or "all"): then it fails.
"""

from typing import Any

from dbbench.engine import registry
from dbbench.engine.base import Engine
from dbbench.engine.offered import offers
from dbbench.errors import Unavailable
from dbbench.testing.blocks import BlocksContract
from dbbench.testing.contract import EngineContract
from dbbench.testing.objects import ObjectContract
from dbbench.testing.records import KeyValueContract
from dbbench.testing.sql import SQLContract
from dbbench.testing.texts import TextContract
from dbbench.testing.vectors import VectorContract

__all__ = [
    "BlocksContract",
    "EngineContract",
    "KeyValueContract",
    "ObjectContract",
    "SQLContract",
    "TextContract",
    "VectorContract",
    "kit",
]


def kit(engine: str, **attributes: Any) -> type[EngineContract]:
    """A test class for the engine of this name; `attributes` are those of the kits, like `options`.

    Where its module can't be imported for want of a driver, nothing is known of it, and the one kit for all skips it.
    """
    try:
        bases = kits(registry.find(engine))
    except Unavailable:
        bases = (EngineContract,)
    return type("Contract", bases, {"engine": engine, **attributes})


def kits(engine: type[Engine]) -> tuple[type[EngineContract], ...]:
    """Contracts for the operations that an engine offers, or the one for all."""
    chosen: list[type[EngineContract]] = []
    if offers(engine, "query"):
        chosen.append(SQLContract)
    if offers(engine, "read"):
        chosen.append(BlocksContract if engine.blocks else KeyValueContract)
    if offers(engine, "get"):
        chosen.append(ObjectContract)
    if offers(engine, "nearest"):
        chosen.append(VectorContract)
    if offers(engine, "search"):
        chosen.append(TextContract)
    return tuple(chosen) or (EngineContract,)
