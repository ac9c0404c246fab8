"""The same for asyncio: a cancelled task cancels its call, and with it everything that the call started.

    async with pithos.aio.Sandbox() as sandbox:
        session = await sandbox.session()
        result = await session.run("make test", timeout=60)
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ._connection import Connection
from ._results import WAIT_SLICE, Convert, Result, cell_value, checked, milliseconds
from ._results import run_arguments, run_result, server_arguments, session_name

__all__ = ["Job", "Sandbox", "Session"]


class Sandbox:
    """See `pithos.Sandbox`. The server starts with `async with` or `start()`."""

    def __init__(
        self,
        policy: str | Path = "workspace",
        *,
        cwd: str | Path | None = None,
        audit: str | Path | None = None,
        hosts: Sequence[str] = (),
        command: str | None = None,
    ) -> None:
        self._arguments = (server_arguments(policy, cwd, audit, hosts), command)
        self._connection: Connection | None = None

    async def start(self) -> Sandbox:
        """Starts the server."""
        self._connection = await asyncio.to_thread(Connection, *self._arguments)
        return self

    async def _call(self, tool: str, arguments: dict[str, Any], convert: Convert) -> Any:
        if self._connection is None:
            await self.start()
        return convert(await asyncio.wrap_future(self._connection.call(tool, arguments)))

    async def session(self, name: str | None = None, *, cwd: str | Path | None = None) -> Session:
        """Opens a shell session."""
        arguments = {"action": "open", "name": name, "cwd": None if cwd is None else str(cwd)}
        return Session(self, await self._call("session", arguments, session_name))

    async def run(self, command: str, **options: Any) -> Result:
        """Runs a command in the session `main` and waits for its end."""
        return await self._run(command, None, options)

    async def _run(self, command: str, session: str | None, options: dict[str, Any]) -> Result:
        waits = "yield_after" not in options and not options.get("background")
        result = await self._call("run", run_arguments(command, session, options), run_result)
        if waits and result.state == "running" and not result.waiting_for_input:
            return await Job(self, result).wait()
        return result

    async def eval_js(
        self,
        code: str,
        *,
        session: Session | None = None,
        timeout: float | None = None,
        fuel: int | None = None,
        heap_mb: int | None = None,
    ) -> Any:
        """The value of a JavaScript cell. Raises `pithos.CellError`."""
        arguments = {"code": code, "session": session and session.name, "timeout_ms": milliseconds(timeout)}
        arguments |= {"fuel": fuel, "heap_mb": heap_mb, "yield_ms": milliseconds(timeout and timeout + 5)}
        return await self._call("js", arguments, cell_value)

    async def actors(self, action: str, **arguments: Any) -> dict[str, Any]:
        """The actors tool as it is."""
        return await self._call("actors", {"action": action, **arguments}, lambda result: checked(result)[0])

    async def close(self) -> None:
        """Ends the server and everything that it started."""
        if self._connection is not None:
            await asyncio.to_thread(self._connection.close)

    async def __aenter__(self) -> Sandbox:
        return await self.start()

    async def __aexit__(self, *exception: object) -> None:
        await self.close()


class Session:
    """See `pithos.Session`; made by `Sandbox.session`."""

    def __init__(self, sandbox: Sandbox, name: str) -> None:
        self._sandbox = sandbox
        self.name = name

    async def run(self, command: str, **options: Any) -> Result:
        """Runs bash source and waits for its end."""
        return await self._sandbox._run(command, self.name, options)

    async def start(self, command: str, **options: Any) -> Job:
        """Starts a command and comes back at once."""
        arguments = run_arguments(command, self.name, {"yield_after": 0, **options})
        return Job(self._sandbox, await self._sandbox._call("run", arguments, run_result))

    async def eval_js(self, code: str, **options: Any) -> Any:
        """A cell whose `shell` is this session."""
        return await self._sandbox.eval_js(code, session=self, **options)

    async def fork(self, name: str | None = None) -> Session:
        """A copy with all its state."""
        arguments = {"action": "fork", "session": self.name, "name": name}
        return Session(self._sandbox, await self._sandbox._call("session", arguments, session_name))

    async def close(self) -> None:
        """Ends the session with everything in it."""
        await self._sandbox._call("session", {"action": "close", "session": self.name}, checked)


class Job:
    """See `pithos.Job`."""

    def __init__(self, sandbox: Sandbox, started: Result) -> None:
        self._sandbox = sandbox
        self.result = started
        self.handle = started.job

    async def _job(self, action: str, **arguments: Any) -> Result:
        self.result = await self._sandbox._call("job", {"action": action, "job": self.handle, **arguments}, run_result)
        return self.result

    async def wait(self, *, until: str | None = None, port: int | None = None) -> Result:
        """Waits for the end, for a line that matches, or for a loopback port; `asyncio.timeout` bounds it."""
        while True:
            result = await self._job("wait", until=until, port=port, timeout_ms=round(WAIT_SLICE * 1000))
            if result.state != "running" or result.matched or result.waiting_for_input:
                return result

    async def write(self, text: str, *, close: bool = False) -> Result:
        """Writes to the command's standard input."""
        return await self._job("write", text=text, close_stdin=close)

    async def resize(self, columns: int, rows: int) -> Result:
        """Changes the size of the command's terminal."""
        return await self._job("resize", columns=columns, rows=rows)

    async def signal(self, name: str) -> Result:
        """Sends a signal to the command's processes."""
        return await self._job("signal", signal=name)

    async def stop(self) -> Result:
        """Ends the command with everything that it started."""
        return await self._job("stop")

    async def log(self, *, lines: int = 50, grep: str | None = None) -> str:
        """The last lines of the whole output, or those that match."""
        arguments: dict[str, Any] = {"job": self.handle, "action": "grep", "pattern": grep}
        if grep is None:
            arguments = {"job": self.handle, "action": "tail", "lines": lines}
        return await self._sandbox._call("log", arguments, lambda result: checked(result)[1])
