//! The proxy between programs and servers of the test's own, on the machine's loopback.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use pithos_sandbox::{DenialKind, Hosts};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use super::sni::message_for;
use super::{Header, Proxy};
use crate::noticed::Record;

/// A proxy with these hosts whose resolver says 127.0.0.1 to all names, but for `rebound.test`, which leads to the machine's neighbours.
struct Scene {
    address: SocketAddr,
    record: Arc<Record>,
}

impl Scene {
    async fn new(hosts: &[String], header: Option<Header>) -> Self {
        let resolve = Box::new(|host: String, port| {
            let ip = if host == "rebound.test" { [10, 0, 0, 1] } else { [127, 0, 0, 1] };
            Box::pin(async move { Ok(vec![SocketAddr::from((ip, port))]) }) as super::Resolving
        });
        let hosts = Hosts::parse(hosts).expect("hosts");
        let proxy = Arc::new(Proxy::with("test".to_string(), hosts, header.into_iter().collect(), resolve));
        let record = Arc::<Record>::default();
        proxy.know("j1", &record);
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("an address");
        tokio::spawn(proxy.accept(listener));
        Self { address, record }
    }

    /// Sends bytes and reads until the end.
    async fn say(&self, bytes: &[u8]) -> String {
        let mut stream = TcpStream::connect(self.address).await.expect("the proxy");
        let _ = stream.write_all(bytes).await;
        read(&mut stream).await
    }

    fn denied(&self) -> Vec<String> {
        let denials = self.record.denials();
        assert!(denials.iter().all(|denial| denial.kind == DenialKind::Network));
        denials
            .into_iter()
            .map(|denial| format!("{} | {} | {}", denial.subject, denial.rule, denial.how_to_allow))
            .collect()
    }
}

async fn read(stream: &mut TcpStream) -> String {
    let mut bytes = Vec::new();
    let end = tokio::time::timeout(Duration::from_secs(20), stream.read_to_end(&mut bytes)).await;
    assert!(end.is_ok(), "no end: {}", String::from_utf8_lossy(&bytes));
    String::from_utf8_lossy(&bytes).into_owned()
}

/// A server that answers each connection with what it got, once that has this many bytes or an end of a head.
async fn echo() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let port = listener.local_addr().expect("an address").port();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            tokio::spawn(async move {
                let mut got = Vec::new();
                loop {
                    match stream.read_buf(&mut got).await {
                        Ok(0) | Err(_) => break,
                        Ok(_) if got.ends_with(b"\r\n\r\n") || got.ends_with(b"END") || got[0] == 22 => break,
                        Ok(_) => {}
                    }
                }
                // Longer than anything that would pass by mistake before the end.
                tokio::time::sleep(Duration::from_millis(50)).await;
                let _ = stream.write_all(&[b"HTTP/1.1 200 OK\r\n\r\ngot:", &got[..]].concat()).await;
            });
        }
    });
    port
}

#[tokio::test]
async fn a_host_that_is_listed_is_reached_and_no_other() {
    let port = echo().await;
    let hosts = [format!("good.test:{port}"), "rebound.test".to_string(), "127.0.0.0/8".to_string()];
    let scene = Scene::new(&hosts, None).await;
    let text = scene.say(format!("GET http://good.test:{port}/x HTTP/1.1\r\nHost: other.test\r\nProxy-Authorization: Basic ajE6am9i\r\n\r\n").as_bytes()).await;
    assert!(text.contains(&format!("got:GET /x HTTP/1.1\r\nHost: good.test:{port}\r\n")), "{text}");
    assert!(!text.contains("ajE6") && !text.contains("other.test"), "{text}");
    assert!(scene.denied().is_empty());
    let text =
        scene.say(b"GET http://bad.test/ HTTP/1.1\r\nProxy-Authorization: Basic ajE6am9i\r\n\r\n").await;
    assert!(text.starts_with("HTTP/1.1 403 "), "{text}");
    assert!(
        scene.denied()[0].contains("bad.test:80 |")
            && scene.denied()[0].ends_with("add \"bad.test:80\" to hosts in the policy"),
        "{:?}",
        scene.denied()
    );
    // By connection, by another port, by address, and by a name that leads inside.
    for (target, subject) in [
        ("bad.test:443", "bad.test:443"),
        ("good.test:1", "good.test:1"),
        ("8.8.8.8:443", "8.8.8.8:443"),
        ("[::1]:80", "[::1]:80"),
        ("rebound.test:443", "rebound.test:443"),
    ] {
        let text = scene.say(format!("CONNECT {target} HTTP/1.1\r\n\r\n").as_bytes()).await;
        assert!(text.starts_with("HTTP/1.1 403 "), "{target}: {text}");
        assert!(scene.denied().iter().any(|line| line.starts_with(subject)), "{:?}", scene.denied());
    }
    assert!(
        scene
            .denied()
            .iter()
            .any(|line| line.contains("leads to 10.0.0.1") && line.contains("add \"10.0.0.1:443\"")),
        "{:?}",
        scene.denied()
    );
}

