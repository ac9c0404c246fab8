//! What clients can look at besides calling tools: the log of each job (`pithos://job/JOB/log`) and the files of the workspace (`pithos://file/PATH`), each to be
//! read, and to be told of when it changes. Nothing is changed by looking. A file is one that a session may read: it is opened below the workspace
//! without leaving it, and its real path is held against the policy.
//! https://modelcontextprotocol.io/specification/2025-11-25/server/resources

use std::collections::HashMap;
use std::fs::File;
use std::io::Read;
use std::os::fd::AsRawFd;
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Weak};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use pithos_sessions::{Job, Locked, Manager};
use rmcp::model::{Resource, ResourceContents, ResourceTemplate};
use rustix::fs::{Mode, OFlags, ResolveFlags};

use crate::limits::{
    RESOURCE_BYTES_MAX, RESOURCE_FILE_LOOK_EVERY, RESOURCE_TOLD_EVERY, RESOURCES_LISTED, RESOURCES_WATCHED,
};
use crate::tools;

const JOBS: &str = "pithos://job/";
const LOG: &str = "/log";
const FILES: &str = "pithos://file/";

/// What a URI names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Named {
    Log(String),
    File(PathBuf),
}

impl Named {
    /// Reads a URI; a message when it is none of this server's.
    pub(crate) fn of(uri: &str) -> Result<Named, String> {
        if let Some(job) = uri.strip_prefix(JOBS).and_then(|rest| rest.strip_suffix(LOG)) {
            return Ok(Named::Log(job.to_owned()));
        }
        match uri.strip_prefix(FILES).map(decoded) {
            Some(Some(path)) if !path.is_empty() && !path.contains(&0) => {
                Ok(Named::File(PathBuf::from(std::ffi::OsString::from_vec(path))))
            }
            _ => Err(format!("there is no resource {uri:?}: there are {JOBS}JOB{LOG} and {FILES}PATH")),
        }
    }
}

/// The bytes that a part of a URI stands for.
fn decoded(text: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        bytes.push(match byte {
            b'%' => {
                let digits = [rest.next()?, rest.next()?];
                u8::from_str_radix(std::str::from_utf8(&digits).ok()?, 16).ok()?
            }
            plain => plain,
        });
    }
    Some(bytes)
}

/// The logs of a client's jobs, newest first.
pub(crate) fn list(manager: &Manager) -> Vec<Resource> {
    let jobs = manager.jobs();
    let row = |job: &Arc<Job>| {
        let described = tools::job_row(job);
        let command: String = described["command"].as_str().unwrap_or_default().chars().take(80).collect();
        Resource::new(format!("{JOBS}{}{LOG}", job.handle), format!("{}: {command}", job.handle))
            .with_mime_type("text/plain")
            .with_size(job.with_capture(|capture| capture.totals().bytes()))
    };
    jobs.iter().rev().take(RESOURCES_LISTED).map(row).collect()
}

/// What can be named besides what is listed.
pub(crate) fn templates() -> Vec<ResourceTemplate> {
    vec![
        ResourceTemplate::new(format!("{JOBS}{{job}}{LOG}"), "log")
            .with_description("All that a job has written")
            .with_mime_type("text/plain"),
        ResourceTemplate::new(format!("{FILES}{{+path}}"), "file")
            .with_description("A file of the workspace, by its path below it"),
    ]
}

/// The content of a resource; of a long log its end.
pub(crate) fn read(manager: &Manager, uri: &str) -> Result<ResourceContents, String> {
    let bytes = match Named::of(uri)? {
        Named::Log(job) => log(&*manager.job(&job).map_err(|error| error.to_string())?)?,
        Named::File(path) => file(manager, &path)?,
    };
    Ok(match String::from_utf8(bytes) {
        Ok(text) => ResourceContents::text(text, uri),
        Err(error) if uri.starts_with(JOBS) => {
            ResourceContents::text(String::from_utf8_lossy(error.as_bytes()).into_owned(), uri)
        }
        Err(error) => ResourceContents::blob(STANDARD.encode(error.as_bytes()), uri)
            .with_mime_type("application/octet-stream"),
    })
}

