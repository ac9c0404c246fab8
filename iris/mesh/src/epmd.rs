//! The port mapper's client: says on which port this node listens, and asks where another does. Owns those two requests. A node is
//! registered while the connection that registered it is open.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use crate::error::MeshError;
use crate::limits::CONNECT_MS;

/// A node that does not take part in `global`.
const HIDDEN: u8 = 72;
/// The version of the handshake.
const PROTOCOL: u16 = 6;

fn ask(address: SocketAddr, request: &[u8]) -> Result<TcpStream, MeshError> {
    let timeout = Duration::from_millis(CONNECT_MS);
    let failed = |error| MeshError::Io(format!("epmd at {address} (start it with `epmd -daemon`)"), error);
    let mut stream = TcpStream::connect_timeout(&address, timeout).map_err(failed)?;
    stream.set_read_timeout(Some(timeout)).map_err(failed)?;
    let mut message = (request.len() as u16).to_be_bytes().to_vec();
    message.extend_from_slice(request);
    stream.write_all(&message).map_err(failed)?;
    Ok(stream)
}

/// Registers a name (the part before `@`). The node is known while the result lives.
pub(crate) fn register(address: SocketAddr, name: &str, port: u16) -> Result<TcpStream, MeshError> {
    let mut request = vec![b'x'];
    request.extend(port.to_be_bytes());
    request.extend([HIDDEN, 0]);
    request.extend(PROTOCOL.to_be_bytes());
    request.extend(PROTOCOL.to_be_bytes());
    request.extend((name.len() as u16).to_be_bytes());
    request.extend_from_slice(name.as_bytes());
    request.extend([0, 0]);
    let mut stream = ask(address, &request)?;
    let mut answer = [0; 2];
    stream.read_exact(&mut answer).map_err(|error| MeshError::Io("epmd".into(), error))?;
    match answer {
        // With the creation that it proposes after it; ours is random.
        [118 | 121, 0] => Ok(stream),
        [118 | 121, _] => Err(MeshError::Epmd(format!("the name {name:?} is in use"))),
        _ => Err(MeshError::Epmd("not an answer to a registration".into())),
    }
}

/// The port on which the node of that name listens.
pub(crate) fn look_up(address: SocketAddr, name: &str) -> Result<u16, MeshError> {
    let mut request = vec![b'z'];
    request.extend_from_slice(name.as_bytes());
    let mut stream = ask(address, &request)?;
    let failed = |error| MeshError::Io("epmd".into(), error);
    let mut head = [0; 2];
    stream.read_exact(&mut head).map_err(failed)?;
    if head != [119, 0] {
        return Err(MeshError::Epmd(format!("no node of the name {name:?} at {address}")));
    }
    let mut answer = [0; 8];
    stream.read_exact(&mut answer).map_err(failed)?;
    let [port @ .., _, _, high_0, high_1, _, _] = answer;
    if u16::from_be_bytes([high_0, high_1]) < PROTOCOL {
        return Err(MeshError::Epmd(format!("the node {name:?} is older than OTP 23")));
    }
    Ok(u16::from_be_bytes(port))
}
