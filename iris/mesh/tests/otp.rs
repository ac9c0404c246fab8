//! Against Erlang/OTP as the judge: ping, calls both ways, monitors, links, large messages, another cookie. Skipped, and said so, where
//! `erl` and `epmd` are not installed (Debian: `erlang-base`). Each test has a port mapper of its own.

use std::net::{SocketAddr, TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use iris_mesh::{CallError, Destination, Node, Options, Received, Term};
use iris_runtime::{ActorRef, Context, ExitReason, Flow, Runtime};

const PATIENCE: Duration = Duration::from_secs(30);

/// A child that does not outlive its test.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

struct Cluster {
    _epmd: Running,
    epmd: SocketAddr,
    runtime: Runtime,
    node: Node,
}

impl Cluster {
    /// A node `iris@127.0.0.1`, or `None` without OTP.
    fn new() -> Option<Self> {
        let there = |program: &str, flag: &str| {
            Command::new(program).arg(flag).stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok()
        };
        if !there("epmd", "-names") || !there("erl", "-version") {
            eprintln!("skipped: Erlang is not installed (Debian: erlang-base)");
            return None;
        }
        let epmd = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        let child = Command::new("epmd").args(["-port", &epmd.port().to_string()]).spawn().unwrap();
        let running = Running(child);
        wait_for("epmd", || TcpStream::connect(epmd).is_ok());
        let runtime = Runtime::new();
        let options = Options { epmd: Some(epmd), ..Options::new("iris@127.0.0.1", "secret") };
        let node = Node::start(runtime.handle(), options).unwrap();
        Some(Self { _epmd: running, epmd, runtime, node })
    }

    fn erl(&self, name: &str, cookie: &str, program: &str) -> Command {
        let mut command = Command::new("erl");
        command.env("ERL_EPMD_PORT", self.epmd.port().to_string()).env("HOME", std::env::temp_dir());
        command.args(["-noshell", "-noinput", "-name", name, "-setcookie", cookie, "-eval", program]);
        command
    }

    /// Runs a program on a node of its own; what it prints.
    fn run(&self, program: &str) -> String {
        let program = format!("{program}, halt().");
        let output = self.erl("e@127.0.0.1", "secret", &program).output().unwrap();
        format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
    }

    /// A node that echoes, answers and ends as it is told.
    fn peer(&self) -> Running {
        let program = "Loop = fun Loop() -> receive \
            {'$gen_call', {From, Tag}, {crash, Why}} -> _ = {From, Tag}, exit(Why); \
            {'$gen_call', {From, [alias|_] = Tag}, Request} -> From ! {Tag, {alias, Request}}, Loop(); \
            {'$gen_call', {From, Tag}, Request} -> From ! {Tag, Request}, Loop(); \
            {say, Pid, What} -> Pid ! What, Loop(); \
            {end_with, Why} -> exit(Why) end end, \
            register(echo, spawn(Loop)), register(other, spawn(Loop)), \
            Keep = spawn(fun() -> receive never -> ok end end), register(keep, Keep).";
        let child = self.erl("peer@127.0.0.1", "secret", program).spawn().unwrap();
        let running = Running(child);
        wait_for("the peer", || self.node.call(&echo(), Term::Int(1), PATIENCE).is_ok());
        running
    }

    /// An actor that counts, and tells the test what it gets besides.
    fn counter(&self, name: &str) -> (ActorRef<Received>, std::sync::mpsc::Receiver<String>) {
        let (tell, told) = std::sync::mpsc::channel();
        let mut count = 0;
        let actor = self
            .runtime
            .spawn_fn(move |_: &mut Context<'_, Received>, received: Received| match received {
                Received::Call(request, caller) if request.is_atom("read") => {
                    caller.reply(Term::Int(count)).unwrap();
                    Flow::Continue
                }
                Received::Call(request, _) if request.is_atom("crash") => {
                    Flow::Exit(ExitReason::error("told to"))
                }
                Received::Call(request, caller) => {
                    caller.reply(request).unwrap();
                    Flow::Continue
                }
                Received::Cast(Term::Int(by)) => {
                    count += by;
                    Flow::Continue
                }
                Received::Down { reason, .. } => {
                    let _ = tell.send(format!("down {reason:?}"));
                    Flow::Continue
                }
                Received::Exit { reason, .. } => {
                    let _ = tell.send(format!("exit {reason:?}"));
                    Flow::Continue
                }
                other => {
                    let _ = tell.send(format!("{other:?}"));
                    Flow::Continue
                }
            })
            .unwrap();
        assert!(self.node.register(name, &actor).unwrap());
        (actor, told)
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        self.node.close();
    }
}

