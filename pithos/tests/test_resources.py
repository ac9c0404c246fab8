"""What clients look at besides calling tools: logs and files as resources, told of when they change; jobs as tasks."""

import base64
import os
import time
from pathlib import Path

import pytest
from server import Server

TASKS = "io.modelcontextprotocol/tasks"


def read(server: Server, uri: str) -> dict:
    return server.request("resources/read", {"uri": uri})


def text(server: Server, uri: str) -> str:
    return read(server, uri)["result"]["contents"][0]["text"]


def updates(server: Server, uri: str) -> None:
    """Waits for word of a resource, whatever else comes."""
    while True:
        message = server.next_message()
        if message.get("method") == "notifications/resources/updated":
            assert message["params"]["uri"] == uri, message
            return


def test_logs_are_resources(server: Server) -> None:
    job = server.tool("run", command="echo out; echo err >&2; printf '\\xff'")["job"]
    quiet = server.tool("run", command="exit 3")["job"]
    listed = {row["uri"]: row for row in server.request("resources/list", {})["result"]["resources"]}
    assert list(listed) == [f"pithos://job/{quiet}/log", f"pithos://job/{job}/log"]
    assert listed[f"pithos://job/{job}/log"]["size"] == 9 and "echo out" in listed[f"pithos://job/{job}/log"]["name"]
    assert text(server, f"pithos://job/{job}/log") == "out\nerr\n\ufffd"
    assert text(server, f"pithos://job/{quiet}/log") == ""
    long = server.tool("run", command="seq 1 400000")["job"]
    shown = text(server, f"pithos://job/{long}/log")
    assert shown.endswith("\n400000\n") and shown.startswith("[… ") and len(shown) < 1_200_000
    templates = server.request("resources/templates/list", {})["result"]["resourceTemplates"]
    assert [row["uriTemplate"] for row in templates] == ["pithos://job/{job}/log", "pithos://file/{+path}"]


