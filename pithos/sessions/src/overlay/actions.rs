//! What can be done with the files of an overlaid session: diff, undo, commit, discard. A mount cannot change under a living shell, so
//! where the files go back its state is read as a script, its process ends, the layers are changed, and a new process over them is given the script.
//!
//! That carries over variables, functions, aliases, options, traps, the mask, positional parameters and the working directory. Open descriptors, `$?` and
//! background processes are not carried over, so nothing is done as long as processes run.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use pithos_layers::{Change, ChangeKind, Conflict, Done, Layer, Level, Name, Root, changes, commit, unified};
use pithos_sandbox::Plan;
use rush_session::process_tree::{self, Process};

use super::spare::start_over;
use super::state::restore_state;
use super::{Changed, JOURNAL, Kept, Overlay, said};
use crate::error::Error;
use crate::limits::DIFF_LISTED_MAX;
use crate::manager::{Manager, Session};
use crate::shell::Shell;

/// What a session has changed in all.
#[derive(Debug, Clone, Default)]
pub struct Differences {
    /// The changes, bounded, each with the folder that its path is below.
    pub changes: Vec<(PathBuf, Change)>,
    /// How many there are.
    pub count: usize,
    /// A unified diff.
    pub text: String,
    /// Whether the text leaves changes out.
    pub truncated: bool,
    /// Lines that were added, of those in the text.
    pub added: u64,
    /// Lines that were removed, of those in the text.
    pub removed: u64,
}

/// How a commit went.
#[derive(Debug, Clone, Default)]
pub struct Committed {
    /// What is below now.
    pub done: Vec<(PathBuf, Done)>,
    /// Why nothing was committed.
    pub conflicts: Vec<(PathBuf, Conflict)>,
    /// The checkpoints that are gone, because what was replaced below could not be kept for them.
    pub checkpoints: Vec<String>,
    /// What came into the tree of names that are protected in every folder.
    pub protected_created: Vec<PathBuf>,
}

/// How far to go back.
#[derive(Debug, Clone)]
pub enum UndoTo {
    /// To before the last call.
    Last,
    /// To before the call of this job.
    Job(String),
}

impl Session {
    /// How its calls can be undone: `overlay`, `snapshot`, or not at all.
    #[must_use]
    pub fn undo(&self) -> Option<&'static str> {
        let overlay = self.overlay.as_ref()?;
        Some(if overlay.snapshot.is_some() { "snapshot" } else { "overlay" })
    }

    /// Why it has snapshots and no overlay.
    #[must_use]
    pub fn snapshot_because(&self) -> Option<&str> {
        self.overlay.as_ref()?.snapshot.as_deref()
    }
}

impl Manager {
    /// Opens a session whose runs change nothing until that is committed.
    ///
    /// # Errors
    /// As [`Manager::open`]; and when neither overlays nor snapshots can be made.
    pub async fn open_overlaid(&self, name: Option<&str>, cwd: Option<&str>) -> Result<Arc<Session>, Error> {
        let handle = self.new_handle(name)?;
        let roots = self.roots();
        let mut why = match &roots {
            Ok(roots) => self.unfit(roots).await,
            Err(why) => Some(why.clone()),
        };
        let mut made = None;
        if let (Ok(roots), None) = (&roots, &why) {
            match self.spares.take(roots).await {
                Ok(ready) => made = Some(ready),
                Err(error) => why = Some(error.to_string()),
            }
        }
        let (overlay, shell) = match made {
            Some(made) => made,
            None => self.snapshot(why).await?,
        };
        let workspace = self.plan.policy().workspace.clone();
        let session = self.register(handle, shell, workspace.clone(), Some(Arc::new(overlay)))?;
        if let Some(cwd) = cwd {
            let to = workspace.join(cwd);
            if let Err(error) = restore_state(&session.shell(), ":", Some(&to)).await {
                let _ = self.close(&session.handle);
                return Err(match error {
                    Error::Overlay(_) => Error::Directory(cwd.to_string()),
                    other => other,
                });
            }
            session.move_to(to);
        }
        Ok(session)
    }

