//! Bytes between a program and a host, once both are there. What begins as TLS must name the host that was asked for.

use std::io;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::sni::{self, Hello};
use super::{Job, Proxy};
use crate::limits::{PROXY_HEAD_MS, PROXY_IDLE_MS, PROXY_PIECE_BYTES};

/// On this port there is TLS and nothing else.
const TLS_PORT: u16 = 443;

/// Passes bytes both ways until both sides have ended, or none has said anything for long.
pub(super) async fn run(
    proxy: &Proxy,
    job: &Job,
    (host, port): (&str, u16),
    mut program: TcpStream,
    mut upstream: TcpStream,
) -> io::Result<()> {
    let begins = tokio::select! {
        begun = first_words(&mut program) => begun?,
        // Protocols in which the server speaks first are none of TLS.
        ready = upstream.readable(), if port != TLS_PORT => { ready?; None }
    };
    if let Some((bytes, hello)) = begins {
        let why = match hello {
            Hello::Named(name) if name.eq_ignore_ascii_case(host.trim_end_matches('.')) => None,
            Hello::Named(name) => {
                Some(format!("TLS asks for {name:?}, which is not the host of the connection"))
            }
            // A client that connects to an address has no name to say.
            Hello::Nameless if host.trim_matches(['[', ']']).parse::<std::net::IpAddr>().is_ok() => None,
            Hello::Nameless => Some("TLS does not say which host it asks for".to_string()),
            Hello::Broken => Some("TLS begins with something that cannot be read".to_string()),
            Hello::Other if port == TLS_PORT => Some("on this port only TLS passes".to_string()),
            Hello::Other => None,
        };
        if let Some(why) = why {
            let _ = proxy.refuse(job, host, port, &why);
            return Ok(());
        }
        upstream.write_all(&bytes).await?;
    }
    both_ways(&mut program, &mut upstream).await
}

/// What a program says first, as much of it as tells what it is; none when it says nothing.
async fn first_words(program: &mut TcpStream) -> io::Result<Option<(Vec<u8>, Hello)>> {
    let mut bytes = Vec::new();
    let read_on = async {
        loop {
            if program.read_buf(&mut bytes).await? == 0 {
                return Ok(if bytes.is_empty() { None } else { Some(Hello::Broken) });
            }
            if let Some(hello) = sni::hello(&bytes) {
                return Ok::<_, io::Error>(Some(hello));
            }
        }
    };
    let hello = tokio::time::timeout(Duration::from_millis(PROXY_HEAD_MS), read_on).await??;
    Ok(hello.map(|hello| (bytes, hello)))
}

async fn both_ways(program: &mut TcpStream, upstream: &mut TcpStream) -> io::Result<()> {
    let (mut from_program, mut to_program) = program.split();
    let (mut from_upstream, mut to_upstream) = upstream.split();
    let (mut up, mut down) = (vec![0; PROXY_PIECE_BYTES], vec![0; PROXY_PIECE_BYTES]);
    let (mut up_open, mut down_open) = (true, true);
    while up_open || down_open {
        let idle = tokio::time::sleep(Duration::from_millis(PROXY_IDLE_MS));
        tokio::select! {
            read = from_program.read(&mut up), if up_open => match read? {
                0 => { up_open = false; to_upstream.shutdown().await?; }
                read => to_upstream.write_all(&up[..read]).await?,
            },
            read = from_upstream.read(&mut down), if down_open => match read? {
                0 => { down_open = false; to_program.shutdown().await?; }
                read => to_program.write_all(&down[..read]).await?,
            },
            () = idle => return Err(io::ErrorKind::TimedOut.into()),
        }
    }
    Ok(())
}
