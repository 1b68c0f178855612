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
from dbbench.cluster.agent import Agent
from dbbench.cluster.leased import HOST_REPLY, HostOrder
from dbbench.loadgen.job import ClientOrder, Job
from dbbench.suite.model import Tier

null = "dbbench_plugins.null:Null"
clients = ClientOrder(null, "", Tier.MEMORY, {}, Job("read", (), 0, 1), 1, 1, False)
agent = Agent()
agent.start(HostOrder(null, "", clients).sealed)
while not any(HOST_REPLY.validate_json(word).has for word in agent.poll()):
    time.sleep(0.01)
"""


@pytest.mark.parametrize("end", ["agent.finish()", "del agent", "os.kill(os.getpid(), signal.SIGKILL)"])
def test_a_host_that_is_no_longer_wanted_leaves_no_folder(end: str, tmp_path: Path) -> None:
    script = [sys.executable, "-c", WAITING + f"assert os.listdir({str(tmp_path)!r})\n" + end]
    status = subprocess.run(script, env={**os.environ, "TMPDIR": str(tmp_path)}, check=False).returncode
    assert status == (-9 if "SIGKILL" in end else 0)
    assert until(lambda: not list(tmp_path.iterdir()), 30)
