//! What the sandbox noticed while something ran: calls that were denied, as the guardian's watcher reports them, and protected paths that are there
//! now and were not. Owns the server's end of the watcher's socket, and what was noticed for each worker.
//!
//! The watcher reports a call before the call goes on, so whoever knows that a script has ended finds all its denials in the socket:
//! [`Noticed::hear`] reads what is there.

use std::collections::{HashMap, HashSet};
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::MetadataExt;
use std::os::unix::net::UnixStream as StdStream;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use pithos_sandbox::{Denial, Notice, Refused};
use rustix::net::{AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, recv, send, socketpair};
use tokio::io::Interest;
use tokio::net::UnixStream;

use crate::limits::{DENIAL_BYTES_MAX, DENIALS_HEARD_AT_ONCE, DENIALS_KEPT_MAX, MADE_TOLD_MAX};
use crate::sync::Locked;

/// What was denied to a worker since something began to run in it.
#[derive(Default)]
pub(crate) struct Record(Locked<Denied>);

#[derive(Default)]
struct Denied {
    denials: Vec<Denial>,
    /// How many more there were.
    more: u64,
}

impl Record {
    pub(crate) fn denials(&self) -> Vec<Denial> {
        self.0.with(|denied| denied.denials.clone())
    }

    pub(crate) fn count(&self) -> usize {
        self.0.with(|denied| denied.denials.len())
    }

    pub(crate) fn add(&self, denial: Denial) {
        self.0.with(|denied| {
            let same = |one: &Denial| one.kind == denial.kind && one.subject == denial.subject;
            if denied.denials.iter().any(same) {
                return;
            }
            if denied.denials.len() < DENIALS_KEPT_MAX {
                denied.denials.push(denial);
            } else {
                denied.more += 1;
            }
        });
    }
}

/// The server's half.
pub(crate) struct Noticed {
    socket: OwnedFd,
    /// By the worker's id inside.
    records: Locked<HashMap<u32, Arc<Record>>>,
    protected: Protected,
    made: Locked<Made>,
}

/// What came to be of names that are protected in every folder.
#[derive(Default)]
struct Made {
    /// Not looked at yet.
    new: Vec<PathBuf>,
    told: HashSet<PathBuf>,
}

impl Made {
    fn add(&mut self, path: PathBuf) {
        let known = self.told.contains(&path) || self.new.contains(&path);
        if !known && self.told.len() + self.new.len() < MADE_TOLD_MAX {
            self.new.push(path);
        }
    }
}

impl Noticed {
    /// Makes the socket; the other end is the guardian's.
    pub(crate) fn new(protected: Vec<PathBuf>) -> io::Result<(Arc<Self>, OwnedFd)> {
        let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
        let (socket, theirs) = socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, flags, None)?;
        let protected = Protected::new(protected);
        let (records, made) = (Locked::default(), Locked::default());
        Ok((Arc::new(Self { socket, records, protected, made }), theirs))
    }

    /// Reads reports as they come, so that the watcher finds room for the next.
    pub(crate) async fn listen(self: Arc<Self>) {
        let copy = self.socket.try_clone().map(StdStream::from);
        // For the event loop any socket is a stream.
        let Ok(socket) = copy.and_then(UnixStream::from_std) else { return };
        while socket.readable().await.is_ok() {
            let looked = socket.try_io(Interest::READABLE, || match self.hear() {
                true => Err::<(), _>(io::ErrorKind::WouldBlock.into()),
                false => Ok(()),
            });
            if looked.is_ok() {
                return;
            }
        }
    }

    /// Reads the reports that have come; false when no more can come.
    pub(crate) fn hear(&self) -> bool {
        let mut buffer = vec![0; DENIAL_BYTES_MAX];
        for _ in 0..DENIALS_HEARD_AT_ONCE {
            match recv(self.socket.as_fd(), &mut buffer[..], RecvFlags::DONTWAIT) {
                Ok((0, _)) => return false,
                Ok((length, _)) => match serde_json::from_slice(&buffer[..length]) {
                    Ok(Notice::Refused(refused)) => self.take(refused),
                    Ok(Notice::Made(path)) => self.made.with(|made| made.add(path)),
                    Err(_) => {}
                },
                Err(rustix::io::Errno::INTR) => {}
                Err(error) => return error == rustix::io::Errno::AGAIN,
            }
        }
        true
    }

    fn take(&self, refused: Refused) {
        let record = self.records.with(|records| {
            refused.processes.iter().find_map(|process| records.get(process)).map(Arc::clone)
        });
        if let Some(record) = record {
            record.add(refused.denial);
        }
    }

    /// Something begins to run in a worker: what is denied from now on is its.
    pub(crate) fn begin(&self, worker: u32) -> Arc<Record> {
        self.hear();
        let record = Arc::<Record>::default();
        self.records.with(|records| records.insert(worker, Arc::clone(&record)));
        record
    }

    /// A worker is gone.
    pub(crate) fn forget(&self, worker: u32) {
        drop(self.records.with(|records| records.remove(&worker)));
    }

    /// Protected paths that have come to be since the last look.
    pub(crate) fn protected_created(&self) -> Vec<PathBuf> {
        let new = self.made.with(|made| std::mem::take(&mut made.new));
        // What was made in an overlay is not there, and neither is what failed or is gone again.
        let mut there: Vec<PathBuf> =
            new.into_iter().filter(|path| path.symlink_metadata().is_ok()).collect();
        self.made.with(|made| made.told.extend(there.iter().cloned()));
        there.extend(self.protected.look());
        there
    }
}

