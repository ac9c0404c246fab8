"""Clients in JavaScript against `pithos serve`: the official SDK and the inspector's command line, on stdio and HTTP.

Both are installed once into the cache folder (`PITHOS_CACHE`); without node or npm, or offline before that, the tests are skipped.
"""

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest
from test_mcp_client import http_server

HERE = Path(__file__).parent / "node"
TOOLS = ["run", "job", "log", "session", "js", "actors"]
#: Seconds for one client from its start to its end.
PATIENCE = 120


@pytest.fixture(scope="session")
def modules() -> Path:
    """A folder with the clients installed and the conversation in it."""
    if not shutil.which("node") or not shutil.which("npm"):
        pytest.skip("node and npm are not installed")
    cache = Path(os.environ.get("PITHOS_CACHE") or Path.home() / ".cache" / "pithos")
    folder = cache / "mcp-node"
    wanted = (HERE / "package.json").read_text()
    mark = folder / "installed.json"
    if not mark.exists() or mark.read_text() != wanted:
        folder.mkdir(parents=True, exist_ok=True)
        shutil.copy(HERE / "package.json", folder)
        install = ["npm", "install", "--no-audit", "--no-fund", "--ignore-scripts", "--silent"]
        done = subprocess.run(install, cwd=folder, capture_output=True, text=True, timeout=600, check=False)
        if done.returncode:
            pytest.skip(f"the clients cannot be installed: {done.stderr.strip()[-300:]}")
        mark.write_text(wanted)
    shutil.copy(HERE / "conversation.mjs", folder)
    return folder


def converse(modules: Path, *arguments: str) -> None:
    done = subprocess.run(
        ["node", "conversation.mjs", *arguments], cwd=modules, capture_output=True, text=True, timeout=PATIENCE, check=False
    )
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert report["tools"] == TOOLS
    results = report["results"]
    assert (results["run"]["text"], results["run"]["status"]) == ("hi\n", 0)
    assert results["again"]["text"].startswith("42\n") and results["again"]["pipelines"] == [[0], [1, 0]]
    assert results["wait"]["matched"] is True
    assert results["stop"]["state"] == "stopped" and results["stop"]["killed"][0]["command"].startswith("/bin/sh -c")
    assert results["log"]["text"] == "1:ready\n"
    assert results["session"]["sessions"][0]["session"] == "main"
    assert results["js"]["value"] == "411"
    assert results["ask"]["sum"] == 30
    assert results["wrong"]["error"] is True


def test_the_sdk_calls_every_tool_on_stdio(modules: Path, pithos: str, workspace: Path) -> None:
    converse(modules, "stdio", pithos, str(workspace))


def test_the_sdk_calls_every_tool_on_http(modules: Path, pithos: str, workspace: Path) -> None:
    with http_server(pithos, workspace) as (url, token):
        converse(modules, "http", url, token)


#: One call of each tool that stands alone, and a field that its result must have.
CALLS = {
    "run": (["command=echo hi"], "status", 0),
    "session": (["action=list"], "sessions", []),
    "js": (["code=6 * 7"], "value", 42),
    "actors": (["action=spawn", "group=g", "code=({receive() {}})"], "count", 1),
    "job": (["action=list"], "jobs", []),
}


def inspect(modules: Path, where: list[str], *arguments: str) -> dict:
    command = [str(modules / "node_modules/.bin/mcp-inspector"), "--cli", *where, *arguments]
    done = subprocess.run(command, cwd=modules, capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert done.returncode == 0, done.stderr + done.stdout
    return json.loads(done.stdout)


def inspect_all(modules: Path, where: list[str]) -> None:
    listed = inspect(modules, where, "--method", "tools/list")
    assert [tool["name"] for tool in listed["tools"]] == TOOLS
    for tool, (arguments, field, expected) in CALLS.items():
        pairs = [part for pair in arguments for part in ("--tool-arg", pair)]
        result = inspect(modules, where, "--method", "tools/call", "--tool-name", tool, *pairs)
        value = result["structuredContent"][field]
        # Over HTTP the calls meet one server, which has sessions and jobs by then.
        assert value == expected or isinstance(expected, list) and isinstance(value, list)
    missing = inspect(modules, where, "--method", "tools/call", "--tool-name", "log", "--tool-arg", "action=tail", "--tool-arg", "job=j99")
    assert missing["isError"] and "there is no job 'j99'" in missing["content"][0]["text"]


def test_the_inspector_calls_every_tool_on_stdio(modules: Path, pithos: str) -> None:
    inspect_all(modules, [pithos, "serve"])


def test_the_inspector_calls_every_tool_on_http(modules: Path, pithos: str, workspace: Path) -> None:
    with http_server(pithos, workspace) as (url, token):
        inspect_all(modules, [url, "--transport", "http", "--header", f"Authorization: Bearer {token}"])
