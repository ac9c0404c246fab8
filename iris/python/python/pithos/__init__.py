"""The place where agents run things, from Python: shell sessions that keep their state, jobs, JavaScript cells and actors, in a sandbox.

    import pithos

    pithos.run("make test").check()
    with pithos.Sandbox(cwd="project") as sandbox:
        session = sandbox.session()
        session.run("cd src && x=42")
        print(session.run("echo $x in $PWD").output)
        print(sandbox.eval_js("(await list('.')).length"))

A `Sandbox` is a server process of its own (`pithos serve`); the functions of this module share one that starts when it is first used, in the
current folder, under the policy `workspace`. `pithos.aio` is the same for asyncio. The `pithos` command must be on the path.
"""

from __future__ import annotations

import atexit
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ._connection import Connection, PithosError
from ._results import WAIT_SLICE, CellError, Convert, Result, cell_value, checked, milliseconds
from ._results import run_arguments, run_result, server_arguments, session_name

__all__ = ["CellError", "Job", "PithosError", "Result", "Sandbox", "Session", "eval_js", "run"]


class Sandbox:
    """A server: a policy, a folder, and the sessions, cells and actors in it. Closing it ends all of them."""

    def __init__(
        self,
        policy: str | Path = "workspace",
        *,
        cwd: str | Path | None = None,
        audit: str | Path | None = None,
        hosts: Sequence[str] = (),
        command: str | None = None,
    ) -> None:
        """`policy` is read-only, workspace, trusted or a TOML file; `audit` a file for one JSON line per call;
        `hosts` what programs may reach besides the loopback: names of hosts or of groups such as `npm` and `pypi`, as `pithos serve --hosts` takes them."""
        self._connection = Connection(server_arguments(policy, cwd, audit, hosts), command)

    def _call(self, tool: str, arguments: dict[str, Any], convert: Convert) -> Any:
        answer = self._connection.call(tool, arguments)
        try:
            return convert(answer.result())
        except KeyboardInterrupt:
            answer.cancel()
            raise

    def session(self, name: str | None = None, *, cwd: str | Path | None = None) -> Session:
        """Opens a shell session."""
        arguments = {"action": "open", "name": name, "cwd": None if cwd is None else str(cwd)}
        return Session(self, self._call("session", arguments, session_name))

    def run(self, command: str, **options: Any) -> Result:
        """Runs a command in the session `main` and waits for its end; see `Session.run`."""
        return self._run(command, None, options)

    def _run(self, command: str, session: str | None, options: dict[str, Any]) -> Result:
        waits = "yield_after" not in options and not options.get("background")
        result = self._call("run", run_arguments(command, session, options), run_result)
        if waits and result.state == "running" and not result.waiting_for_input:
            return Job(self, result).wait()
        return result

    def eval_js(
        self,
        code: str,
        *,
        session: Session | None = None,
        timeout: float | None = None,
        fuel: int | None = None,
        heap_mb: int | None = None,
    ) -> Any:
        """The value of a JavaScript cell: an expression, or the body of an async function. Raises `CellError`."""
        arguments = {"code": code, "session": session and session.name, "timeout_ms": milliseconds(timeout)}
        arguments |= {"fuel": fuel, "heap_mb": heap_mb, "yield_ms": milliseconds(timeout and timeout + 5)}
        return self._call("js", arguments, cell_value)

    def actors(self, action: str, **arguments: Any) -> dict[str, Any]:
        """The actors tool as it is: spawn, send, ask, swap, stop, tree."""
        return self._call("actors", {"action": action, **arguments}, lambda result: checked(result)[0])

    def close(self) -> None:
        """Ends the server and everything that it started."""
        self._connection.close()

    def __enter__(self) -> Sandbox:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()


