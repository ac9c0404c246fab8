"""The stubs name what is there: every public method of the compiled classes and of `Runtime`, and nothing else; and everything is typed
strictly enough for those who check (needs mypy, as in requirements-test.txt)."""

import ast
import inspect
import os
import pathlib
import subprocess
import sys

import pytest

import iris
from iris import _iris

PACKAGE = pathlib.Path(iris.__file__).parent


def declared(stub, name):
    tree = ast.parse((PACKAGE / stub).read_text(encoding="utf-8"))
    cls = next(node for node in tree.body if isinstance(node, ast.ClassDef) and node.name == name)
    functions = {node.name for node in cls.body if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))}
    fields = {node.target.id for node in cls.body if isinstance(node, ast.AnnAssign)}
    return {name for name in functions | fields if not name.startswith("_")}


def public(cls):
    return {name for name, _ in inspect.getmembers(cls) if not name.startswith("_")}


@pytest.mark.parametrize("name", ["PyRuntime", "Ref", "Inbox", "ReadyQueue", "SupervisorCore", "PySystemMessage", "ExitReason", "Down", "RemoteRef", "NodeCore", "Reference", "RemoteDown"])
def test_compiled_classes(name):
    assert declared("_iris.pyi", name) == public(getattr(_iris, name))


def test_runtime():
    assert declared("runtime.pyi", "Runtime") == public(iris.Runtime)
    assert (PACKAGE / "py.typed").exists()


def test_the_package_and_its_examples_pass_a_strict_type_check(tmp_path):
    pytest.importorskip("mypy")
    room = pathlib.Path(__file__).parent.parent
    examples = sorted(str(path) for path in (room / "examples").glob("*.py"))
    source = room / "python"
    command = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", str(tmp_path), *examples, str(source / "iris")]
    environment = os.environ | {"MYPYPATH": str(source)}
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, env=environment)
    assert done.returncode == 0, done.stdout
