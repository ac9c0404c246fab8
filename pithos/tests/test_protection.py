"""What others obey later, outside, stays as it is: every way to change it, on everything of a repository and of an editor's folder that is obeyed."""

import itertools
import os
import shutil
import subprocess
import time
from pathlib import Path

import pytest

from server import Server

pytestmark = pytest.mark.skipif(not shutil.which("git"), reason="git is not installed")


def git(folder: Path, *arguments: str) -> str:
    environment = {**os.environ, "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_SYSTEM": "/dev/null", "GIT_ALLOW_PROTOCOL": "file"}
    for who in ("AUTHOR", "COMMITTER"):
        environment |= {f"GIT_{who}_NAME": "a", f"GIT_{who}_EMAIL": "a@b"}
    return subprocess.run(["git", *arguments], cwd=folder, env=environment, check=True, capture_output=True, text=True).stdout


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A repository with a submodule, another work tree, hooks in the tree, included configuration and links where editors look."""
    other, tree = tmp_path / "other", tmp_path / "workspace"
    for folder in (other, tree):
        folder.mkdir()
        git(folder, "init", "-q", "-b", "main")
        git(folder, "commit", "-q", "--allow-empty", "-m", "first")
    git(tree, "submodule", "--quiet", "add", str(other), "libs/sub")
    git(tree, "commit", "-q", "-m", "submodule")
    git(tree, "worktree", "add", "-q", str(tree / "side"))
    for name, text in {".githooks/pre-commit": "", "shared.config": "[user]\n\tname = a\n", "conf/e": "export A=1\n", "conf/claude/settings.json": "{}\n"}.items():
        (tree / name).parent.mkdir(parents=True, exist_ok=True)
        (tree / name).write_text(text)
    git(tree, "config", "core.hooksPath", ".githooks")
    git(tree, "config", "include.path", "../shared.config")
    (tree / ".envrc").symlink_to("conf/e")
    (tree / ".claude").symlink_to("conf/claude")
    return tree


OBEYED = [
    ".git/config",
    ".git/config.worktree",
    ".git/commondir",
    ".git/hooks/post-checkout",
    ".git/info/attributes",
    ".gitmodules",
    ".git/modules/libs/sub/config",
    ".git/modules/libs/sub/commondir",
    ".git/modules/libs/sub/hooks/post-checkout",
    "libs/sub/.git",
    ".git/worktrees/side/commondir",
    ".git/worktrees/side/config.worktree",
    ".githooks/pre-commit",
    "shared.config",
    ".envrc",
    "conf/e",
    ".claude/settings.json",
    "conf/claude/settings.json",
    ".claude/hooks.json",
    ".mcp.json",
    ".vscode/tasks.json",
]
WAYS = [
    "echo evil >{path}",
    "echo evil >>{path}",
    "rm -rf {path}; echo evil >{path}",
    "echo evil >own; mv -f own {path}",
    "echo evil >own; ln -f own {path}",
    "ln -sfn /etc/passwd {path}",
    "ln -s {path} l; echo evil >l",
    "ln -s $PWD/{path} l; ln -s l m; cp /etc/hostname m",
    "ln -s /proc/self/cwd/{path} l; echo evil >l",
    "cd {folder} && echo evil >./{name}",
    "mv {folder} aside; mkdir -p {folder}; echo evil >{path}",
    "cp -r {folder} copy; mv --exchange copy {folder}",
    "truncate -s 3 {path}",
    "chmod 777 {path}",
    "mkdir -p {path}/x",
    "mkfifo {path}",
    # The last: what of the folder is not obeyed is gone afterwards.
    "cp -r {folder} copy; echo evil >copy/{name}; rm -rf {folder}; mv copy {folder}",
]
WHOLE = [".git/hooks", ".git/modules/libs/sub/hooks", ".githooks", ".claude", "conf/claude"]


def state(tree: Path) -> dict[str, tuple]:
    """Kind, mode and content of each path and of each folder that is obeyed as a whole."""

    def one(path: Path) -> tuple:
        if path.is_symlink():
            return ("link", os.readlink(path))
        if not path.exists():
            return ("nothing",)
        return (path.stat().st_mode, path.read_bytes() if path.is_file() else sorted(os.listdir(path)))

    return {path: one(tree / path) for path in OBEYED + WHOLE}


def test_no_way_changes_what_is_obeyed(pithos: str, repository: Path):
    server = Server(pithos, repository)
    try:
        before = state(repository)
        for way, path in itertools.product(WAYS, OBEYED):
            place = Path(path)
            folder = str(place.parent)
            if folder == "." and "{folder}" in way:
                continue
            command = way.format(path=path, folder=folder, name=place.name)
            result = server.tool("run", command=f"({command}) >/dev/null 2>&1; rm -rf l m own copy aside; true")
            assert result["status"] == 0, (command, result)
            assert state(repository) == before, command
    finally:
        server.close()


def test_ordinary_work_with_git_goes_on(pithos: str, repository: Path):
    server = Server(pithos, repository)
    try:
        identity = "-c user.name=a -c user.email=a@b"
        for command in (
            "echo one >file && git add file",
            f"git {identity} commit -q -m two",
            "git checkout -q -b topic && git checkout -q main && git branch -D topic",
            f"git {identity} stash -q --include-untracked -- file || true; git status --short",
            f"cd libs/sub && echo two >file && git add file && git {identity} commit -q -m three && cd ../..",
            f"cd side && echo three >file && git add file && git {identity} commit -q -m four && cd ..",
            "git gc -q && git fsck && git log --oneline | cat",
        ):
            result = server.tool("run", command=command)
            assert result["status"] == 0, (command, result)
    finally:
        server.close()


def test_what_is_replaced_outside_is_closed_again(pithos: str, repository: Path):
    """Another file renamed over a protected one takes the mount away by which it was read-only."""
    server = Server(pithos, repository)
    try:
        if '"read_only_mounts": false' in subprocess.run([pithos, "doctor", "--json"], capture_output=True, text=True).stdout:
            pytest.skip("no mounts on this machine")
        assert server.tool("run", command="grep -c '/.git/config ' /proc/self/mountinfo")["status"] == 0
        for number in range(20):
            git(repository, "config", "user.name", f"name{number}")
            result = server.tool("run", command="git config core.fsmonitor evil; echo evil >>.git/config; sed -i s/name/evil/ .git/config")
            assert "evil" not in (repository / ".git/config").read_text(), number
            assert result["status"] != 0
        deadline = time.monotonic() + 10
        while server.tool("run", command="grep -q '/.git/config ' /proc/self/mountinfo")["status"] != 0:
            assert time.monotonic() < deadline
        # What comes to be is closed too.
        (repository / ".mcp.json").write_text("{}")
        while server.tool("run", command="grep -q '/.mcp.json ' /proc/self/mountinfo")["status"] != 0:
            assert time.monotonic() < deadline
        (repository / ".mcp.json").unlink()
        server.tool("run", command="echo evil >.mcp.json; true")
        assert not (repository / ".mcp.json").exists()
    finally:
        server.close()


def test_nothing_that_is_committed_is_obeyed(pithos: str, repository: Path):
    server = Server(pithos, repository)
    try:
        session = server.tool("session", action="open", overlay=True)["session"]
        before = state(repository)
        for path in OBEYED:
            server.tool("run", session=session, command=f"(echo evil >{path}; ln -s {path} l; echo evil >l; rm -f l; rm -rf {path}; mkdir -p {path}) >/dev/null 2>&1; true")
        server.call("session", action="commit", session=session)
        assert state(repository) == before
    finally:
        server.close()


def test_no_file_runs_with_its_owners_rights(server: Server, workspace: Path):
    """A mode with set-user-ID or set-group-ID would give users of the machine the rights of whoever runs the server."""
    for number, command in enumerate((
        "cp /bin/true s; chmod 4755 s",
        "cp /bin/true s; chmod u+s s",
        "cp /bin/true s; chmod g+s s",
        "install -m 4755 /bin/true s",
        "cp /bin/true s; python3 -c 'import os; os.fchmod(os.open(\"s\", 0), 0o6755)'",
        "cp /bin/true s; python3 -c 'import os; os.chmod(\"s\", 0o4755, dir_fd=os.open(\".\", 0))'",
        "python3 -c 'import os; os.open(\"s\", os.O_CREAT | os.O_WRONLY, 0o4755)'",
        "python3 -c 'import os; os.mknod(\"s\", 0o104755)'",
        "python3 -c 'import os; os.open(\"d\", os.O_CREAT | os.O_WRONLY, 0o2755)'",
    )):
        result = server.tool("run", command=f"rm -rf s d; {command}")
        assert result["status"] != 0, command
        modes = [path.stat().st_mode for path in workspace.iterdir()]
        assert not any(mode & 0o6000 for mode in modes), (number, command)
    for command in ("chmod 755 s", "install -m 755 /bin/true t", "mkdir -m 1777 sticky", "cp -a /bin/true u"):
        result = server.tool("run", command=f"touch s; {command}")
        assert result["status"] == 0, (command, result)


def test_no_state_of_a_server_lies_where_sessions_get(pithos: str, tmp_path: Path, tmp_path_factory, monkeypatch):
    """A session would see other servers' files there, and could forge a commit that the next server finishes."""
    for name in ("run", "tmp", "tmp/project"):
        (tmp_path / name).mkdir(mode=0o700)
    monkeypatch.setenv("HOME", str(tmp_path_factory.mktemp("home")))
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path / "run"))
    monkeypatch.setenv("TMPDIR", str(tmp_path / "tmp"))
    shared = f"pithos-{os.getuid()}"
    other = Server(pithos, tmp_path / "tmp/project")
    try:
        other.tool("run", command="echo precious >$TMPDIR/of-the-other")
        assert (tmp_path / "tmp" / shared).is_dir()
        for workspace in (tmp_path / "tmp", tmp_path / "run", tmp_path):
            server = Server(pithos, workspace)
            try:
                text = server.text("run", command=f"echo $TMPDIR; find {tmp_path} -name of-the-other; find {tmp_path} -path '*{shared}/*' -o -path '*run/pithos/*' -o -path '*state/pithos/*'")
                assert "of-the-other" not in text and "pithos-" not in text.partition("[the sandbox")[0].partition("\n")[2], (workspace, text)
                attempt = f"cd {tmp_path}/tmp && (mkdir -p {shared}/pithos-x; mv {shared} aside; mkdir {shared}; echo x >{shared}/x)"
                server.tool("run", command=f"({attempt}) >/dev/null 2>&1; true")
                assert not (tmp_path / "tmp/aside").exists() and not (tmp_path / "tmp" / shared / "x").exists()
                session = server.tool("session", action="open", overlay=True)
                assert server.tool("run", session=session["session"], command="echo x >inside")["status"] == 0
            finally:
                server.close()
        assert other.text("run", command="cat $TMPDIR/of-the-other") == "precious\n"
    finally:
        other.close()
    # The next server removes what is left of those that were killed.
    Server(pithos, tmp_path / "tmp/project").process.communicate(timeout=60)
    left = [path for path in tmp_path.rglob("*") if path.name.startswith("pithos-") and path.name != shared]
    assert left == []


