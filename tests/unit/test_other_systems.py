"""Other systems than Linux, as far as they can be faked: nothing here is claimed to run there."""

import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from dbbench.host import usage

resource = pytest.importorskip("resource", reason="Windows has none")

#: What Windows lacks is taken away once other packages are imported; then all of dbbench is.
WITHOUT = """
import os, signal, sys
import click, datafusion, greenlet, jinja2, matplotlib.figure, numpy, psutil, pyarrow, pydantic, rich.console, ruamel.yaml, sqlglot
import platformdirs.unix, packaging.requirements
import asyncio, concurrent.futures, ctypes, multiprocessing, selectors, sqlite3, subprocess, tempfile
for name in ("fcntl", "resource", "pwd", "grp", "termios"):
    sys.modules[name] = None
for name in ("SIGKILL", "SIGSTOP", "SIGCONT", "SIGHUP", "SIGUSR1", "SIGUSR2", "SIGALRM"):
    delattr(signal, name)
for name in ("fork", "geteuid", "getuid", "killpg", "setsid", "pidfd_open", "sched_getaffinity", "sched_getscheduler",
             "sysconf", "getloadavg", "posix_fadvise", "fdatasync", "pread", "pwrite", "waitid", "P_ALL", "WNOHANG",
             "O_DIRECT", "O_DIRECTORY", "O_NOFOLLOW", "O_CLOEXEC", "O_NONBLOCK"):
    delattr(os, name)
import importlib, pkgutil
import dbbench
faults = []
for each in pkgutil.walk_packages(dbbench.__path__, "dbbench."):
    if not each.name.startswith(("dbbench.testing", "dbbench.cluster", "dbbench.pytest_plugin")) and "__main__" not in each.name:
        try:
            importlib.import_module(each.name)
        except Exception as exc:
            faults.append(f"{each.name}: {exc!r}")
print("\\n".join(faults))
"""


@pytest.mark.matrix  # it takes seconds
def test_every_module_is_imported_without_what_windows_lacks() -> None:
    done = subprocess.run([sys.executable, "-c", WITHOUT], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ""


@pytest.mark.parametrize(("macos", "unit"), [(True, 1), (False, 1024)])
def test_peak_memory_without_proc_is_in_the_systems_own_unit(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, macos: bool, unit: int
) -> None:
    monkeypatch.setattr(psutil, "MACOS", macos)
    monkeypatch.setattr(usage, "Path", lambda _: tmp_path / "none")
    monkeypatch.setattr(resource, "getrusage", lambda _: type("", (), {"ru_maxrss": 5000})())
    assert usage.peak_memory() == 5000 * unit
