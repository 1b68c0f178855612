"""The C interface of esent.dll: its calls, structures and constants, as the public header jethdr.h has them."""

import ctypes
import os
import platform
import sys
from ctypes import POINTER, Structure, c_char_p, c_int32, c_int64, c_uint16, c_uint32, c_uint64, c_void_p, sizeof
from types import SimpleNamespace
from typing import Any

from dbbench.engine import Unavailable

#: Names another library of the same interface: a test's.
LIBRARY = "DBBENCH_ESENT_LIBRARY"

PARAMETERS = {
    "SystemPath": 0,
    "TempPath": 1,
    "LogFilePath": 2,
    "BaseName": 3,
    "LogFileSize": 11,
    "LogBuffers": 12,
    "CircularLog": 17,
    "CacheSizeMax": 23,
    "CacheSizeMin": 60,
    "DatabasePageSize": 64,
    "CreatePathIfNotExist": 100,
}
CURRENCY, BINARY, LONG_BINARY = 5, 9, 11
LONGEST_BINARY = 255
INSERT, REPLACE, CANCEL = 0, 2, 3
LAZY_FLUSH, WAIT_FOR_ALL = 1, 2
NEW_KEY, SEEK_EQUAL, SEEK_GREATER_OR_EQUAL = 1, 1, 8
UNIQUE, PRIMARY, NO_TRUNCATION = 1, 2, 0x10000
FIRST, NEXT = -(2**31), 1
ZERO_LENGTH, TERM_COMPLETE = 2, 1
NOT_EQUAL, TRUNCATED = 1039, 1006  # warnings
NOT_FOUND, NO_RECORD = -1601, -1603
_ERRORS = {
    -1003: "invalid parameter",
    -1011: "out of memory",
    -1022: "disk error",
    -1032: "file access denied",
    -1102: "write conflict",
    -1206: "database corrupted",
    -1601: "record not found",
    -1603: "no current record",
    -1605: "duplicate key",
    -1808: "disk full",
    -1811: "file not found",
    -346: "key too long",
}


class ColumnDefinition(Structure):
    _fields_ = (
        ("size", c_uint32),
        ("column", c_uint32),
        ("type", c_uint32),
        ("country", c_uint16),
        ("language", c_uint16),
        ("code_page", c_uint16),
        ("collate", c_uint16),
        ("most", c_uint32),
        ("bits", c_uint32),
    )


class RetrieveColumn(Structure):
    _fields_ = (
        ("column", c_uint32),
        ("data", c_void_p),
        ("room", c_uint32),
        ("actual", c_uint32),
        ("bits", c_uint32),
        ("offset", c_uint32),
        ("tag", c_uint32),
        ("next_column", c_uint32),
        ("error", c_int32),
    )


#: Of each call what its arguments are: handles (H) and numbers of 32 bits (n), texts in UTF-16 (t) or bytes (b),
#: pointers to a handle (h) or a number (u), any other pointer (p), and a number of a pointer's size (s).
CALLS = {
    "JetCreateInstance2W": "httn",
    "JetSetSystemParameterW": "hHnst",
    "JetInit": "h",
    "JetTerm2": "Hn",
    "JetBeginSessionW": "Hhtt",
    "JetEndSession": "Hn",
    "JetCreateDatabaseW": "Httun",
    "JetAttachDatabaseW": "Htn",
    "JetOpenDatabaseW": "Httun",
    "JetCreateTableW": "Hntnnh",
    "JetAddColumnW": "HHtpbnu",
    "JetCreateIndexW": "HHtnbnn",
    "JetGetTableColumnInfoW": "HHtpnn",
    "JetOpenTableW": "Hntpnnh",
    "JetCloseTable": "HH",
    "JetBeginTransaction": "H",
    "JetCommitTransaction": "Hn",
    "JetRollback": "Hn",
    "JetPrepareUpdate": "HHn",
    "JetSetColumn": "HHnbnnp",
    "JetUpdate": "HHpnp",
    "JetDelete": "HH",
    "JetMakeKey": "HHbnn",
    "JetSeek": "HHn",
    "JetMove": "HHin",
    "JetRetrieveColumns": "HHpn",
}
_KINDS = {
    "H": c_uint64,
    "h": POINTER(c_uint64),
    "n": c_uint32,
    "i": c_int32,
    "u": POINTER(c_uint32),
    "s": c_int64,
    "t": c_char_p,
    "b": c_char_p,
    "p": c_void_p,
}


class ESENTError(Exception):
    """A call that failed."""

    def __init__(self, status: int, call: str) -> None:
        super().__init__(f"{call}: error {status}" + (f" ({_ERRORS[status]})" if status in _ERRORS else ""))
        self.status = status


class Library:
    """`calls` are functions of ctypes that give a status, less than 0 if they failed; `do` raises it."""

    def __init__(self) -> None:
        """Raises Unavailable if there is no such library here, or it isn't whole."""
        named = os.environ.get(LIBRARY, "")
        if sys.platform != "win32" and not named:
            raise Unavailable(f"esent.dll is a part of Windows, and this is {platform.system()}", "run it on Windows")
        if sizeof(c_void_p) != 8:
            raise Unavailable("its structures are laid out for 64 bits", "take a Python of 64 bits")
        self.calls: Any = SimpleNamespace()
        loader: Any = getattr(ctypes, "WinDLL", ctypes.CDLL)  # the same calling convention on 64 bits
        try:
            library = loader(named or "esent.dll")
            for name, kinds in CALLS.items():
                function = getattr(library, name)
                function.restype, function.argtypes = c_int32, [_KINDS[kind] for kind in kinds]
                setattr(self.calls, name, function)
        except (OSError, AttributeError) as exc:
            raise Unavailable(
                f"{named or 'esent.dll'} can't be used: {exc}", f"unset {LIBRARY}" if named else ""
            ) from exc

    def do(self, name: str, *given: Any) -> None:
        """Raises ESENTError if the call fails; a warning is none."""
        status = getattr(self.calls, name)(*given)
        if status < 0:
            raise ESENTError(status, name)


def utf16(text: str) -> bytes:
    """Text as Windows has it, whatever a wide character is here."""
    return text.encode("utf-16-le") + b"\0\0"
