"""What an agent starts on a host: nothing of it stays when nobody asks for it any more."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.waiting import until

#: A host's clients, of which there are none, that wait for the moment of their start.
WAITING = """
import os, signal, time
from dbbench.cluster.agent import Agent, Sealed

clients = {
    "engine": "dbbench_plugins.null:Null", "directory": "", "tier": "memory", "options": {}, "threads": 1, "of": 1, "served": False,
    "job": {"operation": "read", "arguments": [], "warm_up": 0, "calls": 1},
}
order = {"engine": clients["engine"], "clients": clients, "url": "", "first": 0, "processes": 0}
agent = Agent()
agent.start(Sealed(order))
while not any("ready" in word for word in agent.poll()):
    time.sleep(0.01)
"""


@pytest.mark.parametrize("end", ["agent.finish()", "del agent", "os.kill(os.getpid(), signal.SIGKILL)"])
def test_a_host_that_is_no_longer_wanted_leaves_no_folder(end: str, tmp_path: Path) -> None:
    script = [sys.executable, "-c", WAITING + f"assert os.listdir({str(tmp_path)!r})\n" + end]
    status = subprocess.run(script, env={**os.environ, "TMPDIR": str(tmp_path)}, check=False).returncode
    assert status == (-9 if "SIGKILL" in end else 0)
    assert until(lambda: not list(tmp_path.iterdir()), 30)
