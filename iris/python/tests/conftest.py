"""What all tests share: a runtime that is stopped afterwards, and waiting for conditions instead of sleeping."""

import time

import pytest

import iris


def wait_until(condition, what="the condition", timeout=20.0):
    deadline = time.monotonic() + timeout
    while not condition():
        assert time.monotonic() < deadline, f"gave up waiting for {what}"
        time.sleep(0.001)


@pytest.fixture
def runtime():
    made = iris.Runtime()
    yield made
    made.stop()


@pytest.fixture
def system():
    made = iris.System()
    yield made
    made.stop()
