"""Stand-ins for libraries of .NET, compiled from the C# beside this file."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

SOURCES = {
    "bplustree": "FakeBPlusTree",
    "raptordb": "FakeRaptorDB",
    "raptordb1": "FakeRaptorDB1",
    "bplusdotnet": "FakeBplusDotNet",
    "stsdb": "FakeSTSdb",
}


def compiler() -> str | None:
    """Mono's C# compiler, if it is here."""
    return shutil.which("mcs")


def assembly(engine: str, folder: Path, fault: str = "") -> Path:
    """The stand-in for an engine's library, with a fault that its source knows, compiled unless it is there already."""
    made = folder / f"{SOURCES[engine]}{fault}.dll"
    if not made.exists():
        source = Path(__file__).with_name(f"{SOURCES[engine]}.cs")
        command = ["mcs", "-target:library", f"-define:{fault or 'SOUND'}", f"-out:{made}", str(source)]
        subprocess.run(command, check=True, capture_output=True)
    return made