fn log(job: &Job) -> Result<Vec<u8>, String> {
    if job.with_capture(pithos_sessions::Capture::log_gone) {
        return Err(format!("the log of {} was removed to make room for others", job.handle));
    }
    let total = job.with_capture(|capture| capture.totals().bytes());
    let from = total.saturating_sub(RESOURCE_BYTES_MAX as u64);
    let read = pithos_sessions::log::read(&job.log_file(), from, RESOURCE_BYTES_MAX);
    let mut bytes = read.map_err(|error| format!("the log of {}: {error}", job.handle))?;
    if from > 0 {
        let note = format!("[… {from} bytes left out: the log tool reads them …]\n");
        bytes.splice(0..0, note.into_bytes());
    }
    Ok(bytes)
}

fn file(manager: &Manager, path: &Path) -> Result<Vec<u8>, String> {
    let said = |message: String| format!("{}: {message}", path.display());
    let file = open(manager, path)?;
    let data = file.metadata().map_err(|error| said(error.to_string()))?;
    if !data.is_file() {
        return Err(said("is no plain file".to_owned()));
    }
    if data.len() > RESOURCE_BYTES_MAX as u64 {
        return Err(said(format!(
            "is {} bytes, and {RESOURCE_BYTES_MAX} is the limit: read it in pieces with the run tool",
            data.len()
        )));
    }
    let mut bytes = Vec::new();
    let read = file.take(RESOURCE_BYTES_MAX as u64).read_to_end(&mut bytes);
    read.map_err(|error| said(error.to_string()))?;
    Ok(bytes)
}

/// A file below the workspace that sessions may read.
fn open(manager: &Manager, path: &Path) -> Result<File, String> {
    let said = |message: String| format!("{}: {message}", path.display());
    let policy = manager.policy();
    let folder = File::open(&policy.workspace).map_err(|error| said(error.to_string()))?;
    // Not waiting: a pipe would hold this thread for ever.
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOCTTY;
    let within = ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS;
    let opened = rustix::fs::openat2(&folder, path, flags, Mode::empty(), within);
    let file = File::from(opened.map_err(|error| match error {
        rustix::io::Errno::XDEV => said("leads out of the workspace".to_owned()),
        error => said(error.to_string()),
    })?);
    let real = std::fs::read_link(format!("/proc/self/fd/{}", file.as_raw_fd()));
    let real = real.map_err(|error| said(error.to_string()))?;
    if !policy.allows(&real, pithos_sandbox::Access::Read) {
        return Err(said(format!("policy {:?} does not let it be read", policy.policy.name)));
    }
    Ok(file)
}

/// The resources that clients of the protocol with sessions want to hear of.
#[derive(Default)]
pub(crate) struct Subscriptions(Locked<HashMap<(Option<u64>, String), Watching>>);

/// A task that ends when it is not wanted any more.
pub(crate) struct Watching(tokio::task::JoinHandle<()>);

impl Drop for Watching {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl Subscriptions {
    /// Begins to tell a client; what it had of the same resource is replaced.
    pub(crate) fn add(&self, client: Option<u64>, uri: String, watching: Watching) -> Result<(), String> {
        let (gone, added) = self.0.with(|all| {
            let over: Vec<_> =
                all.iter().filter(|(_, one)| one.0.is_finished()).map(|(key, _)| key.clone()).collect();
            let mut gone: Vec<Watching> = over.iter().filter_map(|key| all.remove(key)).collect();
            gone.extend(all.remove(&(client, uri.clone())));
            if all.keys().filter(|(of, _)| *of == client).count() >= RESOURCES_WATCHED {
                gone.push(watching);
                return (gone, false);
            }
            all.insert((client, uri), watching);
            (gone, true)
        });
        drop(gone);
        if added { Ok(()) } else { Err(format!("more than {RESOURCES_WATCHED} resources are subscribed to")) }
    }

