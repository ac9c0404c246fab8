//! Hosts by name: which ones a policy's `hosts` lets its programs reach through the server's proxy. Data and judgement only; the proxy itself is the
//! server's.
//!
//! A name allows no address by itself: whatever it resolves to must be public, or be listed as an address or network too. So a name that suddenly
//! points into the machine or its network (DNS rebinding) reaches nothing.

use crate::limits::HOSTS_MAX;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

/// Where programs find the proxy, on their own loopback. Not an address that servers under test listen on.
pub const PROXY: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::new(127, 0, 0, 2)), 3128);
/// Ports of a host that is listed without one.
const PORTS_DEFAULT: [u16; 2] = [443, 80];
const GROUPS: [(&str, &[&str]); 6] = [
    ("npm", &["registry.npmjs.org:443"]),
    ("pypi", &["pypi.org:443", "files.pythonhosted.org:443"]),
    ("crates", &["index.crates.io:443", "static.crates.io:443", "crates.io:443"]),
    (
        "github",
        &[
            "github.com:443",
            "api.github.com:443",
            "codeload.github.com:443",
            "raw.githubusercontent.com:443",
            "objects.githubusercontent.com:443",
            "release-assets.githubusercontent.com:443",
        ],
    ),
    ("go", &["proxy.golang.org:443", "sum.golang.org:443"]),
    ("debian", &["deb.debian.org", "security.debian.org"]),
];

/// A policy's hosts, ready to judge with.
#[derive(Clone, Debug, Default)]
pub struct Hosts {
    names: Vec<(String, Vec<u16>)>,
    /// An address, how many of its bits count, and the ports; none means all.
    networks: Vec<(IpAddr, u8, Option<u16>)>,
    ask: bool,
}

/// The entry by which a person is asked about names that are not listed.
const ASK: &str = "ask";

impl Hosts {
    /// Reads `NAME`, `*.NAME` (all below it), an address or a network (`10.0.0.0/8`), each with or without `:PORT`, the names of groups, and
    /// `ask`: somebody may be asked about other names.
    /// An error names the entry.
    pub fn parse(entries: &[String]) -> Result<Hosts, String> {
        if entries.len() > HOSTS_MAX {
            return Err(format!("hosts has more than {HOSTS_MAX} entries"));
        }
        let mut hosts = Hosts::default();
        for entry in entries {
            if entry == ASK {
                hosts.ask = true;
                continue;
            }
            match GROUPS.iter().find(|(group, _)| group == entry) {
                Some((_, members)) => {
                    for member in *members {
                        hosts.add(member)?;
                    }
                }
                None => hosts.add(entry)?,
            }
        }
        Ok(hosts)
    }

    fn add(&mut self, entry: &str) -> Result<(), String> {
        let wrong = |why: &str| Err(format!("hosts has {entry:?}: {why}"));
        let (host, port) = split_port(entry);
        let port = match port {
            Some(text) => match text.parse::<u16>() {
                Ok(port) if port > 0 => Some(port),
                _ => return wrong("the port is no number from 1 to 65535"),
            },
            None => None,
        };
        let (address, bits) =
            host.split_once('/').map_or((host, None), |(address, bits)| (address, Some(bits)));
        if let Ok(address) = address.trim_matches(['[', ']']).parse::<IpAddr>() {
            let all = if address.is_ipv4() { 32 } else { 128 };
            let bits = match bits.map_or(Ok(all), str::parse::<u8>) {
                Ok(bits) if bits <= all => bits,
                _ => return wrong("after the slash there is the number of bits that count"),
            };
            self.networks.push((address, bits, port));
            return Ok(());
        }
        let plain = host.strip_prefix("*.").unwrap_or(host);
        if !is_name(plain) {
            return wrong(
                "give a host's name, *.NAME, an address or a network, without https:// and without a path",
            );
        }
        let ports = port.map_or_else(|| PORTS_DEFAULT.to_vec(), |port| vec![port]);
        self.names.push((host.to_ascii_lowercase(), ports));
        Ok(())
    }

    /// Whether somebody may be asked about names that are not listed.
    pub fn asks(&self) -> bool {
        self.ask
    }

    /// Whether somebody may be asked about this one: a name of more than one part, never an address, and never one that a person cannot read.
    pub fn asks_about(&self, host: &str) -> bool {
        let host = host.trim_end_matches('.');
        self.ask && host.contains('.') && is_name(host) && host.parse::<IpAddr>().is_err()
    }

    /// Whether a host may be asked for on this port: by name, or by an address that is listed itself.
    pub fn allows(&self, host: &str, port: u16) -> bool {
        if let Ok(address) = host.trim_matches(['[', ']']).parse::<IpAddr>() {
            return self.lists(address.to_canonical(), port);
        }
        let host = host.trim_end_matches('.').to_ascii_lowercase();
        self.names.iter().any(|(name, ports)| {
            let same = match name.strip_prefix("*.") {
                Some(parent) => {
                    host.strip_suffix(parent).is_some_and(|start| start.len() > 1 && start.ends_with('.'))
                }
                None => *name == host,
            };
            same && ports.contains(&port)
        })
    }

    /// Whether a name that is allowed may lead to this address.
    pub fn allows_address(&self, address: IpAddr, port: u16) -> bool {
        let address = address.to_canonical();
        is_public(address) || self.lists(address, port)
    }

    fn lists(&self, address: IpAddr, port: u16) -> bool {
        self.networks.iter().any(|(network, bits, wanted)| {
            wanted.is_none_or(|wanted| wanted == port) && same_network(*network, address, *bits)
        })
    }
}