    /// A copy of a session (the default one without a handle) that runs over an overlay; one that has an overlay is forked.
    ///
    /// # Errors
    /// As [`Manager::open_overlaid`] and [`Manager::fork`].
    pub async fn overlaid_copy(&self, handle: Option<&str>) -> Result<Arc<Session>, Error> {
        let Some(parent) = handle.map(|handle| self.session(handle)).transpose()? else {
            return self.open_overlaid(None, None).await;
        };
        if parent.overlay.is_some() {
            return self.fork(&parent.handle, None).await;
        }
        let copy = self.open_overlaid(None, None).await?;
        let state = {
            let _place = Place::take(&parent)?;
            match &copy.overlay {
                Some(overlay) => self.state_of(&parent, overlay).await?,
                None => String::new(),
            }
        };
        let cwd = parent.cwd();
        restore_state(&copy.shell(), &state, Some(&cwd)).await?;
        copy.move_to(cwd);
        self.set_store(&copy.handle, self.store_of(&parent.handle));
        self.begin_history(&copy, self.history(&parent));
        Ok(copy)
    }

    /// A session over snapshots, for the reason that is given.
    async fn snapshot(&self, why: Option<String>) -> Result<(Overlay, Shell), Error> {
        let why = why.unwrap_or_default();
        let policy = self.plan.policy();
        let whole = policy.workspace.clone();
        // What cannot be written needs no copy.
        let roots = if policy.write.iter().any(|path| whole.starts_with(path) || path.starts_with(&whole)) {
            vec![whole]
        } else {
            Vec::new()
        };
        let overlay = Overlay::begin_over(self.spares.folder(), roots, Some(why.clone())).await;
        let overlay = overlay.map_err(|error| {
            Error::Overlay(format!("no overlay can be made ({why}), and no snapshot either: {error}"))
        })?;
        let shell = Shell::start(&self.guardian, &[]).await.map_err(Error::Shell)?;
        Ok((overlay, shell))
    }

    pub(super) fn roots(&self) -> Result<Vec<PathBuf>, String> {
        self.plan.overlay_roots()
    }

    async fn unfit(&self, roots: &[PathBuf]) -> Option<String> {
        let roots = roots.to_vec();
        let mapped = !self.config.confinement.machine.user_namespace;
        let look = || async move {
            let look = move || roots.iter().find_map(|root| pithos_sandbox::unfit(root, mapped));
            tokio::task::spawn_blocking(look).await.ok().flatten()
        };
        self.overlays_unfit.get_or_init(look).await.clone()
    }

    pub(super) fn overlaid(&self, handle: &str) -> Result<(Arc<Session>, Arc<Overlay>), Error> {
        let session = self.session(handle)?;
        let overlay = session.overlay.clone().ok_or_else(|| Error::NoOverlay(handle.to_string()))?;
        Ok((session, overlay))
    }

    /// As `overlaid`, with a process that lives.
    pub(super) async fn overlaid_alive(&self, handle: &str) -> Result<(Arc<Session>, Arc<Overlay>), Error> {
        let (session, overlay) = self.overlaid(handle)?;
        self.revive(&session).await?;
        Ok((session, overlay))
    }

    /// What the call of a job has changed; none when its session has no overlay, or the call has not ended.
    pub async fn changed(&self, session: &str, job: &str) -> Option<Changed> {
        let (_, overlay) = self.overlaid(session).ok()?;
        let ended = self.job(job).ok()?.end().is_some();
        if ended { overlay.settle(job).await.ok() } else { None }
    }

    /// What the session has changed since it was opened or last committed.
    ///
    /// # Errors
    /// When the session is unknown or has no overlay, or a layer cannot be read.
    pub async fn diff(&self, handle: &str, bytes_max: usize) -> Result<Differences, Error> {
        let (_, overlay) = self.overlaid(handle)?;
        overlay.work(move |kept| kept.diff(bytes_max)).await
    }

    /// Puts what the session has changed into the tree below: all, or these paths with what is below them. With a conflict nothing is done.
    ///
    /// # Errors
    /// When the session is unknown, busy or has no overlay, something of it still runs, or something cannot be written.
    pub async fn commit(&self, handle: &str, paths: &[String]) -> Result<Committed, Error> {
        let (session, overlay) = self.overlaid_alive(handle).await?;
        let selected = self.select(&session, paths)?;
        let (plan, store) = (Arc::clone(&self.plan), self.checkpoints.clone());
        // All in one piece of work, so that no run comes in between.
        self.with_layers_apart(&session, &overlay, true, move |kept| {
            if kept.snapshot {
                return kept.commit(&selected);
            }
            kept.must_have_changed(&selected)?;
            let coming = kept.to_be_committed(&selected)?;
            may_be_committed(&coming, &plan)?;
            let gone = kept.preserve(&store, &coming)?;
            let mut committed = kept.commit(&selected)?;
            committed.checkpoints = gone;
            committed.protected_created = obeyed(&plan, &committed.done);
            kept.tell_committed(&store, &committed.done)?;
            Ok(committed)
        })
        .await
    }

