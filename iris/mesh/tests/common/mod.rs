//! A runtime with a node, a port mapper and nodes of OTP beside it.

// Each test file uses a part.
#![allow(dead_code)]

use std::net::{SocketAddr, TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use iris_mesh::{Destination, Node, Options, Received, Term, Tls};
use iris_runtime::{ActorRef, Context, ExitReason, Flow, Runtime};

pub const PATIENCE: Duration = Duration::from_secs(30);

/// A child that does not outlive its test.
pub struct Running(pub Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

pub struct Cluster {
    _epmd: Running,
    pub epmd: SocketAddr,
    pub runtime: Runtime,
    pub node: Node,
    arguments: Vec<String>,
}

impl Cluster {
    /// A node `iris@127.0.0.1`, or `None` without OTP.
    pub fn new() -> Option<Self> {
        Self::with(None, &[])
    }

    /// The same, with certificates and more arguments for OTP's nodes.
    pub fn with(tls: Option<Tls>, arguments: &[&str]) -> Option<Self> {
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
        let options = Options { epmd: Some(epmd), tls, ..Options::new("iris@127.0.0.1", "secret") };
        let node = Node::start(runtime.handle(), options).unwrap();
        let arguments = arguments.iter().map(ToString::to_string).collect();
        Some(Self { _epmd: running, epmd, runtime, node, arguments })
    }

    pub fn erl(&self, name: &str, cookie: &str, program: &str) -> Command {
        let mut command = Command::new("erl");
        command.env("ERL_CRASH_DUMP_BYTES", "0");
        command.env("ERL_EPMD_PORT", self.epmd.port().to_string()).env("HOME", std::env::temp_dir());
        command.args(&self.arguments);
        command.args(["-noshell", "-noinput", "-name", name, "-setcookie", cookie, "-eval", program]);
        command
    }

    /// Runs a program on a node of its own; what it prints.
    pub fn run(&self, program: &str) -> String {
        let program = format!("{program}, halt().");
        let output = self.erl("e@127.0.0.1", "secret", &program).output().unwrap();
        format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
    }

    /// A node that echoes, answers and ends as it is told.
    pub fn peer(&self) -> Running {
        let program = "Loop = fun Loop() -> receive \
            {'$gen_call', {From, Tag}, {crash, Why}} -> _ = {From, Tag}, exit(Why); \
            {'$gen_call', {From, Tag}, {monitors, Name}} -> {_, By} = process_info(whereis(Name), monitored_by), \
                From ! {Tag, length(By)}, Loop(); \
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
    pub fn counter(&self, name: &str) -> (ActorRef<Received>, std::sync::mpsc::Receiver<String>) {
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

pub fn echo() -> Destination {
    Destination::name("echo", "peer@127.0.0.1")
}

pub fn wait_for(what: &str, mut condition: impl FnMut() -> bool) {
    let until = Instant::now() + PATIENCE;
    while !condition() {
        assert!(Instant::now() < until, "gave up waiting for {what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}
