"""dbbench: which database is faster, smaller or sturdier for this work, on this machine, and how sure are we?"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dbbench.report.frames import RunFrames, open_run
    from dbbench.scripting import run

__all__ = ["RunFrames", "__version__", "open_run", "run"]
__version__ = "0.1.0"
_MODULES = {"RunFrames": "dbbench.report.frames", "open_run": "dbbench.report.frames", "run": "dbbench.scripting"}


def __getattr__(name: str) -> Any:
    """What scripts use is imported when it is asked for, so that the command line starts quickly."""
    if name in _MODULES:
        return getattr(import_module(_MODULES[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
