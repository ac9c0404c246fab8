"""A cluster of more than one machine: its certificate authority and the certificates of its nodes. Owns the files and the command
`python -m iris mesh`; what stands in certificates is `iris/mesh`'s.

A folder of a node holds `authority.pem`, `node.pem`, `node.key` and `cookie`, and `erlang.conf`, with which a node of OTP joins in. Keys and the
cookie belong to their user alone (mode 0600), and files that others can read are refused.
"""

from __future__ import annotations

import argparse
import json
import os
import secrets
import stat
import sys
from typing import Any, NamedTuple, Sequence

from iris._iris import NodeError, mesh_authority, mesh_issue

# Days that a node's certificate holds unless told otherwise.
DAYS = 365
# Largest file that is read here, in bytes.
FILE_MAX = 1 << 20


class Identity(NamedTuple):
    """What a node shows and believes, as PEM, and the cluster's cookie."""

    authority: str
    certificate: str
    key: str
    cookie: str


def _write(path: str, text: str, mode: int = 0o600) -> None:
    """A new file; never one that is there, and through no link."""
    with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, mode), "w", encoding="utf-8") as file:
        file.write(text)


def _read(path: str, secret: bool = False) -> str:
    with open(path, encoding="utf-8") as file:
        mode = os.fstat(file.fileno()).st_mode
        if secret and mode & (stat.S_IRWXG | stat.S_IRWXO):
            raise PermissionError(f"{path} can be read or written by others: chmod 600 it, and think of who has seen it")
        return file.read(FILE_MAX)


def load(folder: "str | os.PathLike[str]") -> Identity:
    """What `join` has put into a folder."""
    at = os.fspath(folder)
    return Identity(
        _read(os.path.join(at, "authority.pem")),
        _read(os.path.join(at, "node.pem")),
        _read(os.path.join(at, "node.key"), secret=True),
        _read(os.path.join(at, "cookie"), secret=True).strip(),
    )


def init(folder: str) -> None:
    """Makes a cluster: its authority and its cookie."""
    os.makedirs(folder, mode=0o700, exist_ok=True)
    certificate, key = mesh_authority()
    _write(os.path.join(folder, "authority.key"), key)
    _write(os.path.join(folder, "authority.pem"), certificate, 0o644)
    _write(os.path.join(folder, "cookie"), secrets.token_hex(24) + "\n")


def invite(folder: str, hosts: Sequence[str], out: str, days: float = DAYS) -> None:
    """Writes what a machine needs for its nodes to join; whoever has the file is a node of these hosts."""
    key = _read(os.path.join(folder, "authority.key"), secret=True)
    certificate, own = mesh_issue(key, list(hosts), days * 86_400.0)
    invitation = {
        "hosts": list(hosts),
        "authority": _read(os.path.join(folder, "authority.pem")),
        "certificate": certificate,
        "key": own,
        "cookie": _read(os.path.join(folder, "cookie"), secret=True).strip(),
    }
    _write(out, json.dumps(invitation))


def join(invitation: str, folder: str) -> list[str]:
    """Unpacks an invitation into a folder; returns the hosts that it is for."""
    facts = _facts(_read(invitation, secret=True))
    os.makedirs(folder, mode=0o700, exist_ok=True)
    at = os.path.abspath(folder)
    _write(os.path.join(at, "authority.pem"), facts["authority"], 0o644)
    _write(os.path.join(at, "node.pem"), facts["certificate"], 0o644)
    _write(os.path.join(at, "node.key"), facts["key"])
    _write(os.path.join(at, "cookie"), facts["cookie"] + "\n")
    _write(os.path.join(at, "erlang.conf"), _erlang(at), 0o644)
    return facts["hosts"]  # type: ignore[no-any-return]


def _facts(text: str) -> dict[str, Any]:
    facts = json.loads(text)
    texts = ("authority", "certificate", "key", "cookie")
    hosts = facts.get("hosts") if isinstance(facts, dict) else None
    if not isinstance(hosts, list) or not hosts or not all(isinstance(host, str) for host in hosts):
        raise ValueError("not an invitation")
    if not all(isinstance(facts.get(name), str) for name in texts):
        raise ValueError("not a whole invitation")
    return facts  # type: ignore[no-any-return]


def _erlang(folder: str) -> str:
    """The options of OTP's `ssl_dist_optfile`: both sides show certificates, and both check them."""

    def quoted(name: str) -> str:
        text = os.path.join(folder, name).replace("\\", "\\\\").replace('"', '\\"')
        return f'"{text}"'

    side = (
        f'{{certfile, {quoted("node.pem")}}}, {{keyfile, {quoted("node.key")}}}, '
        f'{{cacertfile, {quoted("authority.pem")}}}, {{verify, verify_peer}}'
    )
    return f"[{{server, [{side}, {{fail_if_no_peer_cert, true}}]}},\n {{client, [{side}]}}].\n"


def main(arguments: Sequence[str]) -> int:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m iris mesh", description="Certificates for nodes on several machines.")
    commands = parser.add_subparsers(dest="command", required=True)
    begin = commands.add_parser("init", help="make a cluster's authority and cookie in a folder that stays where it is safe")
    begin.add_argument("folder")
    more = commands.add_parser("invite", help="write the file with which a machine's nodes join")
    more.add_argument("folder", help="the authority's")
    more.add_argument("hosts", nargs="+", help="what stands after the @ in the names of its nodes")
    more.add_argument("--out", required=True, help="the file; carry it over a safe channel and delete it")
    more.add_argument("--days", type=float, default=DAYS, help="how long the certificate holds (default: %(default)s)")
    enter = commands.add_parser("join", help="unpack such a file into a folder, for iris.Node(..., tls=FOLDER)")
    enter.add_argument("invitation")
    enter.add_argument("folder")
    options = parser.parse_args(arguments)
    try:
        if options.command == "init":
            init(options.folder)
            print(f"{options.folder}: authority.key is as good as every node; keep it off machines that only run nodes")
        elif options.command == "invite":
            invite(options.folder, options.hosts, options.out, options.days)
            print(f"{options.out}: for {', '.join(options.hosts)}; whoever has it is one of their nodes")
        else:
            hosts = join(options.invitation, options.folder)
            host = hosts[0]
            print(f"iris.Node(system, 'NAME@{host}', tls={options.folder!r}, listen='0.0.0.0')")
            print(f"erl -name NAME@{host} -setcookie $(cat {options.folder}/cookie) -proto_dist inet_tls \\")
            print(f"    -ssl_dist_optfile {os.path.join(os.path.abspath(options.folder), 'erlang.conf')}")
    except (OSError, ValueError, NodeError) as error:
        print(f"python -m iris mesh {options.command}: {error}", file=sys.stderr)
        return 1
    return 0