#[tokio::test]
async fn tls_must_name_the_host_of_its_connection() {
    let port = echo().await;
    let scene = Scene::new(&[format!("good.test:{port}"), "127.0.0.0/8".to_string()], None).await;
    for (name, passes) in
        [(Some("good.test"), true), (Some("GOOD.test"), true), (Some("bad.test"), false), (None, false)]
    {
        let mut stream = TcpStream::connect(scene.address).await.expect("the proxy");
        stream
            .write_all(format!("CONNECT good.test:{port} HTTP/1.1\r\n\r\n").as_bytes())
            .await
            .expect("sent");
        let mut head = [0; 39];
        stream.read_exact(&mut head).await.expect("an answer");
        assert!(head.starts_with(b"HTTP/1.1 200 "));
        stream.write_all(&message_for(name)).await.expect("sent");
        let text = read(&mut stream).await;
        assert_eq!(text.contains("got:"), passes, "{name:?}: {text}");
    }
    assert!(
        scene.denied().iter().any(|line| line.contains("TLS asks for \"bad.test\"")),
        "{:?}",
        scene.denied()
    );
}

#[tokio::test]
async fn socks_is_held_to_the_same_hosts() {
    let port = echo().await;
    let scene = Scene::new(&[format!("good.test:{port}"), "127.0.0.0/8".to_string()], None).await;
    let ask = |host: &str, port: u16, user: bool| {
        let mut bytes = if user { vec![5, 1, 2, 1, 2, b'j', b'1', 1, b'x'] } else { vec![5, 1, 0] };
        bytes.extend([5, 1, 0, 3, u8::try_from(host.len()).expect("short")]);
        bytes.extend(host.as_bytes());
        bytes.extend(port.to_be_bytes());
        bytes
    };
    let text = scene.say(&[ask("good.test", port, true), b"hello END".to_vec()].concat()).await;
    assert!(text.ends_with("got:hello END"), "{text:?}");
    for user in [true, false] {
        let text = scene.say(&ask("bad.test", 443, user)).await;
        assert!(text.as_bytes().windows(3).any(|window| window == [5, 2, 0]), "{text:?}");
    }
    assert_eq!(scene.denied().len(), 1);
    let mut address = vec![5, 1, 0, 5, 1, 0, 1, 10, 0, 0, 1];
    address.extend(443u16.to_be_bytes());
    scene.say(&address).await;
    assert!(scene.denied().iter().any(|line| line.starts_with("10.0.0.1:443")));
}

#[tokio::test]
async fn a_secret_is_put_in_for_its_host_only_and_a_body_ends_where_it_says() {
    let port = echo().await;
    let hosts = [format!("good.test:{port}"), format!("also.test:{port}"), "127.0.0.0/8".to_string()];
    let header = Header {
        host: format!("good.test:{port}"),
        name: "Authorization".to_string(),
        value: "Bearer s3cret".to_string(),
    };
    let scene = Scene::new(&hosts, Some(header)).await;
    let request = |host: &str| {
        format!(
            "POST http://{host}:{port}/ HTTP/1.1\r\nAuthorization: own\r\nContent-Length: 8\r\n\r\nbody ENDGET http://also.test/ HTTP/1.1\r\n\r\n"
        )
    };
    let text = scene.say(request("good.test").as_bytes()).await;
    assert!(
        text.contains("Bearer s3cret") && !text.contains("own\r\n") && text.ends_with("body END"),
        "{text}"
    );
    let text = scene.say(request("also.test").as_bytes()).await;
    assert!(
        !text.contains("s3cret") && text.contains("Authorization: own") && text.ends_with("body END"),
        "{text}"
    );
}

#[tokio::test]
async fn whatever_is_sent_is_answered_or_ended() {
    let scene = Scene::new(&["good.test".to_string()], None).await;
    for (bytes, expected) in [
        (b"\r\n\r\n".to_vec(), "HTTP/1.1 400"),
        (b"GET / HTTP/1.1\r\n\r\n".to_vec(), "HTTP/1.1 400"),
        (b"CONNECT good.test HTTP/1.1\r\n\r\n".to_vec(), "HTTP/1.1 400"),
        (b"CONNECT a@good.test:443 HTTP/1.1\r\n\r\n".to_vec(), "HTTP/1.1 400"),
        ([&b"GET http://good.test/ HTTP/1.1\r\nA: "[..], &[b'x'; 100_000]].concat(), ""),
        (vec![5, 1, 9], ""),
        (vec![5, 1, 0, 5, 3, 0, 1], ""),
    ] {
        let text = scene.say(&bytes).await;
        assert!(text.starts_with(expected), "{text:?}");
    }
}
