//! `jobs`, `fg`, `bg`, `disown` and `suspend`.

use super::options::OptionReader;
use crate::exec::jobs::{Job, JobState};
use crate::state::names;
use crate::state::options::{SetOption, Shopt};
use crate::{Bytes, Outcome, Session, Status, Unwind, sys};

/// What `jobs` prints of a job.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Format {
    Normal,
    Long,
    PidOnly,
}

/// `jobs [-lnprs] [jobspec ...]` or `jobs -x command [args]`
pub(super) fn run(session: &mut Session, args: &[Bytes]) -> Outcome {
    let mut format = Format::Normal;
    let (mut running, mut stopped, mut changed) = (false, false, false);
    let mut at = 1;
    while let Some(word) = args.get(at) {
        if word == b"--" {
            at += 1;
            break;
        }
        if !word.starts_with(b"-") || word.len() < 2 {
            break;
        }
        for letter in &word[1..] {
            match letter {
                b'l' => format = Format::Long,
                b'p' => format = Format::PidOnly,
                b'r' => running = true,
                b's' => stopped = true,
                b'n' => changed = true,
                b'x' => return run_with_groups(session, args.get(at + 1..).unwrap_or_default()),
                _ => return Ok(session.builtin_usage(b"jobs", Some(&[b'-', *letter]))),
            }
        }
        at += 1;
    }
    session.reap();
    let mut status = 0;
    let mut numbers = Vec::new();
    for spec in &args[at..] {
        match find(session, b"jobs", spec) {
            Some(number) => numbers.push(number),
            None => status = 1,
        }
    }
    let all = args.len() == at;
    let jobs: Vec<Job> =
        session.jobs.list.iter().filter(|j| all || numbers.contains(&j.number)).cloned().collect();
    for job in &jobs {
        let shown = match job.state {
            JobState::Running => !stopped || running,
            JobState::Stopped(_) => !running || stopped,
            JobState::Done(_) => !running && !stopped,
        };
        if shown && !(changed && job.notified) {
            let text = describe(session, job, format);
            session.write_out(&text);
        }
    }
    session.forget_done_jobs();
    Ok(status)
}

/// `jobs -x`: runs a command with process groups in the place of the jobs that its words name.
fn run_with_groups(session: &mut Session, words: &[Bytes]) -> Outcome {
    let mut words = words.to_vec();
    for word in words.iter_mut().filter(|word| word.starts_with(b"%")) {
        if let Some(group) = session.job_process_group(word) {
            *word = group.to_string().into_bytes();
        }
    }
    if words.is_empty() { Ok(0) } else { session.run_arguments(words, true) }
}

/// The lines of jobs that changed and have not been told of.
pub(crate) fn notices(session: &mut Session) -> Bytes {
    let changed: Vec<Job> = session.jobs.list.iter().filter(|j| !j.notified && !j.foreign).cloned().collect();
    let mut text = Bytes::new();
    for job in changed.iter().filter(|job| job.state != JobState::Running) {
        text.extend(describe(session, job, Format::Normal));
    }
    for job in session.jobs.list.iter_mut().filter(|job| job.state != JobState::Running) {
        job.notified = true;
    }
    text
}

/// The line that `jobs` shows of a job.
pub(crate) fn describe_job(session: &mut Session, job: &Job) -> Bytes {
    describe(session, job, Format::Normal)
}

/// A job's line.
fn describe(session: &mut Session, job: &Job, format: Format) -> Bytes {
    if format == Format::PidOnly {
        return format!("{}\n", job.pid).into_bytes();
    }
    let mark = if session.jobs.recent(0) == Some(job.number) {
        '+'
    } else if session.jobs.recent(1) == Some(job.number) {
        '-'
    } else {
        ' '
    };
    let state = match job.state {
        JobState::Running => "Running".to_string(),
        JobState::Stopped(signal) if format == Format::Long => crate::signals::description(signal),
        JobState::Stopped(_) => "Stopped".to_string(),
        JobState::Done(status) => match (sys::term_signal(status), sys::shell_status(status)) {
            (Some(signal), _) => crate::signals::description(signal),
            (None, 0) => "Done".to_string(),
            (None, n) => format!("Exit {n}"),
        },
    };
    let pid = if format == Format::Long { format!("{:>5}", job.pid) } else { String::new() };
    let mut text = format!("[{}]{mark} {pid} {state:<24}", job.number).into_bytes();
    text.extend_from_slice(&job.text);
    if job.state == JobState::Running {
        text.extend_from_slice(b" &");
    }
    if session.get_id(names::PWD).unwrap_or_default() != job.directory {
        text.extend_from_slice(b"  (wd: ");
        text.extend(super::directories::with_tilde(session, &job.directory));
        text.push(b')');
    }
    text.push(b'\n');
    text
}

