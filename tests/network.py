"""Two hosts on one machine: network namespaces with a wire between them that delays each packet.

`python -m tests.network CLIENT SERVER SECONDS` is the wire where the kernel has no netem: it passes packets on from
one namespace to the other, each as long after it came.
"""

import ctypes
import fcntl
import heapq
import os
import select
import shutil
import struct
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from time import monotonic

import pytest

ROOT = Path(__file__).parents[1]
_TUNSETIFF, _IFF_TUN, _IFF_NO_PI, _CLONE_NEWNET = 0x400454CA, 0x0001, 0x1000, 0x40000000


@dataclass(frozen=True)
class Hosts:
    """Two namespaces, their addresses, and what delays the packets between them."""

    client: str
    server: str
    wire: str
    client_address: str = "10.213.7.1"
    server_address: str = "10.213.7.2"

    def command(self, host: str, *words: str) -> list[str]:
        """A command that runs on one of them."""
        return ["ip", "netns", "exec", host, *words]


@contextmanager
def hosts(delay: float) -> Iterator[Hosts]:
    """Two hosts with `delay` seconds between them in each direction. Skips the test, and says why, if there can't be."""
    if os.geteuid() != 0:
        pytest.skip("not run: network namespaces need root")
    if not (shutil.which("ip") and shutil.which("tc")):
        pytest.skip("not run: apt install iproute2")
    client, server = (f"dbbench-{name}-{os.getpid()}" for name in ("client", "server"))
    with ExitStack() as ending:
        for name in (client, server):
            made = subprocess.run(["ip", "netns", "add", name], capture_output=True, text=True, check=False)
            if made.returncode:
                pytest.skip(f"not run: no network namespace can be made here: {made.stderr.strip()}")
            ending.callback(ip, "netns", "del", name)
            entered = subprocess.run(
                ["ip", "-n", name, "link", "set", "lo", "up"], capture_output=True, text=True, check=False
            )
            if entered.returncode:  # as in a chroot, whose / is no mount
                pytest.skip(f"not run: no network namespace can be entered here: {entered.stderr.strip()}")
        wire = _netem(client, server, delay) or _relay(ending, client, server, delay)
        for name, address in ((client, Hosts.client_address), (server, Hosts.server_address)):
            ip("-n", name, "address", "add", f"{address}/24", "dev", "wire")
            ip("-n", name, "link", "set", "wire", "up")
        yield Hosts(client, server, wire)


def ip(*words: str) -> None:
    """Run `ip` of iproute2. Raises CalledProcessError if it fails."""
    subprocess.run(["ip", *words], check=True, capture_output=True)


def _netem(client: str, server: str, delay: float) -> str:
    """A pair of devices that the kernel delays; empty where it can't."""
    ip("link", "add", "wire", "netns", client, "type", "veth", "peer", "name", "wire", "netns", server)
    for name in (client, server):
        command = ["tc", "-n", name, "qdisc", "add", "dev", "wire", "root", "netem", "delay", f"{delay * 1e6:g}us"]
        if subprocess.run(command, capture_output=True, check=False).returncode:
            ip("-n", client, "link", "del", "wire")
            return ""
    return "netem"


def _relay(ending: ExitStack, client: str, server: str, delay: float) -> str:
    command = [sys.executable, "-m", "tests.network", client, server, str(delay)]
    relay = ending.enter_context(subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE))
    ending.callback(relay.kill)
    assert relay.stdout
    assert relay.stdout.readline() == b"ready\n"
    return "relay"


def _device(namespace: str) -> int:
    """A descriptor that reads and writes the packets of a device in a namespace, which this process enters."""
    with open(f"/run/netns/{namespace}") as place:
        if ctypes.CDLL(None, use_errno=True).setns(place.fileno(), _CLONE_NEWNET):
            raise OSError(ctypes.get_errno(), f"can't enter {namespace}")
    device = os.open("/dev/net/tun", os.O_RDWR)
    fcntl.ioctl(device, _TUNSETIFF, struct.pack("16sH22x", b"wire", _IFF_TUN | _IFF_NO_PI))
    return device


def _pass_on(devices: Sequence[int], delay: float) -> None:
    """Each packet of one to the other, `delay` seconds after it came; for ever."""
    waiting: list[tuple[float, int, int, bytes]] = []
    turn = count()
    while True:
        rest = max(waiting[0][0] - monotonic(), 0) if waiting else None
        for ready in select.select(devices, [], [], rest)[0]:
            other = devices[1 - devices.index(ready)]
            heapq.heappush(waiting, (monotonic() + delay, next(turn), other, os.read(ready, 65_536)))
        while waiting and waiting[0][0] <= monotonic():
            *_, device, packet = heapq.heappop(waiting)
            with suppress(OSError):  # lost, as on any wire, while the other end isn't up
                os.write(device, packet)


if __name__ == "__main__":
    made = [_device(name) for name in sys.argv[1:3]]
    print("ready", flush=True)
    _pass_on(made, float(sys.argv[3]))