/// What the guardian's watcher does with each denied call. It never waits: a server that does not read loses reports, and no command waits for it.
pub(crate) fn reporter(socket: OwnedFd) -> impl Fn(Notice) + Send + Sync + 'static {
    move |notice| {
        let Ok(mut bytes) = serde_json::to_vec(&notice) else { return };
        if bytes.len() > DENIAL_BYTES_MAX
            && let Notice::Refused(mut short) = notice
        {
            // The path is nearly all of it.
            short.denial.subject = short.denial.subject.chars().take(DENIAL_BYTES_MAX / 16).collect();
            short.denial.how_to_allow.clear();
            bytes = serde_json::to_vec(&Notice::Refused(short)).unwrap_or_default();
        }
        let _ = send(socket.as_fd(), &bytes, SendFlags::DONTWAIT | SendFlags::NOSIGNAL);
    }
}

/// Protected paths that were not there when the server started. Nothing in the kernel keeps them from being made; the watcher stops those who
/// try it openly, and this finds what there is in the end.
struct Protected {
    paths: Vec<PathBuf>,
    state: Locked<State>,
}

#[derive(Default)]
struct State {
    /// The folders of the paths, and when each was last changed: a look costs as many system calls.
    folders: Vec<(PathBuf, Option<SystemTime>)>,
    /// By device and number, so that another file of the same name is a new one.
    there: HashMap<PathBuf, (u64, u64)>,
}

impl Protected {
    fn new(paths: Vec<PathBuf>) -> Self {
        let mut folders: Vec<PathBuf> =
            paths.iter().filter_map(|path| path.parent()).map(Path::to_owned).collect();
        folders.sort();
        folders.dedup();
        let folders = folders.into_iter().map(|folder| (folder.clone(), changed(&folder))).collect();
        Self { paths, state: Locked::new(State { folders, there: HashMap::new() }) }
    }

    fn look(&self) -> Vec<PathBuf> {
        self.state.with(|state| {
            let mut same = true;
            for (folder, when) in &mut state.folders {
                let now = changed(folder);
                same &= now == *when;
                *when = now;
            }
            if same {
                return Vec::new();
            }
            let identity = |path: &PathBuf| {
                let data = path.symlink_metadata().ok()?;
                Some((path.clone(), (data.dev(), data.ino())))
            };
            let there: HashMap<PathBuf, (u64, u64)> = self.paths.iter().filter_map(identity).collect();
            let is_new =
                |(path, identity): &(&PathBuf, &(u64, u64))| state.there.get(*path) != Some(*identity);
            let mut new: Vec<PathBuf> = there.iter().filter(is_new).map(|(path, _)| path.clone()).collect();
            new.sort();
            state.there = there;
            new
        })
    }
}