def test_files_of_the_workspace_are_resources_and_no_others(server: Server, workspace: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    outside = tmp_path_factory.mktemp("outside") / "secret"
    outside.write_text("SECRET")
    (workspace / "d").mkdir()
    (workspace / "d" / "a b%.txt").write_text("ours\n")
    (workspace / "bytes").write_bytes(bytes(range(256)))
    (workspace / "large").write_bytes(b"x" * (2 << 20))
    (workspace / "link").symlink_to("d/a b%.txt")
    (workspace / "out").symlink_to(outside)
    (workspace / "out-folder").symlink_to(outside.parent)
    (workspace / "magic").symlink_to("/proc/self/root/etc/passwd")
    os.mkfifo(workspace / "pipe")
    assert text(server, "pithos://file/d/a%20b%25.txt") == "ours\n"
    assert text(server, "pithos://file/link") == "ours\n"
    assert base64.b64decode(read(server, "pithos://file/bytes")["result"]["contents"][0]["blob"]) == bytes(range(256))
    for path, why in {
        "out": "leads out of the workspace",
        "out-folder/secret": "leads out of the workspace",
        "magic": "leads out",
        "../" + outside.parent.name + "/secret": "leads out of the workspace",
        "/etc/passwd": "leads out of the workspace",
        "%2e%2e/x": "leads out of the workspace",
        "pipe": "no plain file",
        "d": "no plain file",
        "large": "is the limit",
        "absent": "No such file",
        "x" * 100_000: "too long",
    }.items():
        refused = read(server, f"pithos://file/{path}")["error"]
        assert why in refused["message"] and "SECRET" not in str(refused), (path, refused)
    for uri in ("", "file:///etc/passwd", "pithos://job/j99/log", "pithos://job//log", "pithos://job/../log", "pithos://file/a%00b"):
        assert "error" in read(server, uri), uri
    server.lives()


def test_what_a_policy_hides_is_no_resource(pithos: str, workspace: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    policy = tmp_path_factory.mktemp("policy") / "p.toml"
    policy.write_text('name = "hides"\nread = ["/usr", "/bin", "/lib", "/lib64", "/etc", "/proc"]\nwrite = ["$workspace", "$tmp"]\nexec = ["/usr", "/bin", "/lib", "/lib64"]\nhide = ["$workspace/secret"]\nenvironment = ["PATH"]\n')
    (workspace / "secret").write_text("SECRET")
    (workspace / "way").symlink_to("secret")
    server = Server(pithos, workspace, "--sandbox", str(policy))
    try:
        for path in ("secret", "way"):
            refused = read(server, f"pithos://file/{path}")["error"]["message"]
            assert "does not let it be read" in refused, refused
    finally:
        server.close()


def test_who_subscribes_is_told_of_changes_until_they_want_no_more(server: Server, workspace: Path) -> None:
    (workspace / "file").write_text("one")
    uri = "pithos://file/file"
    assert server.request("resources/subscribe", {"uri": uri})["result"] == {}
    (workspace / "file").write_text("other")
    updates(server, uri)
    (workspace / "file").unlink()
    updates(server, uri)
    server.request("resources/unsubscribe", {"uri": uri})
    job = server.tool("run", command="until [ -e go ]; do sleep 0.05; done; echo said; until [ -e end ]; do sleep 0.05; done", background=True)["job"]
    log = f"pithos://job/{job}/log"
    server.request("resources/subscribe", {"uri": log})
    (workspace / "go").touch()
    updates(server, log)
    assert text(server, log) == "said\n"
    (workspace / "end").touch()
    updates(server, log)
    server.call("job", action="wait", job=job)
    for wrong in ("pithos://job/j99/log", "pithos://file/absent", "x"):
        assert "error" in server.request("resources/subscribe", {"uri": wrong})
    (workspace / "many").touch()
    answers = [server.request("resources/subscribe", {"uri": f"pithos://file/{'./' * number}many"}) for number in range(70)]
    assert sum("error" in answer for answer in answers) == 6, answers[-1]


class Tasker(Server):
    """A client that knows tasks."""

    def request(self, method: str, params: dict) -> dict:
        if method == "initialize":
            params["capabilities"] = {"extensions": {TASKS: {}}}
        return super().request(method, params)

    def run(self, **arguments) -> dict:
        return self.request("tools/call", {"name": "run", "arguments": arguments})["result"]

    def task(self, task: str) -> dict:
        return self.request("tasks/get", {"taskId": task})["result"]


def test_a_run_that_takes_long_is_a_task_for_who_knows_them(pithos: str, workspace: Path) -> None:
    server = Tasker(pithos, workspace)
    try:
        assert server.run(command="echo quick")["content"][0]["text"] == "quick\n"
        made = server.run(command="echo begun; until [ -e go ]; do sleep 0.05; done; echo over; exit 3")
        assert made["resultType"] == "task" and made["status"] == "working", made
        task = server.task(made["taskId"])
        assert task["status"] == "working" and "result" not in task and task["createdAt"].endswith("Z")
        # It is a job like any other.
        assert "begun" in server.call("log", action="tail", job=made["taskId"])["content"][0]["text"]
        (workspace / "go").touch()
        deadline = time.monotonic() + 60
        while (task := server.task(made["taskId"]))["status"] == "working":
            assert time.monotonic() < deadline
            time.sleep(0.05)
        assert task["status"] == "completed" and task["result"]["structuredContent"]["status"] == 3
        assert task["result"]["content"][0]["text"].startswith("begun\nover\n")
        assert server.task(made["taskId"]) == task
        # Who asks for a running job gets it.
        for way in ({"background": True}, {"yield_ms": 1}):
            assert server.run(command="sleep 60", **way)["structuredContent"]["state"] == "running"
        assert "error" in server.request("tasks/get", {"taskId": "j99"})
    finally:
        server.close()


def test_a_task_can_be_cancelled(pithos: str, workspace: Path) -> None:
    server = Tasker(pithos, workspace)
    try:
        made = server.run(command="sleep 1000 & wait")
        assert server.request("tasks/cancel", {"taskId": made["taskId"]})["result"].get("resultType", "complete") == "complete"
        server.call("job", action="wait", job=made["taskId"])
        assert server.task(made["taskId"])["status"] == "cancelled"
        assert server.text("run", command="echo goes on") == "goes on\n"
        server.request("tasks/cancel", {"taskId": made["taskId"]})
    finally:
        server.close()


def test_who_does_not_know_tasks_gets_none(server: Server) -> None:
    job = server.tool("run", command="sleep 60", yield_ms=1)["job"]
    assert "error" in server.request("tasks/get", {"taskId": job})
