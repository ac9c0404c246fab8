"""What nodes say to one another beyond the protocol: text, registered classes, pickled objects; groups; certificates and the command that makes
them. Those with Erlang are skipped, and say so, where `erl` and `epmd` are missing."""

import collections
import dataclasses
import decimal
import os
import pathlib
import random
import shutil
import socket
import subprocess
import sys
import time
from typing import Any

import pytest

import iris
from iris import Atom, codec, mesh

from conftest import wait_until

COOKIE = "a secret"
PATIENCE = 20.0


@dataclasses.dataclass
class Order:
    number: int
    lines: list[Any]
    note: str = ""


@dataclasses.dataclass(frozen=True)
class Inner:
    text: str
    raw: bytes


Point = collections.namedtuple("Point", "x y")


class Plain:
    def __init__(self, value):
        self.value = value

    def __eq__(self, other):
        return type(other) is Plain and other.value == self.value


@pytest.fixture
def registered():
    before = (dict(codec.packers), dict(codec.unpackers))
    yield
    for table, old in zip((codec.packers, codec.unpackers), before):
        table.clear()
        table.update(old)


class Pair:
    """Two systems with a node each, which know one another."""

    def __init__(self, **options):
        self.systems = [iris.System(), iris.System()]
        left, right = options.pop("left", {}), options.pop("right", {})
        self.near = iris.Node(self.systems[0], "near@127.0.0.1", COOKIE, epmd=None, **options, **left)
        self.far = iris.Node(self.systems[1], "far@127.0.0.1", COOKIE, epmd=None, **options, **right)
        self.near.add_peer(self.far.name, self.far.address[1])
        self.kept = []

        def keep(message):
            self.kept.append(message)
            return message

        self.far.register("echo", self.systems[1].spawn(keep))
        self.echo = self.near.ref("echo", self.far.name)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.near.close()
        self.far.close()
        for system in self.systems:
            system.stop()

    def there_and_back(self, value):
        return self.echo.ask_sync(value, timeout=PATIENCE)


def test_text_stays_text_and_bytes_stay_bytes():
    draw = random.Random(7)

    def value(depth):
        kind = draw.randrange(6 if depth else 4)
        if kind == 0:
            return "".join(chr(draw.choice([65, 0, 0xE9, 0x65E5, 0x1F600])) for _ in range(draw.randrange(300)))
        if kind == 1:
            return draw.randbytes(draw.randrange(300))
        if kind == 2:
            return Atom(draw.choice(["a", "é", "nothing"]))
        if kind == 3:
            return draw.randrange(-(2**70), 2**70)
        if kind == 4:
            return draw.choice([list, tuple])(value(depth - 1) for _ in range(draw.randrange(4)))
        return {f"key {at}": value(depth - 1) for at in range(draw.randrange(4))}

    def shape(made):
        """Equality does not tell an atom from a text."""
        if isinstance(made, (list, tuple)):
            return type(made), [shape(item) for item in made]
        return (type(made), [(shape(key), shape(item)) for key, item in made.items()]) if isinstance(made, dict) else (type(made), made)

    with Pair() as pair:
        for _ in range(300):
            sent = value(3)
            assert shape(pair.there_and_back(sent)) == shape(sent)
        # In a cast, a plain send and a reason too.
        assert pair.echo.cast("cast") and pair.echo.send(("sent", b"sent"))
        wait_until(lambda: pair.kept[-2:] == ["cast", ("sent", b"sent")])


def test_registered_classes_arrive_as_themselves(registered):
    iris.register_type(Order)
    iris.register_type(Inner, name="inside")
    iris.register_type(Point)
    iris.register_type(decimal.Decimal, pack=lambda made: {"digits": str(made)}, unpack=lambda fields: decimal.Decimal(fields["digits"]))
    with Pair() as pair:
        for value in [
            Order(1, []), Order(2, [Inner("é", b"\xff"), Point(1, (2.5, None))], "note"), Point([1], {"a": Inner("", b"")}),
            decimal.Decimal("1.10"), [Order(3, [Order(4, [])])], {"__type__": "Order", "number": 1}, {Atom("__type__"): Atom("unknown")},
        ]:
            back = pair.there_and_back(value)
            assert back == value and type(back) is type(value)
        # What does not fit is the dictionary that it travelled as; nothing is made of it.
        for fields in [{"number": 1}, {"number": 1, "lines": [], "other": 2}, {}]:
            came = pair.there_and_back({Atom("__type__"): Atom("Order"), **{Atom(key): value for key, value in fields.items()}})
            assert type(came) is dict and came["__type__"] == "Order"
        came = pair.there_and_back({Atom("__type__"): Atom("Order"), "number": 1, Atom("lines"): []})
        assert type(came) is dict


