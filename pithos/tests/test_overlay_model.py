"""Random sequences of runs, undos, checkpoints, restores, forks, commits and discards in overlaid sessions, against plain copies of folders.

OVERLAY_SEQUENCES and OVERLAY_SEED say how many sequences are tried, and from where; a failure names its seed and the steps to it.
"""

import os
import random
import shutil
import stat
import subprocess
from pathlib import Path

import pytest
from server import Server

SEQUENCES = int(os.environ.get("OVERLAY_SEQUENCES", "12"))
SEED = int(os.environ.get("OVERLAY_SEED", "1"))
STEPS = 25
NAMES = ["a", "b", "c", "d", "d/e", "d/f", "g/h/i", "w x", "ü"]


def tree(root: Path) -> dict:
    """Everything below a folder: kind, mode, and content or target."""
    found = {}
    for folder, folders, files in os.walk(root):
        for name in folders + files:
            path = Path(folder) / name
            data = path.lstat()
            kind = stat.S_IFMT(data.st_mode)
            held = os.readlink(path) if stat.S_ISLNK(data.st_mode) else path.read_bytes() if stat.S_ISREG(data.st_mode) else None
            mode = None if stat.S_ISLNK(data.st_mode) else stat.S_IMODE(data.st_mode)
            found[str(path.relative_to(root))] = (kind, mode, held)
    return found


def command(pick: random.Random) -> str:
    """A change that may fail; what fails must fail alike."""
    one, two = (f"'{pick.choice(NAMES)}'" for _ in range(2))
    text = pick.randrange(1000)
    return pick.choice(
        [
            f"mkdir -p -- $(dirname {one}); echo {text} > {one}",
            f"echo {text} >> {one}",
            f"rm -f {one}",
            f"rm -rf {one}",
            f"mkdir -p {one}",
            f"mv -T {one} {two}",
            f"cp -rT {one} {two}",
            f"chmod {pick.choice(['600', '644', '755', '700'])} {one}",
            f"ln -s {two} {one}",
            f"truncate -s {pick.randrange(20)} {one}",
            f"rm -rf {one}; mkdir {one}; echo {text} > {one}/n",
            f"rm -rf {one}; echo {text} > {one}",
            f"rmdir {one}",
            f"sed -i s/1/2/ {one}",
        ]
    )


class Twin:
    """A session, and a folder in which bash does the same."""

    def __init__(self, server: Server, session: str, folder: Path, copies: Path) -> None:
        self.server, self.session, self.folder, self.copies = server, session, folder, copies
        self.before: list[Path] = []
        self.checkpoints: dict[str, Path] = {}
        # What went back to a checkpoint of a former server may meet what that one committed.
        self.may_conflict = False

    def copy(self) -> Path:
        to = self.copies / str(len(os.listdir(self.copies)))
        shutil.copytree(self.folder, to, symlinks=True)
        return to

    def become(self, copy: Path) -> None:
        shutil.rmtree(self.folder)
        shutil.copytree(copy, self.folder, symlinks=True)

    def act(self, action: str, **more) -> dict:
        result = self.server.call("session", action=action, session=self.session, **more)
        assert not result.get("isError"), (action, result["content"])
        return result["structuredContent"]

    def run(self, script: str) -> None:
        self.before.append(self.copy())
        script = f"umask 022; ({script}) 2>/dev/null"
        theirs = subprocess.run(["bash", "-c", script], cwd=self.folder, check=False).returncode
        result = self.server.tool("run", session=self.session, command=script)
        assert result["status"] == theirs, script


def test_sequences_are_as_in_plain_copies(pithos: str, tmp_path: Path) -> None:
    """The comparison needs no trust in `diff`: at the end of each sequence all is committed, and the workspace is compared."""
    for seed in range(SEED, SEED + SEQUENCES):
        sequence(pithos, tmp_path / str(seed), seed)


def sequence(pithos: str, folder: Path, seed: int) -> None:
    pick = random.Random(seed)
    workspace, twin, copies = folder / "workspace", folder / "twin", folder / "copies"
    for made in (workspace, copies):
        made.mkdir(parents=True)
    for name in pick.sample(NAMES, 5):
        path = workspace / name
        if not path.exists() and not any(parent.is_file() for parent in path.parents):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(f"{name}\n")
    for path in [workspace, *workspace.rglob("*")]:
        path.chmod(0o755 if path.is_dir() else 0o644)
    shutil.copytree(workspace, twin, symlinks=True)
    pair = None
    server = Server(pithos, workspace)
    log: list[str] = []
    try:
        opened = server.tool("session", action="open", overlay=True)
        if opened["undo"] != "overlay":
            pytest.skip(opened["undo_note"])
        pair = Twin(server, opened["session"], twin, copies)
        below = tree(workspace)
        for _ in range(STEPS):
            below = step(pick, pair, log, workspace, below, pithos)
        log.append("commit at the end")
        commit(pair, workspace)
        assert tree(workspace) == tree(twin)
    except AssertionError as error:
        raise AssertionError(f"seed {seed}: {log[-8:]}: {error}") from error
    finally:
        (pair.server if pair else server).close()


def commit(pair: Twin, workspace: Path) -> None:
    done = pair.act("commit")
    assert done["checkpoints_gone"] == []
    if not done["committed"]:
        assert pair.may_conflict, done["conflicts"]
        pair.act("discard")
        pair.become(workspace)
    pair.before, pair.may_conflict = [], False


def restart(pair: Twin, pithos: str, workspace: Path, name: str) -> None:
    """The server is killed, and another one goes on from a checkpoint."""
    pair.server.process.kill()
    pair.server.close()
    pair.server = Server(pithos, workspace)
    pair.session = pair.server.tool("session", action="fork", checkpoint=name)["session"]
    pair.become(pair.checkpoints[name])
    pair.before, pair.may_conflict = [], True


def step(pick: random.Random, pair: Twin, log: list[str], workspace: Path, below: dict, pithos: str) -> dict:
    choice = pick.random()
    if choice < 0.62:
        script = command(pick)
        log.append(script)
        pair.run(script)
    elif choice < 0.74 and pair.before:
        log.append("undo")
        pair.act("undo")
        pair.become(pair.before.pop())
    elif choice < 0.80:
        log.append("checkpoint")
        pair.checkpoints[pair.act("checkpoint")["checkpoint"]] = pair.copy()
    elif choice < 0.85 and pair.checkpoints:
        name = pick.choice(sorted(pair.checkpoints))
        log.append(f"restore {name}")
        pair.act("restore", checkpoint=name)
        pair.become(pair.checkpoints[name])
        pair.before = []
    elif choice < 0.90:
        log.append("discard")
        pair.act("discard")
        shutil.rmtree(pair.folder)
        shutil.copytree(workspace, pair.folder, symlinks=True)
        pair.before = []
    elif choice < 0.94:
        log.append("fork, and a change in the copy")
        copy = pair.act("fork")["session"]
        pair.server.tool("run", session=copy, command="rm -rf -- *; echo gone > a")
        pair.server.tool("session", action="close", session=copy)
    elif choice < 0.96 and pair.checkpoints:
        name = pick.choice(sorted(pair.checkpoints))
        log.append(f"kill -9, and go on from {name}")
        restart(pair, pithos, workspace, name)
    else:
        log.append("commit")
        commit(pair, workspace)
        assert tree(workspace) == tree(pair.folder)
        return tree(workspace)
    assert tree(workspace) == below, "nothing is below before a commit"
    return below
