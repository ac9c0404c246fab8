"""Finding processes by the folder they work in, to prove that none is left."""

import os
import time
from pathlib import Path


def with_marker(marker: str) -> list[str]:
    """The command lines of live processes that work in the folder `marker` or name it in their command line."""
    found = []
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            stat = (entry / "stat").read_text()
            if stat.rsplit(")", 1)[1].split()[0] in "ZX":
                continue
            line = (entry / "cmdline").read_bytes()
            text = os.readlink(entry / "cwd").encode() + b" " + line
        except OSError:
            continue
        if marker.encode() in text:
            found.append(line.replace(b"\0", b" ").decode(errors="replace"))
    return found


def gone_within(marker: str, seconds: float) -> list[str]:
    """What is left of the marked processes after at most `seconds`."""
    deadline = time.monotonic() + seconds
    while (left := with_marker(marker)) and time.monotonic() < deadline:
        time.sleep(0.005)
    return left


def below_in_order(pid: int) -> list[int]:
    """The processes below one, parents before children; what ends meanwhile is left out."""
    found = []
    # Any thread of it may have started them.
    for child in [child for thread in Path(f"/proc/{pid}/task").iterdir() for child in (thread / "children").read_text().split()]:
        found += [int(child), *below_in_order(int(child))]
    return found
