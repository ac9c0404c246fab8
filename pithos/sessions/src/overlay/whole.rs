//! Checkpoints of the whole: files, shell, the stores of cells and which jobs had run, under one handle that outlives session and server; and forks, of a
//! session or of a checkpoint. Both make a new shell over layers that hold what is wanted, and only then take it for a session's own: what fails
//! leaves the session as it was.

use std::path::PathBuf;
use std::sync::Arc;

use pithos_layers::Blobs;

use super::actions::Place;
use super::state::restore_state;
use super::{Kept, Overlay};
use crate::checkpoints::{Checkpoint, Files, RanJob, Record, RecordedPart, Wanted};
use crate::error::Error;
use crate::limits::LEVEL_BYTES_MAX;
use crate::manager::{Manager, Session};
use crate::shell::Shell;

/// A new overlay that holds what was wanted, its shell, and where that is.
struct Begun {
    overlay: Overlay,
    shell: Shell,
    cwd: PathBuf,
}

impl Manager {
    /// Keeps files, shell, stores and the list of jobs as they are now. Without a name or seconds to live it goes after a week.
    ///
    /// # Errors
    /// When the session is unknown, busy or has no overlay, the name is taken, there is no room, or its state cannot be read.
    pub async fn checkpoint(
        &self,
        handle: &str,
        name: Option<&str>,
        ttl_s: Option<u64>,
    ) -> Result<Checkpoint, Error> {
        let (session, overlay) = self.overlaid_alive(handle).await?;
        let place = Place::take(&session)?;
        let shell = self.state_of(&session, &overlay).await?;
        let (cwd, jobs) = (session.cwd(), self.history(&session));
        let store = self.store_of(&session.handle);
        let (keeper, snapshot) = (self.checkpoints.clone(), overlay.snapshot.is_some());
        let wanted = Wanted { name: name.map(str::to_owned), ttl_s, session: session.handle.clone() };
        let made = overlay
            .work(move |kept| {
                kept.catch_up()?;
                let files = if snapshot { Files::Snapshot } else { Files::Overlay };
                let mut record = Record::new(files, kept.recorded()?, shell, cwd);
                (record.store, record.jobs, record.lineage) = (store, jobs, kept.lineage.clone());
                keeper.put(wanted, &record, &kept.blobs())
            })
            .await;
        drop(place);
        made
    }

    /// The checkpoints of this workspace, oldest first.
    ///
    /// # Errors
    /// When their folder cannot be read.
    pub async fn checkpoints(&self) -> Result<Vec<Checkpoint>, Error> {
        let keeper = self.checkpoints.clone();
        super::blocking(move || keeper.list()).await
    }

    /// Removes a checkpoint.
    ///
    /// # Errors
    /// When there is none of that name, or it cannot be removed.
    pub async fn delete_checkpoint(&self, checkpoint: &str) -> Result<(), Error> {
        let (keeper, checkpoint) = (self.checkpoints.clone(), checkpoint.to_owned());
        super::blocking(move || keeper.delete(&checkpoint)).await
    }

    /// Makes a session as it was at a checkpoint, its own or another's; the jobs that had run by then.
    ///
    /// # Errors
    /// As [`Manager::commit`]; and when there is no such checkpoint, or it is of other folders.
    pub async fn restore(&self, handle: &str, checkpoint: &str) -> Result<Vec<RanJob>, Error> {
        let (session, overlay) = self.overlaid_alive(handle).await?;
        let (_, record, blobs) = self.recorded(checkpoint).await?;
        let place = Place::take(&session)?;
        self.nothing_runs(&session).await?;
        let (store, jobs) = (record.store.clone(), record.jobs.clone());
        if overlay.snapshot.is_some() {
            self.restore_snapshot(&session, &overlay, record, blobs).await?;
        } else {
            let begun = self.begin_from(record, blobs).await?;
            let unit = self.session_unit(&session.handle, begun.shell.pid());
            let former_files = overlay.become_that(begun.overlay).await?;
            let (former, former_unit) = session.replace_process(begun.shell, unit);
            session.move_to(begun.cwd);
            former_unit.end(None);
            let (guardian, pid) = (self.guardian.clone(), former.pid());
            tokio::spawn(async move {
                let _ = guardian.end(pid);
                let _ = guardian.ended(pid).await;
                let _ = tokio::task::spawn_blocking(move || std::fs::remove_dir_all(former_files)).await;
            });
        }
        self.set_store(&session.handle, store);
        self.begin_history(&session, jobs.clone());
        drop(place);
        Ok(jobs)
    }

    /// A new session as a checkpoint says.
    ///
    /// # Errors
    /// When there is no such checkpoint, it is of other folders or of a session with snapshots, or no session can be opened.
    pub async fn fork_checkpoint(&self, checkpoint: &str, name: Option<&str>) -> Result<Arc<Session>, Error> {
        let handle = self.new_handle(name)?;
        let (_, record, blobs) = self.recorded(checkpoint).await?;
        let (store, jobs) = (record.store.clone(), record.jobs.clone());
        let Begun { overlay, shell, cwd } = self.begin_from(record, blobs).await?;
        let session = self.register(handle, shell, cwd, Some(Arc::new(overlay)))?;
        self.set_store(&session.handle, store);
        self.begin_history(&session, jobs);
        Ok(session)
    }

