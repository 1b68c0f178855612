"""A provider of ADO.NET in an assembly."""

from __future__ import annotations

import importlib
from contextlib import suppress
from pathlib import Path
from struct import calcsize
from typing import Any

from dbbench.engine import Unavailable, Unsupported
from dbbench_plugins.dotnet import host

_RIGHT = "name the assembly of an ADO.NET provider; docs/engines/ado.md says which"
#: ProcessorArchitecture -> the word size of its processes. Others run in any.
_BITS = {"X86": 32, "Arm": 32, "Amd64": 64, "IA64": 64}


class Provider:
    """The DbProviderFactory of an assembly. Needs the runtime."""

    def __init__(self, assembly: Path, factory: str = "") -> None:
        self.file = assembly
        for name in ("System.Data", "System.Data.Common"):  # .NET Framework and Mono have one, .NET the other
            with suppress(Exception):
                importlib.import_module("clr").AddReference(name)
        self.assembly = host.Assembly(assembly)
        if (found := Path(self.assembly.loaded.Location).resolve()) != assembly.resolve():
            raise Unsupported(f"the runtime takes {found} in place of {assembly}, which has the same name")
        self._refuse_others()
        self.factory = self._factory(factory)

    @property
    def version(self) -> str:
        """The assembly's own name."""
        return self.assembly.version

    def connection(self, text: str) -> Any:
        """An open connection. Raises Unavailable, with the reason, if the provider opens none."""
        try:
            made = self.factory.CreateConnection()
        except Exception as exc:
            raise self.unusable(exc) from exc
        if made is None:
            raise Unavailable(f"{self.file}: its DbProviderFactory makes no connection", _RIGHT)
        try:
            made.ConnectionString = text
            made.Open()
        except Exception as exc:
            raise self.unusable(exc) from exc
        return made

    def unusable(self, exc: BaseException) -> Unavailable:
        """What to say of an exception that comes up as a database is opened: which file, and what to do."""
        return Unavailable(f"{self.file} opens no database: {host.why(exc)}", _advice(exc))

    def _refuse_others(self) -> None:
        """Raise Unavailable for an assembly of another word size or runtime, or one that lacks what it refers to."""
        reflection: Any = importlib.import_module("System.Reflection")
        size, bits = (
            str(reflection.AssemblyName.GetAssemblyName(str(self.file)).ProcessorArchitecture),
            8 * calcsize("P"),
        )
        if _BITS.get(size, bits) != bits:
            raise Unavailable(
                f"{self.file} is for processes of {_BITS[size]} bits, and this one has {bits}",
                f"name its build for {bits} bits or for any processor",
            )
        framework: Any = importlib.import_module(
            "System.Runtime.InteropServices"
        ).RuntimeInformation.FrameworkDescription
        for other in self.assembly.loaded.GetReferencedAssemblies():
            if other.Name == "System.Runtime" and other.Version.Major >= 5 and not str(framework).startswith(".NET "):
                raise Unavailable(
                    f"{self.file} is built for .NET {other.Version.Major}, and this process runs {framework}",
                    "--set ENGINE.runtime=coreclr, or name its build for .NET Framework",
                )
            if (self.file.parent / f"{other.Name}.dll").is_file():
                continue
            try:
                reflection.Assembly.Load(other)
            except Exception as exc:
                raise Unavailable(
                    f"{self.file} needs {other.Name} {other.Version}, which isn't here",
                    f"put {other.Name}.dll into {self.file.parent}",
                ) from exc

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
