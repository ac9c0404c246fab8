"""The examples of the documents, run as their readers would run them.

A block of ```console is a terminal session: each line that begins with `$ ` is a command (continued while a line ends with a
backslash), what follows is what it prints. A line `…` stands for any number of lines, `…` inside a line for any text. The
commands of one block share a shell and an empty folder; blocks of one document share the folder. A block of ```python is a
program; the blocks of one document are one program, in order. JavaScript is checked by cynic, JSON is read line by line, TOML
is a policy of the sandbox. Blocks with a word after the language are run elsewhere, or are illustrations; `cargo xtask tidy`
knows which.
"""

import json

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
FENCE = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
#: Its program is one half; `iris/python/tests/test_guides.py` has the other, in Erlang.
HALVES = ("iris-beam.md",)
MARK = "\x1e"


def documents():
    return [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


def blocks(path: Path, kind: str) -> list[str]:
    return [body for language, body in FENCE.findall(path.read_text()) if language == kind]


def having(kind: str) -> list[Path]:
    return [path for path in documents() if blocks(path, kind) and path.name not in HALVES]


def each(kind: str) -> list:
    return [pytest.param(body, id=f"{path.name}-{at}") for path in having(kind) for at, body in enumerate(blocks(path, kind))]


@pytest.fixture(scope="module")
def commands(pithos, tmp_path_factory):
    """A PATH on which the three commands stand under their names."""
    folder = tmp_path_factory.mktemp("bin")
    (folder / "pithos").symlink_to(Path(pithos).resolve())
    for name in ("rush", "cynic"):
        path = os.environ.get(name.upper())
        if not path:
            pytest.skip(f"set {name.upper()} to the {name} command")
        (folder / name).symlink_to(Path(path).resolve())
    return folder


def steps(block: str) -> list[tuple[str, str]]:
    """The commands of a session, each with what it prints."""
    found: list[tuple[str, str]] = []
    continued = False
    for line in block.splitlines():
        if line.startswith("$ ") or continued:
            command = line.removeprefix("$ ") if not continued else line
            if continued:
                found[-1] = (found[-1][0] + "\n" + command, "")
            else:
                found.append((command, ""))
            continued = line.endswith("\\")
        else:
            assert found, f"a session begins with a command: {line!r}"
            found[-1] = (found[-1][0], found[-1][1] + line + "\n")
    return found


def pattern(expected: str) -> re.Pattern:
    """What the document shows, as a pattern."""
    text = re.escape(expected).replace(re.escape("…\n"), "(?:.*\n)*?" if "…" in expected else "")
    return re.compile(text.replace("…", ".*"))


@pytest.mark.parametrize("path", having("console"), ids=lambda path: path.name)
def test_sessions_print_what_the_document_shows(path, commands, tmp_path):
    folder = tmp_path / "work"
    folder.mkdir()
    environment = {
        "PATH": f"{commands}:/usr/local/bin:/usr/bin:/bin",
        "HOME": str(tmp_path / "home"),
        "LC_ALL": "C.UTF-8",
        "TERM": "dumb",
    }
    for block in blocks(path, "console"):
        wanted = steps(block)
        script = "".join(f"{command}\nprintf '{MARK}'\n" for command, _ in wanted)
        done = subprocess.run(
            [commands / "rush", "-c", script],
            cwd=folder,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            stdin=subprocess.DEVNULL,
            timeout=120,
            check=False,
        )
        parts = done.stdout.decode().split(MARK)
        for (command, expected), printed in zip(wanted, parts, strict=False):
            assert pattern(expected).fullmatch(printed), f"$ {command}\n{printed}\n--- the document shows\n{expected}"
        assert len(parts) == len(wanted) + 1, f"the session ended early:\n{done.stdout.decode()}"


@pytest.mark.parametrize("path", having("python"), ids=lambda path: path.name)
def test_programs_run(path, commands, tmp_path):
    program = "\n".join(blocks(path, "python"))
    environment = os.environ | {"PATH": f"{commands}:{os.environ['PATH']}"}
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=tmp_path,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("body", each("js"))
def test_javascript_is_well_formed(body, commands, tmp_path):
    path = tmp_path / "block.js"
    path.write_text(body)
    done = subprocess.run([commands / "cynic", "--check", path], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("body", each("json"))
def test_json_can_be_read(body):
    for line in body.splitlines():
        json.loads(line)


@pytest.mark.parametrize("body", each("toml"))
def test_a_policy_is_one(body, commands, tmp_path):
    path = tmp_path / "policy.toml"
    path.write_text(body)
    command = [commands / "pithos", "run", "--json", "--sandbox", path, "echo inside"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["stdout_bytes"] == len("inside\n")
