//! The files of an overlaid session: its layers, the levels that can be gone back to, and what each call changed. Owns the folder of one session's
//! layers; its shell is the manager's. All work on files is done on threads for blocking work, one piece at a time.
//!
//! Where there is no overlay the same levels are taken of the folders themselves (a *snapshot*): what a run does is done, and can be undone.

mod actions;
mod preserve;
mod spare;
mod state;
mod whole;

use std::collections::VecDeque;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use pithos_layers::{Base, Blobs, Change, Layer, Level, Name, Root, Time};

use crate::error::Error;
use crate::guardian::OverlayRequest;
use crate::limits::{LEVEL_BYTES_MAX, UNDO_CALLS_MAX, VIEW_FRESH_MS};
use crate::sync::Locked;

pub use actions::{Committed, Differences, UndoTo};
pub(crate) use spare::Spares;

/// Commits that this process has made: after each, every other session has to look anew.
static COMMITS: AtomicU64 = AtomicU64::new(0);
/// In a session's folder: the journal of a commit.
const JOURNAL: &str = "journal";

/// What a call changed.
#[derive(Debug, Clone, Default)]
pub struct Changed {
    /// Each change, with the folder that its path is below.
    pub changes: Vec<(PathBuf, Change)>,
    /// Why the call cannot be undone.
    pub not_kept: Option<String>,
}

/// The overlay of one session.
pub struct Overlay {
    /// Why there are only snapshots.
    pub(crate) snapshot: Option<String>,
    /// The folder of its layers, which is another one when it went back to a checkpoint.
    folder: Locked<PathBuf>,
    kept: Arc<tokio::sync::Mutex<Kept>>,
}

/// What is known of a session's files.
pub(crate) struct Kept {
    folder: PathBuf,
    /// Which session this is, whatever folder it has.
    lineage: String,
    snapshot: bool,
    parts: Vec<Part>,
    calls: VecDeque<Call>,
    /// The calls that were taken note of, undone ones included.
    settled: VecDeque<String>,
    /// When the present run began, or an earlier moment from which on it may not have seen what changed below.
    began: Time,
    /// When its session saw last what is below, and how many commits this process had made by then.
    fresh: Option<(Instant, u64)>,
}

/// One overlaid folder.
struct Part {
    root: PathBuf,
    /// The upper layer; of a snapshot the folder itself.
    upper: PathBuf,
    /// How often the layer was begun anew, for names.
    generation: u64,
    base: Base,
    /// How it was when it was begun.
    first: Level,
    /// How it is.
    level: Level,
    blobs: Blobs,
}

/// A call that has ended.
struct Call {
    job: String,
    /// How each part was before it.
    before: Vec<Level>,
    changed: Changed,
}

fn said(error: impl std::fmt::Display) -> Error {
    Error::Overlay(error.to_string())
}

impl Overlay {
    /// The layers of a new session, over `roots`, in `folder`, which is made. With `snapshot` the roots themselves are looked at.
    pub(crate) async fn begin_over(
        folder: PathBuf,
        roots: Vec<PathBuf>,
        snapshot: Option<String>,
    ) -> Result<Overlay, Error> {
        let only = snapshot.is_some();
        let kept = blocking(move || Kept::new(folder, &roots, only)).await?;
        let folder = Locked::new(kept.folder.clone());
        Ok(Overlay { snapshot, folder, kept: Arc::new(tokio::sync::Mutex::new(kept)) })
    }

    fn folder(&self) -> PathBuf {
        self.folder.with(|folder| folder.clone())
    }

    /// Takes the files of another overlay, which nobody else has; the folder of its own former layers.
    async fn become_that(&self, other: Overlay) -> Result<PathBuf, Error> {
        let taken = Arc::try_unwrap(other.kept).map_err(|_| said("the layers are in use"))?.into_inner();
        let folder = taken.folder.clone();
        let mut kept = self.kept.lock().await;
        let former = std::mem::replace(&mut *kept, taken);
        (kept.settled, kept.lineage) = (former.settled, former.lineage);
        drop(kept);
        Ok(self.folder.with(|place| std::mem::replace(place, folder)))
    }

