"""dbbench: which database is faster, smaller or sturdier for this work, on this machine, and how sure are we?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dbbench.report.frames import open_run

__all__ = ["__version__", "open_run"]
__version__ = "0.1.0"


def __getattr__(name: str) -> Any:
    """`open_run` is imported when it is asked for, so that the command line starts quickly."""
    if name == "open_run":
        from dbbench.report.frames import open_run

        return open_run
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
