"""References and `spawn` are checked by type checkers: `types/good.py` passes, and in `types/bad.py` exactly the lines that say so are refused.
A checker that is not installed is skipped."""

import json
import pathlib
import shutil
import subprocess
import sys

import pytest

import iris

HERE = pathlib.Path(__file__).parent


def mypy(path, cache):
    pytest.importorskip("mypy")
    command = [sys.executable, "-m", "mypy", "--strict", "--output", "json", "--cache-dir", str(cache), str(path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    found = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    # It also ends with 1 when it has checked nothing.
    assert done.returncode == (1 if found else 0), done.stdout + done.stderr
    return {problem["line"]: problem["message"] for problem in found if problem["severity"] == "error"}


def pyright(path, _):
    beside = pathlib.Path(sys.executable).with_name("pyright")
    program = str(beside) if beside.exists() else shutil.which("pyright")
    if program is None or subprocess.run([program, "--version"], capture_output=True, timeout=300).returncode != 0:
        pytest.skip("pyright is not installed, or cannot fetch what it runs on")
    command = [program, "--outputjson", "--pythonpath", sys.executable, str(path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    found = json.loads(done.stdout)["generalDiagnostics"]
    return {problem["range"]["start"]["line"] + 1: problem["message"] for problem in found if problem["severity"] == "error"}


CHECKERS = pytest.mark.parametrize("check", [mypy, pyright], ids=["mypy", "pyright"])


@CHECKERS
def test_a_good_program_passes(check, tmp_path):
    assert check(HERE / "types/good.py", tmp_path) == {}


@CHECKERS
def test_every_mistake_is_refused_and_nothing_else(check, tmp_path):
    path = HERE / "types/bad.py"
    lines = path.read_text(encoding="utf-8").splitlines()
    wrong = {number for number, line in enumerate(lines, 1) if line.endswith("# bad")}
    assert len(wrong) > 10
    assert set(check(path, tmp_path)) == wrong


def test_a_reference_has_parameters_at_run_time_too():
    assert iris.Ref[int, str].__origin__ is iris.Ref
    assert iris.Ref[int, str].__args__ == (int, str)
