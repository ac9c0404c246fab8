//! Who calls over HTTP, and what is theirs: each client has a manager of its own, with its own guardian, so that sessions, jobs, cells, actors, logs, temporary
//! files, processes and ports of one client do not exist for another. Handles need no secrets: another client's handle is an unknown one.
//!
//! A client is an MCP session, or, in the protocol without them (2026-07-28), whoever shows the same credential. It ends when its MCP session
//! is deleted, when it has been silent for the idle limit, or, once all places are taken, when it has been silent longest. Invariant:
//! whoever is in the middle of a call, or holds a stream open, is not silent.

use std::collections::HashMap;
use std::fs::DirBuilder;
use std::os::unix::fs::DirBuilderExt;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use pithos_sessions::{Config, Locked, Manager, Warm};
use rmcp::transport::streamable_http_server::session::SessionManager;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use tokio::sync::OnceCell;
use tokio_util::sync::CancellationToken;

use crate::limits::{CLIENT_EVICT, CLIENT_LOOK_EVERY, CLIENTS, WORD_BYTES};
use crate::message::UnderWay;
use crate::state;

/// What makes a client: compared whole, so that an MCP session's id is worth nothing to somebody with another credential.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Identity {
    /// What stands after the token in the credential; empty when nothing does.
    pub(crate) word: String,
    /// The MCP session, in the protocol that has them.
    pub(crate) session: Option<String>,
}

impl Identity {
    /// Whether a word may stand after the token.
    pub(crate) fn word_is_good(word: &str) -> bool {
        (1..=WORD_BYTES).contains(&word.len())
            && word.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte))
    }
}

/// One client.
pub(crate) struct Client {
    /// Counted from 1; what people see.
    pub(crate) number: u64,
    /// The word of its credential: whose checkpoints it finds.
    word: String,
    /// Made at its first call.
    manager: OnceCell<Arc<Manager>>,
    /// Calls under way and open streams.
    present: AtomicUsize,
    /// Milliseconds from `began` to when it was last present.
    used_ms: AtomicU64,
    began: Instant,
    gone: CancellationToken,
    under_way: Arc<Locked<UnderWay>>,
}

/// All clients of a server.
pub(crate) struct Clients {
    config: Config,
    idle: Duration,
    table: Locked<HashMap<Identity, Arc<Client>>>,
    next: AtomicU64,
    /// Where rmcp keeps its half of a session.
    protocol: Arc<LocalSessionManager>,
}

/// As long as this lives its client is not silent.
pub(crate) struct Present(Arc<Client>);

impl Present {
    fn of(client: &Arc<Client>) -> Self {
        client.present.fetch_add(1, Ordering::SeqCst);
        Self(Arc::clone(client))
    }

    /// The requests of its MCP session that have no answer yet.
    pub(crate) fn under_way(&self) -> Arc<Locked<UnderWay>> {
        Arc::clone(&self.0.under_way)
    }

    /// The client's number.
    pub(crate) fn number(&self) -> u64 {
        self.0.number
    }

    /// Cancelled when the client ends.
    pub(crate) fn gone(&self) -> &CancellationToken {
        &self.0.gone
    }
}

impl Drop for Present {
    fn drop(&mut self) {
        self.0.used_ms.store(self.0.began.elapsed().as_millis() as u64, Ordering::SeqCst);
        self.0.present.fetch_sub(1, Ordering::SeqCst);
    }
}

impl Client {
    /// How long it has been silent.
    fn silent(&self) -> Duration {
        if self.present.load(Ordering::SeqCst) > 0 {
            return Duration::ZERO;
        }
        self.began.elapsed().saturating_sub(Duration::from_millis(self.used_ms.load(Ordering::SeqCst)))
    }

    /// Its manager, if it has made a call.
    pub(crate) fn manager(&self) -> Option<Arc<Manager>> {
        self.manager.get().cloned()
    }

    fn end(&self) {
        self.gone.cancel();
        if let Some(manager) = self.manager.get() {
            manager.end();
        }
    }
}

impl Clients {
    /// No clients yet; `config` is what each gets a copy of, with folders of its own below it.
    pub(crate) fn new(config: Config, idle: Duration, protocol: Arc<LocalSessionManager>) -> Arc<Self> {
        let clients =
            Arc::new(Self { config, idle, table: Locked::default(), next: AtomicU64::new(1), protocol });
        tokio::spawn(end_the_silent(Arc::downgrade(&clients)));
        clients
    }

    /// A client that is known, present from now on.
    pub(crate) fn enter(&self, identity: &Identity) -> Option<Present> {
        self.table.with(|table| table.get(identity).map(Present::of))
    }

