"""Looking into a running system from outside. Owns the Unix socket that a process opens with `serve`, and the `top` and
`metrics` commands that read it. Invariant: the socket belongs to its user alone (mode 0600) and gives numbers, never messages.
"""

from __future__ import annotations

import argparse
import glob
import json
import logging
import os
import select
import shutil
import socket
import sys
import tempfile
import threading
import time
import weakref
from typing import Any, Optional

# What a process tells about itself or one of its actors, as JSON.
Facts = dict[str, Any]

# Seconds that a client waits for a process that does not answer.
TIMEOUT_S = 5.0
# Seconds without a question from `top` after which handlers are no longer timed for it.
TIMING_S = 10.0
# Largest answer that a client reads, in bytes.
ANSWER_MAX = 256 * 1024 * 1024


def folder() -> str:
    """Where sockets are looked for: the user's runtime directory."""
    base = os.environ.get("XDG_RUNTIME_DIR") or os.path.join(tempfile.gettempdir(), f"iris-{os.getuid()}")
    os.makedirs(base, mode=0o700, exist_ok=True)
    return base


def serve(runtime: Any, path: Optional[str] = None) -> str:
    """Opens a socket that `python -m iris top` can read. Returns its path."""
    path = path or os.path.join(folder(), f"iris-{os.getpid()}-{id(runtime):x}.sock")
    if os.path.exists(path):
        os.unlink(path)
    server = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    mask = os.umask(0o177)
    try:
        server.bind(path)
    finally:
        os.umask(mask)
    server.listen(4)
    arguments = (server, path, weakref.ref(runtime))
    threading.Thread(target=_answer, args=arguments, name="iris-tools", daemon=True).start()
    return path


def log_dead_letters(runtime: Any, logger: Optional[logging.Logger] = None, level: int = logging.WARNING) -> None:
    """Writes every dead letter to a logger (`iris.dead_letters` unless given): who it was for and why, and the message's type only."""
    log = logger or logging.getLogger("iris.dead_letters")

    def told(pid: int, message: Any, reason: str) -> None:
        log.log(level, "%s for <%d.%d> was not handled: %s", type(message).__name__, pid >> 32, pid & 0xFFFFFFFF, reason)

    runtime.on_dead_letter(told)


def _answer(server: socket.socket, path: str, watched: "weakref.ref[Any]") -> None:
    """Answers until the runtime is gone, which is noticed at the next question or pause."""
    server.settimeout(TIMING_S)
    alive = True
    while alive:
        try:
            client: Optional[socket.socket] = server.accept()[0]
        except TimeoutError:
            client = None
        except OSError:
            break
        alive = _answer_one(client, watched())
    server.close()
    if os.path.exists(path):
        os.unlink(path)


def _answer_one(client: Optional[socket.socket], runtime: Any) -> bool:
    """One question, or a pause without one. False when the runtime is gone."""
    if client is None:
        if runtime is not None:
            runtime.time_handlers(False)
        return runtime is not None
    with client:
        try:
            client.settimeout(TIMEOUT_S)
            command = client.makefile("r", encoding="utf-8").readline().strip()
            if runtime is not None:
                client.sendall(_report(runtime, command).encode())
        except OSError:
            pass
    return runtime is not None


def _report(runtime: Any, command: str) -> str:
    if command == "metrics":
        text: str = runtime.prometheus()
        return text
    if command == "top":
        # Handlers are timed only while somebody looks.
        runtime.time_handlers(True)
        letters = runtime.dead_letters()
        return json.dumps({"metrics": runtime.metrics(), "actors": runtime.actors(), "dead_letters": letters,
                           "slow": runtime.slow_handlers()})  # fmt: skip
    return json.dumps({"error": f"unknown command {command!r}: use top or metrics"})


