"""ESENT, the Extensible Storage Engine of Windows, through its C interface."""

from __future__ import annotations

from typing import ClassVar

from dbbench.engine import Engine, Publication
from dbbench.errors import Unavailable
from dbbench.suite import Tier


class ESENT(Engine):
    name = "esent"
    title = "ESENT (ctypes)"
    license = "proprietary, part of Windows"
    publication = Publication.UNKNOWN
    publication_note = "the licence terms of Windows"
    durability: ClassVar = {Tier.MEMORY: {}}

    @classmethod
    def available(cls) -> None:
        raise Unavailable("esent.dll is a part of Windows", "run it on Windows")
