"""Clients over HTTP beside each other: what is one's does not exist for another, and goes with its owner."""

import asyncio
import contextlib
import json
import re
import subprocess
import time
from pathlib import Path

import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from processes import with_marker

#: Seconds within which something that must end has ended.
PATIENCE = 60.0


@contextlib.contextmanager
def http_server(pithos: str, workspace: Path, *arguments: str):
    """A server on a free port; yields its address and token."""
    token_file = workspace / "token"
    command = [pithos, "serve", "--http", "127.0.0.1:0", "--token-file", str(token_file), "--cwd", str(workspace)]
    with subprocess.Popen([*command, *arguments], stderr=subprocess.PIPE, text=True) as server:
        try:
            match = re.search(r"http://\S+/mcp", server.stderr.readline())
            assert match, "the server says where it listens"
            yield match.group(), token_file.read_text().strip()
        finally:
            server.terminate()
            server.wait(10)


def client_of(url: str, token: str, mode: str) -> Client:
    http = httpx2.AsyncClient(headers={"Authorization": f"Bearer {token}"}, timeout=PATIENCE)
    return Client(streamable_http_client(url, http_client=http), mode=mode)


async def call(client: Client, tool: str, **arguments):
    """The structured part and the text of a result."""
    result = await client.call_tool(tool, arguments)
    return result.structured_content or {}, result.content[0].text


@contextlib.asynccontextmanager
async def two(url: str, token: str, mode: str):
    """Two clients: by their MCP sessions, or where there are none by the word after the token."""
    words = ("", "") if mode == "legacy" else (".one", ".two")
    async with client_of(url, token + words[0], mode) as one, client_of(url, token + words[1], mode) as other:
        yield one, other


@pytest.mark.parametrize("mode", ["legacy", "2026-07-28"])
def test_clients_have_their_own_everything(pithos: str, workspace: Path, mode: str) -> None:
    async def conversation() -> None:
        with http_server(pithos, workspace) as (url, token):
            async with two(url, token, mode) as (one, other):
                # Side by side, each with state of its own in sessions of the same name.
                for client, name in ((one, "one"), (other, "other")):
                    await call(client, "run", command=f"export SECRET={name}; cd /tmp; echo {name} > file")

                async def sees(client: Client, name: str) -> None:
                    for _ in range(20):
                        assert (await call(client, "run", command="echo $SECRET $(cat /tmp/file)"))[1] == f"{name} {name}\n"

                await asyncio.gather(sees(one, "one"), sees(other, "other"))
                # What one has.
                await call(one, "session", action="open", name="private")
                job, _ = await call(one, "run", command="echo secret; exec sleep 1000", background=True, session="private")
                for _ in range(5):
                    await call(one, "run", command="echo secret")
                cell, _ = await call(one, "js", code="store('x', 'secret'); return 'secret'")
                await call(one, "actors", action="spawn", group="g", system="mine", code="({receive(s, m, a) { a.reply('secret') }})")
                # Every handle that there could be.
                shown = []
                for number in range(1, 40):
                    handle = f"j{number}"
                    shown.append((await call(other, "job", action="wait", job=handle, timeout_ms=1))[1])
                    for action in ({"action": "tail"}, {"action": "read"}, {"action": "grep", "pattern": "."}):
                        shown.append((await call(other, "log", job=handle, **action))[1])
                    if number > 30:
                        shown.append((await call(other, "job", action="stop", job=handle))[1])
                    shown.append((await call(other, "js", cell=f"c{number}", yield_ms=1))[1])
                shown.append((await call(other, "js", code="return load('x')"))[1])
                for action in ("close", "fork"):
                    shown.append((await call(other, "session", action=action, session="private"))[1])
                shown.append((await call(other, "run", command="echo $SECRET", session="private"))[1])
                shown.append((await call(other, "actors", action="ask", system="mine", to="g", message=1))[1])
                shown.append((await call(other, "actors", action="stop", system="mine"))[1])
                shown.append((await call(other, "actors", action="tree"))[1])
                shown.append((await call(other, "job", action="list"))[1])
                shown.append((await call(other, "session", action="list"))[1])
                # Its processes, its environment, its files.
                shown.append((await call(other, "run", command="cat /proc/*/environ /proc/*/cmdline | tr '\\0' '\\n'; kill -9 -1; :", session=None))[1])
                shown.append((await call(other, "run", command="grep -rs secret /tmp; find / -name 'j*.log' 2>/dev/null | xargs cat"))[1])
                assert not [text for text in shown if "secret" in text or "private" in text and "no session" not in text]
                # And it is all still there.
                assert (await call(one, "job", action="wait", job=job["job"], timeout_ms=1))[0]["state"] == "running"
                assert (await call(one, "js", code="return load('x')"))[0]["value"] == "secret"
                assert (await call(one, "run", command="echo here", session="private"))[1] == "here\n"
                assert "secret" in (await call(one, "log", action="tail", job=job["job"]))[1]

    asyncio.run(asyncio.wait_for(conversation(), 300))


def left_of(workspace: Path, what: str) -> list[str]:
    deadline = time.monotonic() + PATIENCE
    while (left := [line for line in with_marker(str(workspace)) if what in line]) and time.monotonic() < deadline:
        time.sleep(0.02)
    return left


