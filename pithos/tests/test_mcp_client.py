"""The official Python client of MCP against `pithos serve`: every tool, both protocol generations, stdio and HTTP."""

import asyncio
import contextlib
import re
import subprocess
from pathlib import Path

import httpx2
import pytest
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client

MODES = ["legacy", "2026-07-28"]


def stdio(pithos: str, workspace: Path) -> StdioServerParameters:
    return StdioServerParameters(command=pithos, args=["serve", "--cwd", str(workspace)])


def call_all(client_of):
    """Runs one conversation over every tool."""

    async def conversation() -> None:
        async with client_of() as client:
            tools = {tool.name for tool in (await client.list_tools()).tools}
            assert tools == {"run", "job", "log", "session", "js", "actors"}

            async def call(tool: str, **arguments):
                result = await client.call_tool(tool, arguments)
                return result, (result.structured_content or {}), result.content[0].text

            _, run, text = await call("run", command="mkdir -p sub && cd sub && x=42 && echo hi")
            assert (text, run["status"], run["state"]) == ("hi\n", 0, "done")
            _, run, text = await call("run", command="echo $x in ${PWD##*/}; exit_code() { return 7; }; exit_code")
            assert text.startswith("42 in sub\n") and run["status"] == 7
            _, run, text = await call("run", command="false | true")
            assert run["pipelines"] == [[1, 0]] and "stage 1 of 2 failed" in text
            _, session, _ = await call("session", action="fork", session="main", name="copy")
            assert session["session"] == "copy"
            _, _, text = await call("run", command="echo $x", session="copy")
            assert text == "42\n"
            _, sessions, _ = await call("session", action="list")
            assert {row["session"] for row in sessions["sessions"]} == {"main", "copy"}
            _, job, _ = await call("run", command="/bin/sh -c 'seq 1 5; while :; do /bin/sleep 60; done'", background=True)
            _, waited, _ = await call("job", action="wait", job=job["job"], until="^5$", timeout_ms=5000)
            assert waited["matched"] is True
            _, log, text = await call("log", action="tail", job=job["job"], lines=2)
            assert text == "4\n5\n" and log["total_bytes"] == 10
            _, stopped, _ = await call("job", action="stop", job=job["job"])
            assert stopped["state"] == "stopped" and stopped["killed"][0]["command"].startswith("/bin/sh -c")
            _, cell, _ = await call("js", code="const {output} = await shell('echo $x'); return Number(output) + 1")
            assert (cell["state"], cell["value"]) == ("done", 43)
            behaviour = "({receive(state, message, actor) { if (message === 'read') actor.reply(state); else return state + message; }})"
            _, spawned, _ = await call("actors", action="spawn", group="g", code=behaviour, count=5, argument=1)
            assert spawned["count"] == 5
            await call("actors", action="send", to="g", message=2)
            _, asked, _ = await call("actors", action="ask", to="g", message="read")
            assert asked["sum"] == 15
            await call("session", action="close", session="copy")
            result, _, text = await call("run", command="echo no", session="copy")
            assert result.is_error and "there is no session 'copy'" in text
            result, _, text = await call("run", comand="typo")
            assert result.is_error

    asyncio.run(asyncio.wait_for(conversation(), 60))


@pytest.mark.parametrize("mode", MODES)
def test_every_tool_on_stdio(pithos: str, workspace: Path, mode: str) -> None:
    call_all(lambda: Client(stdio(pithos, workspace), mode=mode))


@contextlib.contextmanager
def http_server(pithos: str, workspace: Path):
    """A server on a free port; yields its address and token."""
    token_file = workspace / "token"
    command = [pithos, "serve", "--http", "127.0.0.1:0", "--token-file", str(token_file), "--cwd", str(workspace)]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as server:
        try:
            match = re.search(r"http://\S+/mcp", server.stderr.readline())
            assert match, "the server says where it listens"
            yield match.group(), token_file.read_text().strip()
        finally:
            server.terminate()
            server.wait(10)


@pytest.mark.parametrize("mode", MODES)
def test_every_tool_on_http(pithos: str, workspace: Path, mode: str) -> None:
    with http_server(pithos, workspace) as (url, token):

        def client() -> Client:
            http = httpx2.AsyncClient(headers={"Authorization": f"Bearer {token}"})
            return Client(streamable_http_client(url, http_client=http), mode=mode)

        call_all(client)


def test_http_without_the_token_or_from_a_foreign_page_is_refused(pithos: str, workspace: Path) -> None:
    with http_server(pithos, workspace) as (url, token):
        good = {"Authorization": f"Bearer {token}"}
        assert httpx2.post(url, json={}).status_code == 401
        assert httpx2.post(url, json={}, headers={"Authorization": "Bearer wrong"}).status_code == 401
        foreign = httpx2.post(url, json={}, headers=good | {"Origin": "https://example.com"})
        assert foreign.status_code == 403
        rebound = httpx2.post(url, json={}, headers=good | {"Host": "example.com"})
        assert rebound.status_code == 403


@pytest.mark.parametrize("mode", MODES)
def test_resources_are_read_and_followed(pithos: str, workspace: Path, mode: str) -> None:
    """In the protocol with sessions by `resources/subscribe`, in the other by `subscriptions/listen`: over HTTP, where there is a stream for it."""
    uri = "pithos://file/followed"

    async def changed(client: Client, told) -> None:
        (workspace / "followed").write_text("other")
        await asyncio.wait_for(told, 60)
        read = await client.read_resource(uri)
        assert read.contents[0].text == "other"

    async def conversation() -> None:
        (workspace / "followed").write_text("one")
        with http_server(pithos, workspace) as (url, token):
            http = httpx2.AsyncClient(headers={"Authorization": f"Bearer {token}"}, timeout=60)
            async with Client(streamable_http_client(url, http_client=http), mode=mode) as client:
                await looked_at(client)

    async def looked_at(client: Client) -> None:
        ran = await client.call_tool("run", {"command": "echo logged"})
        log = f"pithos://job/{ran.structured_content['job']}/log"
        assert log in [str(row.uri) for row in (await client.list_resources()).resources]
        assert (await client.read_resource(log)).contents[0].text == "logged\n"
        if mode == "legacy":
            await client.subscribe_resource(uri)
            await client.unsubscribe_resource(uri)
            assert (await client.read_resource(uri)).contents[0].text == "one"
        else:
            async with client.listen(resource_subscriptions=[uri]) as following:
                await changed(client, anext(aiter(following)))

    asyncio.run(conversation())
