//! Nodes that show certificates: to one another, and to Erlang/OTP (skipped, and said so, where it is missing). Who has none, or one of
//! another authority, of another host or of another time, gets nowhere; and nobody who waits holds up the others.

mod common;

use std::fs;
use std::io::Write;
use std::net::{SocketAddr, TcpStream};
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use common::{Cluster, PATIENCE, echo, wait_for};
use iris_mesh::authority::{Credentials, Validity, authority, issue};
use iris_mesh::{Destination, Node, Options, Received, Term, Tls};
use iris_runtime::{Context, Flow, Runtime};

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

fn valid() -> Validity {
    Validity { from: SystemTime::now(), lasts: DAY }
}

fn tls(authority: &Credentials, host: &str, validity: Validity) -> Tls {
    let own = issue(&authority.key, &[host.to_owned()], validity).unwrap();
    Tls::new(&authority.certificate, &own.certificate, &own.key).unwrap()
}

/// A node without a port mapper.
fn start(runtime: &Runtime, name: &str, tls: Option<Tls>) -> Node {
    let options = Options { epmd: None, tls, ..Options::new(name, "secret") };
    Node::start(runtime.handle(), options).unwrap()
}

fn echoing(runtime: &Runtime, node: &Node) {
    let actor = runtime
        .spawn_fn(|_: &mut Context<'_, Received>, received: Received| {
            if let Received::Call(request, caller) = received {
                let _ = caller.reply(request);
            }
            Flow::Continue
        })
        .unwrap();
    assert!(node.register("echo", &actor).unwrap());
}

#[test]
fn nodes_of_one_authority_talk_and_nobody_else_does() {
    let (runtime, own, other) =
        (Runtime::new(), authority(SystemTime::now()).unwrap(), authority(SystemTime::now()).unwrap());
    let server = start(&runtime, "server@127.0.0.1", Some(tls(&own, "127.0.0.1", valid())));
    echoing(&runtime, &server);
    let call = |name: &str, tls: Option<Tls>, message: &Term| {
        let node = start(&runtime, name, tls);
        node.add_peer("server@127.0.0.1", server.address()).unwrap();
        let connected = node.connect("server@127.0.0.1");
        let to = Destination::name("echo", "server@127.0.0.1");
        let answer = connected
            .map_err(|error| error.to_string())
            .and_then(|()| node.call(&to, message.clone(), PATIENCE).map_err(|error| error.to_string()));
        node.close();
        answer
    };
    // Sizes around what TLS and the buffers take at once.
    for size in [0, 1, 16_383, 16_384, 16_385, 65_535, 65_536, 1 << 20, 16 << 20] {
        let message = Term::Binary(vec![7; size]);
        let name = format!("client{size}@127.0.0.1");
        assert_eq!(call(&name, Some(tls(&own, "127.0.0.1", valid())), &message).unwrap(), message, "{size}");
    }
    let past = Validity { from: SystemTime::now() - 10 * DAY, lasts: DAY };
    let future = Validity { from: SystemTime::now() + 10 * DAY, lasts: DAY };
    for (what, name, shown) in [
        ("no certificate", "a@127.0.0.1", None),
        ("another authority", "b@127.0.0.1", Some(tls(&other, "127.0.0.1", valid()))),
        ("expired", "c@127.0.0.1", Some(tls(&own, "127.0.0.1", past))),
        ("not yet valid", "d@127.0.0.1", Some(tls(&own, "127.0.0.1", future))),
        ("another host's", "e@127.0.0.1", Some(tls(&own, "10.0.0.9", valid()))),
    ] {
        let refused = call(name, shown, &Term::Int(1));
        assert!(refused.is_err(), "{what}: {refused:?}");
    }
    // Whoever connects sees through a server of another host, of another authority, and without TLS.
    for (what, name, shown) in [
        ("another host's", "f@127.0.0.1", Some(tls(&own, "10.0.0.9", valid()))),
        ("another authority", "g@127.0.0.1", Some(tls(&other, "127.0.0.1", valid()))),
        ("none", "h@127.0.0.1", None),
    ] {
        let wrong = start(&runtime, name, shown);
        let client = start(&runtime, "client@127.0.0.1", Some(tls(&own, "127.0.0.1", valid())));
        client.add_peer(name, wrong.address()).unwrap();
        assert!(client.connect(name).is_err(), "{what}");
        client.close();
        wrong.close();
    }
    wait_for("the ends", || server.nodes().is_empty());
    server.close();
}

#[test]
fn who_does_not_finish_the_handshake_holds_up_nobody() {
    let (runtime, own) = (Runtime::new(), authority(SystemTime::now()).unwrap());
    let server = start(&runtime, "server@127.0.0.1", Some(tls(&own, "127.0.0.1", valid())));
    echoing(&runtime, &server);
    let mut random = 0x9e37_79b9_7f4a_7c15_u64;
    let mut held = Vec::new();
    // Fewer than are let in at once: silent ones, and ones that say anything.
    for number in 0..40 {
        let mut stream = TcpStream::connect(server.address()).unwrap();
        if number % 2 == 1 {
            let bytes: Vec<u8> = (0..number * 50)
                .map(|_| {
                    random ^= random << 13;
                    random ^= random >> 7;
                    random ^= random << 17;
                    random as u8
                })
                .collect();
            let _ = stream.write_all(&bytes);
        }
        held.push(stream);
    }
    let client = start(&runtime, "client@127.0.0.1", Some(tls(&own, "127.0.0.1", valid())));
    client.add_peer("server@127.0.0.1", server.address()).unwrap();
    let to = Destination::name("echo", "server@127.0.0.1");
    assert_eq!(client.call(&to, Term::Int(1), PATIENCE).unwrap(), Term::Int(1));
    drop(held);
    client.close();
    server.close();
}

