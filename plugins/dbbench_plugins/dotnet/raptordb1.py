"""RaptorDB 1.8, the key-value store before its version 2: records are appended, and a thread of its own indexes them.

The published comparison reviews its version 1.7. Keys are objects of its own that hold bytes.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar

from dbbench.engine import Tier
from dbbench_plugins.dotnet.raptordb import RaptorDB, RaptorDBSession

_NO_ORDER = "it lists no records by their keys"


class RaptorDB1Session(RaptorDBSession):
    prepare_delete = None  # type: ignore[assignment]
    prepare_delete_many = None  # type: ignore[assignment]


class RaptorDB1(RaptorDB):
    name = "raptordb1"
    title = "RaptorDB 1.8 (.NET)"
    session_class = RaptorDB1Session
    unsupported_reasons: ClassVar = {
        **dict.fromkeys(("seek", "range", "scan"), _NO_ORDER),
        **dict.fromkeys(("delete", "delete_many"), "it can't remove a key"),
    }
    one_client: ClassVar = {"read": 'its Get takes no lock: of four threads one got "data header error"'}
    kinds = ("bytes",)
    longest_key = 255
    durability: ClassVar = {Tier.MEMORY: {"index": "saved at the end"}}
    uses: ClassVar = {
        "RaptorDB.RaptorDB`1": ("Open", "Set", "Get", "SaveIndex", "Shutdown"),
        "RaptorDB.rdbByteArray": ("val",),
        "RaptorDB.INDEXTYPE": ("BTREE",),
    }

    def _key(self, kind: str) -> Any:
        from dbbench_plugins.dotnet.keys import BytesKey
        from dbbench_plugins.dotnet.trees import new

        assert self.assembly is not None
        held = self.assembly.type("RaptorDB.rdbByteArray")

        class Key(BytesKey):
            type = held

            def read(self, pointer: Any, length: Any) -> Any:
                return new(held, super().read(pointer, length))

        return Key()

    def _database(self, made: Any, path: str, key_bytes: int) -> Any:
        from System import Array, Byte, Enum, Object

        assert self.assembly is not None
        folder = Path(path).parent
        # Their records are in the index since it was closed. It doesn't find them where a backslash separates no
        # folders, and won't write over them.
        for log in folder.parent.glob(f"{folder.name}*.mglog*"):
            log.unlink()
        tree = Enum.Parse(self.assembly.type("RaptorDB.INDEXTYPE"), "BTREE")
        longest = Byte(key_bytes or self.longest_key)
        return made.GetMethod("Open").Invoke(None, Array[Object]([path, longest, False, tree]))