    /// A copy of an overlaid session: files, and shell.
    pub(crate) async fn fork_overlaid(
        &self,
        parent: &Arc<Session>,
        overlay: &Arc<Overlay>,
        handle: String,
    ) -> Result<Arc<Session>, Error> {
        if overlay.snapshot.is_some() {
            return Err(Error::Overlay(
                "a session with snapshots cannot be forked: its files are the workspace's own, and there is one of that".to_owned(),
            ));
        }
        let place = Place::take(parent)?;
        let state = self.state_of(parent, overlay).await?;
        let roots = overlay.work(|kept| Ok(kept.roots())).await?;
        let (copy, shell) = self.spares.take(&roots).await?;
        let theirs = Arc::clone(&copy.kept);
        let copied = overlay
            .work(move |kept| {
                kept.catch_up()?;
                let parts = kept.recorded()?.into_iter().map(|part| (part.level, part.base)).collect();
                theirs.blocking_lock().take_over(parts, &kept.blobs())
            })
            .await;
        drop(place);
        let cwd = self.settle_in(&copy, &shell, copied, roots, &state, parent.cwd()).await?;
        self.register(handle, shell, cwd, Some(Arc::new(copy)))
    }

    async fn recorded(&self, checkpoint: &str) -> Result<(Checkpoint, Record, Vec<Blobs>), Error> {
        let (keeper, checkpoint) = (self.checkpoints.clone(), checkpoint.to_owned());
        super::blocking(move || keeper.get(&checkpoint)).await
    }

    /// A shell over new layers that hold what a checkpoint says.
    async fn begin_from(&self, record: Record, blobs: Vec<Blobs>) -> Result<Begun, Error> {
        let roots = self.roots().map_err(Error::Overlay)?;
        let theirs: Vec<&PathBuf> = record.parts.iter().map(|part| &part.root).collect();
        if record.files != Files::Overlay || theirs != roots.iter().collect::<Vec<_>>() {
            return Err(Error::Checkpoint(
                "the checkpoint is of a session over other folders, or of one with snapshots".to_owned(),
            ));
        }
        let (overlay, shell) = self.spares.take(&roots).await?;
        let parts = record.parts.into_iter().map(|part| (part.level, part.base)).collect();
        let filled = overlay.work(move |kept| kept.take_over(parts, &blobs.iter().collect::<Vec<_>>())).await;
        let cwd = self.settle_in(&overlay, &shell, filled, roots, &record.shell, record.cwd).await?;
        Ok(Begun { overlay, shell, cwd })
    }

    /// Gives a shell over layers that have just been filled the state of another; where it is then. Nothing is left when that fails.
    async fn settle_in(
        &self,
        overlay: &Overlay,
        shell: &Shell,
        filled: Result<(), Error>,
        roots: Vec<PathBuf>,
        state: &str,
        cwd: PathBuf,
    ) -> Result<PathBuf, Error> {
        let settled = async {
            filled?;
            // The mount has seen the layers empty.
            self.guardian.refresh(shell.pid(), roots).await.map_err(Error::Shell)?;
            if restore_state(shell, state, Some(&cwd)).await.is_ok() {
                return Ok(cwd);
            }
            // The folder may not be there any more.
            let workspace = self.plan.policy().workspace.clone();
            restore_state(shell, state, Some(&workspace)).await.map(|()| workspace)
        };
        let settled = settled.await;
        if settled.is_err() {
            self.guardian.end_and_forget(shell.pid());
            overlay.remove_later();
        }
        settled
    }

    /// Where files are the workspace's own they are changed in place, and the shell begins anew.
    async fn restore_snapshot(
        &self,
        session: &Arc<Session>,
        overlay: &Arc<Overlay>,
        record: Record,
        blobs: Vec<Blobs>,
    ) -> Result<(), Error> {
        let (shell, cwd) = (record.shell.clone(), record.cwd.clone());
        self.end_shell(session).await;
        let restored = overlay
            .work(move |kept| {
                let same =
                    record.parts.iter().map(|part| &part.root).eq(kept.parts.iter().map(|part| &part.root));
                if record.files != Files::Snapshot || !same {
                    return Err(Error::Checkpoint(
                        "the checkpoint is of other folders, or of a session with an overlay".to_owned(),
                    ));
                }
                kept.calls.clear();
                let parts = record.parts.into_iter().map(|part| (part.level, part.base)).collect();
                kept.take_over(parts, &blobs.iter().collect::<Vec<_>>())
            })
            .await;
        // Whatever came of it, the session goes on.
        let begun = self.begin_shell(session, overlay, &shell, &cwd).await;
        restored.and(begun)
    }
}

impl Kept {
    /// The folders as they are now, to be kept.
    fn recorded(&self) -> Result<Vec<RecordedPart>, Error> {
        if self.parts.iter().any(|part| !part.level.is_kept()) {
            return Err(Error::Overlay(format!("more than {LEVEL_BYTES_MAX} bytes have changed at once")));
        }
        let part = |part: &super::Part| RecordedPart {
            root: part.root.clone(),
            level: part.level.clone(),
            base: part.base.clone(),
        };
        Ok(self.parts.iter().map(part).collect())
    }

    fn blobs(&self) -> Vec<&Blobs> {
        self.parts.iter().map(|part| &part.blobs).collect()
    }
}
