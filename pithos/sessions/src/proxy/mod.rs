//! The proxy: how programs of a sandbox that has only its own loopback reach the hosts that the policy names. It runs in the server; its listening socket
//! is made by the guardian inside the sandbox's network and handed out, so nothing outside can ask it.
//!
//! HTTP (`CONNECT`, and plain requests with an absolute URL) and SOCKS5 on one port. A name is resolved once, here, and the address that was judged is the
//! one that is connected to. TLS is never opened: its first message must name the host that was asked for, and the rest passes as it is.
//! Whoever asks says which job it is for, as the user name of the proxy's URL, so each refusal is one of that job.

mod ask;
mod http;
mod sni;
mod socks;
mod tunnel;

use std::collections::HashMap;
use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::os::fd::OwnedFd;
use std::pin::Pin;
use std::sync::{Arc, Weak};
use std::time::Duration;

use pithos_sandbox::{Denial, HeaderRule, Hosts, PROXY, Policy, proxy_variables, refused_host};
use rustix::event::{PollFd, PollFlags};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;

use crate::limits::{PROXY_CONNECTIONS_MAX, PROXY_DIAL_MS, PROXY_HEAD_MS, PROXY_LOOK_MS};
use crate::noticed::Record;
use crate::sync::Locked;
use ask::Asking;
pub use ask::{Asker, Question, Reply, Replying};

type Resolving = Pin<Box<dyn Future<Output = io::Result<Vec<SocketAddr>>> + Send>>;
/// Gives the addresses of a host and port; tests put their own in.
type Resolve = Box<dyn Fn(String, u16) -> Resolving + Send + Sync>;

/// The proxy of a server.
pub(crate) struct Proxy {
    policy: String,
    hosts: Hosts,
    headers: Vec<Header>,
    resolve: Resolve,
    free: Arc<Semaphore>,
    /// What is denied to each job, as long as the job is remembered.
    jobs: Locked<HashMap<String, Weak<Record>>>,
    asking: Asking,
}

/// A header that requests to a host get here.
struct Header {
    host: String,
    name: String,
    value: String,
}

/// Why a host cannot be had.
#[derive(Debug)]
enum Refusal {
    /// The policy says no.
    Denied(String),
    /// It cannot be reached.
    Failed(String),
}

/// Whom a connection is for: a job, when the program said so.
type Job = Option<String>;

impl Proxy {
    /// The proxy of a policy, none when it names no hosts. `environment` holds the values of headers.
    pub(crate) fn new(
        policy: &Policy,
        environment: &[(std::ffi::OsString, std::ffi::OsString)],
    ) -> Result<Option<Arc<Self>>, String> {
        if policy.hosts.is_empty() {
            return Ok(None);
        }
        let resolve: Resolve = Box::new(|host, port| {
            Box::pin(async move { Ok(tokio::net::lookup_host((host.as_str(), port)).await?.collect()) })
        });
        let value = |rule: &HeaderRule| {
            let found = environment.iter().find(|(name, _)| *name == *rule.variable);
            let value = found.and_then(|(_, value)| value.to_str()).unwrap_or_default();
            if value.is_empty() || value.contains(['\r', '\n']) {
                return Err(format!("headers: the variable {:?} is not set to one line", rule.variable));
            }
            let (host, name) = (with_port(&rule.host, 80), rule.name.clone());
            Ok(Header { host, name, value: format!("{}{value}", rule.prefix) })
        };
        let headers = policy.headers.iter().map(value).collect::<Result<_, _>>()?;
        let proxy = Self::with(policy.name.clone(), Hosts::parse(&policy.hosts)?, headers, resolve);
        Ok(Some(Arc::new(proxy)))
    }

    fn with(policy: String, hosts: Hosts, headers: Vec<Header>, resolve: Resolve) -> Self {
        let free = Arc::new(Semaphore::new(PROXY_CONNECTIONS_MAX));
        Self { policy, hosts, headers, resolve, free, jobs: Locked::default(), asking: Asking::default() }
    }

    /// Who is asked about hosts that the policy does not name, if it says that somebody is.
    pub(crate) fn ask_through(&self, asker: Arc<dyn Asker>) {
        self.asking.through(asker);
    }

    /// Whether somebody is.
    pub(crate) fn asks(&self) -> bool {
        self.hosts.asks()
    }

    /// The variables of a job's run, by which its programs find the proxy and say whose they are.
    pub(crate) fn variables(&self, job: &str) -> Vec<(&'static str, String)> {
        proxy_variables(&format!("{job}:job@{PROXY}"))
    }

    /// What is refused to programs of this job goes into its record.
    pub(crate) fn know(&self, job: &str, record: &Arc<Record>) {
        self.jobs.with(|jobs| {
            jobs.retain(|_, record| record.strong_count() > 0);
            jobs.insert(job.to_string(), Arc::downgrade(record));
        });
    }

    /// Serves the socket that the guardian made.
    pub(crate) async fn serve(self: Arc<Self>, listener: OwnedFd) -> io::Result<()> {
        let listener = std::net::TcpListener::from(listener);
        listener.set_nonblocking(true)?;
        self.accept(TcpListener::from_std(listener)?).await;
        Ok(())
    }

    async fn accept(self: Arc<Self>, listener: TcpListener) {
        loop {
            // Who finds no room waits in the socket's own queue.
            let Ok(room) = Arc::clone(&self.free).acquire_owned().await else { return };
            let Ok((stream, _)) = listener.accept().await else {
                // Too many open files; others close theirs.
                tokio::time::sleep(Duration::from_millis(PROXY_DIAL_MS / 100)).await;
                continue;
            };
            let proxy = Arc::clone(&self);
            tokio::spawn(async move {
                // An end in the middle is the program's own affair.
                let _ = proxy.converse(stream).await;
                drop(room);
            });
        }
    }

