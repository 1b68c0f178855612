"""GDBM's C library by ctypes, with the methods of Python's `dbm.gnu` objects: for a Python built without it.

Structures and calls are those of gdbm.h, of GDBM 1.13 and later.
"""

import ctypes
import ctypes.util
from functools import cache
from typing import Any

from dbbench.engine import Unavailable

_WRITE_CREATE, _REPLACE = 2, 1
_NAMES = ("libgdbm.so.6", "libgdbm.so.5", "libgdbm.6.dylib")


class _Given(ctypes.Structure):
    """A `datum` that the library reads."""

    _fields_ = (("dptr", ctypes.c_char_p), ("dsize", ctypes.c_int))


class _Got(ctypes.Structure):
    """A `datum` that the library made, whose memory is ours to free."""

    _fields_ = (("dptr", ctypes.c_void_p), ("dsize", ctypes.c_int))


@cache
def library() -> Any:
    """The library, its functions typed. Raises Unavailable."""
    for name in (*_NAMES, ctypes.util.find_library("gdbm")):
        try:
            found = ctypes.CDLL(name or "libgdbm.so")
        except OSError:
            continue
        return _typed(found)
    raise Unavailable("this Python was built without dbm.gnu, and there is no libgdbm")


def _typed(found: Any) -> Any:
    handle, integer = ctypes.c_void_p, ctypes.c_int
    for name, result, arguments in (
        ("open", handle, (ctypes.c_char_p, integer, integer, integer, handle)),
        ("close", None, (handle,)),
        ("sync", integer, (handle,)),
        ("reorganize", integer, (handle,)),
        ("store", integer, (handle, _Given, _Given, integer)),
        ("fetch", _Got, (handle, _Given)),
        ("delete", integer, (handle, _Given)),
        ("firstkey", _Got, (handle,)),
        ("nextkey", _Got, (handle, _Given)),
        ("db_strerror", ctypes.c_char_p, (handle,)),
    ):
        function = getattr(found, f"gdbm_{name}")
        function.restype, function.argtypes = result, arguments
    return found


def version() -> str:
    """The library's version, like "1.23"."""
    said: bytes = ctypes.c_char_p.in_dll(library(), "gdbm_version").value or b""
    return said.decode().split()[2].rstrip(".")


class Database:
    """A file of records, made if it isn't there."""

    def __init__(self, path: str) -> None:
        gdbm = self._gdbm = library()
        free = ctypes.CDLL(None).free
        free.restype, free.argtypes = None, (ctypes.c_void_p,)
        handle = self._handle = gdbm.gdbm_open(path.encode(), 0, _WRITE_CREATE, 0o600, None)
        if not handle:
            raise OSError(f"{path} can't be opened as a GDBM file")
        store, fetch, remove, string = gdbm.gdbm_store, gdbm.gdbm_fetch, gdbm.gdbm_delete, ctypes.string_at
        given = _Given

        def taken(got: _Got) -> bytes | None:
            if got.dptr is None:
                return None
            held = string(got.dptr, got.dsize)
            free(got.dptr)
            return held

        def put(key: bytes, value: bytes) -> None:
            if store(handle, given(key, len(key)), given(value, len(value)), _REPLACE):
                raise OSError(self._fault())

        def get(key: bytes) -> bytes | None:
            got = fetch(handle, given(key, len(key)))
            if (at := got.dptr) is None:
                return None
            held = string(at, got.dsize)
            free(at)
            return held

        def delete(key: bytes) -> None:
            if remove(handle, given(key, len(key))):
                raise KeyError(key)

        # Closures, for a method would look each of these up on the object in every call.
        self.__setitem__, self.get, self.__delitem__ = put, get, delete
        self.firstkey = lambda: taken(gdbm.gdbm_firstkey(handle))
        self.nextkey = lambda key: taken(gdbm.gdbm_nextkey(handle, given(key, len(key))))

    def sync(self) -> None:
        """Have it all on the disk."""
        if self._gdbm.gdbm_sync(self._handle):
            raise OSError(self._fault())

    def reorganize(self) -> None:
        """Write the file anew, without the room of what was deleted."""
        if self._gdbm.gdbm_reorganize(self._handle):
            raise OSError(self._fault())

    def close(self) -> None:
        """Write what is in memory, and close the file."""
        self._gdbm.gdbm_close(self._handle)

    def _fault(self) -> str:
        return str(self._gdbm.gdbm_db_strerror(self._handle).decode(errors="replace"))
