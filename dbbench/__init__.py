"""dbbench: which database is faster, smaller or sturdier for this work, on this machine, and how sure are we?"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dbbench.report.frames import RunFrames, open_run
    from dbbench.scripting import run

__all__ = ["RunFrames", "__version__", "open_run", "run"]
__version__ = "0.1.0"


def __getattr__(name: str) -> Any:
    """What scripts use is imported when it is asked for, so that the command line starts quickly."""
    if name in ("RunFrames", "open_run"):
        return getattr(import_module("dbbench.report.frames"), name)
    if name == "run":
        return import_module("dbbench.run")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
