//! `/dev/tcp/HOST/PORT` and `/dev/udp/HOST/PORT` in redirections.

use std::net::{TcpStream, UdpSocket};
use std::os::fd::{IntoRawFd, RawFd};

/// Connects as the path says.
pub fn open(path: &[u8]) -> Result<RawFd, i32> {
    let text = std::str::from_utf8(path).map_err(|_| libc::EINVAL)?;
    let mut fields = text.trim_start_matches("/dev/").splitn(3, '/');
    let (protocol, host, port) = match (fields.next(), fields.next(), fields.next()) {
        (Some(protocol), Some(host), Some(port)) => (protocol, host, port),
        _ => return Err(libc::ENOENT),
    };
    let port: u16 = port.parse().map_err(|_| libc::EINVAL)?;
    let failed = |error: std::io::Error| error.raw_os_error().unwrap_or(libc::EHOSTUNREACH);
    if protocol == "udp" {
        let socket = UdpSocket::bind(("0.0.0.0", 0)).map_err(failed)?;
        socket.connect((host, port)).map_err(failed)?;
        return Ok(socket.into_raw_fd());
    }
    TcpStream::connect((host, port)).map(IntoRawFd::into_raw_fd).map_err(failed)
}
