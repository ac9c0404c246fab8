//! HTTP/1.1 as a proxy speaks it: `CONNECT HOST:PORT`, and requests whose target is an absolute `http://` URL.
//!
//! One request for each connection: it is sent on with a `Host` of our own making and `Connection: close`, and of what the program sends no byte more than its
//! body, so nobody behind can take the rest for a second request to another host.

use std::fmt::Write as _;
use std::io;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::{Job, Proxy, Refusal, authority, tunnel};
use crate::limits::{PROXY_HEAD_BYTES_MAX, PROXY_HEAD_MS, PROXY_IDLE_MS, PROXY_PIECE_BYTES};

/// A request's head, taken apart.
#[derive(Debug)]
struct Head {
    method: String,
    target: String,
    /// Name in lower case, name and value as they came.
    fields: Vec<(String, String, String)>,
}

/// Headers that are between a program and its proxy only.
const HOP_BY_HOP: [&str; 9] = [
    "connection",
    "host",
    "keep-alive",
    "proxy-authenticate",
    "proxy-authorization",
    "proxy-connection",
    "te",
    "trailer",
    "upgrade",
];

pub(super) async fn serve(proxy: &Proxy, mut stream: TcpStream) -> io::Result<()> {
    let read = tokio::time::timeout(Duration::from_millis(PROXY_HEAD_MS), read_head(&mut stream)).await?;
    let Some((head, rest)) = read? else {
        let text =
            format!("the head of a request is over the limit of {PROXY_HEAD_BYTES_MAX} bytes, or has no end");
        return answer(&mut stream, "431 Request Header Fields Too Large", &text).await;
    };
    let Some(head) = parse(&head) else {
        return answer(&mut stream, "400 Bad Request", "this is no request that a proxy understands").await;
    };
    let job = job_of(&head);
    if head.method == "CONNECT" {
        let Some((host, port)) = authority(&head.target, None) else {
            return answer(&mut stream, "400 Bad Request", "CONNECT takes HOST:PORT").await;
        };
        return match proxy.dial(&stream, &job, &host, port).await {
            // What came with the head would pass unseen.
            Ok(_) if !rest.is_empty() => {
                answer(&mut stream, "400 Bad Request", "nothing may be sent before the connection is there")
                    .await
            }
            Ok(upstream) => {
                stream.write_all(b"HTTP/1.1 200 Connection established\r\n\r\n").await?;
                tunnel::run(proxy, &job, (&host, port), stream, upstream).await
            }
            Err(refusal) => refused(&mut stream, refusal).await,
        };
    }
    plain(proxy, &job, head, rest, stream).await
}

/// A request with an absolute URL.
async fn plain(
    proxy: &Proxy,
    job: &Job,
    head: Head,
    mut rest: Vec<u8>,
    mut stream: TcpStream,
) -> io::Result<()> {
    let Some((host, port, path)) = absolute(&head.target) else {
        let text = "the target is no absolute http:// URL; https:// goes through CONNECT";
        return answer(&mut stream, "400 Bad Request", text).await;
    };
    let length = match body_length(&head) {
        Ok(length) => length,
        Err(text) => return answer(&mut stream, "411 Length Required", text).await,
    };
    let mut upstream = match proxy.dial(&stream, job, &host, port).await {
        Ok(upstream) => upstream,
        Err(refusal) => return refused(&mut stream, refusal).await,
    };
    let set: Vec<(&str, &str)> =
        proxy.header(&host, port).map(|header| (header.name.as_str(), header.value.as_str())).collect();
    upstream.write_all(rewritten(&head, &host, port, &path, &set).as_bytes()).await?;
    rest.truncate(usize::try_from(length).unwrap_or(usize::MAX));
    upstream.write_all(&rest).await?;
    let left = length - rest.len() as u64;
    let (from_program, mut to_program) = stream.split();
    let (mut from_upstream, mut to_upstream) = upstream.split();
    let sending = async {
        let mut body = from_program.take(left);
        tokio::io::copy(&mut body, &mut to_upstream).await?;
        // The connection stays open for the answer.
        std::future::pending::<io::Result<()>>().await
    };
    let answering = async {
        let mut piece = vec![0; PROXY_PIECE_BYTES];
        loop {
            let read = from_upstream.read(&mut piece);
            match tokio::time::timeout(Duration::from_millis(PROXY_IDLE_MS), read).await?? {
                0 => return to_program.shutdown().await,
                read => to_program.write_all(&piece[..read]).await?,
            }
        }
    };
    tokio::select! {
        result = sending => result,
        result = answering => result,
    }
}