def ask(path: str, command: str) -> str:
    """One question to a process."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as client:
        client.settimeout(TIMEOUT_S)
        client.connect(path)
        client.sendall(command.encode() + b"\n")
        parts, size = [], 0
        while chunk := client.recv(1 << 16):
            parts.append(chunk)
            size += len(chunk)
            if size > ANSWER_MAX:
                raise OSError("the answer is too long")
        return b"".join(parts).decode()


def render(now: Facts, before: Facts, seconds: float, rows: int, columns: int) -> list[str]:
    """The screen of `top`: totals, then the busiest actors as a tree under their parents."""
    metrics = now["metrics"]
    past = {actor["pid"]: actor for actor in before.get("actors", ())}
    for actor in now["actors"]:
        then = past.get(actor["pid"], actor)
        actor["rate"] = max(0.0, (actor["processed"] - then["processed"]) / seconds)
        actor["load"] = max(0.0, (actor["busy"] - then["busy"]) / seconds)
    lines = [
        f"iris  actors {metrics['live']}  spawned {metrics['spawned']}  restarts {metrics['restarts']}  "
        f"failures {metrics['exits_abnormal']}  dead letters {metrics['dead_letters']}  timers {metrics['timers']}",
        f"{'PID':<28}{'STATE':<10}{'MAILBOX':>9}{'MSG/S':>11}{'MESSAGES':>12}{'HANDLER%':>10}{'RESTARTS':>9}{'VER':>5}  NAMES",
    ]
    lines += _tree(now["actors"], rows - len(lines) - 1)
    return [line[:columns] for line in lines]


def _tree(actors: list[Facts], rows: int) -> list[str]:
    busiest = sorted(actors, key=lambda actor: (-actor["mailbox"], -actor["rate"], actor["pid"]))[: max(rows, 0)]
    shown = {actor["pid"]: actor for actor in busiest}
    children: dict[Optional[int], list[Facts]] = {}
    for actor in busiest:
        parent = actor["parent"] if actor["parent"] in shown else None
        children.setdefault(parent, []).append(actor)
    lines: list[str] = []

    def add(parent: Optional[int], depth: int) -> None:
        for actor in children.get(parent, ()):
            lines.append(_row(actor, depth))
            add(actor["pid"], depth + 1)

    add(None, 0)
    return lines


def _row(actor: Facts, depth: int) -> str:
    pid = "  " * min(depth, 6) + f"<{actor['pid'] >> 32}.{actor['pid'] & 0xFFFFFFFF}>"
    names = " ".join(actor["names"])
    return (
        f"{pid:<28}{actor['state']:<10}{actor['mailbox']:>9}{actor['rate']:>11.0f}"
        f"{actor['processed']:>12}{actor['load'] * 100:>10.1f}{actor['restarts']:>9}{actor['version']:>5}  {names}"
    )


def _find_socket(given: Optional[str]) -> str:
    if given:
        return given
    found = sorted(glob.glob(os.path.join(folder(), "iris-*.sock")), key=os.path.getmtime)
    if not found:
        raise SystemExit("no iris socket found: call iris.tools.serve(runtime) in the process, or give --socket PATH")
    return found[-1]


class _Keys:
    """Single keys from the terminal while `top` runs; its settings come back at the end."""

    def __enter__(self) -> "_Keys":
        self._settings: Any = None
        if os.isatty(0):
            # Not there on every system, and only needed here.
            import termios
            import tty

            self._settings = termios.tcgetattr(0)
            tty.setcbreak(0)
        return self

    def __exit__(self, *_: Any) -> None:
        if self._settings is not None:
            import termios

            termios.tcsetattr(0, termios.TCSADRAIN, self._settings)

    def quits(self, seconds: float) -> bool:
        """Waits so long, or until q (or the end of the input) comes."""
        if self._settings is None:
            time.sleep(seconds)
            return False
        until = time.monotonic() + seconds
        while select.select([0], [], [], max(0.0, until - time.monotonic()))[0]:
            if os.read(0, 1) in (b"q", b"Q", b""):
                return True
        return False


def _top(path: str, interval: float, once: bool) -> int:
    if once:
        return _screens(path, interval, None)
    if not os.isatty(1):
        print("python -m iris top needs a terminal: --once prints one screen, metrics the numbers", file=sys.stderr)
        return 2
    with _Keys() as keys:
        return _screens(path, interval, keys)


def _screens(path: str, interval: float, keys: Optional[_Keys]) -> int:
    before: Facts = {}
    then = time.monotonic()
    while True:
        now = json.loads(ask(path, "top"))
        elapsed = max(time.monotonic() - then, 1e-6)
        then = time.monotonic()
        size = shutil.get_terminal_size((120, 40))
        screen = render(now, before, elapsed, size.lines, size.columns)
        print(("" if keys is None else "\x1b[H\x1b[2J") + "\n".join(screen), flush=True)
        if keys is None or keys.quits(interval):
            return 0
        before = now


def main(arguments: list[str]) -> int:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m iris", description="Look into a running iris system.")
    parser.add_argument("command", choices=["top", "metrics"], help="live actor tree, or Prometheus text")
    parser.add_argument("--socket", help="the socket that iris.tools.serve returned (default: the newest)")
    parser.add_argument("--interval", type=float, default=1.0, help="seconds between two screens")
    parser.add_argument("--once", action="store_true", help="print one screen and end")
    options = parser.parse_args(arguments)
    path = _find_socket(options.socket)
    try:
        if options.command == "metrics":
            print(ask(path, "metrics"), end="")
            return 0
        return _top(path, max(options.interval, 0.1), options.once)
    except KeyboardInterrupt:
        return 0
    except OSError as error:
        raise SystemExit(f"cannot read {path}: {error}") from None