    /// Takes back what the session has changed: all, or these paths with what is below them. Checkpoints stay: what they lie over does.
    ///
    /// # Errors
    /// As [`Manager::commit`].
    pub async fn discard(&self, handle: &str, paths: &[String]) -> Result<(), Error> {
        let (session, overlay) = self.overlaid_alive(handle).await?;
        let selected = self.select(&session, paths)?;
        self.with_layers_apart(&session, &overlay, true, move |kept| {
            kept.must_have_changed(&selected)?;
            kept.discard(&selected)
        })
        .await
    }

    /// Makes the files as they were before a call. The shell's state stays.
    ///
    /// # Errors
    /// As [`Manager::commit`]; and when the call is not remembered.
    pub async fn undo(&self, handle: &str, to: UndoTo) -> Result<Vec<String>, Error> {
        let (session, overlay) = self.overlaid_alive(handle).await?;
        if overlay.snapshot.is_none()
            && let Some(undone) = self.undo_in_place(&session, &overlay, to.clone()).await?
        {
            return Ok(undone);
        }
        self.with_layers_apart(&session, &overlay, true, move |kept| kept.undo(&to)).await
    }

    /// Undoes below the mount that the session's shell is in, which keeps its process: nothing else runs, it has none of the files open, and the folders that it
    /// is in stay; so when the kernel has forgotten all other names, it sees the layer as it is then. None, and nothing done, where that is not so.
    async fn undo_in_place(
        &self,
        session: &Arc<Session>,
        overlay: &Arc<Overlay>,
        to: UndoTo,
    ) -> Result<Option<Vec<String>>, Error> {
        let place = Place::take(session)?;
        self.nothing_runs(session).await?;
        if let Some(job) = session.last_job() {
            overlay.settle(&job.handle).await?;
        }
        let (pid, cwd) = (session.pid(), session.cwd());
        let undone = overlay
            .work(move |kept| {
                if holds_files(pid, &kept.roots()) {
                    return Ok(None);
                }
                kept.catch_up()?;
                let at = kept.place_of(&to)?;
                if !kept.keeps_folders_of(&cwd, &kept.calls[at].before) {
                    return Ok(None);
                }
                Ok(Some((kept.undo(&to)?, kept.roots())))
            })
            .await?;
        let Some((undone, roots)) = undone else { return Ok(None) };
        let refreshed = self.guardian.refresh(pid, roots).await;
        drop(place);
        if refreshed.is_err() {
            // Another mount then.
            self.with_layers_apart(session, overlay, false, |_| Ok(())).await?;
        }
        Ok(Some(undone))
    }

    /// The paths of a call as names below each root.
    fn select(&self, session: &Session, paths: &[String]) -> Result<Vec<(PathBuf, Name)>, Error> {
        let roots = self.roots().unwrap_or_else(|_| vec![self.plan.policy().workspace.clone()]);
        let cwd = session.cwd();
        let name = |path: &String| {
            let full = plain(&cwd.join(path));
            roots
                .iter()
                .find_map(|root| Some((root.clone(), Name::new(full.strip_prefix(root).ok()?)?)))
                .ok_or_else(|| Error::Overlay(format!("{path} is in no folder that the session may write")))
        };
        paths.iter().map(name).collect()
    }

