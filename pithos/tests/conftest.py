"""Fixtures for the tests of the `pithos` command from outside: PITHOS names the binary under test."""

import os
import shutil
import signal
from pathlib import Path

import pytest
from server import Server


# Who starts the tests in the background has them ignore signals, and what they start would inherit that.
for ignored in (signal.SIGINT, signal.SIGQUIT, signal.SIGHUP):
    if signal.getsignal(ignored) == signal.SIG_IGN:
        signal.signal(ignored, signal.default_int_handler if ignored == signal.SIGINT else signal.SIG_DFL)


@pytest.fixture(scope="session")
def pithos() -> str:
    """The command under test."""
    path = os.environ.get("PITHOS") or shutil.which("pithos")
    if not path:
        pytest.skip("set PITHOS to the pithos command")
    return path


@pytest.fixture(scope="session", autouse=True)
def state(tmp_path_factory):
    """What servers keep beyond their lives does not come among the person's own."""
    before = os.environ.get("XDG_STATE_HOME")
    os.environ["XDG_STATE_HOME"] = str(tmp_path_factory.mktemp("state"))
    yield Path(os.environ["XDG_STATE_HOME"])
    if before is None:
        del os.environ["XDG_STATE_HOME"]
    else:
        os.environ["XDG_STATE_HOME"] = before


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
