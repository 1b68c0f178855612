"""The engine's library, loaded once in a process, and connections to its databases.

Lock, temporary and log files stay in one private folder, which is removed when the process ends. It
lies under TMPDIR, so a killed trial's goes with the trial's work directory.
"""

import atexit
import decimal
import os
import shutil
import tempfile
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any

from firebird.driver import fbapi
from firebird.driver.core import DPB, Connection
from firebird.embedded.provider import FirebirdProvider

_DIALECT = 3
_CHARSET = "UTF8"


class PrivateRoot(FirebirdProvider):  # type: ignore[misc]  # the driver has no types
    """A Firebird root of the shape that the libraries expect, made of links to those of the wheel.

    They look for each other in $ORIGIN/../lib, which the wheel lacks. The root also holds
    firebird.conf and firebird.log, which would otherwise be read from and written to site-packages.
    """

    def __init__(self, folder: Path) -> None:
        self._root = folder / "root"
        wheel = super().root
        _link(self._root, (wheel / name for name in ("intl", "tzdata", "firebird.msg", "plugins.conf")))
        _link(self._root / "lib", wheel.glob("*.so*"))
        # A real folder: from a linked one, plugins/../lib would lead back into the wheel.
        _link(self._root / "plugins", (wheel / "plugins").iterdir())
        # With the other providers a failure shows as one to reach a server on this machine.
        (self._root / "firebird.conf").write_text("Providers = Engine13\n", "ascii")
        (self._root / "firebird.log").touch()

    @property
    def root(self) -> Path:
        return self._root

    @property
    def client_library(self) -> Path:
        return self._root / "lib" / "libfbclient.so.2"


def _link(folder: Path, sources: Iterable[Path]) -> None:
    folder.mkdir()
    for source in sources:
        (folder / source.name).symlink_to(source)


@cache
def load_library() -> None:
    """Load the engine. One process has one, whatever number of databases it opens."""
    folder = Path(tempfile.mkdtemp(prefix="firebird-")).resolve()
    atexit.register(shutil.rmtree, folder, ignore_errors=True)  # it may be in a folder that is removed as well
    os.environ["FIREBIRD_LOCK"] = os.environ["FIREBIRD_TMP"] = str(folder)
    precision = decimal.getcontext().prec
    fbapi.load_api(PrivateRoot(folder))
    decimal.getcontext().prec = precision  # load_api sets that of the calling thread to 34


def attach(path: Path, *, page_size: int, cache_pages: int | None, forced_writes: bool) -> Any:
    """A connection to a database, which is made if it isn't there.

    The driver's own functions take these settings from a configuration of the whole process only. An
    existing database keeps its page size and write mode.
    """
    options = DPB(
        user="SYSDBA",
        charset=_CHARSET,
        utf8filename=True,
        page_size=page_size,
        forced_writes=forced_writes,
        db_cache_size=cache_pages,
        cache_size=cache_pages,
    )
    new = not path.exists()
    buffer = options.get_buffer(for_create=new)
    with fbapi.get_api().master.get_dispatcher() as dispatcher:
        attached = (dispatcher.create_database if new else dispatcher.attach_database)(str(path), buffer, "utf-8")
    return Connection(attached, str(path), buffer, _DIALECT, _CHARSET)
