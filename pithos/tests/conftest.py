"""Fixtures for the tests of the `pithos` command from outside: PITHOS names the binary under test."""

import os
import shutil
from pathlib import Path

import pytest
from server import Server


@pytest.fixture(scope="session")
def pithos() -> str:
    """The command under test."""
    path = os.environ.get("PITHOS") or shutil.which("pithos")
    if not path:
        pytest.skip("set PITHOS to the pithos command")
    return path


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    """An empty folder for one server."""
    return tmp_path


@pytest.fixture
def server(pithos: str, workspace: Path):
    """A server that works in the workspace."""
    server = Server(pithos, workspace)
    yield server
    server.close()
