"""A stand-in for esent.dll, compiled from the C beside this file."""

import shutil
import subprocess
from pathlib import Path

from dbbench.testing.contract import missing


def compiler() -> None:
    """Skip the test where there is no C compiler."""
    if shutil.which("gcc") is None:
        missing("esent", "there is no gcc for its stand-in: apt install gcc libc6-dev")


def library(folder: Path) -> Path:
    """The stand-in, compiled unless it is in the folder already."""
    made = folder / "fake_esent.so"
    compiler()
    if not made.exists():
        source = Path(__file__).with_name("fake_esent.c")
        flags = ["-std=c11", "-O1", "-Wall", "-Wextra", "-Werror", "-fPIC", "-shared", "-pthread"]
        subprocess.run(["gcc", *flags, "-o", str(made), str(source)], check=True, capture_output=True)
    return made