/// The head as it is sent on.
fn rewritten(head: &Head, host: &str, port: u16, path: &str, set: &[(&str, &str)]) -> String {
    let named: Vec<&str> = head
        .fields
        .iter()
        .filter(|(name, ..)| name == "connection")
        .flat_map(|(_, _, value)| value.split(','))
        .map(str::trim)
        .collect();
    let goes_on = |name: &str| {
        !HOP_BY_HOP.contains(&name)
            && !named.iter().any(|one| one.eq_ignore_ascii_case(name) && *one != "content-length")
            && !set.iter().any(|(one, _)| one.eq_ignore_ascii_case(name))
    };
    let host = if port == 80 { host.to_string() } else { format!("{host}:{port}") };
    let mut text = format!("{} {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n", head.method);
    let kept = head.fields.iter().filter(|(name, ..)| goes_on(name));
    for (name, value) in
        kept.map(|(_, name, value)| (name.as_str(), value.as_str())).chain(set.iter().copied())
    {
        let _ = write!(text, "{name}: {value}\r\n");
    }
    text.push_str("\r\n");
    text
}

/// How long a request's body is. One whose end only its own content tells is refused: two readers of it may see two ends.
fn body_length(head: &Head) -> Result<u64, &'static str> {
    if head.fields.iter().any(|(name, ..)| name == "transfer-encoding") {
        return Err("a body must come with Content-Length, and not in chunks");
    }
    let mut lengths = head.fields.iter().filter(|(name, ..)| name == "content-length");
    let Some((_, _, value)) = lengths.next() else { return Ok(0) };
    let digits = !value.is_empty() && value.bytes().all(|byte| byte.is_ascii_digit());
    match value.parse() {
        Ok(length) if digits && lengths.next().is_none() => Ok(length),
        _ => Err("there must be one Content-Length, and it must be a number"),
    }
}

/// Host, port and path of an `http://` URL.
fn absolute(target: &str) -> Option<(String, u16, String)> {
    let rest =
        target.get(..7).filter(|scheme| scheme.eq_ignore_ascii_case("http://")).and(target.get(7..))?;
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let (host, path) = rest.split_at(end);
    let (host, port) = authority(host, Some(80))?;
    let path = path.split('#').next().unwrap_or_default();
    Some((host, port, if path.starts_with('/') { path.to_string() } else { format!("/{path}") }))
}

/// The head and what came after it; none when it is too long or has no end.
async fn read_head(stream: &mut TcpStream) -> io::Result<Option<(Vec<u8>, Vec<u8>)>> {
    let mut bytes = Vec::with_capacity(1024);
    loop {
        if stream.read_buf(&mut bytes).await? == 0 {
            return Ok(None);
        }
        if let Some(end) = bytes.windows(4).position(|window| window == b"\r\n\r\n") {
            let rest = bytes.split_off(end + 4);
            bytes.truncate(end);
            return Ok(Some((bytes, rest)));
        }
        if bytes.len() > PROXY_HEAD_BYTES_MAX {
            return Ok(None);
        }
    }
}

/// Takes a head apart; none for whatever two readers could read differently.
fn parse(head: &[u8]) -> Option<Head> {
    let text = std::str::from_utf8(head).ok()?;
    if text.bytes().any(|byte| byte == 0) {
        return None;
    }
    let mut lines = text.split("\r\n");
    let mut words = lines.next()?.split(' ');
    let (method, target, version) = (words.next()?, words.next()?, words.next()?);
    let good = !method.is_empty()
        && method.bytes().all(|byte| byte.is_ascii_alphabetic())
        && !target.is_empty()
        && matches!(version, "HTTP/1.1" | "HTTP/1.0")
        && words.next().is_none();
    let field = |line: &str| {
        let (name, value) = line.split_once(':')?;
        let token = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
        let value = value.trim_matches([' ', '\t']);
        (!name.is_empty() && name.bytes().all(token) && !value.contains(['\r', '\n']))
            .then(|| (name.to_ascii_lowercase(), name.to_string(), value.to_string()))
    };
    let fields = lines.map(field).collect::<Option<Vec<_>>>()?;
    good.then(|| Head { method: method.to_string(), target: target.to_string(), fields })
}

