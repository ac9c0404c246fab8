//! Against Erlang/OTP as the judge: ping, calls both ways, monitors, links, large messages, another cookie. Skipped, and said so, where
//! `erl` and `epmd` are not installed (Debian: `erlang-base`). Each test has a port mapper of its own.

mod common;

use std::time::Duration;

use common::{Cluster, PATIENCE, echo, wait_for};
use iris_mesh::{CallError, Destination, Node, Options, Term};

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
    // For Erlang text is bytes.
    let hello = Term::Binary(b"hello".to_vec());
    assert_eq!(node.call(&echo(), Term::text("hello"), PATIENCE).unwrap(), hello);
    let large = Term::Binary(vec![7; 16 << 20]);
    assert_eq!(node.call(&echo(), large.clone(), PATIENCE).unwrap(), large);
    // An answered call leaves no monitor there, though nobody waits for its end.
    for turn in 0..50 {
        assert_eq!(node.call(&echo(), Term::Int(turn), PATIENCE).unwrap(), Term::Int(turn));
    }
    let other = Destination::name("other", "peer@127.0.0.1");
    let monitors = Term::tuple([Term::atom("monitors"), Term::atom("echo")]);
    wait_for("the end of the monitors", || {
        node.call(&other, monitors.clone(), PATIENCE).unwrap() == Term::Int(0)
    });
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

#[test]
fn groups_are_those_of_pg() {
    let Some(cluster) = Cluster::new() else { return };
    let (node, group) = (&cluster.node, Term::atom("workers"));
    let (first, _) = cluster.counter("first");
    let (second, _) = cluster.counter("second");
    node.join(&group, first.pid()).unwrap();
    // Twice in, as OTP counts.
    node.join(&group, second.pid()).unwrap();
    node.join(&group, second.pid()).unwrap();
    assert!(!node.leave(&Term::atom("others"), first.pid()).unwrap());
    let printed = cluster.run(
        "{ok, _} = pg:start_link(), pong = net_adm:ping('iris@127.0.0.1'), I = 'iris@127.0.0.1', \
         Wait = fun W(F) -> case F() of true -> ok; false -> timer:sleep(10), W(F) end end, \
         Count = fun(N) -> Wait(fun() -> length(pg:get_members(workers)) =:= N end) end, \
         Count(3), io:format(\"~p~n\", [pg:get_local_members(workers)]), \
         [0, 0, 0] = [gen_server:call(P, read) || P <- pg:get_members(workers)], \
         ok = pg:join(workers, self()), ok = pg:join({other, <<\"group\">>}, [self(), self()]), \
         gen_server:call({first, I}, joined), \
         Wait(fun() -> gen_server:call({first, I}, read) =:= 0 end), \
         catch gen_server:call({second, I}, crash), Count(2), io:format(\"one left~n\"), \
         pg:leave({other, <<\"group\">>}, self()), \
         receive stop -> ok after 2000 -> ok end, io:format(\"~p~n\", [lists:sort(pg:which_groups())])",
    );
    assert_eq!(
        printed.lines().collect::<Vec<_>>(),
        ["[]", "one left", "[workers,{other,<<\"group\">>}]"],
        "{printed}"
    );
    // That node has ended: its members went with it.
    wait_for("the peer's end", || node.members(&group).unwrap().len() == 1);
    assert_eq!(node.which_groups(), std::slice::from_ref(&group));
    assert!(node.leave(&group, first.pid()).unwrap() && node.which_groups().is_empty());
}

#[test]
fn groups_of_erlang_are_seen_here() {
    let Some(cluster) = Cluster::new() else { return };
    let node = &cluster.node;
    let _peer = cluster.peer();
    let (actor, _) = cluster.counter("here");
    // The scope begins after the connection, and discovers nobody: a hidden node is not in its list.
    let go = "{ok, Pid} = pg:start_link(), unlink(Pid), Pids = [spawn(fun() -> receive N -> exit(N) end end) || _ <- lists:seq(1, 50)], \
              pg:join({g, 1}, Pids), register(killer, spawn(fun K() -> receive {kill, N} -> [exit(P, kill) || P <- lists:sublist(Pids, N)], K() end end)), \
              net_adm:ping('iris@127.0.0.1')";
    let second = cluster.erl("second@127.0.0.1", "secret", &format!("{go}.")).spawn().unwrap();
    let _second = common::Running(second);
    let group = Term::tuple([Term::atom("g"), Term::Int(1)]);
    wait_for("the group", || node.members(&group).unwrap().len() == 50);
    node.join(&group, actor.pid()).unwrap();
    let to = Destination::name("killer", "second@127.0.0.1");
    node.send(&to, &Term::tuple([Term::atom("kill"), Term::Int(20)])).unwrap();
    wait_for("their ends", || node.members(&group).unwrap().len() == 31);
    // A scope that ends takes its members along, and the node stays.
    let pg = node.call(&Destination::name("pg", "second@127.0.0.1"), Term::atom("nonsense"), PATIENCE);
    assert!(matches!(pg, Err(CallError::Down(_))), "{pg:?}");
    wait_for("the scope's end", || node.members(&group).unwrap().len() == 1);
    assert_eq!(node.nodes().len(), 2);
}

#[test]
fn global_names_are_looked_up() {
    let Some(cluster) = Cluster::new() else { return };
    let (node, _peer) = (&cluster.node, cluster.peer());
    let start = "yes = global:register_name({some, <<\"name\">>}, spawn(fun F() -> receive {'$gen_call', {P, T}, X} -> P ! {T, {got, X}}, F() end end)), \
                 net_adm:ping('iris@127.0.0.1').";
    let child = cluster.erl("g@127.0.0.1", "secret", start).spawn().unwrap();
    let _running = common::Running(child);
    let name = Term::tuple([Term::atom("some"), Term::Binary(b"name".to_vec())]);
    let known = || node.global(&name, "g@127.0.0.1", PATIENCE).ok().flatten();
    wait_for("the name", || known().is_some());
    let answer = node.call(&Destination::Pid(known().unwrap()), Term::Int(5), PATIENCE).unwrap();
    assert_eq!(answer, Term::tuple([Term::atom("got"), Term::Int(5)]));
    assert!(node.global(&Term::atom("nobody"), "g@127.0.0.1", PATIENCE).unwrap().is_none());
    assert!(matches!(node.global(&name, "none@127.0.0.1", PATIENCE), Err(CallError::Down(_))));
}
