//! Shells that wait over an empty overlay: a mount, its rules and the threads that watch it take ten times as long to make as a session is given. Owns those
//! that wait. Nobody waits for them: who finds none makes one.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use super::{Kept, Overlay};
use crate::error::Error;
use crate::guardian::Guardian;
use crate::limits::OVERLAYS_WARM;
use crate::shell::Shell;
use crate::sync::Locked;

/// An empty overlay and a shell in it.
type Ready = (Overlay, Shell);

/// Where overlays are made, and those that wait.
pub(crate) struct Spares {
    guardian: Guardian,
    layers: PathBuf,
    next: AtomicU64,
    ready: Locked<Vec<Ready>>,
    filling: AtomicBool,
}

impl Spares {
    pub(crate) fn new(guardian: Guardian, layers: &Path) -> Arc<Spares> {
        Arc::new(Spares {
            guardian,
            layers: layers.to_owned(),
            next: AtomicU64::new(1),
            ready: Locked::default(),
            filling: AtomicBool::new(false),
        })
    }

    /// A folder for the layers of one session; nothing has that name.
    pub(crate) fn folder(&self) -> PathBuf {
        self.layers.join(self.next.fetch_add(1, Ordering::Relaxed).to_string())
    }

    /// A shell over empty overlays of these folders.
    pub(crate) async fn take(self: &Arc<Self>, roots: &[PathBuf]) -> Result<Ready, Error> {
        let waiting = loop {
            match self.ready.with(Vec::pop) {
                Some((_, shell)) if !shell.alive() => self.guardian.end_and_forget(shell.pid()),
                found => break found,
            }
        };
        let ready = match waiting {
            Some((overlay, shell)) => {
                let pid = shell.pid();
                overlay.work(Kept::renew).await?;
                match self.guardian.refresh(pid, roots.to_vec()).await {
                    Ok(()) => (overlay, shell),
                    Err(_) => {
                        self.guardian.end_and_forget(pid);
                        overlay.remove_later();
                        self.make(roots).await?
                    }
                }
            }
            None => self.make(roots).await?,
        };
        self.fill(roots.to_vec());
        Ok(ready)
    }

    async fn make(&self, roots: &[PathBuf]) -> Result<Ready, Error> {
        let overlay = Overlay::begin_over(self.folder(), roots.to_vec(), None).await?;
        match start_over(&self.guardian, &overlay).await {
            Ok(shell) => Ok((overlay, shell)),
            Err(error) => {
                overlay.remove_later();
                Err(error)
            }
        }
    }

    fn fill(self: &Arc<Self>, roots: Vec<PathBuf>) {
        if self.filling.swap(true, Ordering::SeqCst) {
            return;
        }
        let spares = Arc::clone(self);
        tokio::spawn(async move {
            while spares.ready.with(|ready| ready.len()) < OVERLAYS_WARM {
                match spares.make(&roots).await {
                    Ok(made) => spares.ready.with(|ready| ready.push(made)),
                    // Who asks for one meets the same error and reports it.
                    Err(_) => break,
                }
            }
            spares.filling.store(false, Ordering::SeqCst);
        });
    }
}

/// A shell over the layers of an overlay as they are.
pub(super) async fn start_over(guardian: &Guardian, overlay: &Overlay) -> Result<Shell, Error> {
    if overlay.snapshot.is_some() {
        return Shell::start(guardian, &[]).await.map_err(Error::Shell);
    }
    let requests = overlay.work(Kept::requests).await?;
    Shell::start_over(guardian, requests).await.map_err(Error::Shell)
}
