"""The Python package `pithos`, both halves: the one that is installed, else the one in this tree."""

import asyncio
import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

installed = importlib.util.find_spec("pithos")
if installed is None or installed.origin is None:  # A folder of that name alone is not the package.
    sys.path.insert(0, str(Path(__file__).parents[2] / "iris/python/python"))

import pithos as package  # noqa: E402
import pithos.aio  # noqa: E402, F401
from processes import gone_within  # noqa: E402


@pytest.fixture
def sandbox(pithos: str, workspace: Path):
    with package.Sandbox(cwd=workspace, command=pithos) as sandbox:
        yield sandbox


def test_a_session_keeps_its_state_and_forks(sandbox: package.Sandbox) -> None:
    session = sandbox.session("work")
    session.run("mkdir sub && cd sub && x=42").check()
    assert session.run("echo $x in ${PWD##*/}").output == "42 in sub\n"
    copy = session.fork()
    copy.run("x=7")
    assert (session.run("echo $x").output, copy.run("echo $x").output) == ("42\n", "7\n")
    copy.close()
    with pytest.raises(package.PithosError, match="there is no session"):
        copy.run("echo")


def test_a_failure_behind_a_good_status_is_not_ok(sandbox: package.Sandbox) -> None:
    result = sandbox.run("false | true")
    assert (result.status, result.ok, result.pipelines) == (0, False, [[1, 0]])
    with pytest.raises(package.PithosError, match="stage 1 of 2 failed"):
        result.check()
    assert sandbox.run("yes | head -n 1").ok
    assert sandbox.run("false || true; ! false; if false; then :; fi").ok
    assert sandbox.run("exit_status() { return 3; }; exit_status").status == 3


def test_streams_can_be_had_apart(sandbox: package.Sandbox) -> None:
    result = sandbox.run("echo out; echo error >&2; printf end; exit 3")
    assert (result.stdout, result.stderr) == ("out\nend", "error\n")
    assert result.text == result.output == "out\nerror\nend\n[exit status 3]\n"
    assert sandbox.run("printf '\\033[1mbold\\033[0m'", ansi="strip").stdout == "bold"
    long = sandbox.run("seq 100000; echo error >&2", output_bytes=1000)
    assert len(long.stdout) < 1200 and long.stdout.startswith("1\n") and long.stdout.endswith("100000\n") and long.stderr == "error\n"
    job = sandbox.session().start("echo first; echo wrong >&2; read x; echo $x", interactive=True)
    job.write("second\n")
    ended = job.wait()
    assert (ended.stdout, ended.stderr) == ("first\nsecond\n", "wrong\n")


def test_jobs(sandbox: package.Sandbox) -> None:
    session = sandbox.session()
    job = session.start("/bin/sh -c 'echo ready; while :; do /bin/sleep 60; done'", background=True)
    assert job.wait(until="^ready$", timeout=10).matched is True
    assert job.wait(timeout=0.05).state == "running"
    assert job.stop().killed[0]["command"].startswith("/bin/sh -c")
    asks = session.start("read answer; echo got $answer", interactive=True)
    assert "got yes" in asks.write("yes\n").output
    assert asks.log(grep="got") == "1:got yes\n"
    sized = session.start("stty size; read again; stty size", terminal=(70, 20), yield_after=0.3)
    sized.resize(90, 30)
    assert sized.write("\n").output.split() == ["20", "70", "30", "90"]
    assert session.run("seq 9", output_lines=2).output.startswith("1\n[")
    assert session.run("sleep 100", timeout=0.2).stopped_by == "timeout"
    denied = session.run("echo x > /etc/denied")
    assert denied.denials[0]["kind"] == "write"


def test_cells_and_actors(sandbox: package.Sandbox) -> None:
    session = sandbox.session()
    session.run("x=41")
    assert session.eval_js("Number((await shell('echo $x')).output) + 1") == 42
    with pytest.raises(package.CellError) as thrown:
        sandbox.eval_js("for (;;);", fuel=1000)
    assert (thrown.value.state, thrown.value.limit) == ("terminated", "fuel")
    with pytest.raises(package.CellError, match="as asked"):
        sandbox.eval_js("throw new Error('as asked')")
    sandbox.actors("spawn", group="g", code="({receive(s, m, actor) { actor.reply(m); }})", count=3)
    assert sandbox.actors("ask", to="g", message=5)["sum"] == 15


