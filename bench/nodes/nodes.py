"""Two nodes on loopback, Erlang's and iris's, in one run and in turns: the median round trip and messages of 64 bytes one way, until the
other side says that it has them all. Prints one line for each pair and pass, then the medians and their ratios.

    python bench/nodes/nodes.py [passes] [messages]

Needs `erl`, `erlc` and the package `iris`. The nodes find one another without epmd."""

import json
import os
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import time

COOKIE = "measured"
TRIPS = 5_000

SINK = """
import sys
import iris

class Sink:
    def __init__(self):
        self.seen = 0
    def receive(self, message):
        if message == "count":
            return self.seen
        self.seen += 1

system = iris.System()
node = iris.Node(system, sys.argv[1], sys.argv[2], epmd=None)
node.register("echo", system.spawn(lambda message: message))
node.register("sink", system.spawn(Sink))
print(node.address[1], flush=True)
sys.stdin.read()
"""

SOURCE = """
import json, statistics, sys, threading, time
import iris

name, cookie, peer, port, messages, trips = sys.argv[1:7]
system = iris.System()
node = iris.Node(system, name, cookie, epmd=None, peers={peer: int(port)})
echo, sink = node.ref("echo", peer), node.ref("sink", peer)
times, done = [], threading.Event()

@iris.actor(pull=True)
def asking(mailbox):
    for turn in range(int(trips)):
        begin = time.perf_counter()
        mailbox.ask(echo, turn, timeout=60)
        times.append(time.perf_counter() - begin)
    done.set()

system.spawn(asking)
assert done.wait(120)
payload, count = b"x" * 64, int(messages)
begin = time.perf_counter()
for _ in range(count):
    # The connection's buffer is bounded; a full one says so.
    while True:
        try:
            sink.send(payload)
            break
        except iris.NodeBusy:
            time.sleep(0.0005)
while True:
    try:
        seen = sink.ask_sync("count", timeout=300)
        break
    except iris.NodeBusy:
        time.sleep(0.0005)
assert seen == count, seen
print(json.dumps({"p50_us": statistics.median(times) * 1e6, "per_s": count / (time.perf_counter() - begin)}), flush=True)
"""

def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def begun(command: list[str]) -> subprocess.Popen[str]:
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def ended(process: subprocess.Popen[str]) -> None:
    process.kill()
    process.wait()


def of_iris(messages: int) -> dict[str, float]:
    sink = begun([sys.executable, "-c", SINK, "sink@127.0.0.1", COOKIE])
    try:
        port = sink.stdout.readline().strip()
        arguments = ["source@127.0.0.1", COOKIE, "sink@127.0.0.1", port, str(messages), str(TRIPS)]
        done = subprocess.run([sys.executable, "-c", SOURCE, *arguments], stdout=subprocess.PIPE, text=True, timeout=600, check=True)
        return json.loads(done.stdout)
    finally:
        ended(sink)


def of_erlang(messages: int, compiled: str) -> dict[str, float]:
    port = str(free_port())

    def erl(name: str, *more: str) -> list[str]:
        return ["erl", "-noinput", "-pa", compiled, "-start_epmd", "false", "-erl_epmd_port", port, "-name", name,
                "-setcookie", COOKIE, *more]  # fmt: skip

    sink = begun(erl("sink@127.0.0.1", "-s", "measured_node", "sink"))
    try:
        assert sink.stdout.readline().strip() == "ready"
        command = erl("source@127.0.0.1", "-dist_listen", "false", "-s", "measured_node", "source")
        command += ["-extra", "sink@127.0.0.1", str(TRIPS), str(messages)]
        done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True, timeout=600, check=True)
        return json.loads(done.stdout)
    finally:
        ended(sink)


def main() -> None:
    passes = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    messages = int(sys.argv[2]) if len(sys.argv) > 2 else 300_000
    if shutil.which("erl") is None:
        sys.exit("erl is not installed: there is nothing to compare with")
    figures: dict[str, list[dict[str, float]]] = {"erlang": [], "iris": []}
    with tempfile.TemporaryDirectory() as compiled:
        subprocess.run(["erlc", "-o", compiled, os.path.join(os.path.dirname(os.path.abspath(__file__)), "measured_node.erl")], check=True)
        for turn in range(passes):
            for name in sorted(figures, reverse=bool(turn % 2)):
                figures[name].append(of_iris(messages) if name == "iris" else of_erlang(messages, compiled))
                print(name, json.dumps(figures[name][-1]), flush=True)
    for row in ("p50_us", "per_s"):
        erlang, iris = (statistics.median(one[row] for one in figures[name]) for name in ("erlang", "iris"))
        print(f"{row}: erlang {erlang:.1f}, iris {iris:.1f}, iris to erlang {iris / erlang:.2f}")
    print(f"load {os.getloadavg()[0]:.1f}, {os.cpu_count()} processors, {time.strftime('%Y-%m-%d')}")


main()
