"""Stand-ins for libraries of .NET, compiled from the C# beside this file."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

SOURCES = {
    "bplustree": "FakeBPlusTree",
    "raptordb": "FakeRaptorDB",
    "bplusdotnet": "FakeBplusDotNet",
    "stsdb": "FakeSTSdb",
}


def compiler() -> str | None:
    """Mono's C# compiler, if it is here."""
    return shutil.which("mcs")


def assembly(engine: str, folder: Path) -> Path:
    """The stand-in for an engine's library, compiled unless it is in the folder already."""
    made = folder / f"{SOURCES[engine]}.dll"
    if not made.exists():
        source = Path(__file__).with_name(f"{SOURCES[engine]}.cs")
        subprocess.run(["mcs", "-target:library", f"-out:{made}", str(source)], check=True, capture_output=True)
    return made
