"""A provider of ADO.NET in an assembly."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

from dbbench.engine import Unavailable
from dbbench_plugins.dotnet import host

_RIGHT = "name the assembly of an ADO.NET provider; docs/engines/windows.md says which"


class Provider:
    """The DbProviderFactory of an assembly. Needs the runtime."""

    def __init__(self, assembly: Path, factory: str = "") -> None:
        self.file = assembly
        self.assembly = host.Assembly(assembly)
        self.factory = self._factory(factory)

    @property
    def version(self) -> str:
        """As the assembly calls itself."""
        return self.assembly.version

    def connection(self, text: str) -> Any:
        """An open connection. Raises Unavailable, with the reason, if the provider opens none."""
        made = self.factory.CreateConnection()
        if made is None:
            raise Unavailable(f"{self.version}: its DbProviderFactory makes no connection", _RIGHT)
        try:
            made.ConnectionString = text
            made.Open()
        except Exception as exc:
            raise self.unusable(exc) from exc
        return made

    def unusable(self, exc: BaseException) -> Unavailable:
        """What to say of an exception that comes up as a database is opened: which file, and what to do."""
        return Unavailable(f"{self.file} opens no database: {host.why(exc)}", _advice(exc))

    def _factory(self, named: str) -> Any:
        if named:
            found = [self.assembly.type(named)]
        else:
            base = importlib.import_module("clr").GetClrType(
                importlib.import_module("System.Data.Common").DbProviderFactory
            )
            try:
                found = [kind for kind in self.assembly.loaded.GetExportedTypes() if kind.IsSubclassOf(base)]
            except Exception as exc:
                raise Unavailable(f"{self.file} can't be used: {host.why(exc)}", _advice(exc)) from exc
        if len(found) != 1:
            names = ", ".join(kind.FullName for kind in found) or "none"
            raise Unavailable(f"{self.file} must have one DbProviderFactory, and has {names}", _RIGHT)
        field = found[0].GetField("Instance")
        if field is None or field.GetValue(None) is None:
            raise Unavailable(f"{self.file}: {found[0].FullName} has no field Instance", _RIGHT)
        return field.GetValue(None)


def _advice(exc: BaseException) -> str:
    inner: Any = exc
    while getattr(inner, "InnerException", None) is not None:
        inner = inner.InnerException
    match type(inner).__name__:
        case "DllNotFoundException" | "EntryPointNotFoundException":
            return "it needs a native library: put it beside the assembly, or map its name in ASSEMBLY.config (dllmap)"
        case "FileNotFoundException" | "FileLoadException" | "ReflectionTypeLoadException" | "TypeLoadException":
            return "put the assemblies that it refers to beside it"
    return _RIGHT