    /// Does something with the layers while nothing is mounted over them, and gives the session its shell back.
    async fn with_layers_apart<R: Send + 'static>(
        &self,
        session: &Arc<Session>,
        overlay: &Arc<Overlay>,
        settle: bool,
        work: impl FnOnce(&mut Kept) -> Result<R, Error> + Send + 'static,
    ) -> Result<R, Error> {
        let place = Place::take(session)?;
        self.nothing_runs(session).await?;
        if settle && let Some(job) = session.last_job() {
            overlay.settle(&job.handle).await?;
        }
        if overlay.snapshot.is_some() {
            return overlay.work(work).await;
        }
        let state = self.state_of(session, overlay).await?;
        let cwd = session.cwd();
        self.end_shell(session).await;
        let done = overlay.work(work).await;
        // Whatever came of it, the session goes on.
        let begun = self.begin_shell(session, overlay, &state, &cwd).await;
        drop(place);
        let done = done?;
        begun.map(|()| done)
    }

    pub(super) async fn nothing_runs(&self, session: &Session) -> Result<(), Error> {
        let pid = session.pid();
        let below = tokio::task::spawn_blocking(move || process_tree::running(pid)).await;
        let shown = |process: Process| {
            // A copy of the shell has the command line of the server's worker, which says nothing to anybody.
            let is_shell = process.command.starts_with("/proc/self/exe ");
            let command = if is_shell { "a part of the shell" } else { process.command.as_str() };
            format!("{command} ({})", process.pid)
        };
        let names: Vec<String> = below.unwrap_or_default().into_iter().map(shown).take(5).collect();
        if names.is_empty() {
            return Ok(());
        }
        Err(Error::StillRuns { session: session.handle.clone(), processes: names.join(", ") })
    }

    pub(crate) async fn end_shell(&self, session: &Session) {
        let pid = session.pid();
        let _ = self.guardian.end(pid);
        let _ = self.guardian.ended(pid).await;
    }

    pub(crate) async fn begin_shell(
        &self,
        session: &Arc<Session>,
        overlay: &Overlay,
        state: &str,
        cwd: &Path,
    ) -> Result<(), Error> {
        let shell = start_over(&self.guardian, overlay).await?;
        let unit = self.session_unit(&session.handle, shell.pid());
        let (_, former) = session.replace_process(shell, unit);
        former.end(None);
        let shell = session.shell();
        // The folder may be gone with what was undone.
        let cwd = match restore_state(&shell, state, Some(cwd)).await {
            Ok(()) => cwd.to_owned(),
            Err(_) => {
                let workspace = self.plan.policy().workspace.clone();
                restore_state(&shell, state, Some(&workspace)).await?;
                workspace
            }
        };
        session.move_to(cwd);
        Ok(())
    }
}

/// The place of a session's run, as long as this lives.
pub(super) struct Place<'a>(&'a Session);

impl<'a> Place<'a> {
    pub(super) fn take(session: &'a Session) -> Result<Place<'a>, Error> {
        if session.occupy() {
            return Ok(Place(session));
        }
        let job = session.running().map(|job| job.handle.clone());
        Err(Error::Busy { session: session.handle.clone(), job })
    }
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        self.0.vacate();
    }
}

/// Whether a process has something below these folders open, or one cannot know.
fn holds_files(pid: u32, roots: &[PathBuf]) -> bool {
    let Ok(entries) = std::fs::read_dir(format!("/proc/{pid}/fd")) else { return true };
    entries.flatten().any(|entry| {
        std::fs::read_link(entry.path())
            .map_or(true, |target| roots.iter().any(|root| target.starts_with(root)))
    })
}

/// A path without `.` and `..`, by its text.
fn plain(path: &Path) -> PathBuf {
    let mut found = PathBuf::new();
    for part in path.components() {
        match part {
            std::path::Component::ParentDir => drop(found.pop()),
            std::path::Component::CurDir => {}
            part => found.push(part),
        }
    }
    found
}

/// Whether the policy lets a session write what is at `name` below `root`; the path and the rule when it does not.
fn may_be_written(plan: &Plan, root: &Path, name: &Name) -> Result<(), (String, String)> {
    let path = root.join(name.path());
    let is_link = |at: &Path| at.symlink_metadata().is_ok_and(|data| data.is_symlink());
    let linked = path.ancestors().take_while(|at| *at != root).any(is_link);
    if !linked {
        let checked = plan.check_path(&path, pithos_sandbox::Access::Write);
        return checked.map_err(|denial| (denial.subject, denial.rule));
    }
    // What is a link below is replaced, and not what it leads to: so the name counts by itself.
    let resolved = plan.policy();
    let listed = |list: &[PathBuf]| list.iter().any(|at| path.starts_with(at));
    let kept = [&resolved.protect, &resolved.protect_absent, &resolved.hide];
    if !resolved.policy.confine || listed(&resolved.write) && !kept.into_iter().any(|list| listed(list)) {
        return Ok(());
    }
    Err((path.display().to_string(), format!("policy {:?} does not let it be written", resolved.policy.name)))
}

