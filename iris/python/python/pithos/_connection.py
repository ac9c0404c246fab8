"""One `pithos serve` process and the conversation with it: JSON-RPC lines over its pipes, answers by number.

A thread reads; callers get futures, which the synchronous half waits for and the asynchronous half awaits. The server ends with its
pipes, and everything that it started ends with it.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import threading
from concurrent.futures import Future
from typing import Any

PROTOCOL = "2025-11-25"


class PithosError(Exception):
    """What the server says is wrong with a call, or that the server is gone."""


def find_command() -> str:
    """The `pithos` command: what `PITHOS` names, else the one on the path."""
    command = os.environ.get("PITHOS") or shutil.which("pithos")
    if not command:
        raise PithosError("the pithos command was not found: put it on the path (make install) or name it in PITHOS")
    return command


class Connection:
    """A server process and the calls that are under way."""

    def __init__(self, arguments: list[str], command: str | None = None) -> None:
        self._lock = threading.Lock()
        self._waiting: dict[int, Future[Any]] = {}
        self._next = 1
        self._gone: PithosError | None = None
        self._process = subprocess.Popen(
            [command or find_command(), "serve", *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        threading.Thread(target=self._read, name="pithos-reader", daemon=True).start()
        client = {"name": "pithos-python", "version": "1"}
        hello = {"protocolVersion": PROTOCOL, "capabilities": {}, "clientInfo": client}
        try:
            self.request("initialize", hello).result()
            self._send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        except BaseException:
            self.close()
            raise

    def request(self, method: str, params: dict[str, Any]) -> Future[Any]:
        """Sends a request; the future gets its result."""
        answer: Future[Any] = Future()
        with self._lock:
            if self._gone:
                raise self._gone
            number = self._next
            self._next += 1
            self._waiting[number] = answer
        answer.add_done_callback(lambda done: self._cancelled(number) if done.cancelled() else None)
        self._send({"jsonrpc": "2.0", "id": number, "method": method, "params": params})
        return answer

    def call(self, tool: str, arguments: dict[str, Any]) -> Future[dict[str, Any]]:
        """Calls a tool without the arguments that are None."""
        given = {name: value for name, value in arguments.items() if value is not None}
        return self.request("tools/call", {"name": tool, "arguments": given})

    def close(self) -> None:
        """Ends the server, which ends everything that it started."""
        if self._process.stdin:
            try:
                self._process.stdin.close()
            except OSError:
                pass
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def _cancelled(self, number: int) -> None:
        with self._lock:
            known = self._waiting.pop(number, None)
        if known:
            try:
                self._send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": number}})
            except PithosError:
                pass

    def _send(self, message: dict[str, Any]) -> None:
        line = json.dumps(message).encode() + b"\n"
        try:
            with self._lock:
                self._process.stdin.write(line)
                self._process.stdin.flush()
        except (OSError, ValueError) as error:
            raise PithosError(f"the pithos server is gone: {error}") from error

    def _end(self) -> str:
        """What is known of the end of the server, whose output has ended."""
        try:
            status = self._process.wait(1)
        except subprocess.TimeoutExpired:
            return "the pithos server has closed its output"
        if status == 0:
            return "the pithos server has ended"
        return f"the pithos server has ended with status {status} (standard error has the reason)"

    def _read(self) -> None:
        for line in self._process.stdout:
            message = json.loads(line)
            with self._lock:
                answer = self._waiting.pop(message.get("id"), None)
            if answer is None or not answer.set_running_or_notify_cancel():
                continue
            if "error" in message:
                answer.set_exception(PithosError(message["error"].get("message", "the call failed")))
            else:
                answer.set_result(message["result"])
        self._process.stdout.close()
        end = self._end()
        with self._lock:
            self._gone = PithosError(end)
            left, self._waiting = list(self._waiting.values()), {}
        for answer in left:
            if answer.set_running_or_notify_cancel():
                answer.set_exception(self._gone)