NESTED = ["pkg/a/.vscode/tasks.json", "pkg/a/.claude/settings.json", "pkg/b/.envrc", "pkg/b/deep/er/.mcp.json", "sub/.git/config", "sub/.git/hooks/pre-commit"]


@pytest.fixture
def monorepo(tmp_path: Path) -> Path:
    """A workspace of packages, some of which have what editors and agents obey, and one is a repository of its own."""
    tree = tmp_path / "workspace"
    (tree / "sub").mkdir(parents=True)
    git(tree / "sub", "init", "-q", "-b", "main")
    for name in [*NESTED, "node_modules/x/.vscode/settings.json", "pkg/a/code"]:
        (tree / name).parent.mkdir(parents=True, exist_ok=True)
        (tree / name).write_text("ours\n") if name != "sub/.git/config" else None
    return tree


def test_what_is_obeyed_in_folders_below_stays_as_it_is(pithos: str, monorepo: Path) -> None:
    """Every way to change or replace it, also by what is above it; and the work beside it goes on."""
    server = Server(pithos, monorepo)
    try:
        if "protected paths" in "".join(server.tool("run", command=":").get("gaps", [])):
            pytest.skip("nothing is protected here")
        before = {name: (monorepo / name).read_text() for name in NESTED}
        ways = [
            "echo evil > {f}",
            "rm -rf {f}",
            "echo evil > x; mv -f x {f}",
            "ln -f {f} again; echo evil > again",
            "mv $(dirname {f}) away",
            "mv $(dirname $(dirname {f})) away; mkdir -p $(dirname {f}); echo evil > {f}",
            "cd $(dirname {f}); echo evil > $(basename {f})",
            "python3 -c 'import os, sys; os.truncate(sys.argv[1], 0)' {f}",
        ]
        for name, way in itertools.product(NESTED, ways):
            result = server.tool("run", command=f"({way.format(f=name)}) 2>/dev/null; true")
            assert {name: (monorepo / name).read_text() for name in NESTED} == before, (name, way, result)
        denied = server.tool("run", command="echo x > pkg/b/.envrc; true")["denials"]
        assert "protect_names contains" in denied[0]["rule"] and denied[0]["subject"].endswith("pkg/b/.envrc"), denied
        done = server.tool("run", command="set -e; echo new > pkg/a/code; mv pkg/a/code pkg/b/code; mkdir pkg/c; rm -r node_modules; echo x > sub/file; cd sub; git add file; git -c user.name=a -c user.email=a@b commit -qm x")
        assert done["status"] == 0 and "protected_created" not in done, done
    finally:
        server.close()