    /// Tells no more.
    pub(crate) fn remove(&self, client: Option<u64>, uri: &str) {
        drop(self.0.with(|all| all.remove(&(client, uri.to_owned()))));
    }
}

/// Has `tell` called after each change of a resource, until it says no, the job has ended, or the client has gone.
pub(crate) fn watch<Told>(
    manager: &Arc<Manager>,
    named: Named,
    tell: impl Fn() -> Told + Send + Sync + 'static,
) -> Result<Watching, String>
where
    Told: Future<Output = bool> + Send,
{
    Ok(Watching(match named {
        Named::Log(job) => {
            let job = manager.job(&job).map_err(|error| error.to_string())?;
            // From now on, and not from when the task runs.
            let seen = job.with_capture(|capture| capture.totals().bytes());
            tokio::spawn(async move { watch_log(&job, seen, tell).await })
        }
        Named::File(path) => {
            let seen = open(manager, &path)?.metadata().ok().map(|data| stamp_of(&data));
            let manager = Arc::downgrade(manager);
            tokio::spawn(async move { watch_file(&manager, &path, seen, tell).await })
        }
    }))
}

async fn watch_log<Told: Future<Output = bool>>(job: &Job, mut seen: u64, tell: impl Fn() -> Told) {
    let total = || job.with_capture(|capture| capture.totals().bytes());
    loop {
        let over = job.end().is_some();
        let now = total();
        if (over || now != seen) && !tell().await {
            return;
        }
        if over {
            return;
        }
        seen = now;
        let more = job.more_output();
        if total() == seen {
            tokio::select! {
                () = more => {}
                _ = job.ended() => {}
            }
        }
        // A program that writes all the time is told of now and then.
        tokio::time::sleep(RESOURCE_TOLD_EVERY).await;
    }
}

async fn watch_file<Told: Future<Output = bool>>(
    manager: &Weak<Manager>,
    path: &Path,
    mut seen: Option<Stamp>,
    tell: impl Fn() -> Told,
) {
    loop {
        tokio::time::sleep(RESOURCE_FILE_LOOK_EVERY).await;
        if manager.strong_count() == 0 {
            return;
        }
        let now = stamp(manager, path).await;
        if now != seen && !tell().await {
            return;
        }
        seen = now;
    }
}

/// What is other after a change: number, size and time.
type Stamp = (u64, u64, i64, i64);

fn stamp_of(data: &std::fs::Metadata) -> Stamp {
    (data.ino(), data.size(), data.mtime(), data.mtime_nsec())
}

/// That of a file now; none when it is not there.
async fn stamp(manager: &Weak<Manager>, path: &Path) -> Option<Stamp> {
    let (manager, path) = (manager.upgrade()?, path.to_owned());
    let look = move || {
        let data = open(&manager, &path).ok()?.metadata().ok()?;
        Some(stamp_of(&data))
    };
    tokio::task::spawn_blocking(look).await.ok().flatten()
}

#[cfg(test)]
mod tests {
    use std::os::unix::ffi::OsStrExt;

    use super::*;

    #[test]
    fn uris_name_jobs_and_files_and_nothing_else() {
        let file = |path: &str| Ok(Named::File(PathBuf::from(path)));
        for (uri, named) in [
            ("pithos://job/j3/log", Ok(Named::Log("j3".to_owned()))),
            ("pithos://file/a/b.txt", file("a/b.txt")),
            ("pithos://file/a%20b%25", file("a b%")),
            ("pithos://file/../x", file("../x")),
        ] {
            assert_eq!(Named::of(uri), named, "{uri}");
        }
        for uri in [
            "",
            "pithos://",
            "pithos://job/j3",
            "pithos://file/",
            "pithos://file/%",
            "pithos://file/%zz",
            "pithos://file/a%00",
            "file:///etc/passwd",
        ] {
            assert!(Named::of(uri).unwrap_err().contains("there is no resource"), "{uri}");
        }
        let odd = Named::of("pithos://file/%ff").unwrap();
        assert!(matches!(odd, Named::File(path) if path.as_os_str().as_bytes() == [0xff]));
    }
}