def test_a_client_that_goes_takes_everything_along_and_nobody_else_s(pithos: str, workspace: Path) -> None:
    async def conversation() -> None:
        with http_server(pithos, workspace) as (url, token):
            async with client_of(url, token, "legacy") as stays:
                kept, _ = await call(stays, "run", command="exec sleep 2345", background=True)
                async with client_of(url, token, "legacy") as goes:
                    await call(goes, "run", command="exec sleep 1234", background=True)
                    long = asyncio.create_task(goes.call_tool("run", {"command": "sleep 1235", "yield_ms": 1_000_000}))
                    while not any("1235" in line for line in with_marker(str(workspace))):
                        await asyncio.sleep(0.05)
                    long.cancel()
                    with contextlib.suppress(asyncio.CancelledError):
                        await long
                assert not left_of(workspace, "sleep 123")
                assert (await call(stays, "job", action="wait", job=kept["job"], timeout_ms=1))[0]["state"] == "running"

    asyncio.run(asyncio.wait_for(conversation(), 120))


class Raw:
    """A client by hand: one request, one answer."""

    def __init__(self, url: str, token: str) -> None:
        self.url, self.token, self.session = url, token, None

    def post(self, message: dict, **headers: str) -> httpx2.Response:
        head = {"Authorization": f"Bearer {self.token}", "Accept": "application/json, text/event-stream"}
        if self.session:
            head |= {"Mcp-Session-Id": self.session, "MCP-Protocol-Version": "2025-11-25"}
        return httpx2.post(self.url, json=message, headers=head | headers, timeout=PATIENCE)

    def begin(self) -> httpx2.Response:
        params = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "raw", "version": "1"}}
        answer = self.post({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params})
        self.session = answer.headers.get("mcp-session-id")
        if self.session:
            self.post({"jsonrpc": "2.0", "method": "notifications/initialized"})
        return answer

    def call(self, tool: str, **arguments) -> httpx2.Response:
        return self.post({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": tool, "arguments": arguments}})


def text_of(answer: httpx2.Response) -> str:
    data = [line.removeprefix("data: ") for line in answer.text.splitlines() if line.startswith("data: {")]
    return json.loads(data[-1])["result"]["content"][0]["text"]


def test_a_session_s_id_is_worth_nothing_with_another_credential(pithos: str, workspace: Path) -> None:
    with http_server(pithos, workspace) as (url, token):
        owner = Raw(url, f"{token}.owner")
        owner.begin()
        assert text_of(owner.call("run", command="echo mine")) == "mine\n"
        for word in ("", ".thief", ".Owner", ".owner-"):
            thief = Raw(url, token + word)
            thief.session = owner.session
            assert thief.call("run", command="echo stolen").status_code == 404, word
            head = {"Authorization": f"Bearer {thief.token}", "Mcp-Session-Id": owner.session}
            assert httpx2.delete(url, headers=head).status_code == 404
            assert httpx2.get(url, headers=head | {"Accept": "text/event-stream"}).status_code == 404
        for wrong in (".", ".a.b", ".ü", "x", ". x", "." + "x" * 65):
            head = {"Authorization": f"Bearer {token}{wrong}".encode()}
            assert httpx2.post(url, json={}, headers=head).status_code == 401, wrong
        assert text_of(owner.call("run", command="echo still")) == "still\n"


def test_the_silent_end_and_the_present_do_not(pithos: str, workspace: Path) -> None:
    with http_server(pithos, workspace, "--idle", "2") as (url, token):
        present = Raw(url, token)
        present.begin()
        head = {"Authorization": f"Bearer {token}", "Mcp-Session-Id": present.session, "Accept": "text/event-stream"}
        with httpx2.stream("GET", url, headers=head, timeout=PATIENCE) as stream:
            assert stream.status_code == 200
            present.call("run", command="x=kept")
            silent = Raw(url, token)
            silent.begin()
            silent.call("run", command="exec sleep 3456", background=True)
            deadline = time.monotonic() + PATIENCE
            while silent.call("session", action="no").status_code != 404:
                assert time.monotonic() < deadline
                time.sleep(3)
            assert not left_of(workspace, "sleep 3456")
            # The stream is all that it has.
            time.sleep(3)
            assert text_of(present.call("run", command="echo $x")) == "kept\n"
        silent.session = None
        silent.begin()
        assert text_of(silent.call("run", command="sleep 5; echo a call is presence")) == "a call is presence\n"


def test_places_are_bounded_and_come_back(pithos: str, workspace: Path) -> None:
    with http_server(pithos, workspace) as (url, token):
        clients = [Raw(url, token) for _ in range(64)]
        assert all(client.begin().status_code == 200 for client in clients)
        late = Raw(url, token)
        refused = late.begin()
        assert refused.status_code == 503 and "64 places" in refused.text
        assert text_of(clients[63].call("run", command="echo here")) == "here\n"
        head = {"Authorization": f"Bearer {token}", "Mcp-Session-Id": clients[0].session}
        assert httpx2.delete(url, headers=head).is_success
        assert late.begin().status_code == 200
        assert text_of(late.call("run", command="echo late")) == "late\n"
