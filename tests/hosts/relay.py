#!/usr/bin/env python3
"""A bad line between hosts: what one sends reaches the others late, and some of it never.

usage: relay.py MILLISECONDS PER_CENT PID...   of processes in the network namespaces of the hosts

Makes an interface eth0 in each and is the cable that joins them, until it is killed. (The kernel's
netem does the same, but many kernels are built without it.)
"""
import ctypes
import fcntl
import heapq
import os
import random
import select
import struct
import sys
import time

TUNSETIFF, IFF_TAP, IFF_NO_PI, CLONE_NEWNET = 0x400454CA, 2, 0x1000, 0x40000000
FRAME = 65600


def interface(pid):
    """Descriptor of a new interface eth0 in the network of a process."""
    with open(f"/proc/{pid}/ns/net", "rb") as there:
        if ctypes.CDLL(None, use_errno=True).setns(there.fileno(), CLONE_NEWNET) != 0:
            raise OSError(ctypes.get_errno(), "setns")
    device = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
    fcntl.ioctl(device, TUNSETIFF, struct.pack("16sH22x", b"eth0", IFF_TAP | IFF_NO_PI))
    return device


def relay(devices, delay, loss):
    waiting = []  # heap of (when, number, frame, to)
    number = 0
    while True:
        pause = max(0, waiting[0][0] - time.monotonic()) if waiting else None
        ready, _, _ = select.select(devices, [], [], pause)
        for device in ready:
            frame = os.read(device, FRAME)
            if random.random() >= loss:
                heapq.heappush(waiting, (time.monotonic() + delay, number := number + 1, frame, device))
        while waiting and waiting[0][0] <= time.monotonic():
            _, _, frame, sender = heapq.heappop(waiting)
            for device in devices:
                if device != sender:
                    try:
                        os.write(device, frame)
                    except OSError:  # its host is down
                        pass


def main():
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    random.seed(1)
    devices = [interface(pid) for pid in sys.argv[3:]]
    print("up", flush=True)
    relay(devices, float(sys.argv[1]) / 1e3, float(sys.argv[2]) / 1e2)


if __name__ == "__main__":
    main()