def test_registration_is_checked(registered):
    class Other:
        pass

    with pytest.raises(TypeError):
        iris.register_type(Other)
    with pytest.raises(TypeError):
        iris.register_type(Other, pack=lambda made: {})
    iris.register_type(Order)
    iris.register_type(Order)
    with pytest.raises(ValueError):
        iris.register_type(Inner, name="Order")

    @iris.register_type(name="Elixir.Shop.Order")
    @dataclasses.dataclass
    class Struct:
        price: int

    assert codec.packed(Struct(3)) == {Atom("__struct__"): Atom("Elixir.Shop.Order"), Atom("price"): 3}
    with Pair() as pair:
        assert pair.there_and_back(Struct(3)) == Struct(3)
        with pytest.raises(TypeError, match="register"):
            pair.there_and_back(Plain(1))


def test_objects_are_pickled_only_where_both_sides_say_so(monkeypatch):
    with Pair(pickle=True) as pair:
        value = [Plain(1), {"a": Plain({"b": Plain(b"c")})}]
        assert pair.there_and_back(value) == value
        with pytest.raises(Exception, match="pickle"):
            pair.there_and_back(lambda: None)
    for sides in [{"left": {"pickle": True}}, {"right": {"pickle": True}}]:
        with Pair(**sides) as pair:
            with pytest.raises((TypeError, ValueError)):
                pair.there_and_back(Plain(1))
            # The node goes on.
            assert pair.there_and_back(1) == 1 and pair.kept == [1]


def test_groups_of_two_nodes():
    with Pair() as pair:
        near, far = pair.near, pair.far
        mine = [pair.systems[0].spawn(lambda message: message) for _ in range(3)]
        theirs = [pair.systems[1].spawn(lambda message: message) for _ in range(3)]
        for actor in mine:
            near.join("workers", actor)
        near.connect(far.name)
        wait_until(lambda: len(far.members("workers")) == 3)
        for actor in theirs:
            far.join("workers", actor)
            far.join(("other", 1), actor)
        wait_until(lambda: len(near.members("workers")) == 6 and len(near.members(("other", 1))) == 3)
        members = near.members("workers")
        assert [member.local for member in members if member.local is not None].sort(key=hash) == mine.sort(key=hash)
        assert sorted(member.ask_sync(7, timeout=PATIENCE) for member in members) == [7] * 6
        assert sorted(map(str, near.groups())) == ["('other', 1)", "workers"] or len(near.groups()) == 2
        # Ends and leaving are told.
        theirs[0].exit("kill")
        assert far.leave("workers", theirs[1]) and not far.leave("workers", theirs[1])
        wait_until(lambda: len(near.members("workers")) == 4 and len(near.members(("other", 1))) == 2)
        near.disconnect(far.name)
        wait_until(lambda: len(near.members("workers")) == 3 and not near.members(("other", 1)))
        near.connect(far.name)
        wait_until(lambda: len(near.members("workers")) == 4 and len(far.members("workers")) == 4)


def answers(pair):
    try:
        return pair.there_and_back(1) == 1
    except (iris.NodeError, iris.CallFailed):
        return False