class Session:
    """A shell that keeps its working directory, variables, functions and options between runs."""

    def __init__(self, sandbox: Sandbox | None = None, name: str | None = None) -> None:
        """A new session of the shared sandbox, or (from `Sandbox.session`) the one of that name."""
        self._sandbox = sandbox or _shared()
        self.name = name or self._sandbox.session().name

    def run(self, command: str, **options: Any) -> Result:
        """Runs bash source and waits for its end.

        Options: cwd, env, stdin (text), timeout (seconds), output_bytes. With `yield_after` seconds a run that is not done comes back
        as it is; its `job` goes on.
        """
        return self._sandbox._run(command, self.name, options)

    def start(self, command: str, **options: Any) -> Job:
        """Starts a command and comes back at once. With `background=True` it runs in a copy of the session."""
        options = {"yield_after": 0, **options}
        return Job(self._sandbox, self._sandbox._call("run", run_arguments(command, self.name, options), run_result))

    def eval_js(self, code: str, **options: Any) -> Any:
        """A cell whose `shell` is this session; see `Sandbox.eval_js`."""
        return self._sandbox.eval_js(code, session=self, **options)

    def fork(self, name: str | None = None) -> Session:
        """A copy with all its state. A fork that is left alone is a snapshot: fork it again to come back to it."""
        arguments = {"action": "fork", "session": self.name, "name": name}
        return Session(self._sandbox, self._sandbox._call("session", arguments, session_name))

    def close(self) -> None:
        """Ends the session with everything in it."""
        self._sandbox._call("session", {"action": "close", "session": self.name}, checked)

    def __enter__(self) -> Session:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()


class Job:
    """A command that was started."""

    def __init__(self, sandbox: Sandbox, started: Result) -> None:
        self._sandbox = sandbox
        self.result = started
        self.handle = started.job

    def _job(self, action: str, **arguments: Any) -> Result:
        self.result = self._sandbox._call("job", {"action": action, "job": self.handle, **arguments}, run_result)
        return self.result

    def wait(self, *, until: str | None = None, port: int | None = None, timeout: float | None = None) -> Result:
        """Waits for the end, for a line that matches, or for a loopback port. After `timeout` seconds the state as it is."""
        end = None if timeout is None else time.monotonic() + timeout
        while True:
            slice_s = WAIT_SLICE if end is None else max(0.0, min(WAIT_SLICE, end - time.monotonic()))
            result = self._job("wait", until=until, port=port, timeout_ms=round(slice_s * 1000))
            over = result.state != "running" or result.matched or result.waiting_for_input
            if over or end is not None and time.monotonic() >= end:
                return result

    def write(self, text: str, *, close: bool = False) -> Result:
        """Writes to the command's standard input (start it with `interactive=True` or `terminal=(columns, rows)`)."""
        return self._job("write", text=text, close_stdin=close)

    def resize(self, columns: int, rows: int) -> Result:
        """Changes the size of the command's terminal."""
        return self._job("resize", columns=columns, rows=rows)

    def signal(self, name: str) -> Result:
        """Sends a signal to the command's processes: INT, TERM and so on."""
        return self._job("signal", signal=name)

    def stop(self) -> Result:
        """Ends the command with everything that it started; `killed` lists it."""
        return self._job("stop")

    def log(self, *, lines: int = 50, grep: str | None = None) -> str:
        """The last lines of the whole output, or those that match."""
        arguments: dict[str, Any] = {"job": self.handle, "action": "grep", "pattern": grep}
        if grep is None:
            arguments = {"job": self.handle, "action": "tail", "lines": lines}
        return self._sandbox._call("log", arguments, lambda result: checked(result)[1])


_default: Sandbox | None = None
_default_lock = threading.Lock()


def _shared() -> Sandbox:
    global _default
    with _default_lock:
        if _default is None:
            _default = Sandbox()
            atexit.register(_default.close)
        return _default


def run(command: str, **options: Any) -> Result:
    """Runs a command in the session `main` of the shared sandbox; see `Session.run`."""
    return _shared().run(command, **options)


def eval_js(code: str, **options: Any) -> Any:
    """The value of a JavaScript cell in the shared sandbox; see `Sandbox.eval_js`."""
    return _shared().eval_js(code, **options)