def test_every_call_is_in_the_audit_log(pithos: str, workspace: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    audit = tmp_path_factory.mktemp("elsewhere") / "audit.jsonl"
    with package.Sandbox(cwd=workspace, audit=audit, command=pithos) as sandbox:
        sandbox.run("echo hi")
        sandbox.eval_js("1 + 1")
        with pytest.raises(package.PithosError):
            sandbox.actors("ask", to="nobody", message=1)
    start, *lines = [json.loads(line) for line in audit.read_text().splitlines()]
    assert (start["kind"], start["policy"]) == ("start", "workspace")
    assert [line["tool"] for line in lines] == ["run", "js", "actors"]
    assert lines[0]["arguments"]["command"] == "echo hi" and lines[0]["result"]["status"] == 0
    assert "no actor system" in lines[2]["result"] and all(line["ms"] >= 0 for line in lines)
    assert audit.stat().st_mode & 0o777 == 0o600


def test_hosts_are_reached_through_the_proxy_only_when_named(pithos: str, workspace: Path) -> None:
    look = "echo ${HTTPS_PROXY:-none}"
    with package.Sandbox(cwd=workspace, command=pithos) as sandbox:
        assert sandbox.run(look).text.strip() == "none"
    with package.Sandbox(cwd=workspace, hosts=["npm", "example.org"], command=pithos) as sandbox:
        if not Path("/proc/self/ns/net").exists() or sandbox.run(look).text.strip() == "none":
            pytest.skip("no private loopback here")
        assert "@127.0.0." in sandbox.run(look).text
    with pytest.raises(package.PithosError, match="ended with status 2|is gone"):
        package.Sandbox(cwd=workspace, hosts=["not a host"], command=pithos).run("true")


def test_closing_leaves_nothing(pithos: str, workspace: Path) -> None:
    with package.Sandbox(cwd=workspace, command=pithos) as sandbox:
        sandbox.session().start("/bin/sleep 1000 & (setsid /bin/sleep 1000 &)")
    assert not gone_within(str(workspace), 1)
    with pytest.raises(package.PithosError):
        sandbox.run("echo")


async def run_when_idle(session: package.aio.Session, command: str) -> package.Result:
    # A cancelled job ends a moment after its processes do, and until then its session is busy.
    while True:
        try:
            return await session.run(command)
        except package.PithosError as error:
            if "is busy with job" not in str(error):
                raise
            await asyncio.sleep(0.01)


def test_asyncio_and_cancellation(pithos: str, workspace: Path) -> None:
    async def conversation() -> None:
        async with package.aio.Sandbox(cwd=workspace, command=pithos) as sandbox:
            first, second = await asyncio.gather(sandbox.session(), sandbox.session())
            slow = asyncio.create_task(first.run("/bin/sleep 1000"))
            assert (await second.run("echo quick")).output == "quick\n"
            assert await second.eval_js("(await shell('echo 5')).output") == "5\n"
            while not any("sleep" in row for row in gone_within(str(workspace), 0)):
                await asyncio.sleep(0.01)
            slow.cancel()
            with pytest.raises(asyncio.CancelledError):
                await slow
            while any("/bin/sleep" in row for row in gone_within(str(workspace), 0)):
                await asyncio.sleep(0.01)
            assert (await run_when_idle(first, "echo still here")).output == "still here\n"
            job = await second.start("echo a line; /bin/sleep 100", background=True)
            assert (await job.wait(until="a line")).matched
            assert (await job.stop()).state == "stopped"

    asyncio.run(asyncio.wait_for(conversation(), 60))


def test_the_shared_sandbox_of_the_module(pithos: str, workspace: Path) -> None:
    script = "import pithos; print(pithos.run('echo hi').output, pithos.eval_js('6 * 7'), pithos.Session().run('pwd').output)"
    path = str(Path(package.__file__).parents[1])
    done = subprocess.run(
        [sys.executable, "-c", script],
        cwd=workspace,
        env=os.environ | {"PITHOS": pithos, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == f"hi\n 42 {workspace}\n\n"


def test_a_run_waits_for_its_end_however_long_the_server_does(pithos: str, workspace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As if every command took longer than the server waits: both doors of both halves, and whoever asks for less gets less."""
    arguments = package.run_arguments

    def impatient(command: str, session: str | None, options: dict) -> dict:
        return {**arguments(command, session, options), "yield_ms": 1}

    for module in (package, package.aio):
        monkeypatch.setattr(module, "run_arguments", impatient)
    slow = "sleep 0.3; echo over"
    with package.Sandbox(cwd=workspace, command=pithos) as sandbox:
        for place in (sandbox, sandbox.session()):
            assert (place.run(slow).output, place.run("exit 3").status) == ("over\n", 3)
            assert place.run(slow, yield_after=0.001).state == "running"

    async def halves() -> None:
        async with package.aio.Sandbox(cwd=workspace, command=pithos) as sandbox:
            for place in (sandbox, await sandbox.session()):
                assert (await place.run(slow)).output == "over\n"
                assert (await place.run(slow, yield_after=0.001)).state == "running"

    asyncio.run(halves())
