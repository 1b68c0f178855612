"""SQLite through APSW, which brings a SQLite of its own."""

from __future__ import annotations

from typing import Any

from dbbench_plugins.sqlite import SQLite


class APSW(SQLite):
    name = "sqlite+apsw"
    title = "SQLite (APSW)"
    license = "public domain; APSW: any OSI licence"
    modules = ("apsw",)

    @classmethod
    def versions(cls) -> dict[str, str]:
        import apsw

        return {"SQLite": apsw.sqlite_lib_version(), "apsw": apsw.apsw_version()}

    def _raw(self) -> Any:
        import apsw

        return apsw.Connection(str(self.path))
