//! What goes on while a job runs: one task reads the pipes, holds the deadline, carries out a stop and publishes the end. It is the only one who
//! publishes, so whatever it signals before that meets this run or a shell that waits for one.

use std::collections::HashSet;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use rush_session::Termination;
use rush_session::process_tree::{self, Process};
use rustix::process::Signal;
use tokio::sync::mpsc;

use super::{End, Job, Reason};
use crate::guardian::{Exit, Guardian};
use crate::limits::{
    DRAIN_BYTES, HEAD_BYTES, INTERRUPT_AGAIN_MS, KILL_GRACE_MS, READ_BYTES, READ_BYTES_FIRST,
    TERMINATE_GRACE_MS,
};
use crate::output::{Capture, Stream};
use crate::shell::{Ended, Running, Shell};
use crate::stream::Source;
use crate::tree::Supervised;

/// The job's task.
pub(super) struct Task {
    pub(super) job: Arc<Job>,
    /// Until the script's end.
    pub(super) shell: Option<Arc<Shell>>,
    pub(super) out: Option<Source>,
    pub(super) error: Option<Source>,
    pub(super) running: Running,
    pub(super) stops: mpsc::UnboundedReceiver<Reason>,
    pub(super) guardian: Guardian,
    pub(super) unit: Supervised,
    /// A read has filled the first buffer: a larger one is worth its memory.
    pub(super) talkative: bool,
}

enum Event {
    Readable(Stream),
    Ended(Ended),
    Stop(Reason),
    /// A stopped run has not ended yet.
    StopAgain,
}

/// A run that is being stopped.
struct Stopping {
    reason: Reason,
    /// What was found below the shell and ended.
    killed: Vec<Process>,
    /// What runs before this one left on purpose.
    earlier: Arc<HashSet<u32>>,
    begun: tokio::time::Instant,
    next: tokio::time::Instant,
}

/// Completes when a run that is being stopped is to be interrupted again.
async fn again(stopping: Option<&Stopping>) {
    match stopping {
        Some(stopping) => tokio::time::sleep_until(stopping.next).await,
        None => std::future::pending().await,
    }
}

impl Task {
    pub(super) async fn go(mut self, timeout: Duration) {
        let deadline = tokio::time::sleep(timeout);
        tokio::pin!(deadline);
        let mut buffer = vec![0; READ_BYTES_FIRST];
        let mut stopped: Option<Stopping> = None;
        let mut published = false;
        while !published || self.out.is_some() || self.error.is_some() {
            let event = tokio::select! {
                () = readable(self.out.as_ref()) => Event::Readable(Stream::Out),
                () = readable(self.error.as_ref()) => Event::Readable(Stream::Error),
                ended = self.running.ended(), if !published => Event::Ended(ended),
                Some(reason) = self.stops.recv(), if !published && stopped.is_none() => Event::Stop(reason),
                () = &mut deadline, if !published && stopped.is_none() => Event::Stop(Reason::Timeout),
                () = again(stopped.as_ref()), if !published => Event::StopAgain,
            };
            match event {
                Event::Readable(stream) => {
                    self.read(stream, &mut buffer);
                    if self.talkative && buffer.len() < READ_BYTES {
                        buffer.resize(READ_BYTES, 0);
                    }
                }
                Event::Stop(reason) => stopped = Some(self.terminate(reason).await),
                Event::StopAgain => {
                    if let Some(stopping) = stopped.as_mut() {
                        self.interrupt(stopping).await;
                    }
                }
                Event::Ended(ended) => {
                    // Everything that the script wrote is in the pipes by now.
                    self.drain(&mut buffer);
                    let stopped = stopped.take().map(|stopping| (stopping.reason, stopping.killed));
                    self.publish(ended, stopped).await;
                    // What background processes write goes on; the session is no business of this job any more.
                    self.shell = None;
                    published = true;
                }
            }
        }
        self.job.capture.with(Capture::close_log);
        let over = self.job.capture.with(|capture| capture.held());
        if let Some(held) = over {
            held.over();
        }
        // Nobody is left to read it; whoever writes at this moment lets go of it when the job is forgotten.
        if let Ok(mut stdin) = self.job.stdin.try_lock() {
            *stdin = None;
        }
    }