/// A host and what follows its last colon; the colons of an IPv6 address are its own unless it stands in brackets.
fn split_port(entry: &str) -> (&str, Option<&str>) {
    match entry.rsplit_once(':') {
        Some((host, port)) if !host.contains(':') || host.ends_with(']') => (host, Some(port)),
        _ => (entry, None),
    }
}

fn is_name(text: &str) -> bool {
    let label = |label: &str| {
        !label.is_empty()
            && label.len() <= 63
            && label.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_')
    };
    text.len() <= 253 && text.split('.').all(label)
}

fn same_network(network: IpAddr, address: IpAddr, bits: u8) -> bool {
    match (network, address) {
        (IpAddr::V4(network), IpAddr::V4(address)) => {
            let differ = u32::from(network) ^ u32::from(address);
            bits == 0 || differ >> (32 - u32::from(bits)) == 0
        }
        (IpAddr::V6(network), IpAddr::V6(address)) => {
            let differ = u128::from(network) ^ u128::from(address);
            bits == 0 || differ >> (128 - u32::from(bits)) == 0
        }
        _ => false,
    }
}

/// Networks that are not the internet: the machine itself, its neighbours, and what carries an IPv4 address inside an IPv6 one is judged by that.
fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(v4) => is_public_v4(v4),
        IpAddr::V6(v6) => is_public_v6(v6),
    }
}

fn is_public_v4(address: Ipv4Addr) -> bool {
    let [first, second, third, _] = address.octets();
    let shared = first == 100 && (64..128).contains(&second);
    let assigned = first == 192 && second == 0 && third == 0;
    let benchmark = first == 198 && (18..20).contains(&second);
    !(first == 0
        || first >= 224
        || shared
        || assigned
        || benchmark
        || address.is_loopback()
        || address.is_private()
        || address.is_link_local())
}

fn is_public_v6(address: Ipv6Addr) -> bool {
    let parts = address.segments();
    let inner = |high: u16, low: u16| {
        let ([a, b], [c, d]) = (high.to_be_bytes(), low.to_be_bytes());
        is_public_v4(Ipv4Addr::new(a, b, c, d))
    };
    match parts {
        [0, 0, 0, 0, 0, 0, high, low]
        | [0, 0, 0, 0, 0, 0xffff, high, low]
        | [0x64, 0xff9b, 0, 0, 0, 0, high, low] => inner(high, low),
        [0x2002, high, low, ..] => inner(high, low),
        // Teredo, unique local, link and site local, multicast.
        [0x2001, 0, ..] => false,
        [first, ..] => {
            first & 0xfe00 != 0xfc00 && first & 0xffc0 != 0xfe80 && first & 0xffc0 != 0xfec0 && first < 0xff00
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hosts(entries: &[&str]) -> Hosts {
        Hosts::parse(&entries.iter().map(|&entry| entry.to_owned()).collect::<Vec<_>>()).unwrap()
    }

    #[test]
    fn names_ports_and_what_is_below() {
        let hosts = hosts(&["example.org", "*.example.net:8443", "npm", "intranet:80"]);
        for (host, port) in [
            ("example.org", 443),
            ("EXAMPLE.org.", 80),
            ("a.b.example.net", 8443),
            ("registry.npmjs.org", 443),
            ("intranet", 80),
        ] {
            assert!(hosts.allows(host, port), "{host}:{port}");
        }
        for (host, port) in [
            ("example.org", 8080),
            ("www.example.org", 443),
            ("example.net", 8443),
            ("evilexample.net", 8443),
            (".example.net", 8443),
            ("example.org.evil.com", 443),
            ("registry.npmjs.org", 80),
            ("93.184.216.34", 443),
            ("", 443),
        ] {
            assert!(!hosts.allows(host, port), "{host}:{port}");
        }
    }

    #[test]
    fn addresses_are_allowed_by_being_listed_only() {
        let hosts = hosts(&["example.org", "10.1.0.0/16", "127.0.0.1:5000", "[fd00::1]:80"]);
        assert!(
            hosts.allows("10.1.2.3", 22)
                && hosts.allows("[fd00::1]", 80)
                && hosts.allows("::ffff:10.1.0.9", 1)
        );
        assert!(
            !hosts.allows("10.2.0.1", 22) && !hosts.allows("127.0.0.1", 80) && !hosts.allows("8.8.8.8", 53)
        );
        let may = |text: &str, port| hosts.allows_address(text.parse().unwrap(), port);
        assert!(
            may("8.8.8.8", 443)
                && may("2606:4700::1111", 443)
                && may("10.1.2.3", 443)
                && may("127.0.0.1", 5000)
        );
        for private in [
            "127.0.0.1",
            "10.0.0.1",
            "172.16.0.1",
            "192.168.1.1",
            "169.254.169.254",
            "100.64.0.1",
            "0.0.0.0",
            "224.0.0.1",
            "255.255.255.255",
            "::1",
            "::",
            "fe80::1",
            "fc00::1",
            "ff02::1",
            "::ffff:127.0.0.1",
            "::127.0.0.1",
            "64:ff9b::7f00:1",
            "2002:7f00:1::",
            "2001::1",
        ] {
            assert!(!may(private, 443), "{private}");
        }
    }

    #[test]
    fn mistakes_are_named() {
        for wrong in [
            "https://example.org",
            "example.org/path",
            "a..b",
            "",
            "*",
            "example.org:0",
            "example.org:x",
            "10.0.0.0/99",
            "a b",
        ] {
            let error = Hosts::parse(&[wrong.to_owned()]).unwrap_err();
            assert!(error.contains(&format!("{wrong:?}")), "{error}");
        }
    }
}
