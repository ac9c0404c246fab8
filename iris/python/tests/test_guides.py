"""The guide about Python workers in Erlang systems says what happens: its programs are taken from its text and run. Skipped, and said so,
where `erl` and `epmd` are missing."""

import pathlib
import re
import subprocess
import sys

import pytest
from test_nodes import Otp

GUIDE = pathlib.Path(__file__).parents[3] / "docs/iris-beam.md"


def programs(language):
    return re.findall(rf"```{language}\n(.*?)```", GUIDE.read_text(encoding="utf-8"), re.DOTALL)


def test_the_worker_of_the_guide(tmp_path):
    if not GUIDE.exists():
        pytest.skip("the documents are not here")
    (worker,), (caller,) = programs("python"), programs("erlang")
    path = tmp_path / "worker.py"
    path.write_text(worker, encoding="utf-8")
    otp = Otp()
    command = [sys.executable, str(path), otp.address]
    running = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        assert running.stdout.readline() == "ready\n", running.stderr.read()
        lines = otp.run(caller.strip().removesuffix("."), cookie="secret")
        assert lines == ['{exception,<<"ValueError">>,<<"told to">>}']
    finally:
        running.kill()
        running.communicate()
        otp.epmd.kill()
        otp.epmd.wait()
