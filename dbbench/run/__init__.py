"""Runs: plan, runner, supervisor, worker make finished trials of a request.

`dbbench.run(...)` is a function to those who use dbbench, and this package stands under that name. So it can be called.
"""

import sys
from types import ModuleType
from typing import Any


class _CallablePackage(ModuleType):
    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """See `dbbench.scripting.run`."""
        from dbbench.scripting import run

        return run(*args, **kwargs)


sys.modules[__name__].__class__ = _CallablePackage