    /// The client of this identity, made when there is none; none when all places are taken by clients that are not silent.
    pub(crate) async fn admit(&self, identity: &Identity) -> Result<Present, String> {
        let mut tried = false;
        loop {
            let admitted = self.table.with(|table| {
                if let Some(client) = table.get(identity) {
                    return Some(Present::of(client));
                }
                if table.len() >= CLIENTS {
                    return None;
                }
                let client = Arc::new(Client {
                    number: self.next.fetch_add(1, Ordering::Relaxed),
                    word: identity.word.clone(),
                    manager: OnceCell::new(),
                    present: AtomicUsize::new(0),
                    used_ms: AtomicU64::new(0),
                    began: Instant::now(),
                    gone: CancellationToken::new(),
                    under_way: Arc::default(),
                });
                let present = Present::of(&client);
                table.insert(identity.clone(), client);
                Some(present)
            });
            match admitted {
                Some(present) => return Ok(present),
                None if tried || !self.end_longest_silent().await => {
                    return Err(format!(
                        "all {CLIENTS} places for clients are taken: delete an MCP session that is over, or wait until one has been silent for {} s",
                        CLIENT_EVICT.as_secs()
                    ));
                }
                None => tried = true,
            }
        }
    }

    /// The manager of a client that is present.
    pub(crate) async fn manager(&self, present: &Present) -> Result<Arc<Manager>, String> {
        let client = &present.0;
        let make = || async { Manager::start(self.config_of(client)?).map_err(|error| error.to_string()) };
        let manager = client.manager.get_or_try_init(make).await?;
        if client.gone.is_cancelled() {
            // It ended while this was made.
            manager.end();
            return Err("this client has ended".to_string());
        }
        Ok(Arc::clone(manager))
    }

    /// Every client that has made a call, by number.
    pub(crate) fn all(&self) -> Vec<Arc<Client>> {
        let mut all: Vec<_> = self.table.with(|table| table.values().cloned().collect());
        all.retain(|client| client.manager.initialized());
        all.sort_by_key(|client| client.number);
        all
    }

    /// Ends a client with everything that is its.
    pub(crate) async fn end(&self, identity: &Identity) {
        self.end_if_silent(identity, Duration::ZERO).await;
    }

    /// Ends a client that has been silent for so long; whether it has.
    async fn end_if_silent(&self, identity: &Identity, least: Duration) -> bool {
        let client = self.table.with(|table| {
            let silent =
                least.is_zero() || table.get(identity).is_some_and(|client| client.silent() >= least);
            if silent { table.remove(identity) } else { None }
        });
        let Some(client) = client else { return false };
        client.end();
        if let Some(session) = &identity.session {
            let _ = self.protocol.close_session(&session.as_str().into()).await;
        }
        true
    }

    async fn end_longest_silent(&self) -> bool {
        let longest = self.table.with(|table| {
            let longest = table.iter().max_by_key(|(_, client)| client.silent());
            longest.map(|(identity, _)| identity.clone())
        });
        match longest {
            Some(identity) => self.end_if_silent(&identity, CLIENT_EVICT).await,
            None => false,
        }
    }

    /// Takes an MCP session back for which there is no place.
    pub(crate) async fn refuse(&self, identity: &Identity) {
        if let Some(session) = &identity.session {
            let _ = self.protocol.close_session(&session.as_str().into()).await;
        }
    }

    fn identities(&self) -> Vec<Identity> {
        self.table.with(|table| table.keys().cloned().collect())
    }

    /// The configuration of one client: folders below the server's, and one process of each kind in wait.
    fn config_of(&self, client: &Client) -> Result<Config, String> {
        let name = client.number.to_string();
        let folder = |below: &PathBuf| {
            let path = below.join(&name);
            let made = DirBuilder::new().mode(0o700).create(&path);
            made.map(|()| path.clone()).map_err(|error| format!("{}: {error}", path.display()))
        };
        let mut config = self.config.clone();
        config.logs = folder(&self.config.logs)?;
        config.confinement.private_tmp = folder(&self.config.confinement.private_tmp)?;
        config.confinement.layers = folder(&self.config.confinement.layers)?;
        if let Some(all) = self.config.checkpoints.parent() {
            config.checkpoints = state::checkpoints_of(all, &config.confinement.workspace, &client.word);
        }
        config.passing = vec![
            config.logs.clone(),
            config.confinement.private_tmp.clone(),
            config.confinement.layers.clone(),
        ];
        config.warm = Warm { shells: 1, cells: 1 };
        Ok(config)
    }
}

impl Drop for Clients {
    fn drop(&mut self) {
        for client in self.table.with(std::mem::take).into_values() {
            client.end();
        }
        for folder in &self.config.passing {
            let _ = std::fs::remove_dir_all(folder);
        }
    }
}

/// Ends clients as they reach the idle limit.
async fn end_the_silent(clients: std::sync::Weak<Clients>) {
    loop {
        tokio::time::sleep(CLIENT_LOOK_EVERY).await;
        let Some(clients) = clients.upgrade() else { return };
        for identity in clients.identities() {
            clients.end_if_silent(&identity, clients.idle).await;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Identity;

    #[test]
    fn words_are_short_and_plain() {
        for good in ["a", "agent-7", "A_b-9"] {
            assert!(Identity::word_is_good(good), "{good}");
        }
        for bad in ["", "a.b", "a b", "ü", "a/../b", &"x".repeat(200)] {
            assert!(!Identity::word_is_good(bad), "{bad}");
        }
    }
}