def test_groups_agree_after_any_joins_leaves_ends_and_losses():
    """Random steps on both sides; in the end both see what was done."""
    draw = random.Random(11)
    with Pair() as pair:
        sides = list(zip((pair.near, pair.far), pair.systems))
        model: dict[str, list[Any]] = {name: [] for name in "abc"}
        actors: list[Any] = []
        for _ in range(400):
            kind, (node, system) = draw.randrange(10), draw.choice(sides)
            name = draw.choice("abc")
            if kind < 3 or not actors:
                actors.append((node, system.spawn(lambda message: message)))
            elif kind < 7:
                owner, actor = draw.choice(actors)
                owner.join(name, actor)
                model[name].append(actor)
            elif kind < 8:
                owner, actor = draw.choice(actors)
                assert owner.leave(name, actor) == (actor in model[name])
                if actor in model[name]:
                    model[name].remove(actor)
            elif kind < 9:
                owner, actor = actors.pop(draw.randrange(len(actors)))
                actor.exit("kill")
                assert actor.join(PATIENCE) is not None
                model = {group: [other for other in members if other != actor] for group, members in model.items()}
            elif draw.randrange(4) == 0:
                pair.near.disconnect(pair.far.name)
            else:
                node.members(name)
        # The connection that was given up last may still be on its way out.
        wait_until(lambda: answers(pair))
        for name, members in model.items():
            for node, _ in sides:
                wait_until(lambda: len(node.members(name)) == len(members))


# ---- certificates ----


def command(*arguments, **options):
    return subprocess.run([sys.executable, "-m", "iris", "mesh", *map(str, arguments)], capture_output=True, text=True, **options)


@pytest.fixture
def cluster(tmp_path):
    """A function that gives a folder for nodes of these hosts."""
    assert command("init", tmp_path / "authority").returncode == 0

    def made(*hosts, days=30):
        folder = tmp_path / f"of {hosts[0]} {days}"
        invitation = tmp_path / f"{folder.name}.invitation"
        done = command("invite", tmp_path / "authority", *hosts, "--out", invitation, f"--days={days}")
        assert done.returncode == 0, done.stderr
        joined = command("join", invitation, folder)
        assert joined.returncode == 0 and "inet_tls" in joined.stdout, joined.stderr
        return folder

    return made


def test_nodes_with_certificates_made_by_the_command(cluster, tmp_path):
    here = cluster("localhost", "127.0.0.1")
    for name in ("node.key", "cookie"):
        assert (here / name).stat().st_mode & 0o777 == 0o600
    systems = [iris.System(), iris.System()]
    with iris.Node(systems[0], "a@localhost", tls=here, listen="0.0.0.0", epmd=None) as one:
        with iris.Node(systems[1], "b@127.0.0.1", tls=here, epmd=None) as two:
            two.add_peer("a@localhost", f"localhost:{one.address[1]}")
            one.register("echo", systems[0].spawn(lambda message: message))
            echo = two.ref("echo", "a@localhost")
            for size in (0, 1, 70_000, 3 << 20):
                assert echo.ask_sync(b"x" * size, timeout=PATIENCE) == b"x" * size
            assert echo.ask_sync("text", timeout=PATIENCE) == "text"
    # A certificate of another host, one that has run out, and none.
    with iris.Node(systems[0], "a@localhost", tls=here, epmd=None) as one:
        past = cluster("localhost", days=0)
        # Certificates count in seconds.
        time.sleep(2.0)
        for number, options in enumerate([{"tls": cluster("elsewhere")}, {"tls": past}, {"cookie": "x"}]):
            with iris.Node(systems[1], f"c{number}@localhost", epmd=None, **options) as other:
                other.add_peer("a@localhost", one.address[1])
                with pytest.raises(iris.NodeError):
                    other.connect("a@localhost")
        assert one.nodes() == []
    for system in systems:
        system.stop()


def test_the_command_overwrites_nothing_and_believes_no_open_key(cluster, tmp_path, system):
    here = cluster("localhost")
    before = (tmp_path / "authority" / "authority.key").read_text()
    again = command("init", tmp_path / "authority")
    assert again.returncode == 1 and "exists" in again.stderr
    assert (tmp_path / "authority" / "authority.key").read_text() == before
    assert command("join", tmp_path / "of localhost 30.invitation", here).returncode == 1
    for text in ("", "{}", '{"hosts": []}', "[1]", "\xff"):
        odd = tmp_path / f"odd{len(text)}{hash(text)}"
        odd.write_text(text)
        odd.chmod(0o600)
        refused = command("join", odd, tmp_path / "odd folder")
        assert refused.returncode == 1 and "Traceback" not in refused.stderr, refused.stderr
    assert command("invite", tmp_path / "authority", "bad host\n", "--out", tmp_path / "x").returncode == 1
    assert command("invite", tmp_path / "authority", "h", "--out", tmp_path / "y", "--days=1e300").returncode == 1
    (here / "node.key").chmod(0o644)
    with pytest.raises(PermissionError, match="others"):
        iris.Node(system, "a@localhost", tls=here, epmd=None)
    with pytest.raises(iris.NodeError, match="TLS"):
        iris.Node(system, "a@localhost", "cookie", listen="0.0.0.0", epmd=None)


