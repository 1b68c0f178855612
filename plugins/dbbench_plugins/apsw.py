"""SQLite through APSW, which brings a SQLite of its own."""

from collections.abc import Sequence
from contextlib import suppress
from typing import Any, ClassVar

from dbbench.engine import Options
from dbbench_plugins.sqlite import DocumentOptions, FTS5Session, SQLite


class APSWSession(FTS5Session):
    def returned_rows(self, given: Any) -> bool:
        """Its cursor refuses to describe what is done, which a statement without rows is at once."""
        import apsw

        with suppress(apsw.ExecutionCompleteError):
            return bool(given.get_description())
        return False


class APSW(SQLite):
    name = "sqlite+apsw"
    title = "SQLite (APSW)"
    license = "public domain; APSW: any OSI licence"
    options_class: ClassVar[type[Options]] = DocumentOptions
    modules: ClassVar[Sequence[str]] = ("apsw",)
    session_class: ClassVar[Any] = APSWSession

    @classmethod
    def versions(cls) -> dict[str, str]:
        import apsw

        return {"SQLite": apsw.sqlite_lib_version(), "apsw": apsw.apsw_version()}

    def _raw(self) -> Any:
        import apsw

        return apsw.Connection(str(self.path))