fn changed(folder: &Path) -> Option<SystemTime> {
    folder.metadata().and_then(|data| data.modified()).ok()
}

#[cfg(test)]
mod tests {
    use pithos_sandbox::{Denial, DenialKind, Notice, Refused};

    use super::{Noticed, reporter};

    fn refused(processes: &[u32], subject: &str) -> Notice {
        let denial = Denial {
            kind: DenialKind::Read,
            subject: subject.to_string(),
            rule: String::new(),
            how_to_allow: String::new(),
            call: Some("openat".to_string()),
        };
        Notice::Refused(Refused { processes: processes.to_vec(), denial })
    }

    #[test]
    fn a_denial_is_the_nearest_workers_and_is_told_once() {
        let (noticed, theirs) = Noticed::new(Vec::new()).expect("a socket");
        let report = reporter(theirs);
        let (one, two) = (noticed.begin(10), noticed.begin(20));
        // 20 was forked from 10.
        for _ in 0..3 {
            report(refused(&[31, 20, 10, 1], "/two"));
            report(refused(&[30, 10, 1], "/one"));
            report(refused(&[99, 1], "/nobody"));
        }
        assert!(noticed.hear());
        let subjects = |record: &super::Record| -> Vec<String> {
            record.denials().into_iter().map(|denial| denial.subject).collect()
        };
        assert_eq!((subjects(&one), subjects(&two)), (vec!["/one".to_string()], vec!["/two".to_string()]));
        let next = noticed.begin(10);
        report(refused(&[10], &"x".repeat(1 << 20)));
        report(refused(&[10], "/next"));
        noticed.hear();
        assert_eq!(next.denials().len(), 2);
        assert_eq!(one.denials().len(), 1);
        drop(report);
        assert!(!noticed.hear());
    }

    #[test]
    fn nobody_waits_for_a_server_that_does_not_read() {
        let (noticed, theirs) = Noticed::new(Vec::new()).expect("a socket");
        let report = reporter(theirs);
        let record = noticed.begin(10);
        for number in 0..10_000 {
            report(refused(&[10], &format!("/{number}")));
        }
        assert!(noticed.hear());
        assert!(record.denials().len() <= crate::limits::DENIALS_KEPT_MAX);
    }

    #[test]
    fn what_was_made_is_told_once_when_it_is_there() {
        let folder = std::env::temp_dir().join(format!("pithos-made-{}", std::process::id()));
        std::fs::create_dir_all(folder.join("a/.vscode")).expect("a folder");
        let (noticed, theirs) = Noticed::new(Vec::new()).expect("a socket");
        let report = reporter(theirs);
        for _ in 0..3 {
            report(Notice::Made(folder.join("a/.vscode")));
            report(Notice::Made(folder.join("b/.vscode")));
        }
        noticed.hear();
        assert_eq!(noticed.protected_created(), [folder.join("a/.vscode")]);
        std::fs::create_dir_all(folder.join("b/.vscode")).expect("a folder");
        report(Notice::Made(folder.join("a/.vscode")));
        report(Notice::Made(folder.join("b/.vscode")));
        noticed.hear();
        assert_eq!(noticed.protected_created(), [folder.join("b/.vscode")]);
        std::fs::remove_dir_all(&folder).expect("removed");
    }

    #[test]
    fn a_protected_path_that_appears_is_told_once() {
        let folder = std::env::temp_dir().join(format!("pithos-noticed-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a folder");
        let (path, deep) = (folder.join(".envrc"), folder.join(".git/hooks"));
        let (noticed, _theirs) = Noticed::new(vec![path.clone(), deep.clone()]).expect("a socket");
        assert!(noticed.protected_created().is_empty());
        std::fs::write(folder.join("other"), "x").expect("written");
        assert!(noticed.protected_created().is_empty());
        std::fs::write(&path, "x").expect("written");
        assert_eq!(noticed.protected_created(), [path]);
        assert!(noticed.protected_created().is_empty());
        std::fs::create_dir_all(&deep).expect("made");
        assert_eq!(noticed.protected_created(), [deep]);
        std::fs::remove_dir_all(&folder).expect("removed");
    }
}
