"""Real work in the default policy of pithos: each row runs outside of the sandbox and inside, in a fresh copy of its project.

    python3 real_work.py [--pithos PATH] [--sources DIR] [--only NAME] [--runs N]

Needs the Python package `pithos` on the path (`iris/python/python`), and for each row its tools; a row whose tools or sources are
missing is skipped and says so. `--sources` holds unpacked source packages (`hello-*`, `bats-*`); `apt-get source hello bats` gets them.
Prints one line for each row: seconds outside, seconds inside (least of N), their ratio, and what was denied.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

import pithos


@dataclass
class Row:
    """A project: how it is made (outside, before the clock starts) and what is timed."""

    name: str
    #: Programs that must be there.
    tools: list[str]
    #: Makes the project in the current folder; may use the network.
    prepare: str
    #: What is timed.
    work: str
    #: Hosts that the sandbox lets it reach, by name.
    hosts: list[str] = field(default_factory=list)
    #: A folder of `--sources` that is the project.
    source: str | None = None
    #: Root may not do this at all.
    unprivileged: bool = False


NPM_PROJECT = """\
printf '{"name":"p","version":"1.0.0","scripts":{"test":"tape test.js"}}' >package.json
printf 'const t = require("tape"); const s = require("semver");
t("semver", (t) => { t.ok(s.satisfies("1.2.3", "^1.0.0")); t.end() })' >test.js"""
PIP_PROJECT = "printf 'import more_itertools as m\\ndef test_it(): assert list(m.chunked([1, 2, 3], 2)) == [[1, 2], [3]]\\n' >test_it.py"
CARGO_PROJECT = """\
cargo init -q --lib --name p . && cat >>Cargo.toml <<'T'
itoa = "1"
T
printf 'pub fn f(n: u64) -> String { itoa::Buffer::new().format(n).to_owned() }
#[test] fn works() { assert_eq!(f(42), "42") }' >src/lib.rs"""
GO_PROJECT = """\
printf 'module example.org/p\\n\\ngo 1.20\\n' >go.mod
printf 'package p\\nimport "testing"\\nfunc TestIt(t *testing.T) { t.Run("a", func(t *testing.T) {}) }\\n' >p_test.go"""
DEV_SERVER = """\
python3 -m http.server 8765 --bind 127.0.0.1 >server.log 2>&1 & server=$!
for i in $(seq 600); do curl -s --noproxy '*' -o page http://127.0.0.1:8765/ && break; sleep 0.05; done
kill $server; wait $server 2>/dev/null; grep -q listing page"""
POSTGRES = """\
bin=$(ls -d /usr/lib/postgresql/*/bin | tail -1); data=$PWD/data
"$bin"/initdb -D "$data" --auth-local=peer --auth-host=trust >initdb.log 2>&1 || { cat initdb.log; exit 1; }
"$bin"/pg_ctl -D "$data" -w -l pg.log -o "-p 5999 -k $PWD" start >start.log 2>&1 || { cat start.log pg.log; exit 1; }
psql -h 127.0.0.1 -p 5999 postgres -At -c 'create table t(i int); insert into t select generate_series(1, 1000); select sum(i) from t' &&
psql -h "$PWD" -p 5999 postgres -At -c 'select sum(i) from t'
status=$?
"$bin"/pg_ctl -D "$data" -m fast stop >stop.log 2>&1; exit $status"""
UNIX_SOCKETS = """\
cat >server.js <<'J'
require("http").createServer((_, answer) => answer.end("from node")).listen("node.sock", () => console.log("up"))
J
cat >client.py <<'P'
import multiprocessing, socket
s = socket.socket(socket.AF_UNIX)
s.connect("node.sock")
s.sendall(b"GET / HTTP/1.0\\r\\n\\r\\n")
assert s.makefile("rb").read().endswith(b"from node")
if __name__ == "__main__":
    with multiprocessing.Manager() as manager:
        assert manager.list([1, 2])[1] == 2
P
node server.js >server.log & server=$!
for i in $(seq 600); do grep -q up server.log && break; sleep 0.05; done
python3 client.py || exit 1
kill $server; wait $server 2>/dev/null
eval "$(ssh-agent -s)" >/dev/null && ssh-keygen -q -t ed25519 -N '' -f key && ssh-add -q key && ssh-add -l && ssh-agent -k >/dev/null || exit 1
export GNUPGHOME=$PWD/g; mkdir -m 700 g
gpg -q --batch --passphrase '' --quick-gen-key 'A <a@example.org>' ed25519 sign 0 2>/dev/null && echo signed | gpg -q --batch -s | gpg -q --batch -d 2>/dev/null
status=$?; gpgconf --kill all; exit $status"""
C_BUILD = "./configure -q >/dev/null && make -s -j2 >/dev/null 2>make.err && ./hello | grep -q Hello"

