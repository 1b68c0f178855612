"""ESENT, the Extensible Storage Engine that is a part of Windows, through its C interface.

Sources: the public header jethdr.h and its documentation; the parameters are those of ManagedEsent's SimplePerfTest.
"""

from __future__ import annotations

import os
import platform
from collections.abc import Mapping
from ctypes import byref, c_uint32, c_uint64, sizeof
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

from pydantic import Field

from dbbench.engine import (
    Concurrency,
    Engine,
    FileRole,
    MemoryShare,
    Options,
    Publication,
    Session,
    Setup,
    Tier,
    chosen,
)
from dbbench_plugins.esent.library import (
    BINARY,
    CURRENCY,
    LAZY_FLUSH,
    LONG_BINARY,
    LONGEST_BINARY,
    NO_TRUNCATION,
    PARAMETERS,
    PRIMARY,
    TERM_COMPLETE,
    UNIQUE,
    WAIT_FOR_ALL,
    ColumnDefinition,
    Library,
    utf16,
)
from dbbench_plugins.esent.session import ESENTSession

if TYPE_CHECKING:
    from dbbench.engine import Records


class ESENTOptions(Options):
    page_kib: Literal[4, 8, 16, 32] = Field(default=8, description="page size, KiB")
    cache_mib: Annotated[int | None, MemoryShare()] = Field(default=None, description="page cache, MiB")


class ESENT(Engine):
    name = "esent"
    title = "ESENT (ctypes)"
    license = "proprietary, a part of Windows"
    publication = Publication.UNKNOWN
    publication_note = "the licence terms of Windows; no clause on benchmarks is known to us"
    options_class = ESENTOptions
    session_class = ESENTSession
    concurrency = Concurrency(threads=None, processes=1)
    duplicates = "refused"
    longest_key = 224  # 255 once every 8 of them have become 9, and one more
    unverified = "not run against Windows"
    # A lazy commit leaves the log in the process's own buffer.
    durability: ClassVar[Mapping[Tier, Mapping[str, Any]]] = {
        Tier.POWER: {"commit": 0},
        Tier.MEMORY: {"commit": LAZY_FLUSH},
    }

    @classmethod
    def available(cls) -> None:
        """Call something that does no harm: a library of stubs, like Wine's, ends the process over that."""
        Library().do("JetSetSystemParameterW", None, 0, PARAMETERS["DatabasePageSize"], 8_192, None)

    @classmethod
    def versions(cls) -> dict[str, str]:
        return {platform.system(): platform.version()}

    @property
    def file(self) -> str:
        """Its database."""
        return str(self.directory / "records.edb")

    def __init__(self, setup: Setup) -> None:
        super().__init__(setup)
        self.instance, self.id = c_uint64(), c_uint64()

    def open(self) -> None:
        self.library = Library()
        self._set("DatabasePageSize", self.options.page_kib * 1024, of_all=True)
        self.library.do(
            "JetCreateInstance2W", byref(self.instance), utf16(f"dbbench-{os.getpid()}-{id(self)}"), None, 0
        )
        folder = str(self.directory) + os.sep
        for name in ("SystemPath", "TempPath", "LogFilePath"):
            self._set(name, text=folder)
        self._set("BaseName", text="edb")
        for name, value in {
            "LogFileSize": 16_384,
            "LogBuffers": 16_384,
            "CircularLog": 1,
            "CreatePathIfNotExist": 1,
        }.items():
            self._set(name, value)
        if mib := chosen(self.options.cache_mib):
            for name in ("CacheSizeMax", "CacheSizeMin"):
                self._set(name, mib * 1024 // self.options.page_kib, of_all=True)
        self.sessions: list[ESENTSession] = []
        self.library.do("JetInit", byref(self.instance))
        self.id = self.begin_session()
        if Path(self.file).exists():
            self.library.do("JetAttachDatabaseW", self.id, utf16(self.file), 0)
            self.made = True
        else:
            self.made = False

    def create_store(self, records: Records) -> None:
        """A table whose key is a number, if it has 8 bytes, as in the published test."""
        self._make_table(records.key_bytes, records.value_bytes)

    def connect(self) -> Session:
        if not self.made:
            self._make_table(LONGEST_BINARY, LONGEST_BINARY + 1)
        self.sessions.append(ESENTSession(self))
        return self.sessions[-1]

    def flush(self) -> None:
        self.library.do("JetCommitTransaction", self.id, WAIT_FOR_ALL)

    def settings(self) -> dict[str, Any]:
        lazily = self.durability[self.tier]["commit"] == LAZY_FLUSH
        return {
            **self.options.model_dump(),
            "log_file_mib": 16,
            "log_buffer_mib": 8,
            "circular_log": True,
            "commit": "lazy" if lazily else "flushed",
        }

    def file_role(self, name: str) -> FileRole:
        if name.endswith(".jrs"):  # what is left for the log when the disk is full
            return "reserved"
        return "journal" if name.endswith((".log", ".chk", ".jtx")) else "data"

    def close(self) -> None:
        if self.instance.value:
            for session in self.sessions:
                session.close()
            if self.id.value:
                self.library.do("JetEndSession", self.id, 0)
            self.library.do("JetTerm2", self.instance, TERM_COMPLETE)
            self.instance, self.id = c_uint64(), c_uint64()

    def begin_session(self) -> c_uint64:
        """A session of the system's."""
        session = c_uint64()
        self.library.do("JetBeginSessionW", self.instance, byref(session), None, None)
        return session

    def _make_table(self, key_bytes: int, value_bytes: int) -> None:
        database, table = c_uint32(), c_uint64()
        self.library.do("JetCreateDatabaseW", self.id, utf16(self.file), None, byref(database), 0)
        self.made = True
        do = self.library.do
        do("JetBeginTransaction", self.id)
        do("JetCreateTableW", self.id, database, utf16("records"), 0, 90, byref(table))
        key_type = CURRENCY if key_bytes == 8 else BINARY
        value_type = BINARY if value_bytes <= LONGEST_BINARY else LONG_BINARY
        for name, kind, most in (("key", key_type, key_bytes), ("value", value_type, value_bytes)):
            longest = most if kind == BINARY else 0
            column = ColumnDefinition(sizeof(ColumnDefinition), type=kind, most=longest)
            do("JetAddColumnW", self.id, table, utf16(name), byref(column), None, 0, byref(c_uint32()))
        index = utf16("+key\0")
        do("JetCreateIndexW", self.id, table, utf16("primary"), UNIQUE | PRIMARY | NO_TRUNCATION, index, len(index), 90)
        do("JetCommitTransaction", self.id, 0)
        do("JetCloseTable", self.id, table)

    def _set(self, name: str, value: int = 0, text: str | None = None, *, of_all: bool = False) -> None:
        """A parameter of this instance, or of all."""
        instance = None if of_all else byref(self.instance)
        given = None if text is None else utf16(text)
        self.library.do("JetSetSystemParameterW", instance, 0, PARAMETERS[name], value, given)
