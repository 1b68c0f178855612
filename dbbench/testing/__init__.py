"""The conformance kit: what every engine must keep to, as tests that a plugin inherits.

    from dbbench.testing import kit

    TestMine = kit("mine")

`kit` makes a class of the contracts for all that the engine offers. Each is one to derive from by itself, too.

An engine whose driver is missing is skipped, unless the environment variable DBBENCH_REQUIRE names it
(engines with commas between, or "all"): then it fails.
"""

import pytest

# Without it a failed assertion of the kit would not say what was compared.
pytest.register_assert_rewrite(*(f"{__name__}.{part}" for part in ("blocks", "contract", "keyvalue", "objects", "sql")))

from dbbench.testing.blocks import BlocksContract
from dbbench.testing.contract import EngineContract
from dbbench.testing.keyvalue import KeyValueContract
from dbbench.testing.kits import kit
from dbbench.testing.objects import ObjectContract
from dbbench.testing.sql import SQLContract

__all__ = ["BlocksContract", "EngineContract", "KeyValueContract", "ObjectContract", "SQLContract", "kit"]
