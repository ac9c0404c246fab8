"""Overlaid sessions of pithos on a tree of many files, beside what agents use today: `git stash`, a copy of the tree, a shadow git repository.

    python3 overlay.py [--pithos PATH] [--files N] [--rounds N]

Needs the Python package `pithos` on the path (`iris/python/python`), git and cc. Prints one line for each row: median and 95th percentile in
milliseconds, and what it is beside; the load of the machine stands first.
"""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import subprocess
import tempfile
import time
from pathlib import Path

import pithos

#: Files that one call changes.
TOUCHED = 10


def make_tree(root: Path, files: int) -> None:
    for number in range(files):
        folder = root / f"d{number % 100}" / f"e{number // 100 % 10}"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"f{number}.c").write_text(f"int f{number}(int x) {{ return x + {number}; }}\n" * 5)


def timed(work, rounds: int, before=lambda: None) -> list[float]:
    taken = []
    for _ in range(rounds):
        before()
        start = time.perf_counter()
        work()
        taken.append((time.perf_counter() - start) * 1e3)
    return sorted(taken)


def show(name: str, taken: list[float], more: str = "") -> None:
    print(f"{name:44} {statistics.median(taken):9.2f} {taken[int(len(taken) * 0.95)]:9.2f}  {more}", flush=True)


def shell(script: str, folder: Path) -> None:
    subprocess.run(["bash", "-c", script], cwd=folder, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def structured(result: dict) -> dict:
    if result.get("isError"):
        raise SystemExit(result["content"][0]["text"])
    return result["structuredContent"]


def touch(round_: int) -> str:
    return f"for i in {{0..{TOUCHED - 1}}}; do echo 'int g{round_};' >> d$i/e0/f$i.c; done"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pithos", default=shutil.which("pithos"))
    parser.add_argument("--files", type=int, default=10_000)
    parser.add_argument("--rounds", type=int, default=30)
    options = parser.parse_args()
    print(f"load {os.getloadavg()[0]:.1f}; {options.files} files; milliseconds: median, 95th percentile")
    with tempfile.TemporaryDirectory(dir="/var/tmp") as made:
        work(Path(made), options)


def work(made: Path, options: argparse.Namespace) -> None:
    tree = made / "tree"
    tree.mkdir()
    make_tree(tree, options.files)
    shell("git init -q . && git config user.email a@example.org && git config user.name a && git add -A && git commit -qm a", tree)
    rounds = options.rounds
    with pithos.Sandbox(command=options.pithos, cwd=str(tree)) as sandbox:

        def call(tool: str, **arguments: object) -> dict:
            # The client has no names for these actions yet.
            return sandbox._call(tool, arguments, structured)

        opened = call("session", action="open", overlay=True)
        if opened["undo"] != "overlay":
            raise SystemExit(f"no overlay here: {opened['undo_note']}")
        over = opened["session"]
        plain = call("session", action="open")["session"]

        def run(session: str, script: str) -> dict:
            return call("run", session=session, command=script, timeout_ms=600_000, yield_ms=600_000)

        empty = timed(lambda: run(plain, ":"), rounds * 4)
        show("run :, plain session", empty)
        show("run :, overlaid session", timed(lambda: run(over, ":"), rounds * 4))
        numbers = iter(range(10**6))
        changing = timed(lambda: run(plain, touch(next(numbers))), rounds)
        show(f"run that changes {TOUCHED} files, plain", changing)
        shell("git checkout -q .", tree)
        changing_over = timed(lambda: run(over, touch(next(numbers))), rounds)
        more = statistics.median(changing_over) - statistics.median(changing)
        show(f"run that changes {TOUCHED} files, overlaid", changing_over, f"{more:+.2f} for `changed`")
        show("undo of that", timed(lambda: call("session", action="undo", session=over), rounds, lambda: run(over, touch(next(numbers)))))
        made_points = []
        show(
            "checkpoint after such a run",
            timed(lambda: made_points.append(call("session", action="checkpoint", session=over)), min(rounds, 20), lambda: run(over, touch(next(numbers)))),
        )
        point = made_points[0]["checkpoint"]
        show("restore", timed(lambda: call("session", action="restore", session=over, checkpoint=point), rounds))
        copies = []
        show("fork", timed(lambda: copies.append(call("session", action="fork", session=over)["session"]), min(rounds, 10)))
        for copy in copies:
            call("session", action="close", session=copy)
        show("diff", timed(lambda: call("session", action="diff", session=over), rounds))
        show("discard", timed(lambda: call("session", action="discard", session=over), rounds, lambda: run(over, touch(next(numbers)))))
        show("commit", timed(lambda: call("session", action="commit", session=over), rounds, lambda: run(over, touch(next(numbers)))))
        shell("git checkout -q .", tree)
        # Each pair in turn, so that both meet the same load.
        for name, script in (
            ("read all files", "cat $(git ls-files) | cksum"),
            ("grep -r", "grep -rc nothing . | tail -n 1"),
            ("git status", "git status --short | wc -l"),
            ("compile 200 files", "cc -c -o /dev/null -x c /dev/null; for f in d0/e*/*.c d1/e*/*.c; do cc -w -fsyntax-only $f; done 2>/dev/null"),
        ):
            both = [(timed(lambda s=script: run(plain, s), 1)[0], timed(lambda s=script: run(over, s), 1)[0]) for _ in range(5)]
            ratio = statistics.median(b / a for a, b in both)
            show(f"{name}, overlaid", sorted(b for _, b in both), f"{ratio:.2f} of the plain session's {statistics.median(a for a, _ in both):.0f}")
    show("git stash; git stash apply", timed(lambda: shell("git stash -q && git stash apply -q && git stash drop -q", tree), min(rounds, 10), lambda: shell(touch(next(numbers)), tree)))
    shell("git checkout -q .", tree)
    show("cp -a --reflink=auto", timed(lambda: shell("rm -rf ../copy; cp -a --reflink=auto . ../copy", tree), 3))
    shadow = f"git --git-dir={made}/shadow --work-tree=."
    shell(f"{shadow} init -q && {shadow} config user.email a@example.org && {shadow} config user.name a && {shadow} add -A && {shadow} commit -qm a", tree)
    show(
        "shadow repository: add -A, commit",
        timed(lambda: shell(f"{shadow} add -A && {shadow} commit -qm b", tree), min(rounds, 10), lambda: shell(touch(next(numbers)), tree)),
    )


if __name__ == "__main__":
    main()
