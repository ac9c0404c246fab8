"""Real work inside the policy `workspace`: a project is built and tested there, and cannot reach out while it is."""

import re
import shutil
from pathlib import Path

import pytest
from server import Server

ROOT = Path(__file__).parents[2]
#: For a build on a busy machine.
PATIENCE_MS = 10 * 60 * 1000


@pytest.mark.skipif(not shutil.which("cargo"), reason="cargo is not installed")
def test_a_rust_project_builds_and_its_tests_run(server: Server, workspace: Path) -> None:
    # This repository's own regular expressions, with their dependencies from the registry's cache, as a workspace of one.
    manifest = re.sub(r"members = \[.*?\]", 'members = ["cynic/regexp"]', (ROOT / "Cargo.toml").read_text(), count=1, flags=re.DOTALL)
    project = workspace / "project"
    shutil.copytree(ROOT / "cynic/regexp", project / "cynic/regexp")
    (project / "Cargo.toml").write_text(manifest)
    shutil.copy(ROOT / "Cargo.lock", project)
    # Whoever runs these tests may keep his build output elsewhere, where the sandbox lets nobody write.
    script = "unset CARGO_TARGET_DIR; cd project && cargo build --offline 2>&1"
    built = server.tool("run", command=script, yield_ms=PATIENCE_MS)
    assert built["status"] == 0, server.text("log", action="tail", job=built["job"])
    # One test of them takes a minute and a half without optimisation, here and outside.
    command = "cargo test --offline -- --skip the_budget_stops_what_cannot_be_remembered 2>&1 | tail -n 20"
    tested = server.call("run", command=command, yield_ms=PATIENCE_MS)
    assert tested["structuredContent"]["pipelines"][-1] == [0, 0], tested["content"][0]["text"]
    assert "test result: ok" in server.text("log", action="grep", job=tested["structuredContent"]["job"], pattern="test result")


@pytest.mark.skipif(not shutil.which("git") or not shutil.which("cc"), reason="git or a C compiler is not installed")
def test_clone_build_commit(server: Server, workspace: Path) -> None:
    script = """
git init -q origin && cd origin && printf 'int main(void) { return 7; }\\n' > main.c
git -c user.name=a -c user.email=a@b add -A && git -c user.name=a -c user.email=a@b commit -qm first
cd .. && git clone -q origin copy && cd copy && cc -o main main.c && { ./main; echo "status $?"; }
echo changed >> main.c && git -c user.name=a -c user.email=a@b commit -qam second && git log --oneline | wc -l
"""
    result = server.call("run", command=script, env={"HOME": str(workspace)}, yield_ms=PATIENCE_MS)
    # What other programs obey and was not there before, `.git` here, is told in a note behind the output.
    output, *notes = result["content"][0]["text"].split("[", 1)
    assert output.split() == ["status", "7", "2"] and all(".git is protected" in note for note in notes), result


def test_a_build_script_cannot_reach_out(server: Server) -> None:
    result = server.tool("run", command="cat > Makefile <<'END'\nall:\n\techo owned > /etc/owned\nEND\nmake")
    assert result["status"] != 0 and result["denials"][0]["subject"] == "/etc/owned"
    assert not Path("/etc/owned").exists()
    secret = Path.home() / ".ssh"
    read = server.tool("run", command=f"cat {secret}/id_test")
    assert read["status"] != 0
