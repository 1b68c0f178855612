"""What the plugin contract called by another name until 0.1: a plugin that still does is told the new one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dbbench.engine.base import Engine

ENGINE: Mapping[str, str] = {
    "beneath": "base_engine",
    "died": "exit_reason",
    "given": "effective_tier",
    "impossible": "unsupported_reasons",
    "lacks": "missing_features",
    "part": "file_role",
    "ranked": "is_null, with the opposite value",
    "served_by": "server_versions",
}
SESSION: Mapping[str, str] = {
    "gives": "result_format",
    "retried": "retry_reason",
    "takes": "load_format",
}
#: Of `dbbench.engine` itself.
DOOR: Mapping[str, str] = {
    "Form": "ResultFormat",
    "Lack": "MissingFeature",
    "Taken": "LoadFormat",
    "Watch": "DriverTimer",
}
#: What an engine of the old contract did in `open()`.
TIER = "it is fixed by now; return the tier that a server really gives from info() (see docs/plugins.md)"


def old_names(engine: type[Engine]) -> dict[str, str]:
    """The attributes and methods of an engine and its sessions that have another name now -> that name."""
    session = engine.session_class
    return {old: new for old, new in ENGINE.items() if hasattr(engine, old)} | {
        f"{session.__name__}.{old}": new for old, new in SESSION.items() if hasattr(session, old)
    }