/// What was put into place of names that are protected in every folder.
fn obeyed(plan: &Plan, done: &[(PathBuf, Done)]) -> Vec<PathBuf> {
    let there = done.iter().filter(|(_, done)| done.change != ChangeKind::Deleted);
    let real = there.map(|(root, done)| root.join(done.path.path()));
    let policy = plan.policy();
    // A folder that is new is one change with all that is in it.
    let named = |path: PathBuf| policy.nested_name(&path).or_else(|| policy.nested_in_moved(&path, &path));
    let mut paths: Vec<PathBuf> = real.filter_map(named).collect();
    paths.sort();
    paths.dedup();
    paths
}

/// Whether the policy allows all that is to be committed: what no session may write comes into the tree by no commit either.
fn may_be_committed(coming: &[(PathBuf, Change)], plan: &Plan) -> Result<(), Error> {
    coming.iter().try_for_each(|(root, change)| {
        may_be_written(plan, root, &change.path).map_err(|(path, rule)| {
            Error::Overlay(format!("{path} is not committed: {rule}; discard it, or commit the other paths"))
        })
    })
}

impl Kept {
    /// Takes note of what background processes have changed since the last call.
    pub(super) fn catch_up(&mut self) -> Result<(), Error> {
        let snapshot = self.snapshot;
        self.parts.iter_mut().try_for_each(|part| part.look(snapshot).map(drop).map_err(said))
    }

    fn diff(&mut self, bytes_max: usize) -> Result<Differences, Error> {
        let mut all = Differences::default();
        let comparison = self.folder.join("compared");
        if self.snapshot {
            self.catch_up()?;
        }
        for part in &self.parts {
            let (layer, found) = if self.snapshot {
                let found = part.level.changes_since(&part.first, None).map_err(said)?;
                if comparison.exists() {
                    std::fs::remove_dir_all(&comparison).map_err(said)?;
                }
                std::fs::create_dir(&comparison).map_err(said)?;
                let before = Root::open(&comparison).map_err(said)?;
                let names = found.iter().map(|change| &change.path);
                part.first.extract(names, &before, &part.blobs).map_err(said)?;
                (Layer::open(&part.root, &comparison).map_err(said)?, found)
            } else {
                let layer = Layer::open(&part.upper, &part.root).map_err(said)?;
                let found = changes(&layer).map_err(said)?;
                (layer, found)
            };
            let left = bytes_max.saturating_sub(all.text.len());
            let diff = unified(&layer, &found, left).map_err(said)?;
            all.text.push_str(&diff.text);
            all.truncated |= diff.truncated;
            all.added += diff.added;
            all.removed += diff.removed;
            all.count += found.len();
            let room = DIFF_LISTED_MAX.saturating_sub(all.changes.len());
            all.changes.extend(found.into_iter().take(room).map(|change| (part.root.clone(), change)));
        }
        Ok(all)
    }

    fn commit(&mut self, selected: &[(PathBuf, Name)]) -> Result<Committed, Error> {
        if self.snapshot {
            if !selected.is_empty() {
                return Err(Error::Overlay("with snapshots all is committed, or nothing".to_owned()));
            }
            self.begin_anew()?;
            return Ok(Committed::default());
        }
        let opened = self.parts.iter().map(|part| Layer::open(&part.upper, &part.root).map_err(said));
        let layers = opened.collect::<Result<Vec<_>, _>>()?;
        let mut wanted = Vec::new();
        for (part, layer) in self.parts.iter().zip(&layers) {
            let names: Vec<Name> = selected
                .iter()
                .filter(|(root, _)| *root == part.root)
                .map(|(_, name)| name.clone())
                .collect();
            // None is all, so a layer of which nothing is wanted is left out.
            if selected.is_empty() || !names.is_empty() {
                wanted.push((layer, &part.base, names));
            }
        }
        let report = commit(&wanted, &self.folder.join(JOURNAL), None);
        super::COMMITS.fetch_add(1, Ordering::SeqCst);
        let report = report.map_err(said)?;
        let roots: Vec<PathBuf> = wanted.iter().map(|(layer, ..)| layer.lower.path().to_owned()).collect();
        let named = |list: Vec<Vec<Done>>| -> Vec<(PathBuf, Done)> {
            list.into_iter()
                .zip(&roots)
                .flat_map(|(list, root)| list.into_iter().map(|one| (root.clone(), one)))
                .collect()
        };
        let conflicts: Vec<(PathBuf, Conflict)> = report
            .conflicts
            .into_iter()
            .zip(&roots)
            .flat_map(|(list, root)| list.into_iter().map(|one| (root.clone(), one)))
            .collect();
        let committed = Committed { done: named(report.done), conflicts, ..Committed::default() };
        drop(wanted);
        if committed.conflicts.is_empty() {
            if selected.is_empty() {
                self.begin_anew()?;
            } else {
                let now = self.now()?;
                for (root, done) in &committed.done {
                    for part in self.parts.iter_mut().filter(|part| part.root == *root) {
                        part.base.since.insert(done.path.clone(), now);
                    }
                }
                self.calls.clear();
                self.catch_up()?;
            }
        }
        Ok(committed)
    }

