//! Whether something listens on a TCP port of a process's own network: read from the kernel's tables, so that a server inside of the sandbox is found and
//! one outside is not, and nothing connects to a server that takes one client only.

use std::path::PathBuf;
use std::{fs, io};

/// The state of a row whose socket listens (`TCP_LISTEN`).
const LISTEN: &str = "0A";

/// True when a socket listens on `port` of the loopback or of every address, in the network namespace of process `pid`.
///
/// # Errors
/// When the kernel does not show the tables of that process.
pub(crate) fn listens(pid: u32, port: u16) -> io::Result<bool> {
    let table = |name: &str| fs::read_to_string(PathBuf::from(format!("/proc/{pid}/net/{name}")));
    let first = table("tcp")?;
    // A machine without IPv6 has no such table.
    let second = table("tcp6").unwrap_or_default();
    Ok([first, second].iter().any(|text| text.lines().skip(1).any(|line| row_listens(line, port))))
}

/// A row is `slot: ADDRESS:PORT ADDRESS:PORT STATE ...`, all hexadecimal; words of an address are in the machine's byte order.
fn row_listens(row: &str, port: u16) -> bool {
    let mut words = row.split_ascii_whitespace().skip(1);
    let (Some(local), Some(_), Some(state)) = (words.next(), words.next(), words.next()) else {
        return false;
    };
    let Some((address, local_port)) = local.split_once(':') else { return false };
    state == LISTEN && u16::from_str_radix(local_port, 16) == Ok(port) && is_reached_by_loopback(address)
}

fn is_reached_by_loopback(address: &str) -> bool {
    let words: Option<Vec<u8>> = (0..address.len() / 8)
        .map(|at| u32::from_str_radix(address.get(at * 8..at * 8 + 8)?, 16).ok().map(u32::to_ne_bytes))
        .collect::<Option<Vec<_>>>()
        .map(|words| words.concat());
    let Some(bytes) = words else { return false };
    if bytes.iter().all(|byte| *byte == 0) {
        return true;
    }
    match bytes.as_slice() {
        [127, ..] if bytes.len() == 4 => true,
        [.., 1] if bytes.len() == 16 && bytes[..15].iter().all(|byte| *byte == 0) => true,
        // An IPv4 address in an IPv6 socket.
        [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 255, 255, 127 | 0, ..] => true,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::TcpListener;

    #[test]
    fn what_listens_is_found_until_it_is_closed() {
        for address in ["127.0.0.1:0", "0.0.0.0:0", "127.0.0.3:0", "[::1]:0", "[::]:0"] {
            let Ok(listener) = TcpListener::bind(address) else {
                assert!(address.starts_with('['), "{address} is there on every machine");
                continue;
            };
            let port = listener.local_addr().expect("an address").port();
            assert!(listens(std::process::id(), port).expect("the own tables"), "{address}");
            drop(listener);
            assert!(!listens(std::process::id(), port).expect("the own tables"), "{address}");
        }
    }

    #[test]
    fn rows_of_other_states_ports_and_addresses_do_not_count() {
        let row = |local: &str, state: &str| format!("   0: {local} 00000000:0000 {state} 00000000:00000000");
        let loopback = format!("{:08X}", u32::from_ne_bytes([127, 0, 0, 1]));
        assert!(row_listens(&row(&format!("{loopback}:1F90"), "0A"), 8080));
        assert!(!row_listens(&row(&format!("{loopback}:1F90"), "01"), 8080));
        assert!(!row_listens(&row(&format!("{loopback}:1F91"), "0A"), 8080));
        let other = format!("{:08X}", u32::from_ne_bytes([10, 0, 0, 1]));
        assert!(!row_listens(&row(&format!("{other}:1F90"), "0A"), 8080));
        for torn in ["", "0:", "0: x", "0: zzzzzzzz:1F90 0:0 0A", "0: 7F:1F90 a 0A", "0: é:1F90 a 0A"] {
            row_listens(torn, 8080);
        }
    }
}