    async fn converse(&self, stream: TcpStream) -> io::Result<()> {
        let mut first = [0];
        let patience = Duration::from_millis(PROXY_HEAD_MS);
        tokio::time::timeout(patience, stream.peek(&mut first)).await??;
        if first[0] == socks::VERSION {
            socks::serve(self, stream).await
        } else {
            http::serve(self, stream).await
        }
    }

    /// Connects to a host that the policy allows; what it does not is noted as a denial of the job.
    async fn dial(
        &self,
        program: &TcpStream,
        job: &Job,
        host: &str,
        port: u16,
    ) -> Result<TcpStream, Refusal> {
        if !self.hosts.allows(host, port) {
            let asked = match self.hosts.asks_about(host) {
                // A question that nobody waits for any more holds nobody else up.
                true => tokio::select! {
                    asked = self.asking.ask(job, host, port) => asked,
                    () = gone(program) => Err("the program gave up before a person had answered".to_owned()),
                },
                false => Err("hosts does not contain it".to_owned()),
            };
            asked.map_err(|why| self.refuse(job, host, port, &why))?;
        }
        let patience = Duration::from_millis(PROXY_DIAL_MS);
        let unreachable = |error: &dyn std::fmt::Display| Refusal::Failed(format!("{host}:{port}: {error}"));
        let addresses = match host.trim_matches(['[', ']']).parse() {
            // It is listed itself.
            Ok(address) => vec![SocketAddr::new(address, port)],
            Err(_) => {
                let found = tokio::time::timeout(patience, (self.resolve)(host.to_string(), port)).await;
                let found =
                    found.map_err(|error| unreachable(&error))?.map_err(|error| unreachable(&error))?;
                let may = |address: &SocketAddr| self.hosts.allows_address(address.ip(), port);
                let allowed: Vec<SocketAddr> = found.iter().copied().filter(may).collect();
                if let (true, Some(private)) = (allowed.is_empty(), found.first()) {
                    return Err(self.refuse_address(job, host, *private));
                }
                allowed
            }
        };
        let mut last = None;
        for address in addresses {
            match tokio::time::timeout(patience, TcpStream::connect(address)).await {
                Ok(Ok(stream)) => {
                    let _ = stream.set_nodelay(true);
                    return Ok(stream);
                }
                Ok(Err(error)) => last = Some(error),
                Err(error) => last = Some(error.into()),
            }
        }
        let error = last.unwrap_or_else(|| io::Error::other("the name has no address"));
        Err(unreachable(&error))
    }

    fn refuse(&self, job: &Job, host: &str, port: u16, why: &str) -> Refusal {
        self.note(job, refused_host(&self.policy, host, port, why))
    }

    /// A name that leads to where no name may lead.
    fn refuse_address(&self, job: &Job, host: &str, address: SocketAddr) -> Refusal {
        let mut denial = refused_host(
            &self.policy,
            host,
            address.port(),
            &format!("it leads to {}, which is no public address and not in hosts", address.ip()),
        );
        denial.how_to_allow =
            format!("add \"{address}\" to hosts in the policy as well, if the name is meant to lead there");
        self.note(job, denial)
    }

    fn note(&self, job: &Job, denial: Denial) -> Refusal {
        let message = format!("{}: {}; to allow it, {}", denial.subject, denial.rule, denial.how_to_allow);
        let records: Vec<Arc<Record>> = self.jobs.with(|jobs| {
            let known = job.as_ref().and_then(|job| jobs.get(job));
            let of = |record: &Weak<Record>| record.upgrade();
            // A program that does not say whose it is may be anybody's.
            known.map_or_else(
                || jobs.values().filter_map(of).collect(),
                |record| of(record).into_iter().collect(),
            )
        });
        for record in records {
            record.add(denial.clone());
        }
        Refusal::Denied(message)
    }

    /// The header that requests to this host get, when the policy has one.
    fn header(&self, host: &str, port: u16) -> impl Iterator<Item = &Header> {
        let wanted = format!("{}:{port}", host.to_ascii_lowercase());
        self.headers.iter().filter(move |header| header.host == wanted)
    }
}

/// Comes back when the program at the other end has closed the connection. What it has sent stays unread.
async fn gone(program: &TcpStream) {
    let closed = PollFlags::RDHUP | PollFlags::HUP | PollFlags::ERR;
    loop {
        tokio::time::sleep(Duration::from_millis(PROXY_LOOK_MS)).await;
        let mut looked = [PollFd::new(program, closed)];
        let found = rustix::event::poll(&mut looked, Some(&rustix::event::Timespec::default()));
        if found.is_ok_and(|count| count > 0) {
            return;
        }
    }
}

fn with_port(host: &str, default: u16) -> String {
    let host = host.to_ascii_lowercase();
    if host.contains(':') { host } else { format!("{host}:{default}") }
}

/// A host and a port as they stand in requests: `NAME:PORT`, `[ADDRESS]:PORT`.
fn authority(text: &str, default: Option<u16>) -> Option<(String, u16)> {
    // Who puts a user in front means to confuse somebody.
    if text.contains(['@', '/', '\\', ' ']) {
        return None;
    }
    let (host, port) = match text.rsplit_once(':') {
        Some((host, port)) if !host.contains(':') || host.ends_with(']') => (host, Some(port)),
        _ => (text, None),
    };
    let port = match port {
        Some(port) => port.parse().ok().filter(|port| *port > 0)?,
        None => default?,
    };
    (!host.is_empty() && host.len() <= 255).then(|| (host.to_string(), port))
}

#[cfg(test)]
mod tests;
