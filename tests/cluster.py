"""A cluster on one machine: a scheduler with TLS and hosts, each in a network of its own."""

import os
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from secrets import token_hex

import psutil
import pytest

from dbbench.cluster.place import Place
from tests.conftest import environment
from tests.network import ip
from tests.waiting import until

#: How far ahead the second host's clock is in its time namespace, in seconds.
AHEAD = 1_000
#: The network of the hosts. Each process of tests has its own.
NET = f"10.{213 + int(os.environ.get('PYTEST_XDIST_WORKER', 'gw0')[2:])}"


@contextmanager
def elsewhere(folder: Path, *, ahead: int = AHEAD, clones: tuple[str, ...] = ("", "")) -> Iterator[tuple[Place, str]]:
    """The place of the hosts and the last one's link; the second's clock is ahead. Skips the test where there can be none.

    `clones`: for each host a folder that it takes dbbench from, if it isn't this one.
    """
    if why := _impossible():
        pytest.skip(why)
    import dask.config
    from distributed.security import Security

    keys = Security.temporary()
    names = {}
    for name in (
        "ca_file",
        "scheduler_cert",
        "scheduler_key",
        "worker_cert",
        "worker_key",
        "client_cert",
        "client_key",
    ):
        file = folder / f"{name}.pem"
        file.write_text(getattr(keys, f"tls_{name}"))
        file.chmod(0o600)
        key = name if name == "ca_file" else name.replace("_", "__")
        names[f"DASK_DISTRIBUTED__COMM__TLS__{key.upper()}"] = str(file)
    names["DASK_DISTRIBUTED__COMM__REQUIRE_ENCRYPTION"] = "true"
    port = 20_000 + os.getpid() % 20_000
    tag = token_hex(2)
    with ExitStack() as ending:
        numbers = range(1, len(clones) + 1)
        for number in numbers:
            space, link = f"dbb{tag}n{number}", f"dbb{tag}v{number}"
            ip("netns", "add", space)
            ending.callback(ip, "netns", "delete", space)
            ip("link", "add", link, "type", "veth", "peer", "name", "eth0", "netns", space)
            ending.callback(ip, "link", "delete", link)  # else it outlives the namespace
            ip("address", "add", f"{NET}.{number}.1/24", "dev", link)
            ip("link", "set", link, "up")
            ip("-n", space, "address", "add", f"{NET}.{number}.2/24", "dev", "eth0")
            for each in ("lo", "eth0"):
                ip("-n", space, "link", "set", each, "up")
        python = (sys.executable, "-P", "-m")
        address = f"tls://{NET}.1.1:{port}"
        scheduler = ("distributed.cli.dask_scheduler", "--protocol", "tls", "--host", "0.0.0.0", "--port", str(port))
        ending.enter_context(_started(*python, *scheduler, "--no-dashboard", "--no-show", TMPDIR=str(folder), **names))
        assert until(lambda: _listens(f"{NET}.1.1", port)), "the scheduler doesn't come up"
        for number in numbers:
            inside = ["ip", "netns", "exec", f"dbb{tag}n{number}"]
            if number == 2 and ahead:
                inside += ["unshare", "--fork", "--kill-child", "--time", "--monotonic", str(ahead)]
            worker = [*python, "distributed.cli.dask_worker", f"tls://{NET}.{number}.1:{port}"]
            worker += ["--nthreads", "1", "--no-nanny", "--memory-limit", "0", "--no-dashboard", "--name", f"w{number}"]
            more = {"PYTHONPATH": clones[number - 1]} if clones[number - 1] else {}
            local = folder / f"w{number}"
            local.mkdir()
            more["TMPDIR"] = str(local)  # what is killed at the end can't clear up
            ending.enter_context(_started(*inside, *worker, "--local-directory", str(local), **names, **more))
        keyed = {name.removeprefix("DASK_").replace("__", ".").lower(): value for name, value in names.items()}
        with dask.config.set(keyed):
            yield Place(address, len(clones)), f"dbb{tag}v{len(clones)}"


@contextmanager
def _started(*command: str, **variables: str) -> Iterator[None]:
    process = subprocess.Popen(
        command, env=environment(**variables), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        yield
    finally:
        below = psutil.Process(process.pid).children(recursive=True)
        process.kill()
        process.wait()
        for each in below:
            if each.is_running():
                each.kill()


def _listens(host: str, port: int) -> bool:
    with suppress(OSError), socket.create_connection((host, port), 1):
        return True
    return False


def _impossible() -> str:
    """Why there can be no namespaces here; empty if there can."""
    if shutil.which("ip") is None or shutil.which("unshare") is None:
        return "ip and unshare are needed (Debian: iproute2, util-linux)"
    for command in (
        ("unshare", "--net", "ip", "link", "add", "dbb0", "type", "veth", "peer", "name", "dbb1"),
        ("unshare", "--fork", "--time", "--monotonic", "1", "true"),
    ):
        done = subprocess.run(command, capture_output=True, check=False, text=True)
        if done.returncode:
            return f"no namespaces here: {done.stderr.strip()}"
    return ""
