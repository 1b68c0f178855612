"""The conformance kit: what every engine must keep to, as tests that a plugin inherits.

    from dbbench.testing import kit

    TestMine = kit("mine")

`kit` makes a class of the contracts for all that the engine offers. Each is one to derive from by itself, too. A test is a
clause: it says what it expected, why that matters and where to read on.

An engine whose driver is missing is skipped, unless the environment variable DBBENCH_REQUIRE names it
(engines with commas between, or "all"): then it fails.
"""

from dbbench.testing.blocks import BlocksContract
from dbbench.testing.contract import EngineContract
from dbbench.testing.kits import kit
from dbbench.testing.objects import ObjectContract
from dbbench.testing.records.contract import KeyValueContract
from dbbench.testing.sql.contract import SQLContract

__all__ = ["BlocksContract", "EngineContract", "KeyValueContract", "ObjectContract", "SQLContract", "kit"]