    /// Does something with what is kept, on a thread where it may take its time.
    pub(crate) async fn work<R: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Kept) -> Result<R, Error> + Send + 'static,
    ) -> Result<R, Error> {
        let mut kept = Arc::clone(&self.kept).lock_owned().await;
        blocking(move || work(&mut kept)).await
    }

    /// A run begins, over what is below now: `refresh` gives its session that. Where it cannot, the run may see files that are not there any more, and so
    /// the moment that commits judge by stays the earlier one.
    pub(crate) async fn begin<F: Future<Output = std::io::Result<()>>>(
        &self,
        refresh: impl FnOnce(Vec<PathBuf>) -> F,
    ) {
        let commits = COMMITS.load(Ordering::SeqCst);
        let look = move |kept: &mut Kept| {
            let patience = Duration::from_millis(VIEW_FRESH_MS);
            let fresh = kept.fresh.is_some_and(|(at, known)| known == commits && at.elapsed() < patience);
            if fresh { Ok(None) } else { Ok(Some((kept.now()?, kept.roots(), Instant::now()))) }
        };
        if let Ok(Some((now, roots, at))) = self.work(look).await
            && refresh(roots).await.is_ok()
        {
            let begin = move |kept: &mut Kept| {
                kept.began = now;
                kept.fresh = Some((at, commits));
                Ok(())
            };
            let _ = self.work(begin).await;
        }
    }

    /// Takes note of what a call that has ended changed; each call once.
    pub(crate) async fn settle(&self, job: &str) -> Result<Changed, Error> {
        let job = job.to_owned();
        self.work(move |kept| kept.settle(&job)).await
    }

    /// Removes everything of it, when nobody waits.
    pub(crate) fn remove_later(&self) {
        let folder = self.folder();
        tokio::task::spawn_blocking(move || drop(std::fs::remove_dir_all(folder)));
    }
}

async fn blocking<R: Send + 'static>(
    work: impl FnOnce() -> Result<R, Error> + Send + 'static,
) -> Result<R, Error> {
    let done = tokio::task::spawn_blocking(work).await;
    done.unwrap_or_else(|_| Err(Error::Overlay("the work on the session's files has panicked".to_owned())))
}

impl Kept {
    fn new(folder: PathBuf, roots: &[PathBuf], snapshot: bool) -> Result<Kept, Error> {
        use std::os::unix::fs::DirBuilderExt;
        std::fs::DirBuilder::new().mode(0o700).create(&folder).map_err(said)?;
        let mut kept = Kept {
            // Nobody has the folder's name again: a part of it is random.
            lineage: folder.display().to_string(),
            folder,
            snapshot,
            parts: Vec::new(),
            calls: VecDeque::new(),
            settled: VecDeque::new(),
            began: Time::default(),
            fresh: None,
        };
        kept.began = kept.now()?;
        for (number, root) in roots.iter().enumerate() {
            let mut blobs = Blobs::open(&kept.folder.join(format!("blobs{number}"))).map_err(said)?;
            let upper = if snapshot { root.clone() } else { kept.layer_path(number, 0) };
            let base = Base { begun: kept.began, ..Base::default() };
            if !snapshot {
                Layer::create(&upper, root).map_err(said)?;
            }
            let from = Root::open(&upper).map_err(said)?;
            let level = Level::take(&from, &Level::default(), &mut blobs, LEVEL_BYTES_MAX).map_err(said)?;
            if !level.is_kept() {
                return Err(Error::Overlay(format!(
                    "{} holds more than {LEVEL_BYTES_MAX} bytes, and a copy of all is needed where there are no overlays",
                    root.display()
                )));
            }
            let first = level.clone();
            kept.parts.push(Part { root: root.clone(), upper, generation: 0, base, first, level, blobs });
        }
        Ok(kept)
    }

    fn layer_path(&self, part: usize, generation: u64) -> PathBuf {
        self.folder.join(format!("upper{part}-{generation}"))
    }

    /// The folders that an overlay lies over.
    fn roots(&self) -> Vec<PathBuf> {
        let overlaid = self.parts.iter().filter(|_| !self.snapshot);
        overlaid.map(|part| part.root.clone()).collect()
    }

    /// The file system's clock.
    fn now(&self) -> Result<Time, Error> {
        let clock = self.folder.join("clock");
        let _ = std::fs::remove_file(&clock);
        let file = std::fs::File::create(clock).map_err(said)?;
        let data = file.metadata().map_err(said)?;
        Ok(Time(data.ctime(), u32::try_from(data.ctime_nsec()).unwrap_or(0)))
    }

    /// What the guardian is to mount, with new folders for the kernel.
    pub(crate) fn requests(&mut self) -> Result<Vec<OverlayRequest>, Error> {
        let store = self.folder.parent().map(Path::to_owned).unwrap_or_default();
        let below = |path: &Path| path.strip_prefix(&store).map(Path::to_owned).map_err(said);
        let mut found = Vec::new();
        for (number, part) in self.parts.iter().enumerate() {
            let work = self.folder.join(format!("work{number}"));
            if work.exists() {
                std::fs::remove_dir_all(&work).map_err(said)?;
            }
            std::fs::create_dir(&work).map_err(said)?;
            found.push(OverlayRequest {
                root: part.root.clone(),
                upper: below(&part.upper)?,
                work: below(&work)?,
            });
        }
        Ok(found)
    }

