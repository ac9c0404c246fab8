//! What can be done with an overlaid session: diff, undo, commit, discard, checkpoint, restore, fork. A mount cannot change under a living shell, so
//! where the files go back its state is read as a script, its process ends, the layers are changed, and a new process over them is given the script.
//!
//! That carries over variables, functions, aliases, options, traps, the mask, positional parameters and the working directory. Open descriptors, `$?` and
//! background processes are not carried over, so nothing is done as long as processes run.

use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use pithos_layers::{Change, Conflict, Done, Layer, Level, Name, Root, changes, commit, unified};
use pithos_sandbox::Plan;
use rush_session::Run;
use rush_session::process_tree::{self, Process};

use super::{Changed, JOURNAL, Kept, Overlay, Saved, said};
use crate::error::Error;
use crate::limits::{
    CHECKPOINTS_MAX, DIFF_LISTED_MAX, LEVEL_BYTES_MAX, SHELL_STATE_BYTES_MAX, SHELL_STATE_TIMEOUT_MS,
};
use crate::manager::{Manager, Session};
use crate::shell::{Ended, Shell};

/// Prints a shell's state as a script. By `builtin`, because functions may have any name.
const DESCRIBE: &str = "builtin shopt -p; builtin umask -p; builtin declare -p; builtin declare -f; builtin declare -Fx; builtin alias -p; builtin trap -p
if [[ $# -gt 0 ]]; then builtin printf 'builtin set --'; builtin printf ' %q' \"$@\"; builtin echo; fi
builtin shopt -po";

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
    /// The checkpoints that are gone, because they lie over what is not below any more.
    pub checkpoints: Vec<String>,
}

/// A checkpoint as lists show it.
#[derive(Debug, Clone)]
pub struct Checkpoint {
    /// `c1` and so on.
    pub handle: String,
    /// Bytes of its changed files.
    pub bytes: u64,
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
            let overlay = Overlay::begin_over(self.layers_folder(), roots.clone(), None).await?;
            match self.shell_over(&overlay).await {
                Ok(shell) => made = Some((overlay, shell)),
                Err(error) => {
                    overlay.remove_later();
                    why = Some(error.to_string());
                }
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
        let overlay = Overlay::begin_over(self.layers_folder(), roots, Some(why.clone())).await;
        let overlay = overlay.map_err(|error| {
            Error::Overlay(format!("no overlay can be made ({why}), and no snapshot either: {error}"))
        })?;
        let shell = Shell::start(&self.guardian, &[]).await.map_err(Error::Shell)?;
        Ok((overlay, shell))
    }

    fn roots(&self) -> Result<Vec<PathBuf>, String> {
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

    fn layers_folder(&self) -> PathBuf {
        let number = self.next_layers.fetch_add(1, Ordering::Relaxed);
        self.config.confinement.layers.join(number.to_string())
    }

    async fn shell_over(&self, overlay: &Overlay) -> Result<Shell, Error> {
        if overlay.snapshot.is_some() {
            return Shell::start(&self.guardian, &[]).await.map_err(Error::Shell);
        }
        let requests = overlay.work(Kept::requests).await?;
        Shell::start_over(&self.guardian, requests).await.map_err(Error::Shell)
    }

    fn overlaid(&self, handle: &str) -> Result<(Arc<Session>, Arc<Overlay>), Error> {
        let session = self.session(handle)?;
        let overlay = session.overlay.clone().ok_or_else(|| Error::NoOverlay(handle.to_string()))?;
        Ok((session, overlay))
    }

    /// As `overlaid`, with a process that lives.
    async fn overlaid_alive(&self, handle: &str) -> Result<(Arc<Session>, Arc<Overlay>), Error> {
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
        let plan = Arc::clone(&self.plan);
        // Both in one piece of work, so that no run comes in between.
        self.with_layers_apart(&session, &overlay, true, move |kept| {
            kept.may_be_committed(&selected, &plan)?;
            kept.commit(&selected)
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
        self.with_layers_apart(&session, &overlay, true, move |kept| kept.discard(&selected)).await
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

    /// Keeps files and shell as they are now.
    ///
    /// # Errors
    /// When the session is unknown, busy or has no overlay, there are too many checkpoints, or its state cannot be read.
    pub async fn checkpoint(&self, handle: &str) -> Result<Checkpoint, Error> {
        let (session, overlay) = self.overlaid_alive(handle).await?;
        let place = Place::take(&session)?;
        let shell = self.state_of(&session, &overlay).await?;
        let cwd = session.cwd();
        let made = overlay
            .work(move |kept| {
                if kept.checkpoints.len() >= CHECKPOINTS_MAX {
                    return Err(Error::Overlay(format!(
                        "the session has {CHECKPOINTS_MAX} checkpoints: close it, or work on"
                    )));
                }
                kept.catch_up()?;
                let levels = kept.levels();
                if levels.iter().any(|level| !level.is_kept()) {
                    return Err(Error::Overlay(format!(
                        "more than {LEVEL_BYTES_MAX} bytes have changed at once"
                    )));
                }
                let handle = format!("c{}", kept.next_checkpoint);
                kept.next_checkpoint += 1;
                let bytes = levels.iter().map(Level::bytes).sum();
                let bases = kept.parts.iter().map(|part| part.base.clone()).collect();
                kept.checkpoints.insert(handle.clone(), Saved { levels, bases, shell, cwd });
                Ok(Checkpoint { handle, bytes })
            })
            .await;
        drop(place);
        made
    }

    /// Makes files and shell as they were at a checkpoint.
    ///
    /// # Errors
    /// As [`Manager::commit`]; and when there is no such checkpoint.
    pub async fn restore(&self, handle: &str, checkpoint: &str) -> Result<(), Error> {
        let (session, overlay) = self.overlaid_alive(handle).await?;
        let wanted = checkpoint.to_owned();
        let (shell, cwd) = overlay
            .work(move |kept| {
                let saved = kept.checkpoints.get(&wanted).ok_or_else(|| {
                    let known: Vec<&str> = kept.checkpoints.keys().map(String::as_str).collect();
                    Error::Overlay(format!(
                        "there is no checkpoint '{wanted}'; there are: {}",
                        known.join(", ")
                    ))
                })?;
                Ok((saved.shell.clone(), saved.cwd.clone()))
            })
            .await?;
        let wanted = checkpoint.to_owned();
        let place = Place::take(&session)?;
        self.nothing_runs(&session).await?;
        self.end_shell(&session).await;
        let restored = overlay
            .work(move |kept| {
                let Some(saved) = kept.checkpoints.get(&wanted) else { return Ok(()) };
                let (levels, bases) = (saved.levels.clone(), saved.bases.clone());
                kept.calls.clear();
                kept.restore(levels)?;
                // What it lies over was known by then, and may be forgotten since.
                kept.parts.iter_mut().zip(bases).for_each(|(part, base)| part.base = base);
                Ok(())
            })
            .await;
        // Whatever came of it, the session goes on.
        let begun = self.begin_shell(&session, &overlay, &shell, &cwd).await;
        drop(place);
        restored.and(begun)
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
        let folder = self.layers_folder();
        let kept = overlay.work(move |kept| kept.copy(folder)).await?;
        drop(place);
        let copy = Overlay {
            snapshot: None,
            folder: kept.folder.clone(),
            kept: Arc::new(tokio::sync::Mutex::new(kept)),
        };
        let shell = self.shell_over(&copy).await?;
        let cwd = parent.cwd();
        restore_state(&shell, &state, Some(&cwd)).await?;
        self.register(handle, shell, cwd, Some(Arc::new(copy)))
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

    async fn nothing_runs(&self, session: &Session) -> Result<(), Error> {
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
        let shell = self.shell_over(overlay).await?;
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

    /// The state of a session's shell as a script.
    async fn state_of(&self, session: &Session, overlay: &Overlay) -> Result<String, Error> {
        let path = overlay.folder.join("shell");
        let _ = std::fs::remove_file(&path);
        let file = std::fs::File::create_new(&path).map_err(said)?;
        let run = Run {
            id: 0,
            script: DESCRIBE.to_owned(),
            cwd: None,
            environment: Default::default(),
            terminal: false,
        };
        // Options that were set for the session would print or end what describes it.
        run_quietly(&session.shell(), run, file.into()).await?;
        let length = std::fs::metadata(&path).map_err(said)?.len();
        if length > SHELL_STATE_BYTES_MAX {
            return Err(Error::Overlay(format!(
                "the shell's variables and functions take {length} bytes as a script, and {SHELL_STATE_BYTES_MAX} is the limit"
            )));
        }
        let text = std::fs::read(&path).map_err(said)?;
        let _ = std::fs::remove_file(path);
        String::from_utf8(text).map_err(|_| {
            Error::Overlay(
                "a variable or a function of the shell is no UTF-8 text, and cannot be carried over"
                    .to_owned(),
            )
        })
    }
}

/// The place of a session's run, as long as this lives.
struct Place<'a>(&'a Session);

impl<'a> Place<'a> {
    fn take(session: &'a Session) -> Result<Place<'a>, Error> {
        if session.occupy() {
            return Ok(Place(session));
        }
        let job = session.running().map_or_else(|| "that begins".to_owned(), |job| job.handle.clone());
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

/// Gives a new shell the state of another. Variables that nobody can set say so, and nobody hears it.
async fn restore_state(shell: &Shell, state: &str, cwd: Option<&Path>) -> Result<(), Error> {
    let cwd = cwd.map(|path| path.to_string_lossy().into_owned());
    let run =
        Run { id: 0, script: format!("{state}\n"), cwd, environment: Default::default(), terminal: false };
    let null = std::fs::OpenOptions::new().write(true).open("/dev/null").map_err(said)?;
    run_quietly(shell, run, null.into()).await
}

async fn run_quietly(shell: &Shell, run: Run, out: OwnedFd) -> Result<(), Error> {
    let null = || std::fs::OpenOptions::new().read(true).write(true).open("/dev/null").map(OwnedFd::from);
    let streams = [null().map_err(said)?, out, null().map_err(said)?];
    let mut running = shell.run(run, streams).map_err(Error::Shell)?;
    let patience = Duration::from_millis(SHELL_STATE_TIMEOUT_MS);
    match tokio::time::timeout(patience, running.ended()).await {
        Ok(Ended::Done(_)) => Ok(()),
        Ok(Ended::Failed(message)) => Err(Error::Overlay(message)),
        Ok(Ended::Lost) => Err(Error::Overlay("the session's process has ended".to_owned())),
        Err(_) => Err(Error::Overlay("the shell's state could not be read or restored in time".to_owned())),
    }
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

impl Kept {
    /// Takes note of what background processes have changed since the last call.
    fn catch_up(&mut self) -> Result<(), Error> {
        let snapshot = self.snapshot;
        self.parts.iter_mut().try_for_each(|part| part.look(snapshot).map(drop).map_err(said))
    }

    /// Whether the policy allows all that is to be committed: what no session may write comes into the tree by no commit either.
    fn may_be_committed(&self, selected: &[(PathBuf, Name)], plan: &Plan) -> Result<(), Error> {
        if self.snapshot {
            return Ok(());
        }
        for part in &self.parts {
            let layer = Layer::open(&part.upper, &part.root).map_err(said)?;
            let wanted = |name: &Name| {
                let below = |(root, at): &(PathBuf, Name)| *root == part.root && name.is_in(at);
                selected.is_empty() || selected.iter().any(below)
            };
            for change in changes(&layer).map_err(said)?.into_iter().filter(|change| wanted(&change.path)) {
                may_be_written(plan, &part.root, &change.path).map_err(|(path, rule)| {
                    Error::Overlay(format!(
                        "{path} is not committed: {rule}; discard it, or commit the other paths"
                    ))
                })?;
            }
        }
        Ok(())
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
            let checkpoints = self.forget_checkpoints();
            self.begin_anew()?;
            return Ok(Committed { checkpoints, ..Committed::default() });
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
        let mut committed = Committed { done: named(report.done), conflicts, checkpoints: Vec::new() };
        drop(wanted);
        if committed.conflicts.is_empty() {
            // A level from before would bring back what is below now.
            committed.checkpoints = self.forget_checkpoints();
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

    /// The names of the checkpoints that there were.
    fn forget_checkpoints(&mut self) -> Vec<String> {
        std::mem::take(&mut self.checkpoints).into_keys().collect()
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

    /// A copy of everything but calls and checkpoints, in a folder of its own.
    fn copy(&mut self, folder: PathBuf) -> Result<Kept, Error> {
        self.catch_up()?;
        let roots: Vec<PathBuf> = self.parts.iter().map(|part| part.root.clone()).collect();
        let mut copy = Kept::new(folder, &roots, false)?;
        for (part, ours) in copy.parts.iter_mut().zip(&self.parts) {
            let upper = Root::open(&part.upper).map_err(said)?;
            let mut level = ours.level.clone();
            level.restore(&upper, &ours.blobs).map_err(said)?;
            part.level =
                Level::take(&upper, &Level::default(), &mut part.blobs, LEVEL_BYTES_MAX).map_err(said)?;
            part.base = ours.base.clone();
        }
        Ok(copy)
    }
}
