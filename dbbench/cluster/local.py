"""Hosts that are processes of this machine, with a scheduler in this one: for a trial, and gone with it.

They speak TLS as hosts elsewhere do, by a certificate made for the trial: on loopback, too, anyone who reaches a
scheduler could have it execute code. `python -m dbbench.cluster.local` is one of the hosts.
"""

import asyncio
import contextlib
import json
import logging
import os
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Mapping
from types import TracebackType
from typing import Any, Self

import dask
import psutil
from distributed import LocalCluster, Worker
from distributed.security import Security

from dbbench.cluster.leased import CLEAR_UP_SECONDS
from dbbench.host.processes import environment, python

#: No pages, and nothing that takes processor time of hosts, or moves work, while clients measure.
QUIET = {
    "distributed.scheduler.http.routes": [],
    "distributed.worker.http.routes": [],
    "distributed.admin.system-monitor.interval": "10s",
    "distributed.scheduler.work-stealing": False,
    "distributed.worker.profile.enabled": False,
}
_KEYS = ("tls_ca_file", "tls_worker_cert", "tls_worker_key")


class LocalHosts:
    """A scheduler and a number of hosts."""

    def __init__(self, count: int) -> None:
        self._count = count
        self._children: dict[str, subprocess.Popen[str]] = {}

    def __enter__(self) -> Self:
        self._folder = tempfile.TemporaryDirectory(prefix="dbbench-hosts-", ignore_cleanup_errors=True)
        dask.config.set(QUIET | {"temporary-directory": self._folder.name})
        self.security = Security.temporary()
        self._cluster = LocalCluster(
            n_workers=0,
            host="127.0.0.1",
            protocol="tls://",
            security=self.security,
            dashboard_address="127.0.0.1:0",
            scheduler_kwargs={"dashboard": False},
            silence_logs=logging.ERROR,
        )
        self._cluster.sync(_stop_pages, self._cluster.scheduler)
        self.address: str = self._cluster.scheduler_address
        keys = {key: getattr(self.security, key) for key in _KEYS}
        for number in range(1, self._count + 1):
            name = f"h{number}"
            child = subprocess.Popen(
                python("dbbench.cluster.local"),
                env=environment(TMPDIR=self._folder.name),
                stdin=subprocess.PIPE,
                text=True,
            )
            self._children[name] = child
            assert child.stdin
            print(json.dumps({"address": self.address, "name": name, "keys": keys}), file=child.stdin, flush=True)
        return self

    def kill(self, name: str) -> None:
        """End a host that doesn't answer; its clients end with it."""
        if name in self._children:
            self._children[name].kill()

    def __exit__(
        self, kind: type[BaseException] | None, exc: BaseException | None, trace: TracebackType | None
    ) -> None:
        for child in self._children.values():
            child.kill()
            child.wait()
            assert child.stdin
            child.stdin.close()
        self._cluster.close(timeout=2)
        self._folder.cleanup()


async def _stop_pages(server: Any) -> None:
    """Dask always starts them without TLS."""
    server.http_server.stop()


async def _serve(address: str, name: str, keys: Mapping[str, str]) -> None:
    security = Security(require_encryption=True, **keys)
    async with Worker(
        address,
        name=name,
        nthreads=1,
        memory_limit=0,
        security=security,
        protocol="tls://",
        host="127.0.0.1",
        dashboard=False,
        local_directory=tempfile.gettempdir(),
        silence_logs=logging.ERROR,
    ) as worker:
        await _stop_pages(worker)
        await worker.finished()


def _clear_up_after_dbbench(folder: str) -> None:
    """Should it be killed: end what this host runs, and remove the folder of all hosts, which nobody else would do."""
    while os.read(0, 1):  # until nobody can write there any more
        pass
    started = psutil.Process().children(recursive=True)
    for process in started:
        with contextlib.suppress(psutil.Error):
            if process.ppid() == os.getpid():  # the others are ended by these
                process.terminate()
    psutil.wait_procs(started, timeout=CLEAR_UP_SECONDS)
    shutil.rmtree(folder, ignore_errors=True)  # another host may be at it
    os._exit(1)


def main() -> None:
    """One host."""
    dask.config.set(QUIET)
    order = json.loads(sys.stdin.readline())
    end = threading.Thread(target=_clear_up_after_dbbench, args=(tempfile.gettempdir(),))
    end.start()
    asyncio.run(_serve(**order))
    end.join()


if __name__ == "__main__":
    main()
