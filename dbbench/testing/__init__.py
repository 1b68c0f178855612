"""The conformance kit: what every engine must keep to, as tests that a plugin inherits.

    from dbbench.testing import SQLContract

    class TestMine(SQLContract):
        engine = "mine"

An engine whose driver is missing is skipped, unless the environment variable DBBENCH_REQUIRE names it
(engines with commas between, or "all"): then it fails.
"""

from dbbench.testing.blocks import BlocksContract
from dbbench.testing.contract import EngineContract
from dbbench.testing.keyvalue import KeyValueContract
from dbbench.testing.objects import ObjectContract
from dbbench.testing.sql import SQLContract

__all__ = ["BlocksContract", "EngineContract", "KeyValueContract", "ObjectContract", "SQLContract"]