MADE = {
    "mkdir -p n/.vscode": "n/.vscode",
    "mkdir n; echo > n/.envrc": "n/.envrc",
    "mkdir n; cd n; echo > .mcp.json": "n/.mcp.json",
    "mkdir n; ln -s .envrc n/l; echo > n/l": "n/.envrc",
    "mkdir n; ln -s /etc/passwd n/.envrc": "n/.envrc",
    "mkdir n; echo > n/x; ln n/x n/.envrc": "n/.envrc",
    "mkdir n; echo > n/x; mv n/x n/.envrc": "n/.envrc",
    "mkdir -p m/.claude; echo > m/.claude/s; mv m n": "n/.claude",
    "mkdir -p node_modules/n/d/.vscode; mv node_modules/n n": "n/d/.vscode",
    "mkdir n; python3 -c 'import os; d = os.open(\"n\", os.O_RDONLY); os.mkdir(\".cursor\", dir_fd=d)'": "n/.cursor",
    "git init -q n": "n/.git",
}


@pytest.mark.parametrize("command", MADE)
def test_what_is_made_to_be_obeyed_in_folders_below_is_told(pithos: str, tmp_path: Path, command: str) -> None:
    server = Server(pithos, tmp_path)
    try:
        made = server.call("run", command=f"{command}; sh -c 'exit 0'")
        if "denials are known from" in "".join(made["structuredContent"].get("gaps", [])):
            pytest.skip("calls cannot be watched here")
        there = str(tmp_path / MADE[command])
        assert there in made["structuredContent"]["protected_created"], made
        assert there in made["content"][0]["text"]
        assert "protected_created" not in server.tool("run", command="mkdir -p n/node_modules/x/.vscode .cache/x/.vscode; mkdir x; rmdir x; mkdir x/.vscode 2>/dev/null; true")
    finally:
        server.close()


def test_what_a_commit_brings_to_be_obeyed_is_told(pithos: str, tmp_path: Path) -> None:
    server = Server(pithos, tmp_path)
    try:
        opened = server.tool("session", action="open", overlay=True)
        server.call("run", session=opened["session"], command="mkdir -p n/.vscode; echo > n/.vscode/tasks.json; echo > n/plain")
        done = server.call("session", action="commit", session=opened["session"])
        assert done["structuredContent"]["protected_created"] == [str(tmp_path / "n/.vscode")], done
        assert "n/.vscode" in done["content"][0]["text"]
    finally:
        server.close()