    /// Empty layers, from now on; no call is gone back behind this.
    fn begin_anew(&mut self) -> Result<(), Error> {
        self.calls.clear();
        let now = self.now()?;
        for number in 0..self.parts.len() {
            let generation = self.parts[number].generation + 1;
            let upper = self.layer_path(number, generation);
            let part = &mut self.parts[number];
            if !self.snapshot {
                Layer::create(&upper, &part.root).map_err(said)?;
                let former = std::mem::replace(&mut part.upper, upper);
                part.generation = generation;
                // Removing takes longer than anybody wants to wait.
                std::thread::spawn(move || drop(std::fs::remove_dir_all(former)));
            }
            part.base = pithos_layers::Base { begun: now, ..Default::default() };
            part.look(self.snapshot).map_err(said)?;
            part.first = part.level.clone();
        }
        self.forget_blobs()
    }

    fn discard(&mut self, selected: &[(PathBuf, Name)]) -> Result<(), Error> {
        if self.snapshot {
            if !selected.is_empty() {
                return Err(Error::Overlay(
                    "with snapshots all is discarded, or nothing: undo goes call by call".to_owned(),
                ));
            }
            let first = self.parts.iter().map(|part| part.first.clone()).collect();
            self.calls.clear();
            return self.restore(first);
        }
        if selected.is_empty() {
            return self.begin_anew();
        }
        for (root, name) in selected {
            for part in self.parts.iter().filter(|part| part.root == *root) {
                let layer = Layer::open(&part.upper, &part.root).map_err(said)?;
                layer.discard(name).map_err(said)?;
            }
        }
        for part in &mut self.parts {
            let gone = selected.iter().filter(|(root, _)| *root == part.root);
            for (_, name) in gone {
                part.base.since.retain(|known, _| !known.is_in(name));
                part.base.had.retain(|known| !known.is_in(name));
            }
        }
        self.catch_up()
    }

    /// Whether the folders from each root down to `folder`, which a process is in, are the same in these levels as now.
    fn keeps_folders_of(&self, folder: &Path, levels: &[Level]) -> bool {
        self.parts.iter().zip(levels).all(|(part, level)| {
            let Ok(below) = folder.strip_prefix(&part.root) else { return true };
            below.ancestors().all(|path| {
                let Some(name) = Name::new(path) else { return false };
                let key = |node: &pithos_layers::Node| (node.kind, node.ino, node.mode);
                part.level.node(&name).map(key) == level.node(&name).map(key)
            })
        })
    }

    /// Goes back to before a call; the jobs whose changes are gone.
    fn undo(&mut self, to: &UndoTo) -> Result<Vec<String>, Error> {
        self.catch_up()?;
        let at = self.place_of(to)?;
        let levels = self.calls[at].before.clone();
        self.restore(levels)?;
        let undone = self.calls.drain(at..).map(|call| call.job).collect();
        // It is done; copies that cannot be removed go with the session.
        drop(self.forget_blobs());
        Ok(undone)
    }

    /// Which of the calls that can be undone is meant.
    fn place_of(&self, to: &UndoTo) -> Result<usize, Error> {
        let at = match to {
            UndoTo::Last => self.calls.len().checked_sub(1),
            UndoTo::Job(job) => self.calls.iter().position(|call| call.job == *job),
        };
        at.ok_or_else(|| match to {
            UndoTo::Last => Error::Overlay("there is no call to undo".to_owned()),
            UndoTo::Job(job) => {
                let known: Vec<&str> = self.calls.iter().map(|call| call.job.as_str()).collect();
                Error::Overlay(format!("the call '{job}' cannot be undone; these can: {}", known.join(", ")))
            }
        })
    }
}
