"""The test class for the engine that `dbbench plugin check` asks about, for pytest to collect."""

from __future__ import annotations

import json
import os

from dbbench.testing.kits import kit

if asked := os.environ.get("DBBENCH_ASKED"):
    TestEngine = kit(**json.loads(asked))