ROWS = [
    Row("npm install and test", ["npm"], NPM_PROJECT, "npm install --no-audit --no-fund semver tape && npm test", hosts=["npm"]),
    Row("pip install and pytest", ["python3"], PIP_PROJECT,
        "python3 -m venv v && v/bin/pip install -q pytest more-itertools && v/bin/python -m pytest -q", hosts=["pypi"]),
    Row("cargo test", ["cargo"], CARGO_PROJECT, "cargo test -q", hosts=["crates"]),
    Row("go test", ["go"], GO_PROJECT, "go test ./...", hosts=["go"]),
    Row("C project, autoconf", ["gcc", "make"], "", C_BUILD, source="hello-*"),
    Row("bats-core's own suite", ["bash"], "", "bin/bats test/bats.bats 2>&1 | tail -n 30; exit ${PIPESTATUS[0]}", source="bats-*"),
    Row("development server over loopback", ["python3", "curl"], "", DEV_SERVER),
    Row("Postgres", ["psql"], "", POSTGRES, unprivileged=True),
    Row("Unix sockets: Node, Python, agents", ["node", "python3", "ssh-agent", "gpg"], "", UNIX_SOCKETS),
    Row("git clone, commit", ["git"], "git init -q a; cd a; git -c user.name=a -c user.email=a@b commit -q --allow-empty -m 1",
        "git clone -q a b && cd b && git config user.name a && git config user.email a@b && echo x >f && git add f && git commit -q -m 2"),
]


def project(row: Row, sources: Path | None, folder: Path) -> str | None:
    """Makes the project; a reason if that is not possible here."""
    for tool in row.tools:
        if not shutil.which(tool):
            return f"{tool} is not installed"
    if row.unprivileged and os.geteuid() == 0:
        return "not as root"
    if row.source:
        found = sorted(path for path in sources.glob(row.source) if path.is_dir()) if sources else []
        if not found:
            return f"no {row.source} in --sources"
        shutil.copytree(found[0], folder, symlinks=True, dirs_exist_ok=True)
    if row.prepare:
        subprocess.run(["bash", "-c", row.prepare], cwd=folder, check=True, capture_output=True)
    return None


def outside(row: Row, folder: Path) -> tuple[float, bool, str]:
    start = time.monotonic()
    done = subprocess.run(["bash", "-c", row.work], cwd=folder, capture_output=True, text=True, errors="replace", stdin=subprocess.DEVNULL)
    return time.monotonic() - start, done.returncode == 0, done.stdout + done.stderr


def inside(row: Row, folder: Path, command: str | None) -> tuple[float, bool, str, list[dict]]:
    with pithos.Sandbox(cwd=folder, command=command, hosts=row.hosts) as sandbox:
        sandbox.run("true")
        start = time.monotonic()
        result = sandbox.run(f"( {row.work}\n)", timeout=900)
        elapsed = time.monotonic() - start
        return elapsed, result.ok, result.text, result.denials


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pithos", help="the command; default: from the path")
    parser.add_argument("--sources", type=Path)
    parser.add_argument("--only", help="rows whose name contains this")
    parser.add_argument("--runs", type=int, default=1)
    options = parser.parse_args()
    failed = 0
    print(f"{'':34}{'outside':>9}{'inside':>9}{'ratio':>7}  denied")
    for row in ROWS:
        if options.only and options.only not in row.name:
            continue
        best: dict[str, float] = {}
        seen: list[str] = []
        trouble = ""
        for _ in range(options.runs):
            for place in ("outside", "inside"):
                with tempfile.TemporaryDirectory(prefix=".real-work-", dir=Path.home()) as name:
                    reason = project(row, options.sources, Path(name))
                    if reason:
                        trouble = f"skipped: {reason}"
                        break
                    if place == "outside":
                        elapsed, ok, text = outside(row, Path(name))
                    else:
                        elapsed, ok, text, denials = inside(row, Path(name), options.pithos)
                        seen = sorted({f"{denial['kind']} {denial['subject']}" for denial in denials})
                    best[place] = min(elapsed, best.get(place, elapsed))
                    if not ok:
                        trouble = f"FAILED {place}: {text[-600:]}"
                        break
            if trouble:
                break
        if trouble:
            failed += trouble.startswith("FAILED")
            print(f"{row.name:34}{trouble}")
            continue
        ratio = best["inside"] / best["outside"]
        print(f"{row.name:34}{best['outside']:8.2f}s{best['inside']:8.2f}s{ratio:7.2f}  {'; '.join(seen) or '-'}", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