#[test]
fn beyond_loopback_with_certificates_only() {
    let (runtime, own) = (Runtime::new(), authority(SystemTime::now()).unwrap());
    let anywhere: SocketAddr = "0.0.0.0:0".parse().unwrap();
    let options = Options { epmd: None, listen: anywhere, ..Options::new("far@localhost", "secret") };
    assert!(Node::start(runtime.handle(), options.clone()).is_err());
    let node =
        Node::start(runtime.handle(), Options { tls: Some(tls(&own, "localhost", valid())), ..options })
            .unwrap();
    echoing(&runtime, &node);
    let client = start(&runtime, "near@localhost", Some(tls(&own, "localhost", valid())));
    client.add_peer("far@localhost", ([127, 0, 0, 1], node.address().port()).into()).unwrap();
    let to = Destination::name("echo", "far@localhost");
    assert_eq!(client.call(&to, Term::Int(1), PATIENCE).unwrap(), Term::Int(1));
    client.close();
    node.close();
    assert!(node.wait_closed(PATIENCE));
}

/// A folder of files for OTP, gone at the end.
struct Folder(PathBuf);

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn folder(name: &str, authority: &Credentials, of: &Credentials) -> Folder {
    let folder = std::env::temp_dir().join(format!("iris-tls-{}-{name}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    let write = |file: &str, text: &str| fs::write(folder.join(file), text).unwrap();
    write("authority.pem", &authority.certificate);
    write("node.pem", &of.certificate);
    write("node.key", &of.key);
    let at = folder.display();
    let side = format!(
        "[{{certfile, \"{at}/node.pem\"}}, {{keyfile, \"{at}/node.key\"}}, {{cacertfile, \"{at}/authority.pem\"}}, \
         {{verify, verify_peer}}"
    );
    write(
        "dist.conf",
        &format!("[{{server, {side}, {{fail_if_no_peer_cert, true}}]}}, {{client, {side}]}}]."),
    );
    Folder(folder)
}

#[test]
fn erlang_over_tls() {
    let own = authority(SystemTime::now()).unwrap();
    let theirs = issue(&own.key, &["127.0.0.1".into()], valid()).unwrap();
    let files = folder("same", &own, &theirs);
    let optfile = files.0.join("dist.conf").display().to_string();
    let arguments = ["-proto_dist", "inet_tls", "-ssl_dist_optfile", &optfile];
    let Some(cluster) = Cluster::with(Some(tls(&own, "127.0.0.1", valid())), &arguments) else { return };
    if cluster.run("io:format(\"~p\", [catch ssl:module_info(module)])") != "ssl" {
        eprintln!("skipped: Erlang's ssl is not installed (Debian: erlang-ssl)");
        return;
    }
    let (_actor, _told) = cluster.counter("counter");
    let printed = cluster.run(
        "io:format(\"~p ~p~n\", [net_adm:ping('iris@127.0.0.1'), nodes(hidden)]), C = {counter, 'iris@127.0.0.1'}, \
         [gen_server:cast(C, N) || N <- lists:seq(1, 1000)], io:format(\"~p~n\", [gen_server:call(C, read)]), \
         B = binary:copy(<<7>>, 16000000), io:format(\"~p~n\", [gen_server:call(C, B, 60000) =:= B])",
    );
    assert_eq!(
        printed.lines().collect::<Vec<_>>(),
        ["pong ['iris@127.0.0.1']", "500500", "true"],
        "{printed}"
    );
    // The other way.
    let _peer = cluster.peer();
    let large = Term::Binary(vec![7; 16 << 20]);
    assert_eq!(cluster.node.call(&echo(), large.clone(), PATIENCE).unwrap(), large);
}

#[test]
fn erlang_of_another_authority_is_refused() {
    let (own, other) = (authority(SystemTime::now()).unwrap(), authority(SystemTime::now()).unwrap());
    let theirs = issue(&other.key, &["127.0.0.1".into()], valid()).unwrap();
    let files = folder("other", &other, &theirs);
    let optfile = files.0.join("dist.conf").display().to_string();
    let arguments = ["-proto_dist", "inet_tls", "-ssl_dist_optfile", &optfile];
    let Some(cluster) = Cluster::with(Some(tls(&own, "127.0.0.1", valid())), &arguments) else { return };
    let printed = cluster.run("io:format(\"~p~n\", [net_adm:ping('iris@127.0.0.1')])");
    assert!(printed.contains("pang"), "{printed}");
    assert!(cluster.node.nodes().is_empty());
}