/// The job whose program asks: the user of the proxy's URL.
fn job_of(head: &Head) -> Job {
    let (_, _, value) = head.fields.iter().find(|(name, ..)| name == "proxy-authorization")?;
    let (scheme, encoded) = value.split_once(' ')?;
    let text =
        String::from_utf8(scheme.eq_ignore_ascii_case("basic").then(|| decode(encoded.trim()))??).ok()?;
    text.split(':').next().map(str::to_string)
}

/// Base64 (RFC 4648 4).
fn decode(text: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    let (mut bits, mut held) = (0u32, 0);
    for byte in text.trim_end_matches('=').bytes() {
        let value = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            _ => return None,
        };
        bits = bits << 6 | u32::from(value);
        held += 6;
        if held >= 8 {
            held -= 8;
            bytes.push((bits >> held) as u8);
            bits &= (1 << held) - 1;
        }
    }
    Some(bytes)
}

async fn refused(stream: &mut TcpStream, refusal: Refusal) -> io::Result<()> {
    match refusal {
        Refusal::Denied(text) => answer(stream, "403 Forbidden", &format!("the sandbox denied {text}")).await,
        Refusal::Failed(text) => answer(stream, "502 Bad Gateway", &text).await,
    }
}

async fn answer(stream: &mut TcpStream, status: &str, text: &str) -> io::Result<()> {
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Type: text/plain\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{text}\n",
        text.len() + 1
    );
    stream.write_all(head.as_bytes()).await?;
    stream.shutdown().await
}

#[cfg(test)]
mod tests {
    use super::{absolute, body_length, decode, parse, rewritten};

    #[test]
    fn requests_that_two_could_read_differently_are_none() {
        for bad in [
            "",
            "GET",
            "GET http://a/",
            "GET  http://a/ HTTP/1.1",
            "GET http://a/ HTTP/2",
            "G=T http://a/ HTTP/1.1",
            "GET http://a/ HTTP/1.1\r\nA : b",
            "GET http://a/ HTTP/1.1\r\n b",
            "GET http://a/ HTTP/1.1\r\nA: b\nC: d",
            "GET http://a/ HTTP/1.1\r\nno colon",
        ] {
            assert!(parse(bad.as_bytes()).is_none(), "{bad:?}");
        }
        for (bad, fields) in [
            ("two lengths", "Content-Length: 1\r\nContent-Length: 1"),
            ("a sign", "Content-Length: +1"),
            ("chunks", "Transfer-Encoding: chunked"),
            ("both", "Content-Length: 1\r\nTransfer-Encoding: chunked"),
        ] {
            let head = parse(format!("POST http://a/ HTTP/1.1\r\n{fields}").as_bytes()).expect("a head");
            assert!(body_length(&head).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_url_has_one_host() {
        let parts = |text: &str| absolute(text).map(|(host, port, path)| format!("{host} {port} {path}"));
        assert_eq!(parts("http://a.b/c?d#e").as_deref(), Some("a.b 80 /c?d"));
        assert_eq!(parts("HTTP://a.b:8080?d").as_deref(), Some("a.b 8080 /?d"));
        assert_eq!(parts("http://[::1]:80").as_deref(), Some("[::1] 80 /"));
        for bad in
            ["https://a/", "/c", "http://", "http://a@b/", "http://a\\@b/", "http://a:0/", "http://a:99999/"]
        {
            assert_eq!(parts(bad), None, "{bad}");
        }
    }

    #[test]
    fn what_is_between_a_program_and_its_proxy_stays_there() {
        let head = "GET http://a.b/c HTTP/1.1\r\nHost: evil\r\nProxy-Authorization: Basic x\r\nConnection: X-Own\r\nX-Own: 1\r\nAuthorization: mine\r\nAccept: */*";
        let head = parse(head.as_bytes()).expect("a head");
        assert_eq!(
            rewritten(&head, "a.b", 80, "/c", &[("authorization", "Bearer secret")]),
            "GET /c HTTP/1.1\r\nHost: a.b\r\nConnection: close\r\nAccept: */*\r\nauthorization: Bearer secret\r\n\r\n"
        );
    }

    #[test]
    fn base64() {
        assert_eq!(decode("ajEyOmpvYg==").as_deref(), Some(&b"j12:job"[..]));
        assert_eq!(decode("ajE6am9i").as_deref(), Some(&b"j1:job"[..]));
        assert_eq!(decode("!"), None);
    }
}
