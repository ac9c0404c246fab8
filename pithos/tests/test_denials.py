"""What the sandbox denied is in a result whatever the program said of it and however it ended, and belongs to the call that asked for it."""

import shutil
import time
from pathlib import Path

import pytest
from server import Server


def denied(result: dict) -> set[tuple[str, str]]:
    return {(row["kind"], row["subject"]) for row in result.get("denials", [])}


def watched(server: Server) -> None:
    home = Path("~root").expanduser()
    look = f"ls {home}/. /var/log/journal-of-nobody >/dev/null 2>&1; cat /var/log/* >/dev/null 2>&1; true"
    if not server.tool("run", command=look).get("denials"):
        pytest.skip("calls cannot be watched here")


@pytest.fixture
def outside(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that no policy names."""
    folder = Path(tmp_path_factory.mktemp("outside", numbered=True))
    if str(folder).startswith("/tmp/"):
        # That is covered by the private folder.
        folder = Path.home() / f".pithos-test-{folder.name}-{id(folder)}"
        folder.mkdir()
    (folder / "secret").write_text("secret")
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


def test_hidden_denials_are_known_and_belong_to_their_call(server: Server, outside: Path) -> None:
    watched(server)
    secret = str(outside / "secret")
    for command in [
        f"cat {secret} >/dev/null 2>&1; true",
        f"cat {secret} 2>&1 | tail -n 0",
        f"< {secret} true 2>/dev/null; :",
        f"grep x {secret} 2>/dev/null || true",
        f"(sleep 0; cat {secret} 2>/dev/null) & wait; true",
        f"setsid cat {secret} 2>/dev/null; true",
        f"perl -e 'open(F, shift)' {secret}",
    ]:
        result = server.tool("run", command=command)
        assert result["status"] == 0 and ("read", secret) in denied(result), (command, result)
        assert all(row["call"] for row in result["denials"])
        clean = server.tool("run", command="true; ls nothing 2>/dev/null; true")
        assert "denials" not in clean, clean
    copy = server.tool("session", action="fork", session="main")["session"]
    forked = server.tool("run", session=copy, command=f"cat {secret} 2>/dev/null; true")
    assert ("read", secret) in denied(forked)
    background = server.tool("run", command=f"cat {secret} 2>/dev/null; true", background=True)
    waited = server.tool("job", action="wait", job=background["job"])
    assert ("read", secret) in denied(waited), waited


def test_a_cell_is_told_what_it_was_denied(server: Server, outside: Path) -> None:
    watched(server)
    result = server.tool("js", code=f"await read('{outside}/secret').catch(() => 0); return 1")
    assert result["value"] == 1 and ("read", f"{outside}/secret") in denied(result), result
    assert "denials" not in server.tool("js", code="1 + 1")


def test_protected_paths_that_are_not_there_are_not_made(server: Server, workspace: Path) -> None:
    watched(server)
    for command in ["echo x > .envrc", "mkdir .claude", "mkdir -p .vscode/x", "ln -s /etc .idea", "echo x > own; mv own .mcp.json", "perl -e 'open(F, \">.envrc\")'"]:
        result = server.tool("run", command=f"{command} 2>/dev/null; true")
        assert any("protect contains" in row["rule"] for row in result["denials"]), (command, result)
    assert not any((workspace / name).is_symlink() or (workspace / name).exists() for name in [".envrc", ".claude", ".vscode", ".idea", ".mcp.json"])
    # Whoever makes it: the result of the next call says that it is there.
    (workspace / ".envrc").write_text("made outside")
    result = server.tool("run", command="true")
    assert result["protected_created"] == [str(workspace / ".envrc")], result
    assert "protected_created" not in server.tool("run", command="true")
    # Another file of that name is told of again.
    (workspace / "other").write_text("made outside")
    (workspace / "other").rename(workspace / ".envrc")
    assert server.tool("run", command="true")["protected_created"] == [str(workspace / ".envrc")]


@pytest.mark.skipif(not shutil.which("git"), reason="git is not installed")
def test_a_new_repository_can_be_made_and_says_so(server: Server, workspace: Path) -> None:
    result = server.tool("run", command="git init -q .", env={"HOME": str(workspace)})
    assert result["status"] == 0, result
    assert str(workspace / ".git/hooks") in result["protected_created"]


def test_no_path_of_one_process_is_advised(server: Server) -> None:
    for path in ("/proc/1/root/etc/passwd", "/proc/self/root/etc/shadow", "/proc/1/environ"):
        result = server.tool("run", command=f"cat {path} >/dev/null 2>&1; echo x > {path}; true")
        assert not any("/proc/" in row["how_to_allow"] for row in result.get("denials", [])), result


def test_the_home_directory_is_never_advised(server: Server) -> None:
    watched(server)
    home = Path.home()
    result = server.tool("run", command=f"mkdir {home}/new-folder 2>/dev/null; ls {home} >/dev/null 2>&1; true")
    assert result["denials"]
    assert not any(f'add "{home}" to' in row["how_to_allow"] for row in result["denials"]), result


def test_a_process_whose_name_is_no_text_is_seen_like_any_other(server: Server, outside: Path) -> None:
    """A program chooses its own name: one that is no UTF-8 outlived what stopped its job, and its denials were lost."""
    watched(server)
    server.tool("run", command=r"""cp "$(command -v bash)" $'./\xff('""")
    program, secret = r"$'./\xff('", str(outside / "secret")
    told = server.tool("run", command=f"{program} -c 'cat < {secret}' 2>/dev/null; true")
    assert ("read", secret) in denied(told), told
    told = server.tool("run", command=f"{program} -c 'echo x > .envrc' 2>/dev/null; ls .envrc")
    assert told["status"] != 0, told
    job = server.tool("run", command=f"{program} -c 'trap : TERM INT HUP; while :; do sleep 1; done'", yield_ms=0)["job"]
    time.sleep(0.2)
    ended = server.tool("job", action="stop", job=job)
    assert any("while :; do sleep 1" in process["command"] for process in ended["killed"]), ended
    assert server.tool("run", command="echo still")["status"] == 0