fn find(session: &mut Session, builtin: &[u8], spec: &[u8]) -> Option<usize> {
    let found = match spec.strip_prefix(b"%") {
        Some(text) => session.jobs.find(text).ok(),
        None => {
            let pid: Option<i32> = std::str::from_utf8(spec).ok().and_then(|t| t.parse().ok());
            let by_pid = session.jobs.list.iter().find(|j| Some(j.pid) == pid).map(|j| j.number);
            by_pid.or_else(|| if pid.is_none() { session.jobs.find(spec).ok() } else { None })
        }
    };
    if found.is_none() {
        let mut message = spec.to_vec();
        message.extend_from_slice(b": no such job");
        session.builtin_error(builtin, message);
    }
    found
}

fn no_job_control(session: &mut Session, name: &[u8]) -> Status {
    session.builtin_error(name, "no job control");
    1
}

/// `fg [job_spec]`
pub(super) fn run_foreground(session: &mut Session, args: &[Bytes]) -> Outcome {
    if !session.is(SetOption::Monitor) {
        return Ok(no_job_control(session, b"fg"));
    }
    let spec = args.get(1).cloned().unwrap_or_else(|| b"%+".to_vec());
    let Some(number) = find_current(session, b"fg", &spec) else { return Ok(1) };
    let Some(job) = session.jobs.list.iter().find(|j| j.number == number).cloned() else { return Ok(1) };
    let mut text = job.text.clone();
    text.push(b'\n');
    session.write_out(&text);
    session.flush_output();
    Ok(session.continue_in_foreground(&job))
}

fn find_current(session: &mut Session, builtin: &[u8], spec: &[u8]) -> Option<usize> {
    if spec == b"%+" && session.jobs.recent(0).is_none() {
        session.builtin_error(builtin, "current: no such job");
        return None;
    }
    find(session, builtin, spec)
}

/// `bg [job_spec ...]`
pub(super) fn run_background(session: &mut Session, args: &[Bytes]) -> Outcome {
    if !session.is(SetOption::Monitor) {
        return Ok(no_job_control(session, b"bg"));
    }
    let mut specs = args[1..].to_vec();
    if specs.is_empty() {
        specs.push(b"%+".to_vec());
    }
    let mut status = 0;
    for spec in specs {
        let Some(number) = find_current(session, b"bg", &spec) else {
            status = 1;
            continue;
        };
        let Some(job) = session.jobs.list.iter_mut().find(|j| j.number == number) else { continue };
        job.state = JobState::Running;
        job.notified = false;
        let mut text = format!("[{number}]+ ").into_bytes();
        text.extend_from_slice(&job.text);
        text.extend_from_slice(b" &\n");
        let _ = job.signal(libc::SIGCONT);
        session.write_out(&text);
    }
    Ok(status)
}

/// `disown [-h] [-ar] [jobspec ... | pid ...]`
pub(super) fn run_disown(session: &mut Session, args: &[Bytes]) -> Outcome {
    let (mut all, mut running, mut spare) = (false, false, false);
    let mut at = 1;
    while let Some(word) = args.get(at) {
        if word == b"--" {
            at += 1;
            break;
        }
        if !word.starts_with(b"-") || word.len() < 2 {
            break;
        }
        for letter in &word[1..] {
            match letter {
                b'a' => all = true,
                b'r' => running = true,
                b'h' => spare = true,
                _ => return Ok(session.builtin_usage(b"disown", Some(&[b'-', *letter]))),
            }
        }
        at += 1;
    }
    let mut numbers = Vec::new();
    let mut status = 0;
    for spec in &args[at..] {
        match find(session, b"disown", spec) {
            Some(number) => numbers.push(number),
            None => status = 1,
        }
    }
    if args.len() == at {
        if all || running {
            numbers.extend(session.jobs.list.iter().map(|j| j.number));
        } else {
            match session.jobs.recent(0) {
                Some(number) => numbers.push(number),
                None => {
                    session.builtin_error(b"disown", "current: no such job");
                    return Ok(1);
                }
            }
        }
    }
    for number in numbers {
        let job = session.jobs.list.iter_mut().find(|j| j.number == number);
        match job {
            Some(job) if running && job.state != JobState::Running => {}
            Some(job) if spare => job.spared = true,
            _ => session.jobs.remove(number),
        }
    }
    Ok(status)
}

/// `suspend [-f]`
pub(super) fn run_suspend(session: &mut Session, args: &[Bytes]) -> Outcome {
    let mut force = false;
    let mut options = OptionReader::new(args, "f");
    loop {
        match options.next(session) {
            Ok(None) => break,
            Ok(Some(_)) => force = true,
            Err(status) => return Ok(status),
        }
    }
    if !options.operands().is_empty() {
        session.builtin_error(b"suspend", "too many arguments");
        return Err(Unwind::Discard(1));
    }
    if !force && (session.shopt(Shopt::LoginShell) || !session.is(SetOption::Monitor)) {
        session.builtin_error(
            b"suspend",
            if session.is(SetOption::Monitor) {
                "cannot suspend a login shell"
            } else {
                "cannot suspend: no job control"
            },
        );
        return Ok(1);
    }
    let _ = sys::send_signal(sys::process_id(), libc::SIGSTOP);
    Ok(0)
}