fn echo() -> Destination {
    Destination::name("echo", "peer@127.0.0.1")
}

fn wait_for(what: &str, mut condition: impl FnMut() -> bool) {
    let until = Instant::now() + PATIENCE;
    while !condition() {
        assert!(Instant::now() < until, "gave up waiting for {what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn erlang_pings_calls_casts_and_monitors() {
    let Some(cluster) = Cluster::new() else { return };
    let (_actor, told) = cluster.counter("counter");
    let printed = cluster.run(
        "io:format(\"~p ~p~n\", [net_adm:ping('iris@127.0.0.1'), nodes(hidden)]), \
         C = {counter, 'iris@127.0.0.1'}, \
         [gen_server:cast(C, N) || N <- lists:seq(1, 1000)], \
         io:format(\"~p~n\", [gen_server:call(C, read)]), \
         V = {1 bsl 80, -7, 1.5, 'é', \"text\", <<1,2,3:3>>, #{a => [1|2]}, self(), make_ref(), fun erlang:abs/1}, \
         io:format(\"~p~n\", [gen_server:call(C, V) =:= V]), \
         F = fun(X) -> X + length(nodes(hidden)) end, \
         G = gen_server:call(C, F), io:format(\"~p~n\", [G(1)]), \
         B = binary:copy(<<7>>, 16000000), \
         io:format(\"~p~n\", [gen_server:call(C, B, 60000) =:= B]), \
         io:format(\"~p~n\", [catch gen_server:call({nobody, 'iris@127.0.0.1'}, read)]), \
         io:format(\"rpc ~p~n\", [rpc:call('iris@127.0.0.1', erlang, node, [])]), \
         R = erlang:monitor(process, C), C ! {hello, 1}, \
         catch gen_server:call(C, crash), \
         receive {'DOWN', R, process, What, Why} -> io:format(\"~p ~p~n\", [What, Why]) after 20000 -> io:format(\"no DOWN~n\") end",
    );
    let lines: Vec<_> = printed.lines().collect();
    assert_eq!(lines.first(), Some(&"pong ['iris@127.0.0.1']"), "{printed}");
    assert_eq!(lines[1], "500500", "{printed}");
    assert_eq!(lines[2..5], ["true", "2", "true"], "{printed}");
    assert!(lines[5].contains("noproc"), "{printed}");
    assert!(printed.contains("rpc {badrpc"), "{printed}");
    assert_eq!(lines.last(), Some(&"{counter,'iris@127.0.0.1'} {error,<<\"told to\">>}"), "{printed}");
    assert!(told.recv_timeout(PATIENCE).unwrap().contains("hello"));
}

#[test]
fn iris_calls_and_monitors_erlang() {
    let Some(cluster) = Cluster::new() else { return };
    let peer = cluster.peer();
    let node = &cluster.node;
    cluster.node.ping("peer@127.0.0.1").unwrap();
    assert_eq!(node.call(&echo(), Term::text("hello"), PATIENCE).unwrap(), Term::text("hello"));
    let large = Term::Binary(vec![7; 16 << 20]);
    assert_eq!(node.call(&echo(), large.clone(), PATIENCE).unwrap(), large);
    let nobody = Destination::name("nobody", "peer@127.0.0.1");
    let gone = |result| matches!(result, Err(CallError::Down(reason)) if reason == Term::atom("noproc"));
    assert!(gone(node.call(&nobody, Term::Int(1), PATIENCE)));
    let keep = Destination::name("keep", "peer@127.0.0.1");
    let late = node.call(&keep, Term::Int(1), Duration::from_millis(50));
    assert!(matches!(late, Err(CallError::Timeout)));
    // Monitors: nobody, a real reason, a node that is killed.
    let (actor, told) = cluster.counter("watcher");
    node.monitor(&actor, &nobody).unwrap();
    assert_eq!(told.recv_timeout(PATIENCE).unwrap(), "down Atom('noproc')");
    let other = Destination::name("other", "peer@127.0.0.1");
    node.monitor(&actor, &other).unwrap();
    node.send(&other, &Term::tuple([Term::atom("end_with"), Term::atom("tired")])).unwrap();
    assert_eq!(told.recv_timeout(PATIENCE).unwrap(), "down Atom('tired')");
    let kept = node.monitor(&actor, &keep).unwrap();
    let forgotten = node.monitor(&actor, &keep).unwrap();
    assert!(node.demonitor(&forgotten) && !node.demonitor(&forgotten));
    drop(peer);
    assert_eq!(told.recv_timeout(PATIENCE).unwrap(), "down Atom('noconnection')");
    assert!(!node.demonitor(&kept));
    wait_for("the connection's end", || node.nodes().is_empty());
    // A node of the same name is another one, and is reached again.
    let _again = cluster.peer();
    assert_eq!(node.call(&echo(), Term::Int(3), PATIENCE).unwrap(), Term::Int(3));
    assert!(told.try_recv().is_err());
}

#[test]
fn links_reach_both_ways() {
    let Some(cluster) = Cluster::new() else { return };
    let (actor, _told) = cluster.counter("linked");
    let me = cluster.node.give(&actor, false).unwrap();
    let text = format!(
        "Pid = binary_to_term(<<{}>>), pong = net_adm:ping('iris@127.0.0.1'), process_flag(trap_exit, true), \
         spawn(fun() -> link(Pid), exit(boom) end), M = erlang:monitor(process, Pid), \
         receive {{'DOWN', M, process, _, Why}} -> io:format(\"~p~n\", [Why]) after 20000 -> io:format(\"alive~n\") end",
        bytes(&me.into())
    );
    assert_eq!(cluster.run(&text).trim(), "boom");
    assert!(!actor.is_alive());
}

fn bytes(term: &Term) -> String {
    let mut out = Vec::new();
    iris_mesh::etf::encode(&mut out, term).unwrap();
    out.iter().map(u8::to_string).collect::<Vec<_>>().join(",")
}

#[test]
fn another_cookie_and_other_machines_are_refused() {
    let Some(cluster) = Cluster::new() else { return };
    let program = "io:format(\"~p~n\", [net_adm:ping('iris@127.0.0.1')]), halt().";
    let output = cluster.erl("x@127.0.0.1", "wrong", program).output().unwrap();
    assert!(String::from_utf8_lossy(&output.stdout).starts_with("pang"));
    assert!(cluster.node.nodes().is_empty());
    let far = Options { listen: "0.0.0.0:0".parse().unwrap(), ..Options::new("far@127.0.0.1", "secret") };
    let refused = Node::start(cluster.runtime.handle(), far).unwrap_err();
    assert!(refused.to_string().contains("TLS"), "{refused}");
    // The name is taken.
    let twice = Options { epmd: Some(cluster.epmd), ..Options::new("iris@127.0.0.1", "secret") };
    assert!(Node::start(cluster.runtime.handle(), twice).unwrap_err().to_string().contains("in use"));
}