    /// One read, straight from the descriptor: the runtime's readiness may lag behind the shell's answer.
    fn read(&mut self, stream: Stream, buffer: &mut [u8]) {
        let pipe = match stream {
            Stream::Out => &mut self.out,
            Stream::Error => &mut self.error,
        };
        let Some(source) = pipe else { return };
        match source.try_read(buffer) {
            Ok(0) => *pipe = None,
            Ok(read) => {
                self.talkative |= read == buffer.len();
                self.take(stream, &buffer[..read]);
            }
            Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted) => {}
            Err(_) => *pipe = None,
        }
    }

    fn drain(&mut self, buffer: &mut [u8]) {
        for stream in [Stream::Out, Stream::Error] {
            // A background process may write without end; what is there now is bounded by the pipe, a few reads of it.
            for _ in 0..DRAIN_BYTES.div_ceil(buffer.len()) {
                let pipe = if stream == Stream::Out { &self.out } else { &self.error };
                let Some(source) = pipe else { break };
                match source.read_now(buffer) {
                    Ok(read) if read > 0 => self.take(stream, &buffer[..read]),
                    _ => break,
                }
            }
        }
    }

    fn take(&self, stream: Stream, bytes: &[u8]) {
        // A log that begins now begins with what was held in memory.
        self.job.space.make_room((HEAD_BYTES + bytes.len()) as u64);
        self.job.capture.with(|capture| capture.write(stream, bytes));
        if let Some(screen) = &self.job.screen {
            screen.with(|screen| screen.write(bytes));
        }
        self.job.output.notify_waiters();
    }

    /// Begins to stop the run: what earlier runs left on purpose goes on.
    async fn terminate(&self, reason: Reason) -> Stopping {
        let (pid, ran) = (self.shell.as_ref().map(|shell| shell.pid()), self.job.started.elapsed());
        let earlier = tokio::task::spawn_blocking(move || {
            pid.map_or_else(HashSet::new, |pid| process_tree::older_than(pid, ran))
        });
        let earlier = Arc::new(earlier.await.unwrap_or_default());
        let begun = tokio::time::Instant::now();
        let mut stopping = Stopping { reason, killed: Vec::new(), earlier, begun, next: begun };
        self.interrupt(&mut stopping).await;
        stopping
    }

    /// Interrupts the shell and kills what runs below it; kills the shell too when it has not come back in time. A shell that had not begun the run
    /// drops the signal, and one that catches it goes on: so this is repeated, by the only one who can publish the run's end. A signal that comes
    /// after the end meets a shell that waits for a run, to which it does nothing.
    async fn interrupt(&self, stopping: &mut Stopping) {
        let Some(pid) = self.shell.as_ref().map(|shell| shell.pid()) else { return };
        let patience = Duration::from_millis(KILL_GRACE_MS);
        if stopping.begun.elapsed() >= patience {
            stopping.next += patience;
            let _ = self.guardian.end(pid);
            return;
        }
        let earlier = Arc::clone(&stopping.earlier);
        let killed = tokio::task::spawn_blocking(move || {
            process_tree::signal(pid, Signal::INT);
            process_tree::end(pid, &earlier, Duration::from_millis(TERMINATE_GRACE_MS), patience)
        });
        for process in killed.await.unwrap_or_default() {
            if !stopping.killed.iter().any(|known| known.pid == process.pid) {
                stopping.killed.push(process);
            }
        }
        stopping.next = tokio::time::Instant::now() + Duration::from_millis(INTERRUPT_AGAIN_MS);
    }

    async fn publish(&self, ended: Ended, stopped: Option<(Reason, Vec<Process>)>) {
        let (reason, mut killed) =
            stopped.map_or((None, Vec::new()), |(reason, killed)| (Some(reason), killed));
        let lost_session = matches!(ended, Ended::Lost);
        let (done, failure) = match ended {
            Ended::Done(mut done) => {
                if reason.is_some() {
                    done.terminated = Some(Termination::Interrupted);
                }
                (Some(*done), None)
            }
            Ended::Failed(message) => (None, Some(message)),
            Ended::Lost => {
                let pid = self.shell.as_ref().map_or(0, |shell| shell.pid());
                // The connection may be gone and the process not.
                let _ = self.guardian.end(pid);
                let (exit, left) = self.guardian.ended(pid).await;
                killed.extend(left);
                (None, Some(lost(exit)))
            }
        };
        self.unit.end(failure.as_deref());
        let noticed = self.guardian.noticed();
        noticed.hear();
        let protected_created = noticed.protected_created();
        let wall = self.job.started.elapsed();
        let end = End { done, reason, killed, failure, lost: lost_session, wall, protected_created };
        self.job.end.send_replace(Some(Arc::new(end)));
        self.job.output.notify_waiters();
    }
}

/// What is told when a session's process has ended in the middle of a script.
fn lost(exit: Exit) -> String {
    let how = match exit {
        Exit::Code(status) => format!("ended with status {status}"),
        Exit::Signal(signal) => format!("was ended by signal {signal}"),
        Exit::Unknown => "ended".to_string(),
    };
    format!(
        "the session's process {how}; its working directory, variables, functions and background processes are lost, and the next call is in a new one"
    )
}

async fn readable(source: Option<&Source>) {
    match source {
        Some(source) => source.readable().await,
        None => std::future::pending().await,
    }
}
