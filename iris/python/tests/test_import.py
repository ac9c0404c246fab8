"""Where `import iris` says no: in sub-interpreters, and where another package of that name is mixed into its folder."""

import pathlib
import shutil
import subprocess
import sys

import pytest

import iris
from iris import guard

PACKAGE = pathlib.Path(iris.__file__).parent

SUB = """
import sys
try:
    import _interpreters as interpreters
except ImportError:
    import _xxsubinterpreters as interpreters
{first}
code = '''
try:
    import iris
except ImportError as error:
    print("refused:", error, flush=True)
else:
    print("imported", flush=True)
'''
run = getattr(interpreters, "run_string", None) or interpreters.exec
for _ in range(2):
    run(interpreters.create(), code)
print("alive")
"""


@pytest.mark.parametrize("first", ["", "import iris"])
def test_a_sub_interpreter_is_told_why_not(first):
    pytest.importorskip("_interpreters" if sys.version_info >= (3, 13) else "_xxsubinterpreters")
    done = subprocess.run([sys.executable, "-c", SUB.format(first=first)], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    *refusals, last = done.stdout.splitlines()
    assert len(refusals) == 2 and last == "alive"
    assert all(line.startswith("refused:") and "iris" in line or "subinterpreter" in line for line in refusals), refusals


def test_the_guard_knows_all_of_our_files():
    there = {path.name.partition(".")[0] for path in PACKAGE.iterdir()} - {"__pycache__"}
    assert there == guard.OURS
    assert guard.foreign(str(PACKAGE)) == []


@pytest.mark.parametrize("other", ["cube.py", "analysis/__init__.py"])
def test_a_mixed_folder_is_refused(tmp_path, other):
    copy = tmp_path / "iris"
    shutil.copytree(PACKAGE, copy, ignore=shutil.ignore_patterns("__pycache__"))
    intruder = copy / other
    intruder.parent.mkdir(exist_ok=True)
    intruder.write_text("")
    program = f"import sys; sys.path.insert(0, {str(tmp_path)!r}); import iris"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
    assert done.returncode == 1 and "another package named iris" in done.stderr, done.stderr
    assert intruder.parts[len(copy.parts)].partition(".")[0] in done.stderr
