"""Stand-ins for libraries of .NET, compiled from the C# beside this file."""

import shutil
import subprocess
from pathlib import Path

SOURCES = {
    "bplustree": "FakeBPlusTree", "raptordb": "FakeRaptorDB", "raptordb1": "FakeRaptorDB",
    "bplusdotnet": "FakeBplusDotNet", "stsdb": "FakeSTSdb", "sqlce": "FakeAdo", "vistadb": "FakeAdo",
}  # fmt: skip


def compiler() -> str | None:
    """Mono's C# compiler, if it is here."""
    return shutil.which("mcs")


def assembly(engine: str, folder: Path, fault: str = "") -> Path:
    """The stand-in for an engine's library, with a fault that its source knows, compiled unless it is there already."""
    made = folder / f"{SOURCES[engine]}-{engine}{fault}.dll"
    if not made.exists():
        source = Path(__file__).with_name(f"{SOURCES[engine]}.cs")
        symbols = f"-define:{engine.upper()},{fault or 'SOUND'}"
        command = ["mcs", "-target:library", symbols, f"-out:{made}", str(source)]
        if SOURCES[engine] == "FakeAdo":
            command += ["-r:System.Data.dll", "-r:Mono.Data.Sqlite.dll"]
        subprocess.run(command, check=True, capture_output=True)
    return made
