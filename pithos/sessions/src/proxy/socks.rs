//! SOCKS5 (RFC 1928) with and without a user (RFC 1929): `CONNECT` to a name or an address.

use std::io;
use std::net::{Ipv4Addr, Ipv6Addr};
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::{Job, Proxy, Refusal, tunnel};
use crate::limits::PROXY_HEAD_MS;

/// The first byte of whoever speaks it.
pub(super) const VERSION: u8 = 5;
const NO_USER: u8 = 0;
const WITH_USER: u8 = 2;
const NO_METHOD: u8 = 0xff;
const CONNECT: u8 = 1;
const DONE: u8 = 0;
const NOT_ALLOWED: u8 = 2;
const UNREACHABLE: u8 = 4;
const NO_SUCH_COMMAND: u8 = 7;
const NO_SUCH_ADDRESS: u8 = 8;

pub(super) async fn serve(proxy: &Proxy, mut stream: TcpStream) -> io::Result<()> {
    let patience = Duration::from_millis(PROXY_HEAD_MS);
    let asked = tokio::time::timeout(patience, greet(&mut stream)).await??;
    let Some((job, host, port)) = asked else { return Ok(()) };
    let (upstream, answer) = match proxy.dial(&stream, &job, &host, port).await {
        Ok(upstream) => (Some(upstream), DONE),
        Err(Refusal::Denied(_)) => (None, NOT_ALLOWED),
        Err(Refusal::Failed(_)) => (None, UNREACHABLE),
    };
    reply(&mut stream, answer).await?;
    match upstream {
        Some(upstream) => tunnel::run(proxy, &job, (&host, port), stream, upstream).await,
        None => Ok(()),
    }
}

/// Who asks, and for what; none when it was refused already.
async fn greet(stream: &mut TcpStream) -> io::Result<Option<(Job, String, u16)>> {
    let _version = stream.read_u8().await?;
    let methods = counted(stream).await?;
    let job = if methods.contains(&WITH_USER) {
        stream.write_all(&[VERSION, WITH_USER]).await?;
        let _version = stream.read_u8().await?;
        let user = counted(stream).await?;
        let _password = counted(stream).await?;
        stream.write_all(&[1, DONE]).await?;
        String::from_utf8(user).ok()
    } else if methods.contains(&NO_USER) {
        stream.write_all(&[VERSION, NO_USER]).await?;
        None
    } else {
        stream.write_all(&[VERSION, NO_METHOD]).await?;
        return Ok(None);
    };
    let mut head = [0; 4];
    stream.read_exact(&mut head).await?;
    if head[0] != VERSION || head[1] != CONNECT {
        reply(stream, NO_SUCH_COMMAND).await?;
        return Ok(None);
    }
    let host = match head[3] {
        1 => {
            let mut bytes = [0; 4];
            stream.read_exact(&mut bytes).await?;
            Ipv4Addr::from(bytes).to_string()
        }
        3 => match String::from_utf8(counted(stream).await?) {
            Ok(host) if !host.is_empty() => host,
            _ => {
                reply(stream, NO_SUCH_ADDRESS).await?;
                return Ok(None);
            }
        },
        4 => {
            let mut bytes = [0; 16];
            stream.read_exact(&mut bytes).await?;
            format!("[{}]", Ipv6Addr::from(bytes))
        }
        _ => {
            reply(stream, NO_SUCH_ADDRESS).await?;
            return Ok(None);
        }
    };
    let port = stream.read_u16().await?;
    Ok(Some((job, host, port)))
}

/// Bytes after a byte that counts them.
async fn counted(stream: &mut TcpStream) -> io::Result<Vec<u8>> {
    let mut bytes = vec![0; stream.read_u8().await?.into()];
    stream.read_exact(&mut bytes).await?;
    Ok(bytes)
}

async fn reply(stream: &mut TcpStream, answer: u8) -> io::Result<()> {
    stream.write_all(&[VERSION, answer, 0, 1, 0, 0, 0, 0, 0, 0]).await
}