# ---- Erlang ----


@pytest.fixture
def epmd():
    if shutil.which("erl") is None or shutil.which("epmd") is None:
        pytest.skip("Erlang is not installed (Debian: erlang-base, erlang-ssl)")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    process = subprocess.Popen(["epmd", "-port", str(port)], stderr=subprocess.DEVNULL)

    def listens():
        with socket.socket() as probe:
            return probe.connect_ex(("127.0.0.1", port)) == 0

    wait_until(listens)
    yield port
    process.kill()
    process.wait()


def erl(epmd, program, *arguments, name="e@127.0.0.1", cookie=COOKIE):
    environment = {**os.environ, "ERL_EPMD_PORT": str(epmd), "ERL_CRASH_DUMP_BYTES": "0"}
    start = ["erl", "-noshell", "-noinput", "-name", name, "-setcookie", cookie, *arguments, "-eval", f"{program}, halt()."]
    done = subprocess.run(start, env=environment, capture_output=True, timeout=120, cwd="/")
    return (done.stdout + done.stderr).decode(errors="replace")


def test_text_classes_and_objects_for_erlang(epmd, system, registered):
    iris.register_type(Order)
    kept = []

    def keep(message):
        kept.append(message)
        return {"text": Order(1, ["é", b"\xfe"]), "asked": Plain(1)}.get(message[0], message) if isinstance(message, tuple) else message

    with iris.Node(system, "py@127.0.0.1", COOKIE, epmd=f"127.0.0.1:{epmd}", pickle=True) as node:
        node.register("echo", system.spawn(keep))
        printed = erl(
            epmd,
            "E = {echo, 'py@127.0.0.1'}, R = gen_server:call(E, {<<\"text\">>}), true = (R =:= gen_server:call(E, R)), "
            "M = gen_server:call(E, {text}), io:format(\"~p~n\", [M]), "
            "io:format(\"~p~n\", [catch gen_server:call(E, {asked})]), "
            # The tags of iris are none for Erlang, so what has them is no term there; a frame with them ends the connection and nothing else.
            "io:format(\"~p~n\", [gen_server:call(E, #{'__type__' => 'Order', number => 2, lines => []}) ])",
        )
    assert "'__type__' => 'Order'" in printed and "note => <<>>" in printed and "bad_reply" in printed, printed
    assert (b"text",) in kept and Order(2, []) in kept


def test_erlang_joins_with_an_invitation(epmd, cluster, system):
    if "{error" in erl(epmd, "io:format(\"~p\", [application:load(ssl)])"):
        pytest.skip("Erlang's ssl is not installed (Debian: erlang-ssl)")
    here = cluster("127.0.0.1")
    cookie = mesh.load(here).cookie
    with iris.Node(system, "py@127.0.0.1", tls=here, epmd=f"127.0.0.1:{epmd}") as node:
        node.register("echo", system.spawn(lambda message: message))
        node.join("python", system.spawn(lambda message: message))
        arguments = ["-proto_dist", "inet_tls", "-ssl_dist_optfile", str(here / "erlang.conf")]
        printed = erl(
            epmd,
            "pg:start_link(), io:format(\"~p~n\", [net_adm:ping('py@127.0.0.1')]), "
            "W = fun W() -> case pg:get_members(python) of [P] -> P; _ -> timer:sleep(10), W() end end, "
            "io:format(\"~p ~p~n\", [gen_server:call(W(), hello), gen_server:call({echo, 'py@127.0.0.1'}, 5)])",
            *arguments, cookie=cookie,
        )  # fmt: skip
        assert "pong\nhello 5" in printed, printed
        plain = erl(epmd, "io:format(\"~p~n\", [net_adm:ping('py@127.0.0.1')])", name="plain@127.0.0.1", cookie=cookie)
        assert "pang" in plain, plain