    /// Takes these levels, whose content is in blobs elsewhere, for its own. Nothing may hold on to what is in the layers.
    fn take_over(&mut self, parts: Vec<(Level, Base)>, from: &[&Blobs]) -> Result<(), Error> {
        for ((part, (mut level, base)), from) in self.parts.iter_mut().zip(parts).zip(from) {
            part.blobs.adopt(&mut level, from).map_err(said)?;
            let upper = Root::open(&part.upper).map_err(said)?;
            level.restore(&upper, &part.blobs).map_err(said)?;
            (part.level, part.base) = (level, base);
        }
        Ok(())
    }

    /// An empty overlay that was made a while ago lies over what is below now.
    fn renew(&mut self) -> Result<(), Error> {
        self.began = self.now()?;
        for part in &mut self.parts {
            part.base.begun = self.began;
            Layer::open(&part.upper, &part.root).and_then(|layer| layer.as_below()).map_err(said)?;
            part.look(false).map_err(said)?;
            part.first = part.level.clone();
        }
        Ok(())
    }

    fn settle(&mut self, job: &str) -> Result<Changed, Error> {
        if let Some(call) = self.calls.iter().find(|call| call.job == job) {
            return Ok(call.changed.clone());
        }
        if self.settled.iter().any(|settled| settled == job) {
            return Ok(Changed::default());
        }
        self.settled.push_back(job.to_owned());
        if self.settled.len() > 2 * UNDO_CALLS_MAX {
            self.settled.pop_front();
        }
        let before: Vec<Level> = self.parts.iter().map(|part| part.level.clone()).collect();
        let mut changed = Changed::default();
        for part in &mut self.parts {
            let found = part.look(self.snapshot).map_err(said)?;
            for change in &found {
                if !part.base.since.contains_key(&change.path) {
                    part.base.since.insert(change.path.clone(), self.began);
                    part.note_lower(&change.path).map_err(said)?;
                }
            }
            changed.changes.extend(found.into_iter().map(|change| (part.root.clone(), change)));
            if !part.level.is_kept() {
                changed.not_kept = Some(format!("it left more than {LEVEL_BYTES_MAX} changed bytes"));
            }
        }
        self.calls.push_back(Call { job: job.to_owned(), before, changed: changed.clone() });
        if self.calls.len() > UNDO_CALLS_MAX {
            self.calls.pop_front();
            self.forget_blobs()?;
        }
        Ok(changed)
    }

    /// Removes the copies that nothing can be gone back to by.
    fn forget_blobs(&self) -> Result<(), Error> {
        for (number, part) in self.parts.iter().enumerate() {
            let calls = self.calls.iter().filter_map(|call| call.before.get(number));
            part.blobs.keep(calls.chain([&part.level, &part.first])).map_err(said)?;
        }
        Ok(())
    }

    /// Makes the files as they were. Nothing may be mounted over the layers.
    fn restore(&mut self, levels: Vec<Level>) -> Result<(), Error> {
        if levels.iter().any(|level| !level.is_kept()) {
            return Err(Error::Overlay(format!(
                "that cannot be gone back to: more than {LEVEL_BYTES_MAX} bytes had been changed by then"
            )));
        }
        for (part, mut level) in self.parts.iter_mut().zip(levels) {
            let upper = Root::open(&part.upper).map_err(said)?;
            level.restore(&upper, &part.blobs).map_err(said)?;
            part.level = level;
            let there: std::collections::BTreeSet<Name> =
                part.level.nodes().map(|(name, _)| name.clone()).collect();
            part.base.since.retain(|name, _| there.contains(name));
            part.base.had.retain(|name| there.contains(name));
        }
        Ok(())
    }
}

impl Part {
    /// The level as it is now, and what is other than before.
    fn look(&mut self, snapshot: bool) -> Result<Vec<Change>, pithos_layers::Error> {
        let upper = Root::open(&self.upper)?;
        let now = Level::take(&upper, &self.level, &mut self.blobs, LEVEL_BYTES_MAX)?;
        let lower = if snapshot { None } else { Some(Root::open(&self.root)?) };
        let changes = now.changes_since(&self.level, lower.as_ref())?;
        self.level = now;
        Ok(changes)
    }

    /// Whether something is below a path that has come into the layer.
    fn note_lower(&mut self, name: &Name) -> Result<(), pithos_layers::Error> {
        if self.root.join(name.path()).symlink_metadata().is_ok() {
            self.base.had.insert(name.clone());
        }
        Ok(())
    }
}

/// Finishes or takes back the commits of a server that has died, by its folder of layers. What could not be done, one sentence each.
#[must_use]
pub fn recover_commits(layers: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(layers).into_iter().flatten().flatten();
    let recovered = entries.map(|entry| {
        let journal = entry.path().join(JOURNAL);
        pithos_layers::recover(&journal)
            .map_err(|error| format!("an interrupted commit, {}: {error}", journal.display()))
    });
    recovered.filter_map(Result::err).collect()
}
